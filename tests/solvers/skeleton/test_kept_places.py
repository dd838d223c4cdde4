"""What rides on a body without hanging on it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.skeleton.kept_places import props, riding_parents
from tests.moving_bones import NAMES, TREE, moving
from tests.random_rigs import plain_rig

SIZE = 1.8
HIPS, HEAD, FOOT = (NAMES.index(name) for name in ("hips", "head", "foot.L"))


def equipped(pose, rest, lengths, *bones):
    """The body under a root, and further bones under that root: (pose, rest, lengths, parents); the root comes first.

    bones: (F, 4, 4) poses.
    """
    still = np.tile(np.eye(4), (len(pose), 1, 1, 1))
    poses = np.concatenate((still, pose, *(bone[:, None] for bone in bones)), axis=1)
    rests = np.concatenate((np.eye(4)[None], rest, *(bone[:1] for bone in bones)))
    parents = np.concatenate(([-1], TREE + 1, np.zeros(len(bones), int)))
    return poses, rests, np.concatenate(([0.2], lengths, np.full(len(bones), 0.2))), parents


def riders(pose, rest, lengths, parents, free=None):
    rig = plain_rig(parents, rest, lengths)
    solved = np.arange(1, 1 + len(NAMES))
    free = np.ones(len(parents), bool) if free is None else free
    return riding_parents(rig, parents, pose, solved, free, SIZE)


@pytest.fixture
def body():
    return moving(np.random.default_rng(3))


def test_what_keeps_a_place_by_a_bone_rides_on_it(body):
    """Turned by itself or not; the root goes along with the hips."""
    pose, rest, lengths = body
    carried = pose[:, HEAD] @ np.array([[1, 0, 0, 0.1], [0, 1, 0, 0.3], [0, 0, 1, 0], [0, 0, 0, 1]])
    turned = carried.copy()
    turned[:, :3, :3] = np.eye(3)
    found = riders(*equipped(pose, rest, lengths, carried, turned))
    assert found[-2:].tolist() == [HEAD + 1, HEAD + 1]
    assert found[0] == HIPS + 1


def test_a_chain_above_the_solved_bones_goes_along_in_a_rig_of_bones_without_parents(body):
    """A tail from its tip down to the hips, that swings and hangs nowhere but in the tree of what moves together."""
    base = body[0][:, NAMES.index("spine")].copy()  # keeps a place by a bone, but belongs to the tail
    pose, rest, lengths, parents = equipped(*body, base)
    pose[:, 0, :3, 3] = np.random.default_rng(4).normal(0.0, 1.0, (len(pose), 3))
    loose, solved = plain_rig(np.full(len(parents), -1), rest, lengths), np.arange(1, len(parents) - 1)
    parents[HIPS + 1] = len(parents) - 1
    found = riding_parents(loose, parents, pose, solved, np.ones(len(parents), bool), SIZE)
    assert found.tolist() == [HIPS + 1, *parents[1:]]


def test_what_goes_its_own_way_or_may_not_ride_hangs_where_it_hung(body):
    pose, rest, lengths = body
    carried = pose[:, HEAD].copy()
    own = np.tile(np.eye(4), (len(pose), 1, 1))
    own[:, 0, 3] = np.linspace(0, 1, len(pose))
    parts = equipped(pose, rest, lengths, own, carried)
    free = np.ones(len(parts[3]), bool)
    free[-1] = False
    assert riders(*parts, free)[-2:].tolist() == [0, 0]


def test_beside_a_bone_that_stands_still_only_what_is_near_rides():
    pose, rest, lengths = moving(np.random.default_rng(3), still=NAMES)
    near, far = np.tile(np.eye(4), (2, len(pose), 1, 1))
    near[:, :3, 3] = pose[:, FOOT, :3, 3] + [0.02, 0.2, -0.1]
    far[:, :3, 3] = [0, -2.0, 0.5]
    assert riders(*equipped(pose, rest, lengths, near, far))[-2:].tolist() == [FOOT + 1, 0]


def test_props_of_a_rig_without_skin(body):
    """A target that slides against the root and keeps a place by the head is no part of the body; a head is."""
    pose, rest, lengths = body
    pose = pose + np.pad(np.linspace(0, 1, len(pose))[:, None, None, None], ((0, 0), (0, 0), (0, 3), (3, 0)))
    poses, rests, sizes, parents = equipped(pose, rest, lengths, pose[:, HEAD])
    rig = plain_rig(parents, rests, sizes)
    relevant = np.arange(len(parents)) > 0
    found = props(rig, parents, poses, relevant, np.zeros(len(parents), bool), SIZE)
    assert np.flatnonzero(found).tolist() == [len(parents) - 1]
    carrying = np.arange(len(parents)) == len(parents) - 1
    assert not props(rig, parents, poses, relevant, carrying, SIZE).any()


def test_what_hangs_on_a_sheared_bone_is_no_prop(body):
    """A shin turned below an unevenly scaled thigh: the foot slides against its head, but goes along with it."""
    pose, rest, lengths = body
    shin, foot = NAMES.index("shin.L"), NAMES.index("foot.L")
    stretch = np.diag([1.0, 1.0, 0.3, 1.0])
    swing = np.linspace(0.0, 1.2, len(pose))
    turn = np.tile(np.eye(4), (len(pose), 1, 1))
    turn[:, :3, :3] = Rotation.from_rotvec(swing[:, None] * [1.0, 0, 0]).as_matrix()
    pose = pose.copy()
    end = lengths[shin] * np.eye(4)[1] + np.eye(4)[3]
    pose[:, shin] = pose[:, shin] @ stretch @ turn
    pose[:, foot, :3, 3] = (pose[:, shin] @ end)[:, :3]
    rig = plain_rig(TREE, rest, lengths)
    away = np.linalg.norm(pose[:, foot, :3, 3] - pose[:, shin, :3, 3], axis=1)
    assert np.ptp(away) > 0.1
    everything = np.ones(len(TREE), bool)
    assert not props(rig, TREE, pose, everything, ~everything, SIZE).any()
