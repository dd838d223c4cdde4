"""The box of poses that a target has shown: coefficients are kept inside it, smoothly."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    low: np.ndarray
    high: np.ndarray
    edge: str = "soft"

    def __post_init__(self):
        if self.edge not in EDGES:
            raise InputError(f"'{self.edge}' is not an edge of the latent box; use one of {', '.join(EDGES)}.")

    @classmethod
    def around(cls, coefficients: np.ndarray, edge: str = "soft") -> LatentBox:
        """The smallest box that holds coefficients (F, D)."""
        return cls(coefficients.min(axis=0), coefficients.max(axis=0), edge)

    def keep(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients (..., D) moved into the box; those well inside it come back unchanged."""
        if self.edge == "none":
            return coefficients
        if self.edge == "hard":
            return np.clip(coefficients, self.low, self.high)
        half = 0.5 * (self.high - self.low)
        centre = self.low + half
        way = coefficients - centre
        band = SOFT_SHARE * half
        beyond = np.abs(way) - (half - band)
        # An interval without width has no band; its one value is kept by the clipping below.
        slowed = half - band + band * np.tanh(beyond / np.where(band > 0.0, band, 1.0))
        kept = np.where(beyond > 0.0, centre + np.copysign(slowed, way), coefficients)
        return np.clip(kept, self.low, self.high)
