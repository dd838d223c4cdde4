"""A body whose world is tilted is told by how it leans while it turns round; none whose world is level ever is."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks._map_source import CLIPS, clip
from solvers.mapping.world_tilt import world_level
from solvers.transfer.level import tilt_of


def leaned(axis, degrees):
    return Rotation.from_rotvec(np.radians(degrees) * np.array(axis)).as_matrix()


def turner(rng, turns, sway=0.1, lean=0.0):
    """A body of 14 points that sways, leans forward, and turns round so many times in all."""
    time = np.linspace(0, 1, 90)
    rest = rng.normal(0, [0.3, 0.2, 0.5], (14, 3)) @ leaned((1, 0, 0), lean).T
    swings = Rotation.from_rotvec(sway * np.sin(time[:, None] * (7, 11, 5) + rng.uniform(0, 6, 3)))
    yaw = Rotation.from_rotvec(np.outer(2 * np.pi * turns * time, (0, 0, 1)))
    return np.einsum("fij,nj->fni", (yaw * swings).as_matrix(), rest)


@pytest.mark.parametrize("turns", [0.8, -3.0])
@pytest.mark.parametrize("axis, degrees", [((1, 0, 0), 10.0), ((0.6, -0.8, 0), 25.0)])
def test_a_tilted_world_is_levelled_wherever_and_however_large_it_is(rng, turns, axis, degrees):
    points, tilt = turner(rng, turns, lean=30.0), leaned(axis, degrees)
    level = world_level(points @ tilt.T)
    assert np.degrees(tilt_of(level @ tilt)) < 3.0
    gaps = np.where(rng.uniform(size=points.shape[:2])[..., None] < 0.02, np.nan, 50.0 * points @ tilt.T + [5, -7, 9])
    gaps[:, 3] = np.nan
    assert np.degrees(tilt_of(world_level(gaps) @ tilt)) < 4.0


@pytest.mark.parametrize("turns, lean, degrees", [(3.0, 0.0, 0.0), (3.0, 30.0, 0.0), (0.1, 0.0, 25.0), (2.0, 0.0, 2.0)])
def test_a_body_that_leans_by_itself_or_hardly_turns_tells_nothing(rng, turns, lean, degrees):
    points = turner(rng, turns, lean=lean) @ leaned((1, 0, 0), degrees).T
    assert np.array_equal(world_level(points), np.eye(3))


def test_what_is_too_little_tells_nothing():
    for few in (np.zeros((2, 9, 3)), np.zeros((9, 2, 3)), np.full((9, 5, 3), np.nan), np.zeros((0, 5, 3))):
        assert np.array_equal(world_level(few), np.eye(3))


@pytest.mark.captures
def test_captures_are_level_and_one_that_turns_all_round_is_levelled():
    """They were looked at while the rule was made."""
    tilt, found = leaned((0.6, 0.8, 0), 20.0), {}
    for name, what in CLIPS.items():
        points, _ = clip(*what)
        assert np.array_equal(world_level(points), np.eye(3)), name
        found[name] = world_level(points @ tilt.T)
    assert np.degrees(tilt_of(found["terrain"] @ tilt)) < 3.0
