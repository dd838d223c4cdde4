"""The caterpillar as an object with keyed shape keys: python examples/caterpillar_in_blender.py OUT.blend"""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from caterpillar import FPS, FRAMES, Caterpillar, make_caterpillar  # noqa: E402

STEP = 4  # frames from key to key
COLOURS = (
    (0.32, 0.62, 0.12), (0.85, 0.75, 0.10), (0.45, 0.20, 0.08),
    (0.20, 0.14, 0.10), (0.01, 0.01, 0.01), (0.10, 0.06, 0.05),
)  # fmt: skip


def add_caterpillar(
    made: Caterpillar | None = None, start: int = 1, travel_on_object: bool = False, name: str = "Caterpillar",
    fps: float = FPS,
) -> bpy.types.Object:  # fmt: skip
    """Put it into the scene with an absolute shape key every STEP frames and a keyed evaluation time.

    start: scene frame of its first.  travel_on_object: whether the object's location is keyed to move along, the shapes
    staying about its origin; otherwise the vertices travel. fps: scene frames for each of its seconds. The scene's
    range and rate are set to it.
    """
    made = make_caterpillar() if made is None else made
    frames = np.unique(np.append(np.arange(0, FRAMES, STEP), FRAMES - 1))
    shapes = made.vertices[frames] - (made.travel[frames, None] if travel_on_object else 0.0)
    ob = bpy.data.objects.new(name, _mesh(name, made, shapes[0]))
    bpy.context.scene.collection.objects.link(ob)
    for frame, shape in zip(frames, shapes, strict=True):
        key = ob.shape_key_add(name=f"frame {start + frame}", from_mix=False)
        key.interpolation = "KEY_LINEAR"
        key.points.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())
    keys = ob.data.shape_keys
    keys.use_relative = False
    at = start + frames * (fps / FPS)
    _key_linearly(keys, "eval_time", at, [block.frame for block in keys.key_blocks])
    if travel_on_object:
        _key_linearly(ob, "location", at, made.travel[frames].tolist())
    scene = bpy.context.scene
    scene.render.fps = round(fps)
    scene.render.fps_base = scene.render.fps / fps
    scene.frame_start, scene.frame_end = start, int(at[-1])
    return ob


def _mesh(name: str, made: Caterpillar, shape: np.ndarray) -> bpy.types.Mesh:
    """A mesh of the first shape (V, 3), with a material for each kind of face."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(shape.tolist(), [], [*made.quads.tolist(), *made.triangles.tolist()])
    for number, colour in enumerate(COLOURS):
        material = bpy.data.materials.new(f"{name} {number}")
        material.diffuse_color = (*colour, 1.0)
        material.use_nodes = True
        shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
        shader.inputs["Base Color"].default_value = (*colour, 1.0)
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", made.colours.astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(made.colours), bool))
    mesh.update()
    return mesh


def _key_linearly(owner, path: str, frames, values) -> None:
    """Key a property with straight lines between its values."""
    for frame, value in zip(frames, values, strict=True):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=float(frame))
    action = owner.animation_data.action
    # Since 4.4 curves lie in the slots of an action's layers.
    holders = action.layers[0].strips[0].channelbags if bpy.app.version >= (4, 4, 0) else [action]
    for curve in (curve for holder in holders for curve in holder.fcurves):
        curve.keyframe_points.foreach_set("interpolation", np.ones(len(curve.keyframe_points), np.int32))  # linear
        curve.update()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    bpy.ops.wm.read_homefile(use_empty=True)
    add_caterpillar()
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(sys.argv[1]).resolve()))
