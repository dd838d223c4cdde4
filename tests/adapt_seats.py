"""A made body that sits on a thin seat."""

from __future__ import annotations

import numpy as np

from benchmarks.props import box, flat_ground
from solvers.adapt.binding import fit
from solvers.core.types import JointTrack, Skeleton
from solvers.skeleton.solved_joints import effectors

FRAMES, FPS = 60, 30.0
NAMES = ("pelvis", "chest", "head", "hip.L", "knee.L", "foot.L", "toe.L", "hip.R", "knee.R", "foot.R", "toe.R")
PARENTS = np.array([-1, 0, 1, 0, 3, 4, 5, 0, 7, 8, 9])
ENDS = effectors(PARENTS)
PELVIS, KNEE = NAMES.index("pelvis"), NAMES.index("knee.L")


def seated(wander=0.03):
    """A body that sits on a thin seat at 0.5 m: its pelvis comes nearer to it and goes farther, slowly."""
    leg = [[0.1, 0, 0.6], [0.1, 0.42, 0.55], [0.1, 0.42, 0.1], [0.1, 0.56, 0.04]]
    rest = np.array([[0, 0, 0.6], [0, 0, 1.0], [0, 0, 1.3], *leg, *(np.array(leg) * [-1, 1, 1])])
    upper = np.array([1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0])
    time = np.arange(FRAMES) / FPS
    sway = wander * np.sin(2.0 * time)[:, None, None] * upper[:, None] * [0, 0, 1]
    return JointTrack(Skeleton(NAMES, PARENTS), rest + sway, FPS, np.arange(FRAMES))


def surroundings(track):
    return [flat_ground(track.positions), box("Seat", [-0.3, -0.3, 0.3], [0.3, 0.15, 0.5])]


def bound(track, meshes=None):
    return fit(track, meshes or surroundings(track), ENDS, 1.8)
