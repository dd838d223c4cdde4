"""Clips of an animator's controls, random but plausible: what is turned, moved and reached for, smooth over time."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion

Number = float | int | bool
Turn = float | tuple[float, float, float]


@dataclass(frozen=True)
class Reach:
    """An IK control that is moved so that its limb stays within reach.

    root, end: bones at whose heads the limb starts and ends.  stretched: least and greatest share of the distance
    between them at rest.  swing: degrees by which the limb turns about its root.  turn: degrees about the control.
    """

    root: str
    end: str
    stretched: tuple[float, float] = (0.76, 0.9)
    swing: float = 22.0
    turn: float = 18.0


@dataclass(frozen=True)
class Roles:
    """How a rig is posed in one of its modes.

    turns: control to degrees about its axes, all three or each.  moves: control to a share of the rig's height.
    poles: the same of those of which many places make the same pose.  reaches: see Reach.
    values: data path from the object to what a custom property is set to.  steps: to values before and after the
    clip's middle.  held: control to channels that stay as they are: {"scale": (1.3, 1.3, 1.3)}.
    """

    turns: dict[str, Turn]
    moves: dict[str, float] = field(default_factory=dict)
    poles: dict[str, float] = field(default_factory=dict)
    reaches: dict[str, Reach] = field(default_factory=dict)
    values: dict[str, Number] = field(default_factory=dict)
    steps: dict[str, tuple[Number, Number]] = field(default_factory=dict)
    held: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)


@dataclass(frozen=True)
class PosedClip:
    """channels: (control, Blender's name of the channel) to values (F, n).  properties: data path to (F,).

    frames: (F,).  loose: controls of which many places make the same pose.  held: those that stay as they are.
    """

    frames: np.ndarray
    channels: dict[tuple[str, str], np.ndarray]
    properties: dict[str, np.ndarray]
    loose: frozenset[str]
    held: frozenset[str]


def posed_clip(ob, roles: Roles, seed: int, frames: np.ndarray) -> PosedClip:
    """A clip of a rig that is at rest; the same for the same seed.  Locked channels stay at rest."""
    rng, count = np.random.default_rng(seed), len(frames)
    height = rig_height(ob)
    location, turns = {}, {}
    for name, amplitude in roles.turns.items():
        turns[name] = np.radians(np.broadcast_to(amplitude, 3)) * _wander(rng, count)
    for name, share in (roles.moves | roles.poles).items():
        location[name] = share * height * _wander(rng, count)
    for name, reach in roles.reaches.items():
        location[name] = _reached(ob, name, reach, rng, count)
        turns[name] = np.radians(reach.turn) * _wander(rng, count)
    channels = {}
    for name, values in location.items():
        channels[name, "location"] = values * ~np.array(ob.pose.bones[name].lock_location)
    for name, values in turns.items():
        channel, turned = _rotation(ob.pose.bones[name], values)
        channels[name, channel] = turned
    for name, held in roles.held.items():
        channels |= {(name, channel): np.tile(values, (count, 1)) for channel, values in held.items()}
    properties = {path: np.full(count, value) for path, value in roles.values.items()}
    late = np.arange(count) >= count // 2
    properties |= {path: np.where(late, after, before) for path, (before, after) in roles.steps.items()}
    return PosedClip(np.asarray(frames, float), channels, properties, frozenset(roles.poles), frozenset(roles.held))


def key_clip(ob, clip: PosedClip, name: str):
    """Key a clip into a new action of that name, which the object then plays; returns the action."""
    kept = ob.animation_data_create()
    kept.action = bpy.data.actions.new(name)
    for row, frame in enumerate(clip.frames):
        for (bone, channel), values in clip.channels.items():
            setattr(ob.pose.bones[bone], channel, values[row])
            ob.pose.bones[bone].keyframe_insert(channel, frame=frame, group=bone)
        for path, values in clip.properties.items():
            _set_property(ob, path, values[row])
            ob.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = int(clip.frames[0]), int(clip.frames[-1])
    bpy.context.scene.frame_set(int(clip.frames[0]))
    return kept.action


def rig_height(ob) -> float:
    """Of the largest extent of the bones at rest, in the rig's own units."""
    ends = np.array([end for bone in ob.data.bones if bone.use_deform for end in (bone.head_local, bone.tail_local)])
    return float(np.ptp(ends, axis=0).max())


def _wander(rng, count: int) -> np.ndarray:
    """(F, 3) smooth, within 1."""
    time = np.linspace(0.0, 1.0, count)[:, None, None]
    waves = np.sin(2.0 * np.pi * (np.array([0.5, 1.0, 2.0]) * time + rng.uniform(0.0, 1.0, (3, 3))))
    return waves @ np.array([0.5, 0.35, 0.15])


def _reached(ob, name: str, reach: Reach, rng, count: int) -> np.ndarray:
    """(F, 3) locations of an IK control."""
    bones = ob.data.bones
    root, end = (np.array(bones[bone].head_local) for bone in (reach.root, reach.end))
    low, high = reach.stretched
    share = 0.5 * (low + high) + 0.5 * (high - low) * _wander(rng, count)[:, 0]
    swings = np.radians(reach.swing) * _wander(rng, count)
    turned = np.array([_turn(swing).to_matrix() for swing in swings]) @ (end - root)
    way = root + share[:, None] * turned - end
    return way @ np.array(bones[name].matrix_local)[:3, :3]


def _rotation(bone, turns: np.ndarray) -> tuple[str, np.ndarray]:
    """A bone's channel of rotation, and its values for rotation vectors (F, 3)."""
    free = turns * ~np.array(bone.lock_rotation)
    if bone.rotation_mode == "QUATERNION":
        return "rotation_quaternion", np.array([_turn(turn) for turn in free])
    if bone.rotation_mode == "AXIS_ANGLE":
        raise ValueError(f"'{bone.name}' turns by axis and angle; no rig here does.")
    return "rotation_euler", free


def _turn(vector) -> Quaternion:
    angle = float(np.linalg.norm(vector))
    return Quaternion(vector / angle, angle) if angle else Quaternion()


def _set_property(ob, path: str, value) -> None:
    holder, name = path.rsplit('["', 1)
    owner = ob.path_resolve(holder) if holder else ob
    name = name.removesuffix('"]')
    owner[name] = type(owner[name])(value)


def rest(ob) -> None:
    """Every channel of every bone at rest, nothing played."""
    ob.animation_data_clear() if not (ob.animation_data and ob.animation_data.drivers) else _stop(ob)
    for bone in ob.pose.bones:
        bone.matrix_basis = Matrix()
        bone.rotation_euler = Euler()
    bpy.context.view_layer.update()


def _stop(ob) -> None:
    ob.animation_data.action = None
    for track in list(ob.animation_data.nla_tracks):
        ob.animation_data.nla_tracks.remove(track)
