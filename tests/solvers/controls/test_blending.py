"""Channels between the source's and those that were fitted."""

import numpy as np
import pytest

from solvers.controls.blending import blended
from solvers.controls.trial import ControlChannels
from solvers.rotations.channels import quaternion_to_matrix

MODES = ("XYZ", "QUATERNION", "AXIS_ANGLE")
FRAMES = 5


def channels(seed):
    rng = np.random.default_rng(seed)
    rotation = rng.normal(size=(FRAMES, 3, 4))
    for control, own in ((1, slice(0, 4)), (2, slice(1, 4))):
        rotation[:, control, own] /= np.linalg.norm(rotation[:, control, own], axis=-1, keepdims=True)
    return ControlChannels(rng.normal(size=(FRAMES, 3, 3)), rotation, rng.uniform(0.5, 2.0, (FRAMES, 3, 3)))


def parts(each):
    return each.location, each.rotation, each.scale


def test_both_ends_are_exact_frame_by_frame():
    source, fitted = channels(0), channels(1)
    share = np.array([0.0, 1.0, 0.5, 0.0, 1.0])
    found = blended(source, fitted, share, MODES)
    for mine, first, last in zip(parts(found), parts(source), parts(fitted), strict=True):
        np.testing.assert_array_equal(mine[share == 0.0], first[share == 0.0])
        np.testing.assert_array_equal(mine[share == 1.0], last[share == 1.0])


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_what_is_alike_stays_and_quaternions_go_the_short_way(share):
    source = channels(2)
    np.testing.assert_allclose(blended(source, source, np.full(FRAMES, share), MODES).rotation, source.rotation)
    other = ControlChannels(source.location, source.rotation.copy(), source.scale)
    other.rotation[:, 1] *= -1.0
    found = blended(source, other, np.full(FRAMES, share), MODES).rotation[:, 1]
    np.testing.assert_allclose(quaternion_to_matrix(found), quaternion_to_matrix(source.rotation[:, 1]), atol=1e-12)


def test_quaternions_keep_their_length():
    found = blended(channels(3), channels(4), np.linspace(0.0, 1.0, FRAMES), MODES).rotation
    np.testing.assert_allclose(np.linalg.norm(found[:, 1], axis=-1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(found[:, 2, 1:], axis=-1), 1.0)
