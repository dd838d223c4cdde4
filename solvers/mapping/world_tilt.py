"""Whether a body's world is tilted, as of a capture that is not level: told by how it leans while it turns round."""

from __future__ import annotations

import numpy as np

from ..core.missing_samples import known_points
from ..core.subsampling import evenly_spaced_indices
from ..rotations.rigid import ground_yaw, procrustes
from ..transfer.level import level_of, tilt_of
from ..transfer.rigid_motion import Bodies, RigidPairs
from .steady_points import steady_weights

_FRAMES, _POINTS = 80, 300  # at most looked at
# Mean of the unit vectors of all headings: where it is longer a body hardly turns, and a lean may as well be its own.
_FACES_ONE_WAY = 0.7
# Radians.  Less may be how a body sways where it happens to face; more is one that lies or falls, or stands along
# another axis, see ``up_axis``.
_LEAST, _MOST = np.radians(8.0), np.radians(45.0)


def world_level(points: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) about a horizontal axis that levels the world of a body, the identity where nothing tells.

    points: (F, N, 3), world, metres, Z up, NaN where missing.  By the rule of ``level_of``, where the target is one
    that stands upright all the time and faces as the source does: what leans to one side of the world, whichever way it
    faces, is tilted with the world; what leans to one side of its own does so by itself.
    """
    points = np.asarray(points, float)
    points = points[evenly_spaced_indices(len(points), _FRAMES)]
    points = points[:, evenly_spaced_indices(points.shape[1], _POINTS)]
    points = points[:, 2 * known_points(points).sum(axis=0) > len(points)]
    points = points[known_points(points).all(axis=1)]
    if len(points) < 3 or points.shape[1] < 3:
        return np.eye(3)
    weights = steady_weights(points)
    yaw = ground_yaw(points, points[0], weights)
    if not abs(np.nanmean(np.exp(1j * yaw))) < _FACES_ONE_WAY:
        return np.eye(3)
    turns, _ = procrustes(points, points[0], weights)
    places, upright = np.zeros((len(turns), 3)), np.broadcast_to(np.eye(3), turns.shape)
    # Each frame is a clip of its own, for its heading is another one.
    level = level_of(RigidPairs(turns, places, upright, places, np.arange(len(turns))), Bodies())
    return level if _LEAST < tilt_of(level) < _MOST else np.eye(3)
