"""Animals whose rigs play clips of the same names: joints of one drive the mesh of another, whose own clip is right."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import bpy
import numpy as np

from ._rig_meshes import places_of, triangles_of
from .datasets import data_file

FPS = 24.0


@dataclass(frozen=True)
class RigClips:
    """By clip: vertices (F, V, 3) and points (F, J, 3), world, metres, as Blender plays them.  triangles (T, 3)."""

    vertices: dict[str, np.ndarray]
    points: dict[str, np.ndarray]
    triangles: np.ndarray


@functools.cache
def rig_clips(file: str, clips: tuple[str, ...]) -> RigClips:
    """Of the largest mesh of a file of the data folder, as the importer leaves it: split at seams and hard edges.

    clips: ends of actions' names, in any case.
    """
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps = int(FPS)
    bpy.ops.import_scene.gltf(filepath=str(data_file(file)))
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    ob = max(
        (ob for ob in bpy.context.scene.objects if ob.type == "MESH" and ob.find_armature() == rig),
        key=lambda found: len(found.data.vertices),
    )
    for track in rig.animation_data.nla_tracks:
        track.mute = True
    found = {clip: _played(rig, ob, clip) for clip in clips}
    vertices, points = ({clip: sides[side] for clip, sides in found.items()} for side in (0, 1))
    return RigClips(vertices, points, triangles_of(ob.data))


def _played(rig, ob, clip: str) -> tuple[np.ndarray, np.ndarray]:
    action = next(action for action in bpy.data.actions if action.name.lower().endswith(f"{clip.lower()}"))
    rig.animation_data.action = action
    if hasattr(action, "slots"):
        rig.animation_data.action_slot = action.slots[0]
    first, last = np.round(action.frame_range).astype(int)
    vertices, points = [], []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        vertices.append(places_of(ob.evaluated_get(bpy.context.evaluated_depsgraph_get())))
        points.append([rig.matrix_world @ end for bone in rig.pose.bones for end in (bone.head, bone.tail)])
    return np.array(vertices, float), np.array(points)
