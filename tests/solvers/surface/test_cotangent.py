"""Operators of a mesh at rest: exact on linear functions, sound with degenerate faces."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.surface.cotangent import face_neighbours, left_out, lumped_mass, surface_operators, vertex_components


def sheet(rng, size=8, bumps=0.3):
    """A bumpy sheet of triangles: vertices (V, 3), triangles (T, 3)."""
    x, y = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    vertices = np.stack((x, y, 0 * x), axis=-1).reshape(-1, 3) + rng.normal(0, bumps / 3, (size * size, 3))
    corner = (np.arange(size - 1)[:, None] * size + np.arange(size - 1)).reshape(-1)
    first = np.stack((corner, corner + size, corner + size + 1), axis=1)
    second = np.stack((corner, corner + size + 1, corner + 1), axis=1)
    return vertices, np.concatenate((first, second))


def cotangent_matrix(vertices, triangles):
    """Dense, by the half cotangents of each corner."""
    out = np.zeros((len(vertices),) * 2)
    for triangle in triangles:
        for k in range(3):
            i, j, o = np.roll(triangle, -k)
            a, b = vertices[i] - vertices[o], vertices[j] - vertices[o]
            half = 0.5 * (a @ b) / np.linalg.norm(np.cross(a, b))
            out[[i, j], [i, j]] += half
            out[[i, j], [j, i]] -= half
    return out


def test_laplacian_is_the_one_of_cotangents(rng):
    vertices, triangles = sheet(rng)
    found = surface_operators(vertices, triangles).laplacian.toarray()
    assert np.abs(found - cotangent_matrix(vertices, triangles)).max() < 1e-12
    assert np.abs(found.sum(axis=1)).max() < 1e-12
    assert np.linalg.eigvalsh(found).min() > -1e-12


def test_gradients_of_linear_maps(rng):
    """The rest's own gradient is its two axes; that of an affine map, the map of the axes; its divergence, the
    Laplacian."""
    vertices, triangles = sheet(rng)
    surface = surface_operators(vertices, triangles)
    axes = surface.frames[:, :2]
    assert np.abs(surface.gradients(vertices.T) - axes).max() < 1e-12
    linear = rng.normal(size=(3, 3))
    moved = vertices @ linear.T + [5, 6, 7]
    expected = np.einsum("ij,jkt->ikt", linear, axes)
    assert np.abs(surface.gradients(np.stack((moved.T, vertices.T)))[0] - expected).max() < 1e-12
    values = rng.normal(size=vertices.shape)
    divergence = surface.divergence @ surface.gradients(values.T).reshape(3, -1).T
    assert np.abs(divergence - surface.laplacian @ values).max() < 1e-12


def test_flipped_faces_change_nothing(rng):
    vertices, triangles = sheet(rng)
    flipped = triangles.copy()
    flipped[::3] = flipped[::3, ::-1]
    one, other = surface_operators(vertices, triangles), surface_operators(vertices, flipped)
    assert np.abs((one.laplacian - other.laplacian).toarray()).max() < 1e-12
    assert np.allclose(one.mass, other.mass)


def test_slivers_go_unless_a_vertex_needs_them():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, -0.002, 0], [2, 0.003, 0]], float)
    triangles = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [0, 1, 4], [2, 2, 1]])
    # 3 has the good face 0-2-3, so the thin 0-1-3 goes; 4 has only a thin one, which stays; 2-2-1 is no face.
    assert left_out(vertices, triangles).tolist() == [False, True, False, False, True]
    tiny = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.001, 0, 0], [0, 0.001, 0]], float)
    assert left_out(tiny, np.array([[0, 1, 2], [0, 3, 4], [1, 3, 2], [2, 4, 1]])).tolist() == [0, 1, 0, 0]


def test_degenerate_faces_and_loose_vertices_are_sound(rng):
    vertices, triangles = sheet(rng)
    count = len(vertices)
    vertices = np.concatenate((vertices, vertices[:1], [[9, 9, 9], [9, 9, 8]]))
    extra = [[0, 1, count], [0, 0, 3], [5, 5, 5], [count + 1, count + 2, count + 1]]
    surface = surface_operators(vertices, np.concatenate((triangles, extra)))
    assert np.isfinite(surface.laplacian.data).all() and np.isfinite(surface.frames).all()
    assert (surface.mass > 0).all()
    assert (surface.vertex_component[-2:] == -1).all() and surface.components == 1
    assert surface.laplacian[[count + 1]].nnz == 0


def test_components_are_ordered_runs_of_faces(rng):
    vertices, triangles = sheet(rng, 4)
    shuffled = rng.permutation(np.concatenate((triangles, triangles + 16, triangles + 32)))
    surface = surface_operators(np.concatenate((vertices, vertices + 20, vertices - 20)), shuffled)
    assert surface.components == 3 and surface.starts.tolist() == [0, 18, 36]
    assert (np.diff(surface.face_component) >= 0).all()
    assert np.array_equal(surface.corners, shuffled[surface.faces].T)
    assert np.array_equal(surface.vertex_component[surface.corners[0]], surface.face_component)
    labels = vertex_components(shuffled, 49)
    assert len(set(labels)) == 4 and len(set(labels[:16])) == 1


def test_neighbours_share_an_edge(rng):
    _, triangles = sheet(rng, 5)
    first, second = face_neighbours(triangles.T)
    assert len(first) == 3 * 32 // 2 - 8
    for a, b in zip(first, second, strict=True):
        assert len(set(triangles[a]) & set(triangles[b])) == 2


def test_mass_is_the_area_and_no_area_is_an_error(rng):
    vertices, triangles = sheet(rng, bumps=0)
    assert lumped_mass(vertices, triangles).sum() == pytest.approx(49)
    with pytest.raises(InputError, match="no face with an area"):
        surface_operators(np.zeros((3, 3)), np.array([[0, 1, 2]]))
