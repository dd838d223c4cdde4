"""Euler ranges against SciPy, and the springs that lead back into them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.rotations import frame_quaternions
from solvers.rotations import quaternions as quat
from solvers.skeleton.joint_tree import JointTree, TreePose
from solvers.warp.energy import Goals
from solvers.warp.joint_limits import JointLimits, LimitSprings, euler_xyz
from solvers.warp.terms import Bend, Facing, Targets
from solvers.warp.tree_warp import warp

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
FRAMES = 40
WIDE = np.full((1, 3), np.inf)


@dataclass(frozen=True)
class Turned:
    """Of a pose what limits look at: rotations (B, 4, F), or (B, 4)."""

    rotations: np.ndarray


def violations(springs, rotations):
    """Of a batch, in arrays of all bodies: back (B, 3, F) and slope (B, 3, 3, F), zero where there are none."""
    found = springs.residual(None, Turned(rotations), quat)
    bodies, frames = len(rotations), rotations.shape[-1]
    back, slope = np.zeros((bodies, 3, frames)), np.zeros((bodies, 3, 3, frames))
    back[found.body, :, found.frame], slope[found.body, :, :, found.frame] = found.back, found.slope
    return back, slope


def frames_last(rotation):
    return np.roll(rotation.as_quat(), 1, axis=-1).T


def from_angles(order, angles):
    """Scipy's turn of angles (F, 3) about x, y, z, made in an order about fixed axes."""
    columns = ["XYZ".index(axis) for axis in order]
    return Rotation.from_euler(order.lower(), angles[:, columns])


def angles_of(order, rotation):
    out = np.empty((len(rotation), 3))
    out[:, ["XYZ".index(axis) for axis in order]] = rotation.as_euler(order.lower())
    return out


def limb(rng, orders, lower, upper, own):
    """A chain of which joint 1 is limited, in a random frame; own: (F, 3) the clip's angles."""
    tree = JointTree.build(np.array([-1, 0, 1, 2]))
    frame = Rotation.random(FRAMES, random_state=4)
    local = from_angles(orders, own)
    limits = JointLimits(
        np.array([1]),
        lower,
        upper,
        (orders,),
        np.roll(frame.as_quat(), 1, axis=-1)[:, None],
        np.roll(local.as_quat(), 1, axis=-1)[:, None],
    )
    return tree, limits, frame, local


def test_euler_angles_round_trip(rng):
    rotation = Rotation.random(500, random_state=1)
    angles = euler_xyz(frames_last(rotation))
    assert (np.abs(angles[1]) <= np.pi / 2).all()
    back = Rotation.from_euler("xyz", angles.T)
    assert (back.inv() * rotation).magnitude().max() < 1e-7
    assert np.abs(angles.T - rotation.as_euler("xyz")).max() < 1e-6


@pytest.mark.parametrize("order", ORDERS)
def test_violations_are_measured_in_the_rigs_order(rng, order):
    """Against SciPy's angles clipped to the range, in the joint's frame."""
    own = rng.uniform(-0.2, 0.2, (FRAMES, 3))
    lower, upper = np.array([[-0.5, -0.4, -0.3]]), np.array([[0.3, 0.4, 0.5]])
    tree, limits, frame, local = limb(rng, order, lower, upper, own)
    springs = LimitSprings(limits, tree.rank, tree.parents, 1.0)
    turn = Rotation.from_rotvec(rng.normal(0, 0.6, (FRAMES, 3)))
    parent = Rotation.from_rotvec(rng.normal(0, 0.6, (FRAMES, 3)))
    rotations = np.stack([frames_last(parent), frames_last(turn), quat.identity(FRAMES)])
    back, slope = violations(springs, rotations)
    hung = parent * frame
    now = hung.inv() * turn * frame * local
    angles = angles_of(order, now)
    inside = np.clip(angles, lower, upper)
    expected = hung.apply((from_angles(order, inside) * now.inv()).as_rotvec())
    assert ((angles != inside).any(axis=1)).mean() > 0.5
    assert np.abs(back[1].T - expected).max() < 1e-7
    assert not back[[0, 2]].any() and not slope[[0, 2]].any()


