"""Plain things to walk on: boxes and a gridded floor, each an object of its own."""

from __future__ import annotations

import bpy
import numpy as np

_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def add_box(name, lo, hi, more=()) -> bpy.types.Object:
    """An object of axis-aligned boxes from corner lo to corner hi, and more such pairs; its origin is in the
    middle of the first."""
    origin = (np.array(lo, float) + hi) / 2.0
    points, faces = [], []
    for low, high in ((lo, hi), *more):
        faces += [tuple(len(points) + corner for corner in face) for face in _FACES]
        points += [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    return _add(name, np.array(points) - origin, faces, origin)


def add_grid(name, across_x, across_y, cell: float) -> bpy.types.Object:
    """A level floor at height 0 of square cells; faces look up."""
    x, y = (np.linspace(a, b, round((b - a) / cell) + 1) for a, b in (across_x, across_y))
    points = np.stack([*np.meshgrid(x, y, indexing="ij"), np.zeros((len(x), len(y)))], axis=-1).reshape(-1, 3)
    n = len(y)
    faces = [(i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1)
             for i in range(len(x) - 1) for j in range(n - 1)]  # fmt: skip
    return _add(name, points, faces, np.zeros(3))


def _add(name, points, faces, origin) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    ob = bpy.data.objects.new(name, mesh)
    ob.location = origin
    bpy.context.scene.collection.objects.link(ob)
    return ob


def get_vertices(ob: bpy.types.Object) -> np.ndarray:
    """Vertices (V, 3) of a mesh object in its own space."""
    points = np.empty(3 * len(ob.data.vertices), np.float32)
    ob.data.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)


def set_vertices(points, values: np.ndarray) -> None:
    """Write values (V, 3) into a mesh's vertices or a shape key's points."""
    points.foreach_set("co", values.astype(np.float32).ravel())


def key_moves(ob: bpy.types.Object, moves) -> None:
    """Key an object away from where it is: (frame, (x, y, z)) pairs, metres."""
    place = ob.location.copy()
    for frame, away in moves:
        ob.location = place + type(place)(away)
        ob.keyframe_insert("location", frame=frame)
