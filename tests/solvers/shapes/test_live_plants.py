"""Feet that are held while they are performed: nothing of the future, what stands stays, own clips stay nearly so."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.shapes.foot_habits import learn_habits
from solvers.shapes.foot_plants import ROOM, PlantChoices
from solvers.shapes.live_plants import LivePlants
from solvers.shapes.plant_fields import plant_fields
from solvers.surface.followed_ground import Ground
from tests.grounds import ground_of, plane
from tests.walking_body import walk
from tests.walking_feet import feet_motion, feet_of


@pytest.fixture(scope="module")
def own():
    times, vertices, triangles, places, _ = walk()
    feet = feet_of(vertices, triangles)
    return feet, plant_fields(vertices[0], triangles, feet), learn_habits([feet_motion(vertices, times, places, feet)])


def performed(own, seconds=8.0, fps=24.0, frames=None, **options):
    """Roots (F, 3), offsets (F, H, 3) and the motion."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk(seconds, fps, **options)
    motion = feet_motion(vertices, times, places, feet)
    live = LivePlants(feet, habits, fields)
    steps = [live.step(*now) for now in zip(motion.points[:frames], motion.places, times, strict=False)]
    return *(np.stack(parts) for parts in zip(*steps, strict=True)), motion


def sole_speeds(own, root, offsets, motion):
    """(F - 1, K) of soles that stand by themselves: those near the ground in a walk that is told."""
    _, fields, _ = own
    moved = np.einsum("nh,fhi->fni", fields.fields[motion.feet.vertices], offsets) + root[:, None]
    return type(motion)(motion.feet, motion.times, motion.points + moved, motion.places).slides


@pytest.mark.parametrize("fps", (24.0, 60.0))
def test_feet_that_slide_are_held_once_that_is_known(own, fps):
    root, offsets, motion = performed(own, fps=fps, slip=0.2)
    stands = walk(8.0, fps)[4]
    late = (stands[1:] & stands[:-1]) & (motion.times[1:] > 5.0)[:, None]
    held = sole_speeds(own, root, offsets, motion)[late]
    assert np.median(motion.slides[late]) > 0.2 and np.median(held) < 0.35 * np.median(motion.slides[late])


@pytest.mark.parametrize("sink", (-0.05, 0.0))
def test_feet_are_left_to_slide_only_in_poses_of_own_clips_that_do(own, sink):
    """Here all of those do.  Feet that float stand as none there, and were left to slide as the nearest one."""
    feet, fields, habits = own
    stances = replace(habits.stances, slides=tuple(10.0 + each for each in habits.stances.slides))
    sliding = feet, fields, replace(habits, stances=stances)
    root, offsets, motion = performed(sliding, slip=0.2, sink=sink)
    stands = walk(8.0)[4]
    late = (stands[1:] & stands[:-1]) & (motion.times[1:] > 5.0)[:, None]
    left = np.median(sole_speeds(own, root, offsets, motion)[late]) / np.median(motion.slides[late])
    assert left < 0.35 if sink else left > 0.95


def test_a_foot_comes_down_to_where_it_landed_before(own):
    """One foot floats 4 cm above all others: what moves it begins before it lands, from its second landing on."""
    feet, fields, habits = own
    times, vertices, _, places, stands = walk(6.0)
    foot = feet.feet.feet[0].vertices
    vertices[:, foot, 2] += 0.04
    motion = feet_motion(vertices, times, places, feet)
    live = LivePlants(feet, habits, fields)
    steps = [live.step(*now) for now in zip(motion.points, motion.places, times, strict=True)]
    root, offsets = (np.stack(parts) for parts in zip(*steps, strict=True))
    height = motion.clearances[:, 0] + root[:, 2] + offsets[:, fields.foot == 0][:, 0, 2]
    lands = np.flatnonzero(np.diff(stands[:, 0].astype(int)) > 0)[1:] + 1
    assert len(lands) > 2 and np.abs(height[lands]).max() < 0.015


