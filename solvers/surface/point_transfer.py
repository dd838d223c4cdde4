"""Points of one surface brought over to another one that takes its place, whatever its faces are.

Along gravity a point goes to the surface that is above or below it. Where several lie on its upright line, as under a
bridge or beside a roof, the highest one counts that lies within a step of the level at which the body is there. What is
too steep for that, a wall or the edge of a box, goes to the nearest place that faces as it does. By closest point all
go to the nearest place that does not look away from where they look, if there is any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..core.errors import InputError
from ..core.types import MeshTrack, TriangleMesh
from ..core.vectors import cross
from .descriptor_frames import DescriptorPoints, descriptor_frames
from .facing_places import nearest_facing
from .followed_ground import Ground
from .ground_heights import GroundHeights
from .sides import faced_sides
from .track import SurfaceTrack

GRAVITY, CLOSEST = "GRAVITY", "CLOSEST"
# Cosines: between up and a normal, below which a point is on a wall; between normals that face alike.
WALL, _ALIKE = 0.5, 0.5
# The same, above which a face does not look away.
_TOWARDS = 0.1
# Cosines that differ by no more are alike. Metres before and behind a face that a point is seen from, to tell which
# face it is on; and between heights that are those of one surface.
_ALIKE_AS, _BEFORE, _SHARED = 1e-9, 1e-5, 1e-5
# Shares of a face by which a point may lie outside of it: points on an edge must not fall beside both faces.
_EDGE = 1e-5


@dataclass(frozen=True)
class TransferredPoints:
    """N points that were brought over.

    places: on the other surface, its triangles; of any place where nothing was found.  local: (N, 3, 3) their axes in
    the frames of their triangles.  found: (N,) bool.  origins (N, 3), axes (N, 3, 3): as they came to lie, those
    without ground moved along with the nearest one that has some.
    """

    places: DescriptorPoints
    local: np.ndarray
    found: np.ndarray
    origins: np.ndarray
    axes: np.ndarray

    def frames(self, mesh: TriangleMesh | MeshTrack) -> tuple[np.ndarray, np.ndarray]:
        """Origins (S, N, 3) and axes (S, N, 3, 3) of the points on the other surface as it is in S states."""
        origins, axes = descriptor_frames(self.places, [mesh])
        axes = axes @ self.local
        lost = ~self.found
        origins[:, lost], axes[:, lost] = self.origins[lost], self.axes[lost]
        return origins, axes


@dataclass(frozen=True)
class Levels:
    """The heights at which a body goes along a way over a surface.

    way: (F, 2) metres, as seen from above.  heights: (F,).
    """

    way: np.ndarray
    heights: np.ndarray

    @classmethod
    def along(cls, ground: GroundHeights, way: np.ndarray, eye: float, step: float) -> Levels | None:
        """Followed by steps (``followed_ground``); None where the way never comes to the ground.

        eye: height, metres, above which nothing is stood on at first.  step: metres.
        """
        first = Ground.first_below(ground, way, eye)
        return None if first is None else cls(way, first.along(way[:, None], step).levels[:, 0])

    def at(self, points: np.ndarray) -> np.ndarray:
        """(N,) of points (N, 3): those of the nearest place of the way."""
        return self.heights[cKDTree(self.way).query(points[:, :2])[1]]


def stood_on(mesh: TriangleMesh) -> GroundHeights | None:
    """The faces of a surface that look up, or None where there is none."""
    try:
        return GroundHeights(mesh.vertices, mesh.triangles, is_faced=True, edge=_EDGE)
    except InputError:
        return None


def along_gravity(
    origins: np.ndarray,
    axes: np.ndarray,
    mesh: TriangleMesh,
    ground: GroundHeights | None,
    levels: Levels | None,
    up: float,
    down: float,
) -> TransferredPoints:
    """Points (N, 3) with axes (N, 3, 3), the first of them the normal, world, Z up, along Z onto a surface.

    ground: of ``stood_on``.  levels: of the body; None where it never comes over the ground.  up, down: metres beyond
    the level there that a point's new height may have.
    """
    origins, axes = np.asarray(origins, float), np.asarray(axes, float)
    normals = axes[..., 0]
    triangle, places, found = np.zeros(len(origins), int), origins.copy(), np.zeros(len(origins), bool)
    flat = np.flatnonzero(normals[:, 2] > WALL)
    if flat.size and levels is not None:
        below, hit, at = highest(ground, mesh, origins[flat], normals[flat], levels.at(origins[flat]), up, down)
        triangle[flat[hit]], places[flat[hit]], found[flat[hit]] = below, at, True
    steep = np.flatnonzero(normals[:, 2] <= WALL)
    if steep.size:
        nearest, at, faces = _nearest(mesh, origins[steep], normals[steep], up + down, _ALIKE)
        alike = faces > _ALIKE
        steep = steep[alike]
        triangle[steep], places[steep], found[steep] = nearest[alike], at[alike], True
    return _transferred(origins, axes, mesh, triangle, places, found)


def by_closest_point(origins: np.ndarray, axes: np.ndarray, mesh: TriangleMesh) -> TransferredPoints:
    """Points (N, 3) with axes (N, 3, 3) to the nearest place of a surface, however far, that does not look away
    from where they look; to the nearest of all where every one does."""
    origins, axes = np.asarray(origins, float), np.asarray(axes, float)
    triangle, places, _ = _nearest(mesh, origins, axes[..., 0], np.inf, _TOWARDS)
    return _transferred(origins, axes, mesh, triangle, places, np.ones(len(origins), bool))


def _nearest(mesh, origins, normals, reach, least):
    """Of points (N, 3) the triangles (N,) of the nearest places within reach, -1 for none, those places, and the
    cosines (N,) between both normals: of places where it passes the least, if there are any.

    Where the nearest place is an edge or a corner it belongs to the face there that looks most as the point does.
    """
    triangle, places, alike = _nearest_of_all(mesh, origins, normals, reach)
    away = np.flatnonzero((triangle >= 0) & (alike <= least))
    if away.size:
        other, at = nearest_facing(mesh, origins[away], normals[away], least, reach)
        found, away = other >= 0, away[other >= 0]
        triangle[away], places[away] = other[found], at[found]
        alike[away] = np.einsum("nk,nk->n", _normals(mesh, other[found]), normals[away])
    return triangle, places, alike


def _nearest_of_all(mesh, origins, normals, reach):
    """As ``_nearest``, wherever they look; a cosine of -2 where there is none."""
    surface = SurfaceTrack(MeshTrack(mesh.name, mesh.vertices[None], mesh.triangles))
    frames = np.zeros(len(origins), int)
    found = []
    for way in (_BEFORE, -_BEFORE):  # a valley's faces meet before a point, a ridge's behind it
        seen_from = origins + way * normals
        hits = surface.query(seen_from, frames, reach)
        triangle = faced_sides(surface, seen_from, frames, hits)
        alike = np.einsum("nk,nk->n", _normals(mesh, triangle), normals)
        found.append((triangle, hits.closest, np.where(triangle >= 0, alike, -2.0)))
    (triangle, places, alike), (other, others, more) = found
    better = (other >= 0) & ((triangle < 0) | (more > alike + _ALIKE_AS))
    return (
        np.where(better, other, triangle),
        np.where(better[:, None], others, places),
        np.where(better, more, alike),
    )


def highest(
    ground: GroundHeights,
    mesh: TriangleMesh,
    origins: np.ndarray,
    normals: np.ndarray,
    level: np.ndarray,
    up: float,
    down: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The highest ground within reach of a level at points: triangles (K,) and places (K, 3), and which of the points
    they are of (K,), in order.

    ground: of the mesh, see ``stood_on``.  origins: (M, 3) or (M, 2).  normals: (M, 3), of faces that share a place the
    one that looks most like it counts.  level: (M,) metres.  up, down: metres.
    """
    starts, heights, triangles = ground.faces(origins)
    point = np.repeat(np.arange(len(origins)), np.diff(starts))
    near = (heights <= level[point] + up) & (heights >= level[point] - down)
    point, heights, triangles = point[near], heights[near], triangles[near]
    top = np.full(len(origins), -np.inf)
    np.maximum.at(top, point, heights)
    # Where faces share the place, that which faces as the point does.
    shared = heights >= top[point] - _SHARED
    point, heights, triangles = point[shared], heights[shared], triangles[shared]
    alike = np.einsum("nk,nk->n", _normals(mesh, triangles), normals[point])
    order = np.lexsort((triangles, -np.round(alike, 9), point))
    hit, first = np.unique(point[order], return_index=True)
    chosen = order[first]
    return triangles[chosen], hit, np.column_stack((origins[hit, :2], heights[chosen]))


