"""Feet are where they are in the mesh that is made of the same coefficients, nearly."""

import numpy as np
import pytest

from benchmarks.datasets import data_folder
from benchmarks.mesh_sequences import mesh_sequence
from solvers.core.steps import result_of
from solvers.shapes.feet_readout import FeetReadout
from solvers.shapes.mesh_feet import find_feet, lowest_ground
from solvers.shapes.target_space import learn_target_steps
from tests.stepping_bodies import TRIANGLES, stepper


@pytest.mark.captures
@pytest.mark.skipif(data_folder() is None, reason="the folder of captures is not there")
@pytest.mark.parametrize("split", (False, True))
def test_they_are_the_means_of_the_mesh(rng, split):
    """Of a placed cat, welded and with the corners of all faces split, in poses of its own and beside them."""
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
    np.testing.assert_allclose(soles, feet.soles(shown), atol=0.02 * feet.height)
    np.testing.assert_allclose(whole, feet.centroids(shown), atol=0.02 * feet.height)


def test_a_mesh_of_few_faces_is_read_exactly(rng):
    """As many groups as faces: nothing is taken together, whatever components and what they ask for."""
    vertices = stepper(np.arange(24) / 12).astype(np.float32)
    vertices[:, :, 0] += 0.2 * np.sin(np.arange(24))[:, None] * vertices[:, :, 2]
    space = result_of(learn_target_steps(vertices, TRIANGLES))
    feet = find_feet(vertices, TRIANGLES, 0.0)
    coefficients = space.coefficients + rng.normal(0.0, 0.5, space.coefficients.shape) * space.coefficients.std(axis=0)
    shown = space.vertices_of(coefficients)
    readout = FeetReadout.build(space, feet, np.eye(4))
    soles, whole = readout.of(coefficients)
    np.testing.assert_allclose(soles, feet.soles(shown), atol=1e-5)
    np.testing.assert_allclose(whole, feet.centroids(shown), atol=1e-5)
    np.testing.assert_allclose(readout.of(coefficients[7:8])[0][0], soles[7], atol=1e-6)


@pytest.mark.captures
@pytest.mark.skipif(data_folder() is None, reason="the folder of captures is not there")
def test_poses_that_turn_faces_over_are_read_from_all_faces():
    """A gallop and a collapse: by groups feet were off by a third of the body's height."""
    gallop, triangles = mesh_sequence("horse_gallop")
    vertices = np.concatenate((gallop[:12:2], mesh_sequence("horse_collapse")[0][::3])).astype(np.float32)
    vertices = vertices[..., [0, 2, 1]] * np.float32([1, -1, 1])
    space = result_of(learn_target_steps(vertices, triangles))
    feet = find_feet(vertices[:6], triangles, lowest_ground(vertices[:6]))
    readout = FeetReadout.build(space, feet, np.eye(4))
    shown = space.vertices_of(space.coefficients)
    assert readout.whole is not None
    np.testing.assert_allclose(readout.of(space.coefficients)[0], feet.soles(shown), atol=1e-4)
