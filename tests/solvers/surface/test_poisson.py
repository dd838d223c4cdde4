"""Vertices from gradients and places: exact where they agree, steered by pins, free of size and resolution."""

import numpy as np
import pytest

from solvers.surface.cotangent import surface_operators
from solvers.surface.poisson import PoissonSystem
from tests.standing import upright_tube

RADIUS = 2.0


@pytest.fixture
def tube(rng):
    """A bumpy closed tube and, beside it, a loose vertex: vertices (V, 3), triangles (T, 3), its operators."""
    vertices, triangles = upright_tube(10, 12, lambda angle, height: 1.0)
    vertices = vertices * (1, 1, 2.25) + rng.normal(0, 0.05, vertices.shape)
    vertices = np.concatenate((vertices, [[7.0, 7.0, 7.0]]))
    return vertices, triangles, surface_operators(vertices, triangles)


def divergence_of(surface, vertices):
    gradients = surface.gradients(np.swapaxes(vertices, -1, -2))
    flat = gradients.reshape(-1, gradients.shape[-2] * gradients.shape[-1])
    return (surface.divergence @ flat.T).T.reshape(*gradients.shape[:-2], -1)


def test_a_pose_comes_back(rng, tube):
    vertices, _, surface = tube
    system = PoissonSystem.build(surface, RADIUS)
    poses = vertices + rng.normal(0, 0.5, (4, *vertices.shape))
    found = system.solve(divergence_of(surface, poses), np.swapaxes(poses, 1, 2))
    assert found.shape == (4, 3, len(vertices))
    assert np.abs(np.swapaxes(found, 1, 2) - poses).max() < 1e-12
    # Some processors sum one column in another order than several.
    assert np.abs(found[1] - system.solve(divergence_of(surface, poses[1]), poses[1].T)).max() < 1e-12


def test_equal_to_a_dense_solve_and_linear(rng, tube):
    vertices, _, surface = tube
    system = PoissonSystem.build(surface, RADIUS, 0.3)
    divergence, places = rng.normal(size=(2, 3, len(vertices)))
    dense = surface.laplacian.toarray() + np.diag(0.3 / RADIUS**2 * surface.mass)
    right = divergence + 0.3 / RADIUS**2 * surface.mass * places
    found = system.solve(divergence, places)
    assert np.abs(found - np.linalg.solve(dense, right.T).T).max() < 1e-10
    parts = system.solve(divergence) + system.solve(positions=places)
    assert np.abs(found - parts).max() < 1e-10


def test_loose_vertices_go_to_their_places_and_places_fix_the_centroid(rng, tube):
    vertices, _, surface = tube
    system = PoissonSystem.build(surface, RADIUS)
    divergence, places = rng.normal(size=(2, 3, len(vertices)))
    divergence[:, surface.vertex_component < 0] = 0.0
    assert np.abs(system.solve(divergence, places)[:, -1] - places[:, -1]).max() < 1e-12
    found = system.solve(divergence_of(surface, 1.2 * vertices), vertices.T + 3.0)
    mass = surface.mass * (surface.vertex_component >= 0)
    assert np.abs((found - vertices.T - 3.0) @ mass).max() < 1e-9


def test_free_of_size(rng, tube):
    vertices, triangles, _ = tube
    bent, places = vertices + rng.normal(0, 0.3, vertices.shape), vertices + rng.normal(0, 0.3, vertices.shape)
    found = []
    for scale in (1.0, 1000.0):
        surface = surface_operators(scale * vertices, triangles)
        system = PoissonSystem.build(surface, scale * RADIUS)
        found.append(system.solve(divergence_of(surface, scale * bent), scale * places.T) / scale)
    assert np.abs(found[0] - found[1]).max() < 1e-10