def _transferred(origins, axes, mesh, triangle, places, found) -> TransferredPoints:
    if not found.any():
        raise InputError(
            f"Nothing of '{mesh.name}' lies where the motion goes: move it there, turn its faces towards the body "
            "(Mesh, Normals, Recalculate Outside), or go by closest point."
        )
    return transferred_to(origins, axes, mesh, triangle, places, found)


def transferred_to(
    origins: np.ndarray,
    axes: np.ndarray,
    mesh: TriangleMesh,
    triangle: np.ndarray,
    places: np.ndarray,
    found: np.ndarray,
    normals: np.ndarray | None = None,
    others: tuple[np.ndarray, TransferredPoints] | None = None,
) -> TransferredPoints:
    """Points (N, 3) with axes (N, 3, 3) that come to lie at places (N, 3) of triangles (N,), as far as they are found.

    normals: (N, 3) that they have there, None for those of the triangles.  others: points and what became of them, with
    which those that are not found go along; None for those of them that are.
    """
    barycentric = _barycentric(places, mesh.vertices[mesh.triangles[triangle]])
    barycentric[~found] = 1.0 / 3.0
    known = triangle[found.argmax()] if found.any() else others[1].places.triangle[others[1].found.argmax()]
    points = DescriptorPoints(np.zeros(len(triangle), int), np.where(found, triangle, known), barycentric)
    at, natural = (part[0] for part in descriptor_frames(points, [mesh]))
    turned = _shortest_arcs(axes[..., 0], natural[..., 0] if normals is None else normals) @ axes
    local = np.swapaxes(natural, -1, -2) @ turned
    lost = np.flatnonzero(~found)
    if lost.size:
        before, after, has = (origins, at, found) if others is None else (others[0], others[1].origins, others[1].found)
        had = np.flatnonzero(has)
        nearest = had[cKDTree(before[had]).query(origins[lost])[1]]
        at[lost], turned[lost] = origins[lost] + after[nearest] - before[nearest], axes[lost]
    return TransferredPoints(points, local, found, at, turned)


