"""Recordings: what was received comes out at a steady rate, gaps stay gaps."""

import numpy as np
import pytest

from streams.errors import StreamError
from streams.frames import Frame
from streams.recorder import Recorder


def frame(number, time, places, sent=None):
    """A frame of name to (x, y, z)."""
    return Frame(number, time, sent, tuple(places), np.array(list(places.values()), float).reshape(-1, 3))


def line(times, sent=None, names=("a", "b")):
    """Joints that move along a line by time (the sender's, if it sends one)."""
    clock = times if sent is None else sent
    places = [{name: (k, clock[row], -2.0 * clock[row]) for k, name in enumerate(names)} for row in range(len(times))]
    return [frame(row + 1, times[row], places[row], None if sent is None else sent[row]) for row in range(len(times))]


def recorded(frames):
    recorder = Recorder()
    recorder.add(frames)
    return recorder


def test_uneven_times_become_even():
    rng = np.random.default_rng(0)
    times = 5.0 + np.sort(np.r_[0.0, 2.0, rng.uniform(0.0, 2.0, 200)])
    recording = recorded(line(times)).resampled(24.0)
    assert recording.names == ("a", "b")
    np.testing.assert_allclose(recording.times, np.arange(49) / 24.0)
    expected = recording.times + 5.0
    np.testing.assert_allclose(recording.positions[:, 1], np.stack([np.ones(49), expected, -2.0 * expected], axis=1))


def test_the_senders_clock_is_used_where_it_makes_sense():
    """Packets that arrive in bursts were still sent evenly; a clock that stands or runs otherwise is not believed."""
    sent = np.arange(100) / 100.0
    bursts = np.ceil(sent * 10.0) / 10.0 + 1e-6 * np.arange(100)
    recording = recorded(line(bursts, sent)).resampled(50.0)
    np.testing.assert_allclose(recording.positions[:, 0, 1], recording.times, atol=1e-9)
    for nonsense in (np.zeros(100), 2.0 * sent, -sent):
        frames = [frame(k + 1, sent[k], {"a": (sent[k], 0, 0)}, nonsense[k]) for k in range(100)]
        recording = recorded(frames).resampled(50)
        np.testing.assert_allclose(recording.positions[:, 0, 0], recording.times, atol=1e-9)


@pytest.mark.parametrize("is_seldom", [False, True])
def test_a_clock_that_is_lost_now_and_then_is_still_used(is_seldom):
    """As any packet may be; where it comes seldom the times of arrival are used."""
    sent = np.arange(100) / 100.0
    late = sent + np.random.default_rng(4).uniform(0.0, 0.004, 100)
    lost = np.arange(100) % 7 == 6
    lost[-1] = True
    clocked = np.arange(100) % 7 == 0 if is_seldom else ~lost
    frames = [frame(k + 1, late[k], {"a": (k, 0, 0)}, sent[k] if clocked[k] else None) for k in range(100)]
    found = recorded(frames).resampled(100.0).positions[:, 0, 0]
    off = np.abs(found - np.arange(len(found)))[clocked[: len(found)]]
    assert (off.max() > 1e-9) == is_seldom


def test_a_short_recording_on_a_busy_computer_has_the_senders_times():
    """The last packet of a tenth of a second comes late by as much."""
    sent = np.arange(4) / 40.0
    recording = recorded(line(sent + [0.0, 0.0, 0.0, 0.09], sent)).resampled(40.0)
    np.testing.assert_allclose(recording.positions[:, 0, 1], sent, atol=1e-9)


def test_joints_that_come_go_and_pause_are_missing_meanwhile():
    frames = []
    for k in range(101):
        places = {"always": (k, 0, 0)}
        if 20 <= k <= 80 and not 40 < k < 70 and k != 30:
            places["at times"] = (k, 0, 0)
        frames.append(frame(k + 1, k / 100.0, places))
    recording = recorded(frames).resampled(100.0)
    assert not np.isnan(recording.positions[:, 0]).any()
    there = ~np.isnan(recording.positions[:, 1, 0])
    expected = np.zeros(101, bool)
    expected[20:41] = expected[70:81] = True
    np.testing.assert_array_equal(there, expected)
    np.testing.assert_allclose(recording.positions[there, 1, 0], np.nonzero(expected)[0])


def test_one_frame_is_a_recording():
    recording = recorded(line(np.array([3.0]))).resampled(24.0)
    assert recording.positions.shape == (1, 2, 3)
    np.testing.assert_allclose(recording.positions[0, 0], [0, 3, -6])


def test_frames_are_taken_once_in_order_and_the_missed_are_counted():
    frames = line(np.arange(1, 11) / 10.0)
    recorder = Recorder(after=0.25)
    recorder.add(frames[:5])
    recorder.add(frames[:5])
    recorder.add(frames[7:])
    assert [frame.number for frame in recorder.frames] == [3, 4, 5, 8, 9, 10]
    assert recorder.missed == 2


def test_memory_names_and_time_have_a_limit(monkeypatch):
    def full(frames, count):
        recorder = recorded(frames)
        assert recorder.is_full and len(recorder.frames) == count
        return recorder

    names = [tuple(f"{k} {i}" for i in range(300)) for k in range(10)]
    full([Frame(k + 1, k / 10.0, None, names[k], np.zeros((300, 3))) for k in range(10)], 3)
    with monkeypatch.context() as patch:
        patch.setattr("streams.recorder.MAX_POINTS", 10)
        full(line(np.arange(100) / 10.0), 5)
    monkeypatch.setattr("streams.recorder.MAX_SECONDS", 2.05)
    assert full(line(np.arange(100) / 10.0), 21).seconds == pytest.approx(2.0)


def test_nothing_to_record_says_so():
    with pytest.raises(StreamError, match="start the sender"):
        Recorder().resampled(24.0)
    for rate in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(StreamError, match="frame rate"):
            recorded(line(np.array([0.0, 1.0]))).resampled(rate)
