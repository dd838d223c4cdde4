"""Places that the change of an environment has put inside another object."""

import numpy as np
import pytest

from benchmarks.props import box, height_field
from solvers.adapt.binding import fit
from solvers.adapt.covered_places import covered_contacts
from solvers.core.types import JointTrack, Skeleton
from solvers.surface.track import SurfaceTrack

FRAMES = 30
POSE = np.array([[0, 0, 0.9], [0.05, 0, 0.5], [0, 0, 0.1], [0.15, 0, 0.03]])
TOE = np.array([False, False, False, True])


def floor():
    return height_field("Floor", np.arange(-2, 3.0), np.arange(-2, 3.0), np.zeros((5, 5)))


def stage(top):
    return box("Stage", [-1, -1, -0.6], [1, 1, top])


def standing(*meshes):
    skeleton = Skeleton(("hip", "knee", "ankle", "toe"), np.arange(4) - 1)
    track = JointTrack(skeleton, np.repeat(POSE[None], FRAMES, axis=0), 60.0, np.arange(FRAMES))
    return fit(track, list(meshes), TOE, 1.8)


@pytest.mark.parametrize("top, touched", [(0.0, [True, True]), (-0.05, [True, False])])
def test_contacts_on_a_floor_are_covered_by_a_stage_that_rises_through_it(top, touched):
    """A foot on two faces in one plane touches both of them."""
    binding = standing(floor(), stage(top))
    assert np.array_equal(binding.touched[:, :, 3].all(axis=1), touched)
    for change, expected in ((0.0, False), (0.15 - top, True), (-0.2, False)):
        meshes = [floor(), stage(top + change)]
        found = covered_contacts(binding, meshes, [SurfaceTrack(mesh) for mesh in meshes])
        assert (found[0, :, 3] == expected).all() and not found[..., :3].any()
        assert (found[1, :, 3] == (touched[1] and change < 0)).all()
