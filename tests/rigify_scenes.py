"""A default Rigify human that walks, made by the add-on that Blender ships, for tests.

The add-on runs in a process of its own: it does not survive the end of every Blender module.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.adapt_scenes import add_grid

FRAMES = np.arange(1.0, 17.0)
STRIDE = 0.6
_ROOT = Path(__file__).resolve().parents[1]
_MISSING = 77


def save_human(folder: Path) -> Path:
    """A file with the rig of the basic human, `rig`, that walks on a grid, `Floor`; skips without the add-on."""
    path = folder / "human.blend"
    apart = {"BLENDER_USER_RESOURCES": str(folder), "PYTHONPATH": str(_ROOT)}
    made = subprocess.run(
        [sys.executable, __file__, str(path)], env=os.environ | apart, capture_output=True, text=True, check=False
    )
    if made.returncode == _MISSING:
        pytest.skip("this Blender comes without the Rigify add-on")
    assert path.exists(), made.stderr
    return path


def _generate(path: str) -> None:
    bpy.ops.wm.read_homefile(use_empty=True)
    if importlib.import_module("addon_utils").enable("rigify", default_set=True) is None:
        os._exit(_MISSING)
    bpy.ops.object.armature_basic_human_metarig_add()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    rig = metarig.data.rigify_target_rig
    bpy.data.objects.remove(metarig)
    rig.name = "rig"
    _walk(bpy.context.scene, rig)
    add_grid("Floor", (-1.2, 1.2), (-1.6, 1.0), cells=40)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    os._exit(0)


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


if __name__ == "__main__":
    _generate(sys.argv[1])
