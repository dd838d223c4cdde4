"""Packets become frames: where they end, what is counted, and that garbage does no harm."""

import math

import numpy as np
import pytest

from examples.send_clip import bundle, message
from streams import standard_body, vmc
from streams.counts import MAX_KINDS
from streams.frames import CARRIED, HELD, MAX_JOINTS, FrameBuilder

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


def test_a_bundle_or_a_joint_that_comes_again_ends_a_frame():
    frames = fed(bundle(bone("Hips"), bone("Spine")), bundle(bone("Spine")))
    assert [frame.names for frame in frames] == [("Hips", "Spine"), ("Spine",)]
    frames = fed(point("a"), point("b"), point("a"), point("b"), point("a"))
    assert [frame.names for frame in frames] == [("a", "b"), ("a", "b")]
    assert frames[0].names is frames[1].names


def test_frames_in_several_bundles_with_a_mark_stay_whole_and_a_lost_mark_loses_none():
    bundles = [bundle(bone("Hips"), bone("Spine")), bundle(bone("Chest")), bundle(mark(1.0))]
    frames = fed(*bundles * 3)
    assert frames[-1].names == frames[-2].names == ("Hips", "Spine", "Chest")
    bundles = [bundle(bone("Hips")), bundle(bone("Spine")), bundle(mark(1.0))]
    frames = fed(*bundles, *bundles[:2], *bundles)
    assert [frame.names for frame in frames][-2:] == [("Hips", "Spine")] * 2
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


@pytest.mark.parametrize("share, raised", [(0.4, False), (0.6, True)])
def test_hips_without_a_position_are_on_a_root_at_their_height_and_above_a_lower_one(share, raised):
    hips, height = bone("Hips", 0.0, 0.0, *UP[2:]), share * standard_body.HIPS_HEIGHT
    (frame,) = fed(bundle(message(vmc.ROOT, "root", 0.0, height, *UP[2:]), hips))
    assert frame.positions[0, 2] == pytest.approx(height + (0.0 if raised else standard_body.HIPS_HEIGHT))


def test_times_always_grow_and_positions_cannot_be_written():
    builder = FrameBuilder()
    frames = [frame for _ in range(5) for frame in builder.feed(bundle(point("a")), 1.0)]
    assert (np.diff([frame.time for frame in frames]) > 0).all()
    with pytest.raises(ValueError):
        frames[0].positions[0] = 0.0


def test_counts():
    builder = FrameBuilder()
    fed(
        bundle(point("a"), message("/unknown"), *[message("/VMC/Ext/Blend/Val", "A", 1.0)] * 2),
        b"garbage!",
        bone("Hips", 1.0, 2.0),
        bundle(point("a"), point("b", math.nan, 0.0, 0.0)),
        bundle(*[point(f"joint {k}") for k in range(MAX_JOINTS + 1)]),
        builder=builder,
    )
    counts = builder.counts
    assert (counts.received, counts.malformed, counts.dropped, counts.ignored, counts.frames) == (5, 1, 3, 3, 3)
    assert counts.ignored_by == {"/unknown": 1, "/VMC/Ext/Blend/Val": 2}
    assert list(counts.dropped_by.values()) == [1, 1, 1]
    dropped = [(vmc.BONE, "a name and 7 numbers"), (vmc.POINT, "'b' has numbers"), (vmc.POINT, "more than")]
    for found, (address, words) in zip(counts.dropped_by, dropped, strict=True):
        assert found.startswith(f"{address}: ") and words in found


