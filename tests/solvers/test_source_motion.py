"""Points to features and ground motion: the whole way from a clip, and frame by frame."""

import numpy as np
import pytest

from solvers.errors import InputError
from solvers.source_motion import SourceModel, SourceStream, source_track

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
    again = SourceModel.from_arrays(*model.to_arrays())
    np.testing.assert_array_equal(
        source_track(again, positions, times).features, source_track(model, positions, times).features
    )


def test_points_in_another_order_with_others_between():
    positions, times = clip()
    positions[:, 2] = np.nan
    model = SourceModel.fit(NAMES, positions, times, "all")
    order = [4, 1, 0, 6, 5, 3]
    more = np.concatenate((np.full((90, 1, 3), 9.0), positions[:, order]), axis=1)
    other = model.reordered(("stranger", *(NAMES[k] for k in order)))
    found, wanted = source_track(other, more, times), source_track(model, positions, times)
    np.testing.assert_allclose(found.translation, wanted.translation, atol=1e-9)
    columns = [k for k in order if k != 2]
    place = [sorted(columns).index(k) for k in columns]
    shape = (90, 2, 6, 3)
    wanted_rows = wanted.features[:, :-1].reshape(shape)[:, :, place]
    np.testing.assert_allclose(found.features[:, :-1].reshape(shape), wanted_rows, atol=1e-9)
    with pytest.raises(InputError, match="no point 'joint 5'"):
        model.reordered(tuple(name for name in NAMES if name != "joint 5"))


def test_a_glitch_is_marked_and_taken_out():
    positions, times = clip()
    model = SourceModel.fit(NAMES, positions, times, "all")
    broken = positions.copy()
    broken[40, 2] += 5.0
    found = source_track(model, broken, times)
    assert found.glitches.nonzero()[0].tolist() == [40]
    assert np.abs(found.features - source_track(model, positions, times).features).max() < 0.05
