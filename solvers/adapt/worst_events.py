"""What an animator would see at a glance in a result: the worst jump, turn, tilt and loss of balance, and where.

Arrays alone, so that any two tracks of one skeleton can be compared. Everything is what the result adds to its source.
A step is from one frame of the track to the next. World space, metres; gravity is a unit vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..rotations import quaternions as quat

DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class Event:
    """size: what was measured.  frame: the scene frame, of a step the later one.  joint: index, -1 for the body."""

    size: float
    frame: float
    joint: int


def worst(sizes: np.ndarray, frames: np.ndarray, joint: int = -1) -> Event | None:
    """The largest of (F,) or (F, J) measures, None where there is none; NaN does not count.

    frames: (F,) of the scene, or (F + 1,) where the measures are of steps.  joint: of measures (F,).
    """
    known = np.where(np.isnan(sizes), -np.inf, sizes)
    if not (known > -np.inf).any():
        return None
    place = np.unravel_index(known.argmax(), known.shape)
    frame = frames[place[0] + len(frames) - len(sizes)]
    return Event(float(known[place]), float(frame), int(place[1]) if len(place) > 1 else joint)


def jumps(source: np.ndarray, result: np.ndarray, size: float = 1.0) -> np.ndarray:
    """(F - 1, J) metres a frame by which each joint's step is longer than its source's.

    source, result: (F, J, 3).  size: of the character against its source, by which steps are longer anyway.
    """
    before, after = (np.linalg.norm(np.diff(positions, axis=0), axis=2) for positions in (source, result))
    return after - size * before


def turn_steps(turns: np.ndarray) -> np.ndarray:
    """(F - 1, J) degrees a frame by which the turn changes that is added to each bone's orientation.

    turns: (F, J, 4) unit quaternions (w, x, y, z), world, that turn the source's orientations into the result's.
    """
    return turned_each_frame(np.moveaxis(turns, 0, -1)).T


def turned_each_frame(rotations: np.ndarray) -> np.ndarray:
    """(J, F - 1) degrees a frame by which unit quaternions (J, 4, F) change."""
    change = quat.mul_conj(rotations[..., 1:], rotations[..., :-1])
    return np.degrees(np.linalg.norm(quat.log(change), axis=1))


def headings(turns: np.ndarray, gravity: np.ndarray = DOWN) -> np.ndarray:
    """(F, 4) the twists about gravity of turns (F, 4), unit quaternions; none where a turn is upside down."""
    along = turns[:, 1:] @ gravity
    twist = np.column_stack((turns[:, 0], along[:, None] * gravity))
    length = np.linalg.norm(twist, axis=1, keepdims=True)
    return np.where(length > 1e-6, twist / np.maximum(length, 1e-6), [1.0, 0.0, 0.0, 0.0])


def tilts(
    source: np.ndarray, result: np.ndarray, turns: np.ndarray, ends: tuple[int, int], gravity: np.ndarray = DOWN
) -> np.ndarray:
    """(F,) degrees between the trunk and the source's, turned by the heading; NaN where a trunk has no length.

    source, result: (F, J, 3).  turns: (F, 4) that are added to the root.  ends: joints from ``trunk_ends``.
    """
    before, after = (positions[:, ends[1]] - positions[:, ends[0]] for positions in (source, result))
    before = quat.rotate(headings(turns, gravity).T, before.T).T
    cross = np.linalg.norm(np.cross(before, after), axis=1)
    angle = np.degrees(np.arctan2(cross, np.einsum("fk,fk->f", before, after)))
    length = np.minimum(*(np.linalg.norm(vectors, axis=1) for vectors in (before, after)))
    return np.where(length > 0, angle, np.nan)


def leanings(positions: np.ndarray, ends: tuple[int, int], gravity: np.ndarray = DOWN) -> np.ndarray:
    """(F,) degrees between the trunk and the vertical, 0 to 90, whichever end is up; 0 where a trunk has no length.

    positions: (F, J, 3).  ends: joints from ``trunk_ends``.
    """
    trunk = positions[:, ends[1]] - positions[:, ends[0]]
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(trunk, gravity), axis=1), np.abs(trunk @ gravity)))


def is_straight(positions: np.ndarray, parents: np.ndarray, hinges: np.ndarray, angle: float) -> np.ndarray:
    """(F, H) bool: whether knees and elbows are stretched to more than an angle, degrees.

    positions: (F, J, 3).  hinges: (H, 2), see ``skeleton.hinges``.
    """
    joints, below = hinges.T
    up, down = (positions[:, ends] - positions[:, joints] for ends in (parents[joints], below))
    lengths = np.linalg.norm(up, axis=2) * np.linalg.norm(down, axis=2)
    return np.einsum("fhk,fhk->fh", up, down) < np.cos(np.radians(angle)) * lengths


def bone_masses(lengths: np.ndarray, parents: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """(J,) shares of the body's mass in the bones that lead to each joint.

    lengths: (J,) of those bones.  parents: (J,), -1 for roots, which no bone leads to.  radii: (J,) of the capsules
    around them, 0 where unknown. A bone weighs as much as its capsule's cylinder: its length times its radius squared;
    by its length alone where no radius is known. Of a body that has some, a bone without one carries no flesh.
    """
    mass = np.where(parents < 0, 0.0, lengths) * (radii**2 if np.any(radii > 0) else 1.0)
    total = mass.sum()
    return mass / total if total > 0 else np.full(len(mass), 1.0 / len(mass))


def mass_centres(positions: np.ndarray, parents: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """(F, 3) of joints (F, J, 3): each bone's mass lies in its middle.  masses: (J,), see ``bone_masses``."""
    middles = 0.5 * (positions + positions[:, np.where(parents < 0, np.arange(len(parents)), parents)])
    return np.einsum("j,fjk->fk", masses, middles)


def balance_shifts(
    source: np.ndarray,
    result: np.ndarray,
    centres: tuple[np.ndarray, np.ndarray],
    stance: np.ndarray,
    turns: np.ndarray,
    size: float = 1.0,
    gravity: np.ndarray = DOWN,
) -> np.ndarray:
    """(F,) horizontal metres by which the centre of mass has moved against what the body stands on; NaN without stance.

    source, result: (F, J, 3).  centres: (F, 3) of mass of both.  stance: (F, J) weights, 0 for joints that do not
    touch; the body stands on their weighted mean.  turns: (F, 4) that are added to the root: their heading turns what
    the source asks for.  size: of the character against its source.
    """
    total = stance.sum(axis=1, keepdims=True)
    share = np.divide(stance, total, out=np.full(stance.shape, np.nan), where=total > 0)
    before, after = (
        centre - np.einsum("fj,fjk->fk", share, positions)
        for centre, positions in zip(centres, (source, result), strict=True)
    )
    shift = after - size * quat.rotate(headings(turns, gravity).T, before.T).T
    return np.linalg.norm(shift - (shift @ gravity)[:, None] * gravity, axis=1)