def test_frames_are_picked_by_their_number(rng):
    own = rng.uniform(-0.2, 0.2, (FRAMES, 3))
    tree, limits, *_ = limb(rng, "XYZ", np.full((1, 3), -0.1), np.full((1, 3), 0.1), own)
    springs = LimitSprings(limits, tree.rank, tree.parents, 1.0)
    rotations = quat.exp(rng.normal(0, 0.6, (3, 3, FRAMES)))
    keep = np.array([30, 4, 11])
    whole, part = violations(springs, rotations), violations(springs.take(keep), rotations[..., keep])
    assert whole[0].any()
    for ours, theirs in zip(part, whole, strict=True):
        assert np.array_equal(ours, theirs[..., keep])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("joint", [0, 1], ids=["root", "limb"])
def test_one_frame_alone_is_violated_alike(rng, order, joint):
    own = rng.uniform(-0.2, 0.2, (FRAMES, 3))
    tree, limits, *_ = limb(rng, order, np.full((1, 3), -0.4), np.array([[0.4, 0.5, np.inf]]), own)
    springs = LimitSprings(replace(limits, joint=np.array([joint])), tree.rank, tree.parents, 3.0)
    rotations = quat.exp(rng.normal(0, 0.4, (3, 3, FRAMES)))
    (back, slope), broken = violations(springs, rotations), 0
    for frame in range(FRAMES):
        alone = springs.take(frame).residual(None, Turned(rotations[..., frame]), frame_quaternions)
        if not alone.body.size:
            assert not back[..., frame].any()
            continue
        broken += 1
        assert np.array_equal(alone.weight, [3.0]) and np.array_equal(alone.body, [joint])
        assert np.abs(alone.back[0] - back[joint, :, frame]).max() < 1e-12
        assert np.abs(alone.slope[0] - slope[joint, :, :, frame]).max() < 1e-12
    assert FRAMES > broken > FRAMES / 4


def test_a_clip_that_breaks_its_limits_is_not_touched(rng):
    own = rng.uniform(-1.0, 1.0, (FRAMES, 3))
    tree, limits, *_ = limb(rng, "YZX", np.full((1, 3), -0.1), np.full((1, 3), 0.1), own)
    springs = LimitSprings(limits, tree.rank, tree.parents, 1.0)
    back, slope = violations(springs, quat.identity(3, FRAMES))
    assert not back.any() and not slope.any()


def test_free_joints_are_never_pulled(rng):
    own = rng.uniform(-1.0, 1.0, (FRAMES, 3))
    tree, limits, *_ = limb(rng, "XYZ", -WIDE, WIDE, own)
    springs = LimitSprings(limits, tree.rank, tree.parents, 1.0)
    assert not violations(springs, quat.exp(rng.normal(0, 1, (3, 3, FRAMES))))[0].any()


@pytest.mark.parametrize("order", ("XYZ", "ZXY"))
@pytest.mark.parametrize("joint", [0, 1], ids=["root", "limb"])
def test_a_heavy_spring_brings_a_joint_back_within_a_degree(rng, order, joint):
    """Targets ask for more than the range allows; without the limit they would be reached."""
    own = rng.uniform(-0.1, 0.1, (FRAMES, 3))
    lower, upper = np.full((1, 3), -0.3), np.full((1, 3), 0.3)
    tree, limits, frame, local = limb(rng, order, lower, upper, own)
    limits = replace(limits, joint=np.array([joint]))
    offsets = np.zeros((4, 3, FRAMES))
    offsets[1:] = rng.normal(0, 0.3, (3, 3, 1))
    wanted = TreePose.forward(tree, offsets, quat.exp(rng.normal(0, 0.5, (3, 3, FRAMES))), np.zeros((1, 3, FRAMES)))
    terms = (
        Targets(wanted.joints, np.ones((4, FRAMES))),
        Bend(quat.identity(2, FRAMES), np.full((2, FRAMES), 0.02)),
        Facing(wanted.rotations, np.full((3, FRAMES), 0.1)),
    )

    def worst(springs_on):
        springs = LimitSprings(limits, tree.rank, tree.parents, 20.0)
        pose, used = warp(
            tree,
            Goals(offsets, (*terms, springs) if springs_on else terms),
            quat.identity(3, FRAMES),
            np.zeros((1, 3, FRAMES)),
        )
        assert (used < 40).mean() >= 0.9
        turns = [Rotation.from_quat(np.roll(pose.rotations[b].T, -1, axis=1)) for b in range(3)]
        hung = frame if joint == 0 else turns[0] * frame
        angles = angles_of(order, hung.inv() * turns[joint] * frame * local)
        return np.degrees(np.maximum(angles - upper, lower - angles).max())

    assert worst(False) > 15
    assert worst(True) < 1
