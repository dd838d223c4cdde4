import os

import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import pc2
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError

from tests import limits
from tests.pc2_file import read

POINTS = np.random.default_rng(0).normal(size=(5, 7, 3)).astype(np.float32)


def write(path, points=POINTS, samples=5, **kwargs):
    with pc2.writing(path, points.shape[1], samples, **{"start": 3.0, "rate": 0.5} | kwargs) as writer:
        writer.write(points[:2])
        writer.write(points[2:])
    return writer


def test_written_and_read_again(tmp_path):
    writer = write(tmp_path / "a.pc2")
    head, points = read(tmp_path / "a.pc2")
    np.testing.assert_array_equal(points, POINTS)
    assert (head["start"], head["rate"]) == (3.0, 0.5)
    assert writer.byte_count == (tmp_path / "a.pc2").stat().st_size
    assert os.listdir(tmp_path) == ["a.pc2"]


def test_failures_leave_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.pc2"
    path.write_bytes(b"old")
    with pytest.raises(OutputError, match="got 5 of its 6"):
        write(path, samples=6)
    with pytest.raises(OutputError, match="Sample 4 .* not numbers"):
        bad = POINTS.copy()
        bad[3, 2] = np.nan
        write(path, bad)
    with pytest.raises(OutputError, match="do not fit"), pc2.writing(path, 7, 5, 0, 1) as writer:
        writer.write(POINTS[:, :3])
    with pytest.raises(KeyboardInterrupt), pc2.writing(path, 7, 5, 0, 1):
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.pc2"]


def test_a_full_disk(tmp_path):
    path = tmp_path / "a.pc2"
    path.write_bytes(b"old")
    big = np.zeros((5, 100000, 3), np.float32)
    with limits.largest_file(50_000), pytest.raises(OutputError, match="cannot be written: .*disk with space"):
        write(path, big)
    with limits.largest_file(50), pytest.raises(OutputError, match="cannot be written: .*disk with space"):
        write(path)  # what a small cache writes fails only when it is closed
    with pytest.raises(OutputError, match="the disk has .*disk with space"), pc2.writing(path, 10**9, 10**6, 0, 1):
        pass
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.pc2"]
