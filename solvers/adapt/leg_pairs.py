"""Legs by where they hang on the trunk: of an animal the hips go down for the hind legs, the shoulders for the fore.

On the way up a slope the hind legs would have to stretch, on the way down the fore ones. Lowered as a whole for those
that lack most, a body folds up its other legs; lowered more for its own, each end of its trunk pitches it along the
slope. A trunk that stands goes down as a whole, whatever its hands are on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..skeleton.hierarchy import below
from .leg_reach import Legs

# Cosine: a trunk lies where the way along it, from pair to pair of its legs, is closer to level than that.
_LIES = 0.7
# Of what the legs lack that lack most, the others go down by so much at least: a trunk does not pitch easily.
_WITH_OTHERS = 0.5


@dataclass(frozen=True)
class LegPairs:
    """G pairs of L legs, or other sets of them.

    legs: (G, L) bool.  shares: (G, J) in [0, 1] how much each joint goes down with each pair; their sums are 1.
    """

    legs: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, legs: Legs, parents: np.ndarray, body: np.ndarray, touched: np.ndarray, gravity) -> LegPairs:
        """One pair where all legs that stand hang on one joint, or where the trunk does not lie.

        parents: (J,) parents come first.  body: (F, J, 3).  touched: (J,) bool, joints that ever stand on anything.
        gravity: (3,) unit vector.
        """
        whole = cls(np.ones((1, len(legs.upper)), bool), np.ones((1, len(parents))))
        above = below(parents).T
        stands = np.flatnonzero((above[:, legs.lower] & touched[:, None]).any(axis=0))
        carriers = _carriers(above[legs.upper[stands]])
        found = np.unique(carriers)
        if len(found) < 2:
            return whole
        pairs = np.stack([body[:, legs.upper[stands[carriers == one]]].mean(axis=1) for one in found], axis=1)
        along, lies = _along(pairs, body, gravity)
        if lies < _LIES:
            return whole
        order = np.argsort(along[: len(found)])
        shares = np.stack([np.interp(along[len(found) :], along[order], row) for row in np.eye(len(found))[:, order]])
        for leg, carrier in zip(stands, carriers, strict=True):
            shares[:, above[:, legs.upper[leg]]] = (found == carrier)[:, None]
        return cls(shares[:, legs.upper].argmax(axis=0) == np.arange(len(found))[:, None], shares)

    def most(self, lack: np.ndarray) -> np.ndarray:
        """(G, F) of what each leg lacks (F, L)."""
        own = np.max(np.where(self.legs[:, None], lack, 0.0), axis=-1, initial=0.0)
        return np.maximum(own, _WITH_OTHERS * own.max(axis=0))

    def lowered(self, metres: np.ndarray) -> np.ndarray:
        """(J, F) of what the pairs go down by (G, F)."""
        return self.shares.T @ metres


def _carriers(above: np.ndarray) -> np.ndarray:
    """(K,) the last joint that carries each of some legs and another one, of joints that carry each (K, J) bool;
    children come after their parents. A leg that shares none is carried by the root alone."""
    several = above.sum(axis=0) > 1
    return np.array([np.flatnonzero(row & several).max(initial=0) for row in above], int)


def _along(pairs: np.ndarray, body: np.ndarray, gravity) -> tuple[np.ndarray, float]:
    """(G + J,) metres of pairs (F, G, 3) and joints (F, J, 3) along the level way between the pairs that are farthest
    apart, the medians over time, and the cosine between that way and the level."""
    apart = np.median(np.linalg.norm(pairs[:, :, None] - pairs[:, None], axis=-1), axis=0)
    first, last = np.unravel_index(apart.argmax(), apart.shape)
    way = pairs[:, last] - pairs[:, first]
    level = way - (way @ gravity)[:, None] * gravity
    length = np.maximum(np.linalg.norm(level, axis=-1), 1e-12)
    points = np.concatenate((pairs, body), axis=1) - pairs[:, first, None]
    along = np.median(np.einsum("fpk,fk->fp", points, level / length[:, None]), axis=0)
    return along, float(np.median(length / np.maximum(np.linalg.norm(way, axis=-1), 1e-12)))
