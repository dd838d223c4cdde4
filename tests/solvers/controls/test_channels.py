"""Steps of channels, in every rotation mode, with and without locks."""

import numpy as np
import pytest

from solvers.controls.channels import Stepper, copied, put, taken
from solvers.controls.trial import ControlChannels
from solvers.rotations import rotation_vectors as rotvec
from solvers.skeleton.rig import Rig

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX")
FRAMES = 5


def stepper(variables, modes=MODES, size=2.0):
    count = len(modes)
    some = np.ones(count, bool)
    rig = Rig(
        tuple(modes), np.full(count, -1), np.tile(np.eye(4), (count, 1, 1)), some * 0.1, ~some, some,
        ("FULL",) * count, some, tuple(modes),
    )  # fmt: skip
    return Stepper(rig, np.broadcast_to(variables, (count, 6)).copy(), size)


def rest(modes=MODES):
    rotation = np.zeros((FRAMES, len(modes), 4))
    rotation[:, [mode == "QUATERNION" for mode in modes], 0] = 1.0
    rotation[:, [mode == "AXIS_ANGLE" for mode in modes], 2] = 1.0
    zero = np.zeros((FRAMES, len(modes), 3))
    return ControlChannels(zero, rotation, zero + 1.0)


@pytest.fixture
def steps():
    return np.random.default_rng(0).normal(0.0, 0.3, (FRAMES, len(MODES), 6))


@pytest.mark.parametrize("variables", [(1,) * 6, (1, 0, 1, 1, 0, 1), (0, 0, 0, 0, 1, 0)])
def test_between_is_what_was_stepped(steps, variables):
    free = stepper(np.array(variables, bool))
    start = free.step(rest(), 0.5 * steps)
    end = free.step(start, steps)
    assert np.allclose(free.between(start, end), np.where(free.variables, steps, 0.0), atol=1e-9)


def test_steps_turn_about_the_control_s_own_axes(steps):
    free = stepper(np.ones(6, bool))
    start = free.step(rest(), 0.5 * steps)
    turn = np.swapaxes(free.basis(start)[..., :3, :3], -1, -2) @ free.basis(free.step(start, steps))[..., :3, :3]
    assert np.allclose(turn, rotvec.exp(steps[..., 3:]), atol=1e-9)


@pytest.mark.parametrize("locked", range(3))
def test_locked_channels_stay(steps, locked):
    variables = np.ones(6, bool)
    variables[[locked, 3 + locked]] = False
    free = stepper(variables)
    start = stepper(np.ones(6, bool)).step(rest(), steps)
    for end in (free.step(start, steps), free.reach(start, free.basis(rest()))):
        assert np.array_equal(end.location[..., locked], start.location[..., locked])
        assert np.array_equal(end.rotation[:, 2:, locked], start.rotation[:, 2:, locked])


def test_what_is_reached_is_the_basis(steps):
    free = stepper(np.ones(6, bool))
    wanted = free.basis(free.step(rest(), steps))
    assert np.allclose(free.basis(free.reach(rest(), wanted)), wanted, atol=1e-9)


def test_angles_do_not_jump_to_another_turn():
    """Beyond half a turn a matrix tells the other way round; the channel before says which is meant."""
    free = stepper(np.ones(6, bool), ("XYZ", "QUATERNION"))
    channels = rest(("XYZ", "QUATERNION"))
    about_x = np.zeros((FRAMES, 2, 6))
    about_x[..., 3] = 0.5
    for count in range(1, 21):
        channels = free.step(channels, about_x)
        assert np.allclose(channels.rotation[:, 0, 0], 0.5 * count)


def test_parts_are_taken_and_put_back(steps):
    free = stepper(np.ones(6, bool))
    whole = free.step(rest(), steps)
    into = copied(rest())
    put(into, np.array([1, 3]), taken(whole, np.array([1, 3])))
    assert np.array_equal(into.location[[1, 3]], whole.location[[1, 3]])
    assert np.array_equal(into.rotation[[0, 2]], rest().rotation[[0, 2]])
