"""Rigs' actions at any moment: joints are where the reader of tracks has them, skins go with them, and rounds close."""

import numpy as np
import pytest

from benchmarks.datasets import data_file
from benchmarks.glb import GlbFile
from benchmarks.glb_clip import GlbClip
from solvers.core.errors import InputError
from solvers.surface.weld import staying_together

pytestmark = pytest.mark.captures


def test_a_walk_is_what_the_file_says_and_goes_round():
    file = data_file("quadruped_rigs/quaternius/Fox.glb")
    clip, track = GlbClip(file, "Walk"), GlbFile(file).track("AnimalArmature|Walk", 24.0)
    times = np.arange(len(track.positions)) / 24.0
    np.testing.assert_allclose(clip.joints(times), track.positions, atol=1e-6)
    assert times[-1] <= clip.seconds <= times[-1] + 1.0 / 24.0
    vertices = clip.vertices(np.array([0.1, 0.1 + clip.seconds, clip.seconds - 1e-9, 0.0]))
    np.testing.assert_allclose(vertices[0], vertices[1], atol=1e-9)
    np.testing.assert_allclose(vertices[2], vertices[3], atol=1e-5)
    assert len(np.unique(staying_together(vertices))) < 0.6 * vertices.shape[1]
    assert clip.triangles.max() == vertices.shape[1] - 1
    with pytest.raises(InputError, match="no action 'Swim'.*Walk"):
        GlbClip(file, "Swim")
