"""Quaternions in rows against SciPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.rotations import frame_quaternions as rows

COUNT = 50


@pytest.fixture
def turns():
    return Rotation.random(COUNT, random_state=3), Rotation.random(COUNT, random_state=5)


def row(rotation):
    return np.roll(rotation.as_quat(), 1, axis=-1)


def alike(q, rotation):
    """Quaternions up to sign."""
    return np.abs(np.abs(np.einsum("nk,nk->n", q, row(rotation))) - 1.0).max() < 1e-12


def test_products(turns):
    a, b = turns
    assert alike(rows.mul(row(a), row(b)), a * b)
    assert alike(rows.mul_conj(row(a), row(b)), a * b.inv())
    assert alike(rows.conj_mul(row(a), row(b)), a.inv() * b)


def test_matrices(turns):
    assert np.abs(rows.matrices(row(turns[0])) - turns[0].as_matrix()).max() < 1e-14


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 0.1, 3.0])
def test_exp_and_log(rng, angle):
    axis = rng.normal(size=(COUNT, 3))
    vector = angle * axis / np.linalg.norm(axis, axis=1, keepdims=True)
    q = rows.exp(vector)
    assert alike(q, Rotation.from_rotvec(vector))
    assert np.abs(rows.log(q) - vector).max() < 1e-13
    assert np.abs(rows.log(-q) - vector).max() < 1e-13


def test_normalised(rng):
    q = rng.normal(size=(COUNT, 4))
    assert np.abs(np.linalg.norm(rows.normalised(q), axis=1) - 1.0).max() < 1e-15
