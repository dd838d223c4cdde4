"""What covered places do to the joints that they hold: they are carried along and let go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from .clearance import smoothstep
from .covered_places import CoveredPlaces
from .relationship import WEIGHT_SMOOTHING, Relations

# Cosines between what a joint rests on and the side of an object that it was on: from the first on it moves out along
# with its places, from the second on all the way. Beside the object it leaves by that side instead.
_BESIDE, _ABOVE = 0.3, 0.7
_SIGMAS = 3.0


@dataclass(frozen=True)
class CoveredJoints:
    """shift: (f, J, 3) metres.  shares: by the number of each object that covers anything, (O, J, f) in [0, 1], how
    much of what holds each joint to each object it covers."""

    shift: np.ndarray
    shares: dict[int, np.ndarray]

    def part(self, frames: slice) -> CoveredJoints:
        """Those of some frames."""
        return CoveredJoints(self.shift[frames], {k: share[..., frames] for k, share in self.shares.items()})


def window(rows: slice, frames: int, dt: float) -> slice:
    """The frames that matter to some rows, see ``covered_joints``."""
    start, stop, _ = rows.indices(frames)
    around = int(_SIGMAS * WEIGHT_SMOOTHING / dt + 0.5)
    return slice(max(start - around, 0), min(stop + around, frames))


def covered_joints(
    places: CoveredPlaces,
    relations: Relations,
    normals: np.ndarray,
    objects: np.ndarray,
    count: int,
    faced: Callable[[int], np.ndarray],
    dt: float,
) -> CoveredJoints:
    """Of f frames that follow each other.

    relations: of these frames to the N places;  normals: (S, N, 3) of them now, S = 1 or f;  objects: (N,) that they
    lie on, of count.  faced: by number of an object, the normals now (f, J, 3) of its triangles that joints faced at
    bind, zero where none is known.  dt: seconds a frame.
    """
    frames, joints = relations.frames, relations.joints
    mine = (objects[:, None] == np.arange(count)).astype(float)
    spread, up = relations.spread(len(places.share)), relations.mean_normals(normals)
    whole = relations.weights @ mine
    shift, shares = np.zeros((frames, joints, 3)), {}
    for number in np.unique(places.by[places.share > 0]):
        chosen = places.by == number
        lift = np.where(chosen, places.lift, 0.0)[..., None] * normals
        hidden = spread @ (np.where(chosen, places.share, 0.0)[..., None] * mine).reshape(-1, count)
        share = np.divide(hidden, whole, out=np.zeros_like(whole), where=whole > 0).reshape(frames, joints, count)
        side = faced(int(number))
        cosine = np.where(side.any(axis=-1), np.einsum("fjk,fjk->fj", side, up), 1.0)
        above = smoothstep((cosine - _BESIDE) / (_ABOVE - _BESIDE))
        # A joint that passes the edge of an object comes to face another side of it at once.
        above = gaussian_filter1d(above, WEIGHT_SMOOTHING / dt, axis=0, mode="nearest", truncate=_SIGMAS)
        shift += above[..., None] * (spread @ lift.reshape(-1, 3)).reshape(frames, joints, 3)
        shares[int(number)] = (above[..., None] * share).transpose(2, 1, 0)
    return CoveredJoints(shift, shares)


def lowered(least: np.ndarray, covered: dict[int, np.ndarray], joints) -> np.ndarray:
    """Least distances (O, P, F) of points of which each belongs to one of ``joints`` (P,): a body may come as near to
    what covers its places as it was to them."""
    out = least.copy()
    for k, share in covered.items():
        near = np.delete(least, k, axis=0).min(axis=0)
        out[k] -= share.max(axis=0)[joints] * np.maximum(least[k] - near, 0.0)
    return out
