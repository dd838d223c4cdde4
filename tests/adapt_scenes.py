"""A walker on a floor with a step, for tests of Adapt: small, made from formulas, its feet planted exactly."""

from __future__ import annotations

import importlib

import bpy
import numpy as np
from mathutils import Matrix, Vector

from benchmarks.blender_rig import build_armature, set_vertices
from checkout import PACKAGE
from solvers.core.types import JointTrack, Skeleton
from tests import objects
from tests.rig_scenes import watch

STRIDE, STEP_HEIGHT = 0.5, 0.15
FRAMES = np.arange(1, 25)
_BODY = {
    "hips": None, "spine": "hips", "chest": "spine", "neck": "chest", "head": "neck", "crown": "head",
    "arm.L": "chest", "elbow.L": "arm.L", "wrist.L": "elbow.L", "hand.L": "wrist.L",
    "arm.R": "chest", "elbow.R": "arm.R", "wrist.R": "elbow.R", "hand.R": "wrist.R",
    "thigh.L": "hips", "knee.L": "thigh.L", "ankle.L": "knee.L", "toe.L": "ankle.L", "tip.L": "toe.L",
    "thigh.R": "hips", "knee.R": "thigh.R", "ankle.R": "knee.R", "toe.R": "ankle.R", "tip.R": "toe.R",
}  # fmt: skip


def walk(frames: np.ndarray = FRAMES, fps: float = 24.0) -> JointTrack:
    """One step of each foot: the right one onto a step, the left one past it. Knees bend by the law of cosines."""
    t = np.linspace(0.0, 1.0, len(frames))
    right, left = _foot(np.clip(2 * t, 0, 1), -0.5, STEP_HEIGHT), _foot(np.clip(2 * t - 1, 0, 1), 0.0, STEP_HEIGHT)
    ankles = {"L": left + [0.1, 0, 0.1], "R": right + [-0.1, 0, 0.1]}
    hips = np.stack([0 * t, -0.05 + 0.5 * t, 0.86 + 0.1 * t - 0.03 * np.cos(4 * np.pi * t)], axis=1)
    at = {"hips": hips}
    for name, height in (("spine", 0.1), ("chest", 0.3), ("neck", 0.52), ("head", 0.6), ("crown", 0.8)):
        at[name] = hips + [0, 0.02 * height, height]
    for side, x in (("L", 1.0), ("R", -1.0)):
        swing = 0.4 * x * np.cos(2 * np.pi * t)
        down = np.stack([0 * t + 0.1 * x, np.sin(swing), -np.cos(swing)], axis=1)
        at[f"arm.{side}"] = at["chest"] + [0.18 * x, 0, 0.15]
        for joint, above, length in (("elbow", "arm", 0.28), ("wrist", "elbow", 0.25), ("hand", "wrist", 0.09)):
            at[f"{joint}.{side}"] = at[f"{above}.{side}"] + length * down
        at[f"thigh.{side}"] = hips + [0.1 * x, 0, -0.05]
        at[f"knee.{side}"] = _knee(at[f"thigh.{side}"], ankles[side], 0.43, 0.42)
        at[f"ankle.{side}"] = ankles[side]
        at[f"toe.{side}"] = ankles[side] + [0, 0.14, -0.07]
        at[f"tip.{side}"] = ankles[side] + [0, 0.21, -0.07]
    names = tuple(_BODY)
    parents = np.array([names.index(_BODY[name]) if _BODY[name] else -1 for name in names])
    return JointTrack(Skeleton(names, parents), np.stack([at[name] for name in names], axis=1), fps, frames)


def _foot(share, start, height):
    """(F, 3) a foot that goes one stride and a half ahead and up the step."""
    ease = share * share * (3 - 2 * share)
    lift = np.minimum(share * 3, 1.0) * height + 0.1 * np.sin(np.pi * share)
    return np.stack([0 * share, start + 2 * STRIDE * ease, np.where(share > 0, lift, 0.0)], axis=1)


def _knee(hip, ankle, thigh, shin):
    line = ankle - hip
    reach = np.minimum(np.linalg.norm(line, axis=1), 0.999 * (thigh + shin))
    along = (thigh**2 - shin**2 + reach**2) / (2 * reach)
    ahead = np.cross([1.0, 0, 0], line)
    ahead *= np.sign(ahead[:, 1:2]) / np.linalg.norm(ahead, axis=1)[:, None]
    off = np.sqrt(np.maximum(thigh**2 - along**2, 0.0))
    return hip + line / np.linalg.norm(line, axis=1)[:, None] * along[:, None] + ahead * off[:, None]


def workflow():
    """Adapt as it is registered."""
    return importlib.import_module(f"{PACKAGE}.workflows.core.registry").by_id("adapt")


def add_walker(name="Rig", **kind):
    """The armature object; see `walk` for kind."""
    return build_armature(PACKAGE, walk(**kind), name)


def add_grid(name, x, y, z=0.0, cells=8):
    """A flat grid of quads from x[0] to x[1] and y[0] to y[1]."""
    u, v = np.meshgrid(np.linspace(*x, cells + 1), np.linspace(*y, cells + 1), indexing="ij")
    corners = np.stack([u, v, 0 * u + z], axis=-1).reshape(-1, 3)
    a = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    return add_mesh(name, corners, np.stack([a, a + cells + 1, a + cells + 2, a + 1], axis=1))


