"""Objects that stand still, move rigidly or deform: one answer a frame, that of the mesh at that frame."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box, carried, height_field
from solvers.core.types import MeshTrack
from solvers.surface.closest_point import SurfaceIndex
from solvers.surface.track import KEPT_STATES, SurfaceTrack, rigid_motion

STATES = 12
REACH = 0.4


def lump(rng):
    """A rounded ground patch without any symmetry."""
    x = np.linspace(-0.6, 0.8, 9)
    return height_field("Lump", x, x, 0.2 * rng.random((9, 9)))


def moving(mesh, seed=3, states=STATES):
    turns = Rotation.random(states, random_state=seed)
    shifts = np.random.default_rng(seed).normal(0, 2, (states, 3))
    return carried(mesh, turns.as_matrix(), shifts)


def deforming(mesh, rng, states=STATES):
    wave = 0.05 * rng.normal(size=(states, *mesh.vertices.shape[1:]))
    return MeshTrack("Jelly", mesh.vertices + wave, mesh.triangles)


def around(mesh, rng, count=400):
    """Points near the object at random frames."""
    frames = rng.integers(0, max(len(mesh.vertices), 1), count)
    spot = rng.integers(0, mesh.vertices.shape[1], count)
    return mesh.vertices[frames, spot] + rng.normal(0, 0.2, (count, 3)), frames


def assert_equal(ours, theirs):
    for name in ("distance", "closest", "normal", "triangle"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))


def assert_as_by_frame(mesh, points, frames, tolerance):
    found = SurfaceTrack(mesh).query(points, frames, REACH)
    distance, normal = found.distance, found.normal
    for frame in np.unique(frames):
        rows = np.flatnonzero(frames == frame)
        state = mesh.state(int(frame))
        hits = SurfaceIndex(state.vertices, state.triangles).query(points[rows], REACH)
        assert np.array_equal(np.isfinite(distance[rows]), np.isfinite(hits.distance))
        near = np.isfinite(hits.distance)
        assert np.abs(distance[rows][near] - hits.distance[near]).max(initial=0.0) <= tolerance
        assert np.abs(normal[rows] - hits.normal).max() <= 100 * tolerance
    assert np.isfinite(distance).any() and np.isinf(distance).any()


@pytest.mark.parametrize("shape", ["lump", "box", "flat"])
def test_rigid_motion_is_found(rng, shape):
    flat = height_field("Flat", np.arange(4.0), np.arange(3.0), np.zeros((4, 3)))
    mesh = {"lump": lump(rng), "box": box("Box", [0, 0, 0], [1, 2, 0.5]), "flat": flat}[shape]
    turns = Rotation.random(STATES, random_state=3)
    track = moving(mesh)
    rotations, shifts = rigid_motion(track.vertices)
    steps = turns * turns[0].inv()
    assert np.abs(rotations - steps.as_matrix()).max() < 1e-9
    carried_back = np.einsum("sab,vb->sva", rotations, track.vertices[0]) + shifts[:, None]
    assert np.abs(carried_back - track.vertices).max() < 1e-12
    assert not SurfaceTrack(track).is_deforming
    assert rigid_motion(track.vertices.astype(np.float32).astype(float)) is not None


CHANGES = {
    "vertex": lambda vertices: np.add.at(vertices, (5, 17, 1), 1e-4),
    "size": lambda vertices: np.multiply.at(vertices, 7, 1.0001),
    "mirror": lambda vertices: np.multiply.at(vertices, (3, ..., 2), -1),
    "shear": lambda vertices: np.add.at(vertices, (2, slice(None), 0), 1e-3 * vertices[2, :, 2]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_rigid_is_not_taken_for_it(rng, change):
    track = moving(lump(rng))
    vertices = track.vertices.copy()
    CHANGES[change](vertices)
    assert rigid_motion(vertices) is None
    assert SurfaceTrack(MeshTrack("Odd", vertices, track.triangles)).is_deforming


def test_a_still_object_is_the_index_itself(rng):
    mesh = lump(rng)
    points, _ = around(mesh, rng)
    frames = rng.integers(0, 100, len(points))
    found = SurfaceTrack(mesh).query(points, frames, REACH)
    distance, normal = found.distance, found.normal
    hits = SurfaceIndex(mesh.vertices[0], mesh.triangles).query(points, REACH)
    assert np.array_equal(distance, hits.distance) and np.array_equal(normal, hits.normal)


def test_a_rigid_object_answers_as_its_mesh_at_each_frame(rng):
    track = moving(lump(rng))
    points, frames = around(track, rng)
    assert_as_by_frame(track, points, frames, 1e-11)
    surface = SurfaceTrack(track)
    back = surface.to_first_state(points, frames)
    hits = SurfaceIndex(track.vertices[0], track.triangles).query(back, REACH)
    near = np.isfinite(hits.distance)
    assert np.allclose(surface.query(points, frames, REACH).distance[near], hits.distance[near], atol=1e-12)


def test_a_deforming_object_answers_as_its_mesh_at_each_frame(rng):
    mesh = deforming(lump(rng), rng)
    points, frames = around(mesh, rng)
    assert SurfaceTrack(mesh).is_deforming
    assert_as_by_frame(mesh, points, frames, 0.0)


def test_more_states_than_are_kept(rng):
    mesh = deforming(box("Box", [0, 0, 0], [1, 2, 0.5]), rng, KEPT_STATES + 9)
    points, frames = around(mesh, rng)
    surface = SurfaceTrack(mesh)
    first = surface.query(points, frames, REACH)
    again = surface.query(points, frames, REACH)
    assert all(np.array_equal(a, b) for a, b in zip(vars(first).values(), vars(again).values(), strict=True))
    assert_as_by_frame(mesh, points, frames, 0.0)


def test_a_point_does_not_depend_on_the_others(rng):
    for track in (moving(lump(rng)), deforming(lump(rng), rng), lump(rng)):
        points, frames = around(track, rng, 50)
        surface = SurfaceTrack(track)
        whole = surface.query(points, frames, REACH)
        for i in range(0, 50, 7):
            alone = surface.query(points[[i]], frames[[i]], REACH)
            assert alone.distance == whole.distance[i]
            assert np.array_equal(alone.normal[0], whole.normal[i])
        assert len(surface.query(np.empty((0, 3)), np.empty(0, int), REACH).distance) == 0
