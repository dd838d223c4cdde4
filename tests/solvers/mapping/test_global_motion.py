"""Ground translation and yaw leave a body's points, and one frame at a time gives the same as all at once."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.mapping.global_motion import GlobalMotion
from solvers.rotations.rigid import turned

FRAMES = 80


@pytest.fixture
def dance(rng):
    """A body that deforms a little, spins two and a half turns and wanders: points, yaw, translation of its pivot."""
    body = rng.normal(size=(12, 3))
    time = np.linspace(0, 1, FRAMES)
    still = body + 0.05 * np.sin(6 * time[:, None, None] + rng.uniform(0, 6, body.shape))
    yaw, shift = 5 * np.pi * time, np.stack((3 * time, np.sin(4 * time)), axis=-1)
    pivot = still[0].mean(axis=0)[:2]
    points = still.copy()
    points[..., :2] = turned(still[..., :2] - pivot, yaw[:, None]) + pivot + shift[:, None]
    return still, points, yaw, shift


def test_what_was_added_is_taken_out(dance):
    still, points, yaw, shift = dance
    motion = GlobalMotion(points[0])
    plain, moved = motion.track(still), motion.track(points)
    np.testing.assert_allclose(moved.yaw - plain.yaw, yaw, atol=1e-9)
    np.testing.assert_allclose(moved.points, plain.points, atol=1e-9)
    np.testing.assert_allclose(moved.translation[0], 0.0, atol=1e-12)
    assert np.abs(moved.translation - shift).max() < 0.05


def test_a_motion_of_the_world_changes_translation_and_yaw_only(dance):
    _, points, _, _ = dance
    motion = GlobalMotion(points[0])
    world = points.copy()
    world[..., :2] = turned(points[..., :2], np.full((FRAMES, 1), 0.7)) + [4.0, -2.0]
    before, after = motion.track(points), motion.track(world)
    np.testing.assert_allclose(after.points, before.points, atol=1e-9)
    np.testing.assert_allclose(after.yaw - before.yaw, 0.7, atol=1e-9)


def test_one_frame_at_a_time_is_the_same(dance, rng):
    points = dance[1].copy()
    points[rng.uniform(size=points.shape[:2]) < 0.2] = np.nan
    points[30:33] = np.nan
    points[50, 1:] = np.nan
    motion = GlobalMotion(points[0])
    batch, stream = motion.track(points), motion.stream()
    for frame, at in enumerate(points):
        one = stream.step(at)
        np.testing.assert_allclose(one.yaw[0], batch.yaw[frame], atol=1e-12)
        np.testing.assert_allclose(one.translation[0], batch.translation[frame], atol=1e-12)
        np.testing.assert_allclose(one.points[0], batch.points[frame], atol=1e-12)
    assert batch.yaw[32] == batch.yaw[29] and batch.yaw[50] == batch.yaw[49]
    assert np.isfinite(batch.translation).all() and np.abs(np.diff(batch.yaw)).max() < 1.0


def test_a_jump_stays_in_the_points(dance):
    points = dance[1].copy()
    points[40:, :, 2] += 0.5
    motion = GlobalMotion(points[0])
    rise = motion.track(points).points - motion.track(dance[1]).points
    np.testing.assert_allclose(rise[40:, :, 2], 0.5)
    np.testing.assert_allclose(rise[..., :2], 0.0, atol=1e-12)


def test_less_is_removed_on_request(dance):
    points = dance[1]
    none, shifted = GlobalMotion(points[0], "none").track(points), GlobalMotion(points[0], "translation").track(points)
    assert not none.yaw.any() and not none.translation.any() and not shifted.yaw.any()
    np.testing.assert_allclose(none.points, points - points[0].mean(axis=0))
    np.testing.assert_allclose(shifted.points[..., :2].mean(axis=1), 0.0, atol=1e-12)


def test_bad_input_is_named(dance):
    points = dance[1]
    for request, words in (
        (lambda: GlobalMotion(points[0], "sideways"), "sideways"),
        (lambda: GlobalMotion(np.full((3, 3), np.nan)), "no known point"),
        (lambda: GlobalMotion(points[0]).track(points[:, :5]), "12 points"),
    ):
        with pytest.raises(InputError, match=words):
            request()
