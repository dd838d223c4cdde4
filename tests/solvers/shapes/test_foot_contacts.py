"""Which feet stand: known ones, whatever the frame rate, the heading, the unit and a way that slides."""

import numpy as np
import pytest

from solvers.shapes.foot_contacts import down, grounded, runs, settled, sliding_share, standing, tidied
from tests.standing import turned
from tests.walking_body import PART, walk
from tests.walking_feet import feet_motion, feet_of


@pytest.mark.parametrize("fps", (24.0, 30.0, 60.0))
def test_feet_that_stand_are_found_at_every_frame_rate(fps):
    times, vertices, triangles, places, stands = walk(fps=fps)
    found = standing(feet_motion(vertices, times, places, feet_of(vertices, triangles)))
    assert np.mean(found == stands) > 0.94
    assert abs(found.mean() - stands.mean()) < 0.05


def test_place_heading_and_size_do_not_matter():
    times, vertices, triangles, places, _ = walk()
    feet = feet_of(vertices, triangles)
    expected = standing(feet_motion(vertices, times, places, feet))
    moved, way = 3.0 * turned(vertices, 0.7) + [5, -2, 4], 3.0 * turned(np.pad(places, ((0, 0), (0, 1))), 0.7)[:, :2]
    again = feet_of(moved, triangles, 4.0)
    np.testing.assert_array_equal(standing(feet_motion(moved, times, way, again)), expected)


def test_feet_on_steps_stand_at_any_height():
    """Near the ground alone tells nothing of who climbs."""
    times, vertices, triangles, places, stands = walk()
    feet = feet_of(vertices, triangles)
    climbed = vertices.copy()
    for leg in range(4):
        step = np.cumsum(np.diff(stands[:, leg].astype(int), prepend=0) == 1) * 0.2
        climbed[:, PART * (leg + 1) : PART * (leg + 2), 2] += step[:, None]
    found = standing(feet_motion(climbed, times, places, feet))
    assert found[48:].any(axis=1).mean() > 0.6
    assert not (found & ~stands)[:, :].any(axis=1).mean() > 0.1


def test_what_is_down_slides_all_the_time_or_does_not():
    times, vertices, triangles, places, stands = walk()
    feet = feet_of(vertices, triangles)
    right = feet_motion(vertices, times, places, feet)
    assert sliding_share(right) < 0.1
    on_the_spot = vertices - np.pad(places, ((0, 0), (0, 1)))[:, None]
    slid = feet_motion(on_the_spot, times, 0 * places, feet)
    assert sliding_share(slid) > 0.9
    np.testing.assert_array_equal(down(slid), down(right))
    assert down(right)[stands].mean() > 0.95


def test_while_anything_stands_something_is_on_the_ground():
    """Also where all that stand land or leave: then the one that is nearest to where it is to be."""
    times, vertices, triangles, places, _ = walk()
    vertices[:, :, 2] += 0.05 * np.abs(np.sin(9.0 * times))[:, None]
    feet = feet_of(walk()[1], triangles)
    motion = feet_motion(vertices, times, places, feet)
    stands, levels = standing(motion), np.zeros((len(times), 4))
    is_settled, on_ground = settled(motion, stands), grounded(motion, stands, levels)
    assert (on_ground.any(axis=1) == stands.any(axis=1)).all() and not (on_ground & ~stands).any()
    in_air = stands.any(axis=1) & ~is_settled.any(axis=1)
    assert in_air.sum() > 5 and (on_ground[in_air].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(on_ground[~in_air], is_settled[~in_air])
    nearest = np.where(stands, motion.clearances, np.inf).argmin(axis=1)
    assert on_ground[in_air, nearest[in_air]].all()


def test_gaps_of_a_frame_are_closed_and_runs_of_one_dropped():
    times = np.arange(12) / 24.0
    is_on = np.array([0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0], bool)[:, None]
    expected = np.array([0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0], bool)
    np.testing.assert_array_equal(tidied(times, is_on)[:, 0], expected)
    assert runs(expected) == [(1, 6)]
    # At twice the rate a run of two frames is as short.
    twice = tidied(np.arange(24) / 48.0, np.repeat(is_on, 2, axis=0))[:, 0]
    np.testing.assert_array_equal(twice, np.repeat(expected, 2))
