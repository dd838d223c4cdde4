"""How large a body is: the same in every pose and rest pose, whatever hangs beside it."""

import numpy as np
import pytest

from solvers.skeleton.body_size import body_size
from tests.joint_bodies import BODY, bones_of, rooted, track_of


def size(body, motion=None, irrelevant=()):
    """Of joints {name: (parent, x, y, z)}; motion: name -> (F, 3)."""
    track, parents = track_of(body, motion)
    return body_size(track, parents, np.array([name not in irrelevant for name in bones_of(body)]))


def on_root(*parts):
    """The body with parts of both sides under the root."""
    return {f"{part}.{side}": ("root", *BODY[f"{part}.{side}"][1:]) for part in parts for side in "LR"}


def test_a_person_is_as_high_as_a_person_folded_too():
    """All limbs along one line, each back over the last."""
    assert size(BODY) == pytest.approx(1.8, rel=0.1)
    along, folded = {}, dict(BODY)
    for k, (name, (parent, *place)) in enumerate(BODY.items()):
        start = BODY[parent][1:] if parent else place
        length = np.linalg.norm(np.subtract(place, start))
        along[name] = (along[parent] if parent else 0.0) + length * (-1) ** k
        folded[name] = (parent, along[name], 0, 0)
    assert size(folded) == pytest.approx(size(BODY))


@pytest.mark.parametrize("away", [0.0, 4.5, 300.0])
def test_a_root_below_or_far_away_does_not_count(away):
    for motion in (None, {"root": np.outer(np.arange(3), [0, 1, 0])}):
        assert size(rooted(away), motion) == pytest.approx(size(BODY), rel=0.05)


def test_cameras_targets_guessed_tails_and_a_root_under_the_legs_do_not_count():
    far = rooted() | {"head/tail": ("head", 0, 0, 90.0)} | {f"far{k}": ("root", 0, 30.0, k) for k in range(2)}
    for body in (far, rooted() | on_root("thigh")):
        assert size(body) == pytest.approx(size(BODY), rel=0.1)


def test_feet_on_a_root_that_is_a_control():
    """A ground control from which both the hips and the feet hang, in a clip in which neither moves."""
    assert size(rooted(3) | on_root("ankle"), irrelevant=("root",)) < 1.8
