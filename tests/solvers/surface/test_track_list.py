"""Several objects asked together answer as each of them does by itself."""

import numpy as np
import pytest

from benchmarks.props import box
from solvers.core.types import MeshTrack
from solvers.surface.track import SurfaceTrack
from solvers.surface.track_list import SurfaceTracks

FRAMES, REACH = 6, 0.5
NAMES = ("distance", "closest", "normal", "triangle", "feature")


@pytest.fixture
def objects(rng):
    """One that stands still, one that is carried and one that wobbles."""
    still, jelly = box("Still", [-1, -1, -0.5], [1, 1, -0.1]), box("Jelly", [0, 0, 0.2], [0.6, 0.6, 0.5])
    lift = np.linspace(0, 0.5, FRAMES)[:, None, None] * [0, 0, 1.0]
    return [
        SurfaceTrack(still),
        SurfaceTrack(MeshTrack("Lift", still.vertices + lift, still.triangles)),
        SurfaceTrack(MeshTrack("Jelly", jelly.vertices + 0.05 * rng.normal(size=(FRAMES, 8, 3)), jelly.triangles)),
    ]


def test_each_point_is_answered_by_its_object_at_its_frame_within_its_reach(rng, objects):
    points = rng.uniform(-1, 1, (400, 3))
    obj, frame = rng.integers(0, 3, 400), rng.integers(0, FRAMES, 400)
    reach = rng.choice([REACH, 0.2], 400)
    tracks = SurfaceTracks(objects, FRAMES)
    hits = tracks.query(points, obj * FRAMES + frame, reach)
    normals = tracks.face_normals(np.full(400, 2), obj * FRAMES + frame)
    for m in range(400):
        one = objects[obj[m]].query(points[[m]], frame[[m]], reach[m])
        for name in NAMES:
            assert np.array_equal(getattr(hits, name)[m], getattr(one, name)[0])
        assert np.array_equal(normals[m], objects[obj[m]].face_normals(np.array([2]), frame[[m]])[0])
    assert 0 < np.isfinite(hits.distance).sum() < 400


def test_one_reach_serves_all_points_and_nothing_is_known_before(rng, objects):
    points, number = rng.uniform(-1, 1, (50, 3)), rng.integers(0, 3 * FRAMES, 50)
    tracks = SurfaceTracks(objects, FRAMES)
    one, each = tracks.query(points, number, REACH), tracks.query(points, number, np.full(50, REACH))
    assert np.array_equal(one.distance, each.distance)
    near = np.abs(one.distance)
    assert (tracks.at_least(points, number) <= near).all()
