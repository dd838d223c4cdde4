"""Meshes that move, as tests of Map build them, and readings of them by Blender itself, frame by frame."""

import bpy
import numpy as np

from tests.linked import linked as from_file


def add_mesh(name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], [], [[int(i) for i in f if i >= 0] for f in faces])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def add_strip(name="Strip", count=12, width=0.3):
    """An upright strip of quads, count rows high."""
    rows = [(x * width, 0.05 * r, 0.25 * r) for r in range(count) for x in (-1, 0, 1)]
    faces = [
        (3 * r + c, 3 * r + c + 1, 3 * r + c + 4, 3 * r + c + 3) for r in range(count - 1) for c in range(2)
    ]
    return add_mesh(name, rows, faces)


def positions(of):
    """Vertices (V, 3) of a mesh or of a shape key."""
    points = of.vertices if hasattr(of, "vertices") else of.points
    out = np.empty(3 * len(points), np.float32)
    points.foreach_get("co", out)
    return out.reshape(-1, 3)


def world_positions(ob, graph=None):
    """World vertices (V, 3) of an object as it is evaluated."""
    evaluated = ob.evaluated_get(graph or bpy.context.evaluated_depsgraph_get())
    world = np.array(evaluated.matrix_world)
    return positions(evaluated.data) @ world[:3, :3].T + world[:3, 3]


def add_keys(ob, count=4, seed=0, size=0.4):
    """A basis and count keys of random bumps."""
    rng = np.random.default_rng(seed)
    base = positions(ob.data)
    ob.shape_key_add(name="Basis")
    for number in range(count):
        key = ob.shape_key_add(name=f"Key {number}")
        key.points.foreach_set("co", (base + rng.normal(0, size, base.shape)).astype(np.float32).ravel())
    return ob.data.shape_keys


def key_values(keys, seed=1, frames=(1, 5, 9, 14), low=-0.2, high=1.3):
    rng = np.random.default_rng(seed)
    for block in keys.key_blocks[1:]:
        for frame in frames:
            block.value = float(np.clip(rng.uniform(low, high), block.slider_min, block.slider_max))
            block.keyframe_insert("value", frame=frame)


def seen(ob, frames):
    """Vertices (F, V, 3) of the final mesh, own space, and world matrices (F, 4, 4), by Blender; the frame is kept."""
    scene = bpy.context.scene
    before = scene.frame_current, scene.frame_subframe
    vertices, worlds = [], []
    for frame in frames:
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=float(frame - whole))
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        vertices.append(positions(evaluated.to_mesh()))
        evaluated.to_mesh_clear()
        worlds.append(np.array(evaluated.matrix_world))
    scene.frame_set(before[0], subframe=before[1])
    return np.array(vertices), np.array(worlds)


def run(steps):
    """The result of a generator, and what it yielded."""
    shares = []
    while True:
        try:
            shares.append(next(steps))
        except StopIteration as stop:
            return stop.value, shares


def linked(ob, tmp_path, override):
    """An object as it comes from a library file in an otherwise empty scene, overridden or not."""
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(ob)
    collection.objects.link(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    collection = from_file(tmp_path / "library.blend", collection="Set")
    if override:
        collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    return next(ob for ob in bpy.context.scene.objects if (ob.library is None) == override)
