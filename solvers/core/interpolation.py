"""Values between rows that were sampled, on the line from each row to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import InputError


@dataclass(frozen=True)
class BetweenRows:
    """Where to look. before, after: (N,) numbers of rows.  share: (N,) of the way from one to the other, 0 to 1."""

    before: np.ndarray
    after: np.ndarray
    share: np.ndarray

    @classmethod
    def at(cls, times: np.ndarray, of: np.ndarray) -> BetweenRows:
        """At times (N,), or frames, of rows that were sampled at rising times (F,), of the same unit.

        Before the first row and after the last one theirs are held. Raises InputError for what is not a number.
        """
        return cls.at_places(np.interp(times, of, np.arange(len(of))), len(of))

    @classmethod
    def at_places(cls, places: np.ndarray, count: int) -> BetweenRows:
        """At places (N,) that number the rows from 0; otherwise as ``at``."""
        if np.isnan(places).any():
            raise InputError("A frame or time to look at is not a number; give one among those that were read.")
        places = np.clip(np.asarray(places, float), 0.0, count - 1.0)
        before = places.astype(int)
        return cls(before, np.minimum(before + 1, count - 1), places - before)

    def of(self, values: np.ndarray) -> np.ndarray:
        """(N, ...) of values (F, ...), one a row; on a row it is that row's to the last bit."""
        start = values[self.before]
        share = self.share.reshape(-1, *(1,) * (values.ndim - 1))
        return start + share * (values[self.after] - start)
