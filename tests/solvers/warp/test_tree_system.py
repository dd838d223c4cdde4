"""Gradient and Newton step of the warp against finite differences and a dense assembly of the same system."""

import tracemalloc

import numpy as np
import pytest

from solvers.rotations import quaternions as quat
from solvers.skeleton.joint_tree import JointTree, TreePose
from solvers.warp.joint_limits import JointLimits, LimitSprings
from solvers.warp.sparse_residuals import Halfspaces, LimitViolations
from solvers.warp.terms import Bend, Facing, Targets
from solvers.warp.tree_system import TreeSystem
from tests.warp_goals import with_targets, with_terms

FRAMES = 5
STEP = 1e-6
TERMS = {
    "targets": ("targets",),
    "bend": ("bend",),
    "facing": ("facing",),
    "all": ("targets", "bend", "facing"),
}


def moved(tree, goals, pose, velocity, spin):
    """The pose after root translations (R, 3, F) and world rotations (B, 3, F)."""
    rotations = quat.mul(quat.exp(spin), pose.rotations)
    return TreePose.forward(tree, goals.offsets, rotations, pose.roots + velocity)


def unknowns(tree):
    """Every unknown as a unit step (velocity (R, 3, 1), spin (B, 3, 1)), in the order of ``packed``."""
    for root in range(tree.roots):
        for axis in range(3):
            step = np.zeros((tree.roots, 3, 1))
            step[root, axis] = 1.0
            yield step, np.zeros((tree.bodies, 3, 1))
    for body in range(tree.bodies):
        for axis in range(3):
            step = np.zeros((tree.bodies, 3, 1))
            step[body, axis] = 1.0
            yield np.zeros((tree.roots, 3, 1)), step


def packed(velocity, spin):
    """(F, unknowns) from velocity (R, 3, F) and spin (B, 3, F)."""
    frames = spin.shape[-1]
    return np.concatenate((velocity.reshape(-1, frames), spin.reshape(-1, frames))).T


def numeric_gradient(tree, goals, pose):
    columns = []
    for velocity, spin in unknowns(tree):
        up = TreeSystem(tree, goals, moved(tree, goals, pose, STEP * velocity, STEP * spin)).energy()
        down = TreeSystem(tree, goals, moved(tree, goals, pose, -STEP * velocity, -STEP * spin)).energy()
        columns.append((up - down) / (2 * STEP))
    return np.stack(columns, axis=1)


def assert_gradient(tree, goals, pose):
    system = TreeSystem(tree, goals, pose)
    assert system.energy().max() > 0
    ours, numeric = packed(*system.gradient()), numeric_gradient(tree, goals, pose)
    assert np.abs(ours - numeric).max() < 1e-6 * np.abs(numeric).max()


ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


def limits_of(rng, tree, frames, problems, count=None):
    """Narrow ranges, each joint measured in its own frame, which most poses break on one axis or several."""
    joints = tree.order[: tree.bodies][:count]
    frame = np.moveaxis(problems["turns"](rng, len(joints), frames, angle=1.0), -1, 0)
    local = np.moveaxis(problems["turns"](rng, len(joints), frames, angle=0.05), -1, 0)
    lower, upper = np.full((len(joints), 3), -0.2), np.full((len(joints), 3), 0.15)
    lower[::2, 1], upper[1::2, 2] = -np.inf, np.inf
    limits = JointLimits(joints, lower, upper, tuple(np.resize(ORDERS, len(joints))), frame, local)
    return LimitSprings(limits, tree.rank, tree.parents, 2.0)


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS)
def test_gradient_is_the_derivative_of_the_energy(rng, parents, problems, terms):
    if len(parents) > 50:
        parents = parents[:20]
    if terms == ("bend",) and JointTree.build(parents).bodies == JointTree.build(parents).roots:
        pytest.skip("nothing bends")
    assert_gradient(*problems["problem"](rng, parents, FRAMES, terms=terms, angle=0.7))


def test_gradient_of_halfspaces(rng, parents, problems):
    parents = parents[:20]
    tree, goals, pose = problems["problem"](rng, parents, FRAMES, terms=())
    planes = problems["planes"](rng, tree, pose.joints)
    assert len(planes.residual(tree, pose, quat).frame) > 2
    assert_gradient(tree, with_terms(goals, planes), pose)


def test_gradient_of_limits(rng, body_parents, problems):
    tree, goals, pose = problems["problem"](rng, body_parents, FRAMES, terms=(), angle=0.4)
    springs = limits_of(rng, tree, FRAMES, problems)
    assert len(springs.residual(tree, pose, quat).frame) > 0.5 * tree.bodies * FRAMES
    assert_gradient(tree, with_terms(goals, springs), pose)


