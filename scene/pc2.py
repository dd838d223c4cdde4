"""PC2 point caches: vertices over time in a file, as the Mesh Cache modifier plays them.

Layout, little-endian: "POINTCACHE2" and a zero byte, version 1 (int32), points a sample (int32), first frame (float32),
frames from sample to sample (float32), number of samples (int32), then x, y, z of each point as float32.
"""

from __future__ import annotations

import os
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..solvers.errors import InputError, OutputError

_HEADER = struct.Struct("<12siiffi")
_MAGIC, _VERSION = b"POINTCACHE2\0", 1


@dataclass(frozen=True)
class Pc2:
    """points: (F, V, 3) float32, mapped from the file.  start: first frame.  rate: frames from sample to sample."""

    points: np.ndarray
    start: float
    rate: float


def read(path: str | os.PathLike) -> Pc2:
    """Open a cache; raises InputError for a file that cannot be read, is no PC2 cache or is not as long as it says."""
    path = Path(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError as error:
        raise InputError(f"The point cache '{path}' cannot be read: {error.strerror}.") from error
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        raise InputError(f"'{path}' is not a PC2 point cache.")
    _, version, points, start, rate, samples = _HEADER.unpack(head)
    if version != _VERSION:
        raise InputError(f"'{path}' is a PC2 cache of version {version}; only version {_VERSION} can be read.")
    if points < 1 or samples < 1 or not np.isfinite([start, rate]).all() or rate <= 0.0:
        raise InputError(f"'{path}' has a damaged header: {points} points, {samples} samples, rate {rate:g}.")
    expected = _HEADER.size + 12 * points * samples
    if size != expected:
        raise InputError(f"'{path}' has {size} bytes where its header promises {expected}; bake it again.")
    data = np.memmap(path, "<f4", "r", _HEADER.size, (samples, points, 3))
    return Pc2(data, start, rate)


class Pc2Writer:
    """Writes a cache sample by sample, beside its place; the file appears there whole when the context ends well.

        with Pc2Writer(path, vertex_count=V, sample_count=F, start=1.0, rate=1.0) as writer:
            writer.write(vertices)  # (n, V, 3), any number of times

    Raises OutputError for a place that cannot be written, a wrong number of samples and points that are not numbers;
    nothing is left behind then.
    """

    def __init__(self, path: str | os.PathLike, vertex_count: int, sample_count: int, start: float, rate: float):
        self.path = Path(path)
        self.vertex_count, self.sample_count = vertex_count, sample_count
        self.written = 0
        self._start = start
        self._rate = rate

    @property
    def byte_count(self) -> int:
        """Size of the whole file."""
        return _HEADER.size + 12 * self.vertex_count * self.sample_count

    def __enter__(self) -> Pc2Writer:
        try:
            handle, name = tempfile.mkstemp(prefix=".", suffix=".pc2.part", dir=self.path.parent)
        except OSError as error:
            raise self._refused(error) from error
        self._part, self._file = Path(name), os.fdopen(handle, "wb")
        try:
            self._put(_HEADER.pack(_MAGIC, _VERSION, self.vertex_count, self._start, self._rate, self.sample_count))
        except OutputError:
            self._abandon()
            raise
        return self

    def write(self, points: np.ndarray) -> None:
        """Append samples (n, V, 3)."""
        points = np.ascontiguousarray(points, "<f4")
        if points.ndim != 3 or points.shape[1:] != (self.vertex_count, 3):
            raise OutputError(f"Samples of shape {points.shape} do not fit a cache of {self.vertex_count} points.")
        bad = ~np.isfinite(points).all(axis=(1, 2))
        if bad.any():
            raise OutputError(
                f"Sample {self.written + int(bad.argmax()) + 1} of '{self.path.name}' has points that are not numbers; "
                "nothing is written."
            )
        self._put(points)
        self.written += len(points)

    def __exit__(self, kind, error, trace) -> None:
        if kind is not None:
            self._abandon()
            return
        try:
            if self.written != self.sample_count:
                raise OutputError(f"'{self.path.name}' got {self.written} of its {self.sample_count} samples.")
            self._file.close()
            os.chmod(self._part, 0o666 & ~_umask())
            os.replace(self._part, self.path)
        except OSError as problem:
            self._abandon()
            raise self._refused(problem) from problem
        except OutputError:
            self._abandon()
            raise

    def _put(self, data) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise self._refused(error) from error

    def _abandon(self) -> None:
        try:
            self._file.close()
        except OSError:  # what is left in the buffer does not fit on the disk either
            pass
        self._part.unlink(missing_ok=True)

    def _refused(self, error: OSError) -> OutputError:
        return OutputError(
            f"The point cache '{self.path}' cannot be written: {error.strerror}. Choose a folder that can be written, "
            "on a disk with space."
        )


def _umask() -> int:
    """The mode bits that new files go without."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
