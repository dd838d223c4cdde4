"""Bodies that stand, Z up, and turn about their upright axis."""

import numpy as np

from benchmarks.mesh_sequences import mesh_sequence


def turned(points, yaw):
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return points @ np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])


def captured(name):
    """Vertices (F, V, 3) and triangles of a captured sequence."""
    vertices, triangles = mesh_sequence(name)
    return np.stack((vertices[..., 0], -vertices[..., 2], vertices[..., 1]), axis=-1), triangles


def upright_tube(along, around, radius):
    """An open tube along z, from 0 to 2, radius(angle, height) wide: vertices (V, 3), triangles (T, 3)."""
    angle, height = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.linspace(0, 2, along), indexing="ij")
    wide = radius(angle, height)
    vertices = np.stack((wide * np.cos(angle), wide * np.sin(angle), height), axis=-1).reshape(-1, 3)
    i, j = (a.reshape(-1) for a in np.meshgrid(np.arange(around), np.arange(along - 1), indexing="ij"))
    left, right = i * along + j, (i + 1) % around * along + j
    corner = np.stack((left, right, right + 1, left + 1))
    return vertices, np.concatenate((corner[[0, 1, 2]].T, corner[[0, 2, 3]].T))


def bands(vertices, reaches):
    """Memberships (P, V) by height: of each part from where to where."""
    height = vertices[:, 2]
    return np.array([(height > low - 1e-9) & (height < high + 1e-9) for low, high in reaches])


def split_faces(triangles, chosen, count):
    """Faces that get corners of their own: the vertices of count that each corner copies, and the new triangles."""
    split = triangles + count * np.asarray(chosen)[:, None]
    used, split = np.unique(split, return_inverse=True)
    return used % count, split.reshape(-1, 3)
