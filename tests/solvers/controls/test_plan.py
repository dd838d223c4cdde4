"""Which controls a result is written to: an arm and a leg with switches, in a rig of a few bones."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.controls.control_rig import MAIN, SPINE_FK, TWEAK, ControlRig
from solvers.controls.plan import FK, IK, as_keyed, with_poles, with_trunk, without_roots, written_to
from solvers.controls.trunk_place import only_details
from solvers.skeleton.rig import Rig
from tests.control_toys import Toy

# Controls, then carriers. The root stands on the ground, far from the pelvis.
NAMES = ("root", "torso", "spine_fk", "tweak", "up_fk", "low_fk", "goal", "spin", "pole", "pelvis", "thigh", "shin")
CONTROLS, CARRIERS = np.arange(9), np.arange(9, 12)
HEIGHTS = (0.0, 1.0, 1.1, 1.1, 1.0, 0.5, 0.1, 0.1, 0.5, 1.0, 1.0, 0.5)
PARENTS = (-1, 0, 1, 2, 1, 4, 0, 6, 0, 1, 9, 10)


def control_rig():
    rest = np.broadcast_to(np.eye(4), (12, 4, 4)).copy()
    rest[:, 2, 3] = HEIGHTS
    yes = np.ones(12, bool)
    rig = Rig(NAMES, np.array(PARENTS), rest, np.full(12, 0.4), ~yes, yes, ("FULL",) * 12, yes, ("XYZ",) * 12)
    moves = np.zeros((2, 9, 3), bool)  # state 0: FK, 1: IK
    moves[:, [0, 1]] = True
    moves[:, [2, 3], 0] = True
    moves[0, 4, 1:], moves[0, 5, 2] = True, True
    moves[1, [6, 7], 1:], moves[1, 8, 1] = True, True
    moves[1, 1, 2] = False  # the goal stays
    riders = np.full((2, 9), -1)
    riders[0, [4, 5]] = 1, 2
    riders[1, [6, 7]] = 2
    limb = np.zeros((1, 2, 9), bool)
    limb[0, 0, [4, 5]], limb[0, 1, [6, 7, 8]] = True, True
    trunk = np.zeros(9, int)
    trunk[[0, 1]], trunk[2], trunk[3] = MAIN, SPINE_FK, TWEAK
    pairs = np.array([[4, 1], [5, 2], [6, 2], [7, 2]])
    rigid = np.repeat(np.array([[True, True, False, False], [False, False, True, True]])[..., None], 2, axis=2)
    return ControlRig(
        rig, CONTROLS, np.ones((9, 6), bool), CARRIERS, np.array([-1, 0, 1]), np.full(12, -1), ("['switch']",),
        np.array([[1.0], [0.0]]), riders, moves, CARRIERS, pairs, rigid, np.zeros((2, 4, 2, 9), bool), np.array([0]),
        np.array([[1.0, 0.0]]), np.array([[False, True, True]]), limb, trunk,
    )  # fmt: skip


def chosen(*names):
    return np.isin(NAMES[:9], names)


def names_of(variables):
    return {NAMES[control] for control in np.flatnonzero(variables.any(axis=1))}


def test_what_is_keyed_may_turn_and_moves_where_its_place_is_keyed():
    variables = as_keyed(control_rig(), chosen("goal"), chosen("torso"))
    assert names_of(variables) == {"goal", "torso"}
    assert variables[6].all() and variables[1].tolist() == [False] * 3 + [True] * 3


@pytest.mark.parametrize(("least", "more"), [(MAIN, set()), (SPINE_FK, {"spine_fk"}), (TWEAK, {"spine_fk", "tweak"})])
def test_the_trunk_gets_as_many_controls_as_are_asked_for(least, more):
    rig = control_rig()
    keyed = as_keyed(rig, chosen("goal"), chosen())
    variables = without_roots(rig, with_trunk(rig, keyed, least, np.array([True, False, False])))
    assert names_of(variables) == {"goal", "torso"} | more
    assert variables[1].all(), "nothing that is keyed moves the pelvis"
    placed = as_keyed(rig, chosen("goal", "spine_fk"), chosen())
    again = without_roots(rig, with_trunk(rig, placed, least, np.array([True, False, False])))
    assert not again[1, :3].any(), "what is not keyed there does not move"


def test_controls_of_what_is_not_solved_are_no_part_of_the_trunk():
    rig = control_rig()
    variables = with_trunk(rig, as_keyed(rig, chosen("goal"), chosen()), TWEAK, np.array([False, False, True]))
    assert names_of(variables) == {"goal", "root", "torso"}


def test_the_root_goes_on_as_it_is_keyed_unless_nothing_else_moves_the_body():
    rig = control_rig()
    assert names_of(without_roots(rig, as_keyed(rig, chosen("root", "torso"), chosen()))) == {"torso"}
    assert names_of(without_roots(rig, as_keyed(rig, chosen("root", "goal"), chosen()))) == {"root", "goal"}


def test_a_control_that_goes_with_what_hangs_on_the_body_is_no_root():
    """A bone of a tail that pulls at all those above it carries as much as a root does, as far away."""
    rig = control_rig()
    moves, riders = rig.moves.copy(), rig.riders.copy()
    moves[:, 5], riders[:, 5] = True, 2
    rig = replace(rig, moves=moves, riders=riders)
    assert names_of(without_roots(rig, as_keyed(rig, chosen("root", "torso", "low_fk"), chosen()))) == {
        "torso",
        "low_fk",
    }


def test_the_root_is_no_control_of_a_rig_that_is_one_limb():
    rig = control_rig()
    limbs = rig.limb_controls.copy()
    limbs[:, :, 0] = True
    rig = replace(
        rig,
        limb_controls=limbs,
        pairs=np.vstack((rig.pairs, [[0, 1]])),
        carried=np.pad(rig.carried, ((0, 0), (0, 1), (0, 0)), constant_values=True),
        parted=np.pad(rig.parted, ((0, 0), (0, 1), (0, 0), (0, 0))),
    )
    plan = written_to(rig, as_keyed(rig, chosen("torso", "goal"), chosen()), np.zeros((4, 1)), FK)
    assert names_of(plan.variables) == {"torso", "up_fk", "low_fk"}


@pytest.mark.parametrize(
    ("end", "now", "keyed", "then"),
    [
        (FK, 0.0, ("goal", "pole"), {"torso", "up_fk", "low_fk"}),
        (IK, 1.0, ("up_fk", "low_fk"), {"torso", "goal", "pole"}),
    ],
)
def test_a_limb_is_written_to_one_control_for_each_bone_and_a_pole(end, now, keyed, then):
    rig, values = control_rig(), np.full((4, 1), now)
    plan = written_to(rig, as_keyed(rig, chosen("torso"), chosen(*keyed)), values, end)
    assert names_of(plan.variables) == then
    assert plan.switched.tolist() == [0] and np.ptp(plan.values) == 0.0 and plan.values[0, 0] == 1.0 - now
    assert (values == now).all()


@pytest.mark.parametrize("placed", [True, False])
def test_a_control_that_turns_a_limb_at_both_ends_keeps_its_place_as_a_variable(placed):
    """As the control of a foot roll that turns a foot in FK too: by where it is, as the foot is tracked to it."""
    rig = control_rig()
    limbs, riders, moves = rig.limb_controls.copy(), rig.riders.copy(), rig.moves.copy()
    limbs[0, 0, 6], riders[0, 6], moves[0, 6, 2] = True, 2, True
    rig = replace(
        rig, limb_controls=limbs, riders=riders, moves=moves,
        carried=np.array(rig.carried) | (rig.pairs == [6, 2]).all(axis=1)[None, :, None],
    )  # fmt: skip
    goal, free = NAMES.index("goal"), chosen("goal") if placed else chosen()
    plan = written_to(rig, as_keyed(rig, free, chosen("goal")), np.zeros((4, 1)), FK)
    assert plan.variables[goal, 3:].all() and plan.variables[goal, :3].all() == placed


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.0, 1.0]])
def test_a_limb_that_is_there_already_or_whose_switch_moves_keeps_its_controls(values):
    rig = control_rig()
    before = as_keyed(rig, chosen("goal"), chosen("up_fk"))
    plan = written_to(rig, before, np.array(values)[:, None], FK)
    assert (plan.variables == before).all() and not len(plan.switched)
    assert plan.moving.tolist() == ([] if values[0] == values[1] else [0])


def test_goals_are_written_to_where_no_control_of_their_limb_is_keyed():
    rig, ik = control_rig(), np.zeros((3, 1))
    keyed = as_keyed(rig, chosen("torso"), chosen())
    assert names_of(written_to(rig, keyed, ik, IK).variables) == {"torso", "goal", "pole"}
    more = as_keyed(rig, chosen("torso", "spin"), chosen())
    assert names_of(written_to(rig, more, ik, IK).variables) == {"torso", "spin", "pole"}, "one pulls, a pole swings"


@pytest.mark.parametrize("others", [(), ("pole",)])
def test_goals_that_are_keyed_in_their_rotation_alone_are_placed_too(others):
    rig, ik = control_rig(), np.zeros((3, 1))
    keyed = as_keyed(rig, chosen("torso", *others), chosen("goal"))
    assert not keyed[NAMES.index("goal"), :3].any()
    written = written_to(rig, keyed, ik, IK).variables
    assert names_of(written) == {"torso", "goal", "pole"} and written[NAMES.index("goal")].all()


@pytest.mark.parametrize(
    ("keyed", "value", "added"), [("goal", 0.0, {"pole"}), ("pole", 0.0, set()), ("goal", 1.0, set())]
)
def test_a_limb_that_is_written_in_ik_gets_its_pole(keyed, value, added):
    rig = control_rig()
    before = as_keyed(rig, chosen("torso", keyed), chosen())
    after = with_poles(rig, before, np.full((3, 1), value))
    assert names_of(after) == {"torso", keyed} | added
    assert not after[NAMES.index("pole"), 3:].any() or keyed == "pole", "a pole moves, it does not turn"
    assert (after == before)[: NAMES.index("pole")].all()
    moving = with_poles(rig, before, np.array([[0.0], [1.0]]))
    assert (moving == before).all(), "its switch moves"


def test_goals_of_chains_without_a_switch_are_written_to_ik_alone():
    rig = control_rig()
    rest = rig.rig.rest.copy()
    rest[NAMES.index("goal"), 2, 3] = 0.5  # at the shin's head; the pole moves no second carrier
    rig = replace(
        rig, rig=replace(rig.rig, rest=rest), moves=rig.moves[1:], riders=rig.riders[1:], switches=(), pairs=None,
        states=np.zeros((1, 0)), limb_switches=None, limb_values=None, limb_carriers=None, limb_controls=None,
    )  # fmt: skip
    keyed = as_keyed(rig, chosen("torso"), chosen())
    assert names_of(written_to(rig, keyed, np.zeros((3, 0)), IK).variables) == {"torso", "goal", "pole"}
    assert names_of(written_to(rig, keyed, np.zeros((3, 0)), FK).variables) == {"torso"}


def test_what_leads_to_no_limb_and_not_to_the_head_is_a_detail():
    """A bone on the ribs that goes on where they end is the head; one that begins elsewhere is none."""
    rig = Toy.build().controls
    rest, lengths = rig.rig.rest.copy(), rig.rig.lengths.copy()
    ribs = rig.rig.names.index("ribs")
    assert [rig.rig.names[bone] for bone in rig.controls[only_details(rig)]] == ["neck"]
    rest[ribs, :3, :3], lengths[ribs] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]], 0.25
    assert not only_details(replace(rig, rig=replace(rig.rig, rest=rest, lengths=lengths))).any()
