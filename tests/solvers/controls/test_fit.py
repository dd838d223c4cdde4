"""The fit of controls, on rigs that NumPy evaluates."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.controls.channels import taken
from solvers.controls.fit import fit_steps
from solvers.controls.trial import ControlChannels, FitProblem
from tests.control_toys import CONTROLS, SIZE, Toy

FRAMES = 24
SWITCH = (np.arange(FRAMES) >= FRAMES // 2).astype(float)


@pytest.fixture(scope="module")
def toy():
    return Toy.build()


@pytest.fixture(scope="module")
def determined(toy):
    """Variables (C, 6) of which no other choice gives the same carriers, once the others are known."""
    variables = toy.controls.free.copy()
    for name in ("hips", "swing"):
        variables[list(CONTROLS).index(name)] = False
    variables[list(CONTROLS).index("pole"), 1:3] = False
    return variables


def wanted_and_source(toy, variables, seed, neutral=False):
    """Channels to be found and those to begin at, which differ in the variables alone."""
    rng = np.random.default_rng(seed)
    source = toy.neutral(FRAMES) if neutral else toy.moved(rng, FRAMES)
    wave = toy.stepper.between(toy.neutral(FRAMES), toy.moved(rng, FRAMES))
    return toy.stepper.step(source, np.where(variables, wave, 0.0)), source


@pytest.mark.parametrize("neutral", [True, False])
def test_posed_controls_are_found_again(toy, determined, neutral):
    wanted, source = wanted_and_source(toy, determined, 1, neutral)
    problem = toy.problem(source, wanted, SWITCH, determined)
    fit, count = toy.run(fit_steps(toy.controls, problem), SWITCH)
    assert fit.misses.max() < 1e-4
    assert np.degrees(fit.turns.max()) < 0.1
    assert np.degrees(np.abs(toy.stepper.between(wanted, fit.channels)).max()) < 0.05
    assert fit.converged.all()
    assert fit.evaluations.sum() == count


def test_what_the_source_does_already_is_left_alone(toy):
    source = toy.moved(np.random.default_rng(2), FRAMES)
    fit, _ = toy.run(fit_steps(toy.controls, toy.problem(source, source, SWITCH)), SWITCH)
    assert np.abs(toy.stepper.between(source, fit.channels)).max() < 1e-6


def test_redundant_controls_are_fitted_too(toy):
    wanted, source = wanted_and_source(toy, toy.controls.free, 3)
    fit, _ = toy.run(fit_steps(toy.controls, toy.problem(source, wanted, SWITCH)), SWITCH)
    assert fit.misses.max() < 5e-4
    assert np.degrees(fit.turns.max()) < 0.1


def test_what_is_locked_or_no_variable_stays(toy):
    wanted, source = wanted_and_source(toy, toy.controls.free, 4)
    variables = toy.controls.free.copy()
    variables[list(CONTROLS).index("chest")] = False
    variables[list(CONTROLS).index("neck"), 5] = False
    fit, _ = toy.run(fit_steps(toy.controls, toy.problem(source, wanted, SWITCH, variables)), SWITCH)
    chest, neck, forearm = (list(CONTROLS).index(name) for name in ("chest", "neck", "forearm"))
    assert np.array_equal(fit.channels.rotation[:, chest], source.rotation[:, chest])
    assert np.array_equal(fit.channels.rotation[:, neck, 2], source.rotation[:, neck, 2])
    assert np.array_equal(fit.channels.rotation[:, forearm, 1:], source.rotation[:, forearm, 1:])
    assert np.array_equal(fit.channels.location[:, chest], source.location[:, chest])


def test_frames_may_come_in_any_order(toy, determined):
    wanted, source = wanted_and_source(toy, determined, 5)
    problem = toy.problem(source, wanted, SWITCH, determined)
    fit, _ = toy.run(fit_steps(toy.controls, problem), SWITCH)
    order = np.random.default_rng(0).permutation(FRAMES)
    mixed = FitProblem(
        taken(source, order), problem.pose[order], problem.targets[order], determined, problem.state[order], SIZE
    )
    again, _ = toy.run(fit_steps(toy.controls, mixed), SWITCH[order])
    assert np.degrees(np.abs(toy.stepper.between(taken(fit.channels, order), again.channels)).max()) < 0.02


def test_a_goal_out_of_reach_moves_nothing_else(toy, determined):
    """A foot two metres away: the leg stretches towards it, and trunk and arm are as if it were not there."""
    wanted, source = wanted_and_source(toy, determined, 6)
    problem = toy.problem(source, wanted, SWITCH, determined)
    foot = [toy.controls.rig.names[bone] for bone in toy.controls.carriers].index("o_foot")
    problem.targets[8, foot, :3, 3] += (0.0, 0.0, -2.0)
    fit, _ = toy.run(fit_steps(toy.controls, problem), SWITCH)
    others = np.arange(FRAMES) != 8
    assert fit.misses[others].max() < 1e-4
    assert fit.misses[8, foot] < 0.05
    assert np.isfinite(fit.channels.location).all()


def test_a_goal_goes_where_the_foot_is_to_be_though_the_trunk_cannot():
    """The foot turns with the shin, so it does not ride on its goal: the whole body is to be higher, its goal alone
    is written."""
    toy = _TurnedByShin.build()
    source = toy.moved(np.random.default_rng(8), FRAMES)
    variables = np.zeros_like(toy.controls.free)
    variables[list(CONTROLS).index("foot")] = True
    riders = np.where(np.arange(len(CONTROLS)) == list(CONTROLS).index("foot"), -1, toy.controls.riders)
    controls, switch = replace(toy.controls, riders=riders), np.zeros(FRAMES)
    problem = toy.problem(source, source, switch, variables)
    problem.targets[..., 2, 3] += 0.05
    fit, _ = toy.run(fit_steps(controls, problem), switch)
    foot = [controls.rig.names[bone] for bone in controls.carriers].index("o_foot")
    assert fit.misses[:, foot].max() < 5e-4
    assert np.degrees(fit.turns[:, foot].max()) < 0.2
    np.testing.assert_allclose(fit.misses[:, 0], 0.05)


class _TurnedByShin(Toy):
    def evaluate(self, channels, switch):
        pose, names = super().evaluate(channels, switch), self.controls.rig.names
        shin, foot = names.index("o_shin"), names.index("o_foot")
        pose[:, foot, :3, :3] = pose[:, shin, :3, :3] @ pose[:, foot, :3, :3]
        return pose


def test_nothing_to_change_is_evaluated_once(toy):
    source = toy.moved(np.random.default_rng(7), FRAMES)
    wanted = ControlChannels(source.location + 0.1, source.rotation, source.scale)
    problem = toy.problem(source, wanted, SWITCH, np.zeros_like(toy.controls.free))
    fit, count = toy.run(fit_steps(toy.controls, problem), SWITCH)
    assert np.array_equal(fit.channels.location, source.location)
    assert fit.misses.max() > 0.01
    assert count <= 3 * FRAMES
