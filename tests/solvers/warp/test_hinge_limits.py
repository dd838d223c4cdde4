"""Knees that do not bend backward, as a term of the warp."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.rotations import frame_quaternions
from solvers.rotations import quaternions as quat
from solvers.warp.hinge_limits import HingeLimits

FRAMES = 6
# Of two bodies: the first carries the second.
AXIS = np.array([0.6, 0.0, 0.8])


@pytest.fixture
def limits():
    """The second body may turn backward by 0.1 radians, at the last frame as far as it likes."""
    least = np.full((1, FRAMES), -0.1)
    least[:, -1] = -np.inf
    axis = np.broadcast_to(AXIS[:, None], (1, 3, FRAMES))
    return HingeLimits(np.array([1]), np.array([0]), axis, least, 2.0)


def pose(angles, above, swing=(0.0, 0.0, 0.0)):
    """The first body turned by a rotation, the second about the axis from there, by angles (F,), after a swing."""
    turns = [above * Rotation.from_rotvec(angle * AXIS) * Rotation.from_rotvec(swing) for angle in angles]
    both = np.stack([Rotation.concatenate([above] * len(angles)).as_quat(), Rotation.concatenate(turns).as_quat()])
    return SimpleNamespace(rotations=np.moveaxis(np.roll(both, 1, axis=-1), 1, -1))


def test_only_what_bends_too_far_backward_is_led_back(limits, rng):
    """By as much as it goes too far, about the axis that the upper body has taken along."""
    angles, above = np.array([0.5, 0.0, -0.09, -0.3, -1.5, -1.5]), Rotation.random(rng=rng)
    now = pose(angles, above)
    found = limits.residual(None, now, quat)
    assert found.frame.tolist() == [3, 4] and found.body.tolist() == [1, 1]
    assert np.abs(found.back - np.outer([0.2, 1.4], above.apply(AXIS))).max() < 1e-12
    for k, frame in enumerate(found.frame):
        turned = quat.mul(quat.exp(found.back[k][:, None]), now.rotations[1][:, [frame]])
        now.rotations[1][:, frame] = turned[:, 0]
    assert not limits.residual(None, now, quat).frame.size or np.abs(limits.residual(None, now, quat).back).max() < 1e-9


def test_a_swing_across_the_axis_is_free(limits):
    across = np.cross(AXIS, [0.0, 1.0, 0.0])
    assert not limits.residual(None, pose(np.zeros(FRAMES), Rotation.identity(), 0.7 * across), quat).frame.size


def test_a_frame_by_itself_is_led_back_alike(limits, rng):
    now = pose(np.full(FRAMES, -0.4), Rotation.random(rng=rng))
    whole = limits.residual(None, now, quat)
    one = limits.take(2).residual(None, SimpleNamespace(rotations=now.rotations[..., 2]), frame_quaternions)
    assert np.abs(one.back - whole.back[[2]]).max() < 1e-12 and np.abs(one.slope - whole.slope[[2]]).max() < 1e-12
