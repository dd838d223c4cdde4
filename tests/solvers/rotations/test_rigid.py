"""Properties of the best rigid motion, in space and on the ground."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.rotations.rigid import ground_translation, ground_yaw, procrustes, turned

FRAMES, POINTS = 7, 9


@pytest.fixture
def cloud(rng):
    return rng.normal(size=(POINTS, 3))


def moved(cloud, seed=3):
    turns = Rotation.random(FRAMES, random_state=seed).as_matrix()
    shifts = np.random.default_rng(seed).normal(size=(FRAMES, 3))
    return np.einsum("fij,nj->fni", turns, cloud) + shifts[:, None], turns, shifts


def test_a_rigid_motion_is_found_also_of_points_in_a_plane(cloud):
    for body in (cloud, cloud * [1, 1, 0]):
        points, turns, shifts = moved(body)
        rotation, translation = procrustes(points, body)
        np.testing.assert_allclose(rotation, turns, atol=1e-12)
        np.testing.assert_allclose(translation, shifts, atol=1e-12)


def test_a_mirror_image_gives_a_rotation(cloud):
    rotation, _ = procrustes((cloud * [-1, 1, 1])[None], cloud)
    np.testing.assert_allclose(np.linalg.det(rotation), 1.0)
    np.testing.assert_allclose(rotation[0] @ rotation[0].T, np.eye(3), atol=1e-12)


def test_no_small_turn_fits_better(cloud, rng):
    points = moved(cloud)[0] + rng.normal(0, 0.3, (FRAMES, POINTS, 3))
    weights = rng.uniform(0.1, 2.0, (FRAMES, POINTS))
    rotation, translation = procrustes(points, cloud, weights)

    def cost(rotation, translation):
        fit = np.einsum("fij,nj->fni", rotation, cloud) + translation[:, None]
        return (weights[..., None] * (points - fit) ** 2).sum(axis=(1, 2))

    best = cost(rotation, translation)
    for _ in range(20):
        near = Rotation.from_rotvec(rng.normal(0, 0.02, (FRAMES, 3))).as_matrix() @ rotation
        assert (cost(near, translation + rng.normal(0, 0.01, (FRAMES, 3))) >= best).all()


def test_missing_and_weightless_points_count_nothing_and_two_are_too_few(cloud):
    points, turns, _ = moved(cloud)
    points[:, 2] = np.nan
    points[1, 4] += 5.0
    weights = np.ones((FRAMES, POINTS))
    weights[1, 4] = 0.0
    np.testing.assert_allclose(procrustes(points, cloud, weights)[0], turns, atol=1e-12)
    points[3, 3:] = np.nan
    with pytest.raises(InputError, match="frame 3"):
        procrustes(points, cloud)


def grounded(cloud, yaw, shift, pivot):
    out = np.repeat(cloud[None], len(yaw), axis=0)
    out[..., :2] = turned(out[..., :2] - pivot, yaw[:, None]) + pivot + shift[:, None]
    return out


def test_a_ground_motion_is_found_whatever_is_missing(cloud, rng):
    yaw, shift, pivot = rng.uniform(-3, 3, FRAMES), rng.normal(size=(FRAMES, 2)), np.array([0.4, -2.0])
    points = grounded(cloud, yaw, shift, pivot)
    points[..., 2] += rng.normal(size=(FRAMES, POINTS))
    points[2, 3:] = np.nan
    found = ground_yaw(points, cloud)
    np.testing.assert_allclose(found, yaw, atol=1e-12)
    np.testing.assert_allclose(ground_translation(points, cloud, pivot, found), shift, atol=1e-12)


def test_the_ground_motion_is_the_best_one(cloud, rng):
    points = grounded(cloud, rng.uniform(-3, 3, FRAMES), rng.normal(size=(FRAMES, 2)), np.zeros(2))
    points += rng.normal(0, 0.3, points.shape)

    def cost(yaw):
        fit = grounded(cloud, yaw, ground_translation(points, cloud, np.zeros(2), yaw), np.zeros(2))
        return ((points - fit)[..., :2] ** 2).sum(axis=(1, 2))

    best = ground_yaw(points, cloud)
    assert (cost(best) <= cost(best + 0.01)).all() and (cost(best) <= cost(best - 0.01)).all()


def test_what_tells_no_direction_is_not_a_number(cloud):
    points = np.repeat(cloud[None], 3, axis=0)
    points[0], points[1, 1:] = np.nan, np.nan
    yaw = ground_yaw(points, cloud)
    assert np.isnan(yaw[:2]).all() and yaw[2] == 0.0
    translation = ground_translation(points, cloud, np.zeros(2), np.zeros(3))
    assert np.isnan(translation[0]).all()
    np.testing.assert_allclose(translation[1:], 0.0, atol=1e-12)