def add_box(name, low, high):
    corners = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return add_mesh(name, corners, quads)


def add_mesh(name, vertices, faces):
    data = bpy.data.meshes.new(name)
    data.from_pydata(np.asarray(vertices, float).tolist(), [], np.asarray(faces).tolist())
    return objects.add_object(name, data)


def add_collection(name, *objects):
    """A collection of the scene with these objects, which leave the scene's own."""
    group = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(group)
    for ob in objects:
        group.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    return group


def raise_step(height=0.12):
    bpy.data.objects["Step"].location.z += height
    bpy.context.view_layer.update()


def add_shape_key(ob, edit, keys=()):
    """A shape key whose points (V, 3) are an edit of the basis; keys: frame and value of each."""
    ob.shape_key_add(name="Basis")
    key = ob.shape_key_add(name="Shape")
    flat = np.empty(3 * len(key.data), np.float32)
    key.data.foreach_get("co", flat)
    key.data.foreach_set("co", np.asarray(edit(flat.reshape(-1, 3)), np.float32).ravel())
    key.value = 0.0
    objects.key(key, "value", dict(keys))
    return key


def add_scene(**kind):
    """Rig, Floor and Step; returns the rig."""
    rig = add_walker(**kind)
    add_floor_and_step()
    return rig


def add_floor_and_step():
    add_grid("Floor", (-1.5, 1.5), (-1.5, 2.5))
    add_box("Step", (-0.6, 0.3, -0.5), (0.6, 1.6, STEP_HEIGHT))
    bpy.context.view_layer.update()


def add_controls(rig):
    """A root below the hips, a socket and a target keyed to go with a hand, a pole under the root, a bone by itself.

    None of them deforms, so that none is taken for a part of the body.
    """
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    places = {"root": (0, 0, 0), "socket": bones["wrist.L"].tail, "ik_hand": bones["wrist.L"].head}
    places |= {"pole": (0, -2, 0.5), "alone": (3, 0, 0)}
    for name, place in places.items():
        bone = bones.new(name)
        bone.head = place
        bone.tail = bone.head + Vector((0, 0.2, 0))
        bone.parent = bones["root"] if name in ("socket", "ik_hand", "pole") else None
    bones["hips"].parent = bones["root"]
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in places:
        rig.data.bones[name].use_deform = False
    scene, hand, posed = bpy.context.scene, rig.pose.bones["wrist.L"], rig.pose.bones
    for frame in FRAMES:
        scene.frame_set(int(frame))
        for name, place in (("socket", hand.tail.copy()), ("ik_hand", hand.head.copy())):
            posed[name].matrix = Matrix.Translation(place)
            bpy.context.view_layer.update()
            posed[name].keyframe_insert("location", frame=frame)
    scene.frame_set(1)


def add_wall():
    """Beside the left arm."""
    wall = add_box("Wall", (0.45, -0.6, 0.5), (0.6, 1.2, 1.6))
    bpy.context.view_layer.update()
    return wall


def edit(name, reach=0.0):
    """Another vertex on the first face of an object, so far from it."""
    ob = bpy.data.objects[name]
    data = ob.data
    vertices = [tuple(v.co) for v in data.vertices]
    faces = [tuple(p.vertices) for p in data.polygons]
    centre, normal = data.polygons[0].center, data.polygons[0].normal
    first = faces.pop(0)
    vertices.append(tuple(centre + reach * normal))
    faces += [(first[k], first[(k + 1) % len(first)], len(vertices) - 1) for k in range(len(first))]
    data.clear_geometry()
    data.from_pydata(vertices, [], faces)
    bpy.context.view_layer.update()


def deform(name, edit):
    """Change an object's vertices by a function of (V, 3)."""
    ob = bpy.data.objects[name]
    flat = np.empty(3 * len(ob.data.vertices), np.float32)
    ob.data.vertices.foreach_get("co", flat)
    set_vertices(ob, edit(flat.reshape(-1, 3).astype(float)))


def bones_of(ob):
    return [bone.name for bone in ob.data.bones]


def joints_of(ob, frames=FRAMES, names=None):
    """World heads (F, B, 3) of the bones of these names, or of all in the armature's order, as Blender plays them."""
    pose, world = watch(ob, frames)
    heads = np.einsum("fab,fkb->fka", world[:, :3, :3], pose[..., :3, 3]) + world[:, None, :3, 3]
    return heads if names is None else heads[:, [ob.data.bones.find(name) for name in names]]


def ends_of(ob, frames):
    """(F, B, 4, 3) heads of all bones and the ends of their axes in world space, as Blender plays them."""
    pose, world = watch(ob, frames)
    lengths = np.array([bone.length for bone in ob.data.bones])
    heads = pose[..., :3, 3]
    axes = heads[:, :, None] + np.swapaxes(pose[..., :3, :3], -1, -2) * lengths[:, None, None]
    points = np.concatenate((heads[:, :, None], axes), axis=2)
    return np.einsum("fab,fkpb->fkpa", world[:, :3, :3], points) + world[:, None, None, :3, 3]
