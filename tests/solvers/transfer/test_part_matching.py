"""Limbs that answer to each other: whatever the order, place, size and heading, and never mirrored."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.part_matching import match_parts, standing_axis
from solvers.transfer.part_suggestion import suggest_parts
from tests.standing import captured, turned


def block(rng, low, high, count=200):
    return rng.uniform(low, high, (count, 3))


def person(rng, arms=1.0, feet=0.25):
    """Points of a torso, left and right legs and left and right arms, facing -y; memberships."""
    pieces = [block(rng, (-0.2, -0.1, 0.8), (0.2, 0.1, 1.5))]
    for side in (1, -1):
        leg = block(rng, (0.05, -0.05, 0.0), (0.17, 0.07, 0.85))
        foot = block(rng, (0.05, -feet, 0.0), (0.17, 0.07, 0.05), 60)
        pieces.append(np.concatenate((leg, foot)) * [side, 1, 1])
    pieces += [block(rng, (0.15, -0.05, 1.35), (0.15 + 0.6 * arms, 0.05, 1.45)) * [side, 1, 1] for side in (1, -1)]
    owner = np.repeat(np.arange(5), [len(piece) for piece in pieces])
    return np.concatenate(pieces), owner == np.arange(5)[:, None]


@pytest.mark.parametrize("yaw", [0.0, 0.7, 1.6, np.pi, -2.4])
def test_any_order_place_size_and_heading(rng, yaw):
    source, of_source = person(rng)
    target, of_target = person(rng, arms=1.15, feet=0.3)
    order = np.array([0, 3, 1, 4, 2])
    found = match_parts(source, of_source, 1.7 * turned(target, yaw) + [3, 1, 2], of_target[order])
    assert np.array_equal(order[found], np.arange(5))


def test_a_mirror_image_is_not_the_same(rng):
    """Of a pose with one arm ahead, its mirror image shows the other arm ahead: still left answers to left."""
    source, of_source = person(rng)
    source[of_source[3]] += [-0.3, -0.4, 0.0]
    target, of_target = person(rng)
    target[of_target[3]] += [-0.3, -0.4, 0.0]
    target[of_target[4]] += [0.1, -0.1, 0.0]
    assert np.array_equal(match_parts(source, of_source, target, of_target), np.arange(5))


def test_where_front_is_as_good_as_back_the_smaller_turn_counts(rng):
    source, of_source = person(rng, feet=0.05)
    source, of_source = source[::2], of_source[:, ::2]
    source = np.concatenate((source, source * [1, -1, 1], source * [-1, 1, 1], source * [-1, -1, 1]))
    both = np.concatenate((np.tile(of_source, 2), np.tile(of_source[[0, 2, 1, 4, 3]], 2)), axis=1)
    for yaw, expected in ((0.3, [0, 1, 2, 3, 4]), (-0.3, [0, 1, 2, 3, 4]), (np.pi - 0.3, [0, 2, 1, 4, 3])):
        assert np.array_equal(match_parts(source, both, turned(source, yaw), both), expected)


@pytest.mark.parametrize("stride", [0.5, -0.5])
def test_limbs_in_other_poses(stride):
    """One walks with the left leg ahead, the other with the right: where limbs join the torso tells."""
    rng = np.random.default_rng(7)
    source, of_source = person(rng)
    target, of_target = person(rng)
    for vertices, masks, ahead in ((source, of_source, stride), (target, of_target, -stride)):
        for legs, sign in ((1, 1), (2, -1)):
            leg = vertices[masks[legs]]
            # The band stays, the foot goes farthest.
            leg[:, 1] += sign * ahead * (0.85 - leg[:, 2])
            vertices[masks[legs]] = leg
        joints = vertices[:, 2] > 0.75
        masks[0] |= joints & masks[1:3].any(axis=0)
        masks[0] |= (np.abs(vertices[:, 0]) < 0.3) & masks[3:].any(axis=0)
    assert np.array_equal(match_parts(source, of_source, turned(target, 0.4), of_target), np.arange(5))


@pytest.mark.captures
def test_a_horse_at_any_two_moments_of_its_gallop():
    vertices, triangles = captured("horse_gallop")
    frames = vertices[[0, 5, 10, 15, 20]]
    parts = suggest_parts(frames[0], triangles, 6)
    order = np.array([0, 3, 1, 5, 4, 2])
    for one in frames:
        for other in frames:
            found = match_parts(one, parts, turned(other, 1.0), parts[order])
            assert np.array_equal(order[found], np.arange(6))


def test_what_does_not_fit_and_no_limb(rng):
    source, of_source = person(rng)
    assert np.array_equal(match_parts(source, of_source[:1], source, of_source[:1]), [0])
    empty = of_source.copy()
    empty[2] = False
    for one, other, words in (
        (of_source, of_source[:4], "5 parts and the target 4"),
        (empty, of_source, "Part 2 has no vertex"),
    ):
        with pytest.raises(InputError, match=words):
            match_parts(source, one, source, other)


@pytest.mark.captures
@pytest.mark.parametrize("count", [5, 6])
def test_two_people_who_face_each_other(count):
    """Both stand with hanging arms; one looks along x, the other against it, so their left sides are opposite."""
    sides, bodies = [], []
    for name in ("human_samba", "human_crane"):
        vertices, triangles = captured(name)
        parts = suggest_parts(vertices[0], triangles, count)
        bodies += [vertices[0], parts]
        sides.append([vertices[0, part].mean(axis=0) - vertices[0, parts[0]].mean(axis=0) for part in parts])
    mine, other = np.array(sides[0]), np.array(sides[1])[match_parts(*bodies)]
    assert np.abs(mine[:, 2] - other[:, 2]).max() < 0.25
    assert (mine[1:5, 1] * other[1:5, 1] < 0.0).all()


UPRIGHT = {"Y": [0, 2, 1], "-Y": [0, 2, 1], "X": [2, 1, 0], "-X": [2, 1, 0], "-Z": [0, 1, 2]}
SIGNS = {"Y": [1, 1, -1], "-Y": [1, -1, 1], "X": [1, 1, -1], "-X": [-1, 1, 1], "-Z": [1, -1, -1]}


@pytest.mark.parametrize("axis", UPRIGHT)
@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_a_body_that_stands_along_another_axis_is_told(rng, axis, yaw):
    source, of_source = person(rng)
    target, of_target = person(rng, arms=1.15, feet=0.3)
    order = np.array([0, 3, 1, 4, 2])
    lying = turned(source, yaw)[:, UPRIGHT[axis]] * SIGNS[axis]
    assert standing_axis(lying, of_source, 1.7 * target + 2.0, of_target[order]) == axis
    assert standing_axis(turned(source, yaw), of_source, 1.7 * target + 2.0, of_target[order]) is None


@pytest.mark.captures
def test_bodies_of_another_kind_stand_as_they_are():
    """A person on a horse's parts, and the other way: nothing fits, and nothing is said."""
    sides = []
    for name in ("human_crane", "horse_gallop"):
        vertices, triangles = captured(name)
        sides.append((vertices[0], suggest_parts(vertices[0], triangles)))
    assert standing_axis(*sides[0], *sides[1]) is None and standing_axis(*sides[1], *sides[0]) is None
    (vertices, parts), _ = sides
    assert standing_axis(vertices[:, [0, 2, 1]] * [1, 1, -1], parts, vertices, parts) == "Y"
