"""The warp of one frame against that of a batch, whose minimum is tested against SciPy."""

import numpy as np
import pytest

from solvers.rotations import quaternions as quat
from solvers.skeleton.joint_tree import TreePose
from solvers.warp.frame_warp import FrameTree, warp_frame
from solvers.warp.joint_limits import JointLimits, LimitSprings
from solvers.warp.levenberg import MAX_ITERATIONS
from solvers.warp.terms import Facing, Targets
from solvers.warp.tree_warp import warp
from tests.warp_goals import scaled, term_of, with_terms

FRAMES = 20


def both(tree, goals, rotations, roots, scale=1.0):
    """Of a batch: joints (J, 3, F) and iterations (F,), and the same of every frame alone."""
    pose, used = warp(tree, goals, rotations, roots, scale)
    frame = FrameTree(tree)
    found = [warp_frame(frame, goals.take(f), rotations[..., f], roots[..., f], scale) for f in range(goals.frames)]
    places = np.stack([one.joints for one, _ in found], axis=-1)
    turns = np.stack([one.rotations for one, _ in found], axis=-1)
    assert np.abs(TreePose.forward(tree, goals.offsets, turns, places[: tree.roots]).joints - places).max() < 1e-9
    return pose.joints, used, places, np.array([count for _, count in found])


def limited(rng, tree, frames):
    """Narrow ranges of every second body."""
    joint = tree.order[: tree.bodies : 2]
    shape = (len(joint), 3)
    order = tuple(("XYZ", "ZXY", "YZX")[k % 3] for k in range(len(joint)))
    turns = (np.moveaxis(quat.exp(rng.normal(0, s, (len(joint), 3, frames))), -1, 0) for s in (1.0, 0.2))
    limits = JointLimits(joint, np.full(shape, -0.3), np.full(shape, 0.3), order, *turns)
    return LimitSprings(limits, tree.rank, tree.parents, 20.0)


@pytest.mark.parametrize("obstacles", [False, True], ids=["open", "planes"])
@pytest.mark.parametrize("limits", [False, True], ids=["free", "limited"])
def test_a_frame_alone_is_the_frame_in_a_batch(rng, problems, parents, obstacles, limits):
    """Step by step the same, whatever the tree."""
    if len(parents) > 100:
        pytest.skip("a chain this long needs more iterations than there are")
    tree, goals, pose = problems["problem"](rng, parents, FRAMES)
    if obstacles:
        goals = with_terms(goals, problems["planes"](rng, tree, pose.joints))
    if limits:
        goals = with_terms(goals, limited(rng, tree, FRAMES))
    joints, used, places, counts = both(tree, goals, pose.rotations, pose.roots)
    # Where limits come and go, one ends in another valley than the other now and then.
    done = (used < MAX_ITERATIONS) & (counts < MAX_ITERATIONS)
    same = np.abs(joints - places).max(axis=(0, 1)) < 1e-6
    assert done.mean() > 0.7 and same[done].mean() > 0.9
    assert (counts - used)[done & same].max() <= 1


def test_deep_chains(rng, problems):
    tree, goals, pose = problems["problem"](rng, np.arange(-1, 120), 3, spread=0.01, angle=0.02)
    joints, used, places, counts = both(tree, goals, pose.rotations, pose.roots)
    assert (counts < MAX_ITERATIONS).all() and (counts <= used).all()
    assert np.abs(joints - places).max() < 1e-6


@pytest.mark.parametrize("size", [0.01, 100.0])
def test_everything_scales_with_the_body(rng, problems, body_parents, size):
    tree, goals, pose = problems["problem"](rng, body_parents, FRAMES)
    frame = FrameTree(tree)
    larger = scaled(goals, size)
    for f in range(FRAMES):
        here, count = warp_frame(frame, goals.take(f), pose.rotations[..., f], pose.roots[..., f])
        there, again = warp_frame(frame, larger.take(f), pose.rotations[..., f], size * pose.roots[..., f], size)
        assert count == again and np.abs(there.joints / size - here.joints).max() < 1e-6


def test_nothing_to_do_gives_the_start_back(rng, problems, parents):
    tree, goals, pose = problems["problem"](rng, parents, 3, spread=0.0)
    places = term_of(goals, Targets).places
    start = TreePose.forward(tree, goals.offsets, quat.identity(tree.bodies, 3), places[: tree.roots])
    goals = with_terms(goals, Facing(start.rotations, term_of(goals, Facing).weight))
    for f in range(3):
        found, count = warp_frame(FrameTree(tree), goals.take(f), start.rotations[..., f], start.roots[..., f])
        assert count == 1 and np.abs(found.joints - places[..., f]).max() < 1e-12


def test_the_start_is_left_alone(rng, problems, body_parents):
    tree, goals, pose = problems["problem"](rng, body_parents, 1)
    goals, start = goals.take(0), (pose.rotations[..., 0], pose.roots[..., 0], pose.joints[..., 0])
    before = [part.copy() for part in (*start, term_of(goals, Targets).places)]
    warp_frame(FrameTree(tree), goals, *start[:2])
    assert all(np.array_equal(a, b) for a, b in zip(before, (*start, term_of(goals, Targets).places), strict=True))


def test_what_nothing_holds_stays(rng, problems, body_parents):
    """A system without a single term has no inverse."""
    tree, goals, pose = problems["problem"](rng, body_parents, 1, terms=())
    found, count = warp_frame(FrameTree(tree), goals.take(0), pose.rotations[..., 0], pose.roots[..., 0])
    assert count < 10 and np.abs(found.joints - pose.joints[..., 0]).max() < 1e-12


def test_what_does_not_converge_is_reported(rng, problems, body_parents):
    tree, goals, pose = problems["problem"](rng, body_parents, 1, spread=0.5)
    _, count = warp_frame(FrameTree(tree), goals.take(0), pose.rotations[..., 0], pose.roots[..., 0], most=2)
    assert count == 2


def test_a_surface_that_nothing_touches_costs_nothing(rng, problems, body_parents):
    tree, goals, pose = problems["problem"](rng, body_parents, 1)
    frame, one, start = FrameTree(tree), goals.take(0), (pose.rotations[..., 0], pose.roots[..., 0])
    planes = problems["planes"](rng, tree, pose.joints)
    nothing = planes.among(np.zeros(0, int)).take(0)
    here, _ = warp_frame(frame, one, *start)
    there, _ = warp_frame(frame, with_terms(one, nothing), *start)
    assert np.array_equal(here.joints, there.joints)
