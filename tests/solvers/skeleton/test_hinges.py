"""Where limbs bend."""

import numpy as np

from solvers.skeleton.hinges import hinges
from tests.joint_bodies import BODY, track_of

TRACK, _ = track_of(BODY)
NAMES, PARENTS = TRACK.skeleton.names, TRACK.skeleton.parents
LENGTHS = np.linalg.norm(TRACK.positions[0] - TRACK.positions[0, PARENTS], axis=1)


def named(ends, least):
    trunk = [NAMES.index("hips"), NAMES.index("chest")]
    found = hinges(PARENTS, LENGTHS, np.isin(NAMES, ends), trunk, least)
    return {(NAMES[joint], NAMES[below]) for joint, below in found}


def test_knees_and_elbows_are_found_and_nothing_else():
    ends = [f"{name}.{side}" for name in ("wrist", "ankle", "toe") for side in "LR"]
    wanted = {(f"knee.{s}", f"ankle.{s}") for s in "LR"} | {(f"elbow.{s}", f"wrist.{s}") for s in "LR"}
    assert named(ends, 0.2) == wanted
    assert named(["ankle.L"], 0.2) == {("knee.L", "ankle.L")}
    assert named([], 0.2) == set() and named(ends, 1.0) == set()
