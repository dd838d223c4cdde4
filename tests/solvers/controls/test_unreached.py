"""What cannot be reached is named, with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.controls.fit import fit_steps
from solvers.controls.unreached import Why, unreached
from tests.control_toys import CARRIERS, CONTROLS, Toy

FRAMES = 12
SWITCH = np.zeros(FRAMES)


@pytest.fixture(scope="module")
def toy():
    return Toy.build()


def found(toy, problem):
    fit, _ = toy.run(fit_steps(toy.controls, problem), SWITCH)
    names = list(CARRIERS)
    return [(names[each.carrier], each) for each in unreached(toy.controls, problem, fit, 0.002, 0.01)]


def at_rest(toy, variables=None):
    source = toy.neutral(FRAMES)
    return toy.problem(source, source, SWITCH, variables)


def test_nothing_is_said_of_what_is_reached(toy):
    assert not found(toy, at_rest(toy))


def test_a_foot_out_of_its_leg_s_reach_and_its_frame_are_named(toy):
    problem = at_rest(toy)
    shin = list(CARRIERS).index("o_shin")
    problem.targets[5, shin, :3, 3] += (0.0, 0.3, 0.0)
    name, worst = found(toy, problem)[0]
    assert name == "o_shin"
    assert (worst.frame, worst.frames, worst.why) == (5, 1, Why.OUT_OF_REACH)
    assert worst.away > 0.02


def test_locked_controls_are_the_reason(toy):
    variables = toy.controls.free.copy()
    variables[list(CONTROLS).index("hand")] = False
    problem = at_rest(toy, variables)
    moves = toy.controls.moves.copy()
    hand = list(CARRIERS).index("o_hand")
    moves[:, :, hand] = False
    problem.targets[:, hand, :3, :3] = np.diag((1.0, -1.0, -1.0))
    only = replace(toy, controls=replace(toy.controls, moves=moves))
    assert found(only, problem)[0][1].why == Why.NO_CONTROL
    moves[:, list(CONTROLS).index("hand"), hand] = True
    only = replace(toy, controls=replace(toy.controls, moves=moves))
    name, worst = found(only, problem)[0]
    assert (name, worst.why, worst.frames) == ("o_hand", Why.HELD, FRAMES)
