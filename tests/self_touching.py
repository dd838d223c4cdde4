"""A made body that stands with one hand on its hip for a while, and both hands clasped after that."""

from __future__ import annotations

import numpy as np

from solvers.core.types import JointTrack, Skeleton
from solvers.skeleton.solved_joints import effectors

FPS, FRAMES = 30.0, 150
_SPINE = {"pelvis": (None, (0, 0, 1.0)), "chest": ("pelvis", (0, 0, 1.25)), "neck": ("chest", (0, 0, 1.5))}
_LEG = (("thigh", (0.1, 0, 0.95)), ("shin", (0.1, -0.02, 0.52)), ("foot", (0.1, 0, 0.1)), ("toe", (0.1, -0.16, 0.03)))
_ARM = (("shoulder", (0.18, 0, 1.45)), ("elbow", (0.2, 0, 1.16)), ("hand", (0.2, -0.02, 0.9)), ("palm", (0.2, 0, 0.8)))
# Where hands are while they rest: the left one on the hip, then both before the belly.
ON_HIP, CLASPED = slice(30, 70), slice(105, 140)
_HIP = (("elbow", (0.42, 0.08, 1.28)), ("hand", (0.2, 0.0, 1.1)), ("palm", (0.14, -0.04, 1.03)))
_BELLY = (("elbow", (0.33, 0.0, 1.22)), ("hand", (0.1, -0.24, 1.2)), ("palm", (0.02, -0.28, 1.2)))


def names_and_parents() -> tuple[tuple[str, ...], np.ndarray]:
    names, parents = list(_SPINE), [-1, 0, 1]
    names.append("head")
    parents.append(2)
    for side in "LR":
        for chain, top in ((_LEG, "pelvis"), (_ARM, "neck")):
            for name, _ in chain:
                parents.append(names.index(top))
                names.append(top := f"{name}.{side}")
    return tuple(names), np.array(parents)


NAMES, PARENTS = names_and_parents()
ENDS = effectors(PARENTS)


def pose(left=(), right=()) -> np.ndarray:
    """(J, 3); left, right: places of joints of the arms in place of hanging ones, as they are on the left side."""
    places = {name: place for name, (_, place) in _SPINE.items()} | {"head": (0, 0, 1.75)}
    for side, sign, moved in (("L", 1, dict(left)), ("R", -1, dict(right))):
        for name, place in (*_LEG, *_ARM):
            places[f"{name}.{side}"] = np.array(moved.get(name, place)) * (sign, 1, 1)
    return np.array([places[name] for name in NAMES], float)


def share(rows: slice, over: int = 12) -> np.ndarray:
    """(F,) 1 at some rows, faded in and out beside them."""
    row = np.arange(FRAMES)
    x = np.clip(1.0 - np.maximum(np.maximum(rows.start - row, row - rows.stop + 1), 0) / over, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def standing(hands: bool = True) -> JointTrack:
    """The body sways a little; without hands both arms hang all the time."""
    rest = pose()
    moved = (share(ON_HIP)[:, None, None] * (pose(left=_HIP) - rest)) if hands else 0.0
    moved = moved + (share(CLASPED)[:, None, None] * (pose(_BELLY, _BELLY) - rest) if hands else 0.0)
    sway = 0.02 * np.sin(np.arange(FRAMES) / 25.0)[:, None, None] * [1.0, 0.5, 0.0] * (rest[:, 2:] > 0.3)
    return JointTrack(Skeleton(NAMES, PARENTS), rest + moved + sway, FPS, np.arange(FRAMES))

