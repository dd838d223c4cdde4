import numpy as np
import pytest

from solvers.surface.reach import Surface, SurfaceReach


def grid(cells, size, height=lambda x, y: 0 * x):
    x, y = np.meshgrid(np.linspace(0, size, cells + 1), np.linspace(0, size, cells + 1), indexing="ij")
    corner = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=2).reshape(-1, 3)
    return np.stack([x, y, height(x, y)], axis=-1).reshape(-1, 3), triangles


def slab(thickness, size=2.0):
    """A closed slab; triangles 0 and 6 are its top, 1 and 7 its bottom."""
    low = np.array([[0, 0], [size, 0], [size, size], [0, size]])
    vertices = np.concatenate([np.column_stack([low, np.full(4, z)]) for z in (0.0, thickness)])
    sides = [[k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4] for k in range(4)]
    quads = np.array([[4, 5, 6, 7], [3, 2, 1, 0], *sides])
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def on_grid(points, cells, size):
    """Triangle of a grid under each point."""
    cell = np.minimum((points[:, :2] / size * cells).astype(int), cells - 1)
    within = points[:, :2] / size * cells - cell
    return 2 * (cell[:, 0] * cells + cell[:, 1]) + (within[:, 1] > within[:, 0])


@pytest.mark.parametrize("cells", [1, 5, 60])
def test_ways_on_a_plane_are_straight_however_it_is_cut(cells):
    rng = np.random.default_rng(1)
    size, radius = 4.0, 0.4
    vertices, triangles = grid(cells, size)
    at = np.column_stack([2 + rng.uniform(-0.5, 0.5, (300, 2)), np.zeros(300)])
    triangle = on_grid(at, cells, size)
    reach = SurfaceReach(Surface(vertices, triangles, 1e-6), at, triangle, radius, radius / 2)
    for start in range(10):
        ways = reach.within(at[start], triangle[start], radius)
        straight = np.linalg.norm(at - at[start], axis=1)
        elsewhere = triangle != triangle[start]
        near = elsewhere & (straight < 0.85 * radius)
        assert np.isinf(ways[elsewhere & (straight > radius)]).all()
        assert (ways[near] >= straight[near] - 1e-12).all()
        assert (ways[near] - straight[near] < 0.1 * radius).all()


def test_the_way_over_an_edge_is_the_unfolded_one():
    vertices, triangles = slab(1.0)
    top, side = np.array([1.0, 0.1, 1.0]), np.array([[1.15, 0.0, 0.8]])
    reach = SurfaceReach(Surface(vertices, triangles, 1e-6), side, np.array([8]), 0.5, 0.25)
    way = reach.within(top, 0, 0.5)[0]
    assert np.isclose(way, np.hypot(0.15, 0.3), rtol=0.05)


def test_the_other_side_of_a_thin_slab_is_as_far_as_its_rim():
    vertices, triangles = slab(0.02)
    below = np.array([[1.0, 1.0, 0.0], [1.0, 0.05, 0.0]])
    reach = SurfaceReach(Surface(vertices, triangles, 1e-6), below, np.array([1, 7]), 0.4, 0.2)
    assert np.isinf(reach.within(np.array([1.0, 0.9, 0.02]), 0, 0.4)).all()
    assert np.isclose(reach.within(np.array([1.0, 0.05, 0.02]), 0, 0.4)[1], 0.12, atol=0.02)
    vertices, triangles = slab(0.02, size=20.0)  # far from every edge
    reach = SurfaceReach(Surface(vertices, triangles, 1e-6), np.array([[8.0, 4.0, 0.0]]), np.array([1]), 0.4, 0.2)
    assert np.isinf(reach.within(np.array([8.0, 4.0, 0.02]), 0, 0.4)).all()


def test_split_vertices_do_not_cut_the_surface():
    vertices, triangles = grid(2, 2.0)
    split, loose = vertices[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
    at = np.array([[0.95, 0.5, 0.0], [1.05, 0.45, 0.0]])
    triangle = on_grid(at, 2, 2.0)
    ways = [
        SurfaceReach(Surface(*mesh, 1e-6), at[1:], triangle[1:], 0.3, 0.15).within(at[0], triangle[0], 0.3)
        for mesh in ((vertices, triangles), (split, loose))
    ]
    assert np.isfinite(ways[0]).all() and np.allclose(ways[0], ways[1])


def test_separate_parts_do_not_reach_each_other():
    one, triangles = grid(1, 1.0)
    vertices = np.concatenate([one, one + [0, 0, 0.01]])
    surface = Surface(vertices, np.concatenate([triangles, triangles + len(one)]), 1e-6)
    reach = SurfaceReach(surface, np.array([[0.5, 0.05, 0.01]]), np.array([2]), 0.3, 0.15)
    assert np.isinf(reach.within(np.array([0.5, 0.05, 0.0]), 0, 0.3)).all()
