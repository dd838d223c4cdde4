"""The demos' scenes in their colours, and rows of pictures: the same moments, seen from the same places."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import bpy
import clip
import numpy as np
import outputs
import strip
import walker

SKIN, GREY, GHOST = (0.80, 0.50, 0.28), (0.45, 0.45, 0.47), (0.05, 0.20, 0.85)
DARK, LIGHT, STONE = (0.30, 0.33, 0.29), (0.40, 0.43, 0.38), (0.16, 0.28, 0.46)
_COURSE = (STONE, STONE, (0.36, 0.20, 0.11), (0.50, 0.10, 0.08))


@dataclass(frozen=True)
class Stage:
    """A rig with its motion and its course, the floor first.  changes: the module that knows how to change that."""

    rig: bpy.types.Object
    course: list[bpy.types.Object]
    changes: ModuleType


def stage_of(path: str | None) -> Stage:
    """The demo's own walk, or a clip of the user's with stones put under its feet."""
    bpy.ops.wm.read_homefile(use_empty=True)
    if path is None:
        rig, course = walker.make_walker(), walker.make_course()
        colours, changes = _COURSE, walker
    else:
        rig, height = clip.load(path)
        course = clip.make_ground(rig, height)
        colours, changes = [STONE] * (len(course) - 1), clip
    strip.checker(course[0], DARK, LIGHT)
    for ob, colour in zip(course[1:], colours, strict=True):
        strip.paint(ob, colour)
    return Stage(rig, course, changes)


def body_of(rig: bpy.types.Object) -> bpy.types.Object:
    """The mesh that a rig moves."""
    return next(ob for ob in rig.children if ob.type == "MESH")


class Show:
    """moments: frames worth a picture; as many of them as args say are taken.  tall: height over width of one."""

    def __init__(self, rig: bpy.types.Object, moments, args, tall: float = 1.5, span: float = 2.35):
        self.body = body_of(rig)
        scene = bpy.context.scene
        self.frames = [moments[k] for k in np.linspace(0, len(moments) - 1, args.pictures).round().astype(int)]
        self.places = []
        for frame in self.frames:
            scene.frame_set(frame)
            bones = [rig.pose.bones[group.name] for group in self.body.vertex_groups]
            corners = np.array([rig.matrix_world @ bone.head for bone in bones])
            self.places.append((corners.min(axis=0) + corners.max(axis=0)) / 2.0)
        way = self.places[-1] - self.places[0]
        side = np.degrees(np.arctan2(way[1], way[0])) - 70.0
        self.studio = strip.Studio(side, span, (args.width, round(tall * args.width)), args.samples)

    def row(self, title: str, colour=SKIN) -> list[np.ndarray]:
        """Pictures of the scene as it is now, the body in that colour."""
        strip.paint(self.body, colour)
        return self.studio.row(self.frames, self.places, title)

    def save(self, rows: list[list[np.ndarray]], path: str) -> None:
        outputs.save_picture(strip.tile(rows), path)
        self.studio.close()