BROKEN = {
    "not a number": bone("Head", *[math.nan] * 7),
    "infinite": bone("Head", 0.0, math.inf, 0.0, 0.0, 0.0, 0.0, 1.0),
    "numbers missing": bone("Head", 1.0, 2.0),
    "a text for a number": message(vmc.BONE, "Head", "1", *UP[1:]),
    "no name": message(vmc.BONE, *UP),
    "an unknown type": bone("Head").replace(b",sf", b",sx"),
    "cut off": bone("Head")[:-4],
    "too long": bone("Head") + bytes(4),
    "not aligned": bone("Head")[:-1],
    "a broken bundle": bundle(bone("Head"))[:10],
    "a broken root": message(vmc.ROOT, "root", math.nan, *UP[1:]),
    "a broken point": message(vmc.POINT, "ball"),
    "no address": b"rubbish\0",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_one_broken_message_leaves_the_others(broken, depth):
    for _ in range(depth):
        broken = bundle(broken)
    builder = FrameBuilder()
    frames = fed(bundle(bone("Hips"), broken, bone("Spine"), mark(1.0)), builder=builder)
    assert [frame.names for frame in frames] == [("Hips", "Spine")]
    np.testing.assert_allclose(frames[0].positions, [[0, 0, 1], [0, 0, 2]])
    assert builder.counts.dropped == sum(builder.counts.dropped_by.values()) == 1
    assert builder.counts.malformed == 0


def test_a_packet_that_is_cut_off_keeps_what_came_and_a_broken_mark_still_ends_its_frame():
    """By itself, so that nothing else could end the frame."""
    data = bundle(bone("Hips"), bone("Spine"), bone("Chest"), mark(1.0))
    builder = FrameBuilder()
    (frame,) = builder.feed(data[: len(data) - 40], 0.0)
    assert frame.names == ("Hips", "Spine")
    assert builder.counts.dropped == 1
    for broken in (mark(math.nan), message(vmc.TIME), message(vmc.TIME, "now"), mark(1.0)[:-4]):
        (frame,) = fed(bone("Hips"), broken)
        assert (frame.names, frame.sent) == (("Hips",), None)


def test_bones_without_tracking_keep_their_place():
    """The quaternion 0 0 0 0, of a bone between others and of the root."""
    untracked = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    builder = FrameBuilder()
    root = message(vmc.ROOT, "root", 0, 0, 0, 0, 0, 0, 0)
    frames = fed(*[bundle(root, bone("Hips"), bone("Spine", *untracked), bone("Chest"))] * 3, builder=builder)
    np.testing.assert_allclose(frames[-1].positions, [[0, 0, 1], [0, 0, 2], [0, 0, 3]])
    assert builder.counts.untracked == {"root": 3, "Spine": 3}
    assert builder.counts.dropped == 0


def test_rotations_without_positions_are_laid_on_a_standard_body():
    builder = FrameBuilder()
    hang = (0.0, 0.0, 0.0, 0.0, 0.0, -math.sin(math.pi / 4), math.cos(math.pi / 4))  # the right arm, from the T-pose
    none = (*[0.0] * 6, 1.0)
    names = ["Hips", "Spine", "Head", "RightUpperArm", "RightLowerArm", "RightHand", "LeftUpperLeg", "LeftFoot", "Tail"]
    sent = [bone(name, *(hang if name == "RightUpperArm" else none)) for name in names]
    (frame,) = fed(bundle(*sent), builder=builder)
    at = dict(zip(frame.names, frame.positions, strict=True))
    for name in ("Hips", "Spine", "Head", "RightUpperArm", "LeftUpperLeg", "LeftFoot"):
        side, up, front = standard_body.REST[name.lower()]
        np.testing.assert_allclose(at[name], [-side, -front, up], atol=1e-12)
    arm = standard_body.REST["righthand"][0] - standard_body.REST["rightupperarm"][0]
    np.testing.assert_allclose(at["RightHand"], at["RightUpperArm"] - [0, 0, arm], atol=1e-12)
    np.testing.assert_allclose(at["Tail"], 0.0)
    assert builder.counts.laid == tuple(names[:-1]) and builder.counts.all_laid


def test_bones_not_sent_are_named_and_one_in_another_case_or_twice_is_the_same_bone():
    builder = FrameBuilder()
    fed(bundle(bone("Hips"), bone("LeftUpperArm"), bone("LeftHand")), builder=builder)
    assert builder.counts.unsent == ("Spine", "LeftLowerArm")
    fed(bundle(*map(bone, ["Hips", "Spine", "LeftUpperArm", "LeftLowerArm", "LeftHand"])), builder=builder)
    assert builder.counts.unsent == ()
    frames = fed(bundle(bone("hips"), bone("spine"), mark(1.0)), bundle(bone("Hips"), bone("Spine"), mark(2.0)))
    assert [frame.names for frame in frames] == [("hips", "spine")] * 2
    frames = fed(bundle(point("hips"), point("Hips"), bone("tail"), bone("Tail")))
    assert frames[0].names == ("hips", "Hips", "tail", "Tail")
    builder = FrameBuilder()
    (frame,) = fed(bundle(bone("Hips"), bone("Spine"), bone("Hips", 0.0, 5.0, 0.0, *UP[3:])), builder=builder)
    np.testing.assert_allclose(frame.positions, [[0, 0, 5], [0, 0, 6]])
    assert builder.counts.dropped == 1


def test_bones_that_are_not_sent_for_a_while_move_with_their_parents():
    """A sender that sends only what changes: the hips move, and nothing else is sent."""
    builder = FrameBuilder()
    builder.feed(bundle(bone("Hips"), bone("Spine"), bone("Tail")), 0.0)
    moved = bone("Hips", 0.0, 3.0, 0.0, *UP[3:])
    (soon,) = builder.feed(bundle(moved), 0.5 * CARRIED)
    (later,) = builder.feed(bundle(moved), 2.0 * CARRIED)
    (gone,) = builder.feed(bundle(moved), 2.0 * HELD)
    assert (soon.names, later.names, gone.names) == (("Hips",), ("Hips", "Spine"), ("Hips",))
    np.testing.assert_allclose(later.positions, [[0, 0, 3], [0, 0, 4]])
    root = message(vmc.ROOT, "root", 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    builder.feed(bundle(bone("Hips"), bone("Tail")), 2.5 * HELD)
    (carried,) = builder.feed(bundle(root, bone("Hips")), 3.0 * HELD)
    assert carried.names == ("Hips", "Tail")
    np.testing.assert_allclose(carried.positions[:, 0], [-2, -2])


def test_a_joint_may_have_the_name_of_the_root_or_of_a_bone_before():
    for name in (vmc.ROOT, "root", "Root"):
        (frame,) = fed(bundle(point(name), bone("Hips"), message(vmc.ROOT, name, 5.0, *UP[1:])))
        assert frame.names == (name, "Hips")
        np.testing.assert_allclose(frame.positions, [[1, 2, 3], [-5, 0, 2]])
    builder = FrameBuilder()
    builder.feed(bundle(bone("a")), 0.0)
    (frame,) = builder.feed(bundle(point("a"), bone("b")), 0.01)
    np.testing.assert_allclose(frame.positions, [[1, 2, 3], [0, 0, 1]])


def test_of_two_programs_that_send_the_same_joints_the_first_is_taken():
    """Both go on, by turns. What only the second sends is taken from it; it is followed when the first is silent."""
    builder = FrameBuilder()
    first = bundle(point("a", 1.0, 0.0, 0.0), mark(1.0))
    second = [bundle(point("a", 2.0, 0.0, 0.0), point("b")), mark(9.0)]
    for k in range(20):
        builder.feed(first, 0.01 * k, "one")
        for packet in second:
            last = builder.feed(packet, 0.01 * k + 0.005, "two")
    assert [frame.names for frame in last] == [("b",)]
    (frame,) = builder.feed(first, 0.3, "one")
    np.testing.assert_allclose(frame.positions, [[1, 0, 0]])
    assert set(builder.counts.rivals) == {"two"}
    (frame,) = builder.feed(second[0], 2.0, "two")
    np.testing.assert_allclose(frame.positions[0], [2, 0, 0])


def test_one_program_that_sends_from_another_port_each_time_is_followed():
    builder = FrameBuilder()
    frames = [builder.feed(bundle(point("a"), mark(1.0)), 0.01 * k, f"port {k}") for k in range(300)]
    assert all(frames) and not builder.counts.rivals


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
    frames, count = [], 2000
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
    assert counts.malformed > count // 5 and counts.dropped > count // 5
    assert all(len(table) <= MAX_KINDS + 1 for table in (counts.ignored_by, counts.dropped_by, counts.untracked))
    assert all(np.isfinite(frame.positions).all() for frame in frames)
    last = builder.feed(good, 100.0)[-1]
    assert last.names == ("Hips", "Spine", "ball")
    np.testing.assert_allclose(last.positions, [[0, 0, 1], [0, 0, 2], [1, 2, 3]])
