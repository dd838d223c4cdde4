"""Blender's own way to have one mesh follow another: the modifier Surface Deform."""

from __future__ import annotations

import bpy
import numpy as np

from benchmarks.baselines.deformation_transfer import fitted_to


def surface_deform(
    source: tuple[np.ndarray, np.ndarray], target: tuple[np.ndarray, np.ndarray], frames: np.ndarray
) -> np.ndarray | None:
    """Vertices (F, V, 3) of a target that is bound to a source which goes through frames (F, S, 3).

    None where the modifier cannot be bound.
    source, target: vertices and triangles, facing alike, in poses that answer to each other. The source is stretched so
    that its box is the target's, else nothing would be near.
    """
    (places, faces), (rest, triangles) = source, target
    bpy.ops.wm.read_homefile(use_empty=True)
    cage, follower = _add("Cage", fitted_to(places, rest), faces), _add("Follower", rest, triangles)
    modifier = follower.modifiers.new("Follow", "SURFACE_DEFORM")
    modifier.target = cage
    bpy.context.view_layer.objects.active = follower
    with bpy.context.temp_override(object=follower, active_object=follower):
        bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    if not modifier.is_bound:
        return None
    out = np.empty((len(frames), len(rest), 3))
    for number, moved in enumerate(fitted_to(frames, rest, places)):
        cage.data.vertices.foreach_set("co", np.ascontiguousarray(moved, np.float32).ravel())
        cage.data.update()
        shown = follower.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        flat = np.empty(3 * len(rest), np.float32)
        shown.vertices.foreach_get("co", flat)
        out[number] = flat.reshape(-1, 3)
    return out


def _add(name: str, vertices: np.ndarray, triangles: np.ndarray):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], triangles.tolist())
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob
