"""Feet that are held: own clips stay, others stand as they do there, wherever, however turned, at any frame rate."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.datasets import data_folder
from solvers.core.errors import InputError
from solvers.shapes.feet_motion import FeetMotion, FootPoints
from solvers.shapes.foot_habits import learn_habits, share_beyond
from solvers.shapes.foot_plants import RAMP, ROOM, PlantChoices, plant_track, ramp
from solvers.shapes.mesh_feet import MeshFeet, find_feet, lowest_ground
from solvers.shapes.plant_fields import plant_fields
from solvers.shapes.plant_figures import plant_figures, planted
from solvers.shapes.planter import Planter
from solvers.surface.followed_ground import Ground
from tests.grounds import ground_of, plane
from tests.standing import captured, turned
from tests.walking_body import HIPS, PART, walk
from tests.walking_feet import feet_motion, feet_of

CENTIMETRE = 0.01 / 1.8  # of a body's height


@pytest.fixture(scope="module")
def own():
    """The body's feet, fields and habits."""
    times, vertices, triangles, places, _ = walk()
    feet = feet_of(vertices, triangles)
    return feet, plant_fields(vertices[0], triangles, feet), learn_habits([feet_motion(vertices, times, places, feet)])


def slope(height, rise):
    return ground_of(plane((-9, -9), (9, 9), height, rise))


def slid(own, slip=0.2, sink=0.05, fps=24.0, ground=None):
    times, vertices, _, places, _ = walk(fps=fps, slip=slip, sink=sink)
    return feet_motion(vertices, times, places, own[0], ground)


def test_a_clip_of_its_own_stays_as_it_is(own):
    feet, fields, habits = own
    found = plant_track(slid(own, 0.0, 0.0), habits, fields)
    assert np.abs(found.root).max() < 1e-3 and np.abs(found.offsets).max() < 1e-3 * feet.height
    assert not found.is_rooted and not found.short


def test_its_own_clip_stands_as_often_as_itself_and_one_that_flies_less(own):
    feet, fields, habits = own
    shares = []
    for rises in (0.0, 2.0):
        motion = slid(own, 0.0, 0.0)
        up = np.maximum(motion.times - 0.5 * motion.times[-1], 0.0) * rises * feet.height
        motion = replace(motion, points=motion.points + np.outer(up, [0.0, 0.0, 1.0])[:, None])
        shares.append(plant_figures(motion, habits, fields, plant_track(motion, habits, fields)))
    assert shares[0].stands == shares[0].stands_own == shares[1].stands_own
    assert shares[1].stands < 0.6 * shares[1].stands_own


@pytest.mark.parametrize("fps", (24.0, 60.0))
def test_its_own_clip_stays_as_it_is_in_a_loop_and_at_other_rates(own, fps):
    """Though its feet stand 2 cm apart in height, which others are not allowed."""
    feet, fields, _ = own
    bounces = [0.01 * np.sin(2 * np.pi * times)[:, None, None] * [0, 0, 1] for times in (walk()[0], walk(9.0, fps)[0])]
    (times, vertices, _, places, _), (late, looped, _, way, _) = walk(), walk(9.0, fps)
    habits = learn_habits([feet_motion(vertices + bounces[0], times, places, feet)])
    motion = feet_motion(looped + bounces[1], late, way, feet)
    assert motion.clearances.min() < -0.009
    found = plant_track(motion, habits, fields)
    assert np.abs(found.root).max() < 1e-3 and np.abs(found.offsets).max() < 1e-3 / 1.8 * feet.height


def test_all_that_stands_is_on_the_ground_at_every_moment(own):
    """It goes up and down by 5 cm on level ground, and own clips do nothing like that."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk()
    vertices[:, :, 2] += 0.05 * np.sin(7.0 * times)[:, None]
    motion = feet_motion(vertices, times, places, feet)
    found = plant_track(motion, habits, fields, PlantChoices(may_climb=False))
    lowest = np.where(found.stands, np.abs(planted(motion, fields, found).clearances), np.inf).min(axis=1)
    assert found.stands.any(axis=1).mean() > 0.9
    assert lowest[np.isfinite(lowest)].max() < 0.5 * CENTIMETRE * feet.height
    figures = plant_figures(motion, habits, fields, found, may_climb=False)
    assert figures.away_before > 0.045 and figures.away_after < 0.5 * CENTIMETRE * feet.height
    assert figures.away_own < 1e-3


@pytest.mark.parametrize("name", ["human_samba", "human_crane", "walking_cat", "horse_gallop"])
@pytest.mark.captures
@pytest.mark.skipif(data_folder() is None, reason="the folder of captures is not there")
def test_captured_clips_stay_as_they_are(name):
    vertices, triangles = captured(name)
    feet = FootPoints(find_feet(vertices, triangles, lowest_ground(vertices)))
    motion = feet_motion(vertices, np.arange(len(vertices)) / 24.0, vertices.mean(axis=1)[:, :2], feet)
    found = plant_track(motion, learn_habits([motion]), plant_fields(vertices[0], triangles, feet))
    assert not found.is_rooted
    moved = planted(motion, plant_fields(vertices[0], triangles, feet), found).points - motion.points
    assert np.abs(moved).max() <= 1e-3 / 1.8 * feet.height


@pytest.mark.parametrize("fps", (24.0, 60.0))
def test_feet_that_slide_and_sink_stand_as_in_their_own_clips(own, fps):
    _, fields, habits = own
    motion = slid(own, fps=fps)
    found = plant_track(motion, habits, fields)
    figures = plant_figures(motion, habits, fields, found)
    assert figures.slide_before > 0.15 and figures.slide_after < 0.15 * figures.slide_before
    assert figures.away_before > 0.045 and figures.away_after < CENTIMETRE * own[0].height
    assert not found.is_rooted and figures.feet == 4 and figures.short == 0


def test_what_is_more_than_in_own_clips_is_taken_away_and_no_more(own):
    """What is left is at most 1.1 times as much; nothing is done about less."""
    found = np.array([0.0, 0.9, 1.0, 1.1, 1.2, 2.0, 20.0])
    left = found * (1.0 - share_beyond(found, np.ones(7), 0.0, 1.1))
    np.testing.assert_allclose(left[:4], found[:4])
    assert (left <= 1.1).all() and left[-1] < 0.02
    feet, fields, habits = own
    sloppy = slid(own, 0.2, 0.0)
    within = plant_track(sloppy, learn_habits([sloppy]), fields)
    assert np.abs(within.offsets).max() < 1e-9
    whole = plant_track(sloppy, learn_habits([sloppy]), fields, PlantChoices(in_full=True))
    assert plant_figures(sloppy, habits, fields, whole).slide_after < 0.03


def test_shifts_turns_about_up_and_scale_change_nothing_else(own):
    feet, fields, habits = own
    motion = slid(own)
    expected = plant_track(motion, habits, fields)
    times, vertices, triangles, places, _ = walk(slip=0.2, sink=0.05)
    _, right, _, way, _ = walk()

    def moved(values):
        return 2.5 * turned(values, 1.1) + [4.0, -7.0, 3.0]

    def over_ground(values):
        return moved(np.pad(values, ((0, 0), (0, 1))))[:, :2]

    there = feet_of(moved(right), triangles, 3.0)
    own_there = learn_habits([feet_motion(moved(right), times, over_ground(way), there)])
    found = plant_track(feet_motion(moved(vertices), times, over_ground(places), there), own_there, fields)
    np.testing.assert_array_equal(found.stands, expected.stands)
    np.testing.assert_allclose(found.root, 2.5 * turned(expected.root, 1.1), atol=1e-9)
    np.testing.assert_allclose(found.offsets, 2.5 * turned(expected.offsets, 1.1), atol=1e-9)


def test_a_body_that_glides_keeps_to_its_way(own):
    """A body that walks on the spot, where its own clips travel: its feet move it by a tenth of its height at most."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk()
    glides = feet_motion(vertices - np.pad(places, ((0, 0), (0, 1)))[:, None], times, 0 * places, feet)
    found = plant_track(glides, habits, fields)
    figures, way = plant_figures(glides, habits, fields, found), np.linalg.norm(found.root[:, :2], axis=1)
    assert way.max() <= ROOM * feet.height and abs(figures.asked_m - places[-1, 1] + places[0, 1]) < 0.5
    assert found.is_rooted == found.stands.any() == bool(way.any()) and figures.rooted_m == pytest.approx(way.max())
    # One whose own clips are on the spot is right as it is.
    alone = plant_track(glides, learn_habits([glides]), fields)
    assert not alone.is_rooted and np.abs(alone.offsets).max() < 1e-9


