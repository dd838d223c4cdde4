"""The kernels are what they are defined as: an integral over networks, GPy's and scikit-learn's, and their derivatives.

GPy asks for older packages than the other tests; this file also runs in an environment of its own that has it.
"""

from dataclasses import astuple, fields

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import qmc

from solvers.core.errors import InputError
from solvers.regression.kernels import KERNELS, Linear, NeuralNetwork, SquaredExponential, kernel_of, name_of

SOME = [NeuralNetwork(0.4, 0.7, 1.8), SquaredExponential(1.3, 0.6), Linear(0.8, 0.3)]
each_kernel = pytest.mark.parametrize("kernel", SOME, ids=lambda kernel: type(kernel).__name__)


def matrix(kernel, left, right):
    return kernel.prepared(right)(left)


def test_the_neural_network_is_the_integral_over_its_weights():
    """Williams 1998: the mean of erf(u.x) erf(u.z) over Gaussian u, here by Gauss-Hermite with 120 x 120 nodes."""
    kernel = NeuralNetwork(weight=2.0 * 0.6, bias=2.0 * 0.3, variance=1.0)
    nodes, shares = np.polynomial.hermite_e.hermegauss(120)
    shares = shares / shares.sum()
    rows = np.array([[-1.7], [-0.2], [0.4], [2.1]])
    units = erf(np.sqrt(0.3) * nodes[:, None, None] + np.sqrt(0.6) * nodes[None, :, None] * rows[:, 0])
    mean = np.einsum("abn,abm,a,b->nm", units, units, shares, shares)
    np.testing.assert_allclose(matrix(kernel, rows, rows), mean, atol=1e-7)


def test_the_neural_network_is_the_mean_over_many_networks(rng):
    """In four dimensions, by 2^16 quasi-random weights: to within 1e-3."""
    kernel = NeuralNetwork(weight=2.0 * 0.5, bias=2.0 * 0.8, variance=3.0)
    rows = rng.normal(size=(6, 4))
    deviations = np.sqrt([0.8, *[0.5] * 4])
    weights = qmc.MultivariateNormalQMC(np.zeros(5), np.diag(deviations**2), seed=1).random(2**16)
    units = erf(weights @ np.concatenate((np.ones((6, 1)), rows), axis=1).T)
    np.testing.assert_allclose(matrix(kernel, rows, rows) / 3.0, units.T @ units / len(weights), atol=1e-3)


def test_the_neural_network_is_that_of_gpy(rng):
    gpy = pytest.importorskip("GPy", reason="GPy asks for older packages: give it an environment of its own")
    left, right = rng.normal(size=(30, 7)), rng.normal(size=(20, 7)) * 3.0
    kernel = NeuralNetwork(0.4, 0.7, 1.8)
    theirs = gpy.kern.MLP(7, variance=1.8, weight_variance=0.4, bias_variance=0.7)
    np.testing.assert_allclose(matrix(kernel, left, right), theirs.K(left, right), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(left), theirs.Kdiag(left), rtol=1e-12)


def test_the_others_are_those_of_scikit_learn(rng):
    theirs = pytest.importorskip("sklearn.gaussian_process").kernels
    left, right = rng.normal(size=(9, 5)), rng.normal(size=(4, 5)) * 2.0
    expected = (0.6 * theirs.RBF(1.3))(left, right)
    np.testing.assert_allclose(matrix(SquaredExponential(1.3, 0.6), left, right), expected, rtol=1e-12)
    expected = (0.8 * theirs.DotProduct(np.sqrt(0.3 / 0.8)))(left, right)
    np.testing.assert_allclose(matrix(Linear(0.8, 0.3), left, right), expected, atol=1e-13)


def test_without_bias_the_neural_network_is_odd_and_with_it_not(rng):
    rows = rng.normal(size=(5, 3))
    none, some = NeuralNetwork(0.4, 1e-14, 1.0), NeuralNetwork(0.4, 0.7, 1.0)
    np.testing.assert_allclose(matrix(none, -rows, rows), -matrix(none, rows, rows), atol=1e-12)
    assert np.abs(matrix(some, -rows, rows) + matrix(some, rows, rows)).max() > 0.1


