"""Closest points against brute force, analytic boxes and hand-made meshes."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.surface.closest_point import SurfaceIndex

CUBE_VERTICES = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
CUBE_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def brute_force(points, vertices, triangles):
    """Distance by projecting on every plane and every segment: slow, and written another way."""
    best = np.full(len(points), np.inf)
    for a, b, c in vertices[triangles]:
        basis = np.stack([b - a, c - a], axis=1)
        if np.linalg.matrix_rank(basis, tol=1e-12) == 2:
            uv = np.linalg.lstsq(basis, (points - a).T, rcond=None)[0].T
            flat = a + uv @ basis.T
            inside = (uv >= 0).all(axis=1) & (uv.sum(axis=1) <= 1)
            best = np.where(inside, np.minimum(best, np.linalg.norm(points - flat, axis=1)), best)
            for p, q in ((a, b), (b, c), (c, a)):
                t = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
                best = np.minimum(best, np.linalg.norm(points - p - t[:, None] * (q - p), axis=1))
    return best


def box_distance(points, half):
    """Signed distance to an axis-aligned box of half sizes (3,) about the origin."""
    q = np.abs(points) - half
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def soup(rng, number, size, extent=1.0):
    centres = rng.uniform(-extent, extent, (number, 1, 3))
    vertices = (centres + rng.normal(0, size, (number, 3, 3))).reshape(-1, 3)
    return vertices, np.arange(3 * number).reshape(-1, 3)


def wavy_ground(cells, size):
    line = np.linspace(-size / 2, size / 2, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    vertices = np.stack([x, y, 0.1 * np.sin(3 * x) * np.cos(2 * y)], axis=-1).reshape(-1, 3)
    i = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    n = cells + 1
    return vertices, np.concatenate([np.stack([i, i + n, i + n + 1], 1), np.stack([i, i + n + 1, i + 1], 1)])


@pytest.mark.parametrize("number, size", [(1, 0.5), (12, 1.0), (300, 0.1), (1500, 0.03), (400, 3.0)])
@pytest.mark.parametrize("reach", [0.05, 0.4, np.inf])
def test_distance_equals_brute_force(number, size, reach):
    rng = np.random.default_rng(number)
    vertices, triangles = soup(rng, number, size)
    on_surface = [vertices[:30], vertices[triangles[:30]].mean(axis=1)]
    points = np.concatenate([rng.uniform(-2, 2, (300, 3)), *on_surface])
    expected = brute_force(points, vertices, triangles)
    hits = SurfaceIndex(vertices, triangles).query(points, reach)
    assert np.array_equal(hits.triangle >= 0, expected <= reach)
    found = hits.triangle >= 0
    assert np.allclose(np.abs(hits.distance[found]), expected[found], atol=1e-9)
    assert np.isinf(hits.distance[~found]).all() and not hits.normal[~found].any()
    assert np.array_equal(hits.closest[~found], points[~found])
    gap = np.linalg.norm(points - hits.closest, axis=1)[found]
    assert np.allclose(gap, np.abs(hits.distance[found]), atol=1e-12)
    corners = vertices[triangles[hits.triangle[found]]]
    for (a, b, c), foot in zip(corners, hits.closest[found], strict=True):
        u, v = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), foot - a, rcond=None)[0]
        assert min(u, v, 1 - u - v) > -1e-7


def test_box_signs_and_normals_are_analytic_also_of_an_unwelded_one():
    """Split normals duplicate every corner; without welding, edges and corners lose their sign."""
    rng = np.random.default_rng(1)
    half = np.array([0.4, 1.0, 2.0])
    points = rng.uniform(-3, 3, (5000, 3))
    hits = SurfaceIndex(CUBE_VERTICES * half, CUBE_TRIANGLES).query(points, np.inf)
    assert np.allclose(hits.distance, box_distance(points, half), atol=1e-12)
    corner = np.array([[2.0, 2.0, 3.0]])
    hit = SurfaceIndex(CUBE_VERTICES * half, CUBE_TRIANGLES).query(corner, np.inf)
    assert np.allclose(hit.normal, 1 / np.sqrt(3)) and hit.feature[0] >= 4
    split = (CUBE_VERTICES * half)[CUBE_TRIANGLES].reshape(-1, 3)
    hits = SurfaceIndex(split, np.arange(36).reshape(-1, 3)).query(points, np.inf)
    assert np.allclose(hits.distance, box_distance(points, half), atol=1e-12)


def test_corners_a_hair_apart_leave_no_hole():
    """Wherever a grid that they might be rounded to has its borders. All is solid but for a box."""
    rng = np.random.default_rng(3)
    points = rng.uniform(-2, 2, (400, 3))
    split = CUBE_VERTICES[CUBE_TRIANGLES[:, ::-1]].reshape(-1, 3)
    for shift in rng.uniform(0.0, 1e-4, 20):
        corners = split + rng.uniform(-1e-6, 1e-6, split.shape)
        beyond = np.array([[-9.0 - shift, 0.0, 0.0], [-9.0, 1.0, -6.0 - shift], [-9.0, -7.0 - shift, 1.0]])
        hits = SurfaceIndex(np.concatenate((corners, beyond)), np.arange(39).reshape(-1, 3)).query(points, np.inf)
        assert np.allclose(hits.distance, -box_distance(points, np.ones(3)), atol=1e-5)


def test_acute_edges_keep_their_sign():
    """A sharp wedge: the plain normal of either face gives the wrong side beyond the edge."""
    vertices = np.array([[0, 0, 0], [0, 1, 0], [2, 0, 0.1], [2, 1, 0.1], [2, 0, -0.1], [2, 1, -0.1]], float)
    sides, caps = [[0, 2, 3], [0, 3, 1], [0, 1, 5], [0, 5, 4]], [[2, 4, 5], [2, 5, 3], [0, 4, 2], [1, 3, 5]]
    triangles = np.array(sides + caps)
    rng = np.random.default_rng(3)
    points = rng.uniform([-1, -0.5, -0.5], [3, 1.5, 0.5], (4000, 3))
    hits = SurfaceIndex(vertices, triangles).query(points, np.inf)
    x, y, z = points.T
    inside = (x > 0) & (x < 2) & (y > 0) & (y < 1) & (np.abs(z) < 0.05 * x)
    assert np.array_equal(hits.distance < 0, inside)


def test_open_ground_is_signed_by_its_side():
    vertices, triangles = wavy_ground(30, 3.0)
    rng = np.random.default_rng(4)
    points = rng.uniform(-1.2, 1.2, (2000, 3)) * [1, 1, 0.4]
    hits = SurfaceIndex(vertices, triangles).query(points, np.inf)
    height = points[:, 2] - 0.1 * np.sin(3 * points[:, 0]) * np.cos(2 * points[:, 1])
    clear = np.abs(height) > 0.01
    assert np.array_equal(hits.distance[clear] > 0, height[clear] > 0)


def test_beyond_the_border_of_an_open_mesh_is_outside():
    """Under a sheet is inside, beside it is not, however low; a closed mesh has no border."""
    vertices, triangles = wavy_ground(10, 2.0)
    points = np.array([[0, 0, -0.1], [1.1, 0, -0.1], [1.1, 1.1, -0.1], [1.1, 0, 0.1]])
    hits = SurfaceIndex(vertices * [1, 1, 0], triangles).query(points, np.inf)
    assert np.allclose(hits.distance, [-0.1, np.sqrt(0.02), np.sqrt(0.03), np.sqrt(0.02)])


def test_answer_does_not_depend_on_company_or_order():
    vertices, triangles = wavy_ground(40, 3.0)
    rng = np.random.default_rng(5)
    points = rng.uniform(-1.5, 1.5, (3000, 3)) * [1, 1, 0.3]
    index = SurfaceIndex(vertices, triangles)
    together = index.query(points, 0.1)
    shuffle = rng.permutation(len(points))
    shuffled = index.query(points[shuffle], 0.1)
    for name in ("distance", "closest", "normal", "triangle"):
        assert np.array_equal(getattr(shuffled, name), getattr(together, name)[shuffle])
    for i in range(0, 3000, 100):
        alone = index.query(points[i : i + 1], 0.1)
        assert alone.distance[0] == together.distance[i] and alone.triangle[0] == together.triangle[i]


def test_far_and_near_points_over_a_fine_mesh_and_those_on_it():
    """Far from a fine mesh thousands of triangles are almost equally near."""
    vertices, triangles = wavy_ground(60, 6.0)
    rng = np.random.default_rng(7)
    points = np.concatenate([rng.uniform(-5, 5, (150, 3)), rng.uniform(-3, 3, (50, 3)) * [1, 1, 0.05]])
    index = SurfaceIndex(vertices, triangles)
    hits = index.query(points, np.inf)
    assert np.allclose(np.abs(hits.distance), brute_force(points, vertices, triangles), atol=1e-9)
    hits = index.query(np.concatenate([vertices, vertices[triangles].mean(axis=1)]), 0.5)
    assert np.abs(hits.distance).max() < 1e-12
    assert np.array_equal(hits.triangle[len(vertices) :], np.arange(len(triangles)))


def test_answer_does_not_depend_on_earlier_queries():
    """Whatever was asked before, near or far, within any reach."""
    vertices, triangles = wavy_ground(40, 3.0)
    rng = np.random.default_rng(8)
    points = rng.uniform(-1.5, 1.5, (500, 3)) * [1, 1, 0.3]
    first = SurfaceIndex(vertices, triangles).query(points, 0.2)
    index = SurfaceIndex(vertices, triangles)
    for reach, spread in ((0.1, 1.5), (np.inf, 50.0), (0.2, 1.6), (0.5, 0.3)):
        for _ in range(3):
            index.query(rng.uniform(-spread, spread, (2000, 3)), reach)
        again = index.query(points, 0.2)
        for name in ("distance", "closest", "normal", "triangle", "feature"):
            assert np.array_equal(getattr(again, name), getattr(first, name))


def test_rigid_motion_and_scale_carry_over():
    rng = np.random.default_rng(6)
    vertices, triangles = wavy_ground(20, 3.0)
    points = rng.uniform(-1.5, 1.5, (1000, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    shift = np.array([100.0, -50.0, 10.0])
    plain = SurfaceIndex(vertices, triangles).query(points, np.inf)
    moved = SurfaceIndex(3 * vertices @ turn.T + shift, triangles).query(3 * points @ turn.T + shift, np.inf)
    assert np.allclose(moved.distance, 3 * plain.distance, atol=1e-9)
    assert np.allclose(moved.closest, 3 * plain.closest @ turn.T + shift, atol=1e-6)


def test_triangles_without_area_are_ignored():
    vertices = np.concatenate([CUBE_VERTICES, [[5, 5, 5], [6, 6, 6]]])
    triangles = np.concatenate([[[8, 9, 9], [8, 8, 8], [0, 0, 1]], CUBE_TRIANGLES])
    points = np.array([[5.0, 5.0, 5.0], [0, 0, 0.5]])
    hits = SurfaceIndex(vertices, triangles).query(points, np.inf)
    assert np.allclose(hits.distance, [np.sqrt(48), -0.5])
    assert (hits.triangle >= 3).all()


def test_no_points_and_one_point():
    index = SurfaceIndex(CUBE_VERTICES, CUBE_TRIANGLES)
    assert index.query(np.zeros((0, 3)), 1.0).distance.shape == (0,)
    assert index.query(np.array([[0, 0, 1.25]]), 1.0).distance[0] == pytest.approx(0.25)
    assert index.query(np.array([[0, 0, 1.25]] * 500), 0.2).triangle.max() == -1


@pytest.mark.parametrize(
    "vertices, triangles",
    [
        (CUBE_VERTICES * np.nan, CUBE_TRIANGLES),
        (CUBE_VERTICES, np.zeros((0, 3), int)),
        (CUBE_VERTICES, CUBE_TRIANGLES + 5),
        (CUBE_VERTICES, np.zeros((4, 3), int)),
    ],
)
def test_unusable_meshes_are_named(vertices, triangles):
    with pytest.raises(InputError, match="'Crate'"):
        SurfaceIndex(vertices, triangles, "Crate")


def test_unusable_points_are_refused():
    index = SurfaceIndex(CUBE_VERTICES, CUBE_TRIANGLES)
    for points, reach in ((np.full((3, 3), np.nan), 1.0), (np.zeros((3, 2)), 1.0), (np.zeros((3, 3)), np.nan)):
        with pytest.raises(InputError):
            index.query(points, reach)
