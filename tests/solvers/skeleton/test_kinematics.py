"""Properties that hold for every rig; agreement with Blender itself is in tests/scene/test_rigs.py."""

import itertools

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.skeleton import kinematics
from solvers.skeleton.bone_channels import basis_to_channels, channels_to_basis
from solvers.skeleton.hierarchy import carry_increments
from solvers.skeleton.rig import INHERIT_SCALE, ROTATION_MODES, Rig
from tests.random_rigs import FRAMES, PARENTS, make_basis, make_rig, random_matrices, random_rotations


def orientation(matrices):
    turn = matrices[..., :3, :3]
    return turn / np.linalg.norm(turn, axis=-2, keepdims=True)


def case(seed, size=None, **options):
    """A generator, a rig and its motion; size and options: see `make_basis` and `make_rig`."""
    rng = np.random.default_rng(seed)
    rig = make_rig(rng, **options)
    return rng, rig, make_basis(rng, rig, size)


def identity(rig, frames=FRAMES):
    return np.tile(np.eye(4), (frames, len(rig.names), 1, 1))


def test_rest_is_rest():
    rig = make_rig(np.random.default_rng(0))
    pose = kinematics.pose_matrices(rig, identity(rig))
    np.testing.assert_allclose(pose, np.tile(rig.rest, (FRAMES, 1, 1, 1)), atol=1e-12)


@pytest.mark.parametrize("scale", INHERIT_SCALE)
@pytest.mark.parametrize("rotation, local", list(itertools.product((True, False), repeat=2)))
def test_basis_from_pose_is_the_inverse(scale, rotation, local):
    connect = np.arange(len(PARENTS)) % 3 == 2
    _, rig, basis = case(1, "non-uniform", scale=scale, rotation=rotation, local=local, connect=connect)
    back = kinematics.basis_from_pose(rig, kinematics.pose_matrices(rig, basis))
    np.testing.assert_allclose(back, basis, atol=1e-9)


def test_basis_from_pose_survives_a_bone_scaled_to_nothing():
    _, rig, basis = case(2)
    basis[3, 1, :3, :3] = 0.0
    pose = kinematics.pose_matrices(rig, basis)
    back = kinematics.basis_from_pose(rig, pose)
    assert np.isfinite(back).all()
    np.testing.assert_allclose(kinematics.pose_matrices(rig, back), pose, atol=1e-9)


@pytest.mark.parametrize("scale", INHERIT_SCALE)
@pytest.mark.parametrize("rotation", [True, False])
@pytest.mark.parametrize("size", [None, "uniform"])
def test_rotated_bones_have_the_orientations_asked_for(scale, rotation, size):
    rng, rig, basis = case(3, size, scale=scale, rotation=rotation)
    increments = random_rotations(rng, FRAMES, len(rig.names))
    heads = {0: rng.normal(0, 1, (FRAMES, 3)), 4: rng.normal(0, 1, (FRAMES, 3))}
    new = kinematics.rotate_bones(rig, basis, increments, heads)
    before, after = kinematics.pose_matrices(rig, basis), kinematics.pose_matrices(rig, new)
    np.testing.assert_allclose(orientation(after), increments @ orientation(before), atol=1e-9)
    for bone, head in heads.items():
        np.testing.assert_allclose(after[:, bone, :3, 3], head, atol=1e-9)
    kept = np.setdiff1d(np.arange(len(rig.names)), list(heads))
    np.testing.assert_array_equal(new[:, kept, :3, 3], basis[:, kept, :3, 3])
    sizes = [np.linalg.norm(m[..., :3, :3], axis=-2) for m in (basis, new)]
    np.testing.assert_allclose(*sizes, atol=1e-12)


@pytest.mark.parametrize("size", [None, "uniform", "non-uniform"])
def test_no_increment_changes_nothing(size):
    _, rig, basis = case(4, size)
    new = kinematics.rotate_bones(rig, basis, identity(rig)[..., :3, :3])
    np.testing.assert_allclose(new, basis, atol=1e-12)


