"""The warp against a general least-squares solver, and what it promises about frames, lengths and convergence."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from solvers.rotations import quaternions as quat
from solvers.skeleton.joint_tree import JointTree, TreePose
from solvers.warp import tree_warp
from solvers.warp.energy import Goals
from solvers.warp.levenberg import MAX_ITERATIONS
from solvers.warp.terms import Bend, Facing, Targets
from solvers.warp.tree_system import TreeSystem
from solvers.warp.tree_warp import warp
from tests.warp_goals import scaled, term_of, with_targets, with_terms

SMALL = {
    "bone": [-1, 0],
    "arm": [-1, 0, 1, 2],
    "star": [-1, 0, 1, 1, 0, 4],
    "forest": [-1, -1, 0, 2, 1],
}


def start_of(tree, goals, joints):
    """Source turns and places of the roots."""
    return quat.identity(tree.bodies, goals.frames), joints[: tree.roots].copy()


def typical_goals(rng, parents, frames, problems, reach, stiffness=0.02):
    """Targets of another pose (reach 1) or of one whose bones are longer, so that it cannot be had."""
    tree = JointTree.build(np.asarray(parents))
    joints = tree.from_track(problems["track"](rng, parents, frames))
    offsets = tree.offsets(joints)
    turns = problems["turns"](rng, tree.bodies, frames, angle=0.4)
    targets = TreePose.forward(tree, reach * offsets, turns, joints[: tree.roots] + 0.2).joints
    terms = (
        Targets(targets, rng.uniform(0.1, 6.0, (len(parents), frames))),
        Bend(
            quat.identity(tree.bodies - tree.roots, frames), np.full((tree.bodies - tree.roots, frames), stiffness)
        ),
        Facing(quat.identity(tree.bodies, frames), np.full((tree.bodies, frames), 0.5 * stiffness)),
    )
    goals = Goals(offsets, terms)
    return tree, goals, joints


def oracle(tree, goals, joints, start):
    """Energy and joints (J, 3, F) of SciPy's minimum, frame by frame."""
    energies, places = [], []
    for frame in range(goals.frames):
        one, x0 = goals.take([frame]), start[..., [frame]]
        roots = joints[: tree.roots, :, [frame]]

        def pose_of(x, one=one, roots=roots, x0=x0):
            spin = x[3 * tree.roots :].reshape(tree.bodies, 3, 1)
            rotations = quat.mul(quat.exp(spin), x0)
            return TreePose.forward(tree, one.offsets, rotations, roots + x[: 3 * tree.roots].reshape(-1, 3, 1))

        def residuals(x, one=one, pose_of=pose_of):
            pose = pose_of(x)
            parts = (np.sqrt(term.weight)[:, None] * term.residual(tree, pose, quat) for term in one.terms)
            return np.concatenate([part.ravel() for part in parts])

        found = least_squares(residuals, np.zeros(3 * (tree.roots + tree.bodies)), xtol=1e-14, ftol=1e-14)
        energies.append(found.cost)
        places.append(pose_of(found.x).joints[..., 0])
    return np.array(energies), np.stack(places, axis=-1)


@pytest.mark.parametrize("reach", [1.0, 1.5, 0.6], ids=["reachable", "too far", "too near"])
@pytest.mark.parametrize("parents", SMALL.values(), ids=SMALL)
def test_minimum_is_that_of_a_general_solver(rng, problems, parents, reach):
    """Bones two thirds too long buckle in a flat valley, where a frame may creep: it must say so."""
    tree, goals, joints = typical_goals(rng, parents, 6, problems, reach)
    rotations, roots = start_of(tree, goals, joints)
    pose, used = warp(tree, goals, rotations, roots)
    energy, places = oracle(tree, goals, joints, rotations)
    done = used < MAX_ITERATIONS
    assert done.all() or reach < 1 and done.sum() >= 5
    ours = TreeSystem(tree, goals, pose).energy()
    assert (ours <= energy * np.where(done, 1 + 1e-5, 1 + 1e-3) + 1e-12).all()
    # A lower minimum than the general solver's is another one.
    same = done & (ours > energy * (1 - 1e-5) - 1e-12)
    assert same.mean() > 0.8
    assert np.abs(pose.joints - places)[..., same].max() < 1e-3


def test_reachable_targets_are_reached_without_springs(rng, problems, body_parents):
    tree, goals, joints = typical_goals(rng, body_parents, 40, problems, 1.0, stiffness=1e-9)
    pose, used = warp(tree, goals, *start_of(tree, goals, joints))
    assert (used < MAX_ITERATIONS).all()
    assert np.abs(pose.joints - term_of(goals, Targets).places).max() < 1e-4


