"""Polar decompositions against singular values and SciPy, and what must hold near singular matrices."""

import numpy as np
import pytest
from scipy.linalg import polar as scipy_polar
from scipy.spatial.transform import Rotation

from solvers.rotations.polar import in_plane_polar, nearest_rotation, polar


def by_svd(a):
    u, _, vt = np.linalg.svd(a)
    u[..., 2] *= np.linalg.det(u @ vt)[:, None]
    return u @ vt


def with_singular_values(rng, values, count=200):
    """Matrices of random rotations around given singular values; the last may be negative, for mirror images."""
    left, right = (Rotation.random(count, random_state=seed).as_matrix() for seed in rng.integers(1000, size=2))
    return left @ (np.array(values)[:, None] * np.swapaxes(right, 1, 2))


def assert_polar(a, rotation, stretch, tolerance=1e-12):
    size = np.abs(a).max()
    assert np.abs(rotation @ np.swapaxes(rotation, 1, 2) - np.eye(3)).max() < tolerance
    assert np.linalg.det(rotation).min() > 0.5
    assert np.abs(stretch - np.swapaxes(stretch, 1, 2)).max() == 0.0
    assert np.abs(rotation @ stretch - a).max() < tolerance * max(size, 1e-300)


def test_random_matrices_match_scipy(rng):
    a = rng.normal(size=(300, 3, 3))
    a[np.linalg.det(a) < 0] *= -1
    rotation, stretch = polar(a)
    oracle = np.array([scipy_polar(m)[0] for m in a])
    assert np.abs(rotation - oracle).max() < 1e-9
    assert_polar(a, rotation, stretch, 1e-9)


@pytest.mark.parametrize(
    "values",
    [(1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 2, 1), (3, 2, 1e-9), (3, 2, 0), (3, 2, -1), (1e-20, 1e-20, 2e-20)]
    + [(1, 1e-3, 1e-3), (1, 1e-6, 1e-6), (1, 0.5, -0.5 + 1e-3), (1e8, 1e5, 1e5)],
)
def test_rotation_is_the_nearest_one(rng, values):
    a = with_singular_values(rng, values)
    rotation, stretch = polar(a)
    assert np.abs(rotation - by_svd(a)).max() < 1e-8
    assert_polar(a, rotation, stretch, 1e-8)


@pytest.mark.parametrize("values", [(1, 0, 0), (0, 0, 0), (1, 1, -1), (1, 0.5, -0.5)])
def test_undetermined_matrices_still_give_a_rotation(rng, values):
    a = with_singular_values(rng, values)
    rotation, stretch = polar(a)
    assert_polar(a, rotation, stretch, 1e-7)


def test_no_matrices():
    assert polar(np.zeros((0, 3, 3)))[0].shape == (0, 3, 3)


def frames_last(a):
    return np.ascontiguousarray(np.moveaxis(a, 0, -1))


def frames_first(a):
    return np.moveaxis(a, -1, 0)


def square(stretch):
    return np.moveaxis(np.array([[stretch[0], stretch[1]], [stretch[1], stretch[2]]]), -1, 0)


def test_in_plane_rotation_and_stretch(rng):
    """U V^T and V S V^T of the singular value decomposition; the normal follows; no reflections."""
    g = rng.normal(size=(500, 3, 2))
    frames, stretch, collapsed = in_plane_polar(frames_last(g))
    u, s, vt = np.linalg.svd(g, full_matrices=False)
    rotation = frames_first(frames)
    assert not collapsed.any()
    assert np.abs(rotation[:, :, :2] - u @ vt).max() < 1e-9
    assert np.abs(square(stretch) - np.swapaxes(vt, 1, 2) @ (s[..., None] * vt)).max() < 1e-12
    assert np.abs(rotation[:, :, 2] - np.cross(rotation[:, :, 0], rotation[:, :, 1])).max() < 1e-12
    assert np.allclose(np.linalg.det(rotation), 1.0)


def test_in_plane_flips_are_rotations(rng):
    """A face turned over in its plane comes back as half a turn out of it, with a positive stretch."""
    turns = Rotation.random(100, random_state=1).as_matrix()
    g = turns[:, :, :2] * [1.0, -1.0]
    frames, stretch, _ = in_plane_polar(frames_last(g))
    assert np.abs(square(stretch) - np.eye(2)).max() < 1e-12
    assert np.abs(frames_first(frames) - turns * [1.0, -1.0, -1.0]).max() < 1e-12


@pytest.mark.parametrize("thin", [0.0, 1e-12, 1e-7, 1e-5, 1e-3])
def test_collapsed_faces_are_reproduced_and_follow_the_fallback(rng, thin):
    turns = Rotation.random(200, random_state=2).as_matrix()
    cosine, sine = np.cos(angle := rng.uniform(0, 7, 200)), np.sin(angle)
    plane = np.moveaxis(np.array([[cosine, -sine], [sine, cosine]]), -1, 0)
    g = turns[:, :, :2] @ (np.array([[1.0], [thin]]) * plane)
    fallback = frames_last(Rotation.random(200, random_state=4).as_matrix())
    frames, stretch, collapsed = in_plane_polar(frames_last(g), fallback)
    rotation = frames_first(frames)
    assert np.abs(rotation @ np.swapaxes(rotation, 1, 2) - np.eye(3)).max() < 2e-6
    assert np.abs(rotation[:, :, :2] @ square(stretch) - g).max() < 2e-6
    if thin < 1e-10:
        assert collapsed.all()
        along = np.einsum("kn,kn->n", frames[:, 2], fallback[:, 2])
        way = np.einsum("kn,kn->n", frames_last(turns[:, :, 0]), fallback[:, 2])
        free = np.abs(way) < 0.99
        assert np.abs(along - np.sqrt(1 - way**2))[free].max() < 1e-6


def test_a_face_that_is_gone_takes_the_fallback():
    fallback = frames_last(Rotation.random(5, random_state=5).as_matrix())
    frames, stretch, collapsed = in_plane_polar(np.zeros((3, 2, 5)), fallback)
    assert collapsed.all() and np.array_equal(frames, fallback) and not stretch.any()
    assert np.array_equal(in_plane_polar(np.zeros((3, 2, 1)))[0][..., 0], np.eye(3))


def test_leading_axes(rng):
    g = rng.normal(size=(4, 3, 2, 7))
    frames, stretch, collapsed = in_plane_polar(g)
    assert frames.shape == (4, 3, 3, 7) and stretch.shape == (4, 3, 7) and collapsed.shape == (4, 7)
    assert np.array_equal(frames[2], in_plane_polar(g[2])[0])


def test_no_rotation_is_nearer_than_the_nearest(rng):
    """Of matrices of every rank and handedness: what Procrustes problems ask for."""
    a = rng.normal(size=(40, 3, 3))
    a[10:20] *= [1.0, 1.0, 0.0]
    a[20:30] *= [1.0, 0.0, 0.0]
    found = nearest_rotation(a)
    np.testing.assert_allclose(found @ np.swapaxes(found, 1, 2), np.tile(np.eye(3), (40, 1, 1)), atol=1e-12)
    assert (np.linalg.det(found) > 0.0).all()
    others = Rotation.random(500, random_state=7).as_matrix()
    assert (np.einsum("nij,nij->n", a, found) >= np.einsum("nij,kij->kn", a, others).max(axis=0) - 1e-12).all()
