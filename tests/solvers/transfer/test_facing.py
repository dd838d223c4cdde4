"""Where a body faces against another: any place, size, heading and resolution, the smaller turn where both do."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.surface.cotangent import lumped_mass
from solvers.transfer.facing import facing
from tests.standing import captured, turned


def apart(one, two):
    return abs(np.angle(np.exp(1j * (one - two))))


def figure(rng, count, nose=0.15):
    """Points of a standing figure with feet and a nose ahead, unevenly spread, and the area that each stands for."""
    pieces = (((-0.2, -0.12, 0.0), (0.2, 0.12, 1.6)), ((-0.2, 0.1, 0.0), (0.2, 0.12 + nose, 0.08)))
    shares = 0.9, 0.1
    counts = count, count
    points = [rng.uniform(*ends, (some, 3)) for ends, some in zip(pieces, counts, strict=True)]
    return np.concatenate(points), np.repeat(np.divide(shares, counts), counts)


@pytest.mark.parametrize("yaw", [0.0, 0.4, -1.3, 2.6, np.pi])
def test_any_place_size_heading_and_resolution_and_back_is_the_other_way(rng, yaw):
    (one, of_one), (other, of_other) = figure(rng, 700), figure(rng, 2500)
    there = 1.7 * turned(other, yaw) + (3, -2, 5)
    assert apart(facing(one, of_one, there, of_other), yaw) < 0.1
    assert apart(facing(there, of_other, one, of_one), -yaw) < 0.1


def test_where_front_is_as_good_as_back_the_smaller_turn_counts(rng):
    points, weights = figure(rng, 900, nose=0.0)
    points = np.concatenate((points, points * (-1, -1, 1)))
    for yaw in (0.3, -0.3):
        assert apart(facing(points, np.tile(weights, 2), turned(points, yaw), np.tile(weights, 2)), yaw) < 0.05


@pytest.mark.captures
@pytest.mark.parametrize("one, other", [("cat_poses", "lion_poses"), ("wolf_skinned_poses", "walking_cat")])
@pytest.mark.parametrize("yaw", [0.0, 1.2, np.pi])
def test_animals_of_two_kinds(one, other, yaw):
    """All are captured facing the same way."""
    bodies = []
    for name in (one, other):
        vertices, triangles = captured(name)
        bodies.append((vertices.mean(axis=0), lumped_mass(vertices[0], triangles)))
    (cat, of_cat), (lion, of_lion) = bodies
    assert apart(facing(cat, of_cat, turned(lion, yaw), of_lion), yaw) < 0.15


@pytest.mark.captures
@pytest.mark.parametrize("name", ["human_crane", "lion_poses"])
@pytest.mark.parametrize("axis, lean", [(0, 25.0), (1, 25.0), (1, -25.0)])
def test_a_body_that_leans_faces_where_it_did(name, axis, lean):
    vertices, triangles = captured(name)
    body, mass = vertices.mean(axis=0), lumped_mass(vertices[0], triangles)
    leaning = body @ Rotation.from_rotvec(np.radians(lean) * np.eye(3)[axis]).as_matrix().T
    assert apart(facing(body, mass, turned(leaning, 0.7), mass), 0.7) < 0.2
