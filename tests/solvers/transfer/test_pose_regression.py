"""A regression in the units of the poses: their scale and place come along, and what never varies is predicted."""

import numpy as np
import pytest

from benchmarks.baselines.affine_pose_map import AffinePoseMap
from solvers.core.errors import InputError
from solvers.regression.gaussian_process import GaussianProcess
from solvers.regression.kernels import KERNELS, Linear
from solvers.transfer.pose_regression import SPREAD, PoseRegression

each_kernel = pytest.mark.parametrize("name", KERNELS)


@pytest.fixture
def pairs(rng):
    """Coefficients that fall off as those of principal components do, away from zero."""
    inputs = rng.normal(size=(60, 8)) * 0.7 ** np.arange(8)
    outputs = np.tanh(inputs @ rng.normal(size=(8, 5))) * 0.6 ** np.arange(5)
    return inputs + 3.0, outputs - 2.0


@each_kernel
def test_it_is_the_process_of_centred_poses_of_size_one(name, pairs, rng):
    inputs, outputs = pairs
    regression = PoseRegression.fit(inputs, outputs, name)
    middle, shift = inputs.mean(axis=0), outputs.mean(axis=0)
    size, height = np.sqrt(np.mean((inputs - middle) ** 2)), np.sqrt(np.mean((outputs - shift) ** 2))
    process = GaussianProcess.fit((inputs - middle) / size, (outputs - shift) / height, name, spread=SPREAD)
    at = inputs[:9] + rng.normal(0, 0.1, (9, 8))
    expected = process.predict((at - middle) / size) * height + shift
    np.testing.assert_allclose(regression.predict(at), expected, atol=1e-6)
    np.testing.assert_allclose(regression.variance(at), process.variance((at - middle) / size), rtol=1e-5)
    np.testing.assert_allclose(regression.predict(at[4]), regression.predict(at)[4], atol=1e-12)
    np.testing.assert_allclose(regression.variance(at[4]), regression.variance(at)[4], atol=1e-12)


@each_kernel
@pytest.mark.parametrize(("size", "height"), [(1e-3, 1.0), (1e4, 1e-5), (39.37, 39.37)])
def test_units_and_places_of_the_poses_come_along(name, size, height, pairs):
    inputs, outputs = pairs
    plain, scaled = (
        PoseRegression.fit(*at, name) for at in (pairs, (inputs * size + 7.0 * size, outputs * height - 4.0 * height))
    )
    at = inputs + 0.1
    predicted = scaled.predict(at * size + 7.0 * size) / height + 4.0
    np.testing.assert_allclose(predicted, plain.predict(at), atol=1e-6)
    np.testing.assert_allclose(scaled.variance(at * size + 7.0 * size), plain.variance(at), rtol=1e-5)


def test_motion_that_bends_is_learnt_better_than_by_affine_maps(rng):
    """On poses between the pairs: the paper's comparison, where the truth bends."""

    def poses(count):
        turns = rng.uniform(-1.2, 1.2, (count, 3))
        source = np.concatenate((np.sin(turns), np.cos(turns)), axis=1)
        return source, np.concatenate((np.sin(1.7 * turns + 0.4), np.cos(1.7 * turns + 0.4)), axis=1)

    (inputs, outputs), (at, truth) = poses(150), poses(300)

    def error(model):
        return np.sqrt(np.mean((model.predict(at) - truth) ** 2))

    network = error(PoseRegression.fit(inputs, outputs))
    assert network < 0.4 * error(AffinePoseMap.fit(inputs, outputs))
    assert network < 0.4 * error(PoseRegression.fit(inputs, outputs, Linear))


@each_kernel
def test_five_pairs_are_met_and_known_better_than_the_rest(name, pairs):
    inputs, outputs = pairs
    regression = PoseRegression.fit(inputs[:5], outputs[:5], name)
    spread = np.sqrt(np.mean((outputs[:5] - outputs[:5].mean(axis=0)) ** 2))
    assert np.sqrt(np.mean((regression.predict(inputs[:5]) - outputs[:5]) ** 2)) < 0.1 * spread
    assert regression.variance(inputs[:5]).max() < 0.5 * np.median(regression.variance(inputs[5:]))


@each_kernel
@pytest.mark.parametrize("count", [2, 4, 40])
def test_outputs_that_never_vary_are_predicted_as_they_are(name, count, rng):
    constant = np.array([0.1, -3.7, 1e-3])
    regression = PoseRegression.fit(rng.normal(size=(count, 4)), np.tile(constant, (count, 1)), name)
    at = rng.normal(size=(6, 4)) * 10.0
    np.testing.assert_array_equal(regression.predict(at), np.tile(constant, (6, 1)))
    assert np.isfinite(regression.variance(at)).all() and (regression.variance(at) > 0.0).all()


def test_one_output_that_never_varies_is_predicted_among_others(pairs):
    inputs, outputs = pairs
    outputs = np.concatenate((outputs, np.full((60, 1), 0.7)), axis=1)
    np.testing.assert_allclose(PoseRegression.fit(inputs, outputs).predict(inputs * 2.0)[:, -1], 0.7, atol=1e-12)


@each_kernel
def test_arrays_make_the_same_regression(name, pairs):
    regression = PoseRegression.fit(*pairs, name)
    arrays = regression.to_arrays()
    assert all(value.dtype.kind in "fU" for value in arrays.values())
    again = PoseRegression.from_arrays(arrays)
    np.testing.assert_array_equal(again.predict(pairs[0] + 0.2), regression.predict(pairs[0] + 0.2))
    np.testing.assert_array_equal(again.variance(pairs[0] + 0.2), regression.variance(pairs[0] + 0.2))


def test_bad_input_is_named(pairs):
    inputs, outputs = pairs
    for given, options, words in (
        ((inputs[:1], outputs[:1]), {}, "two pairs and has 1"),
        ((np.where(np.arange(60)[:, None] == 1, np.nan, inputs), outputs), {}, "source pose of pair 2"),
        ((np.tile(inputs[0], (60, 1)), outputs), {}, "part does not move"),
        (pairs, {"noise_floor": -1.0}, "Noise must be positive"),
    ):
        with pytest.raises(InputError, match=words):
            PoseRegression.fit(*given, **options)
