"""What is mapped onto what: the demo's walker onto the caterpillar, or a dog onto a horse where the data are there.

A stage leaves its target active, with nothing learnt, and says which pose of the target answers to one of the source.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

_FOOT = 10  # of the dog's joints: the left forepaw
_LOW = 0.15  # metres: what of the horse is hoof


@dataclass(frozen=True)
class Stage:
    """target: name of the mesh object.  source: an object or a collection, as the panel is told.
    answer: frame of the source -> frame of the target.  is_real: whether it is of captured data."""

    target: str
    source: bpy.types.ID
    answer: Callable[[float], float]
    is_real: bool


def make_stage() -> Stage:
    """Dog and horse where the environment's MOTION_LOOM_DATA names a folder, else walker and caterpillar."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    data = os.environ.get("MOTION_LOOM_DATA")
    stage = _real(Path(data)) if data else _made()
    bpy.context.view_layer.update()
    target = bpy.data.objects[stage.target]
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob == target)
    bpy.context.view_layer.objects.active = target
    return stage


def _made() -> Stage:
    """Two steps of the walker, 32 frames, answer to one wave of the crawl, 24 frames."""
    from caterpillar_in_blender import add_caterpillar
    from gait import PERIOD
    from walker import FPS, make_walker

    cat = add_caterpillar(name="Caterpillar")
    cat.location.y = 1.0
    rig = make_walker()
    settings = cat.motion_loom_map
    settings.use_target_range, settings.target_start, settings.target_end = True, 1, 145
    cycle = 2.0 * PERIOD * FPS
    return Stage(cat.name, rig, lambda frame: 49.0 + 24.0 * (frame / cycle % 1.0), False)


def _real(data: Path) -> Stage:
    points = np.loadtxt(data / "point_seq" / "dog" / "dog_walk00_joint_pos.txt", delimiter=",")
    points = _upright(points.reshape(len(points), -1, 3))
    read = np.load(data / "mesh_seq" / "horse_gallop.npz")
    vertices = _upright(read["verts"][:24].astype(float))  # the rest repeats them
    bpy.context.scene.render.fps = 60
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(points)
    source = _empties("Dog", points)
    horse = _keyed("Horse", vertices, read["faces"])
    horse.location.x = 1.2
    paw = _phase((points[:, _FOOT] - points.mean(axis=1)) @ [0.0, -1.0, 0.0])
    still = vertices.mean(axis=0)
    hoof = (still[:, 2] < still[:, 2].min() + _LOW) & (still[:, 0] > 0.0) & (still[:, 1] < 0.0)
    step = _phase((vertices.mean(axis=1) - vertices[:, hoof].mean(axis=1)) @ [0.0, 1.0, 0.0])

    def answer(frame: float) -> float:
        place = paw[int(np.clip(round(frame) - 1, 0, len(paw) - 1))]
        return 1.0 + float(np.linalg.norm(step - place, axis=1).argmin())

    return Stage(horse.name, source, answer, True)


def _upright(points: np.ndarray) -> np.ndarray:
    """Z up of Y up."""
    return points[..., [0, 2, 1]] * [1.0, -1.0, 1.0]


def _phase(forward: np.ndarray) -> np.ndarray:
    """(F, 2) how far ahead a foot is, and how fast it goes ahead, both with a deviation of 1."""
    pair = np.stack((forward - forward.mean(), np.gradient(forward)), axis=1)
    return pair / pair.std(axis=0)


def _empties(name: str, points: np.ndarray) -> bpy.types.Collection:
    """A collection of empties keyed to points (F, J, 3)."""
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for number in range(points.shape[1]):
        empty = bpy.data.objects.new(f"{name} {number:02}", None)
        empty.empty_display_size = 0.04
        collection.objects.link(empty)
        empty.keyframe_insert("location", frame=1)
        for axis, curve in enumerate(_curves(empty)):
            curve.keyframe_points.add(len(points) - 1)
            keys = np.stack((np.arange(1.0, len(points) + 1), points[:, number, axis]), axis=1)
            curve.keyframe_points.foreach_set("co", keys.astype(np.float32).ravel())
            curve.update()
    return collection


def _keyed(name: str, vertices: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
    """A mesh with an absolute shape key each frame, vertices (F, V, 3)."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices[0].tolist(), [], [[i for i in face if i >= 0] for face in faces.tolist()])
    mesh.update()
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    for number, shape in enumerate(vertices, start=1):
        key = ob.shape_key_add(name=f"frame {number}", from_mix=False)
        key.points.foreach_set("co", shape.astype(np.float32).ravel())
    keys = mesh.shape_keys
    keys.use_relative = False
    for number, block in enumerate(keys.key_blocks, start=1):
        keys.eval_time = block.frame
        keys.keyframe_insert("eval_time", frame=number)
    return ob


def _curves(owner: bpy.types.ID) -> list:
    action = owner.animation_data.action
    if bpy.app.version >= (4, 4, 0):  # curves lie in the slots of an action's layers
        return list(action.layers[0].strips[0].channelbags[0].fcurves)
    return list(action.fcurves)
