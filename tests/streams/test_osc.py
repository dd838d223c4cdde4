"""The reader of packets: every type, every limit, and garbage."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from examples.send_clip import bundle, message, text
from streams import osc
from streams.errors import PacketError


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


def test_bundles_keep_the_order_within_bundles():
    packet = osc.parse(bundle(message("/a", 1.0), bundle(message("/b"), bundle(), message("/c", "x")), message("/d")))
    assert packet.is_bundle
    assert [found.address for found in packet.messages] == ["/a", "/b", "/c", "/d"]


def test_depth_has_a_limit():
    inner = message("/a")
    assert osc.parse(nested(osc.MAX_DEPTH, inner)).messages
    with pytest.raises(PacketError):
        osc.parse(nested(osc.MAX_DEPTH + 1, inner))


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
def test_refuses(data):
    with pytest.raises(PacketError):
        osc.parse(data)


@pytest.mark.parametrize("length", range(1, len(GOOD)))
def test_refuses_all_that_is_cut_off(length):
    """Only a cut right after a whole element leaves a packet."""
    ends = {16 + sum(4 + struct.unpack_from(">i", GOOD, at)[0] for at in starts) for starts in _prefixes(GOOD)}
    if length in ends:
        assert osc.parse(GOOD[:length])
        return
    with pytest.raises(PacketError):
        osc.parse(GOOD[:length])


def _prefixes(data: bytes) -> list[list[int]]:
    """Places of the sizes of the first 0, 1, 2... elements of a bundle."""
    starts, at = [], 16
    while at < len(data):
        starts.append(at)
        at += 4 + struct.unpack_from(">i", data, at)[0]
    return [starts[:k] for k in range(len(starts))]


def test_nothing_but_its_error_comes_out_of_garbage():
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(3000):
        data = bytearray(GOOD)
        for place in rng.integers(0, len(data), rng.integers(1, 8)):
            data[place] = rng.integers(256)
        for packet in (bytes(data), rng.bytes(rng.integers(0, 200)), b"#bundle\0" + rng.bytes(4 * rng.integers(0, 40))):
            try:
                osc.parse(packet)
            except PacketError:
                refused += 1
    assert refused > 6000
