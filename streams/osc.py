"""Open Sound Control 1.0: a strict reader of packets.

Source: M. Wright, The Open Sound Control 1.0 Specification (2002), sections "OSC Data Types" to "OSC Bundles".

Why not a library: what is needed of one is this file, which reads and never writes; a wheel would have to be carried,
checked and updated for every release. Here the whole packet is refused for any fault, with one type of error, and size,
nesting and arguments have limits: with a library that would have to be checked beforehand, which is reading it twice.
"""

from __future__ import annotations

import functools
import struct
from typing import NamedTuple

from .errors import PacketError

MAX_BYTES = 65_536  # no UDP packet is larger
MAX_DEPTH = 8  # bundles within bundles
MAX_ARGUMENTS = 256

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


class Packet(NamedTuple):
    """messages: in the order sent, those of nested bundles included.  is_bundle: whether they came as a bundle."""

    messages: list[Message]
    is_bundle: bool


def parse(data: bytes) -> Packet:
    """Read one packet, a message or a bundle.

    Argument types: i f s b h d t T F N I; strings are UTF-8 (more than the standard's ASCII: senders name bones in any
    language), addresses printable ASCII, time tags 64-bit integers, I is infinity.
    Raises PacketError, and nothing else, for all that is not such a packet to its last byte.
    """
    if not 0 < len(data) <= MAX_BYTES:
        raise PacketError(f"{len(data)} bytes are not a packet")
    messages: list[Message] = []
    _read_element(data, 0, len(data), 0, messages)
    return Packet(messages, data.startswith(_BUNDLE))


def _read_element(data: bytes, start: int, end: int, depth: int, messages: list[Message]) -> None:
    """Append the messages of the element in data[start:end]."""
    if (end - start) % 4:
        raise PacketError("size is no multiple of four")
    if data.startswith(_BUNDLE, start, end):
        _read_bundle(data, start, end, depth, messages)
    else:
        messages.append(_read_message(data, start, end))


def _read_bundle(data: bytes, start: int, end: int, depth: int, messages: list[Message]) -> None:
    at = start + 16  # after the name and the time tag
    if at > end:
        raise PacketError("bundle without its time tag")
    if depth >= MAX_DEPTH:
        raise PacketError(f"bundles nested deeper than {MAX_DEPTH}")
    while at < end:
        (size,) = _SIZE.unpack_from(data, at)  # sizes are multiples of four: four bytes are left
        at += 4
        if not 0 < size <= end - at:
            raise PacketError("element larger than its bundle, or empty")
        _read_element(data, at, at + size, depth + 1, messages)
        at += size


def _read_message(data: bytes, start: int, end: int) -> Message:
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
                raise PacketError("arguments cut off")
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
        raise PacketError("string without an end")
    return data[start:after], after


def _read_blob(data: bytes, start: int, end: int) -> tuple[bytes, int]:
    at = start + 4
    if at > end:
        raise PacketError("blob without its size")
    (size,) = _SIZE.unpack_from(data, start)
    stop, after = at + size, at + size + -size % 4
    if size < 0 or after > end or any(data[stop:after]):
        raise PacketError("blob of a wrong size or padding")
    return data[at:stop], after


def _unpadded(raw: bytes) -> bytes:
    """A string without the one to four zeros that fill it to a multiple of four."""
    stop = raw.index(0)
    if any(raw[stop:]):
        raise PacketError("string padded wrongly")
    return raw[:stop]


# The same few addresses, names and tags come a hundred times a second: each is checked once. All caches are bounded.


@functools.lru_cache(maxsize=256)
def _address(raw: bytes) -> str:
    raw = _unpadded(raw)
    if not raw.startswith(b"/") or not all(0x20 < byte < 0x7F for byte in raw):
        raise PacketError("no address")
    return raw.decode("ascii")


@functools.lru_cache(maxsize=1024)
def _text(raw: bytes) -> str:
    try:
        return _unpadded(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise PacketError("text is not UTF-8") from None


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
