import numpy as np

from solvers.core.vectors import cross, lengths, mean_scale, squared_lengths


def test_they_are_numpys_own():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 5, 3)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(cross(a, b), np.cross(a, b))
    np.testing.assert_allclose(lengths(a), np.linalg.norm(a, axis=-1))
    np.testing.assert_allclose(squared_lengths(a), np.linalg.norm(a, axis=-1) ** 2)


def test_scale_is_that_of_a_cube_of_the_same_volume():
    np.testing.assert_allclose(mean_scale(np.diag([2.0, 4.0, 1.0])), 2.0)
    np.testing.assert_allclose(mean_scale(np.stack([-3.0 * np.eye(3), np.zeros((3, 3))])), [3.0, 0.0])
