"""Orders, sweeps and forward kinematics of every shape of skeleton."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.rotations import quaternions as quat
from solvers.skeleton.joint_tree import JointTree, TreePose

FRAMES = 7


@pytest.fixture
def posed(rng, parents, problems):
    tree = JointTree.build(parents)
    track = problems["track"](rng, parents, FRAMES)
    offsets = tree.offsets(tree.from_track(track))
    turns = problems["turns"](rng, tree.bodies, FRAMES, angle=2.0)
    roots = rng.normal(size=(tree.roots, 3, FRAMES))
    return tree, track, offsets, TreePose.forward(tree, offsets, turns, roots)


def test_order_puts_roots_first_parents_before_children_and_leaves_last(parents):
    tree = JointTree.build(parents)
    assert sorted(tree.order) == list(range(len(parents)))
    assert np.array_equal(tree.order[tree.rank], np.arange(len(parents)))
    assert tree.roots == (parents < 0).sum() and (tree.parents[: tree.roots] == -1).all()
    assert (tree.parents < np.arange(len(parents))).all()
    original = np.where(tree.parents < 0, -1, tree.order[tree.parents])
    assert np.array_equal(original, parents[tree.order])
    with_children = np.isin(np.arange(len(parents)), parents)
    assert not with_children[tree.order[tree.leaves]].any()
    assert (with_children | (parents < 0))[tree.order[: tree.bodies]].all()


def test_levels_cover_the_bodies_and_groups_share_no_parent(parents):
    tree = JointTree.build(parents)
    assert [level.start for level in tree.levels[1:]] == [level.stop for level in tree.levels[:-1]]
    assert tree.levels[-1].stop == tree.bodies
    for level, groups in zip(tree.levels, tree.siblings, strict=True):
        assert sorted(np.concatenate(groups)) == list(range(level.start, level.stop))
    for level in tree.levels[1:]:
        assert (tree.parents[level] < level.start).all()
    for groups in (*tree.siblings[1:], tree.leaf_siblings):
        for group in groups:
            assert len(set(tree.parents[group])) == len(group)
    assert sum(len(group) for group in tree.leaf_siblings) == len(parents) - tree.bodies


@pytest.mark.parametrize("shape", [(), (3,), (3, 3)])
def test_tracks_come_back(rng, parents, shape):
    tree = JointTree.build(parents)
    values = rng.normal(size=(FRAMES, len(parents), *shape))
    inner = tree.from_track(values)
    assert inner.shape == (len(parents), *shape, FRAMES) and inner.flags.c_contiguous
    assert np.array_equal(inner[..., 2], values[2, tree.order])
    assert np.array_equal(tree.to_track(inner), values)


def test_lengths_are_exact(posed):
    tree, track, offsets, pose = posed
    bones = slice(tree.roots, None)
    found = np.linalg.norm(pose.joints[bones] - pose.joints[tree.parents[bones]], axis=1)
    assert np.abs(found - np.linalg.norm(offsets[bones], axis=1)).max(initial=0.0) < 1e-12


def test_forward_kinematics_joint_by_joint_and_no_turn_gives_the_source_back(posed, parents):
    tree, track, offsets, pose = posed
    turned = tree.to_track(pose.joints)
    for frame in range(FRAMES):
        for joint, parent in enumerate(parents):
            at = tree.rank[joint]
            if parent < 0:
                assert np.array_equal(turned[frame, joint], pose.roots[at, :, frame])
                assert not pose.arms[at].any()
                continue
            q = np.roll(pose.rotations[tree.rank[parent], :, frame], -1)
            arm = Rotation.from_quat(q).apply(offsets[at, :, frame])
            assert np.abs(pose.arms[at, :, frame] - arm).max() < 1e-14
            assert np.abs(turned[frame, joint] - turned[frame, parent] - arm).max() < 1e-12
    joints = tree.from_track(track)
    pose = TreePose.forward(tree, offsets, quat.identity(tree.bodies, FRAMES), joints[: tree.roots])
    assert np.abs(pose.joints - joints).max() < 1e-12


def test_one_turn_of_all_bodies_is_a_rigid_motion(rng, posed):
    tree, track, offsets, _ = posed
    turn = Rotation.random(random_state=3)
    q = np.tile(np.roll(turn.as_quat(), 1)[:, None], (tree.bodies, 1, FRAMES))
    turned = turn.apply(track.reshape(-1, 3)).reshape(track.shape)
    # Roots of a forest keep their places to each other only when they are turned too.
    pose = TreePose.forward(tree, offsets, q, tree.from_track(turned)[: tree.roots])
    assert np.abs(tree.to_track(pose.joints) - turned).max() < 1e-12


def test_bones_without_length_stay_where_they_hang(rng, body_parents, problems):
    tree = JointTree.build(body_parents)
    track = problems["track"](rng, body_parents, FRAMES)
    for joint in (2, 6, 12):
        track[:, joint] = track[:, body_parents[joint]]
    offsets = tree.offsets(tree.from_track(track))
    turns = problems["turns"](rng, tree.bodies, FRAMES, angle=2.0)
    pose = TreePose.forward(tree, offsets, turns, rng.normal(size=(1, 3, FRAMES)))
    joints = tree.to_track(pose.joints)
    assert np.isfinite(joints).all()
    for joint in (2, 6, 12):
        assert np.array_equal(joints[:, joint], joints[:, body_parents[joint]])


def test_frames_are_taken_and_put_back(posed):
    pose = posed[3]
    keep = np.array([5, 0, 3])
    part = pose.take(keep)
    copy = pose.copy()
    for name in ("rotations", "roots", "joints", "arms"):
        assert np.array_equal(getattr(part, name), getattr(pose, name)[..., keep])
        getattr(copy, name)[:] = 0.0
    copy.put(keep, part)
    for name in ("rotations", "roots", "joints", "arms"):
        assert np.array_equal(getattr(copy, name)[..., keep], getattr(pose, name)[..., keep])
        assert not getattr(copy, name)[..., [1, 2, 4, 6]].any()
