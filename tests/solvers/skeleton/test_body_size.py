"""How large a body is: the same in every pose and rest pose, whatever hangs beside it."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.types import JointTrack, Skeleton
from solvers.skeleton.body_size import body_size
from tests.solvers.skeleton.test_solved_joints import BODY


def size(body, motion=None, irrelevant=(), frames=3):
    """Of joints {name: (parent, x, y, z)}; motion: name -> (F, 3)."""
    bones = [name for name in body if "/" not in name]
    names = bones + [name for name in body if "/" in name]
    parents = np.array([names.index(body[name][0]) if body[name][0] else -1 for name in names])
    positions = np.tile(np.array([body[name][1:] for name in names], float), (frames, 1, 1))
    for name, places in (motion or {}).items():
        positions[:, names.index(name)] = places
    track = JointTrack(Skeleton(tuple(names), parents), positions, 30.0, np.arange(frames))
    return body_size(track, parents[: len(bones)], np.array([name not in irrelevant for name in bones]))


def test_a_person_is_as_high_as_a_person():
    assert size(BODY) == pytest.approx(1.8, rel=0.1)


def test_a_folded_pose_has_the_same_size():
    """All limbs along one line, each back over the last."""
    along, folded = {}, dict(BODY)
    for k, (name, (parent, *place)) in enumerate(BODY.items()):
        start = BODY[parent][1:] if parent else place
        length = np.linalg.norm(np.subtract(place, start))
        along[name] = (along[parent] if parent else 0.0) + length * (-1) ** k
        folded[name] = (parent, along[name], 0, 0)
    assert size(folded) == pytest.approx(size(BODY))


@pytest.mark.parametrize("away", [0.0, 4.5, 300.0])
def test_a_root_below_or_far_away_does_not_count(away):
    body = {"root": (None, 0, away, 0)} | BODY | {"hips": ("root", 0, 0, 1.0)}
    assert size(body) == pytest.approx(size(BODY), rel=0.05)
    walking = {"root": np.outer(np.arange(3), [0, 1, 0])}
    assert size(body, walking) == pytest.approx(size(BODY), rel=0.05)


def test_cameras_targets_and_guessed_tails_do_not_count():
    body = {"root": (None, 0, 0, 0)} | BODY | {"hips": ("root", 0, 0, 1.0), "head/tail": ("head", 0, 0, 90.0)}
    body |= {f"far{k}": ("root", 0, 30.0, k) for k in range(2)}
    assert size(body) == pytest.approx(size(BODY), rel=0.1)


def test_hips_and_legs_on_a_root_on_the_ground():
    body = {"root": (None, 0, 0, 0)} | BODY | {"hips": ("root", 0, 0, 1.0)}
    body |= {f"thigh.{side}": ("root", *BODY[f"thigh.{side}"][1:]) for side in "LR"}
    assert size(body) == pytest.approx(size(BODY), rel=0.1)


def test_feet_on_a_root_that_is_a_control():
    """A ground control from which both the hips and the feet hang, in a clip in which neither moves."""
    body = {"root": (None, 0, 3, 0)} | BODY | {"hips": ("root", 0, 0, 1.0)}
    body |= {f"ankle.{side}": ("root", *BODY[f"ankle.{side}"][1:]) for side in "LR"}
    assert size(body, irrelevant=("root",)) < 1.8
