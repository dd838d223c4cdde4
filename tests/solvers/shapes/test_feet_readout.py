"""Feet are where they are in the mesh that is made of the same coefficients."""

import numpy as np
import pytest

from benchmarks.datasets import data_folder
from benchmarks.mesh_sequences import mesh_sequence
from solvers.core.steps import result_of
from solvers.shapes.feet_readout import FeetReadout
from solvers.shapes.mesh_feet import find_feet, lowest_ground
from solvers.shapes.target_space import learn_target_steps


@pytest.mark.captures
@pytest.mark.skipif(data_folder() is None, reason="the folder of captures is not there")
@pytest.mark.parametrize("split", (False, True))
def test_they_are_the_means_of_the_mesh(rng, split):
    """Of a placed cat, welded and with the corners of all faces split."""
    vertices, triangles = mesh_sequence("walking_cat")
    vertices = (0.01 * vertices[..., [0, 2, 1]] * [1, -1, 1]).astype(np.float32)
    if split:
        vertices, triangles = vertices[:, triangles.ravel()], np.arange(triangles.size).reshape(-1, 3)
    space = result_of(learn_target_steps(vertices, triangles))
    place = np.diag([2.0, 2.0, 2.0, 1.0])
    place[:3, 3] = 1.0, 2.0, 3.0
    world = vertices @ place[:3, :3].T + place[:3, 3]
    feet = find_feet(world, triangles, lowest_ground(world))
    assert len(feet) == 4
    coefficients = space.coefficients[:5] + rng.normal(0.0, 0.3, (5, space.components)) * space.coefficients.std(axis=0)
    soles, whole = FeetReadout.build(space, feet, place).of(coefficients)
    shown = space.vertices_of(coefficients) @ place[:3, :3].T + place[:3, 3]
    np.testing.assert_allclose(soles, feet.soles(shown), atol=1e-5)
    np.testing.assert_allclose(whole, feet.centroids(shown), atol=1e-5)
