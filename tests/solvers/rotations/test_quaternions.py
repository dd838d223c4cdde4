"""Quaternions with frames last against SciPy's rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.rotations import quaternions as quat


@pytest.fixture
def turns(rng):
    """Pairs of 500 turns, SciPy's and ours."""
    rotvecs = rng.normal(size=(500, 3)) * rng.uniform(0, 1.5, (500, 1))
    return Rotation.from_rotvec(rotvecs), quat.exp(rotvecs.T)


def as_scipy(q):
    return Rotation.from_quat(np.roll(q.T, -1, axis=1))


def test_exp_matches(turns):
    theirs, ours = turns
    assert np.abs(np.linalg.norm(ours, axis=0) - 1).max() < 1e-15
    assert (theirs.inv() * as_scipy(ours)).magnitude().max() < 1e-14


def test_log_is_the_inverse_of_exp_and_takes_the_short_way(rng):
    angle = np.concatenate(([0.0], np.geomspace(1e-300, 3.14159, 200), np.pi - np.geomspace(1e-12, 1e-2, 50)))
    axis = rng.normal(size=(3, len(angle)))
    rotvec = angle * axis / np.linalg.norm(axis, axis=0)
    assert np.abs(quat.log(quat.exp(rotvec)) - rotvec).max() < 1e-14
    assert np.abs(quat.log(-quat.exp(rotvec)) - rotvec).max() < 1e-14
    long = rotvec * (2 * np.pi - 1) / np.maximum(angle, 1e-300)
    assert np.abs(np.linalg.norm(quat.log(quat.exp(long[:, 100:])), axis=0) - 1).max() < 1e-13


def test_half_turns_keep_their_axis_and_small_turns_their_digits():
    axis = np.array([[1.0, 0, 0], [0, -1, 0], [0.6, 0, 0.8]]).T
    found = quat.log(quat.exp(np.pi * axis))
    assert np.abs(np.abs(np.einsum("kf,kf->f", found, axis)) - np.pi).max() < 1e-14
    tiny = np.array([1e-13, -3e-9, 2e-20, 0.0]) * np.array([[0.6], [0.0], [-0.8]])
    assert np.allclose(quat.log(quat.exp(tiny)), tiny, rtol=1e-12, atol=0)


def test_products_inverses_and_rotated_vectors_match(rng, turns):
    theirs, ours = turns
    other, others = theirs[::-1], ours[:, ::-1]
    assert ((theirs * other).inv() * as_scipy(quat.mul(ours, others))).magnitude().max() < 1e-14
    assert (theirs * as_scipy(quat.conj(ours))).magnitude().max() < 1e-14
    assert ((theirs * other.inv()).inv() * as_scipy(quat.mul_conj(ours, others))).magnitude().max() < 1e-14
    assert ((theirs.inv() * other).inv() * as_scipy(quat.conj_mul(ours, others))).magnitude().max() < 1e-14
    v = rng.normal(size=(3, 500))
    assert np.abs(quat.rotate(ours, v).T - theirs.apply(v.T)).max() < 1e-14


def test_leading_axes_and_identity():
    one = quat.identity(4, 2, 3)
    assert one.shape == (4, 2, 4, 3) and (one[..., 0, :] == 1).all() and not one[..., 1:, :].any()
    v = np.arange(4 * 2 * 3 * 3.0).reshape(4, 2, 3, 3)
    assert np.array_equal(quat.rotate(one, v), v)
    q = quat.exp(0.1 * v)
    assert np.array_equal(quat.mul(q, one), q)


def test_drift_is_normalised(turns):
    ours = turns[1]
    assert np.abs(np.linalg.norm(quat.normalised(3.0 * ours), axis=0) - 1).max() < 1e-15
    assert np.abs(quat.normalised(3.0 * ours) - ours).max() < 1e-15
