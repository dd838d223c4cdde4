"""Closest points of triangles in their own planes: many (point, triangle) pairs at once."""

from __future__ import annotations

import numpy as np


def planar_frames(corners, normals):
    """Rows (18, T): the triangle's plane axes with offsets (x along ab, y, height) and its planar corners."""
    origin = corners[:, 0]
    ab, ac = corners[:, 1] - origin, corners[:, 2] - origin
    length = np.sqrt(np.einsum("ti,ti->t", ab, ab))
    x = ab / length[:, None]
    y = np.cross(normals, x)
    frames = np.empty((18, len(corners)))
    for row, axis in ((0, x), (4, y), (8, normals)):
        frames[row : row + 3] = axis.T
        frames[row + 3] = np.einsum("ti,ti->t", axis, origin)
    cx, cy = np.einsum("ti,ti->t", ac, x), np.einsum("ti,ti->t", ac, y)
    frames[12:15] = length, cx, cy
    frames[15:18] = cx - length, 1 / ((cx - length) ** 2 + cy**2), 1 / (cx**2 + cy**2)
    return frames


def _planar_coordinates(p, f):
    px, py, pz = p
    x = px * f[0] + py * f[1] + pz * f[2] - f[3]
    y = px * f[4] + py * f[5] + pz * f[6] - f[7]
    return x, y, px * f[8] + py * f[9] + pz * f[10] - f[11]


def _edge_steps(x, y, f):
    """Clamped positions on the edges ab, bc, ca and the squared planar distances to them."""
    length, cx, cy, ex, inverse_bc, inverse_ca = f[12:18]
    ab = np.minimum(np.maximum(x, 0), length)
    bc = np.minimum(np.maximum(((x - length) * ex + y * cy) * inverse_bc, 0), 1)
    ca = np.minimum(np.maximum((x * cx + y * cy) * inverse_ca, 0), 1)
    squares = (
        (x - ab) ** 2 + y**2,
        (x - length - bc * ex) ** 2 + (y - bc * cy) ** 2,
        (x - ca * cx) ** 2 + (y - ca * cy) ** 2,
    )
    inside = (y >= 0) & (y * ex >= (x - length) * cy) & (x * cy >= y * cx)
    return (ab, bc, ca), squares, inside


def planar_distance2(p, f):
    """Squared distance of points p (3, P) to triangles with frames f (18, P)."""
    x, y, z = _planar_coordinates(p, f)
    _, (ab, bc, ca), inside = _edge_steps(x, y, f)
    return z * z + np.where(inside, 0, np.minimum(np.minimum(ab, bc), ca))


def planar_closest(p, f):
    """Planar position (2, P) of the nearest point and its feature: 0 face, 1-3 edges, 4-6 corners."""
    x, y, _ = _planar_coordinates(p, f)
    (ab, bc, ca), squares, inside = _edge_steps(x, y, f)
    length, cx, cy, ex = f[12:16]
    edge = np.argmin(squares, axis=0)
    place_x = np.choose(edge, (ab, length + bc * ex, ca * cx))
    place_y = np.choose(edge, (np.zeros_like(ab), bc * cy, ca * cy))
    step = np.choose(edge, (ab / length, bc, 1 - ca))
    kind = np.where(step <= 0, 4 + edge, np.where(step >= 1, 4 + (edge + 1) % 3, 1 + edge))
    return (np.where(inside, x, place_x), np.where(inside, y, place_y)), np.where(inside, 0, kind)


def planar_gradients(p, f):
    """Gradients (P, 3) of the distances of points p (3, P) to triangles with frames f (18, P); zero on a triangle."""
    x, y, z = _planar_coordinates(p, f)
    (near_x, near_y), _ = planar_closest(p, f)
    x, y = x - near_x, y - near_y
    length = np.sqrt(x * x + y * y + z * z)
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    x, y, z = x * scale, y * scale, z * scale
    return np.stack([x * f[k] + y * f[4 + k] + z * f[8 + k] for k in range(3)], axis=1)
