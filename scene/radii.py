"""How thick the limb around each bone is, from the meshes skinned to it."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..solvers.core.errors import SceneError
from .evaluation import world_now

# A quarter of the skin beside a bone lies nearer than its radius. Low, because a capsule should stay inside
# the skin: bones run nearer to one side of a limb, and skirts, coats and armour hang far outside it.
_PERCENTILE = 25
_ENOUGH = 8  # vertices beside a bone; if there are fewer, the skin beyond its ends counts too

_DEFAULT_RADIUS = 0.05  # metres, for a body of 1.8 m
_BODY_HEIGHT = 1.8


def bone_radii(
    context: bpy.types.Context, armature: bpy.types.Object, bone_names: Sequence[str], height: float
) -> np.ndarray:
    """Capsule radius of each bone in the rest pose; returns (B,) world metres, in the order of the names.

    The 25th percentile of the distances, from the bone's centre lines, of the vertices of which it has the
    largest deform weight, in all meshes of the scene that the armature deforms. The centre lines run from the
    bone's head to those of its deforming children, else to its tail: importers leave tails that mean nothing.
    A bone without skin gets 5 cm for a body of 1.8 m. height: of the body, metres.

    Raises SceneError when the object is not an armature or has no bone of a name.
    """
    if armature.type != "ARMATURE":
        raise SceneError(f"'{armature.name_full}' is of type {armature.type}; choose an armature.")
    bones = armature.data.bones
    for name in bone_names:
        if name not in bones:
            raise SceneError(f"'{armature.name_full}' has no bone '{name}'; bind again after renaming bones.")

    depsgraph = context.evaluated_depsgraph_get()
    heads, tails = _rest_joints(armature, depsgraph)
    radii = np.full(len(bones), _DEFAULT_RADIUS * height / _BODY_HEIGHT)

    index_of = {bone.name: index for index, bone in enumerate(bones)}
    skinned = [ob for ob in context.scene.objects if _is_skinned(ob, armature)]
    skins = [_skin(ob, depsgraph, index_of, bones) for ob in skinned]
    if skins:
        vertices, owners = (np.concatenate(parts) for parts in zip(*skins, strict=True))
        starts, ends, segment_owner = _centre_lines(bones, index_of, heads, tails)
        distances, beside = _distances(vertices, owners, starts, ends, segment_owner)
        _fill_percentiles(radii, owners, distances, beside)
    return radii[[index_of[name] for name in bone_names]]


def carrying_bones(context: bpy.types.Context, armature: bpy.types.Object) -> np.ndarray:
    """(B,) bool: bones that own skin or carry a bone-parented mesh."""
    bones = armature.data.bones
    index_of = {bone.name: index for index, bone in enumerate(bones)}
    found = np.zeros(len(bones), bool)
    depsgraph = context.evaluated_depsgraph_get()
    for ob in context.scene.objects:
        if _is_skinned(ob, armature):
            owners = _skin(ob, depsgraph, index_of, bones)[1]
            found[np.unique(owners[owners >= 0])] = True
        elif ob.type == "MESH" and ob.parent == armature and ob.parent_type == "BONE":
            if ob.parent_bone in index_of:
                found[index_of[ob.parent_bone]] = True
    return found


def _rest_joints(
    armature: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> tuple[np.ndarray, np.ndarray]:
    """Heads and tails, each (all bones, 3), world."""
    bones, matrix = armature.data.bones, world_now(armature, depsgraph)
    joints = np.empty((2, len(bones), 3), np.float32)
    bones.foreach_get("head_local", joints[0].reshape(-1))
    bones.foreach_get("tail_local", joints[1].reshape(-1))
    return tuple(joints @ matrix[:3, :3].T + matrix[:3, 3])


def _is_skinned(ob: bpy.types.Object, armature: bpy.types.Object) -> bool:
    if ob.type != "MESH" or not len(ob.data.vertices):
        return False
    by_parent = ob.parent == armature and ob.parent_type == "ARMATURE"
    return by_parent or any(m.type == "ARMATURE" and m.object == armature for m in ob.modifiers)


def _skin(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, index_of: dict[str, int], bones
) -> tuple[np.ndarray, np.ndarray]:
    """Undeformed vertices (V, 3) world, and (V,) the bone of the largest weight, -1 for none."""
    mesh, matrix = ob.data, world_now(ob, depsgraph)
    vertices = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", vertices.reshape(-1))  # attributes are empty in Edit Mode

    bone_of_group = np.full(len(ob.vertex_groups) + 1, -1)
    for group in ob.vertex_groups:
        if group.name in index_of and bones[group.name].use_deform:
            bone_of_group[group.index] = index_of[group.name]
    # The one loop over vertices: Blender gives weights in no other way (2 ms per 1,000, once a bind).
    weights = [(v.index, g.group, g.weight) for v in mesh.vertices for g in v.groups]
    vertex, group, weight = np.array(weights, float).reshape(-1, 3).T
    owner = bone_of_group[group.astype(int)]
    counts = (owner >= 0) & (weight > 0)
    vertex, owner, weight = vertex[counts].astype(int), owner[counts], weight[counts]

    owners = np.full(len(vertices), -1)
    ascending = np.argsort(weight, kind="stable")
    owners[vertex[ascending]] = owner[ascending]  # the last one written, the largest, stays
    return vertices @ matrix[:3, :3].T + matrix[:3, 3], owners


def _centre_lines(bones, index_of: dict[str, int], heads: np.ndarray, tails: np.ndarray):
    """Segments sorted by bone: starts (S, 3), ends (S, 3), and (S,) the bone of each."""
    owner, ends = [], []
    for index, bone in enumerate(bones):
        children = [index_of[child.name] for child in bone.children if child.use_deform]
        ends.extend([heads[child] for child in children] or [tails[index]])
        owner.extend([index] * max(len(children), 1))
    return heads[owner], np.array(ends), np.array(owner)


def _distances(
    vertices: np.ndarray, owners: np.ndarray, starts: np.ndarray, ends: np.ndarray, segment_owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Distance (V,) of each vertex to the nearest segment of its bone, and whether it lies beside it.

    Vertices without a bone get infinity.
    """
    distances, beside = np.full(len(vertices), np.inf), np.zeros(len(vertices), bool)
    first, last = np.searchsorted(segment_owner, owners), np.searchsorted(segment_owner, owners, "right")
    counts = last - first
    for step in range(counts.max(initial=0)):  # over the children of the bone with the most
        chosen = np.flatnonzero(step < counts)
        segment = first[chosen] + step
        along, offset = ends[segment] - starts[segment], vertices[chosen] - starts[segment]
        squared = np.einsum("ij,ij->i", along, along)
        share = np.einsum("ij,ij->i", offset, along) / np.maximum(squared, np.finfo(squared.dtype).tiny)
        distance = np.linalg.norm(offset - np.clip(share, 0, 1)[:, None] * along, axis=1)
        nearer = distance < distances[chosen]
        distances[chosen[nearer]] = distance[nearer]
        beside[chosen[nearer]] = ((share >= 0) & (share <= 1))[nearer]
    return distances, beside


def _fill_percentiles(
    radii: np.ndarray, owners: np.ndarray, distances: np.ndarray, beside: np.ndarray
) -> None:
    """Replace the radius of every bone that has skin."""
    for bone in np.unique(owners[owners >= 0]):
        own = owners == bone
        enough = np.count_nonzero(own & beside) >= _ENOUGH
        radii[bone] = np.percentile(distances[own & beside if enough else own], _PERCENTILE)