def test_gradient_of_everything_together(rng, body_parents, problems):
    tree, goals, pose = problems["problem"](rng, body_parents, FRAMES)
    planes = problems["planes"](rng, tree, pose.joints)
    springs = limits_of(rng, tree, FRAMES, problems, count=4)
    assert_gradient(tree, with_terms(goals, planes, springs), pose)


def joint_jacobian(tree, goals, pose, frame):
    """(J, 3, unknowns): derivative of the joints by central differences."""
    columns = []
    for velocity, spin in unknowns(tree):
        up = moved(tree, goals, pose, STEP * velocity, STEP * spin).joints
        down = moved(tree, goals, pose, -STEP * velocity, -STEP * spin).joints
        columns.append((up - down)[..., frame] / (2 * STEP))
    return np.stack(columns, axis=-1)


def dense_of(goals, kind, frame):
    """The terms of a class, of one frame alone."""
    return [term.take(frame) for term in goals.terms if isinstance(term, kind)]


def found_of(tree, goals, pose, kind, frame):
    """Sparse residuals of a kind in one frame, one by one."""
    for term in goals.terms:
        found = term.residual(tree, pose, quat)
        if isinstance(found, kind):
            yield from ((found, k) for k in np.flatnonzero(found.frame == frame))


def subtree_forces(tree, goals, pose, frame):
    """(J, 3) force that the targets and half-spaces beyond a joint put on it, joint by joint."""
    force = np.zeros((len(tree.parents), 3))
    for targets in dense_of(goals, Targets, frame):
        force += targets.weight[:, None] * (targets.places - pose.joints[..., frame])
    for c, k in found_of(tree, goals, pose, Halfspaces, frame):
        at = c.child[k] if c.fraction[k] == 1.0 else c.body[k]
        force[at] += c.weight[k] * c.shortfall[k] * c.normal[k]
    for joint in range(len(tree.parents) - 1, -1, -1):
        if tree.parents[joint] >= 0:
            force[tree.parents[joint]] += force[joint]
    return force


def dense_hessian(tree, goals, pose, frame, damping):
    """Gauss-Newton with the safe part of the levers' curvature; springs are linear in the turns."""
    joints = joint_jacobian(tree, goals, pose, frame)
    size = joints.shape[-1]
    hessian = np.zeros((size, size))
    for targets in dense_of(goals, Targets, frame):
        hessian += np.einsum("j,jka,jkb->ab", targets.weight, joints, joints)
    for c, k in found_of(tree, goals, pose, Halfspaces, frame):
        start = joints[c.body[k]]
        row = c.normal[k] @ (start + c.fraction[k] * (joints[c.child[k]] - start))
        hessian += c.weight[k] * np.outer(row, row)

    def spin_of(body):
        pick = np.zeros((3, size))
        pick[:, 3 * (tree.roots + body) :][:, :3] = np.eye(3)
        return pick

    def turn_of(body):
        parent = tree.parents[body]
        return spin_of(body) - spin_of(parent) if parent >= 0 else spin_of(body)

    for body in range(tree.bodies):
        held = damping + sum(term.weight[body] for term in dense_of(goals, Facing, frame))
        hessian += held * spin_of(body).T @ spin_of(body)
    for body in range(tree.roots, tree.bodies):
        stiffness = sum(term.weight[body - tree.roots] for term in dense_of(goals, Bend, frame))
        hessian += stiffness * turn_of(body).T @ turn_of(body)
    for v, k in found_of(tree, goals, pose, LimitViolations, frame):
        turn = v.slope[k] @ turn_of(v.body[k])
        hessian += v.weight[k] * turn.T @ turn
    force = subtree_forces(tree, goals, pose, frame)
    for joint in range(tree.roots, len(tree.parents)):
        arm = pose.arms[joint, :, frame]
        tension = max(float(arm @ force[joint]), 0.0)
        block = tension * (np.eye(3) - np.outer(arm, arm) / (arm @ arm))
        own = spin_of(tree.parents[joint])
        hessian += own.T @ block @ own
    floor = np.full(size, 0.0)
    floor[: 3 * tree.roots], floor[3 * tree.roots : 6 * tree.roots] = 1e-9 + damping, 1e-9
    return hessian + np.diag(floor)


