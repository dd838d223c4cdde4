"""Turns and ways of the torso: identity, recovery, equivariance, and nothing invented where nobody moves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.transfer.rigid_motion import Bodies, RigidPairs, RigidTransfer, yaw_matrices

SAME = Bodies(0.5, 0.5)


def walk(rng, frames=60, tilt=0.2):
    """Somebody walks about, turning and swaying."""
    times = np.linspace(0, 3, frames)
    sway = np.stack((np.sin(3 * times + rng.uniform(0, 6)), np.sin(2 * times + rng.uniform(0, 6)), 0 * times), axis=1)
    yaw = Rotation.from_matrix(yaw_matrices(rng.normal() + np.cumsum(rng.normal(0, 0.05, frames))))
    rotations = (yaw * Rotation.from_rotvec(tilt * sway)).as_matrix()
    ground = np.cumsum(rng.normal(0.02, 0.01, (frames, 2)), axis=0)
    return rotations, np.column_stack((ground, 1 + 0.05 * np.sin(9 * times)))


def pairs_of(clips, heading=(0.0, 0.0), offset=None, way=1.0, height=(1.0, 0.0), shift=(0.0, 0.0)):
    """Pairs of which the target follows the model exactly."""
    offset = np.eye(3) if offset is None else offset
    found = []
    for clip, (rotations, translations) in enumerate(clips):
        turn = yaw_matrices(np.array([heading[clip]]))[0]
        ground = (translations[:, 0] + 1j * translations[:, 1]) * np.exp(1j * heading[clip]) * way
        up = height[0] * translations[:, 2] + height[1]
        moved = np.column_stack((ground.real + shift[0], ground.imag + shift[1] - clip, up))
        found.append((rotations, translations, turn @ rotations @ offset, moved, np.full(len(rotations), clip)))
    return RigidPairs(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


@pytest.fixture
def clips(rng):
    return walk(rng), walk(rng)


def test_a_body_onto_itself_is_exact(clips, rng):
    learnt = RigidTransfer.learn(pairs_of(clips), SAME)
    rotations, translations = walk(rng)
    turned, moved = learnt.apply(rotations, translations, start=learnt.source_place)
    assert np.abs(turned - rotations).max() < 1e-9
    assert np.abs(moved - translations).max() < 1e-9


def test_what_the_target_does_is_found(clips, rng):
    """Headings of its own in each clip, another heading and tilt of its local frame, and a longer step."""
    offset = (Rotation.from_euler("z", -0.7) * Rotation.from_euler("x", 0.2)).as_matrix()
    way = 1.3 * np.exp(0.2j)
    pairs = pairs_of(clips, (0.4, -2.0), offset, way, (1.2, 0.1), (5, 5))
    learnt = RigidTransfer.learn(pairs, Bodies(0.5, 0.6, 0.7))
    assert learnt.headings == pytest.approx((0.4, -2.0), abs=0.01)
    assert Rotation.from_matrix(learnt.offset.T @ offset).magnitude() < 0.01
    assert complex(*learnt.way) == pytest.approx(way, abs=0.01)
    turned, moved = learnt.apply(pairs.source_rotations[:60], pairs.source_translations[:60])
    assert Rotation.from_matrix(np.swapaxes(turned, 1, 2) @ pairs.target_rotations[:60]).magnitude().max() < 0.02
    assert np.abs(moved - pairs.target_translations[:60]).max() < 0.03


def test_facing_is_told_by_tilts_where_the_parts_tell_nothing(clips):
    """Local frames a right angle apart: bowing forward must not become bowing sideways."""
    offset = Rotation.from_euler("z", 1.5).as_matrix()
    clips = [walk(np.random.default_rng(seed), tilt=0.6) for seed in (1, 2)]
    learnt = RigidTransfer.learn(pairs_of(clips, (0.2, 0.3), offset), SAME)
    assert Rotation.from_matrix(learnt.offset.T @ offset).magnitude() < 0.1


def test_facing_is_told_by_the_parts_where_nobody_tilts(rng):
    clips = walk(rng, tilt=0.0), walk(rng, tilt=0.0)
    expected = Rotation.from_euler("z", -2.5).as_matrix()
    for heading in (0.0, 1.0, 3.0):
        learnt = RigidTransfer.learn(pairs_of(clips, (heading, heading)), Bodies(0.5, 0.5, 2.5))
        assert np.abs(learnt.offset - expected).max() < 1e-9


def test_a_moved_source_scene_changes_nothing_and_a_moved_target_scene_moves_the_result_with_it(clips, rng):
    pairs = pairs_of(clips, (0.4, -2.0), way=1.2)
    pairs = replace(pairs, target_translations=pairs.target_translations + rng.normal(0, 0.02, (120, 3)))
    turn, shift = yaw_matrices(np.array([2.2]))[0], np.array((7.0, -4.0, 0.3))

    def moved(rotations, translations):
        return turn @ rotations, translations @ turn.T + shift

    source = moved(pairs.source_rotations, pairs.source_translations)
    target = moved(pairs.target_rotations, pairs.target_translations)
    new = walk(rng)
    here = RigidTransfer.learn(pairs, SAME).apply(*new)
    other = RigidTransfer.learn(replace(pairs, source_rotations=source[0], source_translations=source[1]), SAME)
    there = RigidTransfer.learn(replace(pairs, target_rotations=target[0], target_translations=target[1]), SAME)
    for found, wanted in ((other.apply(*moved(*new)), here), (there.apply(*new), moved(*here))):
        for one, two in zip(found, wanted, strict=True):
            assert np.abs(one - two).max() < 1e-6


def test_where_nobody_travels_ways_are_as_the_bodies(clips, rng):
    (rotations, translations), _ = clips
    still = np.zeros_like(translations)
    pairs = RigidPairs(rotations, still, rotations, still + (1, 2, 0.5), np.zeros(60, int))
    learnt = RigidTransfer.learn(pairs, Bodies(0.5, 0.75))
    moved = learnt.apply(rotations, translations)[1]
    assert np.abs(np.diff(moved, axis=0) - 1.5 * np.diff(translations, axis=0)).max() < 1e-9
    assert moved[0, :2] == pytest.approx((1, 2))


@pytest.mark.parametrize("ratio", [1.0, 1.5])
def test_who_sways_on_the_spot_tells_nothing_of_the_way(rng, ratio):
    """A target that sways against its source does not go backwards when that goes ahead."""
    (rotations, translations), times = walk(rng, tilt=0.0), np.linspace(0, 2 * np.pi, 60)
    sway = 0.02 * np.stack((np.sin(5 * times), np.cos(3 * times), 0 * times), axis=1)
    pairs = RigidPairs(rotations, sway, rotations, -1.4 * sway, np.zeros(60, int))
    learnt = RigidTransfer.learn(pairs, Bodies(0.5, 0.5 * ratio))
    assert abs(complex(*learnt.way) - ratio) < 0.1 * ratio
    # A walk of half their size tells all.
    translations[:, :2] *= 0.25 / np.ptp(translations[:, :2], axis=0).max()
    walked = RigidPairs(rotations, translations, rotations, 0.7 * translations, np.zeros(60, int))
    assert abs(complex(*RigidTransfer.learn(walked, Bodies(0.5, 0.5 * ratio)).way) - 0.7) < 0.05


def test_ways_that_have_nothing_to_do_with_each_other_are_as_the_bodies(rng):
    """A target that wanders as it likes says nothing about how far the source's steps would take it."""
    (rotations, translations), (_, other) = walk(rng), walk(rng)
    wander = other - other[0]
    wander[:, :2] = 2.0 * np.stack((np.sin(np.linspace(0, 3, 60)), np.cos(np.linspace(0, 5, 60))), axis=1)
    small = translations * (0.3, 0.3, 1)
    learnt = RigidTransfer.learn(RigidPairs(rotations, small, rotations, wander, np.zeros(60, int)), SAME)
    assert complex(*learnt.way) == pytest.approx(1.0, abs=0.3)


def test_each_frame_by_itself_also_from_arrays(clips, rng):
    learnt = RigidTransfer.learn(pairs_of(clips, (0.4, -2.0), way=1.2), SAME)
    rotations, translations = walk(rng)
    every = learnt.apply(rotations, translations)
    alone = learnt.apply(rotations[30:31], translations[30:31], start=translations[0])
    assert np.abs(every[0][30] - alone[0][0]).max() < 1e-12 and np.abs(every[1][30] - alone[1][0]).max() < 1e-12
    again = RigidTransfer.from_arrays(learnt.to_arrays()).apply(rotations, translations)
    assert all(np.array_equal(one, two) for one, two in zip(every, again, strict=True))


def test_one_pair_is_enough_and_none_is_not(clips):
    pairs = pairs_of(clips)
    one = RigidTransfer.learn(RigidPairs(*(values[:1] for values in vars(pairs).values())), SAME)
    assert np.isfinite(one.apply(*clips[0])[1]).all()
    with pytest.raises(InputError, match="no pairs"):
        RigidTransfer.learn(RigidPairs(*(values[:0] for values in vars(pairs).values())), SAME)