def _normals(mesh, triangle):
    """Unit normals (N, 3) of triangles (N,), zero without area."""
    corner = mesh.vertices[mesh.triangles[triangle]]
    normal = cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)


def _barycentric(points, corners):
    """(N, 3) of points (N, 3) in the planes of triangles (N, 3, 3) that have an area."""
    edges = corners[:, 1:] - corners[:, :1]
    gram = np.einsum("nik,njk->nij", edges, edges)
    det = gram[:, 0, 0] * gram[:, 1, 1] - gram[:, 0, 1] ** 2
    right = np.einsum("nik,nk->ni", edges, points - corners[:, 0])
    first = gram[:, 1, 1] * right[:, 0] - gram[:, 0, 1] * right[:, 1]
    second = gram[:, 0, 0] * right[:, 1] - gram[:, 0, 1] * right[:, 0]
    rest = np.column_stack((first, second)) / np.where(det > 0, det, 1.0)[:, None]
    return np.column_stack((1.0 - rest.sum(axis=1), rest))


def _shortest_arcs(first, second):
    """Rotations (N, 3, 3) that turn unit vectors (N, 3) into others by the shortest way."""
    axis, cosine = cross(first, second), np.einsum("nk,nk->n", first, second)
    opposite = cosine < -1.0 + 1e-9
    hat = np.zeros((len(first), 3, 3))
    hat[:, [2, 0, 1], [1, 2, 0]], hat[:, [1, 2, 0], [2, 0, 1]] = axis, -axis
    out = np.eye(3) + hat + hat @ hat / np.where(opposite, 1.0, 1.0 + cosine)[:, None, None]
    if opposite.any():  # a half turn about any axis across
        across = np.eye(3)[np.abs(first[opposite]).argmin(axis=1)]
        across -= np.einsum("nk,nk->n", across, first[opposite])[:, None] * first[opposite]
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        out[opposite] = 2.0 * across[:, :, None] * across[:, None, :] - np.eye(3)
    return out
