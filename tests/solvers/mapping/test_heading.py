"""A heading that jumps is told by frame, at any frame rate; fast spins and whole turns are not jumps."""

import numpy as np
import pytest

from benchmarks._map_source import clip
from solvers.mapping.global_motion import GlobalMotion
from solvers.mapping.heading import heading_jumps, heading_told
from solvers.mapping.steady_points import steady_weights


@pytest.mark.parametrize("fps", [12, 24, 30, 60, 120])
def test_a_flip_is_told_once_and_a_spin_is_not(fps):
    times = np.arange(0, 4, 1 / fps)
    spin = 2 * np.pi * 2.5 * times  # two and a half turns a second
    assert not len(heading_jumps(spin, times)[0]) and heading_jumps(spin, times)[1] == 0.0
    at, size = heading_jumps(spin + 3.0 * (times >= 2.0), times)
    np.testing.assert_array_equal(at, [2 * fps])
    assert 3.0 <= size < 4.5
    over_three = spin + 3.0 * np.clip((times - 2.0) / 0.03, 0, 1)  # within 0.03 s
    assert len(heading_jumps(over_three, times)[0]) == 1


def test_frames_far_apart_and_few():
    at, size = heading_jumps([0.0, 1.0, 2.7, 2.7, -1.0], np.arange(5.0))
    np.testing.assert_array_equal(at, [2, 4])
    assert size == pytest.approx(3.7)
    for few in (0, 1):
        assert not len(heading_jumps(np.zeros(few), np.arange(float(few)))[0])


def test_a_body_that_tips_over_jumps_and_one_that_walks_does_not(rng):
    """Seen from above a somersault turns half-way round; Place and Heading flipped the result there."""
    half, angle = rng.normal(size=(6, 3)) * [0.3, 1.0, 0.3], np.linspace(0, 2 * np.pi, 97)
    body = np.concatenate((half, half * [-1.0, 1.0, 1.0])) + rng.normal(0, 0.01, (12, 3))
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    y, z = body[:, 1] * cosine - body[:, 2] * sine, body[:, 1] * sine + body[:, 2] * cosine
    points = np.stack((np.broadcast_to(body[:, 0], y.shape), y, z), axis=-1)
    times = np.arange(97) / 24
    at, size = heading_jumps(GlobalMotion(points[0]).track(points).yaw, times)
    assert len(at) == 2 and size > 2.0
    assert not len(heading_jumps(GlobalMotion(points[0]).track(points[:12]).yaw, times[:12])[0])


def test_how_surely_a_heading_is_told(rng):
    """Place, size, heading and missing points change nothing of it; a body on its back is seen the wrong way round."""
    first = rng.normal(size=(40, 3)) * [0.3, 1.0, 0.3]
    turn = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    upright = np.stack((first, 3.0 * first @ turn + [5, -2, 1], first))
    upright[2, 3], upright[1, 4] = np.nan, np.nan
    np.testing.assert_allclose(heading_told(upright), 1.0, atol=1e-12)
    on_end = np.stack((first, first[:, [0, 2, 1]]))
    assert heading_told(on_end)[1] < 0.5


@pytest.mark.captures
@pytest.mark.parametrize("every", [1, 2, 5])
@pytest.mark.parametrize(("name", "jumps"), [("backflip", True), ("pirouette", False), ("dance", False)])
def test_a_somersault_is_told_at_any_frame_rate_and_a_turning_dance_is_not(name, jumps, every):
    points, times = clip("bvh", f"misc/{name}")
    points, times = points[10::every], times[10::every]  # before that it stands as its rig does
    yaw = GlobalMotion(points[0], weights=steady_weights(points)).track(points).yaw
    assert bool(len(heading_jumps(yaw, times, heading_told(points))[0])) is jumps


@pytest.mark.captures
@pytest.mark.parametrize(
    ("kind", "name", "count"),
    [("bvh", "misc/backflip", 1), ("bvh", "misc/pirouette", 0), ("dog", "turn00", 0), ("mesh", "human_samba", 0)],
)
def test_captures(kind, name, count):
    points, times = clip(kind, name)
    yaw = GlobalMotion(points[0], weights=steady_weights(points)).track(points).yaw
    assert len(heading_jumps(yaw, times)[0]) == count
