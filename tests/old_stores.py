"""What is kept in files, in the form of before: the vertex positions of a mesh. Bytes come straight from there."""

import bpy
import numpy as np


def as_mesh(group: bpy.types.NodeTree) -> bpy.types.Mesh:
    """What a node group keeps, in a mesh: the count of words, the words, and their bits 30, sixteen a word."""
    return mesh_of(np.array(group["data"], np.int32).view(np.uint32))


def mesh_of(words: np.ndarray) -> bpy.types.Mesh:
    """A mesh that keeps a stream of words (W,) uint32."""
    bit = np.uint32(1 << 30)
    moved = np.packbits((words & bit) != 0, bitorder="little")
    moved = np.frombuffer(moved.tobytes() + bytes(-len(moved) % 2), "<u2")
    floats = np.concatenate(([len(words)], words & ~bit, moved)).astype(np.uint32)
    return raw_mesh(np.concatenate((floats, np.zeros(-len(floats) % 3, np.uint32))))


def raw_mesh(words: np.ndarray) -> bpy.types.Mesh:
    """A mesh whose vertex positions are these bits (3 V,) uint32."""
    mesh = bpy.data.meshes.new(".raw")
    mesh.vertices.add(len(words) // 3)
    mesh.attributes["position"].data.foreach_set("vector", words.view(np.float32))
    return mesh


def raw_words(mesh: bpy.types.Mesh) -> np.ndarray:
    """Bits (3 V,) uint32 of a mesh's vertex positions."""
    words = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.attributes["position"].data.foreach_get("vector", words)
    return words.view(np.uint32)
