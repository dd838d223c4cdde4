"""Pairs of legs along a trunk that lies, of a made animal: hips, spine, chest, head, and four legs of three joints."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.adapt.leg_pairs import LegPairs
from solvers.adapt.leg_reach import Legs
from solvers.skeleton.joint_tree import JointTree

DOWN = np.array([0.0, 0.0, -1.0])
FRAMES = 5
HIPS, SPINE, CHEST, HEAD = range(4)
PARENTS = np.array([-1, 0, 1, 2])
TRUNK = [(0.0, 0.0, 1.0), (0.0, 0.4, 1.0), (0.0, 0.8, 1.0), (0.0, 1.2, 1.3)]
LEG = np.array([(0.0, 0.0, -0.1), (0.0, 0.1, -0.5), (0.0, 0.0, -1.0)])


def animal(trunk=TRUNK, carriers=(HIPS, HIPS, CHEST, CHEST)):
    """Parents, body (F, J, 3) and feet (J,) bool."""
    trunk = np.asarray(trunk)
    parents, joints = list(PARENTS), list(trunk)
    for number, carrier in enumerate(carriers):
        side = (0.2 if number % 2 else -0.2, 0.0, 0.0)
        parents += [carrier, len(joints), len(joints) + 1]
        joints += list(trunk[carrier] + LEG + side)
    body = np.repeat(np.array(joints)[None], FRAMES, axis=0) + np.linspace(0, 1, FRAMES)[:, None, None] * [0, 1.0, 0]
    feet = np.zeros(len(joints), bool)
    feet[6::3] = True
    return np.array(parents), body, feet


def pairs(parents, body, feet, touched=None, gravity=DOWN):
    legs = Legs.of(JointTree.build(parents), body, feet)
    return legs, LegPairs.of(legs, parents, body, feet if touched is None else touched, gravity)


def test_an_animal_has_hips_and_shoulders():
    legs, found = pairs(*animal())
    assert found.legs.sum(axis=0).tolist() == [1, 1, 1, 1] and found.legs.sum(axis=1).tolist() == [2, 2]
    np.testing.assert_allclose(found.shares.sum(axis=0), 1.0)
    hind = found.legs[:, legs.upper < 10].any(axis=1).argmax()
    np.testing.assert_allclose(found.shares[hind, [HIPS, SPINE, CHEST, HEAD]], [1.0, 0.5, 0.0, 0.0], atol=1e-12)
    lack = np.zeros((FRAMES, 4))
    lack[:, legs.upper > 10] = 0.2
    down = found.lowered(found.most(lack))
    np.testing.assert_allclose(down[[HIPS, SPINE, CHEST]], np.repeat([[0.1], [0.15], [0.2]], FRAMES, axis=1))


def test_it_does_not_matter_where_the_world_points():
    parents, body, feet = animal()
    turn = Rotation.from_euler("xyz", [70.0, 20.0, 130.0], degrees=True).as_matrix()
    _, turned = pairs(parents, body @ turn.T + 3.0, feet, gravity=turn @ DOWN)
    np.testing.assert_allclose(turned.shares, pairs(parents, body, feet)[1].shares, atol=1e-9)


@pytest.mark.parametrize("kind", ["upright", "one pair", "fore legs in the air", "nothing touches"])
def test_all_else_goes_down_as_a_whole(kind):
    """Whoever bends over a table is no animal, nor is what goes on its hind legs."""
    parents, body, feet = animal(np.array(TRUNK)[:, [0, 2, 1]] if kind == "upright" else TRUNK)
    touched = feet.copy()
    if kind == "one pair":
        parents, body, feet = animal(carriers=(HIPS, HIPS))
        touched = feet
    elif kind == "fore legs in the air":
        touched[10:] = False
    elif kind == "nothing touches":
        touched[:] = False
    legs, found = pairs(parents, body, feet, touched)
    assert found.legs.all() and (found.shares == 1.0).all() and len(found.shares) == 1
    lack = np.random.default_rng(0).random((FRAMES, len(legs.upper)))
    np.testing.assert_array_equal(found.lowered(found.most(lack)), np.tile(lack.max(axis=1), (len(parents), 1)))