def test_one_turn_for_all_bones_turns_the_character():
    rng, rig, basis = case(5, "uniform")
    turn = random_matrices(rng, 1)[0]
    before = kinematics.pose_matrices(rig, basis)
    heads = {b: before[:, b, :3, 3] @ turn[:3, :3].T + turn[:3, 3] for b in np.flatnonzero(PARENTS < 0)}
    increments = np.broadcast_to(turn[:3, :3], (FRAMES, len(PARENTS), 3, 3))
    after = kinematics.pose_matrices(rig, kinematics.rotate_bones(rig, basis, increments, heads))
    np.testing.assert_allclose(after, turn @ before, atol=1e-9)


def test_frames_do_not_depend_on_each_other():
    rng, rig, basis = case(6, "non-uniform", scale="ALIGNED")
    increments = random_rotations(rng, FRAMES, len(rig.names))
    all_at_once = kinematics.rotate_bones(rig, basis, increments)
    alone = [kinematics.rotate_bones(rig, basis[[f]], increments[[f]]) for f in range(FRAMES)]
    np.testing.assert_allclose(all_at_once, np.concatenate(alone), atol=1e-12)


def test_mirrored_bone_keeps_its_mirror():
    rng, rig, basis = case(7)
    basis[:, 1, :3, :3] *= -1.0
    increments = random_rotations(rng, FRAMES, len(rig.names))
    new = kinematics.rotate_bones(rig, basis, increments)
    after = orientation(kinematics.pose_matrices(rig, new))
    np.testing.assert_allclose(after, increments @ orientation(kinematics.pose_matrices(rig, basis)), atol=1e-9)
    assert (np.linalg.det(new[:, 1, :3, :3]) < 0).all()


def test_unsolved_bones_ride_on_solved_ancestors():
    rng = np.random.default_rng(8)
    rig = make_rig(rng)
    given = random_rotations(rng, FRAMES, 2)
    carried = carry_increments(rig.parents, np.array([1, 4]), given)
    for bone, source in ((1, 0), (2, 0), (3, 0), (4, 1), (5, 1)):
        np.testing.assert_array_equal(carried[:, bone], given[:, source])
    for bone in (0, 6, 7, 8):
        np.testing.assert_array_equal(carried[:, bone], np.tile(np.eye(3), (FRAMES, 1, 1)))


def test_channels_round_trip_in_every_rotation_mode():
    rng = np.random.default_rng(9)
    modes = (*ROTATION_MODES, "XYZ")
    rig = make_rig(rng, modes=modes)
    shape = (50, len(modes))
    location, scale = rng.normal(size=(*shape, 3)), rng.uniform(0.5, 2.0, (*shape, 3))
    scale *= np.where(rng.uniform(size=(len(modes), 3)) < 0.3, -1.0, 1.0)
    rotation = np.cumsum(rng.normal(0.0, 0.1, (*shape, 4)), axis=0) + (1.0, 0.2, 0.3, 0.4)
    rotation[:, 0] /= np.linalg.norm(rotation[:, 0], axis=-1, keepdims=True)
    rotation[:, 1, 1:] = (0.6, 0.0, 0.8)
    rotation[:, 2:, 3] = 0.0
    basis = channels_to_basis(rig, location, rotation, scale)
    back = basis_to_channels(rig, basis, rotation[0], np.sign(scale[0]))
    for found, given in zip(back, (location, rotation, scale), strict=True):
        np.testing.assert_allclose(found, given, atol=1e-9)


def test_bad_input_is_named():
    rng = np.random.default_rng(10)
    rig = make_rig(rng, connect=np.arange(len(PARENTS)) == 2)
    basis, increments = make_basis(rng, rig), identity(rig)[..., :3, :3]
    for call, message in (
        (lambda: kinematics.rotate_bones(rig, basis, increments, {2: np.zeros((FRAMES, 3))}), "'bone.2' is connected"),
        (lambda: kinematics.rotate_bones(rig, basis, increments[:, :2]), "shape"),
        (
            lambda: Rig(("a", "b"), np.array([1, -1]), *[None] * 4, ("FULL",) * 2, None, ("XYZ",) * 2),
            "'a' comes before its parent",
        ),
        (lambda: make_rig(rng, scale="HALF"), "unknown inherit scale 'HALF'"),
    ):
        with pytest.raises(InputError, match=message):
            call()
