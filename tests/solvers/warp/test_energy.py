"""What every term promises both solvers: the same residuals alone and in a batch, and terms that simply add up."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from solvers.rotations import frame_quaternions, quaternions
from solvers.skeleton.joint_tree import TreePose
from solvers.warp.energy import ActsOn, DenseTerm, Residuals, lever_curvature
from solvers.warp.frame_warp import FrameTree, warp_frame
from solvers.warp.joint_limits import JointLimits, LimitSprings
from solvers.warp.levenberg import MAX_ITERATIONS
from solvers.warp.terms import Bend, Facing, Targets
from solvers.warp.tree_system import TreeSystem
from solvers.warp.tree_warp import warp
from tests.warp_goals import term_of, with_terms

FRAMES = 8


@pytest.fixture
def everything(rng, problems, body_parents):
    """A tree, goals with every kind of term and a pose."""
    tree, goals, pose = problems["problem"](rng, body_parents, FRAMES)
    joints = tree.order[: tree.bodies]
    shape = (len(joints), 3)
    straight = np.tile([1.0, 0, 0, 0], (FRAMES, len(joints), 1))
    limits = JointLimits(joints, np.full(shape, -0.3), np.full(shape, 0.3), ("ZXY",) * len(joints), straight, straight)
    springs = LimitSprings(limits, tree.rank, tree.parents, 2.0)
    return tree, with_terms(goals, problems["planes"](rng, tree, pose.joints), springs), pose


def alone(tree, goals, pose, frame):
    """The residuals of one frame, without the axis of frames."""
    one = FrameTree(tree).forward(goals.offsets[..., frame], pose.rotations[..., frame], pose.roots[..., frame])
    return Residuals.at(goals.take(frame), tree, one, frame_quaternions)


def test_a_frame_alone_has_the_residuals_that_it_has_in_a_batch(everything):
    tree, goals, pose = everything
    batch = Residuals.at(goals, tree, pose, quaternions)
    assert len(batch.values) == 5
    energy = TreeSystem(tree, goals, pose).energy()
    for frame in range(FRAMES):
        one = alone(tree, goals, pose, frame)
        whole = batch.take(np.array([frame]), goals.take(np.array([frame])), FRAMES)
        for term, ours, theirs in zip(goals.terms, one.values, whole.values, strict=True):
            if isinstance(term, DenseTerm):
                assert np.abs(ours - theirs[..., 0]).max() < 1e-12
                continue
            assert ours.frame.size and not ours.frame.any()
            for name in vars(ours):
                assert np.abs(getattr(ours, name) - getattr(theirs, name)).max() < 1e-12
        assert one.energy(lambda _, value: value.sum()) == pytest.approx(energy[frame], rel=1e-12)


def test_terms_that_act_on_the_same_add_up(rng, everything):
    """Two targets of a joint are one at their weighted mean, two springs are one as stiff as both."""
    tree, goals, pose = everything
    targets, bend, facing = (term_of(goals, kind) for kind in (Targets, Bend, Facing))
    shift, share = rng.normal(0, 0.1, targets.places.shape), rng.uniform(0.2, 0.8, targets.weight.shape)
    kept = tuple(term for term in goals.terms if not isinstance(term, DenseTerm))
    parted = (
        Targets(targets.places + (1.0 - share)[:, None] * shift, share * targets.weight),
        Targets(targets.places - share[:, None] * shift, (1.0 - share) * targets.weight),
        Bend(bend.between, 0.3 * bend.weight),
        Bend(bend.between, 0.7 * bend.weight),
        Facing(facing.turns, 0.4 * facing.weight),
        Facing(facing.turns, 0.6 * facing.weight),
    )
    several = type(goals)(goals.offsets, (*parted, *kept))
    one, other = TreeSystem(tree, goals, pose), TreeSystem(tree, several, pose)
    step = np.full(FRAMES, 0.1), np.arange(FRAMES) % 2 == 0
    for ours, theirs in zip((*other.gradient(), *other.step(*step)), (*one.gradient(), *one.step(*step)), strict=True):
        assert np.abs(ours - theirs).max() < 1e-9
    frame = FrameTree(tree)
    for f in range(FRAMES):
        start = pose.rotations[..., f], pose.roots[..., f]
        ours, theirs = (warp_frame(frame, g.take(f), *start, most=3)[0].joints for g in (several, goals))
        assert np.abs(ours - theirs).max() < 1e-8


@dataclass(frozen=True)
class Upright(DenseTerm):
    """A new term, as another module would state it: bodies keep their source orientation. weight: (B, F)."""

    acts_on: ClassVar[ActsOn] = ActsOn.BODIES
    weight: np.ndarray

    def residual(self, tree, pose, quats):
        return -quats.log(pose.rotations)


def test_a_new_term_needs_nothing_but_its_residual(everything):
    """Both solvers come to the same place, where all pulls cancel, and elsewhere than without the term."""
    tree, goals, pose = everything
    without = type(goals)(goals.offsets, tuple(term for term in goals.terms if isinstance(term, DenseTerm)))
    goals = with_terms(without, Upright(np.full((tree.bodies, FRAMES), 0.5)))
    found, used = warp(tree, goals, pose.rotations, pose.roots)
    done = used < MAX_ITERATIONS
    assert done.mean() > 0.7
    for derivative in TreeSystem(tree, goals, found).gradient():
        assert np.abs(derivative[..., done]).max() < 1e-3
    assert max(np.abs(part).max() for part in TreeSystem(tree, without, found).gradient()) > 0.1
    frame = FrameTree(tree)
    for f in np.flatnonzero(done):
        one, count = warp_frame(frame, goals.take(int(f)), pose.rotations[..., f], pose.roots[..., f])
        assert count < MAX_ITERATIONS and np.abs(one.joints - found.joints[..., f]).max() < 1e-6


def test_the_curvature_of_levers_is_the_second_derivative_of_their_pull(rng):
    """Of -f . (turned r) by rotation vectors, at no turn; and where it is cut off, never less than zero."""
    arm, force = rng.normal(size=(2, 5, 3, 1))
    size, axes = 1e-4, np.eye(3)

    def pull(turn):
        turned = quaternions.rotate(quaternions.exp(np.broadcast_to(turn[:, None], (5, 3, 1))), arm)
        return -np.einsum("nkf,nkf->n", force, turned)

    numeric = np.empty((5, 3, 3))
    for i in range(3):
        for j in range(3):
            a, b = size * axes[i], size * axes[j]
            numeric[:, i, j] = (pull(a + b) - pull(a - b) - pull(b - a) + pull(-a - b)) / (4 * size**2)
    assert np.abs(lever_curvature(arm, force, np.ones(1, bool))[..., 0] - numeric).max() < 1e-6
    assert np.array_equal(lever_curvature(arm[..., 0], force[..., 0], True), lever_curvature(arm, force, True)[..., 0])
    safe = lever_curvature(arm, force, np.zeros(1, bool))[..., 0]
    assert np.linalg.eigvalsh(safe).min() > -1e-12
    taut = np.einsum("nkf,nkf->n", arm, force) > 0
    assert np.abs(np.einsum("nab,nb->na", safe, arm[..., 0])).max() < 1e-12 and not safe[~taut].any()


def test_some_frames_of_goals_are_contiguous_and_one_has_no_axis(everything):
    tree, goals, pose = everything
    keep = np.array([5, 1])
    some, one = goals.take(keep), goals.take(5)
    assert some.frames == 2 and one.offsets.shape == goals.offsets.shape[:-1]
    for part, whole in ((some, goals.offsets[..., keep]), (one, goals.offsets[..., 5])):
        assert np.array_equal(part.offsets, whole) and part.offsets.flags.c_contiguous
    assert isinstance(TreePose.take(pose, keep), TreePose)
    assert np.array_equal(term_of(some, Targets).weight, term_of(goals, Targets).weight[:, keep])
