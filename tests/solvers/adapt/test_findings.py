"""What a result does worst is measured against the bound motion."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.adapt.findings import CLEAR, find
from tests.adapt_bound import moved


def turned(bound, rotation):
    """(F, J, 4) of one rotation."""
    quaternion = np.roll(rotation.as_quat(), 1)
    return np.tile(quaternion, (*bound.track.positions.shape[:2], 1))


def test_a_motion_in_its_own_surroundings_has_nothing_to_find(made_walk):
    bound = made_walk
    found = find(bound.binding, bound.track.positions, turned(bound, Rotation.identity()), bound.meshes, 1.0)
    assert found.jump.size == 0 and found.turn.size == 0 and found.shift.size < 1e-12 and found.tilt.size < 1e-5
    assert found.contacts.counted.sum() > 20 and np.array_equal(found.contacts.counted, found.contacts.kept)
    assert [found.names[joint] for joint in found.trunk] == ["hips", "chest"]


@pytest.mark.parametrize("axis, tilt", [("z", 0.0), ("x", 20.0)])
def test_what_is_carried_along_tilts_by_what_carries_it(made_walk, axis, tilt):
    bound, turn = made_walk, Rotation.from_euler(axis, 20.0, degrees=True)
    carried = bound.track.positions @ turn.as_matrix().T + [1.0, 2.0, 0.5]
    after = moved(bound.meshes, turn.as_matrix(), (1.0, 2.0, 0.5))
    found = find(bound.binding, carried, turned(bound, turn), after, 1.0)
    assert np.array_equal(found.contacts.counted, found.contacts.kept)
    assert found.tilt.size == pytest.approx(tilt, abs=1.0)
    assert found.jump.size < 1e-9 and found.turn.size < 1e-5
    assert (found.shift.size < 1e-9) == (tilt == 0.0)
    distance = bound.binding.joint_distance[:, :, list(found.trunk)].min(axis=(0, 2))
    assert not found.clear[distance < CLEAR * bound.binding.scale].any()
    assert found.erect.all() and found.sloped.any() == (tilt > 0.0)


def test_gravity_is_an_argument(made_walk):
    bound, turn = made_walk, Rotation.from_euler("x", 20.0, degrees=True)
    carried = bound.track.positions @ turn.as_matrix().T
    after = moved(bound.meshes, turn.as_matrix(), (0.0, 0.0, 0.0))
    found = find(bound.binding, carried, turned(bound, turn), after, 1.0, np.array([-1.0, 0.0, 0.0]))
    assert found.tilt.size < 1e-5 and found.shift.size < 1e-9
    assert not found.sloped.any() and not found.erect.any() and found.clear_tilt is None


def test_a_knee_that_the_result_alone_stretches_is_found(made_walk):
    bound, names = made_walk, made_walk.track.skeleton.names
    hip, knee, ankle = (names.index(f"{name}.L") for name in ("thigh", "knee", "ankle"))
    positions = bound.track.positions.copy()
    still = turned(bound, Rotation.identity())
    assert find(bound.binding, positions, still, bound.meshes, 1.0).stretch is None
    positions[30:60, knee] = 0.5 * (positions[30:60, hip] + positions[30:60, ankle])
    stretch = find(bound.binding, positions, still, bound.meshes, 1.0).stretch
    assert (stretch.joint, stretch.frame) == (knee, bound.track.frames[30])
    assert stretch.size == pytest.approx(30 / len(positions))
