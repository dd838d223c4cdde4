"""The reader of packets: every type, every limit, and garbage."""

import math
import struct

import pytest

from examples.send_clip import bundle, message, text
from streams import osc


def nested(depth: int, inner: bytes = b"") -> bytes:
    for _ in range(depth):
        inner = bundle(inner) if inner else bundle()
    return inner


def blob(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data + bytes(-len(data) % 4)


def test_reads_every_type():
    data = text("/all/types") + text(",ifsbhdtTFNI") + struct.pack(">if", -7, 0.5) + text("Hüfte") + blob(b"abcde")
    data += struct.pack(">qdQ", -(1 << 40), 0.1, 1 << 63)
    packet = osc.parse(data)
    assert not packet.is_bundle
    (found,) = packet.messages
    assert (found.address, found.tags) == ("/all/types", "ifsbhdtTFNI")
    assert found.arguments == (-7, 0.5, "Hüfte", b"abcde", -(1 << 40), 0.1, 1 << 63, True, False, None, math.inf)


@pytest.mark.parametrize("length", range(9))
def test_texts_and_blobs_of_every_length(length):
    data = text("/a") + text(",sb") + text("x" * length) + blob(b"y" * length)
    assert osc.parse(data).messages[0].arguments == ("x" * length, b"y" * length)


def addresses(packet):
    return [found.address for found in packet.messages]


def test_bundles_keep_the_order_within_bundles_and_depth_has_a_limit():
    packet = osc.parse(bundle(message("/a", 1.0), bundle(message("/b"), bundle(), message("/c", "x")), message("/d")))
    assert packet.is_bundle and addresses(packet) == ["/a", "/b", "/c", "/d"]
    inner = message("/a")
    assert osc.parse(nested(osc.MAX_DEPTH, inner)).messages
    beside = osc.parse(bundle(nested(osc.MAX_DEPTH, inner), message("/b")))
    assert addresses(beside) == ["/b"] and len(beside.faults) == 1


GOOD = bundle(message("/VMC/Ext/Bone/Pos", "Hips", *[0.25] * 7), message("/b", "text", 1.0), bundle(message("/c", 1.0)))
BAD = {
    "nothing": b"",
    "no address": text("a") + text(","),
    "a space in the address": text("/a b") + text(","),
    "control characters in the address": text("/a\n") + text(","),
    "no tags": text("/a"),
    "tags without a comma": text("/a") + text("f") + bytes(4),
    "an unknown type": text("/a") + text(",r") + bytes(4),
    "an array": text("/a") + text(",[f]") + bytes(4),
    "arguments missing": text("/a") + text(",ff") + bytes(4),
    "arguments left over": text("/a") + text(",f") + bytes(8),
    "padding that is not zero": b"/a\0x" + text(","),
    "text without an end": text("/a") + text(",s") + b"abcd",
    "text that is not UTF-8": text("/a") + text(",s") + b"\xff\xfe\0\0",
    "a blob too large": text("/a") + text(",b") + struct.pack(">i", 100) + bytes(8),
    "a blob of negative size": text("/a") + text(",b") + struct.pack(">i", -4) + bytes(8),
    "a blob padded wrongly": text("/a") + text(",b") + struct.pack(">i", 1) + b"aaaa",
    "a size not divisible by four": message("/a") + b"\0",
    "a bundle without a time tag": b"#bundle\0",
    "an element larger than its bundle": b"#bundle\0" + bytes(8) + struct.pack(">i", 400) + message("/a"),
    "an element of negative size": b"#bundle\0" + bytes(8) + struct.pack(">i", -8) + message("/a"),
    "an empty element": b"#bundle\0" + bytes(8) + struct.pack(">i", 0),
    "too many arguments": text("/a") + text("," + "T" * (osc.MAX_ARGUMENTS + 1)),
    "too large": text("/a") + text(",b") + blob(bytes(osc.MAX_BYTES)),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_nothing_sound_is_in_it(data):
    packet = osc.parse(data)
    assert not packet.messages
    assert packet.faults and all(fault.reason for fault in packet.faults)


@pytest.mark.parametrize("data", list(filter(None, BAD.values())), ids=list(filter(BAD.get, BAD)))
def test_a_broken_message_leaves_those_beside_it(data):
    """In a bundle, and in a bundle within one: a fault costs the message that has it and no other."""
    data = data[: osc.MAX_BYTES - 100]
    before, after = message("/before", 1.0), message("/after", 2.0)
    for packet in (bundle(before, data, after), bundle(before, bundle(data), after)):
        assert addresses(osc.parse(packet)) == ["/before", "/after"]


def test_faults_name_the_address_where_it_can_be_read_and_have_a_limit():
    broken = text("/VMC/Ext/Bone/Pos") + text(",f")
    packet = osc.parse(bundle(broken, text("no address") + text(","), message("/a")))
    assert [fault.address for fault in packet.faults] == ["/VMC/Ext/Bone/Pos", None]
    assert not packet.is_garbage and not osc.parse(broken).is_garbage
    assert osc.parse(b"#bundle\0" + bytes(8) + bytes(40)).is_garbage
    assert len(osc.parse(bundle(*[b"rubb"] * 8000)).faults) == osc.MAX_FAULTS


@pytest.mark.parametrize("length", range(1, len(GOOD)))
def test_what_is_whole_before_a_cut_is_kept(length):
    """The elements of a bundle that ends anywhere."""
    ends, at = [16], 16
    while at < len(GOOD):
        at += 4 + struct.unpack_from(">i", GOOD, at)[0]
        ends.append(at)
    packet = osc.parse(GOOD[:length])
    whole = sum(end <= length for end in ends) - 1
    assert packet.messages == osc.parse(GOOD).messages[: max(whole, 0)]
    assert bool(packet.faults) == (length not in ends)
