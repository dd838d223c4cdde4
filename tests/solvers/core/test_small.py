"""Products of small matrices with frames last against NumPy's."""

import numpy as np
import pytest

from solvers.core import small


@pytest.fixture
def matrices(rng):
    return rng.normal(size=(2, 4, 3, 3, 9))


def usual(m):
    """(..., 3, 3, F) or (..., 3, F) with frames before the matrix."""
    return np.moveaxis(m, -1, 1)


def test_products_match(rng, matrices):
    a, b = matrices
    v = rng.normal(size=(4, 3, 9))
    u = usual(v)[..., None]
    pairs = (
        (small.mat_mul(a, b), usual(a) @ usual(b)),
        (small.mat_mul_t(a, b), usual(a) @ np.swapaxes(usual(b), -1, -2)),
        (small.mat_vec(a, v), (usual(a) @ u)[..., 0]),
        (small.mat_t_vec(a, v), (np.swapaxes(usual(a), -1, -2) @ u)[..., 0]),
        (small.cross(a[:, 0], v), np.cross(usual(a[:, 0]), usual(v))),
        (small.dot(a[:, 0], v), (usual(a[:, 0]) * usual(v)).sum(axis=-1)),
        (small.cross_rows(a, v), np.cross(usual(a), usual(v)[..., None, :])),
    )
    for ours, theirs in pairs:
        assert np.abs(usual(ours) - theirs).max() < 1e-13


def test_rows_crossed_are_the_product_with_a_cross_matrix(rng, matrices):
    a, r = matrices[0], rng.normal(size=(4, 3, 9))
    x, y, z = (usual(r)[..., k] for k in range(3))
    o = np.zeros_like(x)
    skew = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(4, 9, 3, 3)
    assert np.abs(usual(small.cross_rows(a, r)) - usual(a) @ skew).max() < 1e-13


@pytest.mark.parametrize("spread", [0, 3])
def test_inverse_of_symmetric_matrices(rng, spread):
    """Eigenvalues up to a factor of 10^spread apart."""
    axes = np.linalg.qr(rng.normal(size=(200, 3, 3)))[0]
    values = 10.0 ** rng.uniform(-spread / 2, spread / 2, (200, 3))
    m = np.moveaxis(np.einsum("fab,fb,fcb->fac", axes, values, axes), 0, -1)[None]
    inverse = small.sym_inverse(m)
    assert np.array_equal(inverse, np.swapaxes(inverse, 1, 2))
    product = np.moveaxis(small.mat_mul(m, inverse)[0], -1, 0)
    assert np.abs(product - np.eye(3)).max() < 1e-13 * 10.0 ** (2 * spread)
