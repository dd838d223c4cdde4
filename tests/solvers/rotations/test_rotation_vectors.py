"""Exponential, logarithm and unwrapping of rotation vectors against SciPy's Rotation."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.rotations import rotation_vectors as rv


def unit(rng, count):
    axes = rng.normal(size=(count, 3))
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


ANGLES = (0.0, 1e-15, 1e-9, 1e-5, 0.1, 1.0, 2.3, 3.0, np.pi - 1e-4, np.pi - 1e-8, np.pi)


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_and_log_match_scipy(rng, angle):
    vectors = unit(rng, 200) * angle
    matrices = rv.exp(vectors)
    assert np.abs(matrices - Rotation.from_rotvec(vectors).as_matrix()).max() < 1e-15 * 8
    found = rv.log(matrices)
    # At a half turn the sign of the axis is free.
    flipped = np.sign(np.sum(found * vectors, axis=1, keepdims=True)) if angle > np.pi - 1e-7 else 1.0
    assert np.abs(flipped * found - vectors).max() < 1e-7 * max(angle, 1e-9)
    assert np.abs(rv.exp(found) - matrices).max() < 1e-14


def test_log_is_accurate_on_both_sides_of_where_its_formula_changes(rng):
    vectors = unit(rng, 2000) * rng.uniform(2.0, np.pi, (2000, 1))
    assert np.abs(rv.log(rv.exp(vectors)) - vectors).max() < 1e-11


def test_any_shape_and_memory_order(rng):
    vectors = rng.normal(size=(3, 4, 5))
    matrices = rv.exp(np.moveaxis(vectors, 0, -1))
    assert matrices.shape == (4, 5, 3, 3)
    assert np.allclose(matrices[2, 1], Rotation.from_rotvec(vectors[:, 2, 1]).as_matrix())
    assert np.allclose(rv.log(matrices), np.moveaxis(vectors, 0, -1))
    assert rv.exp(np.zeros((0, 3))).shape == (0, 3, 3)


def test_single_precision_stays_single(rng):
    vectors = rng.normal(size=(100, 3)).astype(np.float32)
    matrices = rv.exp(vectors)
    assert matrices.dtype == np.float32
    assert np.abs(matrices - Rotation.from_rotvec(vectors).as_matrix()).max() < 1e-6


def test_unwrapping_follows_many_turns(rng):
    """Spins of several turns about slowly wandering axes, some of them through no rotation at all."""
    time = np.linspace(0, 1, 200)[:, None, None]
    smooth = unit(rng, 30) * (20.0 * time - 5.0) + rng.normal(size=(30, 3)) * time
    principal = Rotation.from_rotvec(smooth.reshape(-1, 3)).as_rotvec().reshape(smooth.shape)
    assert np.abs(rv.unwrap(principal, smooth[0]) - smooth).max() < 1e-6


def test_branches_are_the_same_rotation_and_none_is_nearer(rng):
    vectors, reference = unit(rng, 500) * rng.uniform(0, np.pi, (500, 1)), rng.normal(0, 6, (500, 3))
    nearest = rv.nearest_branch(vectors, reference)
    assert np.abs(rv.exp(nearest) - rv.exp(vectors)).max() < 1e-12
    axis = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for turns in (-1, 1):
        other = nearest + axis * turns * 2 * np.pi
        assert (np.linalg.norm(nearest - reference, axis=1) <= np.linalg.norm(other - reference, axis=1) + 1e-9).all()


def test_no_rotation_is_taken_for_a_whole_turn_about_the_reference():
    reference = np.array([[0.0, 6.1, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.0]])
    assert np.allclose(rv.nearest_branch(np.zeros((3, 3)), reference), [[0, 2 * np.pi, 0], [0, 0, 0], [0, 0, 0]])
