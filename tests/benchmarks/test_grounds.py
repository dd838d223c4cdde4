"""The grounds that flat takes are put on lie where the takes go, and look up."""

import numpy as np
import pytest

from benchmarks import _grounds_cases as table
from benchmarks.datasets import Scene, data_folder
from benchmarks.props import flat_ground
from solvers.surface.ground_heights import GroundHeights
from tests.adapt_walk import march

LEVEL = 0.25


@pytest.fixture(scope="module")
def scene():
    track = march(8)
    return Scene("march", track, {"Ground": flat_ground(track.positions, LEVEL, 1.0)}, {}, 1.7, {})


@pytest.mark.parametrize("make", ["stepped", "inclined", "planks", "terrain"])
def test_a_ground_is_under_all_of_the_way_and_begins_at_its_level(scene, make):
    if make == "terrain" and data_folder() is None:
        pytest.skip("the height map is not there")
    way = table.Way.of(scene)
    options = {"stepped": (table.RISE, table.TREAD), "inclined": (15.0,)}.get(make, ())
    mesh = getattr(table, make)(way, *options)
    ground = GroundHeights(mesh.vertices[0], mesh.triangles, is_faced=True)
    roots = scene.track.positions[:, 0]
    heights = ground(roots)
    assert np.isfinite(heights).all() and abs(heights[0] - LEVEL) < (0.05 if make == "terrain" else 1e-6)


def test_both_marks_have_cases():
    found = {case.mark for case in table.cases()}
    assert found == {table.LOOKED_AT, table.HELD_OUT} and len(table.cases()) == 60
