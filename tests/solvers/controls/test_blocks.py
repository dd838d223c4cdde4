"""What belongs together is found from how carriers answer to steps of single variables."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.controls.clip import Clip
from solvers.controls.structure import measured_structure
from solvers.skeleton.hierarchy import below
from tests.control_toys import CARRIERS, CONTROLS, Toy

FRAMES = 30


@pytest.fixture(scope="module")
def toy():
    return Toy.build()


@pytest.fixture(scope="module")
def structures(toy):
    """Of the foot that hangs on the root, and of the one that hangs on the torso."""
    source = toy.neutral(FRAMES)
    out = []
    for value in (0.0, 1.0):
        switch = np.full(FRAMES, value)
        clip = Clip(toy.controls, toy.problem(source, source, switch))
        out.append(toy.run(measured_structure(clip, np.arange(FRAMES), int(value)), switch)[0])
    return out


def names_of(block):
    return {list(CONTROLS)[k] for k in np.unique(block.columns // 6)}


def judged(blocks, carrier, kind):
    """Block, and name of what a carrier's location (0) or rotation (1) is judged against."""
    k = list(CARRIERS).index(carrier)
    block = next((block for block in blocks.blocks if 6 * k + 3 * kind in block.rows), None)
    reference = (blocks.references.location, blocks.references.rotation)[kind][k]
    return block, list(CARRIERS)[reference] if reference >= 0 else None


def test_an_arm_is_solved_apart_from_the_trunk(structures):
    near, far = structures[0].blocks(np.ones(len(CONTROLS), bool))
    for blocks in (near, far):
        # Its rotation is the root's, so the armature is where it is judged, though it hangs on the chest.
        assert names_of(judged(blocks, "o_upper", 1)[0]) == {"upper_arm"}
        assert judged(blocks, "o_upper", 1)[1] is None
        assert names_of(judged(blocks, "o_fore", 1)[0]) == {"forearm"}
        assert names_of(judged(blocks, "o_hand", 1)[0]) == {"hand"}


def test_trunk_and_leg_are_solved_together_and_judged_near_then_far(structures):
    near, far = structures[0].blocks(np.ones(len(CONTROLS), bool))
    block, reference = judged(near, "ribs", 1)
    assert {"torso", "hips", "chest", "swing", "pole"} <= names_of(block)
    assert reference == "waist"
    assert judged(far, "ribs", 1)[1] is None
    assert judged(far, "head", 1)[1] == "ribs"


def test_variables_that_touch_nothing_in_common_are_stepped_together(structures):
    near, _ = structures[0].blocks(np.ones(len(CONTROLS), bool))
    for block in near.blocks:
        for group in range(block.groups.max() + 1):
            assert block.touches[:, block.groups == group].sum(axis=1).max() <= 1
    groups = near.stepped_together(6 * len(CONTROLS), [True] * len(near.blocks))
    assert groups.sum(axis=0).max() == 1
    assert len(groups) <= groups.sum() / 2


def test_a_goal_is_one_only_where_nothing_moves_it(structures):
    """The foot's control pulls thigh and shin; where it hangs on the torso it moves with that."""
    foot = list(CONTROLS).index("foot")
    assert structures[0].goals[foot]
    assert structures[0].goals.sum() == 1
    assert not structures[1].goals.any()


def test_a_foot_that_was_not_found_to_ride_is_seen_to(toy):
    """Its leg was straight in a pose in which the rig was measured."""
    riders = np.full_like(toy.controls.riders, -1)
    unknown = replace(toy.controls, riders=riders)
    source, switch = toy.neutral(FRAMES), np.zeros(FRAMES)
    clip = Clip(unknown, toy.problem(source, source, switch))
    structure, _ = toy.run(measured_structure(clip, np.arange(FRAMES), 0), switch)
    foot, torso = (list(CONTROLS).index(name) for name in ("foot", "torso"))
    assert clip.controls.riders[0, foot] == list(CARRIERS).index("o_foot")
    assert clip.controls.riders[0, torso] < 0
    assert np.flatnonzero(structure.goals).tolist() == [foot]


def test_no_block_without_variables(structures):
    near, far = structures[0].blocks(np.zeros(len(CONTROLS), bool))
    assert not near.blocks
    assert not far.blocks


def test_below_is_the_tree_s():
    assert np.array_equal(below(np.array([-1, 0, 1, 0])).sum(axis=1), [4, 2, 1, 1])
