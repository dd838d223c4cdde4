"""Single rows against the same thing done for all rows at once."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.rotations.channels import euler_to_matrix, matrix_to_quaternion
from solvers.rotations.frame_channels import FrameChannels
from solvers.skeleton import kinematics
from solvers.skeleton.bone_channels import basis_to_channels, basis_turns
from solvers.skeleton.frame_pose import FramePoser
from solvers.skeleton.hierarchy import carry_increments
from solvers.skeleton.pose_blend import blend_motion
from solvers.skeleton.rig import INHERIT_SCALE, ROTATION_MODES
from tests.random_rigs import (
    FRAMES,
    PARENTS,
    make_basis,
    make_rig,
    plain_rig,
    random_quaternions,
    random_rotations,
)

TURNED, PLACED = np.array([3, 0, 1, 4, 5, 8]), np.array([4, 0])
MODES = tuple(itertools.islice(itertools.cycle(ROTATION_MODES), len(PARENTS)))


class Case:
    """A rig, its motion, an object that stands askew and what was solved."""

    def __init__(self, seed=0, scale="FULL", rotation=True, local=True, sized="uniform", connect=None, placed=PLACED):
        rng = np.random.default_rng(seed)
        self.rig = make_rig(rng, scale=scale, rotation=rotation, local=local, connect=connect, modes=MODES)
        self.basis = make_basis(rng, self.rig, sized)
        self.world = np.tile(np.eye(4), (FRAMES, 1, 1))
        self.world[:, :3, :3] = random_rotations(rng, FRAMES) * rng.uniform(0.3, 3.0, (FRAMES, 1, 1))
        self.world[:, :3, 3] = rng.normal(size=(FRAMES, 3))
        self.object_turns = random_rotations(rng, FRAMES)
        self.turns = random_quaternions(rng, FRAMES, len(TURNED))
        self.placed, self.heads = placed, rng.normal(size=(FRAMES, len(placed), 3))
        self.signs = np.where(rng.uniform(size=(len(PARENTS), 3)) < 0.3, -1.0, 1.0)
        self.start = rng.uniform(-7.0, 7.0, (FRAMES, len(PARENTS), 4))
        if sized == "mirrored":
            self.basis[:, ::2, :3, 0] *= -1.0

    def turner(self):
        at = self.rig.parents
        return FramePoser(self.rig, self.basis, self.world, self.object_turns, TURNED, self.placed, self.signs, at)

    def pose(self, turner, row, influence=1.0):
        return turner.pose(row, self.turns[row], self.heads[row], influence)

    def all_rows(self):
        """New basis (F, B, 4, 4), by matrices."""
        rows = Rotation.from_quat(self.turns.reshape(-1, 4)[:, [1, 2, 3, 0]]).as_matrix()
        own = rows.reshape(FRAMES, -1, 3, 3) @ np.swapaxes(self.object_turns, -1, -2)[:, None]
        turn = self.world[:, :3, :3] / np.linalg.norm(self.world[:, :3, :3], axis=-2, keepdims=True)
        local = np.swapaxes(turn, -1, -2)[:, None] @ own @ turn[:, None]
        spread = carry_increments(self.rig.parents, TURNED, local)
        there = np.linalg.inv(self.world)
        heads = np.einsum("fab,fpb->fpa", there[:, :3, :3], self.heads) + there[:, None, :3, 3]
        placed = {int(bone): heads[:, k] for k, bone in enumerate(self.placed)}
        return kinematics.rotate_bones(self.rig, self.basis, spread, placed)

    def channels(self, basis, row):
        found = basis_to_channels(self.rig, basis[row : row + 1], self.start[row], self.signs)
        return [part[0] for part in found]


def require_same(case, expected, influence=1.0):
    turner, turns = case.turner(), FrameChannels(case.rig.rotation_modes)
    for row in (3, 0, FRAMES - 1, 3):
        pose = case.pose(turner, row, influence)
        place, rotation, _ = case.channels(expected, row)
        np.testing.assert_allclose(pose.location, place, atol=1e-9)
        np.testing.assert_allclose(turns.nearest(pose.rotation, case.start[row]), rotation, atol=1e-9)


@pytest.mark.parametrize("scale", INHERIT_SCALE)
@pytest.mark.parametrize(("rotation", "local"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("sized", [None, "uniform", "non-uniform", "mirrored"])
def test_a_row_is_that_of_the_whole_motion(scale, rotation, local, sized):
    case = Case(1, scale, rotation, local, sized)
    require_same(case, case.all_rows())


@pytest.mark.parametrize("influence", [0.0, 0.2, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("sized", ["uniform", "non-uniform", "mirrored"])
def test_a_row_is_blended_like_the_whole_motion(influence, sized):
    case = Case(2, sized=sized)
    share = np.full(FRAMES, influence)
    blended = blend_motion(case.rig, case.basis, case.all_rows(), share, case.rig.parents, case.placed)
    require_same(case, blended, influence)


def test_without_influence_a_row_is_the_motion_itself():
    case = Case(3)
    pose = case.pose(case.turner(), 2, 0.0)
    np.testing.assert_array_equal(pose.location, case.basis[2, :, :3, 3])
    own = matrix_to_quaternion(basis_turns(case.basis[2], case.signs))
    np.testing.assert_allclose(np.abs(np.einsum("bk,bk->b", pose.rotation, own)), 1.0, atol=1e-15)


def test_nothing_needs_to_be_placed_and_connected_bones_are_not():
    case = Case(4, placed=np.empty(0, int))
    require_same(case, case.all_rows())
    with pytest.raises(InputError, match="bone.4.*connected"):
        Case(5, connect=np.arange(len(PARENTS)) == 4).turner()


def test_rows_do_not_depend_on_what_was_asked_before():
    case = Case(6)
    used, fresh = case.turner(), case.turner()
    for row in reversed(range(FRAMES)):
        case.pose(used, row, 0.3)
    for row in range(FRAMES):
        for one, other in zip(vars(case.pose(used, row)).values(), vars(case.pose(fresh, row)).values(), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_channels_of_every_mode_are_those_of_a_first_row(seed):
    rng = np.random.default_rng(seed)
    modes = tuple(rng.permutation(ROTATION_MODES * 4))
    bones = len(modes)
    rig = plain_rig(np.full(bones, -1), np.tile(np.eye(4), (bones, 1, 1)), 1.0, modes, rotation=False)
    basis = np.tile(np.eye(4), (1, bones, 1, 1))
    basis[..., :3, :3] = random_rotations(rng, 1, bones)
    start = rng.uniform(-9.0, 9.0, (bones, 4))
    _, expected, _ = basis_to_channels(rig, basis, start, np.ones((bones, 3)))
    given = matrix_to_quaternion(basis[0, :, :3, :3]) * rng.choice([-1.0, 1.0], (bones, 1))
    np.testing.assert_allclose(FrameChannels(modes).nearest(given, start), expected[0], atol=1e-9)


@pytest.mark.parametrize("middle", [0.5 * np.pi, -0.5 * np.pi])
@pytest.mark.parametrize("order", ROTATION_MODES[2:])
def test_channels_in_gimbal_lock_turn_as_asked(order, middle):
    angles = np.array([[0.3, 0.3, 0.3]])
    angles[0, "XYZ".index(order[1])] = middle
    turn = euler_to_matrix(angles, order)
    found = FrameChannels((order,)).nearest(matrix_to_quaternion(turn), np.zeros((1, 4)))
    np.testing.assert_allclose(euler_to_matrix(found[:, :3], order), turn, atol=1e-7)


def test_nothing_turned_keeps_the_axis_it_had():
    start = np.array([[0.4, 0.0, 0.6, 0.8]])
    found = FrameChannels(("AXIS_ANGLE",)).nearest(np.array([[1.0, 0.0, 0.0, 0.0]]), start)
    np.testing.assert_allclose(found, [[0.0, 0.0, 0.6, 0.8]], atol=1e-12)
