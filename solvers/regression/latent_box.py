"""The box of poses that a target has shown: coefficients are kept inside it, smoothly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import InputError

EDGES = ("soft", "hard", "none")
# The outer share of each half interval over which a soft edge slows down.
SOFT_SHARE = 0.1


@dataclass(frozen=True)
class LatentBox:
    """An interval low <= c <= high, (D,) each, for every coefficient; edge is "soft", "hard" or "none".

    A hard edge is the paper's; it stops at once what moves into it, which is seen as a jerk.  The soft one leaves
    everything but the outer tenth alone, is smooth and reaches the boundary only at infinity.
    free: (2, D) lowest and highest value that a soft edge leaves alone, None for the outer tenth; see ``reaching``.
    """

    low: np.ndarray
    high: np.ndarray
    edge: str = "soft"
    free: np.ndarray | None = None

    def __post_init__(self):
        if self.edge not in EDGES:
            raise InputError(f"'{self.edge}' is not an edge of the latent box; use one of {', '.join(EDGES)}.")

    @classmethod
    def around(cls, coefficients: np.ndarray, edge: str = "soft") -> LatentBox:
        """The smallest box that holds coefficients (F, D)."""
        return cls(coefficients.min(axis=0), coefficients.max(axis=0), edge)

    def reaching(self, poses: np.ndarray, share: float = 1.0) -> LatentBox:
        """The same, but a soft edge leaves poses (n, D), inside it, alone: where they come near, it begins at them.

        The nearer they come the harder it is: a box that gave way would be left.  share: 0 to 1, of the way that its
        beginning goes there.  Other edges stay as they are.
        """
        if self.edge != "soft":
            return self
        half = 0.5 * (self.high - self.low)
        inner = np.stack((self.low, self.high)) + SOFT_SHARE * half * [[1.0], [-1.0]]
        low = inner[0] + share * np.minimum(poses.min(axis=0) - inner[0], 0.0)
        high = inner[1] + share * np.maximum(poses.max(axis=0) - inner[1], 0.0)
        return replace(self, free=np.stack((low, high)))

    def keep(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients (..., D) moved into the box; those well inside it come back unchanged."""
        if self.edge == "none":
            return coefficients
        if self.edge == "hard":
            return np.clip(coefficients, self.low, self.high)
        low, high = self._free
        below, above = low - coefficients, coefficients - high
        # An interval without width has no band; its one value is kept by the clipping below.
        kept = np.where(above > 0.0, high + _slowed(above, self.high - high), coefficients)
        kept = np.where(below > 0.0, low - _slowed(below, low - self.low), kept)
        return np.clip(kept, self.low, self.high)

    @property
    def _free(self) -> np.ndarray:
        if self.free is not None:
            return self.free
        return np.stack((self.low, self.high)) + 0.5 * SOFT_SHARE * (self.high - self.low) * [[1.0], [-1.0]]


def _slowed(beyond: np.ndarray, band: np.ndarray) -> np.ndarray:
    """How far what is beyond the beginning of an edge (..., D) gets, on a band (D,)."""
    return band * np.tanh(beyond / np.where(band > 0.0, band, 1.0))
