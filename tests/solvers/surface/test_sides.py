"""Out of an object by the side one was on."""

import numpy as np
import pytest

from benchmarks.props import box
from solvers.surface.sides import faced_sides, sided
from solvers.surface.track import SurfaceTrack

# A slab 0.2 m high; triangles of its faces by the direction they look to.
SLAB = box("Slab", [0, 0, 0], [1, 1, 0.2])


def facing(direction):
    corner = SLAB.vertices[0][SLAB.triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return int(np.argmax(normal @ direction))


def ask(points, side, limit=0.4):
    surface, frames = SurfaceTrack(SLAB), np.zeros(len(points), int)
    return sided(surface, points, frames, surface.query(points, frames, 0.5), side, limit)


def test_a_point_inside_leaves_by_its_side_and_too_far_a_one_is_given_up_for_the_nearest():
    points = np.array([[0.9, 0.5, 0.19], [0.9, 0.5, 0.01]])
    distance, normal = ask(points, np.full(2, facing([1, 0, 0])))
    assert np.allclose(distance, -0.1) and np.allclose(normal, [1, 0, 0])
    distance, normal = ask(np.array([[0.5, 0.5, 0.19]]), np.array([facing([1, 0, 0])]), limit=0.3)
    assert np.allclose(distance, -0.01) and np.allclose(normal, [0, 0, 1])


def test_without_a_side_or_outside_nothing_changes():
    points = np.array([[0.9, 0.5, 0.19], [1.1, 0.5, 0.1], [0.5, 0.5, 0.3]])
    side = np.array([-1, facing([0, 0, 1]), facing([1, 0, 0])])
    distance, normal = ask(points, side)
    assert np.allclose(distance, [-0.01, 0.1, 0.1])
    assert np.allclose(normal, [[0, 0, 1], [1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("at, faced", [([1.03, 0.5, 0.24], [0, 0, 1]), ([1.04, 0.5, 0.23], [1, 0, 0])])
def test_beside_an_edge_the_face_whose_plane_is_farther_is_faced(at, faced):
    surface, frames, points = SurfaceTrack(SLAB), np.zeros(1, int), np.array([at])
    side = faced_sides(surface, points, frames, surface.query(points, frames, 0.5))
    np.testing.assert_allclose(surface.face_normals(side, frames), [faced], atol=1e-12)


def test_the_gradient_at_an_edge_points_away_from_it():
    at = np.array([[1.03, 0.5, 0.24]])
    distance, gradient = ask(at, np.array([-1]))
    assert np.allclose(distance, 0.05) and np.allclose(gradient, [[0.6, 0, 0.8]])
    step = 1e-6
    side = np.array([-1])
    numeric = [(ask(at + step * axis, side)[0] - ask(at - step * axis, side)[0])[0] for axis in np.eye(3)]
    assert np.allclose(np.array(numeric) / (2 * step), gradient[0], atol=1e-6)
