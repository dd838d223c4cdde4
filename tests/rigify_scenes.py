"""Rigs of the Rigify add-on, and a default human of it that walks, for tests."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from benchmarks import _rigify
from tests.adapt_scenes import add_grid

FRAMES = np.arange(1.0, 17.0)
STRIDE = 0.6


def generated(kind: str, folder: Path, **options) -> Path:
    """A file with a rig that the add-on has generated, see `benchmarks._rigify`; skips without the add-on."""
    try:
        return _rigify.generated(kind, folder, **options)
    except _rigify.NoRigifyError as error:
        pytest.skip(str(error))


def save_human(folder: Path) -> Path:
    """A file with the rig of the basic human, `rig`, that walks on a grid, `Floor`; opens it."""
    path = folder / "walking_human.blend"
    bpy.ops.wm.open_mainfile(filepath=str(generated("basic", folder)), use_scripts=False)
    _walk(bpy.context.scene, bpy.data.objects["rig"])
    add_grid("Floor", (-1.2, 1.2), (-1.6, 1.0), cells=40)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def _walk(scene, rig) -> None:
    """Keys on the controls of torso, chest, feet (IK) and arms (FK): one step of each foot."""
    bones = rig.pose.bones
    for frame, t in zip(FRAMES, np.linspace(0.0, 1.0, len(FRAMES)), strict=True):
        for side, phase in (("L", 0.0), ("R", 0.5)):
            share = np.clip(2.0 * (t - phase), 0.0, 1.0)
            _move(bones[f"foot_ik.{side}"], (0.0, -STRIDE * share, 0.08 * np.sin(np.pi * share)), frame)
            bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
            swing = 0.4 * np.cos(2.0 * np.pi * (t + phase))
            _turn(bones[f"upper_arm_fk.{side}"], (swing, 0.0, 0.0), frame)
            _turn(bones[f"forearm_fk.{side}"], (0.4 + 0.2 * swing, 0.0, 0.0), frame)
        _move(bones["torso"], (0.0, 0.02 - STRIDE * t, -0.05 + 0.02 * np.cos(4.0 * np.pi * t)), frame)
        _turn(bones["chest"], (0.05, 0.1 * np.sin(2.0 * np.pi * t), 0.0), frame)
    scene.frame_start, scene.frame_end = int(FRAMES[0]), int(FRAMES[-1])


def _move(bone, way, frame) -> None:
    """Key the location that moves a bone by a way (3,) in the rig's space."""
    bone.location = np.linalg.inv(np.array(bone.bone.matrix_local)[:3, :3]) @ way
    bone.keyframe_insert("location", frame=frame)


def _turn(bone, angles, frame) -> None:
    bone.rotation_mode, bone.rotation_euler = "XYZ", angles
    bone.keyframe_insert("rotation_euler", frame=frame)
