"""Properties of the way back from a changed range to the source."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.skeleton.bone_channels import basis_to_channels, channels_to_basis
from solvers.skeleton.kinematics import pose_matrices
from solvers.skeleton.range_fade import RangeFade, fade_weights
from tests.random_rigs import FRAMES, make_basis, make_rig, plain_rig, random_matrices, random_rotations

MODES = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZYX", "YXZ", "QUATERNION", "XZY", "AXIS_ANGLE", "ZXY")


def channels_of(rig, basis):
    start = np.zeros((len(rig.names), 4))
    start[:, 0] = 1.0
    return basis_to_channels(rig, basis, start, np.ones((len(rig.names), 3)))


def turns(rig, channels):
    return channels_to_basis(rig, *channels)[..., :3, :3]


@pytest.fixture(params=[("QUATERNION",) * 9, MODES])
def case(request):
    """A rig, its source over an end and six frames after it, and a change of the end by some tenths of a radian."""
    rng = np.random.default_rng(3)
    rig = make_rig(rng, modes=request.param)
    source = channels_of(rig, make_basis(rng, rig))
    basis = channels_to_basis(rig, *source)[:1]
    basis[..., :3, :3] = Rotation.from_rotvec(rng.normal(0, 0.3, (9, 3))).as_matrix() @ basis[..., :3, :3]
    basis[..., :3, 3] += rng.normal(0, 0.2, (9, 3))
    changed = tuple(part[0] for part in channels_of(rig, basis))
    return rig, tuple(part[1:] for part in source), tuple(part[0] for part in source), changed


def test_weights_fall_from_a_whole_to_nothing_and_are_at_rest_at_both_ends():
    weights = np.array([1.0, *fade_weights(11)])
    assert weights[-1] == 0.0 and (np.diff(weights) < 0.0).all()
    np.testing.assert_allclose(weights, 1.0 - weights[::-1], atol=1e-12)
    steps = -np.diff(weights)
    assert steps[0] < 0.3 * steps.max() and steps[-1] < 0.3 * steps.max()
    assert fade_weights(1).tolist() == [0.0]


def test_a_whole_share_is_the_change_itself_and_none_is_the_source_as_it_is_keyed(case):
    rig, source, end, changed = case
    ends = tuple(np.repeat(part[None], FRAMES - 1, axis=0) for part in end)
    found = RangeFade(rig, ends, end, np.ones(FRAMES - 1)).channels(changed)
    np.testing.assert_allclose(found[0], np.broadcast_to(changed[0], found[0].shape), atol=1e-12)
    np.testing.assert_allclose(turns(rig, found)[0], turns(rig, tuple(p[None] for p in changed))[0], atol=1e-9)
    found = RangeFade(rig, source, end, np.zeros(FRAMES - 1)).channels(changed)
    for part, own in zip(found, source, strict=True):
        np.testing.assert_array_equal(part, own)


def test_nothing_changed_stays_nothing(case):
    rig, source, end, _ = case
    found = RangeFade(rig, source, end, fade_weights(FRAMES - 1)).channels(end)
    np.testing.assert_allclose(found[0], source[0], atol=1e-12)
    np.testing.assert_allclose(turns(rig, found), turns(rig, source), atol=1e-12)


def test_the_turn_that_is_left_shrinks_by_the_weights_along_one_axis(case):
    rig, source, end, changed = case
    weights = fade_weights(FRAMES - 1)
    found = RangeFade(rig, source, end, weights).channels(changed)
    left = turns(rig, found) @ np.swapaxes(turns(rig, source), -1, -2)
    whole = (
        turns(rig, tuple(p[None] for p in changed)) @ np.swapaxes(turns(rig, tuple(p[None] for p in end)), -1, -2)
    )[0]
    arcs = Rotation.from_matrix(left.reshape(-1, 3, 3)).as_rotvec().reshape(*left.shape[:2], 3)
    expected = weights[:, None, None] * Rotation.from_matrix(whole).as_rotvec()
    np.testing.assert_allclose(arcs, expected, atol=1e-7)


def test_rotations_stay_nearest_to_the_sources_own():
    """Angles that have gone round several times, and quaternions of the other sign, do not spring back."""
    rng = np.random.default_rng(5)
    rig = plain_rig([-1, -1, -1], random_matrices(rng, 3), 1.0, modes=("XYZ", "QUATERNION", "AXIS_ANGLE"))
    source = channels_of(rig, make_basis(rng, rig))
    source[1][:, 0, 2] += 6.0 * np.pi
    source[1][:, 1] *= -1.0
    source[1][:, 2, 0] += 4.0 * np.pi
    end = tuple(part[0] for part in source)
    changed = channels_of(rig, channels_to_basis(rig, *(part[:1] for part in source)))
    changed[1][0, 0, 2] += 0.1  # of the angles nearest to zero
    found = RangeFade(rig, source, end, np.full(FRAMES, 0.5)).channels(tuple(part[0] for part in changed))
    assert np.abs(found[1][:, 0] - source[1][:, 0]).max() < 0.2
    np.testing.assert_allclose(found[1][:, 1:], source[1][:, 1:], atol=1e-6)


def test_a_hung_bone_keeps_its_place_on_what_carries_it():
    """A flat rig: its bones do not hang on each other, but move so."""
    rng = np.random.default_rng(7)
    rest = random_matrices(rng, 3)
    rig = plain_rig([-1, -1, -1], rest, 1.0)
    parents, placed = np.array([-1, 0, 1]), np.array([1, 2])
    pose = random_matrices(rng, FRAMES, 3, size=0.5)
    away = rng.normal(size=(2, 3))
    for child in (1, 2):  # at one place on its carrier
        pose[:, child, :3, 3] = pose[:, child - 1, :3, 3] + pose[:, child - 1, :3, :3] @ away[child - 1]
    source = channels_of(rig, np.linalg.inv(rest) @ pose)
    turned = pose[:1].copy()
    turned[..., :3, :3] = random_rotations(rng, 1, 3) @ turned[..., :3, :3]
    for child in (1, 2):
        turned[:, child, :3, 3] = turned[:, child - 1, :3, 3] + turned[:, child - 1, :3, :3] @ away[child - 1]
    changed = tuple(part[0] for part in channels_of(rig, np.linalg.inv(rest) @ turned))
    end = tuple(part[0] for part in source)
    found = RangeFade(rig, source, end, np.linspace(0.9, 0.1, FRAMES), parents, placed).channels(changed)
    shown = pose_matrices(rig, channels_to_basis(rig, *found))
    for child in (1, 2):
        reach = shown[:, child, :3, 3] - shown[:, child - 1, :3, 3]
        own = (np.swapaxes(shown[:, child - 1, :3, :3], -1, -2) @ reach[..., None])[..., 0]
        np.testing.assert_allclose(own, np.broadcast_to(away[child - 1], own.shape), atol=1e-9)