def test_a_body_whose_feet_all_slide_is_moved_a_little_and_comes_back(own):
    """It is swung to and fro over feet that would stand: most of that is taken back, and nothing adds up."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk()
    swing = 0.12 * np.sin(2.0 * np.pi * 1.5 * times)[:, None] * [1.0, 0.0]
    motion = feet_motion(vertices + np.pad(swing, ((0, 0), (0, 1)))[:, None], times, places + swing, feet)
    found = plant_track(motion, habits, fields)
    figures = plant_figures(motion, habits, fields, found)
    assert found.is_rooted and 0.05 < figures.rooted_m <= ROOM * feet.height
    assert abs(figures.rooted_by[0]) > 10.0 * abs(figures.rooted_by[1])
    assert np.corrcoef(found.root[:, 0], swing[:, 0])[0, 1] < -0.8


def test_nothing_is_moved_where_nothing_stands(own):
    """Feet that rush on at 6 m/s never stand, however little the body may be moved."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk()
    rush = np.column_stack((6.0 * times, 0.0 * times)) * [1.0, 0.0]
    motion = feet_motion(vertices + np.pad(rush, ((0, 0), (0, 1)))[:, None], times, places, feet)
    found = plant_track(motion, habits, fields)
    assert not found.stands.any() and not found.is_rooted and not found.root.any() and found.asked > 6.0


def test_a_foot_that_stands_is_raised_however_fast_it_sinks(own):
    """As deep as it once was in its own clips is no excuse while it stands."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk()
    some = slice(PART, 2 * PART)
    vertices[26:29, some, 2] -= np.array([0.03, 0.06, 0.03])[:, None]
    motion = feet_motion(vertices, times, places, feet)
    found = plant_track(motion, replace(habits, floor=habits.floor - 1.0), fields)
    assert motion.clearances.min() < -0.055
    assert planted(motion, fields, found).clearances.min() > -0.015


def test_who_climbs_keeps_the_height_of_each_step(own):
    feet, fields, habits = own
    times, vertices, _, places, stands = walk(slip=0.1)
    for leg in range(4):
        step = np.cumsum(np.diff(stands[:, leg].astype(int), prepend=0) == 1) * 0.2
        vertices[:, PART * (leg + 1) : PART * (leg + 2), 2] += step[:, None]
    found = plant_track(feet_motion(vertices, times, places, feet), habits, fields)
    assert found.stands.any(axis=1).mean() > 0.5 and not found.is_rooted
    assert np.abs(found.root[:, 2]).max() < 0.01 and np.abs(found.offsets[..., 2]).max() < 0.01


def test_a_picked_ground_is_met_on_slopes_and_at_any_height(own):
    """The ground rises by 0.2 in 1 and lies 1 m up; the body has been carried there."""
    feet, fields, habits = own

    flat = slid(own, 0.1, 0.0, ground=Ground(slope(1.0, 0.2), 1.0, np.zeros(2)))
    up = 1.0 + 0.2 * flat.places[:, 1]
    carried, there = replace(flat.moved(np.outer(up, [0.0, 0.0, 1.0])), carried=up), habits.on_picked_ground()
    found = plant_track(carried, there, fields)
    figures = plant_figures(carried, there, fields, found)
    assert figures.away_before > 0.02
    assert figures.stands == 1.0 and figures.away_after < CENTIMETRE * feet.height


FLOOR = plane((-9, -9), (9, 9))
HIGH = {
    "roof": [FLOOR, plane((-9, -9), (9, 9), 9.0)],
    "canopy": [FLOOR, plane((-1, 0.4), (1, 1.2), 1.6)],
    "lamp post": [FLOOR, plane((-0.25, 0.95), (-0.15, 1.05), 6.0), plane((-0.05, 1.0), (0.05, 1.1), 6.0)],
    "cliff": [plane((-9, -9), (9, 0.9)), plane((-9, 0.9), (9, 9), 2.0)],
    "chasm": [plane((-9, -9), (9, 0.9)), plane((-9, 0.9), (9, 9), -2.0)],
    "end": [plane((-9, -9), (9, 0.9))],
}


@pytest.mark.parametrize("what", HIGH)
def test_what_no_step_reaches_is_not_stood_on(own, what):
    """Exactly as on the floor alone; and where the ground goes on out of reach, or ends, that is told."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk(slip=0.1)
    expected, found = (
        Planter(feet, fields, habits).plants(
            times, vertices[:, feet.vertices], places, Ground.first_below(ground_of(*planes), places, 0.2)
        )
        for planes in ([FLOOR], HIGH[what])
    )
    np.testing.assert_allclose(found.track.root, expected.track.root, atol=1e-9)
    np.testing.assert_allclose(found.track.offsets, expected.track.offsets, atol=1e-9)
    assert found.missing.any() == (what == "end") and found.unreached.any() == (what in ("cliff", "chasm"))
    assert not (found.missing | found.unreached)[places[:, 1] < 0.2].any()


