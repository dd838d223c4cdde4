import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.surface.descriptor_frames import smooth_vertex_normals
from solvers.surface.proximity_points import proximity_points

BOX_QUADS = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
BOX = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
BOX_TRIANGLES = np.concatenate([BOX_QUADS[:, [0, 1, 2]], BOX_QUADS[:, [0, 2, 3]]])


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def rock(rng, count=300):
    """A rough convex body with outward triangles, 2 count - 4 of them."""
    hull = ConvexHull(Rotation.random(count, random_state=3).apply([0, 0, 1]) * [1, 0.8, 0.6])
    triangles = hull.simplices.copy()
    a, b, c = (hull.points[triangles[:, k]] for k in range(3))
    inward = np.einsum("tc,tc->t", np.cross(b - a, c - a), a) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    return hull.points, triangles


def lifted(vertices, triangles, normals, triangle, barycentric, distance):
    """Points at a distance from places on triangles, along the blended normals there."""
    along = np.einsum("pk,pkc->pc", barycentric, normals[triangles[triangle]])
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return np.einsum("pk,pkc->pc", barycentric, vertices[triangles[triangle]]) + distance[:, None] * along


def test_finds_the_places_that_points_were_lifted_from(rng):
    vertices, triangles = rock(rng)
    normals = smooth_vertex_normals(vertices, triangles)
    triangle = rng.integers(len(triangles), size=500)
    barycentric, distance = rng.dirichlet(np.ones(3), 500), rng.uniform(0, 0.8, 500)
    points = lifted(vertices, triangles, normals, triangle, barycentric, distance)
    found = proximity_points(points, vertices, triangles, normals, 0.8)
    for p in range(500):
        row = np.flatnonzero((found[0] == p) & (found[1] == triangle[p]))
        assert row.size == 1
        assert np.allclose(found[2][row[0]], barycentric[p], atol=1e-8)
        assert np.isclose(found[3][row[0]], distance[p], atol=1e-10)


def test_every_result_reproduces_its_point(rng):
    vertices, triangles = rock(rng)
    normals = smooth_vertex_normals(vertices, triangles)
    points = rng.normal(0, 1, (3000, 3))
    index, triangle, barycentric, distance = proximity_points(points, vertices, triangles, normals, 0.7)
    assert len(index) and (distance >= 0).all() and (distance <= 0.7 * (1 + 1e-8)).all()
    again = lifted(vertices, triangles, normals, triangle, barycentric, distance)
    assert np.abs(again - points[index]).max() < 1e-9
    assert (np.lexsort((triangle, index)) == np.arange(len(index))).all()


def test_the_broad_phase_loses_nothing(rng):
    vertices, triangles = rock(rng, 60)
    triangles = triangles[rng.random(len(triangles)) < 0.9]  # some holes, whose rims lean
    normals = smooth_vertex_normals(vertices, triangles)
    points = rng.normal(0, 0.9, (400, 3))
    index, triangle, *_ = proximity_points(points, vertices, triangles, normals, 0.9)
    together = set(zip(index.tolist(), triangle.tolist(), strict=True))
    one_by_one = set()
    for t in range(len(triangles)):
        covered = proximity_points(points, vertices, triangles[t : t + 1], normals, 0.9)[0]
        one_by_one.update((p, t) for p in covered.tolist())
    single = set()
    for p in range(len(points)):
        covering = proximity_points(points[p : p + 1], vertices, triangles, normals, 0.9)[1]
        single.update((p, t) for t in covering.tolist())
    assert together == one_by_one == single


def test_the_prisms_of_a_box_tile_the_space_around_it(rng):
    normals = smooth_vertex_normals(BOX, BOX_TRIANGLES)
    points = rng.uniform(-0.3, 1.3, (4000, 3))
    outside = ((points < 0) | (points > 1)).any(axis=1)
    index, *_ = proximity_points(points, BOX, BOX_TRIANGLES, normals, 1.0)
    times = np.bincount(index, minlength=len(points))
    assert (times[outside] == 1).all() and (times[~outside] == 0).all()


def test_a_joint_in_a_valley_is_covered_by_both_slopes():
    valley = np.array([[0, -1, 0], [0, 1, 0], [1, -1, 1], [1, 1, 1], [-1, -1, 1], [-1, 1, 1.0]])
    triangles = np.array([[0, 2, 3], [0, 3, 1], [0, 1, 5], [0, 5, 4]])
    normals = smooth_vertex_normals(valley, triangles)
    index, triangle, *_ = proximity_points(np.array([[0.0, 0.1, 0.4]]), valley, triangles, normals, 0.9)
    assert {t // 2 for t in triangle} == {0, 1}


def test_a_point_on_an_edge_belongs_to_both_sides_and_one_on_the_surface_has_no_height():
    normals = np.tile([0, 0, 1.0], (4, 1))
    quad = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    points = np.array([[0.5, 0.5, 0.2], [0.3, 0.3, 0.0]])
    index, triangle, barycentric, distance = proximity_points(points, quad, triangles, normals, 1.0)
    assert index.tolist() == [0, 0, 1, 1] and triangle.tolist() == [0, 1, 0, 1]
    assert np.allclose(distance, [0.2, 0.2, 0, 0], atol=1e-12)


def test_behind_or_too_far_is_not_covered_nor_by_triangles_without_area():
    triangle, normals = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]), np.tile([0, 0, 1.0], (3, 1))
    line = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0.0]])
    points = np.array([[0.2, 0.2, -0.01], [0.2, 0.2, 1.01], [0.8, 0.8, 0.1]])
    for some, corners in ((points, triangle), (points[:0], triangle), (np.array([[0.5, 0, 0.1]]), line)):
        assert not len(proximity_points(some, corners, np.array([[0, 1, 2]]), normals, 1.0)[0])


def test_rigid_motion_and_scale_pick_the_same_places(rng):
    vertices, triangles = rock(rng)
    points = rng.normal(0, 1, (2000, 3))
    turn, shift, scale = Rotation.random(random_state=5).as_matrix(), np.array([5.0, -3, 8]), 0.01
    moved = scale * vertices @ turn.T + shift
    one = proximity_points(points, vertices, triangles, smooth_vertex_normals(vertices, triangles), 0.7)
    points = scale * points @ turn.T + shift
    two = proximity_points(points, moved, triangles, smooth_vertex_normals(moved, triangles), scale * 0.7)
    assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
    assert np.abs(one[2] - two[2]).max() < 1e-9
    assert np.allclose(scale * one[3], two[3], atol=1e-12)


def test_bad_input_is_refused():
    for points, reach, words in (
        (np.full((1, 3), np.nan), 1.0, "not numbers"),
        (np.zeros((1, 3)), 0.0, "positive"),
        (np.zeros((1, 2)), 1.0, "shape"),
    ):
        with pytest.raises(InputError, match=words):
            proximity_points(points, np.eye(3), np.array([[0, 1, 2]]), np.eye(3), reach)
