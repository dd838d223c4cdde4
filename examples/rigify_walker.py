"""A default Rigify human that walks to a seat, turns and sits down, keyed on its controls; legs in IK, arms in FK."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from figure import capsule, skin
from mathutils import Euler, Quaternion
from shapes import add_box, add_grid, get_vertices, set_vertices

LAST = 150
MOMENTS = (6, 19, 31, 44, 57, 84, 102, 121, 146)  # frames worth a picture
STOP, SEAT_TOP, SEAT_BACK = -1.9, 0.45, 0.42
# Start, end, foot, place along Y, place along X, degrees about up: what each foot does, one after the other.
_STEPS = [
    (3, 13, "L", -0.35, 0.098, 0), (15, 25, "R", -0.75, -0.098, 0), (27, 37, "L", -1.15, 0.098, 0),
    (39, 49, "R", -1.55, -0.098, 0), (51, 61, "L", STOP, 0.098, 0), (63, 71, "R", STOP, -0.098, 0),
    (75, 84, "L", STOP + 0.098, 0.0, 90), (84, 93, "R", STOP - 0.098, 0.0, 90),
    (93, 102, "L", STOP, -0.098, 180), (102, 111, "R", STOP, 0.098, 180),
]  # fmt: skip
_GIRTH = {
    "thigh": 0.07, "shin": 0.05, "foot": 0.042, "toe": 0.035, "upper_arm": 0.045, "forearm": 0.037, "hand": 0.035,
    "spine": 0.105, "shoulder": 0.05,
}  # fmt: skip


def make_walker(folder: Path) -> bpy.types.Object:
    """The generated rig with a body and its walk, in an emptied file; raises NoRigifyError without the add-on."""
    from benchmarks._rigify import generated

    bpy.ops.wm.open_mainfile(filepath=str(generated("basic", folder)), use_scripts=False)
    rig, scene = bpy.data.objects["rig"], bpy.context.scene
    rig.show_in_front = True
    _body(rig)
    for side in "LR":
        rig.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
        rig.keyframe_insert(f'pose.bones["upper_arm_parent.{side}"]["IK_FK"]', frame=1)
        rig.keyframe_insert(f'pose.bones["thigh_parent.{side}"]["IK_FK"]', frame=1)
    for frame in range(1, LAST + 1):
        _key(rig, frame)
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, 24
    rig.animation_data.action.name = "Walk and sit"
    return rig


def make_course() -> list[bpy.types.Object]:
    """A level ground and a seat."""
    floor = add_grid("Ground", (-1.8, 1.8), (-4.0, 1.6), 0.1)
    near = STOP - 0.14
    return [floor, add_box("Seat", (-0.45, near - 0.5, -0.3), (0.45, near, SEAT_TOP))]


def change_course(course: list[bpy.types.Object]) -> None:
    """Hills, and a seat that is higher, also above the ground that it stands on."""
    ground, seat = course
    x, y, _ = get_vertices(ground).T
    height = 0.13 * np.sin(3.4 * y + 0.4) * np.exp(-((np.maximum(-y - 1.5, 0.0) / 0.3) ** 2)) + 0.05 * np.sin(2.0 * x)
    set_vertices(ground.data.vertices, np.stack([x, y, height], axis=1))
    ground.data.update()
    seat.location.z += 0.14


def _key(rig, frame: int) -> None:
    feet = {side: _foot(side, frame) for side in "LR"}
    for side, (place, yaw, pitch) in feet.items():
        rest = np.array(rig.data.bones[f"foot_ik.{side}"].head_local)
        turn = Euler((pitch, 0.0, np.radians(yaw))).to_quaternion()
        _place(rig, f"foot_ik.{side}", place - [rest[0], 0.0, 0.0], turn, frame)
    # The body is over the middle of both feet, turns as they do on the mean, and sinks onto the seat.
    middle = np.mean([place for place, _, _ in feet.values()], axis=0)
    yaw = np.radians(np.mean([yaw for _, yaw, _ in feet.values()]))
    sitting = _ease(frame, 115, 138)
    stride = np.ptp([place[1] for place, _, _ in feet.values()])
    way = np.array([0.0, middle[1] - SEAT_BACK * sitting, -0.015 - 0.07 * stride - 0.53 * sitting])
    lean = 0.08 + 0.55 * np.sin(np.pi * _ease(frame, 111, 142)) * (1.0 - 0.5 * sitting)
    _place(rig, "torso", way, Quaternion((0.0, 0.0, 1.0), yaw) @ Quaternion((1.0, 0.0, 0.0), 0.35 * lean), frame)
    swing = (feet["L"][0][1] - feet["R"][0][1]) * (1.0 - _ease(frame, 60, 72))
    _turn(rig, "chest", Euler((0.65 * lean, 0.0, -0.35 * swing)), frame)
    for name in ("hips", "neck", "shoulder.L", "shoulder.R", "thigh_ik.L", "thigh_ik.R"):
        _turn(rig, name, Quaternion(), frame)
    _turn(rig, "head", Euler((-0.6 * lean, 0.0, 0.2 * swing)), frame)
    for sign, side in ((1.0, "L"), (-1.0, "R")):
        ahead = 0.75 * sign * swing + 0.15 + 0.75 * sitting
        down = Quaternion((0.0, 1.0, 0.0), sign * 0.75) @ Quaternion((0.0, 0.0, 1.0), -0.1 * sign)
        _turn(rig, f"upper_arm_fk.{side}", Quaternion((1.0, 0.0, 0.0), -ahead) @ down, frame)
        _turn(rig, f"forearm_fk.{side}", _bent(rig, side, 0.25 + 0.6 * sitting + 0.3 * max(sign * swing, 0.0)), frame)


def _foot(side: str, frame: int) -> tuple[np.ndarray, float, float]:
    """Where a foot is over its place on level ground, degrees about up, and how its toes point down (radians)."""
    place, yaw, pitch = np.array([0.098 if side == "L" else -0.098, 0.0, 0.0]), 0.0, 0.0
    for start, end, foot, y, x, turned in _STEPS:
        if foot != side or frame <= start:
            continue
        share, before = _ease(frame, start, end), place.copy()
        place = before + share * (np.array([x, y, 0.0]) - before)
        yaw += share * (turned - yaw)
        height = np.sin(np.pi * np.clip((frame - start) / (end - start), 0.0, 1.0))
        place[2], pitch = 0.09 * height, 0.25 * height * (y < before[1] - 0.2)
    return place, yaw, pitch


def _bent(rig, side: str, angle: float) -> Quaternion:
    """A turn of the forearm about the axis that upper arm and forearm leave open."""
    upper, fore = (np.array(rig.data.bones[f"{name}_fk.{side}"].vector) for name in ("upper_arm", "forearm"))
    return Quaternion(np.cross(upper, fore), angle)


def _ease(frame: float, start: float, end: float) -> float:
    share = np.clip((frame - start) / (end - start), 0.0, 1.0)
    return float(share * share * (3.0 - 2.0 * share))


def _place(rig, name: str, way, turn: Quaternion, frame: int) -> None:
    """Key a control that is away from rest by (3,), turned about its head, both in the rig's axes."""
    bone = rig.pose.bones[name]
    bone.location = np.linalg.inv(np.array(bone.bone.matrix_local)[:3, :3]) @ way
    bone.keyframe_insert("location", frame=frame)
    _turn(rig, name, turn, frame)


