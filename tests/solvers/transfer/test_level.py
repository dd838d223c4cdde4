"""A source's world that is not level: found where headings change, and never made up."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.transfer.level import level_of, tilt_of
from solvers.transfer.rigid_motion import Bodies, RigidPairs, yaw_matrices
from solvers.transfer.surface_transfer import bodies_of

SAME = Bodies(0.5, 0.5)


def pairs(rng, turns=1.0, tilt=None, offset=None, noise=0.03):
    """Two clips of somebody who sways and turns, as a target of another heading and local frame does it."""
    found = []
    for clip, heading in enumerate((0.4, -2.0)):
        sway = 0.25 * np.sin(np.linspace(0, 3, 50)[:, None] * (3, 2, 4) + rng.uniform(0, 6, 3))
        yaw = yaw_matrices(turns * np.sin(np.linspace(0, 3, 50) + clip))
        source = yaw @ Rotation.from_rotvec(sway).as_matrix()
        way_off = Rotation.from_rotvec(noise * rng.normal(size=(50, 3))).as_matrix()
        target = yaw_matrices(np.array([heading])) @ source @ (np.eye(3) if offset is None else offset) @ way_off
        found.append((source if tilt is None else tilt @ source, target, np.full(50, clip)))
    source, target, clip = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return RigidPairs(source, np.zeros((100, 3)), target, np.zeros((100, 3)), clip)


def lean(axis, degrees):
    return Rotation.from_rotvec(np.radians(degrees) * np.array(axis)).as_matrix()


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.6, 0.8, 0.0)])
@pytest.mark.parametrize("degrees", [10.0, 25.0, 40.0])
def test_a_tilted_world_is_levelled(rng, axis, degrees):
    level = level_of(pairs(rng, tilt=lean(axis, degrees), offset=lean((0, 0, 1), 30.0)), Bodies(0.5, 0.5, -0.5))
    assert np.degrees(Rotation.from_matrix(level @ lean(axis, degrees)).magnitude()) < 1.5


def test_a_turned_world_tilts_about_a_turned_axis(rng):
    given, turn = pairs(rng, tilt=lean((1, 0, 0), 25.0)), lean((0, 0, 1), 70.0)
    level = level_of(given, SAME)
    moved = RigidPairs(turn @ given.source_rotations, *(vars(given)[name] for name in list(vars(given))[1:]))
    assert np.abs(level_of(moved, SAME) - turn @ level @ turn.T).max() < 1e-3


@pytest.mark.parametrize("offset", [None, lean((1, 0, 0), 25.0), lean((0.6, 0.8, 0), -40.0)])
@pytest.mark.parametrize("turns", [0.0, 1.0])
@pytest.mark.parametrize("noise", [0.0, 0.03, 0.15])
def test_bodies_that_lean_in_a_level_world_tilt_nothing(rng, offset, turns, noise):
    """Nor does a tilt that could as well be the body's, since nobody turns."""
    assert np.array_equal(level_of(pairs(rng, turns, offset=offset, noise=noise), SAME), np.eye(3))
    assert tilt_of(np.eye(3)) == 0.0


def test_a_small_tilt_stays(rng):
    assert np.array_equal(level_of(pairs(rng, tilt=lean((1, 0, 0), 2.0), noise=0.0), SAME), np.eye(3))


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.4])
@pytest.mark.parametrize("axis, degrees", [((1, 0, 0), 0.0), ((1, 0, 0), 25.0), ((1, 0, 0), -25.0), ((0, 1, 0), 25.0)])
def test_where_a_leaning_body_faces_is_told_by_its_parts(yaw, axis, degrees):
    """A torso, arms and legs; leaned by 25 degrees the feet lie far ahead of the hands, seen from above."""
    places = np.array(((0, 0, 0.1), (0.3, 0, 0.3), (-0.3, 0, 0.3), (0.1, 0.03, -0.5), (-0.1, 0.03, -0.5)))
    turned = places @ (lean((0, 0, 1), np.degrees(yaw)) @ lean(axis, degrees)).T
    bodies = [SimpleNamespace(layout=each, size=0.5, captured=each[None], mass=np.ones(5)) for each in (places, turned)]
    assert abs(np.angle(np.exp(1j * (bodies_of(*bodies).yaw - yaw)))) < 0.2