def assert_same_step(tree, goals, pose, damping):
    system = TreeSystem(tree, goals, pose)
    frames = goals.frames
    ours = packed(*system.step(np.full(frames, damping), np.zeros(frames, bool)))
    gradient = packed(*system.gradient())
    for frame in range(frames):
        hessian = dense_hessian(tree, goals, pose, frame, damping)
        dense = np.linalg.solve(hessian, -gradient[frame])
        assert np.abs(ours[frame] - dense).max() < 1e-6 * np.abs(dense).max()


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_step_is_that_of_the_dense_system(rng, parents, problems, damping):
    tree, goals, pose = problems["problem"](rng, parents[:20], FRAMES)
    assert_same_step(tree, goals, pose, damping)


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_step_with_halfspaces_and_limits_is_that_of_the_dense_system(rng, body_parents, problems, damping):
    tree, goals, pose = problems["problem"](rng, body_parents, FRAMES)
    planes = problems["planes"](rng, tree, pose.joints)
    assert_same_step(tree, with_terms(goals, planes), pose, damping)
    springs = limits_of(rng, tree, FRAMES, problems)
    assert_same_step(tree, with_terms(goals, springs), pose, damping)
    assert_same_step(tree, with_terms(goals, planes, springs), pose, damping)


def numeric_hessian(tree, goals, pose, step=1e-4):
    steps = list(unknowns(tree))
    size = len(steps)

    def energy(velocity, spin):
        return TreeSystem(tree, goals, moved(tree, goals, pose, velocity, spin)).energy()

    out = np.zeros((goals.frames, size, size))
    for i, (v, s) in enumerate(steps):
        for j, (w, t) in enumerate(steps[: i + 1]):
            signs = ((1, 1), (-1, -1), (1, -1), (-1, 1))
            corners = [energy(step * (a * v + b * w), step * (a * s + b * t)) for a, b in signs]
            out[:, i, j] = out[:, j, i] = (sum(corners[:2]) - sum(corners[2:])) / (4 * step**2)
    return out


def test_close_to_the_minimum_the_step_is_newtons(rng, problems):
    """All second-order terms of targets and of half-spaces at joints; the springs are zero here."""
    parents = np.array([-1, 0, 1, 1, 3, 0])
    tree, goals, pose = problems["problem"](rng, parents, 3, terms=("targets",), spread=0.03, angle=0.3)
    goals = with_targets(goals, pose.joints + rng.normal(0, 0.03, pose.joints.shape))
    planes = problems["planes"](rng, tree, pose.joints)
    planes = planes.among(planes.fraction != 0.4)
    for near in (goals, with_terms(goals, planes)):
        system = TreeSystem(tree, near, pose)
        damping = np.full(3, 1.0)
        ours = packed(*system.step(damping, np.ones(3, bool)))
        gradient = packed(*system.gradient())
        hessian = numeric_hessian(tree, near, pose)
        dense = np.linalg.solve(hessian + np.eye(hessian.shape[-1]), -gradient[..., None])[..., 0]
        assert np.abs(ours - dense).max() < 1e-5 * np.abs(dense).max()


def test_frames_taken_from_a_system_are_the_same_system(rng, body_parents, problems):
    tree, goals, pose = problems["problem"](rng, body_parents, 9)
    planes = problems["planes"](rng, tree, pose.joints)
    goals = with_terms(goals, planes, limits_of(rng, tree, 9, problems))
    whole = TreeSystem(tree, goals, pose)
    keep = np.array([7, 2, 3])
    for part in (whole.take(keep), TreeSystem(tree, goals.take(keep), pose.take(keep))):
        assert np.allclose(part.energy(), whole.energy()[keep], rtol=1e-14)
        for ours, theirs in zip(part.gradient(), whole.gradient(), strict=True):
            assert np.allclose(ours, theirs[..., keep], rtol=1e-13, atol=1e-15)
        damping, close = np.full(9, 0.01), np.arange(9) % 2 == 0
        steps = zip(part.step(damping[keep], close[keep]), whole.step(damping, close), strict=True)
        for ours, theirs in steps:
            assert np.allclose(ours, theirs[..., keep], rtol=1e-12, atol=1e-14)


def test_memory_is_linear_in_joints(rng, problems):
    """Four times the joints take about four times the memory; a dense system would take sixteen times."""

    def peak_of(count):
        parents = np.arange(-1, count - 1)
        parents[1:] = np.maximum(parents[1:] - 2, 0)
        tree, goals, pose = problems["problem"](rng, parents, 16)
        tracemalloc.start()
        TreeSystem(tree, goals, pose).step(np.zeros(16), np.zeros(16, bool))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert peak_of(240) < 6 * peak_of(60)
