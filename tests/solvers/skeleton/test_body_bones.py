"""Which bones are the body where only some of them carry anything."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.types import JointTrack, Skeleton
from solvers.skeleton.body_bones import body_bones
from tests.solvers.skeleton.test_solved_joints import BODY

CONTROLS = {
    "root": (None, 0, 0, 0),
    "pole.L": ("root", 0.1, -2.0, 0.5), "pole.L/tail": ("pole.L", 0.1, -2.9, 0.5),
    "roll.L": ("root", 0.1, -0.2, 0), "heel.L": ("roll.L", 0.1, 0.05, 0), "heel.L/tail": ("heel.L", 0.1, 0.05, 0.1),
    "org.L": ("root", 0.1, 0, 0.95), "org_knee.L": ("org.L", 0.1, -0.02, 0.5),
    "org_ankle.L": ("org_knee.L", 0.1, 0, 0.1), "org_ankle.L/tail": ("org_ankle.L", 0.1, -0.1, 0),
}  # fmt: skip


def chosen(body, carrying, deforming=None, move=lambda positions: positions):
    """Names of the bones that are the body."""
    bones = [name for name in body if "/" not in name]
    names = bones + [name for name in body if "/" in name]
    parents = np.array([names.index(body[name][0]) if body[name][0] else -1 for name in names])
    positions = np.tile(np.array([body[name][1:] for name in names], float), (3, 1, 1))
    track = JointTrack(Skeleton(tuple(names), parents), move(positions), 30.0, np.arange(3))
    deforming = bones if deforming is None else deforming
    found = body_bones(track, parents[: len(bones)], np.isin(bones, list(carrying)), np.isin(bones, list(deforming)))
    return {name for name, is_so in zip(bones, found, strict=True) if is_so}


PEOPLE = {name for name in BODY if "/" not in name}


@pytest.mark.parametrize(
    "props",
    [(), ("toe.R",), ("wrist.L",), ("head",), ("ankle.L", "ankle.R", "head"), ("toe.L", "toe.R", "wrist.L", "head")],
)
def test_props_say_nothing_about_the_other_bones(props):
    assert chosen(BODY, props) == PEOPLE


def test_controls_beside_a_skin_are_not_the_body():
    """Poles, rolls of a foot and copies of a leg; glTF forgets which bones deform."""
    body = CONTROLS | BODY | {"hips": ("root", 0, 0, 1.0)}
    assert chosen(body, PEOPLE) == PEOPLE


def test_a_limb_without_skin_is_part_of_the_body():
    leg = {"thigh.L", "knee.L", "ankle.L", "toe.L"}
    assert chosen(BODY, PEOPLE - leg) == PEOPLE
    assert chosen(BODY, PEOPLE - leg, PEOPLE - leg) == PEOPLE - leg


def test_small_bones_without_skin_ride():
    assert chosen(BODY, PEOPLE - {"toe.L", "head"}) == PEOPLE - {"toe.L", "head"}


def sway(positions):
    """Motion in which the whole body moves."""
    return positions + np.linspace(0.0, 0.3, len(positions))[:, None, None]


@pytest.mark.parametrize("marks", [("wrist.R",), ("hips",), ("head",), ("thigh.R", "knee.R", "ankle.R")])
@pytest.mark.parametrize("props", [(), ("ankle.L",)])
def test_the_flags_of_a_few_bones_say_nothing_about_the_others(marks, props):
    assert chosen(BODY, props, marks, sway) == PEOPLE


def test_the_flags_of_most_of_a_body_tell_it_from_controls():
    body = CONTROLS | BODY | {"hips": ("root", 0, 0, 1.0)}
    assert chosen(body, (), PEOPLE, sway) == PEOPLE
