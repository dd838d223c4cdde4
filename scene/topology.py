"""Faces, their triangles, and whether they are still the ones a binding was made for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ..solvers.core.types import MeshTrack, TriangleMesh

_LARGEST_CHECKED_FACE = 1024  # corners; a bound triangulation of a larger face is not checked but made anew


@dataclass(frozen=True)
class Faces:
    """Faces as Blender stores them.

    corners: (C,) vertex of each corner, face after face.  starts: (P,) first corner of each face.
    """

    vertex_count: int
    corners: np.ndarray
    starts: np.ndarray

    @cached_property
    def digest(self) -> bytes:
        """The same in every session."""
        found = hashlib.blake2b(np.ascontiguousarray(self.corners, "<i4"), digest_size=16)
        found.update(np.ascontiguousarray(self.starts, "<i4"))
        return found.digest()

    def same_as(self, other: Faces) -> bool:
        return (
            self.vertex_count == other.vertex_count
            and np.array_equal(self.corners, other.corners)
            and np.array_equal(self.starts, other.starts)
        )


def read_faces(mesh: bpy.types.Mesh) -> Faces:
    return Faces(len(mesh.vertices), read_corners(mesh), _read_starts(mesh))


def read_corners(mesh: bpy.types.Mesh) -> np.ndarray:
    """(C,) int32 vertex of each corner, face after face."""
    corners = np.empty(len(mesh.loops), np.int32)
    if corners.size:  # without faces there is no such attribute
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
    return corners


def _read_starts(mesh: bpy.types.Mesh) -> np.ndarray:
    """(P,) from the faces of the triangles, which Blender keeps and hands out in bulk: five times faster."""
    mesh.calc_loop_triangles()
    faces = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangle_polygons.foreach_get("value", faces)
    sizes = np.bincount(faces, minlength=len(mesh.polygons)) + 2
    return (np.cumsum(sizes) - sizes).astype(np.int32)


def read_positions(mesh: bpy.types.Mesh) -> np.ndarray:
    """(V, 3) float32, local."""
    out = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", out.reshape(-1))
    return out


def read_triangles(mesh: bpy.types.Mesh) -> np.ndarray:
    """(T, 3) int32; the n - 2 triangles of each face follow each other in the order of the faces."""
    mesh.calc_loop_triangles()
    out = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.loop_triangles.foreach_get("vertices", out.reshape(-1))
    return out


def outward(faces: Faces, triangles: np.ndarray, mirrored: bool, bound: np.ndarray | None) -> np.ndarray:
    """Triangles (T, 3) wound so that their normals point out: the bound ones if they still fit.

    triangles: as Blender made them.  mirrored: the object has a negative scale.
    """
    if bound is not None and splits(faces, bound, mirrored):
        return bound
    return triangles[:, [0, 2, 1]] if mirrored else triangles


def splits(faces: Faces, triangles: np.ndarray, mirrored: bool) -> bool:
    """Whether the triangles (T, 3) split these faces, n - 2 in a row for each, all wound as the faces are.

    mirrored: wound the other way, as under a negative scale.
    """
    sizes = np.diff(faces.starts, append=len(faces.corners))
    if sizes.max() > _LARGEST_CHECKED_FACE or len(triangles) != len(faces.corners) - 2 * len(sizes):
        return False
    first = faces.starts - 2 * np.arange(len(sizes))  # row of each face's first triangle
    for size in np.unique(sizes):
        chosen = sizes == size
        corners = faces.corners[faces.starts[chosen, None] + np.arange(size)]
        parts = triangles[first[chosen, None] + np.arange(size - 2)]
        place = np.full(parts.shape, -1)  # where in its face each corner of a triangle is
        for step in range(size):
            place[parts == corners[:, step, None, None]] = step
        if place.min() < 0:
            return False
        a, b, c = np.moveaxis(place, -1, 0)
        turn = (b - a) * (c - b) * (c - a)  # positive where a, b, c go round the face in its own sense
        if not ((turn < 0) if mirrored else (turn > 0)).all():
            return False
    return True


def explain_faces(name: str, when: str, first: Faces, now: Faces) -> str:
    return (
        f"The topology of '{name}' changes{when}: {now.vertex_count} vertices and {len(now.starts)} faces, "
        f"{first.vertex_count} and {len(first.starts)} at the start of the range. Apply or remove what adds "
        "and removes faces (modifiers, geometry nodes, particles, metaballs), or shorten the range."
    )


def fingerprint(mesh: MeshTrack | TriangleMesh) -> str:
    """Topology as a text to compare: "vertices:triangles:digest of the triangles:digest of their winding".

    Positions do not count. The same on every platform and in every session.
    """
    triangles = np.ascontiguousarray(mesh.triangles, "<i4")
    unwound = np.sort(triangles, axis=1)
    digests = (hashlib.blake2b(part.tobytes(), digest_size=8).hexdigest() for part in (unwound, triangles))
    return ":".join([str(mesh.vertices.shape[-2]), str(len(triangles)), *digests])


def explain_change(name: str, at_bind: str, now: str) -> str:
    """What differs between two fingerprints of one object, as a sentence; "" when nothing does."""
    if at_bind == now:
        return ""
    old, new = at_bind.split(":"), now.split(":")
    if old[0] != new[0]:
        return f"'{name}' had {old[0]} vertices at bind, {new[0]} now."
    if old[1] != new[1]:
        return f"'{name}' had {old[1]} triangles at bind, {new[1]} now."
    if old[2] != new[2]:
        return f"'{name}' has as many vertices and triangles as at bind, but they are connected differently."
    return f"The faces of '{name}' point the other way than at bind: it was mirrored or flipped."
