"""Points brought over to a surface that takes the place of another one."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box, height_field
from solvers.core.errors import InputError
from solvers.core.types import MeshTrack
from solvers.surface.closest_point import SurfaceIndex
from solvers.surface.descriptor_frames import DescriptorPoints, descriptor_frames
from solvers.surface.facing_places import nearest_facing
from solvers.surface.point_transfer import Levels, along_gravity, by_closest_point, stood_on

CORNERS = 25
WAY = np.column_stack((np.linspace(-0.8, 0.8, 30), np.zeros(30)))


def hills():
    x = np.linspace(-2.0, 2.0, 21)
    return height_field("Hills", x, x, 0.2 * np.sin(2.0 * x)[:, None] * np.cos(x))


def stage():
    return box("Stage", [-1.0, -1.0, -0.3], [1.0, 1.0, 0.0])


def moved(mesh, rotation, shift):
    return MeshTrack(mesh.name, mesh.vertices @ rotation.T + shift, mesh.triangles)


def together(*meshes):
    start = np.cumsum([0, *(mesh.vertices.shape[1] for mesh in meshes)])
    triangles = [mesh.triangles + first for mesh, first in zip(meshes, start[:-1], strict=True)]
    return MeshTrack("Several", np.concatenate([mesh.vertices for mesh in meshes], axis=1), np.concatenate(triangles))


def points_on(mesh, rng, count=200):
    """Anywhere on its triangles, on their edges and at their corners."""
    triangle = rng.integers(len(mesh.triangles), size=count)
    share = rng.dirichlet(np.ones(3), size=count)
    share[: count // 4, 0] = 0.0
    share[:CORNERS, 1] = 0.0
    share /= share.sum(axis=1, keepdims=True)
    return tuple(part[0] for part in descriptor_frames(DescriptorPoints(np.zeros(count, int), triangle, share), [mesh]))


def over(points, mesh, eye=0.9, way=WAY):
    state = mesh.state(0)
    ground = stood_on(state)
    levels = ground and Levels.along(ground, way, eye, 0.5)
    return along_gravity(*points, state, ground, levels, 0.6, 1.0)


@pytest.mark.parametrize("make", [hills, stage])
@pytest.mark.parametrize("go", [over, lambda points, mesh: by_closest_point(*points, mesh.state(0))])
def test_a_copy_of_the_surface_changes_nothing(make, go, rng):
    mesh = make()
    points = points_on(mesh, rng)
    order = rng.permutation(len(mesh.triangles))
    copy = MeshTrack("Copy", mesh.vertices.copy(), np.roll(mesh.triangles[order], 1, axis=1))
    found = go(points, copy)
    assert found.found.all()
    origins, axes = found.frames(copy)
    assert np.abs(origins[0] - points[0]).max() < 5e-6
    # At corners several faces are the nearest.
    assert np.abs(axes[0] - points[1])[CORNERS:].max() < 1e-6


def test_a_copy_that_is_lifted_lifts_the_points(rng):
    points = points_on(hills(), rng)
    found = over(points, moved(hills(), np.eye(3), [0.0, 0.0, 0.4]))
    assert found.found.all()
    assert np.abs(found.origins - points[0] - [0.0, 0.0, 0.4]).max() < 1e-9
    assert np.abs(found.axes - points[1]).max() < 1e-6


def test_what_is_turned_about_gravity_is_found_alike(rng):
    flat = points_on(stage(), rng)
    turn, shift = Rotation.from_euler("z", 40.0, degrees=True).as_matrix(), np.array([2.0, -1.0, 0.7])
    here = over(flat, hills())
    there = over(
        (flat[0] @ turn.T + shift, turn @ flat[1]), moved(hills(), turn, shift), 1.6, WAY @ turn[:2, :2].T + shift[:2]
    )
    assert (here.found == there.found).all()
    assert np.abs(here.origins @ turn.T + shift - there.origins).max() < 1e-6
    assert np.abs(turn @ here.axes - there.axes).max() < 1e-6


def wall(x=0.6, thick=0.1):
    return box("Wall", [x, -1.0, 0.0], [x + thick, 3.0, 2.0])


@pytest.mark.parametrize("shift", [-0.2, -0.12, -0.1, -0.08, -0.02, 0.3, 1.0])
@pytest.mark.parametrize("go", [over, lambda points, mesh: by_closest_point(*points, mesh.state(0))])
def test_the_front_of_a_wall_goes_to_its_front(go, shift, rng):
    """Nearer by more than half of its thickness, its back is nearer than its front."""
    points = points_on(wall(), rng)
    front = points[1][:, 0, 0] < -0.9
    points = tuple(part[front] for part in points)
    found = go(points, wall(0.6 + shift))
    assert front.sum() > 20 and found.found.all()
    assert np.abs(found.origins - points[0] - [shift, 0.0, 0.0]).max() < 1e-9
    assert np.abs(found.axes - points[1]).max() < 1e-6


@pytest.mark.parametrize("least", [-0.5, 0.1, 0.5])
def test_the_nearest_place_that_faces_alike_is_the_nearest_of_all_such(least, rng):
    """Against every face by itself, asked one after the other."""
    turns = Rotation.random(3, random_state=rng).as_matrix()
    mesh = together(*(moved(stage(), turn, rng.normal(size=3)) for turn in turns)).state(0)
    points, normals = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    corners = mesh.vertices[mesh.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    alone = [SurfaceIndex(corner, [[0, 1, 2]]).query(points, np.inf).closest for corner in corners]
    far = np.linalg.norm(np.stack(alone, axis=1) - points[:, None], axis=2)
    far[normals @ faces.T <= least] = np.inf
    triangle, places = nearest_facing(mesh, points, normals, least, 0.8)
    expected = far.min(axis=1)
    assert ((triangle >= 0) == (expected <= 0.8)).all() and 5 < (triangle >= 0).sum()
    hit = triangle >= 0
    assert np.abs(np.linalg.norm(places - points, axis=1) - expected)[hit].max() < 2e-6
    assert (np.einsum("nk,nk->n", faces[triangle], normals)[hit] > least).all()
    assert (places[~hit] == points[~hit]).all()


def test_the_order_of_points_does_not_matter(rng):
    points = points_on(stage(), rng)
    order = rng.permutation(len(points[0]))
    found, other = over(points, hills()), over(tuple(part[order] for part in points), hills())
    assert (found.origins[order] == other.origins).all() and (found.found[order] == other.found).all()


def test_normals_turn_with_the_ground_and_headings_stay(rng):
    x = np.linspace(-2.0, 2.0, 9)
    ramp = height_field("Ramp", x, x, np.broadcast_to(0.25 * x[:, None], (9, 9)).copy())
    points = points_on(height_field("Floor", x, x, np.zeros((9, 9))), rng)
    found = over(points, ramp)
    up = np.array([-0.25, 0.0, 1.0]) / np.hypot(0.25, 1.0)
    assert np.abs(found.axes[..., 0] - up).max() < 1e-9
    assert np.abs(found.origins[:, 2] - 0.25 * points[0][:, 0]).max() < 1e-9
    assert np.abs(found.origins[:, :2] - points[0][:, :2]).max() < 1e-12


@pytest.mark.parametrize(("height", "expected"), [(2.2, 0.0), (0.4, 0.4)])
def test_a_roof_is_not_stood_on_and_a_step_is(height, expected, rng):
    floor = height_field("Floor", np.linspace(-3, 3, 13), np.linspace(-3, 3, 13), np.zeros((13, 13)))
    above = box("Above", [-0.5, -3.0, height - 0.1], [3.0, 3.0, height])
    points = points_on(moved(stage(), np.diag([1.0, 1.0, 1.0]), [0.0, 0.0, 0.0]), rng)
    flat = points[1][:, 2, 0] > 0.9
    found = over(tuple(part[flat] for part in points), together(floor, above))
    under = found.origins[:, 0] > -0.4
    assert found.found.all() and np.abs(found.origins[under, 2] - expected).max() < 1e-9
    assert np.abs(found.origins[found.origins[:, 0] < -0.6, 2]).max() < 1e-9


def test_points_without_ground_go_along_with_the_nearest_one_that_has_some(rng):
    points = points_on(height_field("Floor", WAY[:, 0], WAY[:, 0], np.zeros((30, 30))), rng)
    half = box("Half", [-2.0, -2.0, -0.2], [0.0, 2.0, 0.25])
    found = over(points, half)
    assert (found.found == (points[0][:, 0] <= 1e-6)).all()
    assert np.abs(found.origins[:, 2] - 0.25).max() < 1e-9
    again = found.frames(moved(half, np.eye(3), [0.0, 0.0, 0.1]))[0][0]
    assert np.abs(again[found.found, 2] - 0.35).max() < 1e-9


def test_a_ground_that_moves_carries_its_points(rng):
    points = points_on(stage(), rng)
    found = over(points, hills())
    turn, shift = Rotation.from_euler("x", 10.0, degrees=True).as_matrix(), np.array([0.1, 0.2, 0.3])
    origins, axes = found.frames(moved(hills(), turn, shift))
    kept = found.found
    assert np.abs(origins[0, kept] - found.origins[kept] @ turn.T - shift).max() < 1e-9
    assert np.abs(axes[0, kept] - turn @ found.axes[kept]).max() < 1e-9


@pytest.mark.parametrize("shift", [[50.0, 0.0, 0.0], [0.0, 50.0, 3.0]])
def test_a_ground_elsewhere_is_named(shift, rng):
    with pytest.raises(InputError, match="'Hills'.*closest point"):
        over(points_on(stage(), rng), moved(hills(), np.eye(3), shift))


def test_a_ground_that_looks_down_is_named(rng):
    mesh = hills()
    with pytest.raises(InputError, match="'Hills'.*Normals"):
        over(points_on(hills(), rng), MeshTrack("Hills", mesh.vertices, mesh.triangles[:, ::-1]))
