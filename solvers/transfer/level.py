"""How a source's world is tilted against its target's: a capture that is not level, told by how both torsos turn."""

from __future__ import annotations

import numpy as np

from ..rotations.polar import nearest_rotation
from .rigid_motion import Bodies, RigidPairs, alternated_turn, products_of, turn_starts, yaw_matrices, yaw_of

# A tilt is taken off where it leaves less than this share of the squared angles between the torsos: bodies that lean
# are told by an offset as well, and so is any tilt while nobody changes heading.
_LEFT = 0.5
# Radians.  A smaller tilt, or torsos that come nearer to each other without, are no capture that is not level.
_LEAST = np.radians(4.0)
_ROUNDS, _STILL = 600, 1e-8


def level_of(pairs: RigidPairs, bodies: Bodies) -> np.ndarray:
    """The rotation (3, 3) about a horizontal axis that levels the source's world; the identity where nothing tells.

    R_target ~ Y_clip L R_source C in the Frobenius norm, Y_clip about the vertical, in turns for each: a tilt L of the
    world is told apart from an offset C of the bodies by changes of heading, with which one turns and the other does
    not.
    """
    products, pull, starts = products_of(pairs), np.zeros((3, 3)), turn_starts(bodies)
    level = max((_levelled(products, pull, start) for start in starts), key=lambda found: found[0])
    flat = max(alternated_turn(products, pull, start)[0] for start in starts)
    # In squared radians: the trace of a turn is three less the square of its angle, about.
    most = 3.0 * len(pairs.clip)
    left, left_flat = most - level[0], most - flat
    is_told = left < _LEFT * left_flat and left_flat > _LEAST**2 * len(pairs.clip) and tilt_of(level[1]) > _LEAST
    return level[1] if is_told else np.eye(3)


def tilt_of(level: np.ndarray) -> float:
    """Radians that a rotation (3, 3) turns the vertical by."""
    return float(np.arccos(np.clip(level[2, 2], -1.0, 1.0)))


def _levelled(products: np.ndarray, pull: np.ndarray, offset: np.ndarray) -> tuple[float, np.ndarray]:
    """How well it fits, and the tilt, from a first guess of the offset."""
    tilt, before = np.eye(3), -np.inf
    for _ in range(_ROUNDS):
        turned = np.einsum("ec,kabcd->kabed", tilt, products)
        fit, headings, offset = alternated_turn(turned, pull, offset, 1)
        if fit - before <= _STILL * abs(fit):
            break
        before = fit
        wanted = np.einsum("kae,db,kabcd->ec", yaw_matrices(headings), offset, products)
        tilt = _without_yaw(nearest_rotation(wanted))
    return fit, tilt


def _without_yaw(rotation: np.ndarray) -> np.ndarray:
    """The rest (3, 3) of a rotation (3, 3) when its turn about the vertical, which comes last, is taken off."""
    return yaw_matrices(np.array([-yaw_of(rotation)]))[0] @ rotation
