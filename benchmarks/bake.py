"""Reading a rig's motion and writing it into a new action, against Blender's own bake operator.

``python benchmarks/bake.py --json`` prints, as its last line, the machine and the medians.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np

FRAMES, BONES = 1000, 40
ROUNDS, OPERATOR_ROUNDS = 7, 3


def figures() -> dict[str, float]:
    """Medians: bake_s, seconds for 1,000 frames of 40 bones, read and written; bake_vs_nla, its share."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    checkout = importlib.import_module("checkout")
    package = checkout.enable()
    motion, writing = (importlib.import_module(f"{package}.scene.{name}") for name in ("motion", "motion_writing"))
    actions = importlib.import_module(f"{package}.scene.actions")
    ob = _animated_rig(actions)
    parts = [_read_and_write(motion, writing, ob) for _ in range(ROUNDS)]
    read, write = (statistics.median(part) for part in zip(*parts, strict=True))
    both = statistics.median(map(sum, parts))
    operator = statistics.median(_operator(ob) for _ in range(OPERATOR_ROUNDS))
    return {
        "bake_s": both, "bake_read_s": read, "bake_write_s": write, "nla_bake_s": operator,
        "bake_vs_nla": both / operator,
    }  # fmt: skip


def _animated_rig(actions):
    """Five chains of eight bones; location, rotation and scale of each keyed on every frame."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
    ob = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    for number in range(BONES):
        bone = bones.new(f"bone.{number}")
        bone.head, bone.tail = (
            (number // 8, 0, 0.1 * (number % 8)),
            (number // 8, 0.02, 0.1 * (number % 8 + 1)),
        )
        bone.parent = bones[f"bone.{number - 1 if number % 8 else 0}"] if number else None
    bpy.ops.object.mode_set(mode="POSE")
    action, slot = actions.create(ob, "Source")
    holder = actions.curve_list(action, slot, create=True)
    rng = np.random.default_rng(0)
    for bone in ob.pose.bones:
        walk = np.cumsum(rng.normal(0.0, 0.02, (FRAMES, 10)), axis=0)
        turn = walk[:, 3:7] + (1.0, 0.0, 0.0, 0.0)
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        channels = {"location": walk[:, :3], "rotation_quaternion": turn, "scale": 1.0 + 0.01 * walk[:, 7:]}
        for channel, values in channels.items():
            for index, component in enumerate(values.T):
                path, group = actions.bone_path(bone.name, channel), actions.group_named(holder, bone.name)
                actions.write_curve(holder, path, index, group, np.arange(1, FRAMES + 1), component)
    actions.assign(ob, action, slot)
    return ob


def _read_and_write(motion, writing, ob) -> tuple[float, float]:
    """Seconds to read all, and to write all."""
    import bpy

    start = time.perf_counter()
    found = motion.read_motion(bpy.context, ob, np.arange(1, FRAMES + 1))
    middle = time.perf_counter()
    action = writing.write_motion(bpy.context, ob, "Baked", found)
    end = time.perf_counter()
    bpy.data.actions.remove(action)
    return middle - start, end - middle


def _operator(ob) -> float:
    """Seconds that Blender's operator takes for the same."""
    import bpy

    for bone in ob.data.bones if hasattr(ob.data.bones[0], "select") else ob.pose.bones:
        bone.select = True
    source = ob.animation_data.action
    slot = getattr(ob.animation_data, "action_slot", None)
    start = time.perf_counter()
    bpy.ops.nla.bake(frame_start=1, frame_end=FRAMES, use_current_action=False, bake_types={"POSE"})
    seconds = time.perf_counter() - start
    baked = ob.animation_data.action
    ob.animation_data.action = source
    if slot is not None:
        ob.animation_data.action_slot = slot
    bpy.data.actions.remove(baked)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    args = parser.parse_args()
    found = {key: round(value, 4) for key, value in figures().items()}
    for key, value in found.items():
        print(f"{key:14} {value:8.4f}")
    if args.json:
        print(json.dumps({"machine": f"{platform.machine()} {platform.system()}", "figures": found}))


if __name__ == "__main__":
    main()