def test_a_foot_on_what_is_too_steep_is_held_in_part(own):
    """One pair of feet walks up a ramp that the other one does not."""
    feet, fields, habits = own
    times, vertices, _, places, _ = walk()
    split = Ground(ground_of(plane((-9, -9), (0, 9)), plane((0, 0), (9, 9), 0.0, 0.6)), 0.0, np.zeros(2))
    found = Planter(feet, fields, habits).plants(times, vertices[:, feet.vertices], places, split)
    reach = 0.2 * feet.height
    assert found.figures.short and np.abs(found.track.offsets).max() <= reach + 1e-9
    assert np.abs(found.track.root[:, 2]).max() <= reach + 1e-9


def test_what_is_out_of_reach_is_held_in_part_and_told(own):
    feet, fields, habits = own
    times, vertices, _, places, _ = walk()
    standing_still = np.repeat(vertices[:1], len(times), axis=0)
    drift = np.stack((0 * times, 0.25 * times, 0 * times), axis=1)[:, None]
    motion = feet_motion(standing_still + drift, times, 0 * places, feet)
    found = plant_track(motion, habits, fields)
    assert found.short and np.abs(found.offsets).max() <= 0.2 * feet.height + 1e-9


def test_a_foot_is_let_go_smoothly():
    seconds = np.linspace(0.0, RAMP, 201)
    values = ramp(seconds)
    assert values[0] == 1.0 and values[-1] == 0.0 and (np.diff(values) <= 0.0).all()
    assert np.abs(np.diff(values, 2)).max() < 1e-3


def test_a_body_without_feet_and_points_of_others_are_refused(own):
    with pytest.raises(InputError, match="No foot"):
        FootPoints(MeshFeet((), 1.0, 0.0))
    with pytest.raises(InputError, match="shapes"):
        FeetMotion(own[0], np.arange(2.0), np.zeros((2, 3, 3)), np.zeros((2, 2)))


def test_one_frame_alone_is_left_as_it_is(own):
    feet, fields, habits = own
    times, vertices, _, places, _ = walk(slip=0.2, sink=0.0)
    found = plant_track(feet_motion(vertices[:1], times[:1], places[:1], feet), habits, fields)
    assert not found.root.any() and np.abs(found.offsets).max() < 1e-9 and HIPS > 0
