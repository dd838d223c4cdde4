"""What workflows store as arrays and a header, and whether a file still holds that.

A checksum tells of damage, not of another hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ...solvers.core.errors import InputError, StaleBindingError

# What arrays, headers and what is built of them raise where something in them is not as it was stored.
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, InputError)
_TEXTS = "texts"


@dataclass(frozen=True)
class StoredKind:
    """One kind of what is stored.

    name:    in the header.
    version: raised when what is stored changes its meaning.
    what:    for messages, in the plural, as in "bound data".
    remedy:  how the user makes it anew, as in "bind again".
    """

    name: str
    version: int
    what: str
    remedy: str

    def header(self, **entries) -> dict:
        """The header for ``scene.binding_store``."""
        return {"workflow": self.name, "format": self.version} | entries

    @contextmanager
    def checked(self, header: Mapping) -> Iterator[None]:
        """A block that unpacks and tries out what was stored; what it finds wrong becomes a StaleBindingError.

        Raises StaleBindingError for what is of another kind or version.
        """
        if header.get("workflow") != self.name or header.get("format") != self.version:
            raise StaleBindingError(f"The {self.what} come from another version of Motion Loom; {self.remedy}.")
        try:
            yield
        except _WRONG as error:
            reason = str(error) or type(error).__name__
            raise StaleBindingError(
                f"The {self.what} stored in the file are damaged ({reason}); {self.remedy}."
            ) from error


def flattened(parts: Mapping[str, Mapping[str, object]], between: str) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays of numbers of all parts, by their part's name, what stands between, and their own; and what the header
    holds of them: texts, lists of them too."""
    found = {f"{part}{between}{name}": np.asarray(value) for part, of in parts.items() for name, value in of.items()}
    texts = {name: value.tolist() for name, value in found.items() if value.dtype.kind == "U"}
    return {name: value for name, value in found.items() if name not in texts}, {_TEXTS: texts}


def by_part(arrays: Mapping[str, np.ndarray], header: Mapping, between: str) -> dict[str, dict[str, np.ndarray]]:
    """The reverse of ``flattened``; an array that is in no part is in the part of its name, without a name."""
    out: dict[str, dict[str, np.ndarray]] = {}
    texts = {name: np.array(text) for name, text in header.get(_TEXTS, {}).items()}
    for key, value in (dict(arrays) | texts).items():
        part, _, name = key.partition(between)
        out.setdefault(part, {})[name] = value
    return out


def require_shapes(arrays: Mapping[str, np.ndarray], expected: Mapping[str, str]) -> dict[str, int]:
    """Raises ValueError for an array of another kind or shape, or with numbers that are none; KeyError for none.

    expected: by name, kinds of dtype and dimensions, as "f F J 3": letters stand for the same number throughout, which
    are returned.  "f?" lets numbers be infinite or none.
    """
    sizes: dict[str, int] = {}
    for name, text in expected.items():
        kinds, *dims = text.split()
        array = arrays[name]
        if array.dtype.kind not in kinds or array.ndim != len(dims):
            raise ValueError(f"'{name}' has {array.ndim} dimensions of {array.dtype}")
        for dim, size in zip(dims, array.shape, strict=True):
            if sizes.setdefault(dim, int(dim) if dim.isdigit() else size) != size:
                raise ValueError(f"'{name}' has the shape {array.shape}")
        if "?" not in kinds and not np.isfinite(array).all():
            raise ValueError(f"'{name}' holds what is not a number")
    return sizes


def require_counts(*counts) -> None:
    """Raises ValueError for what is not a whole number from 0 up."""
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise ValueError("a count is no whole number")


def require_indices(array: np.ndarray, low: int, high, name: str) -> None:
    """Raises ValueError for whole numbers that are not from low up to below high, which may be one for each."""
    if not ((array >= low) & (array < high)).all():
        raise ValueError(f"'{name}' points beyond what there is")


def require_rising(frames: np.ndarray) -> None:
    """Raises ValueError for frames (F,) that do not rise, or of which there is none."""
    if not len(frames) or not (np.diff(frames) > 0.0).all():
        raise ValueError("'frames' do not rise")


def require_positive(header: Mapping, *names: str) -> None:
    """Raises ValueError or TypeError for an entry that is not a number above zero."""
    for name in names:
        value = header[name]
        if isinstance(value, bool) or not 0.0 < value < math.inf:
            raise ValueError(f"'{name}' is {value}")


def require_texts(values, count: int, name: str) -> None:
    """Raises ValueError for what is not a list of so many texts."""
    if not isinstance(values, list) or len(values) != count or not all(isinstance(text, str) for text in values):
        raise ValueError(f"'{name}' are not {count} names")
