import numpy as np

from solvers.surface.edges import edge_lengths, unique_edges, unique_pairs

# Two faces that share an edge, which they go along in opposite directions.
TRIANGLES = np.array([[3, 0, 1], [1, 0, 2]])


def test_each_edge_once_in_rising_order():
    edges, _ = unique_edges(TRIANGLES)
    np.testing.assert_array_equal(edges, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]])


def test_sides_name_their_edges():
    edges, edge_of_side = unique_edges(TRIANGLES)
    for triangle, own in zip(TRIANGLES, edge_of_side, strict=True):
        sides = np.sort(np.stack((triangle, np.roll(triangle, -1)), axis=1), axis=1)
        np.testing.assert_array_equal(edges[own], sides)


def test_large_numbers_of_a_narrow_type_do_not_overflow():
    """Imported meshes bring int32, in which the square of their number of vertices does not fit."""
    high = 3_000_000
    edges, _ = unique_edges(np.array([[high, high - 1, high - 2]], np.int32))
    np.testing.assert_array_equal(edges, [[high - 2, high - 1], [high - 2, high], [high - 1, high]])


def test_pairs_either_way_round_are_one():
    pairs, which = unique_pairs(np.array([4, 1, 2]), np.array([1, 4, 0]))
    np.testing.assert_array_equal(pairs, [[0, 2], [1, 4]])
    np.testing.assert_array_equal(which, [1, 1, 0])


def test_no_faces_have_no_edges():
    edges, edge_of_side = unique_edges(np.empty((0, 3), int))
    assert edges.shape == (0, 2) and edge_of_side.shape == (0, 3)


def test_lengths_of_one_mesh_and_of_several():
    vertices = np.array([[0.0, 0, 0], [3, 4, 0], [0, 0, 2]])
    edges = np.array([[0, 1], [0, 2]])
    np.testing.assert_allclose(edge_lengths(vertices, edges), [5.0, 2.0])
    np.testing.assert_allclose(edge_lengths(np.stack((vertices, 2.0 * vertices)), edges), [[5.0, 2.0], [10.0, 4.0]])
