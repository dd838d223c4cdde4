"""Feet on the ground: a body by itself stays as it is, one that floats or sinks does no more, a jump stays a jump."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.ground_contact import with_clearance
from solvers.transfer.subject import SubjectTrack
from tests.bendy_bodies import NAMES, dance, memberships, performed, tube
from tests.bendy_subject import learn_subject

FPS = 15.0
SMALL, LARGE = tube(), tube(rings=31, around=10)


@pytest.fixture(scope="module")
def bodies():
    """A body, another 1.5 times as large, and what both do in the same clip."""
    found = []
    for (vertices, triangles), size in ((SMALL, 1.0), (LARGE, 1.5)):
        clips = [performed(vertices, dance(seed), size) for seed in (1, 2)]
        subject = learn_subject(clips, triangles, memberships(vertices), NAMES)
        found += [subject, subject.read(performed(vertices, dance(3), size))]
    return found


def raised(track, heights):
    return SubjectTrack(track.rows, track.rotations, track.translations + np.multiply.outer(heights, (0, 0, 1)))


def test_a_body_by_itself_stays_as_it_is_and_a_target_at_a_wrong_height_is_put_right(bodies):
    source, track, target, wanted = bodies
    same = with_clearance(track, source, track, source, FPS)
    assert np.abs(same.translations - track.translations).max() < 1e-12
    floats = raised(wanted, 0.1 + 0.1 * np.sin(np.linspace(0, 3, 60)))
    found = with_clearance(floats, target, track, source, FPS)
    assert np.abs(found.translations - wanted.translations)[:, 2].max() < 0.03
    assert np.array_equal(found.translations[:, :2], wanted.translations[:, :2])


def test_a_jump_is_one_in_proportion(bodies):
    source, track, target, wanted = bodies
    jump = 0.5 * np.exp(-((np.arange(60) - 30.0) ** 2) / 50)
    before = with_clearance(wanted, target, track, source, FPS)
    after = with_clearance(wanted, target, raised(track, jump), source, FPS)
    higher = (after.translations - before.translations)[:, 2]
    assert higher[30] == pytest.approx(0.75, rel=0.05) and abs(higher[5]) < 0.01


def test_the_lowest_point_is_the_meshs_and_tracks_of_different_length_are_named(bodies):
    source, track, target, wanted = bodies
    mesh = performed(SMALL[0], dance(3))
    assert np.abs(source.lowest(track) - mesh[..., 2].min(axis=1)).max() < 0.01
    with pytest.raises(InputError, match="60 frames and the source's 2"):
        with_clearance(wanted, target, track.sampled(np.array((0.0, 1.0))), source, FPS)
