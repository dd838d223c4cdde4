"""Rotation channels between frames: no jump where a fit goes round against its source, and what is astray there."""

import numpy as np
import pytest

from solvers.controls.between_frames import astray, continuous
from solvers.controls.channels import Stepper
from solvers.controls.fit import fit_steps
from solvers.rotations import rotation_vectors as rotvec
from tests.control_toys import CONTROLS, SIZE, Toy

FRAMES = 27
ORDER = list(CONTROLS)
# A mode each.
TURNED = ("torso", "chest", "neck", "hand")


@pytest.fixture(scope="module")
def toy():
    return Toy.build()


def spun(toy, name, degrees, frames=FRAMES):
    """Channels in which one control turns about its z axis, a little tilted, so far as that is; never by a jump."""
    step = np.zeros((frames, len(CONTROLS), 6))
    step[:, ORDER.index(name), 3:] = np.radians(degrees / (frames - 1)) * np.array([0.1, 0.05, 1.0])
    out = toy.neutral(1)
    rows = [out]
    for frame in range(1, frames):
        out = toy.stepper.step(out, step[frame : frame + 1])
        rows.append(out)
    rotation = np.concatenate([row.rotation for row in rows])
    neutral = toy.neutral(frames)
    return type(neutral)(neutral.location, rotation, neutral.scale)


def largest_jump(rotation):
    return np.abs(np.diff(rotation, axis=0)).max()


@pytest.mark.parametrize("name", TURNED)
def test_a_control_that_goes_round_against_its_source_does_not_jump(toy, name):
    """By 260 degrees, from a source that holds still: every mode, the pose exact at every frame."""
    wanted, source = spun(toy, name, 260.0), toy.neutral(FRAMES)
    variables = np.zeros_like(toy.controls.free)
    variables[ORDER.index(name), 3:] = True
    switch = np.zeros(FRAMES)
    fit, _ = toy.run(fit_steps(toy.controls, toy.problem(source, wanted, switch, variables)), switch)
    assert fit.misses.max() < 1e-4 and np.degrees(fit.turns.max()) < 0.1
    assert largest_jump(fit.channels.rotation) < 1.5 * largest_jump(wanted.rotation)
    assert np.degrees(astray(toy.stepper, fit.channels.rotation).max()) < 1.0


def test_what_does_not_jump_stays_to_the_last_bit(toy):
    channels = toy.moved(np.random.default_rng(4), FRAMES)
    np.testing.assert_array_equal(continuous(toy.stepper, channels.rotation), channels.rotation)


@pytest.mark.parametrize("name", TURNED)
def test_jumps_change_nothing_at_the_frames(toy, name):
    rng, own = np.random.default_rng(5), ORDER.index(name)
    channels = toy.moved(rng, FRAMES)
    rotation, mode = channels.rotation.copy(), CONTROLS[name][1]
    jumps = rng.integers(0, 2, FRAMES)
    jumps[0] = 0
    if mode in ("QUATERNION", "AXIS_ANGLE"):
        rotation[jumps == 1, own] *= -1.0
    else:
        rotation[:, own, :3] += 2.0 * np.pi * jumps[:, None] * np.array([1, -1, 0])
    np.testing.assert_allclose(continuous(toy.stepper, rotation), channels.rotation, atol=1e-9)


def test_angles_of_an_axis_that_may_not_change_stay(toy):
    """The forearm turns about x alone: the other triple of the same rotation is none for it."""
    rotation = toy.neutral(3).rotation.copy()
    own = ORDER.index("forearm")
    rotation[:, own, :3] = [[0.0, 7.0, 0.0], [3.0, 0.0, 0.0], [-3.0, 0.0, 0.0]]
    found = continuous(toy.stepper, rotation)[:, own, :3]
    np.testing.assert_array_equal(found[:, 1:], rotation[:, own, 1:3])
    np.testing.assert_allclose(found[:, 0], [0.0, 3.0, 2.0 * np.pi - 3.0])


def test_an_axis_that_swings_where_little_turns_is_astray(toy):
    """Half-way from hardly turned about x to a radian about z the curves turn about neither; a half of that is plain
    trigonometry: the axis between the two is at 45 degrees."""
    rotation = toy.neutral(3).rotation.copy()
    own = ORDER.index("hand")
    rotation[:, own] = [[1e-6, 1, 0, 0], [1.0, 0, 0, 1], [2.0, 0, 0, 1]]
    found = astray(toy.stepper, rotation)
    between = rotvec.exp(0.5 * np.array([[1.0, 0.0, 1.0]]) / np.sqrt(2.0))
    expected = np.linalg.norm(rotvec.log(np.swapaxes(rotvec.exp(np.array([[0.0, 0.0, 0.5]])), -1, -2) @ between))
    assert found[0, own] == pytest.approx(expected, abs=1e-5) and found[1, own] == pytest.approx(0.0, abs=1e-9)
    assert np.delete(found, own, axis=1).max() < 1e-9


def test_a_plain_turn_is_never_astray(toy):
    stepper = Stepper.of(toy.controls, toy.controls.free, SIZE)
    for name in TURNED:
        assert np.degrees(astray(stepper, spun(toy, name, 90.0).rotation)[1:].max()) < 0.2
