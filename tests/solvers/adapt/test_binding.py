"""What binding keeps of a motion and its environment."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks import edits
from benchmarks.climbs import climb
from benchmarks.props import box, carried, flat_ground
from solvers.adapt.binding import BETWEEN_REACH, body_samples, fit
from solvers.core.errors import InputError
from solvers.core.types import JointTrack, MeshTrack, Skeleton
from solvers.skeleton.joint_tree import JointTree
from solvers.surface.closest_point import SurfaceIndex
from solvers.surface.descriptor_frames import descriptor_frames
from solvers.surface.track import SurfaceTrack
from tests.adapt_bound import Bound, gap, moved

FRAMES = 60


@pytest.fixture
def walker(rng):
    """A stick figure over a ground beside a box, with a hand that wanders over the box."""
    skeleton = Skeleton(("hip", "chest", "head", "hand", "knee", "foot"), np.array([-1, 0, 1, 1, 0, 4]))
    rest = np.array([[0, 0, 1.0], [0, 0, 1.4], [0, 0, 1.7], [0.5, 0, 1.05], [0.05, 0, 0.5], [0, 0, 0.06]])
    time = np.linspace(0, 1, FRAMES)[:, None, None]
    return JointTrack(skeleton, rest + 0.6 * time * [0, 1, 0] + 0.02 * np.sin(9 * time), 60.0, np.arange(FRAMES))


@pytest.fixture
def surroundings(walker):
    return [flat_ground(walker.positions), box("Table", [0.3, -0.5, 0], [0.9, 1.2, 1.0])]


@pytest.fixture
def binding(walker, surroundings):
    return fit(walker, surroundings, EFFECTORS, 1.8)


EFFECTORS = np.array([False, False, False, True, False, True])


def same_points(a, b, tolerance=0.0):
    assert np.array_equal(a.object_index, b.object_index) and np.array_equal(a.triangle, b.triangle)
    assert gap(a.barycentric, b.barycentric) <= tolerance


def assert_same(here, there, meshes, tolerance):
    """Points, contacts and sides: the same triangles, or others of the same plane."""
    same_points(here.points, there.points, tolerance)
    assert np.array_equal(here.hidden, there.hidden) and gap(here.contact, there.contact) < 1e-6
    for o, mesh in enumerate(meshes):
        near = here.side[o] >= 0
        assert np.array_equal(near, there.side[o] >= 0)
        normals = [SurfaceTrack(mesh).face_normals(b.side[o][near], np.zeros(near.sum(), int)) for b in (here, there)]
        assert np.abs(normals[0] - normals[1]).max(initial=0.0) < 1e-9


def assert_as_near(here, there):
    """Distances and weights."""
    finite = np.isfinite(here.distance)
    assert np.array_equal(finite, np.isfinite(there.distance))
    assert gap(here.distance[finite], there.distance[finite]) < 1e-6
    assert np.abs((here.relations.weights - there.relations.weights).toarray()).max() < 1e-9


def at_rest(walker):
    return replace(walker, positions=np.repeat(walker.positions[:1], FRAMES, axis=0))


def test_binding_again_gives_the_same(walker, surroundings, binding):
    two = fit(walker, surroundings, EFFECTORS, 1.8)
    same_points(binding.points, two.points)
    for name in ("origins", "axes", "effective", "distance", "side", "hidden", "slow", "radii", "contact"):
        assert np.array_equal(getattr(binding, name), getattr(two, name))
    assert (binding.relations.weights != two.relations.weights).nnz == 0


def test_distances_are_those_of_the_samples(walker, surroundings, binding):
    tree = JointTree.build(walker.skeleton.parents)
    points = body_samples(tree, walker, 1.0).positions(tree.from_track(walker.positions))
    for o, mesh in enumerate(surroundings):
        index = SurfaceIndex(mesh.vertices[0], mesh.triangles)
        for frame in (0, 31):
            hits = index.query(points[..., frame], BETWEEN_REACH)
            near = np.isfinite(hits.distance)
            assert near.any() and gap(binding.distance[o, frame][near], hits.distance[near]) < 1e-6
        hits = index.query(walker.positions[7], 0.9)
        near = np.isfinite(hits.distance)
        assert gap(binding.joint_distance[o, 7][near], hits.distance[near]) < 1e-6


def test_descriptors_lie_on_the_objects_and_carry_their_frames(surroundings, binding):
    assert set(binding.points.object_index) == {0, 1}
    origins, axes = descriptor_frames(binding.points, surroundings)
    assert np.array_equal(origins, binding.origins) and np.array_equal(axes, binding.axes)
    ground = binding.points.object_index == 0
    assert np.abs(origins[0, ground, 2]).max() < 1e-12 and np.allclose(axes[0, ground, 2, 0], 1)


def test_effectors_touch_and_others_do_not(walker, surroundings):
    contact = fit(at_rest(walker), surroundings, EFFECTORS, 1.8).contact
    assert contact[0, :, 5].min() > 0.99 and contact[1, :, 3].min() > 0.99
    assert not contact[:, :, ~EFFECTORS].any() and not contact[0, :, 3].any() and not contact[1, :, 5].any()


@pytest.mark.parametrize("size", [1.0, 0.01, 100.0])
def test_place_turn_and_unit_change_nothing(walker, surroundings, binding, size):
    turn, shift = Rotation.random(random_state=8).as_matrix(), size * np.array([3.0, -20, 7])
    track = replace(walker, positions=size * walker.positions @ turn.T + shift)
    there = fit(track, moved(surroundings, turn, shift, size), EFFECTORS, size * 1.8)
    assert_same(binding, there, surroundings, 1e-9)
    assert_as_near(binding, there)
    assert gap(there.radii / size, binding.radii) < 1e-12


@pytest.mark.captures
@pytest.mark.parametrize("number, start", [(0, 200), (0, 2400), (1, 1700)])
def test_place_turn_and_unit_change_nothing_of_a_captured_clip(number, start):
    clip = Bound(climb(number), start, start + 300)
    for size in (1.0, 0.3):
        turn, shift = Rotation.random(random_state=8).as_matrix(), size * np.array([3.0, -20, 7])
        other = replace(clip.track, positions=size * clip.track.positions @ turn.T + shift)
        there = fit(other, moved(clip.meshes, turn, shift, size), clip.effectors, size * clip.scene.height)
        assert_same(clip.binding, there, clip.meshes, 1e-8)


def swung(walker, mesh, frames=FRAMES):
    """A rigid motion of everything, changing over time: the motion and the mesh as they are on a swinging ship."""
    turns = Rotation.from_rotvec(np.linspace(0, 1.5, frames)[:, None] * [0.2, 0.1, 0.9])
    shifts = np.linspace(0, 2, frames)[:, None] * [1.0, -0.5, 0.2]
    positions = np.einsum("fab,fjb->fja", turns.as_matrix(), walker.positions) + shifts[:, None]
    return replace(walker, positions=positions), [carried(m, turns.as_matrix(), shifts) for m in mesh]


def test_an_environment_on_the_move_is_sampled_as_if_it_stood_still(walker, surroundings, binding):
    """What moves with its surroundings has the descriptors, distances and weights that it has at rest."""
    track, meshes = swung(walker, surroundings)
    there = fit(track, meshes, EFFECTORS, 1.8)
    same_points(binding.points, there.points, 1e-9)
    assert_as_near(binding, there)


def test_a_joint_at_rest_over_a_moving_object_is_sampled_along_its_way(walker):
    """A belt that runs under a foot that stays: the foot places descriptors all along the belt."""
    belt = box("Belt", [-0.2, -3, -0.1], [0.2, 3, 0.0])
    running = MeshTrack("Belt", belt.vertices + np.linspace(0, 2, FRAMES)[:, None, None] * [0, 1, 0], belt.triangles)
    assert np.ptp(fit(at_rest(walker), [running], EFFECTORS, 1.8).origins[0, :, 1]) > 1.5


def test_what_rides_on_a_moving_object_touches_it(walker):
    """A foot on a lift that rises at 0.5 m/s is in contact with it, as one on the ground is."""
    rise = np.linspace(0, 0.5 * FRAMES / 60, FRAMES)[:, None, None] * [0, 0, 1]
    plate = box("Lift", [-0.5, -0.5, -0.1], [0.5, 0.5, 0])
    lift = MeshTrack("Lift", plate.vertices + rise, plate.triangles)
    binding = fit(replace(walker, positions=at_rest(walker).positions + rise), [lift], EFFECTORS, 1.8)
    assert binding.contact[0, :, 5].min() > 0.99


def test_relations_to_some_objects_are_those_of_a_binding_without_the_others(binding):
    alone = binding.relations_to(np.array([True, False]))
    assert binding.relations_to(np.array([True, True])) is binding.relations
    assert binding.relations_to(np.array([True, False])) is alone
    assert not alone.weights[:, binding.points.object_index != 0].nnz
    assert np.abs(alone.weights.sum(axis=1) - 1).max() < 1e-12
    assert binding.relations_to(np.array([False, False])).weights.nnz == 0


@pytest.mark.parametrize("frames", [1, 2])
def test_short_clips_are_bound(walker, surroundings, frames):
    part = edits.sub_clip(walker, 10, 10 + frames)
    binding = fit(part, surroundings, EFFECTORS, 1.8)
    assert np.isfinite(binding.contact).all() and len(binding.points) > 2


def test_what_cannot_be_bound_is_named(walker, surroundings):
    ground, table = surroundings
    flat = MeshTrack("Line", np.zeros((1, 3, 3)), np.array([[0, 1, 2]]))
    door = MeshTrack("Door", np.repeat(table.vertices, 7, axis=0), table.triangles)
    moon = MeshTrack("Moon", ground.vertices + 50, ground.triangles)
    low = walker.positions.reshape(-1, 3).min(axis=0)
    corners = low - [[0.2, 0.0, 0.1], [0.2, 0.5, 0.1], [0.5, 0.0, 0.1]]
    beside = MeshTrack("Beside", corners[None], np.array([[0, 1, 2]]))
    still = replace(walker, fps=0.0)
    for track, meshes, effectors, height, message in (
        *((walker, surroundings, EFFECTORS, height, "height") for height in (0.0, -1.0, np.nan, np.inf)),
        (walker, [], EFFECTORS, 1.8, "environment is empty"),
        (walker, surroundings, EFFECTORS[:3], 1.8, "3 effector marks were given for 6 joints"),
        (still, surroundings, EFFECTORS, 1.8, "frames a second"),
        (walker, [flat], EFFECTORS, 1.8, "'Line' has no triangle with an area"),
        (walker, [door], EFFECTORS, 1.8, "'Door' has 7 states for 60 frames"),
        (walker, [moon], EFFECTORS, 1.8, r"No joint comes within .* \(Moon\)"),
        (walker, [beside], EFFECTORS, 1.8, r"joint 'foot' comes nearest, within 0.25 m of 'Beside'"),
    ):
        with pytest.raises(InputError, match=message):
            fit(track, meshes, effectors, height)


def test_some_of_the_objects_keep_what_is_known_of_them(walker, surroundings):
    """In the order asked for; joints, their effective places and what each object is to them stay as they were."""
    bound = fit(walker, [*surroundings, box("Wall", [1.0, -1, 0], [1.2, 2, 2])], EFFECTORS, 1.8)
    part = bound.among(np.array([2, 0]))
    assert part.objects == ("Wall", bound.objects[0])
    for name in ("distance", "side", "hidden", "slow"):
        np.testing.assert_array_equal(getattr(part, name), getattr(bound, name)[[2, 0]])
    for new, old in ((0, 2), (1, 0)):
        here, there = part.points.object_index == new, bound.points.object_index == old
        assert here.sum() == there.sum() > 0
        np.testing.assert_array_equal(part.origins[:, here], bound.origins[:, there])
        np.testing.assert_array_equal(part.axes[:, here], bound.axes[:, there])
    np.testing.assert_array_equal(part.effective, bound.effective)
