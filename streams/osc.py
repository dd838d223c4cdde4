"""Open Sound Control 1.0: a reader of packets that keeps every sound message of a damaged packet.

Source: M. Wright, The Open Sound Control 1.0 Specification (2002), sections "OSC Data Types" to "OSC Bundles".

Why not a library: what is needed of one is this file, which reads and never writes; a wheel would have to be carried,
checked and updated for every release. Here a message is refused for any fault, to its last byte, and the messages
beside it are kept; size, nesting, arguments and faults have limits.
"""

from __future__ import annotations

import functools
import struct
from typing import NamedTuple

from .errors import PacketError

MAX_BYTES = 65_536  # no UDP packet is larger
MAX_DEPTH = 8  # bundles within bundles
MAX_ARGUMENTS = 256
MAX_FAULTS = 64  # in a packet, after which no more of it is read: garbage must not cost more than motion

_BUNDLE = b"#bundle\0"
_SIZE = struct.Struct(">i")
_SIZES = {"i": "i", "f": "f", "h": "q", "d": "d", "t": "Q"}  # what struct calls them
_CONSTANTS = {"T": True, "F": False, "N": None, "I": float("inf")}
_KNOWN = frozenset("sb") | frozenset(_SIZES) | frozenset(_CONSTANTS)


class Message(NamedTuple):
    """address: with its leading slash.  tags: one type tag an argument, without the comma.  arguments: as many."""

    address: str
    tags: str
    arguments: tuple


class Fault(NamedTuple):
    """A part that breaks the format.  address: of the message, None where it cannot be read.  reason: in words."""

    address: str | None
    reason: str


class Packet(NamedTuple):
    """messages: the sound ones in the order sent, those of nested bundles included.  is_bundle: whether they came as a
    bundle.  faults: what was left out, at most MAX_FAULTS."""

    messages: list[Message]
    is_bundle: bool
    faults: list[Fault]

    @property
    def is_garbage(self) -> bool:
        """Whether nothing in it can be recognised, not even an address."""
        return bool(self.faults) and not self.messages and all(fault.address is None for fault in self.faults)


def parse(data: bytes) -> Packet:
    """Read one packet, a message or a bundle.

    Argument types: i f s b h d t T F N I; strings are UTF-8 (more than the standard's ASCII: senders name bones in any
    language), addresses printable ASCII, time tags 64-bit integers, I is infinity.
    A message that breaks the format is left out and listed among the faults; the others are kept. Of a bundle that is
    cut off, the whole elements before the cut are kept. It raises nothing, whatever the bytes are.
    """
    packet = Packet([], data.startswith(_BUNDLE), [])
    if 0 < len(data) <= MAX_BYTES:
        _read_element(data, 0, len(data), 0, packet)
    else:
        packet.faults.append(Fault(None, f"{len(data)} bytes are not a packet"))
    return packet


def _read_element(data: bytes, start: int, end: int, depth: int, packet: Packet) -> None:
    """Add what the element in data[start:end] holds to the packet."""
    if data.startswith(_BUNDLE, start, end):
        _read_bundle(data, start, end, depth, packet)
        return
    try:
        packet.messages.append(_read_message(data, start, end))
    except PacketError as error:
        packet.faults.append(Fault(_address_at(data, start, end), str(error)))


def _read_bundle(data: bytes, start: int, end: int, depth: int, packet: Packet) -> None:
    at = start + 16  # after the name and the time tag
    if at > end or depth >= MAX_DEPTH:
        reason = "a bundle without its time tag" if at > end else f"bundles nested deeper than {MAX_DEPTH}"
        packet.faults.append(Fault(None, reason))
        return
    while at < end and len(packet.faults) < MAX_FAULTS:
        size = _SIZE.unpack_from(data, at)[0] if at + 4 <= end else 0
        at += 4
        if not 0 < size <= end - at:  # nobody knows where the next element begins
            packet.faults.append(Fault(None, "a bundle that is cut off"))
            return
        _read_element(data, at, at + size, depth + 1, packet)
        at += size


def _address_at(data: bytes, start: int, end: int) -> str | None:
    """The address of a broken message, None where that is broken, too."""
    try:
        return _address(_read_string(data, start, end)[0])
    except PacketError:
        return None


def _read_message(data: bytes, start: int, end: int) -> Message:
    if (end - start) % 4:
        raise PacketError("a size that is no multiple of four")
    raw, at = _read_string(data, start, end)
    address = _address(raw)
    raw, at = _read_string(data, at, end)
    tags = _tags(raw)
    values: list = []
    for layout, size in _runs(tags):
        if layout == "s":
            raw, at = _read_string(data, at, end)
            values.append(_text(raw))
        elif layout == "b":
            blob, at = _read_blob(data, at, end)
            values.append(blob)
        else:
            if at + size > end:
                raise PacketError("arguments are cut off")
            values += layout.unpack_from(data, at) if isinstance(layout, struct.Struct) else (layout[0],)
            at += size
    if at != end:
        raise PacketError("bytes after the last argument")
    return Message(address, tags, tuple(values))


def _read_string(data: bytes, start: int, end: int) -> tuple[bytes, int]:
    """A string with the zeros that end it, and where the next item starts."""
    stop = data.find(0, start, end)
    after = stop + 4 - (stop - start) % 4
    if stop < 0 or after > end:
        raise PacketError("a string without an end")
    return data[start:after], after


def _read_blob(data: bytes, start: int, end: int) -> tuple[bytes, int]:
    at = start + 4
    if at > end:
        raise PacketError("a blob without its size")
    (size,) = _SIZE.unpack_from(data, start)
    stop, after = at + size, at + size + -size % 4
    if size < 0 or after > end or any(data[stop:after]):
        raise PacketError("a blob of a wrong size or padding")
    return data[at:stop], after


def _unpadded(raw: bytes) -> bytes:
    """A string without the one to four zeros that fill it to a multiple of four."""
    stop = raw.index(0)
    if any(raw[stop:]):
        raise PacketError("a string that is padded wrongly")
    return raw[:stop]


# The same few addresses, names and tags come a hundred times a second: each is checked once. All caches are bounded.


@functools.lru_cache(maxsize=256)
def _address(raw: bytes) -> str:
    raw = _unpadded(raw)
    if not raw.startswith(b"/") or not all(0x20 < byte < 0x7F for byte in raw):
        raise PacketError("an address that cannot be read")
    return raw.decode("ascii")


@functools.lru_cache(maxsize=1024)
def _text(raw: bytes) -> str:
    try:
        return _unpadded(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise PacketError("text that is not UTF-8") from None


@functools.lru_cache(maxsize=256)
def _tags(raw: bytes) -> str:
    tags = _unpadded(raw)[1:].decode("ascii", "replace")
    if not raw.startswith(b",") or len(tags) > MAX_ARGUMENTS or not _KNOWN.issuperset(tags):
        raise PacketError("no type tags, too many or unknown ones")
    return tags


@functools.lru_cache(maxsize=256)
def _runs(tags: str) -> tuple:
    """(layout, bytes) of each item: "s" or "b", a struct of neighbouring numbers, or a constant in a tuple."""
    runs: list = []
    numbers = ""
    for tag in (*tags, ""):
        if tag in _SIZES:
            numbers += _SIZES[tag]
            continue
        if numbers:
            layout = struct.Struct(f">{numbers}")
            runs.append((layout, layout.size))
            numbers = ""
        if tag in _CONSTANTS:
            runs.append(((_CONSTANTS[tag],), 0))
        elif tag:
            runs.append((tag, 0))
    return tuple(runs)
