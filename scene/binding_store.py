"""Bound data inside the .blend: arrays as an ID property of a node group that nothing shows.

Its name begins with a dot, so that menus and File > Append leave it out, and a pointer property brings it along when a
rig is appended to another file. It costs nothing a frame, and milliseconds for 20 MB in a step of undo.

Layout, little-endian. The stream is

    magic 8 bytes | version u32 | header length u32 | stream length u64 | CRC-32 u32 | header | blocks

with the checksum over all the rest, a JSON header that says where each array lies, and one block an array. Padded to
32-bit words it is the property. Older files hold it in the vertex positions of a mesh, see ``_words_of_mesh``.
"""

from __future__ import annotations

import json
import math
import struct
import zlib

import bpy
import numpy as np

from ..solvers.core.errors import InputError, StaleBindingError

_MAGIC = b"MLOOMBND"
_VERSION = 1
_PREFIX = struct.Struct("<8sIIQ")  # magic, version, header length, stream length
_CHECKSUM = struct.Struct("<I")
_HEADER_START = _PREFIX.size + _CHECKSUM.size
_PROPERTY = "data"
# Words of a mesh that tell it from others: their count, prefix and checksum, three a vertex.
_MARK_VERTICES = -(-(1 + _HEADER_START // 4) // 3)
_KINDS = "biuf"  # bool, integers, floats: the arrays that are plain numbers
_LARGEST_ITEM = 8  # bytes: wider floats differ from platform to platform

# What a pointer property that holds bound data takes: a node group, or a mesh in older files.
DATABLOCK = bpy.types.ID

# Smooth motion and weights shrink by 15 % at 50 MB/s, which is not worth the wait; indices and arrays that
# are mostly zero shrink to half and less. A sample tells them apart.
_SAMPLE = 1 << 18
_WORTHWHILE = 0.7


def save(rig_name: str, arrays: dict[str, np.ndarray], header: dict) -> bpy.types.NodeTree:
    """Write arrays and a JSON-able header into a new node group named ".motion_loom <rig name>".

    Always a new datablock: a duplicated rig shares the old one until it is bound again. It has no user: it is saved
    once a pointer property holds it. See `discard` for the one it replaces.

    arrays: any shapes of bool, int or float; their dtypes and bytes come back exactly.
    header: what the binding needs beside them, such as fingerprints and the extension's version.

    Raises InputError for an array of another kind or a header that JSON cannot hold.
    """
    stream = _pack(arrays, header)
    group = bpy.data.node_groups.new(f".motion_loom {rig_name}", "GeometryNodeTree")
    group[_PROPERTY] = np.frombuffer(stream + bytes(-len(stream) % 4), "<i4")
    return group


def load(block: bpy.types.ID | None) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays and the header that `save` put into the node group, or an older one into a mesh.

    Raises StaleBindingError, which says to bind again, when there is no datablock, when the data are damaged, or
    when a newer Motion Loom wrote them.
    """
    if block is None:
        raise _missing()
    words = _words_of_mesh(block) if isinstance(block, bpy.types.Mesh) else _words(block)
    return _unpack(words.tobytes(), block.name)


def mark(block: bpy.types.ID | None) -> tuple[int, ...]:
    """Numbers that tell one stored binding from another without reading it: size and first words, the CRC among them.

    Raises StaleBindingError when there is no datablock.
    """
    if block is None:
        raise _missing()
    if isinstance(block, bpy.types.Mesh):
        count = len(block.vertices)
        position = block.attributes["position"].data if count else ()
        first = np.array([position[k].vector for k in range(min(_MARK_VERTICES, count))], np.float32)
        return block.session_uid, count, *first.reshape(-1).view("<u4").tolist()
    words = _words(block)
    return block.session_uid, len(words), *words[: _HEADER_START // 4].tolist()


def _words(group: bpy.types.ID) -> np.ndarray:
    """Words (W,) int32 of a node group, empty where there are none: Blender's own memory, to be read at once."""
    data = group.get(_PROPERTY)
    return np.asarray(data) if getattr(data, "typecode", None) == "i" else np.empty(0, np.int32)


def _pack(arrays: dict[str, np.ndarray], header: dict) -> bytes:
    blocks, table, offset = [], [], 0
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype.kind not in _KINDS or array.itemsize > _LARGEST_ITEM:
            raise InputError(f"Binding array '{name}' holds {array.dtype}; only plain numbers can be stored.")
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        codec, block = _encode(array)
        table.append(
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": array.shape,
                "codec": codec,
                "offset": offset,
                "size": len(block),
            }
        )
        blocks.append(block)
        offset += len(block)
    try:
        text = json.dumps({"arrays": table, "header": header}, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"The header of the binding cannot be stored: {error}.") from error
    body = b"".join([text.encode("utf-8", "surrogatepass"), *blocks])
    prefix = _PREFIX.pack(_MAGIC, _VERSION, len(body) - offset, _HEADER_START + len(body))
    return prefix + _CHECKSUM.pack(zlib.crc32(body, zlib.crc32(prefix))) + body


def _unpack(stream: bytes, block_name: str) -> tuple[dict[str, np.ndarray], dict]:
    if len(stream) < _HEADER_START:
        raise _damaged(block_name)
    magic, version, header_length, length = _PREFIX.unpack_from(stream)
    if magic != _MAGIC:
        raise _damaged(block_name)
    if version > _VERSION:
        raise StaleBindingError(
            f"The binding in '{block_name}' was made by a newer Motion Loom (format {version}, this one reads "
            f"up to {_VERSION}); update Motion Loom or bind again."
        )
    prefix, body = memoryview(stream)[: _PREFIX.size], memoryview(stream)[_HEADER_START:length]
    (checksum,) = _CHECKSUM.unpack_from(stream, _PREFIX.size)
    if length > len(stream) or zlib.crc32(body, zlib.crc32(prefix)) != checksum:
        raise _damaged(block_name)
    try:
        content = json.loads(bytes(body[:header_length]).decode("utf-8", "surrogatepass"))
        arrays = {str(row["name"]): _decode(body[header_length:], row) for row in content["arrays"]}
        header = content["header"]
        if not isinstance(header, dict):
            raise TypeError("the header is no object")
        return arrays, header
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, zlib.error) as error:
        raise _damaged(block_name) from error


