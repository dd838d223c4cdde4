"""A walker on a floor with a step, for tests of Adapt: small, made from formulas, its feet planted exactly."""

from __future__ import annotations

import importlib

import bpy
import numpy as np
from mathutils import Matrix, Vector

from benchmarks.blender_rig import build_armature, set_vertices
from checkout import PACKAGE
from tests import objects
from tests.adapt_walk import FRAMES, STEP_HEIGHT, walk
from tests.rig_scenes import watch


def workflow():
    """Adapt as it is registered."""
    return importlib.import_module(f"{PACKAGE}.workflows.core.registry").by_id("adapt")


def bind_rig(rig, objects=None, start=None, end=None):
    """Bind as a script does, to Floor and Step unless objects are given."""
    bind = importlib.import_module(f"{PACKAGE}.workflows.environment.bind")
    objects = [bpy.data.objects[name] for name in ("Floor", "Step")] if objects is None else objects
    bind.bind_rig(bpy.context, rig, workflow(), objects, start, end)


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
