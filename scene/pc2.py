"""PC2 point caches: vertices over time in a file, as the Mesh Cache modifier plays them.

Layout, little-endian: "POINTCACHE2" and a zero byte, version 1 (int32), points a sample (int32), first frame (float32),
frames from sample to sample (float32), number of samples (int32), then x, y, z of each point as float32.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..solvers.core.errors import InputError, OutputError
from .whole_file import Destination, destination

WAY_OUT = "choose a folder for the cache that can be written, on a disk with space"
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
    expected = size_of(points, samples)
    if size != expected:
        raise InputError(f"'{path}' has {size} bytes where its header promises {expected}; bake it again.")
    data = np.memmap(path, "<f4", "r", _HEADER.size, (samples, points, 3))
    return Pc2(data, start, rate)


def size_of(vertex_count: int, sample_count: int) -> int:
    """Bytes of a whole cache."""
    return _HEADER.size + 12 * vertex_count * sample_count


@contextlib.contextmanager
def writing(
    path: str | os.PathLike | Destination, vertex_count: int, sample_count: int, start: float, rate: float
) -> Iterator[Pc2Writer]:
    """Write a cache sample by sample; the file appears in its place, whole, when the context ends well.

        with pc2.writing(path, vertex_count=V, sample_count=F, start=1.0, rate=1.0) as writer:
            writer.write(vertices)  # (n, V, 3), any number of times

    path: a name, or a place that was reserved.
    Raises OutputError for a place that cannot be written, a wrong number of samples and points that are not numbers;
    nothing is left behind then.
    """
    place = path if isinstance(path, Destination) else destination(path, WAY_OUT)
    byte_count = size_of(vertex_count, sample_count)
    with place.part(byte_count) as part, part.open("wb") as file:
        file.write(_HEADER.pack(_MAGIC, _VERSION, vertex_count, start, rate, sample_count))
        writer = Pc2Writer(file, place.path.name, vertex_count, byte_count)
        yield writer
        if writer.written != sample_count:
            raise OutputError(f"'{writer.name}' got {writer.written} of its {sample_count} samples.")


class Pc2Writer:
    """Appends samples to an open cache.  name: of the file.  byte_count: size of the whole file."""

    def __init__(self, file: BinaryIO, name: str, vertex_count: int, byte_count: int):
        self.name, self.vertex_count, self.byte_count = name, vertex_count, byte_count
        self.written = 0
        self._file = file

    def write(self, points: np.ndarray) -> None:
        """Append samples (n, V, 3)."""
        points = np.ascontiguousarray(points, "<f4")
        if points.ndim != 3 or points.shape[1:] != (self.vertex_count, 3):
            raise OutputError(f"Samples of shape {points.shape} do not fit a cache of {self.vertex_count} points.")
        bad = ~np.isfinite(points).all(axis=(1, 2))
        if bad.any():
            raise OutputError(
                f"Sample {self.written + int(bad.argmax()) + 1} of '{self.name}' has points that are not numbers; "
                "nothing is written."
            )
        self._file.write(points)
        self.written += len(points)