def _missing() -> StaleBindingError:
    return StaleBindingError("This rig has no stored binding; press Bind.")


def _damaged(block_name: str) -> StaleBindingError:
    return StaleBindingError(f"The binding in '{block_name}' is damaged or incomplete; bind again.")


def _encode(array: np.ndarray) -> tuple[str, bytes]:
    """Codec and bytes: as they are, or byte planes deflated where that pays."""
    flat = array.reshape(-1)
    sample = flat[: max(1, _SAMPLE // array.itemsize)]
    if len(zlib.compress(_planes(sample), 1)) < _WORTHWHILE * sample.nbytes:
        return "planes", zlib.compress(_planes(flat), 1)
    return "raw", flat.tobytes()


def _planes(flat: np.ndarray) -> bytes:
    """All first bytes, then all second bytes, ...: equal exponents come together."""
    return flat.view(np.uint8).reshape(-1, flat.itemsize).T.tobytes()


def _decode(blocks: memoryview, row: dict) -> np.ndarray:
    dtype, shape = np.dtype(row["dtype"]), tuple(row["shape"])
    if dtype.kind not in _KINDS:
        raise ValueError(f"unexpected dtype {dtype}")
    offset, size = row["offset"], row["size"]
    if not all(isinstance(number, int) and number >= 0 for number in (offset, size, *shape)):
        raise ValueError("a size or a place is no whole number")
    block = blocks[offset : offset + size]
    count = math.prod(shape)
    if row["codec"] == "raw":
        return np.frombuffer(block, dtype, count).reshape(shape).copy()
    # The length bounds what a forged block may unfold to.
    plain = zlib.decompressobj().decompress(block, count * dtype.itemsize) if count else b""
    planes = np.frombuffer(plain, np.uint8, count * dtype.itemsize).reshape(dtype.itemsize, count)
    return np.ascontiguousarray(planes.T).view(dtype).reshape(shape)


def _words_of_mesh(mesh: bpy.types.Mesh) -> np.ndarray:
    """Words (W,) uint32 of the stream in the vertex positions of a mesh, as older files keep it.

    Their floats are the count of words, the words, and the bits 30 of all words, sixteen a word: without the top bit
    of its exponent no float is infinite or NaN, which `Mesh.validate()` would zero.
    """
    floats = np.empty(len(mesh.vertices) * 3, np.float32)
    if floats.size:
        mesh.attributes["position"].data.foreach_get("vector", floats)
    words = floats.view("<u4")
    count = int(words[0]) if words.size else 0
    moved_count = -(-count // 16)
    if not count or 1 + count + moved_count > words.size:
        raise _damaged(mesh.name)
    moved = words[1 + count : 1 + count + moved_count].astype("<u2")
    bits = np.unpackbits(moved.view(np.uint8), count=count, bitorder="little")
    return words[1 : 1 + count] | (bits.astype(np.uint32) << np.uint32(30))
