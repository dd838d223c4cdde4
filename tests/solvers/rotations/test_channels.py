"""Conversions against SciPy, unwrapping against a search over every choice."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.rotations import channels


def turns(count, seed=0):
    return Rotation.random(count, random_state=seed)


def angles_by_axis(rotation, order):
    """SciPy's extrinsic angles come in the order's sequence; sort them by x, y, z."""
    out = np.empty((len(rotation), 3))
    out[:, ["XYZ".index(letter) for letter in order]] = rotation.as_euler(order.lower())
    return out


@pytest.mark.parametrize("order", channels.EULER_ORDERS)
def test_euler_agrees_with_scipy(order):
    rotation = turns(200)
    np.testing.assert_allclose(
        channels.matrix_to_euler(rotation.as_matrix(), order), angles_by_axis(rotation, order)
    )
    back = channels.euler_to_matrix(angles_by_axis(rotation, order), order)
    np.testing.assert_allclose(back, rotation.as_matrix(), atol=1e-12)


@pytest.mark.parametrize("order", channels.EULER_ORDERS)
@pytest.mark.parametrize("second", [-np.pi / 2, np.pi / 2])
def test_euler_in_gimbal_lock(order, second):
    angles = np.zeros(3)
    angles[["XYZ".index(letter) for letter in order]] = 0.4, second, -1.1
    matrix = channels.euler_to_matrix(angles, order)
    back = channels.euler_to_matrix(channels.matrix_to_euler(matrix, order), order)
    np.testing.assert_allclose(back, matrix, atol=1e-12)


def test_unknown_order_is_named():
    with pytest.raises(InputError, match="'XYX'"):
        channels.euler_to_matrix(np.zeros(3), "XYX")


def test_quaternion_and_axis_angle_round_trip():
    rotation = turns(200)
    matrix = rotation.as_matrix()
    q = channels.matrix_to_quaternion(matrix)
    assert (q[:, 0] >= 0).all()
    np.testing.assert_allclose(channels.quaternion_to_matrix(3.0 * q), matrix, atol=1e-12)
    axis_angle = channels.matrix_to_axis_angle(matrix)
    np.testing.assert_allclose(axis_angle[:, :1] * axis_angle[:, 1:], rotation.as_rotvec(), atol=1e-12)
    axis_angle[:, 1:] *= 2.0
    np.testing.assert_allclose(channels.axis_angle_to_matrix(axis_angle), matrix, atol=1e-12)


def test_half_turns_and_no_turn():
    matrix = Rotation.from_rotvec([[np.pi, 0, 0], [0, np.pi, 0], [0, 0, np.pi], [0, 0, 0]]).as_matrix()
    for there, back in (
        (channels.matrix_to_quaternion, channels.quaternion_to_matrix),
        (channels.matrix_to_axis_angle, channels.axis_angle_to_matrix),
    ):
        np.testing.assert_allclose(back(there(matrix)), matrix, atol=1e-12)


def test_degenerate_channels():
    np.testing.assert_array_equal(channels.axis_angle_to_matrix(np.array([1.0, 0, 0, 0])), np.eye(3))
    np.testing.assert_array_equal(channels.quaternion_to_matrix(np.zeros(4)), np.diag([1.0, -1.0, -1.0]))


def smooth_angles(frames, bones, seed=1):
    """Angles that wander over several turns, a tenth of a radian a frame."""
    return np.cumsum(np.random.default_rng(seed).normal(0.05, 0.05, (frames, bones, 3)), axis=0)


@pytest.mark.parametrize("order", channels.EULER_ORDERS)
def test_unwrapped_euler_is_the_smooth_run_it_came_from(order):
    angles = smooth_angles(400, 5)
    wrapped = channels.matrix_to_euler(channels.euler_to_matrix(angles, order), order)
    np.testing.assert_allclose(channels.unwrap_euler(wrapped, order, angles[0]), angles, atol=1e-9)


def nearest_by_search(angles, order, start):
    """Frame by frame: of both triples and all whole turns nearby, the one nearest to the frame before."""
    middle = "XYZ".index(order[1])
    run = [start]
    for frame in angles:
        other = frame + np.pi
        other[middle] = np.pi - frame[middle]
        wraps = 2 * np.pi * np.array(list(itertools.product(range(-8, 9), repeat=3)))
        choices = np.concatenate((frame + wraps, other + wraps))
        run.append(min(choices, key=lambda c: np.abs(c - run[-1]).sum()))
    return np.array(run[1:])


def test_unwrap_euler_equals_the_search_on_rough_motion():
    angles = channels.matrix_to_euler(turns(60, seed=5).as_matrix(), "ZXY")
    start = np.array([3.0, -2.0, 1.0])
    unwrapped = channels.unwrap_euler(angles[:, None], "ZXY", start[None])[:, 0]
    np.testing.assert_allclose(unwrapped, nearest_by_search(angles, "ZXY", start), atol=1e-9)


def test_unwrapped_quaternions_follow_each_other():
    q = channels.matrix_to_quaternion(channels.euler_to_matrix(smooth_angles(400, 5)))
    unwrapped = channels.unwrap_quaternion(q, -q[0])
    assert ((unwrapped[1:] * unwrapped[:-1]).sum(-1) > 0).all()
    np.testing.assert_array_equal(unwrapped[0], -q[0])
    np.testing.assert_array_equal(np.abs(unwrapped), np.abs(q))


def test_unwrapped_axis_angle_keeps_axis_through_rest_and_counts_turns():
    angle = np.linspace(-1.0, 9.0, 101)
    axis = np.array([0.6, 0.0, 0.8])
    wrapped = channels.matrix_to_axis_angle(Rotation.from_rotvec(angle[:, None] * axis).as_matrix())
    start = np.concatenate(([-1.0], axis))
    unwrapped = channels.unwrap_axis_angle(wrapped[:, None], start[None])[:, 0]
    np.testing.assert_allclose(unwrapped, np.column_stack((angle, np.tile(axis, (101, 1)))), atol=1e-6)
