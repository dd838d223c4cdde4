"""Limbs of a tree of joints, and what of a motion is left out."""

import numpy as np

from solvers.skeleton.limbs import limbs, uncovered
from tests.joint_bodies import BODY, bones_of, track_of

NAMES = list(BODY)
PARENTS = [NAMES.index(parent) if parent else -1 for parent, *_ in BODY.values()]


def test_arms_and_legs_are_limbs_the_spine_is_the_trunk_and_each_root_has_its_own():
    found = {NAMES[joint]: NAMES[first] for joint, first in enumerate(limbs(np.array(PARENTS)))}
    assert {name for name, limb in found.items() if limb == "hips"} == {"hips", "chest"}
    assert found["head/tail"] == "neck"
    for side in "LR":
        assert found[f"wrist.{side}/tail"] == f"arm.{side}" and found[f"toe.{side}/tail"] == f"thigh.{side}"
    assert limbs(np.array([-1, 0, 1, -1, 3])).tolist() == [0, 0, 0, 3, 3]


def left_out(solved, still=()):
    """Share and names of what a body in which every bone turns leaves out, all carried by the hips."""
    (track, parents), names = track_of(BODY), bones_of(BODY)
    rest = track.positions[0, : len(names)]
    sway = np.linspace(0, 1, 8)[:, None, None] * np.arange(1, len(names) + 1)[:, None] * [0.1, 0, 0]
    sway[:, np.isin(names, list(still))] = 0.0
    pose = np.tile(np.eye(4), (8, len(names), 1, 1))
    pose[..., :3, 3] = rest + sway
    carrier = np.zeros(len(names), int)
    is_solved, body = np.isin(names, list(solved)), np.ones(len(names), bool)
    share, left = uncovered(pose[..., :3, 3], pose, parents, body, is_solved, carrier, 1.8)
    return share, {name for name, is_left in zip(names, left, strict=True) if is_left}


def test_what_moves_and_is_not_solved_is_left_out():
    legs = {f"{part}.{side}" for part in ("thigh", "knee", "ankle", "toe") for side in "LR"}
    share, left = left_out({"hips"})
    assert share < 0.2 and legs <= left
    whole = set(bones_of(BODY))
    assert left_out(whole) == (1.0, set())
    share, left = left_out(whole - legs)
    assert 0.2 < share < 0.7 and left == legs
    assert left_out(whole - legs, still=legs | {"hips"}) == (1.0, set())
