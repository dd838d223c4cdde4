"""A body that stands along another axis than Z is told by what it does; one that stands along Z never is."""

import numpy as np
import pytest

from benchmarks._map_source import CLIPS, clip
from solvers.mapping.up_axis import up_axis_doubt
from solvers.rotations.rigid import turned

Y_UP, X_UP = [0, 2, 1], [2, 0, 1]  # where the coordinates of a body with Z up go, and signs beside them
FRAMES = 120


def stood(points, order):
    """The same body along another axis, no mirror."""
    sign = [1, 1, -1] if order == Y_UP else [1, 1, 1]
    return points[..., order] * sign


def walker(rng, length=0.0, turn=0.0, lift=0.0):
    """A body of 14 points that swings, goes along a line, turns about Z and rises, in all."""
    time = np.linspace(0, 1, FRAMES)
    swing = 0.05 * np.sin(20 * time[:, None, None] + rng.uniform(0, 6, (14, 3)))
    points = rng.normal(0, [0.3, 0.2, 0.5], (14, 3)) + swing
    points[..., :2] = turned(points[..., :2], turn * time[:, None])
    return points + np.stack((0.6 * length * time, length * time, lift * time), axis=-1)[:, None]


@pytest.mark.parametrize(("length", "turn"), [(4.0, 0.3), (0.0, 3.0)])
def test_who_goes_along_z_or_turns_about_another_axis_is_doubted(rng, length, turn):
    points = walker(rng, length, turn)
    assert up_axis_doubt(points) is None
    found = up_axis_doubt(stood(points, Y_UP))
    assert found.axis == "Y" and "stand along Y" in found.text
    assert (found.rise > 2.5) == (length > 0.0) and (found.turn > 2.0) == (turn > 2.0)
    assert up_axis_doubt(stood(points, X_UP)) is None or turn < 2.0  # else a somersault may be meant


@pytest.mark.parametrize(("length", "lift", "turn"), [(0, 0, 0.5), (3, 3, 0.5), (0.5, 0.2, 0.5), (0, 0, 12.0)])
def test_who_stands_or_climbs_is_not(rng, length, lift, turn):
    assert up_axis_doubt(walker(rng, length, turn, lift)) is None


def test_a_fall_and_what_is_too_little_are_not(rng):
    fall = walker(rng)
    angle = np.clip(np.linspace(-1, 2, FRAMES), 0, 1) * np.pi / 2
    fall[..., [0, 2]] = turned(fall[..., [0, 2]], angle[:, None])
    assert up_axis_doubt(fall) is None
    points = stood(walker(rng, 4.0), Y_UP)
    for few in (points[:2], points[:, :2], np.full((9, 5, 3), np.nan), np.zeros((9, 5, 3)), points[:0]):
        assert up_axis_doubt(few) is None


def test_size_place_and_gaps_do_not_matter(rng):
    points = stood(walker(rng, 4.0, 1.0), Y_UP)
    gaps = np.where(rng.uniform(size=points.shape[:2])[..., None] < 0.02, np.nan, 100.0 * points + [5.0, -7.0, 90.0])
    gaps[:, 3] = np.nan
    assert up_axis_doubt(gaps).rise == pytest.approx(100.0 * up_axis_doubt(points).rise, rel=0.1)


@pytest.mark.captures
def test_captures_are_doubted_only_with_another_axis_up():
    """Those that travel or turn; none of all that are right is. They were looked at while the rule was made."""
    doubted = []
    for name, what in CLIPS.items():
        points, _ = clip(*what)
        assert up_axis_doubt(points) is None, name
        doubted += [name] * (up_axis_doubt(stood(points, Y_UP)) is not None)
    assert {"dog walk", "dog turn", "giant walk", "terrain"} <= set(doubted)
