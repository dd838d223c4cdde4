"""Which limbs a body has."""

import numpy as np
import pytest

from solvers.adapt.leg_reach import Legs
from solvers.skeleton.joint_tree import JointTree
from solvers.skeleton.solved_joints import effectors
from tests.joint_bodies import BODY, track_of

FACE = BODY | {"jaw": ("head", 0, 0.1, 1.65), "jaw/tail": ("jaw", 0, 0.2, 1.65)}
LIMBS = {f"{joint}.{side}" for joint in ("knee", "elbow") for side in "LR"}
ARM = {"shoulder": (None, 0, 0, 0), "upper": ("shoulder", 0.2, 0, 0)}
ARM |= {"elbow": ("upper", 0.5, 0, 0), "wrist": ("elbow", 0.8, 0, 0), "wrist/tail": ("wrist", 0.9, 0, 0)}


def middles(body):
    track, _ = track_of(body)
    parents = track.skeleton.parents
    legs = Legs.of(JointTree.build(parents), track.positions, effectors(parents))
    return {track.skeleton.names[joint] for joint in legs.middle}


@pytest.mark.parametrize("body", [BODY, FACE])
def test_neck_and_spine_are_no_limbs(body):
    """The longest bones on the way to a head are the spine's."""
    assert middles(body) == LIMBS


def test_a_limb_without_a_body_is_one():
    assert middles(ARM) == {"elbow"}


def test_an_arm_whose_clavicle_is_long_bends_below_the_trunk():
    wide = {name: (parent, 3 * x if name.startswith("arm") else x, y, z) for name, (parent, x, y, z) in BODY.items()}
    wide |= {name: (parent, x + 0.4 * np.sign(x), y, z) for name, (parent, x, y, z) in wide.items() if "elbow" in name}
    found = middles(wide)
    assert "chest" not in found and {"knee.L", "knee.R"} <= found
