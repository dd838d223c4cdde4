"""A horse of 8,431 vertices and 50 components that follows a dog's joints, in the open file of the bpy module."""

from __future__ import annotations

import importlib
import time

import bpy
import numpy as np

from ._map_source import clip as clip_points
from ._map_target import horse_frames

FPS = 60
PAIRS = 8
clock = time.perf_counter


class MapScene:
    """The target shows one shape a frame; the source's points are empties with curves; 8 pairs, live.

    mesh_source: the source is all vertices of an equal mesh instead, which shows the target's first frames.
    """

    def __init__(self, package: str, mesh_source: bool = False):
        self.package = package
        self.live = self.module("workflows.core.live")
        self.runs = self.module("state.live_runs").live_runs
        bpy.ops.wm.read_homefile(use_empty=True)
        self.scene, self.layer = bpy.context.scene, bpy.context.view_layer
        self.scene.render.fps = FPS
        vertices, triangles = horse_frames()
        vertices = vertices[..., [0, 2, 1]] * [1, -1, 1]
        self.rest = vertices[0]
        self.target = _shapes("Horse", vertices, triangles)
        settings = self.target.motion_loom_map
        if mesh_source:
            settings.source = _shapes("Model", vertices, triangles)
        else:
            settings.source_collection = self._points("Dog", clip_points("dog", "walk00")[0])
        self._make_live(len(vertices))

    @property
    def run(self):
        """What is known of the target at run time."""
        return self.runs.runs[self.target.session_uid, "map"]

    @property
    def frames(self) -> np.ndarray:
        """Scene frames (F,) of the source."""
        return self.module("workflows.map.model").clip_of(self.target).frames

    @property
    def components(self) -> int:
        return self.module("workflows.map.model").target_of(self.target).space.components

    def module(self, name: str):
        return importlib.import_module(f"{self.package}.{name}")

    def require_ready(self) -> None:
        status = self.live.status(self.target, "map")
        if status.problem or status.track != "READY":
            raise RuntimeError(f"'{self.target.name}' does not follow: {status}")

    def _make_live(self, shapes: int) -> None:
        settings = self.target.motion_loom_map
        self.layer.objects.active = self.target
        began = clock()
        bpy.ops.motion_loom.fit(workflow="map")
        self.learn_seconds = clock() - began
        at = np.linspace(0, 1, PAIRS)
        for source, target in zip(self.frames[-1] * at, 1 + (shapes - 1) * at, strict=True):
            pair = settings.pairs.add()
            pair.source_frame, pair.target_frame = max(float(np.round(source)), self.frames[0]), float(np.round(target))
        bpy.ops.motion_loom.live(workflow="map")
        self.scene.frame_set(int(self.frames[0]))
        self.require_ready()

    def _points(self, name: str, positions: np.ndarray):
        """A collection of empties that go through positions (F, J, 3), from frame 1."""
        actions = self.module("scene.actions")
        collection = bpy.data.collections.new(name)
        self.scene.collection.children.link(collection)
        for joint in range(positions.shape[1]):
            empty = bpy.data.objects.new(f"{name} {joint:02}", None)
            collection.objects.link(empty)
            action, slot = actions.create(empty, empty.name)
            actions.assign(empty, action, slot)
            curves = actions.curve_list(action, slot, create=True)
            for axis in range(3):
                times, values = np.arange(1, len(positions) + 1.0), positions[:, joint, axis]
                actions.write_curve(curves, "location", axis, None, times, values)
        return collection


def _shapes(name: str, vertices: np.ndarray, triangles: np.ndarray):
    """A mesh object that shows vertices (F, V, 3) at scene frames 1 to F, as absolute shape keys."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices[0].tolist(), [], triangles.tolist())
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    for number, shape in enumerate(vertices, start=1):
        key = ob.shape_key_add(name=f"Frame {number}", from_mix=False)
        key.points.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())
    keys = mesh.shape_keys
    keys.use_relative = False
    for number, block in enumerate(keys.key_blocks, start=1):
        keys.eval_time = block.frame
        keys.keyframe_insert("eval_time", frame=number)
    return ob
