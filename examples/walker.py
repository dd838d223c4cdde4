"""The demo's own scene: a figure that walks over two slabs, leans on a table and ducks under a beam."""

from __future__ import annotations

import math

import bpy
import gait
import numpy as np
from figure import make_figure, skeleton
from mathutils import Matrix
from shapes import add_box, add_grid, get_vertices, key_moves, set_vertices

FPS = 30
FIRST_STEP, LAST_STEP = -1, 14
START, END = 0.35, 6.45  # seconds of the planned walk that become frames 1 to the end

SLABS = {"Slab low": (1.70, 2.33, 0.12), "Slab high": (2.38, 3.04, 0.21)}  # from x, to x, top
TABLE_X, TABLE_Y, TABLE_TOP = (4.15, 5.65), (0.36, 1.0), 0.97
BEAM_X, BEAM_BOTTOM = 6.93, 1.56
MOMENTS = (18, 42, 58, 77, 98, 113, 159, 180)  # frames worth a picture
LIVE_MOMENTS = (42, 58, 77, 113, 159)

# The figure looks along -Y in its own axes, as Blender's do, and the object is turned to walk along X.
TO_LOCAL = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def make_walker() -> bpy.types.Object:
    """The figure with its walk keyed on every frame; the scene's range and rate are set to it."""
    scene = bpy.context.scene
    scene.render.fps = FPS
    rig = make_figure("Walker", TO_LOCAL)
    rig.rotation_euler.z = math.pi / 2.0
    times = np.arange(FIRST_STEP * gait.PERIOD + 0.3, LAST_STEP * gait.PERIOD, 1.0 / FPS)
    motion = gait.walk(
        gait.footsteps(ground, FIRST_STEP - 1, LAST_STEP + 1),
        ground,
        times,
        gait.HandHold(np.array([4.86, 0.43, TABLE_TOP + 0.06]), 4.0, 4.44),
        [gait.Duck(time=5.62, sink=0.18, bend=0.53)],
    )
    kept = (times >= START) & (times <= END)
    key_poses(rig, motion.hips[kept], {name: turns[kept] for name, turns in motion.turns.items()})
    scene.frame_start, scene.frame_end = 1, int(kept.sum())
    return rig


def ground(x: float) -> float:
    """Height of what lies under x when the walk is made."""
    return max((top for start, stop, top in SLABS.values() if start < x < stop), default=0.0)


def make_course() -> list[bpy.types.Object]:
    """Floor, slabs, table and beam, as the walk was made for."""
    floor = add_grid("Floor", (-1.6, 9.6), (-1.6, 1.6), 0.2)
    slabs = [add_box(name, (start, -0.55, -0.25), (stop, 0.55, top)) for name, (start, stop, top) in SLABS.items()]
    (x0, x1), (y0, y1) = TABLE_X, TABLE_Y
    legs = [
        ((x - 0.03, y - 0.03, 0.0), (x + 0.03, y + 0.03, TABLE_TOP - 0.04))
        for x in (x0 + 0.06, x1 - 0.06)
        for y in (y0 + 0.06, y1 - 0.06)
    ]
    table = add_box("Table", (x0, y0, TABLE_TOP - 0.05), (x1, y1, TABLE_TOP), legs)
    post = ((BEAM_X - 0.05, 0.9, 0.0), (BEAM_X + 0.05, 1.0, BEAM_BOTTOM + 0.01))
    beam = add_box("Beam", (BEAM_X - 0.07, -0.6, BEAM_BOTTOM), (BEAM_X + 0.07, 1.05, BEAM_BOTTOM + 0.14), [post])
    return [floor, *slabs, table, beam]


