"""A jointed figure of 1.8 m, and a visible body for any armature: one rounded solid a bone."""

from __future__ import annotations

import bpy
import numpy as np

# Head and tail of each bone in metres: x ahead, y to the left, z up; ".R" mirrors ".L".
_SPINE = {
    "hips": (None, (0.0, 0.0, 0.96), (0.0, 0.0, 1.08)),
    "spine": ("hips", (0.0, 0.0, 1.08), (0.0, 0.0, 1.24)),
    "chest": ("spine", (0.0, 0.0, 1.24), (0.0, 0.0, 1.48)),
    "neck": ("chest", (0.0, 0.0, 1.48), (0.02, 0.0, 1.57)),
    "head": ("neck", (0.02, 0.0, 1.57), (0.03, 0.0, 1.80)),
}
_SIDE = {
    "clavicle": ("chest", (0.0, 0.03, 1.43), (0.0, 0.185, 1.445)),
    "upper_arm": ("clavicle", (0.0, 0.185, 1.445), (0.0, 0.367, 1.228)),
    "forearm": ("upper_arm", (0.0, 0.367, 1.228), (0.01, 0.534, 1.029)),
    "hand": ("forearm", (0.01, 0.534, 1.029), (0.02, 0.643, 0.899)),
    "thigh": ("hips", (0.0, 0.09, 0.935), (0.01, 0.09, 0.510)),
    "shin": ("thigh", (0.01, 0.09, 0.510), (0.0, 0.09, 0.090)),
    "foot": ("shin", (0.0, 0.09, 0.090), (0.135, 0.09, 0.025)),
    "toe": ("foot", (0.135, 0.09, 0.025), (0.205, 0.09, 0.018)),
}
# Half width (along the body's left) and half depth of each bone's solid, metres.
_GIRTH = {
    "hips": (0.15, 0.095), "spine": (0.12, 0.085), "chest": (0.155, 0.105), "neck": (0.05, 0.05),
    "head": (0.078, 0.098), "clavicle": (0.05, 0.05), "upper_arm": (0.045, 0.045),
    "forearm": (0.037, 0.037), "hand": (0.018, 0.042), "thigh": (0.07, 0.07), "shin": (0.048, 0.05),
    "foot": (0.043, 0.04), "toe": (0.045, 0.022),
}  # fmt: skip
HEEL = -0.06  # the sole begins this far behind the ankle


def skeleton() -> dict[str, tuple[str | None, np.ndarray, np.ndarray]]:
    """Bone -> (parent, head (3,), tail (3,)), parents first; x ahead, y left, z up."""
    bones = dict(_SPINE)
    for side, sign in ((".L", 1.0), (".R", -1.0)):
        for name, (parent, head, tail) in _SIDE.items():
            mirror = np.array([1.0, sign, 1.0])
            parent = parent if parent in _SPINE else parent + side
            bones[name + side] = (parent, mirror * head, mirror * tail)
    return {name: (parent, np.array(head), np.array(tail)) for name, (parent, head, tail) in bones.items()}


def make_figure(name: str, to_local: np.ndarray) -> bpy.types.Object:
    """The armature with its body; to_local (3, 3) turns ahead-left-up into the armature's own axes."""
    bones = skeleton()
    rig = make_armature(name, to_local, bones)
    parts = {}
    for bone_name, (_, head, tail) in bones.items():
        points, faces = solid(bone_name.partition(".")[0], head, tail)
        parts[bone_name] = points @ to_local.T, faces
    skin(rig, parts)
    return rig


