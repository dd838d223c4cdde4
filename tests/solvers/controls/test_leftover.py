"""Targets that the trunk's controls cannot bring about."""

import numpy as np
import pytest

from solvers.controls.fit import fit_steps
from solvers.rotations import rotation_vectors as rotvec
from tests.control_toys import CARRIERS, CONTROLS, Toy

FRAMES = 30
SWITCH = np.zeros(FRAMES)


@pytest.fixture(scope="module")
def fitted():
    """Toy, problem and fit of a clip in which the waist is bent as no control bends it, by up to 6 degrees."""
    toy = Toy.build()
    variables = toy.controls.free.copy()
    for name in ("hips", "swing", "pole"):
        variables[list(CONTROLS).index(name)] = False
    variables[list(CONTROLS).index("pole"), 0] = True
    rng = np.random.default_rng(3)
    source = toy.moved(rng, FRAMES)
    wave = toy.stepper.between(toy.neutral(FRAMES), toy.moved(rng, FRAMES, 0.02, 0.2))
    problem = toy.problem(source, toy.stepper.step(source, np.where(variables, wave, 0.0)), SWITCH, variables)
    bend = np.radians(6.0) * np.sin(np.linspace(0.0, 2.0 * np.pi, FRAMES))[:, None] * np.array([0.6, 0.8, 0.0])
    waist = list(CARRIERS).index("waist")
    problem.targets[:, waist, :3, :3] = problem.targets[:, waist, :3, :3] @ rotvec.exp(bend)
    fit, _ = toy.run(fit_steps(toy.controls, problem), SWITCH)
    return toy, problem, fit


def columns(*names):
    return [list(CARRIERS).index(name) for name in names]


def test_joints_are_placed_and_a_turn_is_missed(fitted):
    *_, fit = fitted
    assert fit.misses.max() < 2e-4
    assert np.degrees(fit.turns[:, columns("waist")].max()) > 2.0


def test_limbs_keep_their_directions_and_feet_their_places(fitted):
    *_, fit = fitted
    assert np.degrees(fit.turns[:, columns("o_upper", "o_fore", "o_hand", "o_foot", "head")].max()) < 0.5
    assert fit.misses[:, columns("o_foot")].max() < 1e-4


def test_channels_are_as_smooth_as_what_is_asked(fitted):
    toy, problem, fit = fitted
    step = toy.stepper.between(problem.source, fit.channels)
    rough = np.abs(np.diff(step, 3, axis=0)).max()
    assert rough < 0.05 * np.abs(step).max()


def test_a_knee_is_in_its_place_though_the_leg_is_twisted_as_no_ik_twists_it():
    toy = Toy.build()
    variables = toy.controls.free.copy()
    variables[[list(CONTROLS).index(name) for name in ("hips", "pole")]] = False
    rng = np.random.default_rng(4)
    source = toy.moved(rng, FRAMES)
    wave = toy.stepper.between(toy.neutral(FRAMES), toy.moved(rng, FRAMES, 0.02, 0.2))
    problem = toy.problem(source, toy.stepper.step(source, np.where(variables, wave, 0.0)), SWITCH, variables)
    for name, below in (("o_thigh", "o_shin"), ("o_shin", "o_foot")):
        upper, lower = columns(name, below)
        axis = problem.targets[:, lower, :3, 3] - problem.targets[:, upper, :3, 3]
        axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
        problem.targets[:, upper, :3, :3] = rotvec.exp(0.7 * axis) @ problem.targets[:, upper, :3, :3]
    fit, _ = toy.run(fit_steps(toy.controls, problem), SWITCH)
    assert fit.misses[:, columns("o_shin", "o_foot", "pelvis", "ribs")].max() < 2e-3
    assert np.degrees(fit.turns[:, columns("o_shin")].min()) > 20.0
