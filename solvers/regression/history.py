"""What came in during the last moments of a live source: bounded, in order, and readable at any time between."""

from __future__ import annotations

from collections import deque

import numpy as np

_MOST = 1000


class History:
    """Samples of the last span seconds and one that is older.

    A sample with the time of the last one replaces it; one with an earlier time begins anew, for then the source was
    set back. The memory is bounded whatever the rate: beyond that the oldest samples go.
    """

    def __init__(self, span: float):
        self.span = span
        self._samples: deque[tuple[float, np.ndarray]] = deque(maxlen=_MOST)

    def __len__(self) -> int:
        return len(self._samples)

    def push(self, value: np.ndarray, time: float) -> None:
        """Take in one sample; time in seconds. The value is kept, not copied."""
        samples = self._samples
        if samples and time < samples[-1][0]:
            samples.clear()
        if samples and time == samples[-1][0]:
            samples.pop()
        samples.append((time, value))
        while len(samples) > 1 and samples[1][0] <= time - self.span:
            samples.popleft()

    def lagged(self) -> tuple[np.ndarray, float]:
        """The value span seconds before the last sample, on the line between samples, and how long ago that was.

        Before there is so much history, the oldest sample.
        """
        samples = self._samples
        newest, (oldest, value) = samples[-1][0], samples[0]
        wanted = max(newest - self.span, oldest)
        if len(samples) > 1 and wanted > oldest:
            after, later = samples[1]
            value = value + (wanted - oldest) / (after - oldest) * (later - value)
        return value, newest - wanted

    def window(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Times (k,) and values of the samples within span of the last one."""
        newest = self._samples[-1][0]
        inside = [(time, value) for time, value in self._samples if newest - time <= self.span]
        return np.array([time for time, _ in inside]), [value for _, value in inside]
