"""The sender under examples/: its clips arrive as they are."""

import math
import time

import numpy as np
import pytest

from examples import send_clip
from streams.frames import Frame
from streams.listener import Listener

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  End Site
  {
    OFFSET 0 100 0
  }
}
MOTION
Frames: 3
Frame Time: 0.05
0 100 0 0 0 0
100 100 0 0 0 0
200 100 0 90 0 0
"""


def replayed(count, *words) -> list[Frame]:
    """The frames of a clip of that many, sent by the command line."""
    listener = Listener(port=0)
    listener.start()
    try:
        assert send_clip.main([*map(str, words), "--port", str(listener.port)]) == 0
        end = time.monotonic() + 10.0
        while listener.counts().received < count and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        listener.stop()
    frames = listener.since(-math.inf)
    assert len(frames) == count
    return frames


def test_a_bvh_file_arrives_in_metres_z_up(tmp_path):
    (tmp_path / "clip.bvh").write_text(BVH)
    frames = replayed(3, tmp_path / "clip.bvh")
    assert {frame.names for frame in frames} == {("Hips", "Hips/tail")}
    np.testing.assert_allclose([frame.sent for frame in frames], [0.0, 0.05, 0.1], atol=1e-6)
    np.testing.assert_allclose([frame.positions[0] for frame in frames], [[0, 0, 1], [1, 0, 1], [2, 0, 1]], atol=1e-6)
    np.testing.assert_allclose([frame.positions[1] for frame in frames], [[0, 0, 2], [1, 0, 2], [1, 0, 1]], atol=1e-6)


def test_an_npz_arrives_at_another_rate_without_its_gaps(tmp_path):
    positions = np.random.default_rng(0).normal(size=(11, 3, 3))
    positions[:, 1] = np.nan
    np.savez(tmp_path / "clip.npz", positions=positions, names=["a", "b", "c"], fps=50.0)
    frames = replayed(21, tmp_path / "clip.npz", "--rate", 100)
    assert {frame.names for frame in frames} == {("a", "c")}
    np.testing.assert_allclose([frame.sent for frame in frames], np.arange(21) / 100.0, atol=1e-6)
    arrived = np.array([frame.positions for frame in frames])
    np.testing.assert_allclose(arrived[::2], positions[:, [0, 2]], atol=1e-5)
    np.testing.assert_allclose(arrived[1::2], 0.5 * (positions[:-1] + positions[1:])[:, [0, 2]], atol=1e-5)


def test_a_frame_too_large_for_a_packet_comes_in_several():
    names = [f"joint {k}" for k in range(900)]
    packets = send_clip.packets(names, np.ones((900, 3)), 1.0)
    assert len(packets) > 1
    assert max(map(len, packets)) <= send_clip.LARGEST + 16
    assert sum(packet.count(b"/motion_loom/point") for packet in packets) == 900


@pytest.mark.parametrize("wrong", ["missing.npz", "missing.bvh", "odd.npz", "odd.bvh", "unnamed.npz"])
def test_a_clip_that_cannot_be_sent_is_named(tmp_path, capsys, wrong):
    np.savez(tmp_path / "odd.npz", positions=np.zeros((3, 2, 3)), names=["only one"])
    np.savez(tmp_path / "unnamed.npz", positions=np.zeros((3, 2, 3)))
    (tmp_path / "odd.bvh").write_text("no motion")
    assert send_clip.main([str(tmp_path / wrong)]) == 1
    error = capsys.readouterr().err
    assert wrong in error
    if wrong == "unnamed.npz":
        assert "has no 'names'; an .npz needs names (J,) and positions (F, J, 3)" in error


def test_goes_round_when_asked():
    moments = send_clip.frames(np.arange(6.0).reshape(2, 1, 3), 10.0, 10.0, loop=True)
    assert [next(moments)[0, 0] for _ in range(5)] == [0, 3, 0, 3, 0]
    assert math.isclose(len(list(send_clip.frames(np.zeros((11, 1, 3)), 10.0, 40.0, loop=False))), 41)
