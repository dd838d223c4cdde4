"""Descriptor points on meshes and the local frames they carry (Al-Ashqar et al. 2013, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.errors import InputError
from ..core.types import MeshTrack, TriangleMesh
from ..core.vectors import cross, lengths, squared_lengths

_MIN_SINE = 1e-10  # altitude over longest edge under which a triangle has no usable plane
_MIN_NORMAL = 1e-6  # length under which blended unit normals have cancelled out


@dataclass(frozen=True)
class DescriptorPoints:
    """Points fixed to triangles; all that a binding stores of them.

    object_index: (N,) int, which mesh of the environment.  triangle: (N,) int, row of its triangles.
    barycentric:  (N, 3), weights of the triangle's three corners, each row sums to 1.
    """

    object_index: np.ndarray
    triangle: np.ndarray
    barycentric: np.ndarray

    def __post_init__(self):
        count = len(self.object_index)
        if self.triangle.shape != (count,) or self.barycentric.shape != (count, 3):
            raise InputError(
                f"Descriptor points disagree: {count} objects, triangles of shape {self.triangle.shape}, "
                f"barycentric coordinates of shape {self.barycentric.shape}."
            )

    def __len__(self) -> int:
        return len(self.object_index)

    def of_object(self, number: int) -> np.ndarray:
        """(K,) int, the points of one mesh of the environment."""
        return np.flatnonzero(self.object_index == number)

    @staticmethod
    def empty() -> DescriptorPoints:
        """No points: the start of an incremental sampling."""
        return DescriptorPoints(np.empty(0, int), np.empty(0, int), np.empty((0, 3)))


def smooth_vertex_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Angle-weighted unit normals at the vertices, so that the way a quad is split does not matter.

    vertices: (..., V, 3), triangles: (T, 3).  Returns (..., V, 3); zero where a vertex has no face of
    any area or where its faces cancel out.
    """
    corners = vertices[..., triangles, :]
    ahead = np.roll(corners, -1, axis=-2) - corners
    behind = np.roll(corners, 1, axis=-2) - corners
    area = cross(ahead, behind)
    doubled = np.linalg.norm(area, axis=-1)
    angle = np.arctan2(doubled, np.einsum("...k,...k->...", ahead, behind))
    weight = np.divide(angle, doubled, out=np.zeros_like(doubled), where=doubled > 0)
    weighted = (area * weight[..., None]).reshape(*vertices.shape[:-2], -1, 3)

    count = vertices.shape[-2]
    corner_of = triangles.ravel()
    gather = sparse.csr_matrix(
        (np.ones(corner_of.size), (corner_of, np.arange(corner_of.size))), (count, corner_of.size)
    )
    stacked = np.moveaxis(weighted, -2, 0)
    total = (gather @ stacked.reshape(corner_of.size, -1)).reshape(count, *stacked.shape[1:])
    total = np.moveaxis(total, 0, -2)
    length = np.linalg.norm(total, axis=-1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > _MIN_NORMAL)


def descriptor_frames(
    points: DescriptorPoints, meshes: Sequence[TriangleMesh | MeshTrack]
) -> tuple[np.ndarray, np.ndarray]:
    """World positions and right-handed orthonormal frames of descriptor points in every mesh state.

    meshes: one for each object index; a TriangleMesh or a one-state MeshTrack stands still, all others
    share one number of states S (metres, world space).

    Returns origins (S, N, 3) and axes (S, N, 3, 3) whose columns are normal, tangent and binormal: the
    normal is the face's own, which follows the sharp edges of boxes, the tangent the triangle's first edge,
    binormal = normal x tangent (Al-Ashqar et al. 2013, section 4).

    Raises InputError for a point on a missing object or triangle, for meshes whose numbers of states
    differ, and for a triangle without area, naming the object, triangle and state.
    """
    states = _state_count(meshes)
    _check_indices(points, meshes)
    origins = np.empty((states, len(points), 3))
    axes = np.empty((states, len(points), 3, 3))
    for index in np.unique(points.object_index):
        rows = points.of_object(index)
        mesh = meshes[index]
        vertices = mesh.vertices if mesh.vertices.ndim == 3 else mesh.vertices[None]
        at, frame = _frames_on(mesh, vertices, points.triangle[rows], points.barycentric[rows])
        origins[:, rows] = at
        axes[:, rows] = frame
    return origins, axes


def _state_count(meshes) -> int:
    counts = {len(mesh.vertices) if mesh.vertices.ndim == 3 else 1 for mesh in meshes}
    moving = sorted(counts - {1})
    if len(moving) > 1:
        listed = ", ".join(f"'{m.name}' {len(m.vertices)}" for m in meshes if m.vertices.ndim == 3)
        raise InputError(f"The meshes have different numbers of states ({listed}); read one frame range.")
    return moving[0] if moving else 1


def _check_indices(points, meshes):
    bad = np.flatnonzero((points.object_index < 0) | (points.object_index >= len(meshes)))
    if bad.size:
        raise InputError(
            f"Descriptor {bad[0]} lies on object {points.object_index[bad[0]]}, but there are {len(meshes)} "
            "objects; bind again."
        )
    sizes = np.array([len(mesh.triangles) for mesh in meshes], int)
    bad = np.flatnonzero((points.triangle < 0) | (points.triangle >= sizes[points.object_index]))
    if bad.size:
        name = meshes[points.object_index[bad[0]]].name
        raise InputError(
            f"Descriptor {bad[0]} lies on triangle {points.triangle[bad[0]]} of '{name}', which has only "
            f"{sizes[points.object_index[bad[0]]]}; its topology has changed, bind again."
        )


def _frames_on(mesh, vertices, triangle, barycentric):
    corner_index = mesh.triangles[triangle]
    first, second, third = (vertices[:, corner_index[:, k]] for k in range(3))
    origin = barycentric[:, :1] * first + barycentric[:, 1:2] * second + barycentric[:, 2:] * third
    edge = second - first
    normal = _face_normals(mesh.name, edge, third - first, triangle)
    tangent = _tangents(mesh.name, edge, normal, triangle)
    return origin, np.stack([normal, tangent, cross(normal, tangent)], axis=-1)


def _face_normals(name, edge, other, triangle):
    normal = cross(edge, other)
    doubled = lengths(normal)
    longest = np.maximum(np.maximum(squared_lengths(edge), squared_lengths(other)), squared_lengths(other - edge))
    _refuse(~(doubled > _MIN_SINE * longest), name, triangle, "has no area; dissolve or repair it")
    return normal / doubled[..., None]


def _tangents(name, edge, normal, triangle):
    tangent = edge / lengths(edge)[..., None]
    for _ in range(2):  # the second pass takes the rounding of slivers back to 1e-16
        tangent = tangent - normal * np.einsum("snc,snc->sn", normal, tangent)[..., None]
        length = lengths(tangent)
        _refuse(~(length > _MIN_NORMAL), name, triangle, "has its first edge along its normal")
        tangent = tangent / length[..., None]
    return tangent


def _refuse(bad, name, triangle, complaint):
    if bad.any():
        state, row = np.argwhere(bad)[0]
        raise InputError(f"Triangle {triangle[row]} of '{name}' {complaint} (state {state}).")
