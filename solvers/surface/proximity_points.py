"""Proximity points: where joints lie over the triangles of a mesh (Al-Ashqar et al. 2013, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.vectors import cross

_MIN_SINE = 1e-10  # as for the frames: a triangle thinner than this has no plane
_MIN_FACING = 0.1  # corner normals leaning further than this give no usable bounds of the prism
_SLACK = 1e-9  # of the prism's size: a point on the wall between two prisms belongs to both
_CHUNK = 1 << 14  # points tested at once
_ROOT_STEPS = 80


def proximity_points(
    points: np.ndarray,
    vertices: np.ndarray,
    triangles: np.ndarray,
    vertex_normals: np.ndarray,
    max_distance: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every triangle that covers a point, and the place on it that the point lies over.

    A triangle covers the points p = x(u, v) + h n(u, v), h >= 0, where x and n blend its corners and
    the unit normals there, as far as p is within `max_distance` of x(u, v); beyond the height where
    converging normals meet, it covers nothing.  Triangles without area cover nothing.

    points: (M, 3).  vertices, vertex_normals: (V, 3).  triangles: (T, 3).  World space, metres.

    Returns, ordered by point and then by triangle: point index (P,), triangle (P,), barycentric
    coordinates (P, 3) and distance to the surface point (P,).  Raises InputError for bad shapes or numbers.
    Source: Al-Ashqar et al. 2013, section 5; the height is the first root of the cubic on which the point
    lies in the plane of the raised triangle, found by bracketed Newton steps.
    """
    points = np.asarray(points, float)
    _check(points, vertices, vertex_normals, max_distance)
    prisms = _prisms(points, vertices, triangles, vertex_normals, max_distance)
    found = [_empty()]
    if len(prisms.triangle):
        tree = _BoxTree(prisms.low, prisms.high)
        for start in range(0, len(points), _CHUNK):
            part = points[start : start + _CHUNK]
            index, prism = _inside_planes(part, prisms, *tree.containing(part))
            index, prism, barycentric, distance = _project(part, prisms, index, prism, max_distance)
            found.append((index + start, prisms.triangle[prism], barycentric, distance))
    index, triangle, barycentric, distance = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((triangle, index))
    return index[order], triangle[order], barycentric[order], distance[order]


@dataclass(frozen=True)
class _Prisms:
    """Swept triangles near the points: corner, edges, normals, bounds.

    corner, edges (K, 2, 3), normal and its differences (K, 2, 3) to the other corners; limit (K,) of the
    height parameter; low, high (K, 3) boxes; planes (K, 5, 4), [outward normal, -offset].
    """

    triangle: np.ndarray
    corner: np.ndarray
    edges: np.ndarray
    normal: np.ndarray
    bends: np.ndarray
    limit: np.ndarray
    low: np.ndarray
    high: np.ndarray
    planes: np.ndarray


def _empty():
    return np.empty(0, int), np.empty(0, int), np.empty((0, 3)), np.empty(0)


def _check(points, vertices, vertex_normals, max_distance):
    if points.ndim != 2 or points.shape[1] != 3 or vertex_normals.shape != vertices.shape:
        raise InputError(
            f"Points have shape {points.shape}, vertices {vertices.shape}, normals {vertex_normals.shape}; "
            "expected (M, 3) and twice (V, 3)."
        )
    if not (np.isfinite(points).all() and np.isfinite(vertices).all() and np.isfinite(vertex_normals).all()):
        raise InputError("Joints, vertices or normals are not numbers; repair the motion or the mesh.")
    if not max_distance > 0:
        raise InputError(f"The largest distance is {max_distance}; it must be positive.")


