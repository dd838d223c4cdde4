"""Bound data inside the .blend: arrays as the vertex positions of a mesh that no object uses.

A mesh datablock costs next to nothing to save, nothing a frame and nothing in undo steps that leave it
alone, and a pointer property brings it along when a rig is appended to another file.

Layout, little-endian. The stream is

    magic 8 bytes | version u32 | header length u32 | stream length u64 | CRC-32 u32 | header | blocks

with the checksum over all the rest, a JSON header that says where each array lies, and one block an
array. The stream becomes 32-bit words, the words become floats, three to a vertex. Blender copies floats bit
by bit on save, open, append and copy, NaN patterns included, but `Mesh.validate()` zeroes vertices that are
not finite. So no float may be infinite or NaN: bit 30 of every word, the top bit of the exponent, is moved
to words of its own, sixteen to a word, which costs 6 %.
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
# The word count, prefix and checksum: three words a vertex.
_MARK_VERTICES = -(-(1 + _HEADER_START // 4) // 3)
_KINDS = "biuf"  # bool, integers, floats: the arrays that are plain numbers
_LARGEST_ITEM = 8  # bytes: wider floats differ from platform to platform

_EXPONENT_BIT = np.uint32(1 << 30)
_BITS_A_WORD = 16  # of bit 30s collected in one word: leaves that word's own bit 30 zero

# Smooth motion and weights shrink by 15 % at 50 MB/s, which is not worth the wait; indices and arrays that
# are mostly zero shrink to half and less. A sample tells them apart.
_SAMPLE = 1 << 18
_WORTHWHILE = 0.7


def save(rig_name: str, arrays: dict[str, np.ndarray], header: dict) -> bpy.types.Mesh:
    """Write arrays and a JSON-able header into a new mesh named ".motion_loom <rig name>".

    Always a new datablock: a duplicated rig shares the old one until it is bound again. The mesh has no
    user: it is saved once a pointer property holds it. See `discard` for the one it replaces.

    arrays: any shapes of bool, int or float; their dtypes and bytes come back exactly.
    header: what the binding needs beside them, such as fingerprints and the extension's version.

    Raises InputError for an array of another kind or a header that JSON cannot hold.
    """
    floats = _to_floats(_pack(arrays, header))
    mesh = bpy.data.meshes.new(f".motion_loom {rig_name}")
    mesh.vertices.add(len(floats) // 3)
    mesh.attributes["position"].data.foreach_set("vector", floats)
    return mesh


def load(mesh: bpy.types.Mesh | None) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays and the header that `save` put into the mesh.

    Raises StaleBindingError, which says to bind again, when there is no mesh, when the data are damaged, or
    when a newer Motion Loom wrote them.
    """
    if mesh is None:
        raise _missing()
    floats = np.empty(len(mesh.vertices) * 3, np.float32)
    if floats.size:
        mesh.attributes["position"].data.foreach_get("vector", floats)
    return _unpack(_from_floats(floats, mesh.name), mesh.name)


def mark(mesh: bpy.types.Mesh | None) -> tuple[int, ...]:
    """Numbers that tell one stored binding from another without reading it: size and first words, the CRC among them.

    Raises StaleBindingError when there is no mesh.
    """
    if mesh is None:
        raise _missing()
    position = mesh.attributes["position"].data if len(mesh.vertices) else ()
    first = [position[k].vector for k in range(min(_MARK_VERTICES, len(position)))]
    words = np.array(first, np.float32).reshape(-1).view("<u4")
    return mesh.session_uid, len(mesh.vertices), *words.tolist()


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


def _unpack(stream: bytes, mesh_name: str) -> tuple[dict[str, np.ndarray], dict]:
    if len(stream) < _HEADER_START:
        raise _damaged(mesh_name)
    magic, version, header_length, length = _PREFIX.unpack_from(stream)
    if magic != _MAGIC:
        raise _damaged(mesh_name)
    if version > _VERSION:
        raise StaleBindingError(
            f"The binding in '{mesh_name}' was made by a newer Motion Loom (format {version}, this one reads "
            f"up to {_VERSION}); update Motion Loom or bind again."
        )
    prefix, body = memoryview(stream)[: _PREFIX.size], memoryview(stream)[_HEADER_START:length]
    (checksum,) = _CHECKSUM.unpack_from(stream, _PREFIX.size)
    if length > len(stream) or zlib.crc32(body, zlib.crc32(prefix)) != checksum:
        raise _damaged(mesh_name)
    try:
        content = json.loads(bytes(body[:header_length]).decode("utf-8", "surrogatepass"))
        arrays = {str(row["name"]): _decode(body[header_length:], row) for row in content["arrays"]}
        header = content["header"]
        if not isinstance(header, dict):
            raise TypeError("the header is no object")
        return arrays, header
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, zlib.error) as error:
        raise _damaged(mesh_name) from error


def _missing() -> StaleBindingError:
    return StaleBindingError("This rig has no stored binding; press Bind.")


def _damaged(mesh_name: str) -> StaleBindingError:
    return StaleBindingError(f"The binding in '{mesh_name}' is damaged or incomplete; bind again.")


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


def _to_floats(stream: bytes) -> np.ndarray:
    """(3 V,) float32, all finite, that carry the stream: its word count, its words, their bit 30s."""
    words = np.frombuffer(stream + bytes(-len(stream) % 4), "<u4")
    moved = np.packbits((words & _EXPONENT_BIT) != 0, bitorder="little")
    moved = np.frombuffer(moved.tobytes() + bytes(-len(moved) % 2), "<u2")
    used = 1 + len(words) + len(moved)
    out = np.zeros(used + -used % 3, "<u4")
    out[0] = len(words)
    out[1 : 1 + len(words)] = words & ~_EXPONENT_BIT
    out[1 + len(words) : used] = moved
    return out.view(np.float32)


def _from_floats(floats: np.ndarray, mesh_name: str) -> bytes:
    """The stream again, padded to whole words."""
    words = floats.view("<u4")
    count = int(words[0]) if words.size else 0
    moved_count = -(-count // _BITS_A_WORD)
    if not count or 1 + count + moved_count > words.size:
        raise _damaged(mesh_name)
    moved = words[1 + count : 1 + count + moved_count].astype("<u2")
    bits = np.unpackbits(moved.view(np.uint8), count=count, bitorder="little")
    return (words[1 : 1 + count] | (bits.astype(np.uint32) << np.uint32(30))).tobytes()
