"""A clip of the user's: a BVH file, and stones under its feet to stand on."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass

import bpy
import numpy as np
from figure import body_radius, make_body
from shapes import add_box, add_grid, get_vertices, key_moves, set_vertices
from strip import quiet

SECONDS = 8.0  # of the clip; what follows is left out
DROP = 0.25  # from the lowest stone to the floor, metres: feet shall mind their stones, not the floor
BODY = 1.8
HUMAN = (1.2, 2.3)  # heights in metres that are believed as they are
SLOW, LEAST = 0.35, 0.12  # a foot that stands: slower than this (m/s) for at least so long (s)
LEVEL, MARGIN = 0.025, 0.07  # stones nearer in height than this are one, and reach so far beyond the foot


class ClipError(Exception):
    """The clip cannot be used; the text says why."""


@dataclass
class _Stone:
    """A level rectangle: lo, hi (2,) across the ground, top its height; first used at frame start."""

    lo: np.ndarray
    hi: np.ndarray
    top: float
    start: int


def load(path: str, body: bool = True) -> tuple[bpy.types.Object, float]:
    """The clip as a rig, with its body unless told, in metres, Z up, and its height; sets the scene's rate, range."""
    if not os.path.isfile(path):
        raise ClipError(f"There is no file '{path}'.")
    rig = _import(path, 1.0)
    units = _height(rig)
    if not 0.0 < units < np.inf:
        raise ClipError(f"'{path}' has a skeleton without height.")
    scale = next((s for s in (1.0, 0.01) if HUMAN[0] <= units * s <= HUMAN[1]), BODY / units)
    if scale != 1.0:
        bpy.data.actions.remove(rig.animation_data.action)
        bpy.data.armatures.remove(rig.data)
        rig = _import(path, scale)
    height = units * scale
    _skip_rest_pose(rig, height)
    print(f"{os.path.basename(path)}: {units:.4g} units tall, taken as {height:.2f} m")
    if body:
        make_body(rig, height)
    return rig, height


def _import(path: str, scale: float) -> bpy.types.Object:
    before = set(bpy.data.objects)
    try:
        with quiet():
            bpy.ops.import_anim.bvh(filepath=path, global_scale=scale, update_scene_fps=True)
    except RuntimeError as error:
        # The importer's own exception is a line within a traceback.
        reasons = re.findall(r"^\w*(?:Error|Exception): (?!Python:)(.+)", str(error), re.MULTILINE)
        because = f" ({reasons[-1].strip()})" if reasons else ""
        raise ClipError(f"'{path}' is not a whole BVH file{because}.") from error
    rig = next((ob for ob in bpy.data.objects if ob not in before), None)
    if rig is None or rig.animation_data is None or rig.animation_data.action is None:
        raise ClipError(f"'{path}' holds no motion.")
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    scene.frame_start, end = (round(frame) for frame in rig.animation_data.action.frame_range)
    scene.frame_end = min(end, scene.frame_start + round(SECONDS * rate))
    if scene.frame_end - scene.frame_start < rate * LEAST:
        raise ClipError(f"'{path}' is only {scene.frame_end - scene.frame_start + 1} frames long.")
    return rig


def _skip_rest_pose(rig, height: float) -> None:
    """Start a frame later where the clip jumps out of a pose that its first frame holds."""
    scene = bpy.context.scene
    tails = []
    for frame in range(scene.frame_start, scene.frame_start + 3):
        scene.frame_set(frame)
        tails.append(np.array([bone.tail for bone in rig.pose.bones]))
    jump, step = (np.linalg.norm(b - a, axis=1).max() for a, b in zip(tails, tails[1:], strict=False))
    scene.frame_start += bool(jump > 0.1 * height and jump > 5.0 * step)


def _height(rig) -> float:
    """How tall the figure gets, of its rest pose and twenty moments of the clip."""
    scene = bpy.context.scene
    tall = np.ptp([p.z for bone in rig.data.bones for p in (bone.head_local, bone.tail_local)])
    for frame in np.linspace(scene.frame_start, scene.frame_end, 20).round():
        scene.frame_set(int(frame))
        tall = max(tall, np.ptp([p.z for bone in rig.pose.bones for p in (bone.head, bone.tail)]))
    return float(tall)


def make_ground(rig: bpy.types.Object, height: float) -> list[bpy.types.Object]:
    """A floor, and a stone wherever a foot stands."""
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    names, points, thick = _feet(rig, height)
    stones = _joined(_stands(points, thick, rate))
    if not stones:
        raise ClipError("No foot of this clip ever stands still (looked at " + ", ".join(names) + ").")
    flat = points.reshape(-1, 3)
    floor = min(stone.top for stone in stones) - DROP
    lo, hi = flat.min(axis=0)[:2] - 1.2, flat.max(axis=0)[:2] + 1.2
    ground = add_grid("Floor", (lo[0], hi[0]), (lo[1], hi[1]), 0.25)
    ground.location.z = floor
    return [ground] + [
        add_box(f"Stone {k}", (*stone.lo, floor - 0.4), (*stone.hi, stone.top))
        for k, stone in enumerate(stones, start=1)
    ]