def _turn(rig, name: str, turn, frame: int) -> None:
    """Key a control's turn, given in the rig's axes as it rests."""
    bone = rig.pose.bones[name]
    own = bone.bone.matrix_local.to_quaternion()
    turn = turn.to_quaternion() if isinstance(turn, Euler) else turn
    turn = own.inverted() @ turn @ own
    channel = "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler"
    setattr(bone, channel, turn if channel == "rotation_quaternion" else turn.to_euler(bone.rotation_mode))
    bone.keyframe_insert(channel, frame=frame)


def _body(rig) -> None:
    parts = {}
    for bone in rig.data.bones:
        kind = bone.name.removeprefix("DEF-").split(".")[0]
        if bone.use_deform and kind in _GIRTH:
            head, tail = np.array(bone.head_local), np.array(bone.tail_local)
            girth = 0.055 if bone.name in ("DEF-spine.004", "DEF-spine.005") else _GIRTH[kind]
            girth = 0.09 if bone.name == "DEF-spine.006" else girth
            # Halves of a limb overlap where they meet: the lower one is the thinner.
            girth = 0.94 * girth if bone.name.endswith((".L.001", ".R.001")) else girth
            wide = 1.35 * girth if kind == "spine" and bone.name[-1] in "e123" else girth
            parts[bone.name] = capsule(head, tail, np.array(bone.matrix_local)[:3, 0], wide, girth)
    skin(rig, parts)
