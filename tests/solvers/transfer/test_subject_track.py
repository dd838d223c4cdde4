"""Tracks between frames: on a frame it is the frame, between them halfway, outside held."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from solvers.transfer.subject_track import SubjectTrack

TURNS = Rotation.random(6, random_state=1)


@pytest.fixture
def track(rng):
    return SubjectTrack((rng.normal(size=(6, 4)), rng.normal(size=(6, 2))), TURNS.as_matrix(), rng.normal(size=(6, 3)))


def test_on_frames_it_is_the_frame(track):
    sampled = track.sampled(np.arange(6))
    assert np.array_equal(sampled.rows[1], track.rows[1])
    assert np.array_equal(sampled.rotations, track.rotations)
    assert np.array_equal(sampled.translations, track.translations)


def test_between_frames_as_scipy_has_it(track):
    places = np.linspace(0, 5, 23)
    sampled = track.sampled(places)
    assert np.abs(sampled.rotations - Slerp(np.arange(6), TURNS)(places).as_matrix()).max() < 1e-12
    straight = np.stack([np.interp(places, np.arange(6), axis) for axis in track.rows[0].T], axis=1)
    assert np.abs(sampled.rows[0] - straight).max() < 1e-12


def test_outside_it_is_held(track):
    sampled = track.sampled(np.array((-3.0, 9.0)))
    assert np.array_equal(sampled.rows[0], track.rows[0][[0, 5]])
    assert np.array_equal(sampled.rotations, track.rotations[[0, 5]])


def test_of_one_frame(track):
    one = SubjectTrack(tuple(rows[:1] for rows in track.rows), track.rotations[:1], track.translations[:1])
    assert len(one) == 1 and np.array_equal(one.sampled(np.array((0.0, 0.7))).translations, one.translations[[0, 0]])
