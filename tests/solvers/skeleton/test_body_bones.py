"""Which bones are the body where only some of them carry anything."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.skeleton.body_bones import body_bones
from tests.joint_bodies import BODY, bones_of, rooted, track_of

CONTROLS = {
    "root": (None, 0, 0, 0),
    "pole.L": ("root", 0.1, -2.0, 0.5), "pole.L/tail": ("pole.L", 0.1, -2.9, 0.5),
    "roll.L": ("root", 0.1, -0.2, 0), "heel.L": ("roll.L", 0.1, 0.05, 0), "heel.L/tail": ("heel.L", 0.1, 0.05, 0.1),
    "org.L": ("root", 0.1, 0, 0.95), "org_knee.L": ("org.L", 0.1, -0.02, 0.5),
    "org_ankle.L": ("org_knee.L", 0.1, 0, 0.1), "org_ankle.L/tail": ("org_ankle.L", 0.1, -0.1, 0),
}  # fmt: skip


def chosen(body, carrying, deforming=None, move=lambda positions: positions):
    """Names of the bones that are the body."""
    (track, parents), bones = track_of(body), bones_of(body)
    deforming = bones if deforming is None else deforming
    track = replace(track, positions=move(track.positions))
    found = body_bones(track, parents, np.isin(bones, list(carrying)), np.isin(bones, list(deforming)))
    return {name for name, is_so in zip(bones, found, strict=True) if is_so}


PEOPLE = set(bones_of(BODY))


@pytest.mark.parametrize(
    "props",
    [(), ("toe.R",), ("wrist.L",), ("head",), ("ankle.L", "ankle.R", "head"), ("toe.L", "toe.R", "wrist.L", "head")],
)
def test_props_say_nothing_about_the_other_bones(props):
    assert chosen(BODY, props) == PEOPLE


def test_controls_beside_a_skin_are_not_the_body():
    """Poles, rolls of a foot and copies of a leg; glTF forgets which bones deform."""
    body = rooted(body=CONTROLS | BODY)
    assert chosen(body, PEOPLE) == PEOPLE
    assert chosen(body, (), PEOPLE, sway) == PEOPLE  # nor where only the flags tell


def test_a_limb_without_skin_is_part_of_the_body_and_small_bones_without_it_ride():
    leg = {"thigh.L", "knee.L", "ankle.L", "toe.L"}
    assert chosen(BODY, PEOPLE - leg) == PEOPLE
    assert chosen(BODY, PEOPLE - leg, PEOPLE - leg) == PEOPLE - leg
    assert chosen(BODY, PEOPLE - {"toe.L", "head"}) == PEOPLE - {"toe.L", "head"}


def sway(positions):
    """Motion in which the whole body moves."""
    return positions + np.linspace(0.0, 0.3, len(positions))[:, None, None]


@pytest.mark.parametrize("marks", [("wrist.R",), ("hips",), ("head",), ("thigh.R", "knee.R", "ankle.R")])
@pytest.mark.parametrize("props", [(), ("ankle.L",)])
def test_the_flags_of_a_few_bones_say_nothing_about_the_others(marks, props):
    assert chosen(BODY, props, marks, sway) == PEOPLE