def change_course(course: list[bpy.types.Object]) -> None:
    """Raise and tilt, widen, and bend: by transform, by vertices, by shape key in turn."""
    floor, *stones = course
    for k, stone in enumerate(stones):
        if k % 3 == 0:
            stone.location.z += 0.12
            stone.rotation_euler.x = math.radians(5.0)
        elif k % 3 == 1:
            points = get_vertices(stone)
            points[:, :2] *= 1.3
            points[points[:, 2] > 0, 2] += 0.06
            set_vertices(stone.data.vertices, points)
            stone.data.update()
    floor.shape_key_add(name="Flat")
    bent = floor.shape_key_add(name="Hill")
    points = get_vertices(floor)
    centre, size = points.mean(axis=0), np.ptp(points, axis=0).max()
    points[:, 2] += 0.08 * np.cos(2.0 * np.pi * (points - centre)[:, :2].sum(axis=1) / size) - 0.08
    set_vertices(bent.points, points)
    bent.value = 1.0


def moments(scene) -> range:
    """Frames worth a picture: all."""
    return range(scene.frame_start, scene.frame_end + 1)


live_moments = moments


def steps(course: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """What feet stand on."""
    return course[1:]


def raise_course(course: list[bpy.types.Object]) -> None:
    """Every stone is lifted, every other one more."""
    for k, stone in enumerate(course[1:]):
        stone.location.z += 0.10 + 0.08 * (k % 2)


def tilt_course(course: list[bpy.types.Object]) -> None:
    """Every stone leans to one side, the next to the other."""
    for k, stone in enumerate(course[1:]):
        stone.rotation_euler.x = math.radians(8.0 - 16.0 * (k % 2))


def key_course(course: list[bpy.types.Object]) -> None:
    """Every stone goes down and up all the time."""
    scene = bpy.context.scene
    frames = np.linspace(scene.frame_start, scene.frame_end, 9).round()
    for k, stone in enumerate(course[1:]):
        key_moves(stone, [(int(frame), (0.0, 0.0, 0.06 * (-1) ** (n + k))) for n, frame in enumerate(frames)])


def _feet(rig, height: float) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the feet's last bones, ankles and toe tips (F, feet, 2, 3), and how thick the toes are."""
    scene = bpy.context.scene
    tips = toes_of(rig)
    ankles = [tip.parent if tip.parent and _is_foot(tip.parent) else tip for tip in tips]
    points = np.empty((scene.frame_end - scene.frame_start + 1, len(tips), 2, 3))
    for k, frame in enumerate(range(scene.frame_start, scene.frame_end + 1)):
        scene.frame_set(frame)
        for foot, (tip, ankle) in enumerate(zip(tips, ankles, strict=True)):
            points[k, foot, 0] = rig.matrix_world @ rig.pose.bones[ankle.name].head
            points[k, foot, 1] = rig.matrix_world @ rig.pose.bones[tip.name].tail
    return [tip.name for tip in tips], points, np.array([body_radius(tip, height) for tip in tips])


def toes_of(rig) -> list[bpy.types.Bone]:
    """The last bones of the feet, by name, else the lowest two."""
    leaves = [bone for bone in rig.data.bones if not bone.children]
    return [bone for bone in leaves if _is_foot(bone)] or sorted(leaves, key=lambda bone: bone.tail_local.z)[:2]


def _is_foot(bone) -> bool:
    return any(word in bone.name.lower() for word in ("toe", "foot", "ankle"))


def _stands(points: np.ndarray, thick: np.ndarray, rate: float) -> list[_Stone]:
    """A stone for each time that a toe rests; points (F, feet, 2, 3), thick (feet,)."""
    slow = np.linalg.norm(np.gradient(points[:, :, 1], axis=0), axis=2) * rate < SLOW
    stones = []
    for foot in range(slow.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], slow[:, foot], [False]])))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            if stop - start >= LEAST * rate:
                spot = points[start:stop, foot]
                flat = spot.reshape(-1, 3)[:, :2]
                top = np.median(spot[:, 1, 2]) - thick[foot]
                stones.append(_Stone(flat.min(axis=0) - MARGIN, flat.max(axis=0) + MARGIN, float(top), int(start)))
    return stones


def _joined(stones: list[_Stone]) -> list[_Stone]:
    """Stones that overlap become one where they are level, else they are parted half way."""
    kept: list[_Stone] = []
    for stone in sorted(stones, key=lambda stone: stone.top):
        for other in kept:
            overlap = np.minimum(stone.hi, other.hi) - np.maximum(stone.lo, other.lo)
            if (overlap <= 0.0).any():
                continue
            if abs(stone.top - other.top) < LEVEL:
                other.lo, other.hi = np.minimum(stone.lo, other.lo), np.maximum(stone.hi, other.hi)
                other.start = min(stone.start, other.start)
                break
            _part(stone, other, int(overlap.argmin()), overlap.min())
        else:
            kept.append(stone)
    return sorted(kept, key=lambda stone: stone.start)


def _part(stone: _Stone, other: _Stone, axis: int, overlap: float) -> None:
    """Take half of their overlap along an axis from each."""
    low, high = (stone, other) if stone.lo[axis] < other.lo[axis] else (other, stone)
    low.hi[axis] -= overlap / 2.0 + 0.005
    high.lo[axis] += overlap / 2.0 + 0.005
