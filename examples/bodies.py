"""Bodies as one closed skin: the figure in other proportions, and the skin that grows over solids of any armature.

Lengths in metres; x ahead, y to the left, z up. V vertices, B bones.
"""

from __future__ import annotations

from dataclasses import dataclass

import bmesh
import bpy
import numpy as np
from figure import body_radius, capsule, make_armature, skeleton, skin, solid, solids_of
from mathutils import Matrix
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist
from shapes import get_vertices, set_vertices
from walker import TO_LOCAL

SOFT = 0.035  # metres over which one bone gives way to the next
_NEAR, _MUCH = 0.08, 1.3  # metres within which bones are near to each other; how much nearer is too near
_ROOT, _CELL = 0.4, 0.017  # of the height: a bone that long is no limb; edges of a skin
_EVEN = 4  # rounds of evening out the skin, and the weights


@dataclass(frozen=True)
class Build:
    """Proportions of the figure: (length, girth) by kind of bone, 1 where none is said; hips: how wide they are.

    cell: edge length of the skin.
    """

    sizes: dict[str, tuple[float, float]]
    hips: float = 1.0
    cell: float = 0.026

    def size(self, bone: str) -> tuple[float, float]:
        return self.sizes.get(bone.partition(".")[0], (1.0, 1.0))


def make_body(name: str, build: Build) -> bpy.types.Object:
    """The mesh of a figure so built, on an armature of its own."""
    plain = skeleton()
    bones = built(build)
    rig = make_armature(f"{name} rig", TO_LOCAL, bones)
    parts = {}
    for bone, (_, head, tail) in plain.items():
        points, faces = solid(bone.partition(".")[0], head, tail)
        parts[bone] = _fitted(points, plain[bone], bones[bone], *build.size(bone)) @ TO_LOCAL.T, faces
    return grow_skin(rig, parts, build.cell, name)


def built(build: Build) -> dict[str, tuple[str | None, np.ndarray, np.ndarray]]:
    """The figure's ``skeleton`` in other proportions."""
    plain, bones = skeleton(), {}
    for name, (parent, head, tail) in plain.items():
        length = build.size(name)[0]
        if parent is None:
            place = length * head
        else:
            scale = build.size(parent)[0] * np.array([1.0, build.hips if parent == "hips" else 1.0, 1.0])
            place = bones[parent][1] + scale * (head - plain[parent][1])
        bones[name] = parent, place, place + length * (tail - head)
    return bones


def _fitted(points: np.ndarray, plain, bone, length: float, girth: float) -> np.ndarray:
    """Points about a bone of the figure, where they are about the same bone in other proportions."""
    way = (plain[2] - plain[1]) / np.linalg.norm(plain[2] - plain[1])
    away = points - plain[1]
    along = (away @ way)[:, None] * way
    return bone[1] + length * along + girth * (away - along)


def make_skin(rig: bpy.types.Object, height: float, girth: float, name: str) -> bpy.types.Object:
    """A closed skin over an armature of any kind, of a body about as tall as said."""
    parts = solids_of(rig, height, girth)
    for bone in rig.data.bones:
        owner = next((b.name for b in (bone.parent, bone) if b and b.name in parts), None)
        if owner is None or bone.parent is None or bone.parent.length > _ROOT * height:
            continue
        head, meets = np.array(bone.head_local), np.array(bone.parent.tail_local)
        if np.linalg.norm(head - meets) > 0.01 * height:  # importers leave gaps, as from hips to thighs
            radius = girth**0.25 * min(body_radius(b, height) for b in (bone, bone.parent))
            points, faces = capsule(meets, head, np.array(bone.matrix_local)[:3, 0], radius, radius)
            old_points, old_faces = parts[owner]
            parts[owner] = np.concatenate((old_points, points)), np.concatenate((old_faces, faces + len(old_points)))
    return grow_skin(rig, parts, _CELL * height, name)


def open_rest(rig: bpy.types.Object, poses: dict[str, np.ndarray]) -> None:
    """Rest an armature in the one of its poses (F, 4, 4), in its own space, in which its limbs are farthest apart.

    A skin can grow over it then: some files have arms and legs lie in each other at rest.  It stays where all do well.
    """
    rests = {bone.name: np.array(bone.matrix_local) for bone in rig.data.bones}
    reach = np.array([[0.0, share * bone.length, 0.0] for bone in rig.data.bones for share in np.linspace(0.0, 1.0, 4)])
    reach = dict(zip(rests, reach.reshape(-1, 4, 3), strict=True))
    choices = [rests, *(dict(zip(poses, frame, strict=True)) for frame in zip(*poses.values(), strict=True))]
    near = []
    for choice in choices:
        points = np.concatenate([_moved(reach[name], choice[name]) for name in rests])
        near.append(np.exp(-pdist(points) / _NEAR).sum())
    if near[0] < _MUCH * min(near):
        return
    chosen = choices[int(np.argmin(near))]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.use_connect = False
    for bone in rig.data.edit_bones:
        bone.matrix = Matrix(chosen[bone.name])
    bpy.ops.object.mode_set(mode="OBJECT")