@each_kernel
def test_all_ways_to_the_same_numbers_agree(kernel, rng):
    rows = rng.normal(size=(8, 5))
    found, _ = kernel.with_gradients(rows @ rows.T)
    np.testing.assert_allclose(found, matrix(kernel, rows, rows), atol=1e-13)
    np.testing.assert_allclose(found.diagonal(), kernel.diagonal(rows), atol=1e-13)
    np.testing.assert_allclose(found, found.T, atol=1e-15)
    covariances = kernel.prepared(rows)
    np.testing.assert_allclose(covariances(rows[3]), found[3], atol=1e-13)
    np.testing.assert_allclose(covariances(rows.reshape(2, 4, 5)), found.reshape(2, 4, 8), atol=1e-13)
    assert kernel.diagonal(rows[3]) == pytest.approx(found[3, 3])


@each_kernel
def test_derivatives_are_those_of_finite_differences(kernel, rng):
    products = (lambda rows: rows @ rows.T)(rng.normal(size=(7, 4)))
    _, slopes = kernel.with_gradients(products)
    assert len(slopes) == len(fields(kernel))
    for number, slope in enumerate(slopes):
        step = np.zeros(len(slopes))
        step[number] = 1e-5
        above, below = (type(kernel).of_logs(kernel.logs + way * step) for way in (1, -1))
        measured = (above.with_gradients(products)[0] - below.with_gradients(products)[0]) / 2e-5
        np.testing.assert_allclose(slope, measured, rtol=1e-7, atol=1e-9)


@each_kernel
def test_matrices_are_positive_semidefinite(kernel, rng):
    for scale in (1e-3, 1.0, 1e3):
        rows = rng.normal(size=(60, 4)) * scale
        rows = np.concatenate((rows, rows[:5]))
        values = np.linalg.eigvalsh(matrix(kernel, rows, rows))
        assert values.min() >= -1e-12 * values.max()


@each_kernel
def test_a_rotation_of_both_sides_changes_nothing(kernel, rng):
    left, right = rng.normal(size=(6, 5)), rng.normal(size=(3, 5))
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    np.testing.assert_allclose(matrix(kernel, left @ turn, right @ turn), matrix(kernel, left, right), atol=1e-13)


def test_very_long_inputs_stay_finite():
    rows = np.array([[1e9, 0.0], [-1e9, 1.0], [0.0, 0.0]])
    for kernel in SOME:
        assert np.isfinite(matrix(kernel, rows, rows)).all()
    np.testing.assert_allclose(matrix(SOME[0], rows, rows)[0, :2], [1.8, -1.8], rtol=1e-6)


def test_typical_parameters_follow_the_units_of_the_data(rng):
    """Scaled inputs and outputs with the parameters typical for them: the same kernel, in the outputs' new unit."""
    rows = rng.normal(size=(6, 5))
    length = np.mean(np.sum(rows**2, axis=1))
    for kind in (*KERNELS.values(), Linear):
        plain, scaled = kind.typical(length, 0.4), kind.typical(length * 9.0, 0.4 * 49.0)
        np.testing.assert_allclose(matrix(scaled, 3.0 * rows, 3.0 * rows), 49.0 * matrix(plain, rows, rows), rtol=1e-12)


def test_kernels_go_by_name():
    for name, kind in KERNELS.items():
        assert kernel_of(name) is kind is kernel_of(kind)
        assert name_of(kind(*[1.0] * len(fields(kind)))) == name
    assert astuple(NeuralNetwork.of_logs(SOME[0].logs)) == pytest.approx(astuple(SOME[0]))
    with pytest.raises(InputError, match="'cubic' is not a kernel; use one of neural_network"):
        kernel_of("cubic")
