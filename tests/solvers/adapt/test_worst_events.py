"""The worst events of a result are found where they were put, and do not depend on how the world is laid out."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.adapt import worst_events
from solvers.adapt.worst_events import worst
from solvers.skeleton.trunk import trunk_ends
from tests.adapt_walk import walk

SOURCE = walk(np.arange(10.0, 70.0))
POSITIONS, FRAMES, PARENTS = SOURCE.positions, SOURCE.frames, SOURCE.skeleton.parents
LENGTHS = np.linalg.norm(POSITIONS[0] - POSITIONS[0, PARENTS], axis=1)
ENDS = trunk_ends(PARENTS, LENGTHS, POSITIONS[0])
MASSES = worst_events.bone_masses(LENGTHS, PARENTS, np.zeros(len(PARENTS)))
STANCE = np.isin(SOURCE.skeleton.names, ["ankle.L", "ankle.R"]) * np.ones((len(POSITIONS), 1))
STILL = np.tile([1.0, 0.0, 0.0, 0.0], (len(POSITIONS), len(PARENTS), 1))


def quaternions(rotation: Rotation) -> np.ndarray:
    return np.roll(rotation.as_quat(), 1, axis=-1)


def balance(source, result, turns, size=1.0, gravity=worst_events.DOWN):
    centres = [worst_events.mass_centres(positions, PARENTS, MASSES) for positions in (source, result)]
    return worst_events.balance_shifts(source, result, centres, STANCE, turns, size, gravity)


def test_a_result_that_is_its_source_has_no_events():
    assert np.abs(worst_events.jumps(POSITIONS, POSITIONS)).max() == 0
    assert worst_events.turn_steps(STILL).max() == 0
    assert worst_events.tilts(POSITIONS, POSITIONS, STILL[:, 0], ENDS).max() < 1e-5
    assert balance(POSITIONS, POSITIONS, STILL[:, 0]).max() < 1e-12


def test_a_jump_is_found_at_its_joint_and_the_frame_that_it_ends_at():
    result = POSITIONS.copy()
    result[20:, 7] += [0.0, 0.0, 0.5]
    found = worst(worst_events.jumps(POSITIONS, result), FRAMES)
    assert (found.joint, found.frame) == (7, FRAMES[20]) and found.size == pytest.approx(0.5, abs=0.05)


def test_a_body_of_another_size_has_longer_steps():
    assert np.abs(worst_events.jumps(POSITIONS, 1.3 * POSITIONS, 1.3)).max() < 1e-12


def test_a_turn_is_found_at_its_bone_and_frame_whatever_its_sign():
    turns = STILL.copy()
    turns[33:, 4] = quaternions(Rotation.from_rotvec([0.0, np.radians(170.0), 0.0]))
    turns[::2] *= -1
    found = worst(worst_events.turn_steps(turns), FRAMES)
    assert (found.joint, found.frame) == (4, FRAMES[33]) and found.size == pytest.approx(170.0)


@pytest.mark.parametrize("angle", [10.0, 40.0])
def test_a_body_that_topples_tilts_and_one_that_turns_does_not(angle):
    lean, spin = Rotation.from_euler("x", angle, degrees=True), Rotation.from_euler("z", angle, degrees=True)
    for turn, tilt in ((lean, angle), (spin, 0.0), (spin * lean, angle), (lean * spin, angle)):
        result = POSITIONS @ turn.as_matrix().T
        turns = np.tile(quaternions(turn), (len(POSITIONS), 1))
        found = worst_events.tilts(POSITIONS, result, turns, ENDS)
        # The walker bows by a degree itself.
        assert np.abs(found - tilt).max() < 1.5


def test_the_centre_of_mass_shifts_with_a_body_that_topples_over_its_feet():
    feet = POSITIONS[:, STANCE[0] > 0].mean(axis=1, keepdims=True)
    lean = Rotation.from_euler("x", 20.0, degrees=True).as_matrix()
    result = (POSITIONS - feet) @ lean.T + feet
    height = worst_events.mass_centres(POSITIONS, PARENTS, MASSES)[:, 2] - feet[:, 0, 2]
    assert balance(POSITIONS, result, STILL[:, 0]) == pytest.approx(height * np.sin(np.radians(20.0)), rel=0.1)
    assert balance(POSITIONS, 1.2 * POSITIONS + [1.0, 2.0, 3.0], STILL[:, 0], 1.2).max() < 1e-12


def test_frames_without_stance_are_left_out():
    stance = STANCE.copy()
    stance[5:9] = 0.0
    centres = [worst_events.mass_centres(POSITIONS, PARENTS, MASSES)] * 2
    shifts = worst_events.balance_shifts(POSITIONS, POSITIONS, centres, stance, STILL[:, 0])
    assert np.array_equal(np.flatnonzero(np.isnan(shifts)), [5, 6, 7, 8])
    assert worst(shifts, FRAMES).joint == -1
    assert worst(np.full(3, np.nan), np.arange(3)) is None and worst(np.zeros((0, 4)), np.arange(1)) is None


def test_events_turn_with_the_world_and_its_gravity(rng):
    result = POSITIONS + 0.02 * rng.standard_normal(POSITIONS.shape)
    added = Rotation.from_rotvec(rng.standard_normal((len(POSITIONS) * len(PARENTS), 3)))
    turns = quaternions(added).reshape(STILL.shape)
    world = Rotation.from_rotvec([0.4, -1.1, 0.7])
    seen = quaternions(world * added * world.inv()).reshape(STILL.shape)

    def measured(source, result, turns, gravity):
        return (
            worst_events.jumps(source, result),
            worst_events.turn_steps(turns),
            worst_events.tilts(source, result, turns[:, 0], ENDS, gravity),
            balance(source, result, turns[:, 0], gravity=gravity),
        )

    turned = [positions @ world.as_matrix().T + [3.0, 1.0, -2.0] for positions in (POSITIONS, result)]
    plain = measured(POSITIONS, result, turns, worst_events.DOWN)
    for one, other in zip(plain, measured(*turned, seen, world.apply(worst_events.DOWN)), strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_flesh_weighs_where_its_radius_is_known():
    lengths, parents = np.array([0.0, 1.0, 0.5]), np.array([-1, 0, 1])
    assert worst_events.bone_masses(lengths, parents, np.zeros(3)) == pytest.approx([0, 2 / 3, 1 / 3])
    assert worst_events.bone_masses(lengths, parents, np.array([9.0, 0.1, 0.2])) == pytest.approx([0, 1 / 3, 2 / 3])
    assert worst_events.bone_masses(np.zeros(1), np.array([-1]), np.zeros(1)) == pytest.approx([1.0])