def change_course(course: list[bpy.types.Object]) -> None:
    """What the director wants instead: each kind of edit once."""
    floor, low, high, table, beam = course
    # By transform.
    low.location.z += 0.10
    low.rotation_euler.y = math.radians(-7.0)
    table.location += type(table.location)((0.10, 0.06, 0.12))
    beam.location.z -= 0.10
    # By shape key.
    floor.shape_key_add(name="Flat")
    hill = floor.shape_key_add(name="Hill")
    x, y, _ = get_vertices(floor).T
    rise = 0.22 * np.exp(-(((x - 5.3) / 1.1) ** 2)) + 0.06 * y * np.exp(-(((x - 5.3) / 1.5) ** 2))
    set_vertices(hill.points, np.stack([x, y, rise], axis=1))
    hill.value = 1.0
    # By its vertices.
    points = get_vertices(high)
    top = points[:, 2] > 0.0
    points[top, 2] += 0.07 + 0.06 * points[top, 1]
    points[:, 0] = np.where(points[:, 0] > 0, points[:, 0] + 0.15, points[:, 0])
    set_vertices(high.data.vertices, points)
    high.data.update()


def moments(_scene) -> tuple[int, ...]:
    """Frames worth a picture."""
    return MOMENTS


def live_moments(_scene) -> tuple[int, ...]:
    """Frames worth a picture while it is changed bit by bit."""
    return LIVE_MOMENTS


def steps(course: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """What feet stand on."""
    return course[1:3]


def raise_course(course: list[bpy.types.Object]) -> None:
    """Higher steps and table, a lower beam."""
    for ob, lift in zip(course[1:], (0.10, 0.16, 0.10, -0.16), strict=True):
        ob.location.z += lift


def tilt_course(course: list[bpy.types.Object]) -> None:
    """The first step becomes a ramp, the second leans aside, and so does the table."""
    _, low, high, table, _ = course
    low.rotation_euler.y = math.radians(-10.0)
    high.rotation_euler.x = math.radians(9.0)
    table.rotation_euler.x = math.radians(-10.0)


def key_course(course: list[bpy.types.Object]) -> None:
    """The second step is a lift, the table comes along, the beam sinks."""
    _, _, high, table, beam = course
    for ob, moves in (
        (high, ((44, (0, 0, -0.10)), (60, (0, 0, 0.12)), (74, (0, 0, 0.12)), (96, (0, 0, -0.10)))),
        (table, ((98, (0, 0, 0)), (135, (0.25, 0.05, 0.12)))),
        (beam, ((130, (0, 0, 0.20)), (156, (0, 0, -0.08)))),
    ):
        key_moves(ob, moves)


def key_poses(rig, hips: np.ndarray, turns: dict[str, np.ndarray], start: int = 1) -> None:
    """Key the pose of every frame from start on: hips (F, 3), turns (F, 3, 3) a bone, ahead-left-up."""
    for name, (parent, _, _) in skeleton().items():
        bone = rig.pose.bones[name]
        into = TO_LOCAL.T @ np.array(bone.bone.matrix_local)[:3, :3]
        above = np.swapaxes(turns[parent], -1, -2) if parent else np.eye(3)
        basis = np.zeros((len(hips), 4, 4))
        basis[:, :3, :3] = into.T @ above @ turns[name] @ into
        if not parent:
            basis[:, :3, 3] = (hips - TO_LOCAL.T @ np.array(bone.bone.head_local)) @ into
        basis[:, 3, 3] = 1.0
        key_basis(bone, basis, start)


def key_basis(bone: bpy.types.PoseBone, basis: np.ndarray, start: int = 1) -> None:
    """Key a bone's pose (F, 4, 4) away from rest, in its own axes, on every frame from start on."""
    before, has_way = None, not bone.parent or np.ptp(basis[:, :3, 3], axis=0).max() > 1e-5
    for frame, matrix in enumerate(basis, start):
        bone.matrix_basis = Matrix(matrix)
        if before is not None and bone.rotation_quaternion.dot(before) < 0.0:
            bone.rotation_quaternion.negate()
        before = bone.rotation_quaternion.copy()
        bone.keyframe_insert("rotation_quaternion", frame=frame)
        if has_way:
            bone.keyframe_insert("location", frame=frame)
