"""Principal components by products of frames against the singular values of all coordinates."""

import numpy as np
import pytest

from solvers.core.steps import result_of
from solvers.regression.gram_pca import gram_pca_steps


def gram_pca(*arguments):
    return result_of(gram_pca_steps(*arguments))


@pytest.fixture
def features(rng):
    frames = rng.normal(size=(20, 12)) * np.geomspace(10, 0.1, 12)
    return (frames @ rng.normal(size=(12, 40_000)) + 50).astype(np.float32)


def test_equal_to_singular_values(features):
    original = features.astype(float)
    pca = gram_pca(features, 5, 1.0)
    centred = original - original.mean(axis=0)
    u, s, vt = np.linalg.svd(centred, full_matrices=False)
    sign = np.sign(np.sum(vt[:5] * pca.basis, axis=1))
    assert np.abs(pca.coefficients - u[:, :5] * s[:5] * sign).max() < 1e-5 * s[0]
    assert np.abs(pca.basis - vt[:5] * sign[:, None]).max() < 1e-4 * np.abs(vt).max()
    assert pca.kept == pytest.approx((s[:5] ** 2).sum() / (s**2).sum(), rel=1e-6)
    lengths = np.linalg.norm(centred, axis=1)
    left = np.linalg.norm(centred - centred @ vt[:5].T @ vt[:5], axis=1) / lengths
    assert np.abs(pca.left - left).max() < 1e-3 and pca.left.max() > 0.01
    assert np.abs(pca.mean - original.mean(axis=0)).max() < 1e-5
    assert pca.basis.dtype == pca.mean.dtype == np.float32


def test_frames_come_back(features):
    original = features.astype(float)
    pca = gram_pca(features, 50, 1.0)
    assert pca.coefficients.shape == (20, 12)
    back = pca.mean + pca.coefficients @ pca.basis
    assert np.abs(back - original).max() < 1e-4


@pytest.mark.parametrize("variance", [0.5, 0.9, 0.999])
def test_as_few_as_reach_the_variance(features, variance):
    less = gram_pca(features.copy(), 50, variance)
    assert less.kept >= variance
    every = gram_pca(features, 50, 1.0).coefficients
    share = np.cumsum(np.sum(every**2, axis=0)) / np.sum(every**2)
    assert less.coefficients.shape[1] == np.argmax(share >= variance) + 1


def test_repeated_frames_add_no_component(features):
    """Also where a repetition differs by rounding alone."""
    twice = np.concatenate((features, features * np.float32(1 + 1e-7), features))
    pca = gram_pca(twice, 50, 1.0)
    assert pca.coefficients.shape[1] == 12
    assert np.abs(pca.basis @ pca.basis.T - np.eye(12)).max() < 1e-4

    assert gram_pca(features[:2].copy(), 50, 0.999).basis.shape[0] == 1
