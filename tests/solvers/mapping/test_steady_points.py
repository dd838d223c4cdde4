"""Weights of points that keep their places in a body: a stride is no turn."""

import warnings

import numpy as np
import pytest

from benchmarks.bvh import read_bvh_track
from solvers.mapping.steady_points import steady_weights
from solvers.rotations.rigid import ground_yaw

# Largest yaw, degrees, that a walk or run straight on may be read as: shoulders and hips turn by as much.
STRAIGHT = {"misc/02_01": 12, "cmu/02_03_run_jog_30fps": 16, "bandai/dataset-1_walk_giant_001": 20,
            "bandai/dataset-1_walk-left_normal_001": 18, "bandai/dataset-1_run_normal_001": 16}  # fmt: skip


def yaw_of(points, weights=None):
    return np.degrees(np.unwrap(ground_yaw(points, points[0], weights)))


def walker(rng, frames=60):
    """(F, 10, 3): four points of a torso, arms and legs that swing, on a bend; and its heading (F,), degrees."""
    time = np.arange(frames) / 30.0
    rest = np.array(
        [[0.2, 0, 1.4], [-0.2, 0, 1.4], [0.12, 0, 1.0], [-0.12, 0, 1.0], [0.3, 0, 1.0], [-0.3, 0, 1.0]]
        + [[0.1, 0, 0.5], [-0.1, 0, 0.5], [0.1, 0, 0.1], [-0.1, 0, 0.1]]
    )
    swing = np.zeros((frames, 10, 3))
    swing[:, 4:, 1] = [0.2, -0.2, -0.2, 0.2, -0.4, 0.4] * np.sin(6.0 * time + 0.7)[:, None]
    heading = 25.0 * time
    cosine, sine = np.cos(np.radians(heading))[:, None], np.sin(np.radians(heading))[:, None]
    x, y, z = np.moveaxis(rest + swing + 0.003 * rng.normal(size=swing.shape), -1, 0)
    place = np.stack((sine * x + cosine * y, z), axis=-1)
    return np.concatenate(((cosine * x - sine * y)[..., None], place), axis=-1) + [1.0, -2.0, 0.0], heading


def test_a_walker_faces_where_its_torso_does(rng):
    points, heading = walker(rng)
    weights = steady_weights(points)
    assert weights[:4].min() > 20 * weights[4:].max()
    assert np.abs(yaw_of(points, weights) - heading).max() < 3.0 < np.abs(yaw_of(points) - heading).max()


def test_where_the_body_is_and_faces_does_not_matter(rng):
    points, _ = walker(rng)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for same in (points @ turn.T + [5.0, 1.0, 2.0], 7.0 * points):
        np.testing.assert_allclose(steady_weights(same), steady_weights(points), rtol=1e-6)


NOTHING = np.zeros((1, 5, 3)), np.zeros((4, 2, 3)), np.zeros((6, 4, 3)), np.full((3, 4, 3), np.nan)


def test_points_that_are_missing_and_what_tells_nothing_counts_alike(rng):
    points, heading = walker(rng)
    points[:, 9], points[10:14, 1] = np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = steady_weights(points)
        assert all((steady_weights(nothing) == 1.0).all() for nothing in NOTHING)
    assert weights[9] == 0.0 and np.isfinite(weights).all()
    assert np.abs(yaw_of(points, weights) - heading).max() < 6.0


@pytest.mark.parametrize("clip", STRAIGHT)
def test_real_walks_go_straight_on(data, clip):
    points = read_bvh_track(data / f"mocap_bvh/{clip}.bvh").positions
    found = np.abs(yaw_of(points, steady_weights(points))).max()
    print(f"{clip}: {found:.1f} degrees, unweighted {np.abs(yaw_of(points)).max():.1f}")
    assert found < STRAIGHT[clip]


def test_a_dog_that_turns(data):
    words = (data / "point_seq/dog/dog_turn00_joint_pos.txt").read_text().replace(",", " ").split()
    points = np.array(words, float).reshape(-1, 27, 3)[:, :, [0, 2, 1]] * [1, -1, 1]
    assert np.abs(yaw_of(points, steady_weights(points)) - yaw_of(points)).max() < 45.0  # the spine bends in the turn
