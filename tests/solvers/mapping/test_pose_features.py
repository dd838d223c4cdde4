"""Features do not depend on the frame rate, are the same live and in a batch, and bear what trackers do."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.mapping.pose_features import PoseFeatures

JOINTS = 6


def swing(times, seed=1):
    """Positions (F, J, 3) of points that swing at up to 2 Hz."""
    rng = np.random.default_rng(seed)
    rate, phase = rng.uniform(3, 12, (JOINTS, 3)), rng.uniform(0, 6, (JOINTS, 3))
    return rng.normal(size=(JOINTS, 3)) + 0.2 * np.sin(rate * times[:, None, None] + phase)


TIMES = np.arange(240) / 60


@pytest.fixture
def clip():
    return swing(TIMES)


def test_rows_have_unit_length_and_the_motion_is_capped(clip):
    rows = PoseFeatures.fit(clip, TIMES).rows(clip, TIMES)
    assert rows.shape == (240, 6 * JOINTS + 1) and (rows[:, -1] == 1).all()
    place, motion = rows[:, : 3 * JOINTS], rows[:, 3 * JOINTS : -1]
    np.testing.assert_allclose((rows[:, :-1] ** 2).sum(axis=1).mean(), 1.0)
    np.testing.assert_allclose(place.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose((motion**2).sum() / (place**2).sum(), 0.25)


def test_slow_motion_is_not_raised_and_size_and_place_do_not_matter(clip):
    slow = swing(TIMES / 20)
    features = PoseFeatures.fit(slow, TIMES)
    assert features.gain == 1.0
    np.testing.assert_allclose((features.rows(slow, TIMES)[:, :-1] ** 2).sum(axis=1).mean(), 1.0)
    one, other = (PoseFeatures.fit(of, TIMES).rows(of, TIMES) for of in (clip, 3.5 * clip + [1, -2, 8]))
    np.testing.assert_allclose(other, one, atol=1e-12)


@pytest.mark.parametrize("fps", [120, 90, 50, 30, 25, 24])
def test_the_frame_rate_does_not_matter(clip, fps):
    features = PoseFeatures.fit(clip, TIMES)
    times = np.arange(0, TIMES[-1], 1 / fps)
    rows = features.rows(swing(times), times)
    exact = features.rows(swing(np.arange(0, 4, 1 / 1200)), np.arange(0, 4, 1 / 1200))
    there = np.searchsorted(np.arange(0, 4, 1 / 1200), times - 1e-9)
    error = np.sqrt(((rows - exact[there]) ** 2).sum(axis=1))
    assert error.mean() < 0.02


def held(features, positions):
    """Positions (F, J, 3) whose gaps are filled with the last known place, as a stream does it."""
    out, last = positions.copy(), np.zeros_like(positions[0])
    last[features.used] = features.mean
    for frame in out:
        frame[:] = last = np.where(np.isfinite(frame).all(axis=-1)[:, None], frame, last)
    return out


def test_live_is_the_same_as_the_batch(clip, rng):
    times = np.sort(rng.uniform(0, 4, 240))
    gappy = clip.copy()
    gappy[rng.uniform(size=(240, JOINTS)) < 0.3] = np.nan
    features = PoseFeatures.fit(clip, TIMES)
    for positions, at in ((clip, TIMES), (clip, times), (gappy, times)):
        rows, stream = features.rows(held(features, positions), at), features.stream()
        live = np.array([stream.step(p, t) for p, t in zip(positions, at, strict=True)])
        np.testing.assert_allclose(live, rows, atol=1e-12)
        assert len(stream._history) < 40


def test_a_stream_that_is_set_back_begins_anew(clip):
    features = PoseFeatures.fit(clip, TIMES)
    stream = features.stream()
    for frame in range(100):
        stream.step(clip[frame], TIMES[frame])
    again = [stream.step(clip[frame], TIMES[frame]) for frame in (10, 11, 11, 12)]
    np.testing.assert_allclose(again[3], features.rows(clip[10:13], TIMES[10:13])[2], atol=1e-12)


def test_short_gaps_are_bridged(clip):
    gappy = clip.copy()
    gappy[20:24, 3], gappy[:3, 1], gappy[-2:, 0] = np.nan, np.nan, np.nan
    features = PoseFeatures.fit(clip, TIMES)
    change = features.rows(gappy, TIMES) - features.rows(clip, TIMES)
    assert np.abs(change).max() < 0.15 and not change[60:-10].any()


def test_a_joint_that_is_missing_throughout_is_left_out_or_named(clip):
    names = tuple("abcdef")
    gone = clip.copy()
    gone[:, 2] = np.nan
    features = PoseFeatures.fit(gone, TIMES, names)
    assert list(features.used) == [True, True, False, True, True, True] and features.width == 31
    assert features.rows(clip, TIMES).shape == (240, 31)
    with pytest.raises(InputError, match="'c' is missing"):
        PoseFeatures.fit(clip, TIMES, names).rows(gone, TIMES)


def test_a_live_joint_that_never_came_stands_at_its_mean(clip):
    features = PoseFeatures.fit(clip, TIMES, tuple("abcdef"))
    gone = clip[0].copy()
    gone[2] = np.nan
    stream = features.stream()
    row = stream.step(gone, 0.0)
    assert stream.missing == ("c",) and not row[6:9].any() and np.isfinite(row).all()


def test_another_actor_keeps_mean_and_scale(clip):
    other = swing(TIMES, seed=2)
    features = PoseFeatures.fit(clip, TIMES)
    rows = features.rows(other, TIMES)
    np.testing.assert_allclose(rows[:, : 3 * JOINTS].reshape(-1, JOINTS, 3) * features.scale + features.mean, other)


def test_bad_input_is_named(clip):
    for points, times, words in (
        (np.repeat(clip[:1], 240, axis=0), TIMES, "does not move"),
        (clip[:1], TIMES[:1], "does not move"),
        (np.full_like(clip, np.nan), TIMES, "No point"),
        (clip, np.where(np.arange(240) == 5, 0.0, TIMES), "frame 5"),
        (clip[:0], TIMES[:0], "no frames"),
    ):
        with pytest.raises(InputError, match=words):
            PoseFeatures.fit(points, times)
    with pytest.raises(InputError, match="6 points"):
        PoseFeatures.fit(clip, TIMES).rows(clip[:, :4], TIMES)
