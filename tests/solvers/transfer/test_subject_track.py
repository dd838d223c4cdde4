"""Tracks between frames: on a frame it is the frame, between them halfway, outside held."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from solvers.transfer.subject_track import SubjectTrack

TURNS = Rotation.random(6, random_state=1)


@pytest.fixture
def track(rng):
    return SubjectTrack((rng.normal(size=(6, 4)), rng.normal(size=(6, 2))), TURNS.as_matrix(), rng.normal(size=(6, 3)))


def test_on_frames_it_is_the_frame_between_them_as_scipy_has_it_and_outside_held(track):
    for places, rows in ((np.arange(6), slice(None)), (np.array((-3.0, 9.0)), [0, 5])):
        sampled = track.sampled(places)
        for found, own in zip(sampled.rows, track.rows, strict=True):
            assert np.array_equal(found, own[rows])
        assert np.array_equal(sampled.rotations, track.rotations[rows])
        assert np.array_equal(sampled.translations, track.translations[rows])
    places = np.linspace(0, 5, 23)
    sampled = track.sampled(places)
    assert np.abs(sampled.rotations - Slerp(np.arange(6), TURNS)(places).as_matrix()).max() < 1e-12
    straight = np.stack([np.interp(places, np.arange(6), axis) for axis in track.rows[0].T], axis=1)
    assert np.abs(sampled.rows[0] - straight).max() < 1e-12
    one = SubjectTrack(tuple(rows[:1] for rows in track.rows), track.rotations[:1], track.translations[:1])
    assert len(one) == 1 and np.array_equal(one.sampled(np.array((0.0, 0.7))).translations, one.translations[[0, 0]])
