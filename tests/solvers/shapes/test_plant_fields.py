"""Fields that move soles: the means that are asked for, least bending, one move of what lies together, loose pieces."""

import numpy as np
import pytest
from scipy.sparse import diags

from solvers.shapes.plant_fields import plant_fields
from solvers.surface.cotangent import lumped_mass, surface_operators
from tests.walking_body import PART, SHARES, walk
from tests.walking_feet import feet_of


@pytest.fixture(scope="module")
def body():
    _, vertices, triangles, _, _ = walk(1.0)
    return vertices[0], triangles, feet_of(vertices, triangles)


def test_handles_move_as_is_asked_and_the_others_stay(body, rng):
    rest, triangles, feet = body
    fields = plant_fields(rest, triangles, feet)
    assert fields.foot.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    np.testing.assert_allclose(fields.handles.sum(axis=1), 1.0)
    offsets = rng.normal(size=(8, 3))
    moved = fields.moved(offsets)[feet.vertices][feet.soles]
    np.testing.assert_allclose(fields.handles @ moved, offsets, atol=1e-5)


def test_of_all_moves_with_those_means_it_is_the_smoothest(rng):
    """Against the whole system of the least energy with constraints, on a mesh of one piece."""
    _, vertices, triangles, _, _ = walk(1.0)
    of = slice(PART, 2 * PART)
    inside = ((triangles >= PART) & (triangles < 2 * PART)).all(axis=1)
    rest, leg = vertices[0, of], triangles[inside] - PART
    feet = feet_of(vertices[:, of], leg)
    fields = plant_fields(rest, leg, feet)
    surface, mass = surface_operators(rest, leg), lumped_mass(rest, leg)
    radius = np.sqrt(((rest - rest.mean(axis=0)) ** 2).sum(axis=1).mean())
    bent = (surface.laplacian + diags(mass / radius**2)).toarray()
    energy = bent @ np.diag(1.0 / mass) @ bent
    means = np.zeros((2, len(rest)))
    means[:, feet.vertices[feet.soles]] = fields.handles
    whole = np.block([[energy, means.T], [means, np.zeros((2, 2))]])
    right = np.concatenate((np.zeros((len(rest), 2)), np.eye(2)))
    np.testing.assert_allclose(fields.fields, np.linalg.solve(whole, right)[: len(rest)], atol=1e-4)


def test_split_vertices_move_as_those_that_they_were_split_from(body):
    rest, triangles, feet = body
    corners = triangles.ravel()
    _, vertices, _, _, _ = walk(1.0)
    split = feet_of(vertices[:, corners], np.arange(len(corners)).reshape(-1, 3))
    fields = plant_fields(rest[corners], np.arange(len(corners)).reshape(-1, 3), split).fields
    first = {}
    for number, corner in enumerate(corners):
        np.testing.assert_array_equal(fields[number], fields[first.setdefault(corner, number)])


def test_a_leg_that_no_face_joins_to_the_body_takes_it_along(body):
    """A boot that is a mesh of its own would leave its leg behind."""
    rest, triangles, feet = body
    fields = plant_fields(rest, triangles, feet)
    both = fields.fields[:, fields.foot == 0].sum(axis=1)
    hip = np.flatnonzero(SHARES[:, 2] == 1.0) + PART
    near = np.argsort(np.linalg.norm(rest[:PART] - rest[hip].mean(axis=0), axis=1))[:4]
    assert both[hip].mean() > 0.1
    np.testing.assert_allclose(both[near].mean(), both[hip].mean(), atol=0.1)


def test_shape_and_size_alone_tell_the_fields(body):
    rest, triangles, feet = body
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    moved = plant_fields(7.0 * rest @ turn.T + [3, 1, 9], triangles, feet)
    np.testing.assert_allclose(moved.fields, plant_fields(rest, triangles, feet).fields, atol=1e-4)
