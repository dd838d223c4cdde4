"""How far contacts slide along what they touch, beyond the source."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import flat_ground
from solvers.adapt.findings import find
from solvers.core.types import MeshTrack
from tests.adapt_ground import bound_march


@pytest.fixture(scope="module")
def binding():
    return bound_march()


def slide(binding, positions, ground=None, size=1.0):
    ground = ground or flat_ground(binding.track.positions, 0.0, 1.5)
    still = np.tile([1.0, 0.0, 0.0, 0.0], (*positions.shape[:2], 1))
    return find(binding, positions, still, [ground], size).slide


def drifting(positions, metres):
    return np.linspace(0.0, metres, len(positions))[:, None, None] * [1.0, 0.0, 0.0]


def test_the_source_slides_nowhere(binding):
    assert slide(binding, binding.track.positions).event.size < 1e-9


def test_a_foot_that_glides_is_told_with_its_frame(binding):
    """It was kept: its distance to the floor is what it was."""
    moved = binding.track.positions + drifting(binding.track.positions, 1.0)
    found = slide(binding, moved)
    joint = found.event.joint
    touched = binding.touched[0][:, joint]
    row = int(found.event.frame - binding.track.frames[0])
    begin = row - int(np.argmin(touched[row::-1])) + 1
    assert found.obj == binding.objects[0] and touched[begin : row + 1].all()
    assert found.event.size == pytest.approx((row - begin) / (len(moved) - 1), rel=0.1)


def test_what_moves_with_its_object_does_not_slide(binding):
    positions = binding.track.positions
    drift = drifting(positions, 0.8)
    ground = flat_ground(positions, 0.0, 3.0)
    moving = MeshTrack("Ground", ground.vertices + drift, ground.triangles)
    assert slide(binding, positions + drift, moving).event.size < 1e-6
    assert slide(binding, positions, moving).event.size > 0.05


def test_a_place_elsewhere_is_no_slide(binding):
    turn = Rotation.from_euler("z", 50.0, degrees=True).as_matrix()
    positions = binding.track.positions @ turn.T + [0.3, 0.2, 0.0]
    assert slide(binding, positions, flat_ground(positions, 0.0, 2.0)).event.size < 1e-9


def test_of_what_moved_at_bind_nothing_is_told(binding):
    shift = np.linspace(0.0, 0.1, len(binding.track.positions))[:, None, None] * [0.0, 0.0, 1.0]
    moving = replace(binding, origins=binding.origins + shift, axes=np.repeat(binding.axes, len(shift), axis=0))
    assert slide(moving, binding.track.positions) is None
