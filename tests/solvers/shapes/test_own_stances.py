"""Whether a foot stands as in its own clips: at their frames and between them, not where it floats or sinks."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.core.interpolation import BetweenRows
from solvers.shapes.foot_contacts import grounded, standing
from solvers.shapes.foot_habits import levels
from solvers.shapes.own_stances import OwnStances, share_unlike
from tests.walking_body import walk
from tests.walking_feet import feet_motion, feet_of


@pytest.fixture(scope="module")
def feet():
    _, vertices, triangles, _, _ = walk()
    return feet_of(vertices, triangles)


def seen(feet, clip):
    """A clip as ``OwnStances.learn`` has it, its feet to be on the floor."""
    times, vertices, _, places, _ = clip
    motion = feet_motion(vertices, times, places, feet)
    stands = standing(motion)
    right, _ = levels(motion, stands, np.zeros(len(feet)), False)
    return motion, grounded(motion, stands, right), right


@pytest.mark.parametrize("fps", (24.0, 30.0, 60.0))
def test_own_clips_are_own_at_any_frame_rate_and_however_often_they_are_looped(feet, fps):
    own = OwnStances.learn([seen(feet, walk(2.0, fps=60.0))])
    clip = seen(feet, walk(5.0, fps=fps))
    assert own.shares(*clip)[clip[1]].max() < 1e-6


def test_a_clip_between_whose_frames_more_are_put_is_its_own(feet):
    times, vertices, triangles, places, _ = walk(2.0)
    vertices[..., 2] += 0.03 * np.sin(20.0 * times)[:, None]
    own = OwnStances.learn([seen(feet, (times, vertices, triangles, places, None))])
    more = np.linspace(0.0, 2.0, 121)
    between = BetweenRows.at(more, times)
    clip = seen(feet, (more, between.of(vertices), triangles, between.of(places), None))
    shares = own.shares(*clip)[clip[1]]
    assert shares.size > 60 and shares.max() < 1e-6


@pytest.mark.parametrize("sink", (0.03, -0.03))
def test_feet_that_sink_or_float_do_not_stand_so(feet, sink):
    """Though feet that land pass every height."""
    own = OwnStances.learn([seen(feet, walk())])
    clip = seen(feet, walk(sink=sink))
    assert clip[1].any(axis=0).all() and own.shares(*clip)[clip[1]].min() > 0.99


def one_frame(motion, frame):
    some = slice(frame, frame + 1)
    return replace(motion, times=motion.times[some], points=motion.points[some], places=motion.places[some])


def test_the_slide_of_own_clips_is_told_as_well(feet):
    clip = seen(feet, walk(slip=0.3))
    motion, on_ground, _ = clip
    both = on_ground[1:, 0] & on_ground[:-1, 0]
    own, each = OwnStances.learn([clip]), [one_frame(motion, frame) for frame in range(len(on_ground))]
    found = [own.performed(*pair, 0, 0.0) for pair in zip(each[:-1], each[1:], strict=True)]
    away, slides = np.array(found)[both].T
    assert away.max() < 1e-6
    np.testing.assert_allclose(slides, motion.slides[both, 0], rtol=0.02)


def test_the_unit_does_not_matter(feet):
    small, large = seen(feet, walk()), seen(feet, walk(sink=0.002))
    expected = OwnStances.learn([small]).shares(*large)
    times, vertices, triangles, places, _ = walk()
    there = feet_of(3.0 * vertices, triangles)
    found = OwnStances.learn([seen(there, (times, 3.0 * vertices, triangles, 3.0 * places, None))]).shares(
        *seen(there, (times, 3.0 * walk(sink=0.002)[1], triangles, 3.0 * places, None))
    )
    assert 0.05 < expected[large[1]].max() < 0.95
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_without_own_clips_everything_is_other(feet):
    clip = seen(feet, walk())
    assert (OwnStances.none(len(feet)).shares(*clip) == 1.0).all()


def test_what_is_nearly_own_is_left_in_part(feet):
    shares = share_unlike(np.array([0.0, 0.9, 2.5, 4.1, np.inf]) * 1e-3 / 1.8, 1.0)
    assert shares[0] == shares[1] == 0.0 and 0.4 < shares[2] < 0.6 and (shares[3:] == 1.0).all()
