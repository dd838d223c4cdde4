"""Frames of a stream kept and brought to a steady frame rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .errors import StreamError
from .frames import MAX_JOINTS, Frame
from .listener import Listener

MAX_POINTS = 5_000_000  # frames times joints: over ten minutes of 60 joints at 120 frames a second
MAX_SECONDS = 3600.0
LONGEST_GAP = 0.25  # seconds bridged by a straight line
_CLOCKS_AGREE = 0.1  # relative difference of what both clocks say of the whole duration
_DELAY = 0.1  # seconds that a packet may come late on a busy computer, so that a short duration seems another


@dataclass(frozen=True)
class Recording:
    """names: J joints.  positions: (F, J, 3) world, metres, Z up, NaN where a joint is missing.
    times: (F,) seconds, the first 0, at a steady rate."""

    names: tuple[str, ...]
    positions: np.ndarray
    times: np.ndarray


class Recorder:
    """Collects the frames of one listening, from start to stop, in the order they came.

    after: only frames that came later are taken, in seconds since the start.  missed: frames that the listener let go
    before they were added.
    """

    def __init__(self, after: float = -np.inf) -> None:
        self.frames: list[Frame] = []
        self.missed = 0
        self.is_full = False  # nothing more is taken
        self._after = after
        self._names: set[str] = set()

    def add(self, frames: Iterable[Frame]) -> None:
        """Take frames newer than those taken before, until full."""
        for frame in frames:
            if self.is_full or frame.time <= self._after:
                continue
            if not self._has_room(frame):
                self.is_full = True
                return
            if self.frames:
                self.missed += frame.number - self.frames[-1].number - 1
            self.frames.append(frame)
            self._after = frame.time

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return self.frames[-1].time - self.frames[0].time if self.frames else 0.0

    def _has_room(self, frame: Frame) -> bool:
        """Whether a frame can be taken; its names are from then on among those to be kept."""
        names = self._names.union(frame.names)
        began = self.frames[0].time if self.frames else frame.time
        if frame.time - began > MAX_SECONDS or len(names) > MAX_JOINTS:
            return False
        self._names = names
        return len(names) * (len(self.frames) + 1) <= MAX_POINTS

    def poll(self, listener: Listener) -> None:
        """Take what a listener has received since the last call."""
        self.add(listener.since(self._after))

    def resampled(self, rate: float) -> Recording:
        """All frames at ``rate`` frames a second, by straight lines between those received.

        Times are the sender's where it sends them and they make sense, else those of arrival. A joint is missing before
        it first came, after it last came, and in gaps longer than ``LONGEST_GAP``.
        Raises StreamError where nothing was recorded or the rate is not positive.
        """
        if not self.frames:
            raise StreamError("Nothing was received, so there is nothing to record; start the sender first.")
        if not 0.0 < rate < np.inf:
            raise StreamError(f"A recording needs a frame rate above zero, not {rate}.")
        names, positions = _stacked(self.frames)
        came = _times(self.frames)
        times = np.arange(int(np.floor(came[-1] * rate + 1e-6)) + 1) / rate
        out = np.full((len(times), len(names), 3), np.nan)
        for joint in range(len(names)):
            there = ~np.isnan(positions[:, joint, 0])
            out[:, joint] = _interpolated(times, came[there], positions[there, joint])
        return Recording(names, out, times)


def _stacked(frames: list[Frame]) -> tuple[tuple[str, ...], np.ndarray]:
    """All names in the order they came, and (F, J, 3) with NaN for joints that a frame lacks."""
    columns = {name: k for k, name in enumerate(dict.fromkeys(name for frame in frames for name in frame.names))}
    out = np.full((len(frames), len(columns), 3), np.nan)
    layouts: dict[tuple[str, ...], list[int]] = {}
    for row, frame in enumerate(frames):
        layouts.setdefault(frame.names, []).append(row)
    for names, rows in layouts.items():
        taken = np.array([columns[name] for name in names])
        out[np.ix_(rows, taken)] = np.array([frames[row].positions for row in rows])
    return tuple(columns), out


def _times(frames: list[Frame]) -> np.ndarray:
    """(F,) seconds from the first frame, growing."""
    came = np.array([frame.time for frame in frames])
    came -= came[0]
    sent = np.array([np.nan if frame.sent is None else frame.sent for frame in frames])
    marked = np.isfinite(sent)
    if len(frames) < 2 or 2 * marked.sum() < len(frames):
        return came
    # The clock of a frame may be lost on the way, as any packet: there the delay is that of the frames beside it.
    sent = np.where(marked, sent, came + np.interp(came, came[marked], (sent - came)[marked]))
    sent -= sent[0]
    sound = (np.diff(sent) > 0.0).all() and abs(sent[-1] - came[-1]) <= _CLOCKS_AGREE * came[-1] + _DELAY
    return sent if sound else came


def _interpolated(times: np.ndarray, came: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(F, 3) at times (F,) of places (N, 3) at came (N,)."""
    out = np.stack([np.interp(times, came, axis, left=np.nan, right=np.nan) for axis in places.T], axis=1)
    after = np.clip(np.searchsorted(came, times), 1, len(came) - 1) if len(came) > 1 else np.zeros(len(times), int)
    before = np.maximum(after - 1, 0)
    inside = np.minimum(times - came[before], came[after] - times) > 1e-9
    out[inside & (came[after] - came[before] > LONGEST_GAP)] = np.nan
    return out
