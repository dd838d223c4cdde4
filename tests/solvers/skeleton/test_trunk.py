"""Where the trunk lies."""

import numpy as np
import pytest

from solvers.core.types import JointTrack
from solvers.skeleton.trunk import trunk_ends
from tests.adapt_walk import walk
from tests.joint_bodies import BODY, rooted, track_of


def named(track: JointTrack) -> list[str]:
    parents, positions = track.skeleton.parents, track.positions[0]
    lengths = np.linalg.norm(positions - positions[parents], axis=1)
    return [track.skeleton.names[joint] for joint in trunk_ends(parents, lengths, positions)]


BRANCHING_FEET = BODY | {f"heel.{side}": (f"ankle.{side}", x, 0.1, 0.0) for side, x in (("L", 0.1), ("R", -0.1))}
LOW_ARMS = {name: joint for name, joint in BODY.items() if not name.startswith(("arm", "elbow", "wrist"))}
BREAST = BODY | {f"breast.{side}": ("hips", x, -0.2, 1.3) for side, x in (("L", 0.1), ("R", -0.1))}
DOG = {
    "hips": (None, 0, 0, 0.6),
    "back": ("hips", 0, 0.5, 0.6),
    "neck": ("back", 0, 0.7, 0.8),
    "nose": ("neck", 0, 1, 0.8),
}
for side, x in (("L", 0.1), ("R", -0.1)):
    for joint, parent, y in (("fore", "back", 0.5), ("hind", "hips", 0.0)):
        DOG |= {f"{joint}.{side}": (parent, x, y, 0.5), f"{joint}foot.{side}": (f"{joint}.{side}", x, y, 0.0)}
DOG |= {f"tail{k}": (f"tail{k - 1}" if k else "hips", 0, -0.1 * k - 0.1, 0.6) for k in range(3)}

# As riggers make them: all limbs, spine and a longer tail hang from one bone in the middle.
DINOSAUR = {"body": (None, 0, 0.3, 4.3)}
DINOSAUR |= {f"tail{k}": (f"tail{k - 1}" if k else "body", 0, -1.5 * k - 1, 3.2 + 0.5 * k) for k in range(5)}
for name, parent, y, z in (("back", "body", 0.4, 3), ("neck", "back", 3.2, 4), ("head", "neck", 3.7, 4.7)):
    DINOSAUR[name] = (parent, 0, y, z)
for side, x in (("L", 0.5), ("R", -0.5)):
    DINOSAUR |= {f"arm.{side}": ("body", x, 2.5, 3.5), f"hand.{side}": (f"arm.{side}", x, 2.8, 2.5)}
    DINOSAUR |= {f"leg.{side}": ("body", x, 0, 3), f"foot.{side}": (f"leg.{side}", x, 0, 0)}


@pytest.mark.parametrize(
    "body, ends",
    [
        (BODY, ["hips", "chest"]),
        (rooted(), ["hips", "chest"]),
        (BRANCHING_FEET, ["hips", "chest"]),
        (BREAST, ["hips", "chest"]),
        (DOG, ["hips", "back"]),
        (LOW_ARMS, ["hips", "head"]),
        (DINOSAUR, ["body", "neck"]),
        ({"cup": (None, 0, 0, 0), "cup/tail": ("cup", 0, 0, 1)}, ["cup", "cup/tail"]),
        ({"ball": (None, 0, 0, 0)}, ["ball", "ball"]),
    ],
)
def test_a_trunk_lies_between_the_legs_and_what_branches_off_above(body, ends):
    assert named(track_of(body)[0]) == ends


def test_of_several_roots_the_one_with_the_body_counts():
    body = {"cap": (None, 0, 0, 2), "cap/tail": ("cap", 0, 0, 2.1)} | BODY
    assert named(track_of(body)[0]) == ["hips", "chest"]


def test_a_walker_has_its_trunk_between_hips_and_chest():
    assert named(walk()) == ["hips", "chest"]