def make_armature(name: str, to_local: np.ndarray, bones) -> bpy.types.Object:
    """An armature of bones as ``skeleton`` has them, without a body."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (parent, head, tail) in bones.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail = to_local @ head, to_local @ tail
        if parent:
            bone.parent = data.edit_bones[parent]
            bone.use_connect = (bone.parent.tail - bone.head).length < 1e-5
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def make_body(rig: bpy.types.Object, height: float) -> bpy.types.Object:
    """A body of round solids for an armature of any kind, about as tall as said (metres)."""
    return skin(rig, solids_of(rig, height))


def solids_of(rig: bpy.types.Object, height: float, girth: float = 1.0) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """A round solid for each bone of an armature of any kind, as ``skin`` takes them.

    girth: multiplies how thick trunk and head are; limbs, that must not touch, grow by its fourth root.
    """
    parts = {}
    for bone in rig.data.bones:
        # Importers give bones without length a stub, and a root on the ground all the way to the hips.
        if 0.005 * height < bone.length < 0.4 * height:
            radius = body_radius(bone, height) * (girth if _trunk_radius(bone) else girth**0.25)
            across = np.array(bone.matrix_local)[:3, 0]
            parts[bone.name] = capsule(np.array(bone.head_local), np.array(bone.tail_local), across, radius, radius)
    return parts


_STOUT = {"head": 0.085, "neck": 0.05} | dict.fromkeys(
    ("hip", "pelvis", "spine", "back", "chest", "thorax", "torso", "abdomen"), 0.095
)


def body_radius(bone: bpy.types.Bone, height: float) -> float:
    """Radius of a bone's solid, metres: a trunk is stout, long limbs are thicker than short ones."""
    unit, stout = height / 1.8, _trunk_radius(bone)
    return unit * stout if stout else min(max(0.14 * bone.length, 0.02 * unit), 0.06 * unit)


def _trunk_radius(bone: bpy.types.Bone) -> float:
    """Radius of a bone of trunk or head, by its name, in a body of 1.8 m; 0 of others."""
    return next((radius for word, radius in _STOUT.items() if word in bone.name.lower()), 0.0)


def skin(rig: bpy.types.Object, parts: dict[str, tuple[np.ndarray, np.ndarray]]) -> bpy.types.Object:
    """One mesh of parts, bone -> (vertices (V, 3), quads (Q, 4)), each following its bone."""
    counts = [len(points) for points, _ in parts.values()]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    vertices = np.concatenate([points for points, _ in parts.values()])
    faces = np.concatenate([quads + start for (_, quads), start in zip(parts.values(), starts, strict=True)])
    mesh = bpy.data.meshes.new(f"{rig.name} body")
    mesh.from_pydata(vertices.tolist(), [], faces.tolist())
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), bool))
    body = bpy.data.objects.new(mesh.name, mesh)
    bpy.context.scene.collection.objects.link(body)
    body.parent = rig
    for (bone_name, _), start, count in zip(parts.items(), starts, counts, strict=True):
        body.vertex_groups.new(name=bone_name).add(range(start, start + count), 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return body


def capsule(head, tail, across, width: float, depth: float, rings: int = 12, around: int = 18):
    """A rounded rod from head to tail (3,): vertices (V, 3) and quads (Q, 4), normals outward.

    across: direction of the half width; it is made square to the rod.
    """
    length = np.linalg.norm(tail - head)
    along = (tail - head) / length
    across = across - along * (across @ along)
    across = across / np.linalg.norm(across)
    side = np.cross(along, across)
    cap = min(width, depth)
    latitude = np.linspace(-np.pi / 2, np.pi / 2, rings)[:, None]
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)[None]
    height = cap * np.sin(latitude) + np.where(latitude > 0, length, 0.0)
    ring = np.cos(latitude)
    points = (
        head
        + (height + 0.0 * angle)[..., None] * along
        + (ring * np.cos(angle) * width)[..., None] * across
        + (ring * np.sin(angle) * depth)[..., None] * side
    )
    start = around * np.arange(rings - 1)[:, None] + np.arange(around)
    after = around * np.arange(rings - 1)[:, None] + (np.arange(around) + 1) % around
    quads = np.stack([start, after, after + around, start + around], axis=-1).reshape(-1, 4)
    return points.reshape(-1, 3), quads


def solid(kind: str, head: np.ndarray, tail: np.ndarray):
    """The figure's own solid of one bone; soles are flat and end where the ground is."""
    width, depth = _GIRTH[kind]
    left = np.array([0.0, 1.0, 0.0])
    across = np.array([1.0, 0.0, 0.0]) if kind in ("upper_arm", "forearm", "hand", "clavicle") else left
    if kind == "hand":
        width, depth = depth, width
    if kind == "hips":
        head = head - [0.0, 0.0, 0.02]
    if kind == "foot":
        head, tail = np.array([HEEL + 0.04, head[1], 0.04]), np.array([0.12, head[1], 0.03])
    if kind == "head":
        head, tail = head + [0.015, 0.0, 0.04], np.array([0.04, 0.0, 1.80 - width])
    points, quads = capsule(head, tail, across, width, depth)
    if kind in ("foot", "toe"):
        points[:, 2] = np.maximum(points[:, 2], 0.0)
    return points, quads
