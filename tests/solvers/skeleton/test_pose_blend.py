"""Properties of a blend between two motions."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from solvers.skeleton.pose_blend import blend_basis
from tests.random_rigs import random_rotations

FRAMES, BONES = 6, 5


def motion(seed, sized=None):
    rng = np.random.default_rng(seed)
    basis = np.tile(np.eye(4), (FRAMES, BONES, 1, 1))
    basis[..., :3, :3], basis[..., :3, 3] = random_rotations(rng, FRAMES, BONES), rng.normal(size=(FRAMES, BONES, 3))
    if sized is not None:
        basis[..., :3, :3] *= rng.uniform(0.5, 2.0, (FRAMES, BONES, 1, 3))
    if sized == "mirrored":
        basis[:, ::2, :3, 0] *= -1.0
    return basis


def blend(a, b, share):
    return blend_basis(a, b, np.full(FRAMES, share))


SIZES = pytest.mark.parametrize("sized", [None, "non-uniform", "mirrored"])


@SIZES
def test_the_ends_are_exact_and_reached_without_a_jump(sized):
    a, b = motion(1, sized), motion(2, sized)
    np.testing.assert_array_equal(blend(a, b, 0.0), a)
    np.testing.assert_array_equal(blend(a, b, 1.0), b)
    np.testing.assert_allclose(blend(a, b, 1e-9), a, atol=1e-7)
    np.testing.assert_allclose(blend(a, b, 1.0 - 1e-9), b, atol=1e-7)


@SIZES
def test_it_is_the_same_from_either_end_and_of_a_motion_and_itself_the_motion(sized):
    a, b = motion(3, sized), motion(4, sized)
    np.testing.assert_allclose(blend(a, b, 0.3), blend(b, a, 0.7), atol=1e-9)
    np.testing.assert_allclose(blend(a, a, 0.4), a, atol=1e-12)


@SIZES
def test_handedness_and_orthogonality_stay(sized):
    a, b = motion(6, sized), motion(7, sized)
    found = blend(a, b, 0.6)[..., :3, :3]
    np.testing.assert_array_equal(np.sign(np.linalg.det(found)), np.sign(np.linalg.det(a[..., :3, :3])))
    gram = np.swapaxes(found, -1, -2) @ found
    np.testing.assert_allclose(gram * (1.0 - np.eye(3)), 0.0, atol=1e-12)


def test_rotations_are_slerped_and_the_rest_goes_straight():
    a, b, share = motion(8, "non-uniform"), motion(9, "non-uniform"), 0.35
    found = blend(a, b, share)
    lengths = [np.linalg.norm(x[..., :3, :3], axis=-2) for x in (a, b, found)]
    np.testing.assert_allclose(lengths[2], (1.0 - share) * lengths[0] + share * lengths[1], atol=1e-12)
    np.testing.assert_allclose(found[..., :3, 3], (1.0 - share) * a[..., :3, 3] + share * b[..., :3, 3], atol=1e-12)
    turns = [x[..., :3, :3] / length[..., None, :] for x, length in zip((a, b, found), lengths, strict=True)]
    for frame, bone in np.ndindex(FRAMES, BONES):
        ends = Rotation.from_matrix([turns[0][frame, bone], turns[1][frame, bone]])
        expected = Slerp([0.0, 1.0], ends)(share).as_matrix()
        np.testing.assert_allclose(turns[2][frame, bone], expected, atol=1e-9)


def test_every_frame_has_its_own_share():
    a, b, share = motion(10), motion(11), np.linspace(0.0, 1.0, FRAMES)
    found = blend_basis(a, b, share)
    for frame, part in enumerate(share):
        np.testing.assert_allclose(found[frame], blend(a, b, part)[frame], atol=1e-14)


def test_a_motion_turned_in_space_blends_turned_alike():
    a, b = motion(12), motion(13)
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_rotvec([0.4, -1.0, 0.3]).as_matrix()
    np.testing.assert_allclose(blend(turn @ a, turn @ b, 0.25), turn @ blend(a, b, 0.25), atol=1e-12)


def test_a_bone_without_size_stays_a_number():
    a, b = motion(14), motion(15)
    a[:, 1, :3, :3] = 0.0
    b[:, 2, :3, 1] = 0.0
    assert np.isfinite(blend(a, b, 0.5)).all()
