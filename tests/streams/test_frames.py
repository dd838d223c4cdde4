"""Packets become frames: where they end, what is counted, and that garbage does no harm."""

from __future__ import annotations

import math

import numpy as np
import pytest

from examples.send_clip import bundle, message
from streams import vmc
from streams.frames import HELD, MAX_JOINTS, FrameBuilder

UP = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def bone(name, *values):
    return message(vmc.BONE, name, *(values or UP))


def point(name, *place):
    return message(vmc.POINT, name, *(place or (1.0, 2.0, 3.0)))


def fed(*packets, step=0.01, builder=None):
    """The frames that packets make, one packet a step of time."""
    builder = builder or FrameBuilder()
    return [frame for k, packet in enumerate(packets) for frame in builder.feed(packet, k * step)]


def mark(seconds):
    return message(vmc.TIME, seconds)


def test_a_mark_ends_a_frame():
    frames = fed(bone("Hips"), bone("Spine"), mark(4.5), bone("Hips"), message(vmc.OK, 1.0))
    assert [frame.names for frame in frames] == [("Hips", "Spine"), ("Hips",)]
    assert [frame.sent for frame in frames] == [4.5, None]
    assert [frame.number for frame in frames] == [1, 2]
    np.testing.assert_allclose(frames[0].positions, [[0, 0, 1], [0, 0, 2]])


def test_a_bundle_ends_a_frame():
    frames = fed(bundle(bone("Hips"), bone("Spine")), bundle(bone("Spine")))
    assert [frame.names for frame in frames] == [("Hips", "Spine"), ("Spine",)]


def test_a_joint_that_comes_again_ends_a_frame():
    frames = fed(point("a"), point("b"), point("a"), point("b"), point("a"))
    assert [frame.names for frame in frames] == [("a", "b"), ("a", "b")]
    assert frames[0].names is frames[1].names


def test_frames_in_several_bundles_with_a_mark_stay_whole():
    bundles = [bundle(bone("Hips"), bone("Spine")), bundle(bone("Chest")), bundle(mark(1.0))]
    frames = fed(*bundles * 3)
    assert frames[-1].names == frames[-2].names == ("Hips", "Spine", "Chest")


def test_a_lost_mark_does_not_lose_a_frame():
    bundles = [bundle(bone("Hips")), bundle(bone("Spine")), bundle(mark(1.0))]
    frames = fed(*bundles, *bundles[:2], *bundles)
    assert [frame.names for frame in frames][-2:] == [("Hips", "Spine")] * 2


def test_marks_that_end_nothing_make_no_frames():
    assert not fed(mark(1.0), message(vmc.OK, 1.0), bundle(mark(1.0)), bundle(), bundle(message("/other")))


def test_a_parent_in_another_bundle_still_moves_its_children():
    """Without marks each bundle is a frame of its own; the hips of the one before carry the spine."""
    builder = FrameBuilder()
    builder.feed(bundle(bone("Hips")), 0.0)
    (soon,) = builder.feed(bundle(bone("Spine")), 0.9 * HELD)
    (late,) = builder.feed(bundle(bone("Spine")), 3.0 * HELD)
    assert (soon.names, late.names) == (("Spine",), ("Spine",))
    assert (soon.positions[0, 2], late.positions[0, 2]) == (2.0, 1.0)


def test_bones_points_and_root_together():
    root = message(vmc.ROOT, "root", 0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    (frame,) = fed(bundle(root, bone("Hips"), point("ball", 1.0, 2.0, 3.0), bone("Spine")))
    assert frame.names == ("Hips", "ball", "Spine")
    np.testing.assert_allclose(frame.positions, [[0, 0, 11], [1, 2, 3], [0, 0, 12]])


def test_times_always_grow_and_positions_cannot_be_written():
    builder = FrameBuilder()
    frames = [frame for _ in range(5) for frame in builder.feed(bundle(point("a")), 1.0)]
    assert (np.diff([frame.time for frame in frames]) > 0).all()
    with pytest.raises(ValueError):
        frames[0].positions[0] = 0.0


def test_counts():
    builder = FrameBuilder()
    fed(
        bundle(point("a"), message("/unknown"), message("/VMC/Ext/Blend/Val", "A", 1.0)),
        b"garbage!",
        bone("Hips", 1.0, 2.0),
        bundle(point("a"), point("b", math.nan, 0.0, 0.0)),
        bundle(*[point(f"joint {k}") for k in range(MAX_JOINTS + 1)]),
        builder=builder,
    )
    counts = builder.counts
    assert (counts.received, counts.malformed, counts.dropped, counts.ignored, counts.frames) == (5, 2, 2, 2, 1)


def test_a_packet_with_one_fault_is_dropped_whole():
    builder = FrameBuilder()
    (before,) = builder.feed(bundle(point("a")), 0.0)
    assert not builder.feed(bundle(point("a", 9.0, 9.0, 9.0), point("b", math.inf, 0.0, 0.0)), 0.1)
    (after,) = builder.feed(bundle(point("a")), 0.2)
    assert after.names == before.names


def test_joints_held_and_pending_have_a_limit():
    """New names in every packet, never ended by a mark."""
    builder = FrameBuilder()
    for k in range(MAX_JOINTS + 500):
        builder.feed(bone(f"bone {k}"), 0.0)
    assert len(builder._pending) == MAX_JOINTS
    assert builder.counts.dropped == 500
    builder.feed(mark(1.0), 0.0)
    for k in range(3):
        names = [f"more {k} {number}" for number in range(500)]
        builder.feed(bundle(*map(bone, names), mark(1.0)), 0.01 * k)
        assert len(builder._bones) <= MAX_JOINTS


def test_garbage_and_mutated_packets_do_no_harm():
    """What is left of the damaged packets are frames of finite numbers; a good one afterwards comes out right."""
    rng = np.random.default_rng(2)
    builder = FrameBuilder()
    good = bundle(bone("Hips"), bundle(bone("Spine"), point("ball")), mark(1.0))
    frames, count = [], 4000
    for k in range(count):
        data = bytearray(good)
        kind = k % 4
        if kind == 0:
            data = rng.bytes(rng.integers(0, 300))
        elif kind == 1:
            for place in rng.integers(0, len(data), rng.integers(1, 6)):
                data[place] = rng.integers(256)
        elif kind == 2:
            data = data[: rng.integers(len(data))]
        else:
            place = rng.integers(len(data))
            data = data[:place] + rng.bytes(4 * rng.integers(1, 5)) + data[place:]
        frames += builder.feed(bytes(data), 0.001 * k)
    counts = builder.counts
    assert counts.received == count
    assert counts.malformed > count // 2
    assert all(np.isfinite(frame.positions).all() for frame in frames)
    last = builder.feed(good, 100.0)[-1]
    assert last.names == ("Hips", "Spine", "ball")
    np.testing.assert_allclose(last.positions, [[0, 0, 1], [0, 0, 2], [1, 2, 3]])
