"""PC2 point caches: vertices over time in a file, as the Mesh Cache modifier plays them.

Layout, little-endian: "POINTCACHE2" and a zero byte, version 1 (int32), points a sample (int32), first frame (float32),
frames from sample to sample (float32), number of samples (int32), then x, y, z of each point as float32.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from ..solvers.core.errors import OutputError
from .whole_file import Destination, destination

WAY_OUT = "choose a folder for the cache that can be written, on a disk with space"
_HEADER = struct.Struct("<12siiffi")
_MAGIC, _VERSION = b"POINTCACHE2\0", 1


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
