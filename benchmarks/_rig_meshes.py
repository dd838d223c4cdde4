"""Rigs of binary glTF files as Blender's importer leaves them: their meshes and joints over the frames of an action."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

FOLDERS = ("quadruped_rigs", "nonhumanoid_rigs", "biped_rigs", "ai4animation", "morph_glb")
# Shapes of bones that the importer leaves in the scene.
_NO_MESH = "Icosphere"
# Names of actions that show a body as it moves, the first that there is.
_MOVES = ("Walk", "Swimming_Fast", "Run")
_FRAMES = 40
# Of a rig without actions: by how many radians its bones turn, and frames of a cycle.
_TURN = 0.25


@dataclass(frozen=True)
class RigMesh:
    """vertices (F, V, 3) float32 and points (F, J, 3): the mesh's and its rig's, or every fifth vertex where there is
    none; world, metres.  triangles (T, 3)."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    points: np.ndarray

    @property
    def diagonal(self) -> float:
        return float(np.linalg.norm(np.ptp(self.vertices[0], axis=0)))


def rig_meshes(file: Path, smallest: int = 1) -> Iterator[RigMesh]:
    """Of a file that is imported into an empty scene: its meshes of so many vertices, over an action.

    A rig without actions is turned at all its bones.
    """
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(file))
    obs = [ob for ob in bpy.context.scene.objects if ob.type == "MESH" and not ob.name.startswith(_NO_MESH)]
    rig = next((ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"), None)
    frames, action = _frames_of(rig)
    seen: dict[str, list[np.ndarray]] = {ob.name: [] for ob in obs}
    joints = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        if rig is not None and action is None:
            _turn(rig, frame / _FRAMES)
        graph = bpy.context.evaluated_depsgraph_get()
        for ob in obs:
            seen[ob.name].append(places_of(ob.evaluated_get(graph)))
        if rig is not None:
            joints.append([rig.matrix_world @ end for bone in rig.pose.bones for end in (bone.head, bone.tail)])
    for ob in obs:
        vertices = np.array(seen[ob.name])
        if vertices.shape[1] >= smallest:
            yield RigMesh(ob.name, vertices, triangles_of(ob.data), np.array(joints) if joints else vertices[:, ::5])


def _frames_of(rig) -> tuple[np.ndarray, object]:
    actions = list(bpy.data.actions)
    if not actions:
        return np.arange(_FRAMES), None
    action = next((found for move in _MOVES for found in actions if move in found.name), actions[0])
    if rig is not None:
        for track in rig.animation_data.nla_tracks:
            track.mute = True
        rig.animation_data.action = action
        if hasattr(action, "slots"):
            rig.animation_data.action_slot = action.slots[0]
    first, last = action.frame_range
    frames = np.arange(np.ceil(first), np.floor(last) + 1)
    return frames[:: int(np.ceil(len(frames) / _FRAMES))], action


def _turn(rig, phase: float) -> None:
    rng = np.random.default_rng(0)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = rng.normal(0, _TURN, 3) * np.sin(2 * np.pi * phase + rng.uniform(0, 2 * np.pi, 3))


def places_of(ob) -> np.ndarray:
    """(V, 3) float32 of an evaluated mesh object, world."""
    mesh = ob.to_mesh()
    out = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", out)
    ob.to_mesh_clear()
    world = np.array(ob.matrix_world)
    return (out.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]).astype(np.float32)


def triangles_of(mesh) -> np.ndarray:
    """(T, 3)."""
    mesh.calc_loop_triangles()
    out = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", out)
    return out.reshape(-1, 3)