def _prisms(points, vertices, triangles, vertex_normals, reach):
    corners = vertices[triangles]
    low, high = corners.min(axis=1) - reach, corners.max(axis=1) + reach
    if not len(points):
        low = np.full_like(low, np.inf)
    near = (low <= points.max(axis=0, initial=-np.inf)) & (high >= points.min(axis=0, initial=np.inf))
    face = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    doubled = np.linalg.norm(face, axis=1)
    longest = np.square(np.roll(corners, -1, axis=1) - corners).sum(axis=2).max(axis=1)
    keep = np.flatnonzero(near.all(axis=1) & (doubled > _MIN_SINE * longest))

    corners, low, high = corners[keep], low[keep], high[keep]
    face = face[keep] / doubled[keep, None]
    normals = vertex_normals[triangles[keep]]
    facing = np.einsum("tkc,tc->tk", normals, face).min(axis=1)
    regular = facing > _MIN_FACING
    limit = reach / np.maximum(facing, _MIN_FACING)
    hull = np.concatenate([corners, corners + limit[:, None, None] * normals], axis=1)
    slack = _SLACK * (reach + np.sqrt(longest[keep]))[:, None]
    low = np.where(regular[:, None], np.maximum(low, hull.min(axis=1)), low) - slack
    high = np.where(regular[:, None], np.minimum(high, hull.max(axis=1)), high) + slack
    return _Prisms(
        triangle=keep,
        corner=corners[:, 0],
        edges=corners[:, 1:] - corners[:, :1],
        normal=normals[:, 0],
        bends=normals[:, 1:] - normals[:, :1],
        limit=limit,
        low=low,
        high=high,
        planes=_bounding_planes(corners, normals, face, hull, regular, reach, slack),
    )


def _bounding_planes(corners, normals, face, hull, regular, reach, slack):
    """Floor, ceiling and one wall an edge; each leaves the whole prism on its inner side."""
    edges = np.roll(corners, -1, axis=1) - corners
    outward = cross(edges, normals + np.roll(normals, -1, axis=1))
    length = np.linalg.norm(outward, axis=2, keepdims=True)
    outward = np.divide(outward, length, out=np.zeros_like(outward), where=length > 0)
    offset = np.einsum("twc,thc->twh", outward, hull).max(axis=2)
    offset = np.where(regular[:, None], offset, np.inf)
    floor = np.einsum("tc,tc->t", face, corners[:, 0])

    planes = np.empty((len(corners), 5, 4))
    planes[:, 0, :3], planes[:, 0, 3] = -face, floor
    planes[:, 1, :3], planes[:, 1, 3] = face, -floor - reach
    planes[:, 2:, :3], planes[:, 2:, 3] = outward, -offset
    planes[:, :, 3] -= slack
    return planes


def _inside_planes(points, prisms, index, prism):
    for k in range(prisms.planes.shape[1]):
        plane = prisms.planes[prism, k]
        inside = np.einsum("pc,pc->p", plane[:, :3], points[index]) + plane[:, 3] <= 0
        index, prism = index[inside], prism[inside]
    return index, prism


def _project(points, prisms, index, prism, reach):
    """Solve p = x(u, v) + h n(u, v) for every pair and keep those inside the prism."""
    away = points[index] - prisms.corner[prism]
    edge, other = prisms.edges[prism, 0], prisms.edges[prism, 1]
    bend, twist = prisms.bends[prism, 0], prisms.bends[prism, 1]
    normal, limit = prisms.normal[prism], prisms.limit[prism]
    height = limit * _first_root(*_plane_cubic(away, edge, other, bend, twist, normal, limit))

    raised = height[:, None]
    edge, other, away = edge + raised * bend, other + raised * twist, away - raised * normal
    face = cross(edge, other)
    squared = np.einsum("pc,pc->p", face, face)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("pc,pc->p", cross(away, other), face) / squared
        v = np.einsum("pc,pc->p", cross(edge, away), face) / squared
    barycentric = np.stack([1.0 - u - v, u, v], axis=1)
    blended = normal + u[:, None] * bend + v[:, None] * twist
    distance = height * np.linalg.norm(blended, axis=1)
    inside = (barycentric >= -_SLACK).all(axis=1) & (distance <= reach * (1 + _SLACK))

    barycentric = np.maximum(barycentric[inside], 0.0)
    barycentric /= barycentric.sum(axis=1, keepdims=True)
    return index[inside], prism[inside], barycentric, distance[inside]


