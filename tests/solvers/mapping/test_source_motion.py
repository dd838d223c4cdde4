"""Points to features and ground motion: the whole way from a clip, and frame by frame."""

import numpy as np
import pytest

from solvers.core.errors import StillError
from solvers.mapping.source_motion import SourceModel, SourceStream, source_track

NAMES = tuple(f"joint {k}" for k in range(7))


def clip(frames=90, fps=30.0, seed=0):
    """Swinging points that walk along a bend."""
    rng = np.random.default_rng(seed)
    times = np.arange(frames) / fps
    rest, swing, phase = rng.normal(size=(7, 3)), 0.2 * rng.normal(size=(7, 3)), rng.uniform(0, 6, (7, 3))
    pose = rest + swing * np.sin(4.0 * times[:, None, None] + phase)
    yaw = 0.7 * times
    cosine, sine = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    x, y = pose[..., 0], pose[..., 1]
    turned = np.stack((cosine * x - sine * y, sine * x + cosine * y, pose[..., 2]), axis=-1)
    return turned + np.stack((times, 0.3 * times**2, 0 * times), axis=-1)[:, None], times


def test_frame_by_frame_is_the_whole_clip():
    positions, times = clip()
    model = SourceModel.fit(NAMES, positions, times, "all")
    whole = source_track(model, positions, times, 0.05)
    stream = SourceStream(model, 0.05)
    steps = [stream.step(*frame) for frame in zip(positions, times, strict=True)]
    for name in ("features", "translation", "yaw"):
        np.testing.assert_allclose(np.concatenate([getattr(s, name) for s in steps]), getattr(whole, name), atol=1e-6)
    assert not whole.glitches.any()


def test_where_it_walks_and_faces_does_not_count():
    positions, times = clip()
    model = SourceModel.fit(NAMES, positions, times, "all")
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    moved = positions @ turn.T + [4.0, -3.0, 0.0]
    one, other = source_track(model, positions, times), source_track(model, moved, times)
    np.testing.assert_allclose(other.features, one.features, atol=1e-9)
    np.testing.assert_allclose(np.diff(other.yaw), np.diff(one.yaw), atol=1e-9)


def test_a_model_is_the_same_after_being_stored():
    positions, times = clip()
    positions[:, 3] = np.nan
    model = SourceModel.fit(NAMES, positions, times, "translation")
    again, kept = SourceModel.from_arrays(*model.to_arrays()), source_track(model, positions, times)
    np.testing.assert_array_equal(source_track(again, positions, times).features, kept.features)


def test_a_glitch_is_marked_and_taken_out():
    positions, times = clip()
    model = SourceModel.fit(NAMES, positions, times, "all")
    broken = positions.copy()
    broken[40, 2] += 5.0
    found = source_track(model, broken, times)
    assert found.glitches.nonzero()[0].tolist() == [40]
    assert np.abs(found.features - source_track(model, positions, times).features).max() < 0.05


@pytest.mark.parametrize("remove", ["all", "translation"])
def test_what_moves_only_as_a_whole_has_no_pose_that_rounding_tells(rng, remove):
    points, times = rng.normal(size=(48, 3)), np.arange(24) / 24
    moved = (points + np.linspace(0, 1, 24)[:, None, None] * [2.0, 1.0, 0.0]).astype(np.float32).astype(float)
    with pytest.raises(StillError, match="does not move"):
        SourceModel.fit(tuple(map(str, range(48))), moved, times, remove, tracked=False)
