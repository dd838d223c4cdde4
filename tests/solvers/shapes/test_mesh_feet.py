"""Feet of meshes: found on made bodies however they are split, placed and scaled, and on real animals and fish."""

import numpy as np
import pytest

from benchmarks.datasets import data_folder
from benchmarks.mesh_sequences import mesh_sequence
from solvers.core.errors import InputError
from solvers.shapes.mesh_feet import MeshFeet, find_feet, lowest_ground

_BOX = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                 [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip
FRAMES = 16


def box(places, size):
    """Vertices (F, 8, 3) of boxes on places (F, 3)."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)]) * size
    return np.asarray(places, float)[:, None] + corners


def stepper():
    """A trunk on four blocks that step in turn, 1.5 high in all: vertices (F, 40, 3) and triangles."""
    phase = 2 * np.pi * np.arange(FRAMES) / FRAMES
    out = [box(np.tile([0.0, 0.0, 0.5], (FRAMES, 1)), (0.6, 1.6, 1.0))]
    for number in range(4):
        x, y = (-0.3, 0.3)[number % 2], (-0.6, 0.6)[number // 2]
        lift = 0.2 * np.maximum(np.sin(phase + number * np.pi / 2), 0.0)
        out.append(box(np.stack((x + 0 * lift, y + 0.3 * np.cos(phase), lift), axis=1), (0.2, 0.2, 0.05)))
    return np.concatenate(out, axis=1), np.concatenate([_BOX + 8 * number for number in range(5)])


def sets(feet):
    return [set(foot.vertices.tolist()) for foot in feet.feet]


def test_each_block_is_a_foot_and_its_lower_side_the_sole():
    vertices, triangles = stepper()
    feet = find_feet(vertices, triangles, 0.0)
    assert sets(feet) == [set(range(8 * number, 8 * number + 8)) for number in range(1, 5)]
    assert feet.height == pytest.approx(1.5)
    for number, foot in enumerate(feet.feet, start=1):
        assert set(foot.sole.tolist()) <= {8 * number + corner for corner in (0, 2, 4, 6)} and len(foot.sole) == 2
        assert foot.low == pytest.approx(0.025) and 0.15 < foot.high < 0.226
    np.testing.assert_allclose(feet.centroids(vertices)[:, 2], vertices[:, 24:32].mean(axis=1))
    np.testing.assert_allclose(feet.soles(vertices[3])[1], vertices[3, feet.feet[1].sole].mean(axis=0))


def test_seams_order_place_and_unit_do_not_matter(rng):
    vertices, triangles = stepper()
    split, corners = vertices[:, triangles.ravel()], np.arange(triangles.size).reshape(-1, 3)
    found = [{int(triangles.ravel()[vertex]) for vertex in foot} for foot in sets(find_feet(split, corners, 0.0))]
    assert found == sets(find_feet(vertices, triangles, 0.0))
    order = rng.permutation(vertices.shape[1])
    moved = find_feet(7.0 * vertices[:, order] + [3, -4, 20], np.argsort(order)[triangles], 20.0)
    back = sorted(({int(order[vertex]) for vertex in foot} for foot in sets(moved)), key=min)
    assert back == sets(find_feet(vertices, triangles, 0.0)) and moved.height == pytest.approx(10.5)


def test_a_shoe_of_pieces_is_one_foot_and_a_tassel_is_none():
    vertices, triangles = stepper()
    sole = vertices[:, 8:16] + [0.0, 0.05, 0.0]
    tassel = np.tile([0.0, 0.9, 0.0], (FRAMES, 1, 1))
    feet = find_feet(np.concatenate((vertices, sole, tassel), axis=1), np.concatenate((triangles, _BOX + 40)), 0.0)
    assert sets(feet)[0] == {*range(8, 16), *range(40, 48)} and len(feet) == 4


@pytest.mark.parametrize("beat, count", ((1.0, 0), (0.4, 2)))
def test_the_tips_of_wings_that_beat_are_no_feet(beat, count):
    """They come lowest of all; what goes up and down by less than the body is tall may be a foot."""
    up = beat * np.cos(2 * np.pi * np.arange(FRAMES) / FRAMES)
    tips = [box(np.stack((x + 0 * up, 0 * up, up), axis=1), (0.3, 0.3, 0.1)) for x in (-1.5, 1.5)]
    bird = np.concatenate((box(np.tile([0.0, 0.0, -0.3], (FRAMES, 1)), (0.6, 1.6, 0.6)), *tips), axis=1)
    triangles = np.concatenate([_BOX + 8 * number for number in range(3)])
    assert len(find_feet(bird, triangles, lowest_ground(bird), np.arange(24) >= 8)) == count


def test_what_floats_lies_or_may_not_stand_has_no_feet():
    vertices, triangles = stepper()
    assert len(find_feet(vertices, triangles, -2.0)) == 0
    assert len(find_feet(vertices, triangles, 2.0)) == 0  # it lies wholly below it
    assert len(find_feet(box(np.zeros((3, 3)), (1.0, 3.0, 0.5)), _BOX, 0.0)) == 0
    fin = np.concatenate((vertices[:, :8], box(np.zeros((FRAMES, 3)), (0.05, 0.05, 0.05))), axis=1)
    assert len(find_feet(fin, np.concatenate((_BOX, _BOX + 8)), 0.0)) == 0
    front = find_feet(vertices, triangles, 0.0, np.arange(40) < 24)
    assert sets(front) == sets(find_feet(vertices, triangles, 0.0))[:2]
    assert len(find_feet(vertices, triangles, 0.0, np.zeros(40, bool))) == 0


@pytest.mark.parametrize("ground", (0.0, 2.0))
def test_arrays_make_the_same_feet_again(ground):
    vertices, triangles = stepper()
    feet = find_feet(vertices, triangles, ground)
    again = MeshFeet.from_arrays(feet.to_arrays())
    assert (again.height, again.ground, len(again)) == (feet.height, feet.ground, len(feet))
    for one, other in zip(feet.feet, again.feet, strict=True):
        np.testing.assert_array_equal(one.vertices, other.vertices)
        np.testing.assert_array_equal(one.sole, other.sole)
        assert (one.low, one.high) == (other.low, other.high)
    assert again.soles(vertices).shape == (FRAMES, len(feet), 3)


def test_what_cannot_be_is_refused():
    vertices, triangles = stepper()
    with pytest.raises(InputError, match="shape"):
        find_feet(vertices[0], triangles, 0.0)
    with pytest.raises(InputError, match="names vertex"):
        find_feet(vertices[:, :20], triangles, 0.0)
    with pytest.raises(InputError, match="not a number"):
        find_feet(vertices, triangles, np.nan)


@pytest.mark.captures
@pytest.mark.skipif(data_folder() is None, reason="the folder of captures is not there")
@pytest.mark.parametrize("name, expected", [("horse_gallop", 4), ("human_samba", 2)])
def test_captured_bodies_have_the_feet_that_one_sees(name, expected):
    vertices, triangles = mesh_sequence(name)
    vertices = vertices[..., [0, 2, 1]] * [1, -1, 1]
    feet = find_feet(vertices, triangles, lowest_ground(vertices))
    assert len(feet) == expected
    sizes = [len(foot.vertices) for foot in feet.feet]
    assert max(sizes) < 1.6 * min(sizes)
