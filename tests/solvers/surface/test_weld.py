import numpy as np

from solvers.surface.weld import coincident_pairs, staying_together, weld


def test_each_vertex_stands_for_itself_where_none_lies_with_it():
    vertices = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    np.testing.assert_array_equal(weld(vertices), np.arange(50))
    assert coincident_pairs(vertices).shape == (0, 2)


def test_the_first_stands_for_all_that_lie_with_it():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(weld(vertices), [0, 1, 0, 1, 0])
    pairs = coincident_pairs(vertices)
    np.testing.assert_array_equal(pairs[np.lexsort(pairs.T[::-1])], [[0, 2], [0, 4], [1, 3], [2, 4]])


def test_a_hair_apart_wherever_they_are():
    """Rounding to a grid would leave those apart that lie on two sides of a border between its cells."""
    rng = np.random.default_rng(1)
    vertices = rng.uniform(-1, 1, (5000, 3))
    twins = vertices + rng.uniform(-1e-9, 1e-9, vertices.shape)
    np.testing.assert_array_equal(weld(np.concatenate((vertices, twins))), np.tile(np.arange(5000), 2))


def test_a_chain_is_one():
    vertices = np.zeros((6, 3))
    vertices[:, 0] = [0.0, 0.8, 1.6, 2.4, 4.0, 4.5]
    np.testing.assert_array_equal(weld(vertices, 1.0), [0, 0, 0, 0, 4, 4])


def test_thousands_in_one_place():
    """A surface shrunk to a point: pairs of each with each would not fit into memory."""
    rng = np.random.default_rng(2)
    heap = rng.uniform(-1e-9, 1e-9, (30_000, 3))
    found = weld(np.concatenate((heap, [[1.0, 0.0, 0.0]])))
    assert not found[:-1].any() and found[-1] == len(heap)


def test_a_mesh_of_no_size():
    np.testing.assert_array_equal(weld(np.ones((3, 3))), [0, 0, 0])


def test_only_what_stays_together_in_all_frames_does():
    """Two sheets that touch at times, one vertex that leaves its twin once, twins that never part."""
    rng = np.random.default_rng(0)
    frames = np.repeat(rng.uniform(0, 1, (6, 40, 3)), 2, axis=1)
    frames[::2, 11] += [0.0, 0.0, 0.2]
    frames[3, 20] += [0.1, 0.0, 0.0]
    expected = np.repeat(np.arange(0, 80, 2), 2)
    expected[[11, 21]] = 11, 21
    np.testing.assert_array_equal(staying_together(frames), expected)
    np.testing.assert_array_equal(staying_together(frames + 3e-7 * rng.normal(size=frames.shape)), expected)


def test_a_heap_that_opens_later_is_told_apart():
    """A part that is scaled to nothing in the first frame, of 5,000 vertices that are pairs of twins."""
    rng = np.random.default_rng(0)
    opened = np.tile(rng.uniform(0, 1, (2500, 3)), (2, 1))
    frames = np.stack((0.0 * opened, opened, 0.0 * opened))
    frames = np.concatenate((frames, np.broadcast_to([[[2.0, 0, 0], [3.0, 0, 0]]], (3, 2, 3))), axis=1)
    expected = np.concatenate((np.tile(np.arange(2500), 2), [5000, 5001]))
    np.testing.assert_array_equal(staying_together(frames), expected)


def test_three_in_a_row_have_one_that_stands_for_all():
    """The outer two are farther apart than the tolerance; each had once another one to stand for it."""
    frames = np.array([[[0.0, 0, 0], [0.8e-5, 0, 0], [1.6e-5, 0, 0], [1.0, 0, 0]]] * 2)
    np.testing.assert_array_equal(staying_together(frames), [0, 0, 0, 3])
