"""Mirrored clips are told in any pose and size; what poses, moves or grows is not one, nor what cannot be told."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.mesh_sequences import mesh_sequence
from solvers.transfer.handedness import is_mirrored
from tests.bendy_bodies import dance, performed
from tests.bendy_subject import CLIPS, VERTICES, bendy_subject, learn

X = np.array((-1.0, 1.0, 1.0))


@pytest.fixture(scope="module")
def subject():
    return bendy_subject()


@pytest.mark.parametrize("scale", (0.01, 1.0, 100.0))
@pytest.mark.parametrize("seed", (1, 3, 4))
def test_a_mirrored_clip_is_told_and_the_clip_itself_is_not(subject, seed, scale):
    clip = scale * performed(VERTICES, dance(seed)).astype(np.float32)
    assert not is_mirrored(clip, subject)
    for axis in range(3):
        assert is_mirrored(clip * np.roll(X, axis) + 5.0, subject)
    assert not is_mirrored(clip * (-1, -1, 1), subject)  # half a turn


def test_one_frame_will_do_also_with_triangles_that_are_points(subject):
    points = CLIPS[0].copy()
    points[:, 1] = points[:, 0]
    for clip in (CLIPS[0][7:8], points):
        assert is_mirrored(X * clip, subject) and not is_mirrored(clip, subject)


def test_a_subject_that_is_mirrored_itself():
    mirrored = learn([X * clip for clip in CLIPS])
    assert is_mirrored(CLIPS[1], mirrored) and not is_mirrored(X * CLIPS[1], mirrored)


def test_sheets_cannot_be_told():
    """A flat one is its own mirror image; one that waves folds both ways."""
    across, along = (part.ravel() for part in np.meshgrid(np.arange(20), np.arange(20)))
    first = np.flatnonzero((across < 19) & (along < 19))
    triangles = np.concatenate(
        [np.stack((first, first + 1, first + 21), 1), np.stack((first, first + 21, first + 20), 1)]
    )
    flat = np.column_stack((across, along, 0.0 * along))[None].repeat(9, axis=0)
    wave = flat + np.sin(0.7 * along - np.arange(9)[:, None])[..., None] * (0, 0, 1)
    for captured in (flat, wave):
        for clip in (flat, wave, -wave):
            assert not is_mirrored(clip, SimpleNamespace(captured=captured, triangles=triangles))


@pytest.mark.captures
@pytest.mark.parametrize("name", ("human_samba", "human_crane", "horse_gallop", "horse_collapse", "cat_poses"))
def test_captured_bodies(name):
    """Against two frames of it, and against all: a horse that collapses has no pose in common with one that stands."""
    clip, triangles = mesh_sequence(name)
    for captured in (clip, clip[:2]):
        known = SimpleNamespace(captured=captured, triangles=triangles)
        assert not is_mirrored(clip, known)
        assert is_mirrored(X * clip, known)
