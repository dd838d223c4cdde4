"""The posterior and its likelihood are the formulas; learning finds what made the data, in any order."""

from dataclasses import astuple

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.regression.gaussian_process import GaussianProcess
from solvers.regression.gaussian_process import log_marginal_likelihood as likelihood_of_products
from solvers.regression.kernels import KERNELS, Linear, NeuralNetwork, SquaredExponential, kernel_of

SOME = {"neural_network": (0.4, 0.7, 1.8), "squared_exponential": (1.3, 0.6), Linear: (0.8, 0.3)}


def log_marginal_likelihood(kernel, noise, inputs, outputs):
    return likelihood_of_products(kernel, noise, inputs @ inputs.T, outputs)


def smooth_pairs(rng, count=40, width=6, outputs=4):
    """Outputs that bend with the inputs, both about zero and of size one."""
    inputs = rng.normal(size=(count, width))
    return inputs, np.tanh(inputs @ rng.normal(size=(width, outputs)) * 0.5)


@pytest.fixture
def pairs(rng):
    return smooth_pairs(rng)


def fit_given(pairs, name="neural_network", noise=0.05):
    return GaussianProcess.posterior(kernel_of(name)(*SOME[name]), noise, *pairs)


def assert_alike(one, other, at):
    """But for rounding: where arrays lie in memory decides in which order BLAS sums, and learning amplifies it."""
    np.testing.assert_allclose(one.kernel.logs, other.kernel.logs, atol=1e-5)
    assert one.noise == pytest.approx(other.noise, rel=1e-5)
    np.testing.assert_allclose(one.predict(at), other.predict(at), atol=1e-6)
    np.testing.assert_allclose(one.variance(at), other.variance(at), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", (*KERNELS, Linear))
def test_mean_variance_and_likelihood_are_the_formulas(name, pairs, rng):
    inputs, outputs = pairs
    process = fit_given(pairs, name)
    kernel, at = kernel_of(name)(*SOME[name]), rng.normal(size=(11, 6))
    inverse = np.linalg.inv(kernel.prepared(inputs)(inputs) + 0.05 * np.eye(40))
    cross = kernel.prepared(inputs)(at)
    np.testing.assert_allclose(process.predict(at), cross @ inverse @ outputs, atol=1e-9)
    expected = kernel.diagonal(at) - np.einsum("an,nm,am->a", cross, inverse, cross) + 0.05
    np.testing.assert_allclose(process.variance(at), expected, atol=1e-9)
    np.testing.assert_allclose(process.predict(at[2]), process.predict(at)[2], atol=1e-12)
    np.testing.assert_allclose(process.variance(at[2]), process.variance(at)[2], atol=1e-12)
    misfit, volume = np.sum(outputs * (inverse @ outputs)), outputs.shape[1] * np.linalg.slogdet(inverse)[1]
    value, _ = log_marginal_likelihood(kernel, 0.05, inputs, outputs)
    assert value == pytest.approx(-0.5 * (misfit - volume + outputs.size * np.log(2.0 * np.pi)), rel=1e-9)


def test_it_learns_the_parameters_that_scikit_learn_learns(pairs):
    theirs = pytest.importorskip("sklearn.gaussian_process")
    inputs, outputs = pairs
    kernels = theirs.kernels
    full = kernels.ConstantKernel(1.0, (1e-3, 1e4)) * kernels.RBF(1.0, (1e-2, 1e3))
    full += kernels.WhiteKernel(0.1, (0.01, 10))
    theirs = theirs.GaussianProcessRegressor(full, alpha=0.0).fit(inputs, outputs)
    process = GaussianProcess.fit(inputs, outputs, "squared_exponential")
    value, _ = log_marginal_likelihood(process.kernel, process.noise, inputs, outputs)
    assert value == pytest.approx(theirs.log_marginal_likelihood_value_, abs=0.02)
    logs = np.append(process.kernel.logs[::-1], np.log(process.noise))
    np.testing.assert_allclose(logs, theirs.kernel_.theta, atol=0.05)


@pytest.mark.parametrize("kernel", [NeuralNetwork(0.4, 0.7, 1.8), SquaredExponential(1.3, 0.6), Linear(0.8, 0.3)])
def test_gradients_are_those_of_finite_differences(kernel, pairs):
    inputs, outputs = pairs
    logs = np.append(kernel.logs, np.log(0.2))
    _, gradient = log_marginal_likelihood(kernel, 0.2, inputs, outputs)
    for number in range(len(logs)):
        step = np.zeros(len(logs))
        step[number] = 1e-5
        above, below = (
            log_marginal_likelihood(type(kernel).of_logs(at[:-1]), np.exp(at[-1]), inputs, outputs)[0]
            for at in (logs + step, logs - step)
        )
        assert gradient[number] == pytest.approx((above - below) / 2e-5, rel=1e-6, abs=1e-6)


def test_noise_that_made_the_data_is_found(rng):
    inputs, outputs = smooth_pairs(rng, 120, 3, 8)
    process = GaussianProcess.fit(inputs, outputs + rng.normal(0, 0.3, outputs.shape))
    assert process.noise == pytest.approx(0.3**2, rel=0.15)
    unseen = rng.normal(size=(200, 3))
    assert GaussianProcess.fit(inputs, outputs).noise < 0.012
    assert process.variance(unseen).min() >= process.noise


def test_learning_is_at_the_greatest_likelihood_or_at_the_floor(pairs):
    for name in KERNELS:
        process = GaussianProcess.fit(*pairs, name)
        _, gradient = log_marginal_likelihood(process.kernel, process.noise, *pairs)
        assert process.noise >= 0.01 * (1.0 - 1e-12)
        inside = np.abs(process.kernel.logs - kernel_of(name).typical(*_sizes(pairs)).logs) < np.log(1e3) - 1e-6
        assert np.abs(gradient[:-1][inside]).max(initial=0.0) < 1e-3 * pairs[1].size
        assert gradient[-1] < 1e-3 * pairs[1].size


@pytest.mark.parametrize("name", KERNELS)
def test_a_belief_of_the_parameters_is_weighed_against_the_likelihood(name, pairs):
    """At the greatest posterior: what the likelihood gains by a step, the belief loses."""
    typical = kernel_of(name).typical(*_sizes(pairs)).logs
    away = []
    for spread in (1e-3, 0.2, 1.0):
        process = GaussianProcess.fit(*pairs, name, spread=spread)
        found = process.kernel.logs - typical
        _, gradient = log_marginal_likelihood(process.kernel, process.noise, *pairs)
        assert np.abs(gradient[:-1] - found / spread**2).max() < 1e-3 * pairs[1].size
        away.append(np.linalg.norm(found))
    assert away[0] < 1e-3 and away == sorted(away)
    without, weak = GaussianProcess.fit(*pairs, name), GaussianProcess.fit(*pairs, name, spread=1e4)
    values = [log_marginal_likelihood(each.kernel, each.noise, *pairs)[0] for each in (without, weak)]
    assert values[0] == pytest.approx(values[1], abs=0.02)


def _sizes(pairs):
    return np.mean(np.sum(pairs[0] ** 2, axis=1)), np.mean(pairs[1] ** 2)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("count", [7, 40, 200])
def test_the_order_of_the_pairs_makes_no_difference(name, count, rng):
    """Also where only some of the pairs are learnt from."""
    inputs, outputs = smooth_pairs(rng, count)
    order, at = rng.permutation(count), rng.normal(size=(5, 6))
    plain, mixed = (GaussianProcess.fit(inputs[way], outputs[way], name) for way in (np.arange(count), order))
    assert_alike(plain, mixed, at)


@pytest.mark.parametrize("name", KERNELS)
def test_a_rotation_of_the_inputs_changes_nothing_and_one_of_the_outputs_comes_along(name, rng):
    inputs, outputs = smooth_pairs(rng, 200)
    turn, other = (np.linalg.qr(rng.normal(size=(size, size)))[0] for size in (6, 4))
    at = rng.normal(size=(20, 6))
    plain = GaussianProcess.fit(inputs, outputs, name)
    turned = GaussianProcess.fit(inputs @ turn, outputs @ other, name)
    np.testing.assert_allclose(turned.predict(at @ turn), plain.predict(at) @ other, atol=1e-5)
    np.testing.assert_allclose(turned.variance(at @ turn), plain.variance(at), rtol=1e-4, atol=1e-5)


def test_seeds_draw_other_pairs_and_the_same_seed_the_same(rng):
    inputs, outputs = smooth_pairs(rng, 200)
    first, again, other = (GaussianProcess.fit(inputs, outputs, most=50, seed=seed) for seed in (1, 1, 2))
    at = rng.normal(size=(50, 6))
    assert_alike(first, again, at)
    assert np.abs(first.kernel.logs - other.kernel.logs).max() > 1e-3
    assert np.sqrt(np.mean((first.predict(at) - other.predict(at)) ** 2)) < 0.03


@pytest.mark.parametrize("name", ["neural_network", "squared_exponential"])
def test_without_noise_the_pairs_are_met(name, rng):
    inputs, outputs = smooth_pairs(rng, 15)
    errors = []
    for noise in (1e-2, 1e-4, 1e-8):
        process = fit_given((inputs, outputs), name, noise)
        errors.append(np.abs(process.predict(inputs) - outputs).max())
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-6
    np.testing.assert_allclose(process.variance(inputs), 0.0, atol=1e-6)


def test_far_from_all_pairs_the_squared_exponential_knows_nothing(pairs):
    process = fit_given(pairs, "squared_exponential")
    np.testing.assert_allclose(process.predict(np.full(6, 50.0)), 0.0, atol=1e-12)
    assert process.variance(np.full(6, 50.0)) == pytest.approx(0.6 + 0.05)


def test_repeated_pairs_change_nothing_but_their_weight_and_contradicting_ones_are_averaged(pairs, rng):
    at = rng.normal(size=(5, 6))
    twice = fit_given([np.tile(values, (2, 1)) for values in pairs], noise=0.1)
    np.testing.assert_allclose(twice.predict(at), fit_given(pairs).predict(at), atol=1e-9)
    inputs, outputs = np.repeat(rng.normal(size=(3, 4)), 2, axis=0), rng.normal(size=(6, 2))
    found = fit_given((inputs, outputs), noise=1e-6).predict(inputs[::2])
    np.testing.assert_allclose(found, outputs.reshape(3, 2, 2).mean(axis=1), atol=1e-4)


@pytest.mark.parametrize("name", KERNELS)
def test_few_pairs_take_the_typical_parameters(name, rng):
    inputs, outputs = smooth_pairs(rng, 5)
    process = GaussianProcess.fit(inputs, outputs, name)
    assert astuple(process.kernel) == pytest.approx(astuple(kernel_of(name).typical(*_sizes((inputs, outputs)))))
    assert process.noise == pytest.approx(max(0.01, 0.03 * np.mean(outputs**2)))
    assert GaussianProcess.fit(inputs, outputs, name, noise_floor=0.5).noise == 0.5


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("count", [5, 20])
def test_outputs_that_are_zero_are_predicted(name, count, rng):
    process = GaussianProcess.fit(rng.normal(size=(count, 4)), np.zeros((count, 3)), name)
    at = rng.normal(size=(6, 4))
    np.testing.assert_array_equal(process.predict(at), 0.0)
    assert (process.variance(at) >= 0.01).all()


@pytest.mark.parametrize("name", KERNELS)
def test_arrays_make_the_same_process(name, pairs, rng):
    process = GaussianProcess.fit(*pairs, name)
    arrays = process.to_arrays()
    assert all(value.dtype.kind in "fU" for value in arrays.values())
    again, at = GaussianProcess.from_arrays(arrays), rng.normal(size=(7, 6))
    assert_alike(again, process, at)


def test_bad_input_is_named(pairs):
    inputs, outputs = pairs
    for source, target, options, words in (
        (inputs[:1], outputs[:1], {}, "two pairs and has 1"),
        (inputs, outputs[:7], {}, "one row a pair"),
        (inputs, outputs[:, 0], {}, "one row a pair"),
        (np.where(np.arange(40)[:, None] == 4, np.nan, inputs), outputs, {}, "source pose of pair 5"),
        (inputs, np.where(np.arange(40)[:, None] == 2, np.inf, outputs), {}, "target pose of pair 3"),
        (np.tile(inputs[0], (40, 1)), outputs, {}, "part does not move"),
        (inputs, outputs, {"noise_floor": 0.0}, "Noise must be positive"),
        (inputs, outputs, {"spread": 0.0}, "spread of the parameters must be positive"),
        (inputs, outputs, {"kernel": "cubic"}, "'cubic' is not a kernel"),
    ):
        with pytest.raises(InputError, match=words):
            GaussianProcess.fit(source, target, **options)


def test_a_singular_matrix_names_the_noise(pairs):
    inputs, outputs = (np.tile(values, (3, 1)) for values in pairs)
    with pytest.raises(InputError, match="Raise Noise"):
        fit_given((inputs, outputs), Linear, 1e-19)
    with pytest.raises(InputError, match="Raise Noise"):
        log_marginal_likelihood(Linear(0.8, 0.3), 1e-19, inputs, outputs)
