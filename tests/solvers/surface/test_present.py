"""Objects asked together against each one's own track of distances."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box, height_field
from solvers.core.errors import InputError
from solvers.core.types import MeshTrack, TriangleMesh
from solvers.surface.present import PresentSurfaces
from solvers.surface.track import SurfaceTrack

REACH = 0.4


@pytest.fixture
def objects():
    flat = np.arange(-3.0, 4)
    tracks = [
        height_field("Ground", flat, flat, np.full((7, 7), -0.2)),
        box("Box", [-0.5, -0.4, -0.2], [0.5, 0.4, 0.6]),
        box("Beam", [0.4, -2.0, 0.3], [0.6, 2.0, 0.5]),
    ]
    return [track.state(0) for track in tracks]


def changed(mesh, rng=None):
    """Moved; with a generator dented as well."""
    turn = Rotation.from_rotvec([0.1, 0.5, -0.3]).as_matrix()
    vertices = mesh.vertices @ turn.T + [0.1, -0.2, 0.15]
    if rng is not None:
        vertices = vertices + rng.normal(0, 0.03, vertices.shape)
    return TriangleMesh(mesh.name, vertices, mesh.triangles)


def assert_same(present, meshes, rng):
    points = rng.uniform(-1.5, 1.5, (900, 3))
    which = rng.integers(0, len(meshes), 900)
    found = present.query(points, which, REACH)
    for k, mesh in enumerate(meshes):
        rows = np.flatnonzero(which == k)
        own = SurfaceTrack(MeshTrack(mesh.name, mesh.vertices[None], mesh.triangles))
        hits = own.query(points[rows], np.zeros(len(rows), int), REACH)
        assert np.isfinite(hits.distance).any()
        assert np.array_equal(np.isfinite(hits.distance), np.isfinite(found.distance[rows]))
        near = np.isfinite(hits.distance)
        assert np.abs(hits.distance[near] - found.distance[rows][near]).max() < 1e-9
        assert np.abs(hits.closest - found.closest[rows]).max() < 1e-9
        triangles = rng.integers(0, len(mesh.triangles), 20)
        normal = own.face_normals(triangles, np.zeros(20, int))
        assert np.abs(present.face_normals(triangles, np.full(20, k)) - normal).max() < 1e-12
        assert np.array_equal(present.lo[k], mesh.vertices.min(axis=0))
        assert np.array_equal(present.hi[k], mesh.vertices.max(axis=0))


def test_each_is_asked_as_if_it_were_alone(rng, objects):
    assert_same(PresentSurfaces(objects, REACH), objects, rng)


def test_what_moves_or_changes_is_asked_where_it_is(rng, objects):
    present = PresentSurfaces(objects, REACH)
    shared = present._rows[0]
    assert present.update(objects) == []
    now = [objects[0], changed(objects[1]), objects[2]]
    assert present.update(now) == [1]
    assert_same(present, now, rng)
    assert all(row is shared for row in present._rows)
    now = [objects[0], now[1], changed(objects[2], rng)]
    assert present.update(now) == [2]
    assert_same(present, now, rng)
    assert present._rows[0] is present._rows[1] is shared and present._rows[2] is not shared
    # Again only moved, from its new shape.
    own = present._rows[2]
    now = [changed(objects[0]), now[1], changed(now[2])]
    assert present.update(now) == [0, 2]
    assert_same(present, now, rng)
    assert present._rows[2] is own


def test_arrays_may_be_written_into_again_and_another_topology_is_another_shape(rng, objects):
    present = PresentSurfaces(objects, REACH)
    objects[1].vertices[:] += [0.0, 0.0, 0.3]
    assert present.update(objects) == [1]
    assert_same(present, objects, rng)
    now = [objects[0], TriangleMesh("Box", objects[1].vertices, objects[1].triangles[:, ::-1].copy()), objects[2]]
    assert present.update(now) == [1]
    assert_same(present, now, rng)
    present.update([objects[0], TriangleMesh("Box", 0.0 * objects[1].vertices, objects[1].triangles), objects[2]])
    with pytest.raises(InputError, match="'Box' has no triangle with an area"):
        present.query(np.zeros((1, 3)), np.array([1]), REACH)
