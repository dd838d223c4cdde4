"""A body that stands along another axis than Z is told by what it does; one that stands along Z never is."""

import numpy as np
import pytest

from benchmarks._map_source import CLIPS, clip
from benchmarks.datasets import data_file
from benchmarks.glb_clip import GlbClip
from benchmarks.mesh_sequences import mesh_sequence
from solvers.core.errors import InputError
from solvers.mapping.up_axis import up_axis_doubt
from solvers.rotations.rigid import turned
from tests.stepping_bodies import stepper

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


@pytest.mark.parametrize("heading", [0.0, 0.5, 3.0])
def test_who_steps_on_the_spot_along_another_axis_is_doubted(heading):
    points = stepper(np.linspace(0.0, 2.0, 61), duty=0.6)
    points[..., :2] = turned(points[..., :2], np.full(points.shape[:2], heading))
    assert up_axis_doubt(points) is None
    found = up_axis_doubt(100.0 * stood(points, Y_UP) + [5.0, -7.0, 90.0])
    assert (found.axis, found.rise, found.turn) == ("Y", 0.0, 0.0) and "feet that take turns" in found.text


def test_who_stands_hops_or_flies_between_steps_is_not(rng):
    standing = stepper(np.zeros(61)) + 0.01 * rng.normal(size=(61, 1, 1))
    hopping = stepper(np.linspace(0.0, 2.0, 61), duty=0.6, offset=0.0)
    flying = stepper(np.linspace(0.0, 2.0, 61), duty=0.15)
    for points in (standing, hopping, flying):
        assert up_axis_doubt(points) is None and up_axis_doubt(stood(points, Y_UP)) is None


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


@pytest.mark.captures
def test_rigs_that_step_on_the_spot_are_doubted_only_with_y_up():
    """At every heading, whatever they do: none of all that are right is, and walks are with Y up."""
    rigs = {"nonhumanoid_rigs/quaternius/Trex": "TRex_", "quadruped_rigs/quaternius/Cow": ""}
    doubted = []
    for rig, action in (
        (rig, action) for rig in rigs for action in ("Walk", "Run", "Gallop", "Idle", "Idle_2", "Eating")
    ):
        try:
            body = GlbClip(data_file(f"{rig}.glb"), rigs[rig] + action)
        except InputError:
            continue
        points = body.vertices(np.linspace(0.0, body.seconds, 60, endpoint=False))[:, ::5]
        for heading in np.arange(0.0, 2.0 * np.pi, np.pi / 4.0):
            there = points.copy()
            there[..., :2] = turned(points[..., :2], np.full(points.shape[:2], heading))
            assert up_axis_doubt(there) is None, (rig, action, heading)
        doubted += [rigs[rig] + action] * (up_axis_doubt(stood(points, Y_UP)) is not None)
    assert {"TRex_Walk", "Walk"} <= set(doubted)
    cat, _ = mesh_sequence("walking_cat")
    assert up_axis_doubt(cat).axis == "Y" and up_axis_doubt(cat[..., [0, 2, 1]] * [1, -1, 1]) is None
