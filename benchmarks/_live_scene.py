"""The standard problem of ``_adapt_speed`` as a live rig among objects, in the open file of the bpy module."""

from __future__ import annotations

import importlib
from dataclasses import replace

import bpy
import numpy as np

from . import _adapt_speed
from .blender_rig import build_armature, build_mesh, set_vertices

WORKFLOW = "adapt"
SKINNED = 10_000
# Metres that a box moves in one step of a drag, and how deep it is dented.
STEP, DENT = 0.002, 0.02


class LiveScene:
    """Live rigs that play the clip of the standard problem, as in a window: frames are solved in handlers, tracks by
    ``finish``."""

    def __init__(self, package: str):
        self.package = package
        self.live = self._module("workflows.core.live")
        self.runs = self._module("state.live_runs").live_runs
        self.problem = _adapt_speed.standard()
        bpy.ops.wm.read_homefile(use_empty=True)
        self.rigs = [build_armature(package, self.problem.track, "Rig")]
        self.objects = [build_mesh(mesh) for mesh in self.problem.before]
        self.box = next(ob for ob in self.objects if ob.name != "Ground")
        self.scene, self.layer = bpy.context.scene, bpy.context.view_layer
        self.runs.at_once = False
        self._make_live(self.rigs[0])

    @property
    def rig(self):
        return self.rigs[0]

    @property
    def run(self):
        """What is known of the first rig at run time."""
        return self.runs.runs[self.rig.session_uid, WORKFLOW]

    @property
    def depsgraph(self):
        return self.layer.depsgraph

    def binding(self):
        """What is bound of the first rig."""
        return self._module("workflows.environment.model").stored_of(self.rig, self._workflow()).binding

    def more_rigs(self, count: int) -> None:
        """Until there are so many, all live in the same environment."""
        for number in range(len(self.rigs), count):
            self.rigs.append(build_armature(self.package, self.problem.track, f"Rig {number}"))
            self._make_live(self.rigs[-1])

    def add_skin(self) -> None:
        """A mesh of 10,000 vertices around the bones, each moved by two of them."""
        names = [bone.name for bone in self.rig.data.bones]
        heads = np.array([bone.head_local for bone in self.rig.data.bones])
        rng = np.random.default_rng(0)
        nearest = rng.integers(len(names), size=SKINNED)
        data = bpy.data.meshes.new("Skin")
        triangles = np.arange(SKINNED - SKINNED % 3).reshape(-1, 3).tolist()
        data.from_pydata((heads[nearest] + rng.normal(0, 0.05, (SKINNED, 3))).tolist(), [], triangles)
        skin = bpy.data.objects.new("Skin", data)
        self.scene.collection.objects.link(skin)
        for bone, name in enumerate(names):
            group = skin.vertex_groups.new(name=name)
            for share, shift in ((0.7, 0), (0.3, 1)):
                group.add(np.flatnonzero((nearest + shift) % len(names) == bone).tolist(), share, "REPLACE")
        skin.modifiers.new("Armature", "ARMATURE").object = self.rig
        self.layer.update()

    def remove_skin(self) -> None:
        bpy.data.objects.remove(bpy.data.objects["Skin"])
        self.finish()

    def finish(self) -> None:
        """All frames are solved and written, as a timer would do it."""
        self.scene.frame_set(self.scene.frame_current)
        for run in self.runs.runs.values():
            run.due = 0.0
        while self.live._tick() is not None:
            for run in self.runs.runs.values():
                if run.job is not None:
                    run.job.wait()
        self.scene.frame_set(self.scene.frame_current)
        self.require_ready()

    def require_ready(self) -> None:
        for rig in self.rigs:
            status = self.live.status(rig, WORKFLOW)
            if status.problem or status.track != "READY":
                raise RuntimeError(f"'{rig.name}' is not up to date: {status}")

    def move_box(self, number: int) -> None:
        self.box.location.z = STEP * number

    def dent_box(self, number: int) -> None:
        """Its corners at one side go in and out."""
        vertices = next(mesh.vertices[0] for mesh in self.problem.before if mesh.name == self.box.name).copy()
        near = vertices[:, 0] > np.median(vertices[:, 0])
        vertices[near, 2] -= DENT * (1 + np.sin(number)) / 2
        set_vertices(self.box, vertices)

    def _make_live(self, rig) -> None:
        self.layer.objects.active = rig
        for ob in self.objects:
            rig.motion_loom_adapt.surfaces.add().target = ob
        bpy.ops.motion_loom.fit(workflow=WORKFLOW)
        self._bind_all_joints(rig)
        bpy.ops.motion_loom.live(workflow=WORKFLOW)

    def _bind_all_joints(self, rig) -> None:
        """The choice of joints leaves out fingers, and some descriptors with them; the standard problem has all."""
        stored = self._module("workflows.environment.model").stored_of(rig, self._workflow())
        frames = stored.binding.track.frames
        whole = self._module("scene.motion").read_motion(bpy.context, rig, frames).joints()
        known = self.problem.track.skeleton.names
        held = {name for name, is_held in zip(known, self.problem.effectors, strict=True) if is_held}
        ends = {end: self._joint_of(rig, end) for end in whole.skeleton.names}
        effectors = np.array([ends[name] in held for name in whole.skeleton.names])
        problem = replace(self.problem, track=whole, effectors=effectors)
        problem.keep(problem.bind())
        parents = whole.skeleton.parents
        joints = self._module("solvers.skeleton.solved_joints").SolvedJoints(
            np.arange(len(parents)), parents, effectors, parents < 0
        )
        settings = rig.motion_loom_adapt
        pack = self._module("workflows.environment.store").pack
        packed = pack(replace(stored, binding=problem.binding, solved=joints))
        old, settings.binding = settings.binding, self._module("scene.binding_store").save(rig.name, *packed)
        bpy.data.batch_remove([old])

    def _joint_of(self, rig, name: str) -> str:
        """The standard problem's name of a joint: the tail of a bone is its only child."""
        bone, _, tail = name.partition("/")
        if not tail:
            return name
        names, parents = self.problem.track.skeleton.names, self.problem.track.skeleton.parents
        return names[int(np.flatnonzero(parents == names.index(bone))[0])]

    def _workflow(self):
        return self._module("workflows.core.registry").by_id(WORKFLOW)

    def _module(self, name: str):
        return importlib.import_module(f"{self.package}.{name}")