@pytest.mark.parametrize("fps", (24.0, 60.0, 120.0))
def test_a_foot_that_stands_for_a_few_frames_is_held_for_most_of_them(own, fps):
    """As in a gallop: three times the tempo.  Of three steps at 24 frames a second the last alone was held."""
    feet, fields, habits = own
    times, vertices, _, places, stands = walk(9.0, fps / 3.0, slip=0.2)
    motion = feet_motion(vertices, times / 3.0, places, feet)
    live = LivePlants(feet, habits, fields, PlantChoices(in_full=True))
    steps = [live.step(*now) for now in zip(motion.points, motion.places, motion.times, strict=True)]
    held = sole_speeds(own, *(np.stack(parts) for parts in zip(*steps, strict=True)), motion)
    both = stands[1:] & stands[:-1]
    assert 2.5 < both.sum() / (np.diff(stands.astype(int), axis=0) > 0).sum() * 24.0 / fps < 4.5
    assert held[both].mean() < 0.5 * motion.slides[both].mean()


def test_a_clip_of_its_own_stays_as_it_is(own):
    root, offsets, motion = performed(own)
    assert np.abs(root).max() < 1e-9 and np.abs(offsets).max() < 1e-9


def test_a_foot_comes_to_its_height_without_a_jump_in_its_speed(own):
    """It is 5 cm too high: the first frame in which that is seen moves it by little, and then it gets there."""
    root, offsets, motion = performed(own, seconds=2.0, fps=60.0, sink=-0.05)
    moved = root[:, None, 2] + offsets[..., 2]
    first = int(np.argmax(np.abs(moved).max(axis=1) > 0.0))
    assert first > 0 and 0.0 < np.abs(moved[first]).max() < 0.012
    assert np.abs(np.diff(moved, 2, axis=0)).max() < 0.012
    assert np.abs(motion.clearances[-30:].min(axis=1) + root[-30:, 2]).max() < 0.01


def test_a_body_that_glides_keeps_to_its_way(own):
    """It walks on the spot, where its own clips travel."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk(6.0)
    points = (vertices - np.pad(places, ((0, 0), (0, 1)))[:, None])[:, feet.vertices]
    live = LivePlants(feet, habits, fields)
    moved = [np.linalg.norm(live.step(*now)[0][:2]) for now in zip(points, 0.0 * places, times, strict=True)]
    assert 0.3 * ROOM * feet.height < max(moved) <= ROOM * feet.height


def test_a_ground_is_met_and_what_is_above_it_is_not(own):
    """Under a lamp post and a roof, and beyond the end, as on the floor alone."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk(3.0, slip=0.1, sink=0.05)
    floor, post = plane((-9, -9), (9, 9)), plane((-0.25, 0.8), (-0.15, 0.9), 6.0)
    found = []
    for planes in ([floor], [floor, post, plane((-9, -9), (9, 9), 4.0)], [plane((-9, -9), (9, 1.1))]):
        live = LivePlants(feet, habits.on_picked_ground(), fields)
        ground = Ground.first_below(ground_of(*planes), places, 0.2)
        steps = [live.step(*now, 0.0, ground) for now in zip(vertices[:, feet.vertices], places, times, strict=True)]
        found.append([np.stack(parts) for parts in zip(*steps, strict=True)])
    assert np.abs(found[0][0][-20:, 2] - 0.05).max() < 0.02
    for root, offsets in found[1:]:
        np.testing.assert_array_equal(root, found[0][0])
        np.testing.assert_array_equal(offsets, found[0][1])


def test_nothing_of_the_future_is_used(own):
    root, offsets, _ = performed(own, slip=0.2)
    early, less, _ = performed(own, frames=70, slip=0.2)
    np.testing.assert_array_equal(early, root[:70])
    np.testing.assert_array_equal(less, offsets[:70])


def test_the_same_moment_twice_is_the_same_and_silence_ends_it(own):
    feet, fields, habits = own
    times, vertices, _, places, _ = walk(4.0, slip=0.3)
    live = LivePlants(feet, habits, fields, PlantChoices(in_full=True))
    points = vertices[:, feet.vertices]
    for now in zip(points, places, times, strict=True):
        last = live.step(*now)
    again = live.step(points[-1], places[-1], times[-1])
    np.testing.assert_array_equal(again[1], last[1])
    assert np.abs(last[1]).max() > 0.0
    root, offsets = live.step(points[0], places[0], times[-1] + 2.0)
    assert not root.any() and not offsets.any()