def grow_skin(rig: bpy.types.Object, parts, cell: float, name: str) -> bpy.types.Object:
    """One closed and even skin around solids, bone -> (vertices (V, 3), faces), that follows the armature softly."""
    rough = skin(rig, parts)
    rough.modifiers.clear()
    remesh = rough.modifiers.new("Skin", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", cell
    mesh = _largest(bpy.data.meshes.new_from_object(rough.evaluated_get(bpy.context.evaluated_depsgraph_get())))
    old = rough.data
    bpy.data.objects.remove(rough)
    bpy.data.meshes.remove(old)
    mesh.name = name
    body = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(body)
    body.vertex_groups.clear()  # the solids' come along, empty
    points, edges = get_vertices(body).astype(float), _edges(mesh)
    # Out again after each step in: plain averaging would thin the arms (Taubin 1995).
    for step in (0.5, -0.53) * _EVEN:
        points = points + step * (_mean(points, edges) - points)
    names, weights = _weights(rig, points, parts)
    for _ in range(_EVEN):
        weights = _mean(weights, edges)
    weights = np.where(weights > 0.01, weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    set_vertices(mesh.vertices, points)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), bool))
    mesh.update()
    _write_weights(body, names, weights)
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return body


def _largest(mesh: bpy.types.Mesh) -> bpy.types.Mesh:
    """The mesh without what does not hang together with most of it."""
    edges, count = _edges(mesh), len(mesh.vertices)
    _, piece = connected_components(coo_matrix((np.ones(len(edges)), edges.T), (count, count)), directed=False)
    away = piece != np.bincount(piece).argmax()
    made = bmesh.new()
    made.from_mesh(mesh)
    loose = [vertex for vertex, is_away in zip(made.verts, away.tolist(), strict=True) if is_away]
    bmesh.ops.delete(made, geom=loose, context="VERTS")
    made.to_mesh(mesh)
    made.free()
    return mesh


def _weights(rig, points: np.ndarray, parts) -> tuple[list[str], np.ndarray]:
    """Names (B,) and weights (V, B) of bones: by how near their solids are, of the nearest one and its neighbours."""
    bones = [rig.data.bones[name] for name in parts]
    names = [bone.name for bone in bones]
    away = np.stack([_outside(points, bone, parts[bone.name][0]) for bone in bones], axis=1)
    related = np.eye(len(names), dtype=bool)
    for number, bone in enumerate(bones):
        if bone.parent and bone.parent.name in names:
            other = names.index(bone.parent.name)
            related[number, other] = related[other, number] = True
    nearest = away.argmin(axis=1)
    weights = np.exp(-(away - away.min(axis=1, keepdims=True)) / SOFT) * related[nearest]
    return names, weights / weights.sum(axis=1, keepdims=True)


def _outside(points: np.ndarray, bone, solid_points: np.ndarray) -> np.ndarray:
    """(V,) distance from a bone, less how thick its solid is."""
    head, tail = np.array([bone.head_local, bone.tail_local])

    def distance(where: np.ndarray) -> np.ndarray:
        way = tail - head
        share = np.clip((where - head) @ way / (way @ way), 0.0, 1.0)
        return np.linalg.norm(where - head - share[:, None] * way, axis=1)

    return distance(points) - np.median(distance(solid_points))


def _moved(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _edges(mesh: bpy.types.Mesh) -> np.ndarray:
    """(E, 2)."""
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    return edges.reshape(-1, 2)


def _mean(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The mean of each vertex's neighbours, of values (V, n)."""
    out, count = np.zeros_like(values), np.bincount(edges.ravel(), minlength=len(values))
    for a, b in (edges.T, edges.T[::-1]):
        np.add.at(out, a, values[b])
    return out / count[:, None]


def _write_weights(body, names: list[str], weights: np.ndarray) -> None:
    for name, column in zip(names, weights.T, strict=True):
        group = body.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(column).tolist():
            group.add([vertex], float(column[vertex]), "REPLACE")