def test_nothing_to_do_gives_the_input_back(rng, problems, parents):
    tree, goals, joints = typical_goals(rng, parents, 30, problems, 1.0)
    goals = with_targets(goals, joints)
    pose, used = warp(tree, goals, *start_of(tree, goals, joints))
    assert np.abs(pose.joints - joints).max() < 1e-12
    assert (used == 1).all()


def test_lengths_stay_exact(rng, problems, body_parents):
    tree, goals, joints = typical_goals(rng, body_parents, 30, problems, 1.5)
    pose, _ = warp(tree, goals, *start_of(tree, goals, joints))
    found = np.linalg.norm(tree.offsets(pose.joints)[1:], axis=1)
    assert np.abs(found - np.linalg.norm(goals.offsets[1:], axis=1)).max() < 1e-12
    assert np.abs(np.linalg.norm(pose.rotations, axis=1) - 1).max() < 1e-14


def test_what_is_reported_as_converged_is_stationary(rng, problems, body_parents):
    """The gradient is that of a step far below the tolerance, half-spaces and unreachable targets included."""
    tree, goals, joints = typical_goals(rng, body_parents, 60, problems, 1.3)
    goals = with_terms(goals, problems["planes"](rng, tree, joints))
    pose, used = warp(tree, goals, *start_of(tree, goals, joints))
    assert (used < MAX_ITERATIONS).mean() > 0.9
    velocity, spin = TreeSystem(tree, goals, pose).gradient()
    done = used < MAX_ITERATIONS
    assert np.abs(velocity)[..., done].max() < 1e-3 * term_of(goals, Targets).weight.max()
    assert np.abs(spin)[..., done].max() < 1e-3 * term_of(goals, Targets).weight.max()


def test_a_frame_alone_is_the_frame_in_a_batch_and_in_a_shuffled_one(rng, problems, body_parents):
    tree, goals, joints = typical_goals(rng, body_parents, 33, problems, 1.3)
    goals = with_terms(goals, problems["planes"](rng, tree, joints))
    rotations, roots = start_of(tree, goals, joints)
    whole, used = warp(tree, goals, rotations, roots)
    assert len(set(used)) > 2
    shuffled = rng.permutation(33)
    for keep in (shuffled, *([frame] for frame in range(33))):
        part, used_part = warp(tree, goals.take(keep), rotations[..., keep], roots[..., keep])
        assert np.array_equal(used_part, used[keep])
        assert np.abs(part.joints - whole.joints[..., keep]).max() < 1e-9
        assert np.abs(part.rotations - whole.rotations[..., keep]).max() < 1e-9


def test_start_is_left_alone(rng, problems, body_parents):
    tree, goals, joints = typical_goals(rng, body_parents, 5, problems, 1.3)
    rotations, roots = start_of(tree, goals, joints)
    before = rotations.copy(), roots.copy(), term_of(goals, Targets).places.copy()
    warp(tree, goals, rotations, roots)
    for ours, theirs in zip(before, (rotations, roots, term_of(goals, Targets).places), strict=True):
        assert np.array_equal(ours, theirs)


def test_frames_that_do_not_converge_are_reported(rng, problems, body_parents, monkeypatch):
    monkeypatch.setattr(tree_warp, "MAX_ITERATIONS", 2)
    tree, goals, joints = typical_goals(rng, body_parents, 20, problems, 1.5)
    still = np.arange(20) < 5
    goals = with_targets(goals, np.where(still, joints, term_of(goals, Targets).places))
    pose, used = warp(tree, goals, *start_of(tree, goals, joints))
    assert (used[still] == 1).all() and (used[~still] == 2).all()
    energy = TreeSystem(tree, goals, pose).energy()
    begin = TreePose.forward(tree, goals.offsets, *start_of(tree, goals, joints))
    assert (energy[~still] < TreeSystem(tree, goals, begin).energy()[~still]).all()


@pytest.mark.parametrize("size", [0.01, 50.0])
def test_everything_scales_with_the_body(rng, problems, body_parents, size):
    tree, goals, joints = typical_goals(rng, body_parents, 20, problems, 1.3)
    rotations, roots = start_of(tree, goals, joints)
    pose, used = warp(tree, goals, rotations, roots)
    other, used_other = warp(tree, scaled(goals, size), rotations, size * roots, size)
    assert np.abs(other.joints / size - pose.joints).max() < 1e-6
    assert np.array_equal(used, used_other)