def _plane_cubic(away, edge, other, bend, twist, normal, limit):
    """Coefficients of det[edge + h bend, other + h twist, away - h normal] over h / limit."""
    straight = cross(edge, other)
    mixed = cross(bend, other) + cross(edge, twist)
    curved = cross(bend, twist)

    def dot(a, b):
        return np.einsum("pc,pc->p", a, b)

    return (
        dot(straight, away),
        limit * (dot(mixed, away) - dot(straight, normal)),
        limit**2 * (dot(curved, away) - dot(mixed, normal)),
        -(limit**3) * dot(curved, normal),
    )


def _first_root(c0, c1, c2, c3):
    """Smallest root in [0, 1] of a cubic that starts positive, NaN without one; 0 if it starts below."""
    knots = _monotone_knots(c1, c2, c3)
    values = c0 + knots * (c1 + knots * (c2 + knots * c3))
    crossed = values[1:] <= 0
    piece = crossed.argmax(axis=0)
    columns = np.arange(len(c0))
    low, high = knots[piece, columns], knots[piece + 1, columns]
    root = 0.5 * (low + high)
    for _ in range(_ROOT_STEPS):
        value = c0 + root * (c1 + root * (c2 + root * c3))
        slope = c1 + root * (2 * c2 + root * 3 * c3)
        low, high = np.where(value > 0, root, low), np.where(value > 0, high, root)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = root - value / slope
        step = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        settled = np.abs(step - root).max(initial=0.0) < 1e-15
        root = step
        if settled:
            break
    root = np.where(crossed.any(axis=0), root, np.nan)
    return np.where(c0 <= 0, 0.0, root)


def _monotone_knots(c1, c2, c3):
    """0, the turning points of the cubic inside [0, 1], and 1: (4, P), ascending."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(c2 * c2 - 3 * c1 * c3)
        far = -(c2 + np.copysign(spread, c2))
        turns = np.stack([far / (3 * c3), c1 / far])
    turns = np.sort(np.clip(np.nan_to_num(turns, nan=0.0), 0.0, 1.0), axis=0)
    return np.concatenate([np.zeros_like(turns[:1]), turns, np.ones_like(turns[:1])])


class _BoxTree:
    """Balanced binary tree over boxes, searched for many points at once, level by level."""

    def __init__(self, low, high):
        depth = int(np.ceil(np.log2(max(len(low), 1))))
        size = 1 << depth
        self._box = np.minimum(np.arange(size), len(low) - 1)
        centres = (low + high) / 2
        for level in range(depth):
            groups = self._box.reshape(1 << level, -1)
            inside = centres[groups]
            axis = np.ptp(inside, axis=1).argmax(axis=1)
            along = np.take_along_axis(inside, axis[:, None, None], axis=2)[:, :, 0]
            halves = np.argpartition(along, groups.shape[1] // 2, axis=1)
            self._box = np.take_along_axis(groups, halves, axis=1).ravel()
        # The padding repeats the last box; its copies must not be found again.
        repeated = np.ones(size, bool)
        repeated[np.unique(self._box, return_index=True)[1]] = False
        low, high = low[self._box].copy(), high[self._box].copy()
        low[repeated], high[repeated] = np.inf, -np.inf
        self._levels = [(low, high)]
        while len(low) > 1:
            low, high = low.reshape(-1, 2, 3).min(axis=1), high.reshape(-1, 2, 3).max(axis=1)
            self._levels.append((low, high))
        self._levels.reverse()

    def containing(self, points):
        """Pairs (point, box), each (P,), of every point inside a box."""
        index = np.arange(len(points))
        node = np.zeros(len(points), int)
        for depth, (low, high) in enumerate(self._levels):
            if depth:
                index = np.repeat(index, 2)
                node = np.repeat(2 * node, 2)
                node[1::2] += 1
            at = points[index]
            inside = ((at >= low[node]) & (at <= high[node])).all(axis=1)
            index, node = index[inside], node[inside]
        return index, self._box[node]
