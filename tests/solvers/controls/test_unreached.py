"""What cannot be reached is named, with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.controls.control_rig import MAIN
from solvers.controls.fit import fit_steps
from solvers.controls.unreached import Why, unplaced, unreached, unwritten, where_it_begins
from solvers.rotations import rotation_vectors as rotvec
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


@pytest.mark.parametrize(("by", "why"), [(0.03, Why.STRETCHED), (0.0, Why.OUT_OF_REACH)])
def test_stretch_of_a_limb_in_ik_is_the_reason_where_its_bones_have_other_lengths(toy, by, why):
    problem, names = at_rest(toy), list(CARRIERS)
    leg, shin, foot = np.isin(names, ["o_thigh", "o_shin"]), names.index("o_shin"), names.index("o_foot")
    pose = problem.pose.copy()
    down = pose[5, toy.controls.carriers[foot], :3, 3] - pose[5, toy.controls.carriers[shin], :3, 3]
    pose[5, toy.controls.carriers[shin], :3, 3] += by * down
    fit, _ = toy.run(fit_steps(toy.controls, at_rest(toy)), SWITCH)
    values, none = np.array([[1.0, 0.0]]), np.zeros((1, 2, len(CONTROLS)), bool)
    controls = replace(
        toy.controls, limb_switches=np.array([0]), limb_values=values, limb_carriers=leg[None], limb_controls=none
    )
    fit = replace(fit, pose=pose, misses=np.where(np.arange(len(names)) == shin, 0.02, fit.misses))
    problem.targets[5, shin, :3, :3] = rotvec.exp(np.array([[0.0, 0.0, 0.1]]))[0] @ problem.targets[5, shin, :3, :3]
    assert [each.why for each in unreached(controls, problem, fit, 0.002, 0.01) if each.carrier == shin] == [why]


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


def test_the_control_that_is_missing_is_found_at_what_a_carrier_hangs_on(toy):
    """The body is to be higher and the arm alone is written: the torso would do it."""
    names, trunk = list(CONTROLS), np.zeros(len(CONTROLS), int)
    trunk[[names.index(name) for name in ("torso", "hips", "chest")]] = MAIN
    only = replace(toy, controls=replace(toy.controls, trunk=trunk))
    variables = np.zeros_like(toy.controls.free)
    variables[names.index("upper_arm")] = True
    problem = at_rest(only, variables)
    problem.targets[..., 2, 3] += 0.1
    fit, _ = only.run(fit_steps(only.controls, problem), SWITCH)
    missed = unreached(only.controls, problem, fit, 0.002, 0.01)
    begins = where_it_begins(only.controls, missed, list(CARRIERS).index("head"))
    assert list(CARRIERS)[begins.carrier] == "pelvis"
    assert names[unwritten(only.controls, problem, begins.frame, begins.carrier)] == "torso"
    assert where_it_begins(only.controls, (), 3) is None


def test_a_limb_s_own_control_is_named_unless_it_does_again_what_is_written(toy):
    names, carriers = list(CONTROLS), list(CARRIERS)
    limb = np.isin(carriers, ("o_thigh", "o_shin", "o_foot"))[None]
    own = np.isin(names, ("foot", "swing"))
    only = replace(toy, controls=replace(toy.controls, limb_carriers=limb, limb_controls=np.array([[own, own]])))
    problem = at_rest(only, toy.controls.free & np.isin(names, ("foot",))[:, None])
    problem.targets[5, carriers.index("o_shin"), :3, 3] += (0.05, 0.0, 0.0)
    fit, _ = only.run(fit_steps(only.controls, problem), SWITCH)
    missed = unreached(only.controls, problem, fit, 0.002, 0.01)
    begins = where_it_begins(only.controls, missed, carriers.index("o_shin"))
    assert begins.carrier == carriers.index("o_shin") and begins.frame == 5
    assert names[unwritten(only.controls, problem, begins.frame, begins.carrier)] == "swing"
    whole = replace(problem, variables=toy.controls.free)
    assert unwritten(only.controls, whole, begins.frame, begins.carrier) is None


@pytest.mark.parametrize("ends", [(1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("written", ["turned", "placed", "left out"])
def test_a_goal_that_only_turns_is_found_where_its_limb_stays_behind_in_ik(toy, written, ends):
    names, carriers = list(CONTROLS), list(CARRIERS)
    limb = np.isin(carriers, ("o_thigh", "o_shin", "o_foot"))[None]
    own = np.isin(names, ("foot", "swing"))
    only = replace(
        toy.controls, limb_carriers=limb, limb_controls=np.array([[own, own]]), limb_switches=np.array([0]),
        limb_values=np.array([ends]),
    )  # fmt: skip
    variables = toy.controls.free & np.isin(names, {"left out": ()}.get(written, ("foot",)))[:, None]
    variables[:, :3] &= written == "placed"
    problem = at_rest(toy, variables)
    problem.targets[5, carriers.index("o_foot"), :3, 3] += (0.0, 0.0, 0.1)
    fit, _ = toy.run(fit_steps(only, problem), SWITCH)
    missed = unreached(only, problem, fit, 1e-4, 1e-3)
    foot = next((each for each in missed if each.carrier == carriers.index("o_foot")), None)
    if written == "placed":
        assert foot is None or unplaced(only, problem, fit, foot, 0.002) is None
    else:
        found = unplaced(only, problem, fit, foot, 0.002)
        assert (found == names.index("foot")) == (written == "turned" and ends[1] == 0.0)
        assert unplaced(only, problem, fit, foot, 0.2) is None, "it is near enough"


@pytest.mark.parametrize(("ends", "named"), [((1.0, 0.0), "pole"), ((0.0, 1.0), "swing")])
def test_a_control_at_the_limb_s_other_end_is_not_named(toy, ends, named):
    """It moves the limb as well, but not as it is posed: the switch is at 0."""
    names, carriers = list(CONTROLS), list(CARRIERS)
    limb = np.isin(carriers, ("o_thigh", "o_shin", "o_foot"))[None]
    sets = np.array([[np.isin(names, each) for each in (("foot", "swing"), ("foot", "pole"))]])
    only = replace(
        toy.controls, limb_carriers=limb, limb_controls=sets, limb_switches=np.array([0]), limb_values=np.array([ends])
    )  # fmt: skip
    problem = at_rest(toy, toy.controls.free & np.isin(names, ("foot",))[:, None])
    assert names[unwritten(only, problem, 5, carriers.index("o_shin"))] == named
