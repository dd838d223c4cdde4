import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.climbs import climb
from benchmarks.props import box, height_field
from solvers.adapt.descriptor_sampling import environment_proximity, sample_descriptors, thin_track
from solvers.core.errors import InputError
from solvers.core.types import TriangleMesh
from solvers.surface.descriptor_frames import DescriptorPoints, descriptor_frames

D0 = 0.03
REACH = 0.9


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def surroundings():
    """A rolling ground and a box on it."""
    x = np.linspace(-2, 2, 21)
    ground = height_field("Ground", x, x, 0.1 * np.sin(2 * x)[:, None] * np.cos(3 * x))
    return [ground.state(0), box("Box", [0.3, -0.5, 0], [1.3, 0.5, 0.8]).state(0)]


def stroll(frames=150, joints=6):
    """Joints at several heights that cross the ground and climb over the box."""
    time = np.linspace(0, 1, frames)[:, None]
    phase = np.linspace(0, 2, joints)
    x = -1.2 + 2.4 * time + 0.1 * np.sin(9 * time + phase)
    y = 0.1 * np.cos(7 * time + 2 * phase)
    z = 0.15 + 0.9 * np.exp(-8 * (x - 0.7) ** 2) + 0.15 * np.arange(joints)
    return np.stack([x, y, z], axis=-1)


def sampled(points, meshes, d0=D0, reach=REACH):
    _, places, distances = environment_proximity(points.reshape(-1, 3), meshes, reach, d0)
    return sample_descriptors(places, distances, meshes, d0), places, distances


def same(a, b, tolerance=0.0):
    return (
        np.array_equal(a.object_index, b.object_index)
        and np.array_equal(a.triangle, b.triangle)
        and np.abs(a.barycentric - b.barycentric).max() <= tolerance
    )


def place(points, meshes):
    return descriptor_frames(points, meshes)[0][0]


def test_descriptors_keep_their_distance_and_every_candidate_has_one_near():
    meshes = surroundings()
    found, places, distances = sampled(stroll(), meshes)
    assert 20 < len(found) < len(places)
    at, candidate = place(found, meshes), place(places, meshes)
    apart = np.linalg.norm(at[:, None] - at, axis=2)
    own = (found.object_index[:, None] == found.object_index) & (found.triangle[:, None] == found.triangle)
    assert apart[own & ~np.eye(len(found), dtype=bool)].min() >= 0.5 * D0
    for p in range(0, len(places), 7):
        on = found.object_index == places.object_index[p]
        gap = np.linalg.norm(at[on] - candidate[p], axis=1).min()
        assert gap < 0.5 * max(distances[p], D0)


def test_repeated_candidates_and_frames_change_nothing():
    meshes, walk = surroundings(), stroll()
    found, *_ = sampled(walk, meshes)
    twice, *_ = sampled(np.repeat(walk, 2, axis=0), meshes)
    again, *_ = sampled(np.concatenate([walk, walk[::-1]]), meshes)
    assert same(found, twice) and same(found, again)


def test_what_comes_later_takes_nothing_away():
    meshes, walk = surroundings(), stroll()
    first, *_ = sampled(walk, meshes)
    both, *_ = sampled(np.concatenate([walk, walk + [0.3, 0.2, 0.0]]), meshes)
    n = len(first)
    assert len(both) > n
    assert same(first, DescriptorPoints(both.object_index[:n], both.triangle[:n], both.barycentric[:n]), 1e-12)


def test_both_sides_of_a_thin_wall_are_sampled():
    wall = box("Wall", [-0.01, -1, 0], [0.01, 1, 2]).state(0)
    hands = np.array([[[0.05, 0, 1.0], [-0.05, 0, 1.0]]])
    found, *_ = sampled(hands, [wall])
    assert sorted(np.sign(place(found, [wall])[:, 0])) == [-1, 1]


def test_a_large_ground_of_two_triangles_shadows_across_its_diagonal():
    corners = np.array([[-10, -10, 0], [10, -10, 0], [10, 10, 0], [-10, 10, 0.0]])
    ground = TriangleMesh("Ground", corners, np.array([[0, 1, 2], [0, 2, 3]]))
    line = np.linspace(0, 1, 400)
    feet = np.column_stack([1 + 0.3 * line, 1.3 - 0.3 * line, np.full(400, 0.02)])
    found, *_ = sampled(feet, [ground])
    at = place(found, [ground])
    gaps = np.linalg.norm(np.diff(at[np.argsort(at[:, 0])], axis=0), axis=1)
    assert 0.9 * 0.5 * D0 < gaps.min() and gaps.max() < 1.2 * 0.5 * D0


def test_rigid_motion_and_scale_with_the_body_pick_the_same_points():
    meshes, walk = surroundings(), stroll()
    turn, shift = Rotation.random(random_state=9).as_matrix(), np.array([4.0, -20, 3])
    found, *_ = sampled(walk, meshes)
    for scale in (1.0, 0.3):
        moved = [TriangleMesh(m.name, scale * m.vertices @ turn.T + shift, m.triangles) for m in meshes]
        other, *_ = sampled(scale * walk @ turn.T + shift, moved, scale * D0, scale * REACH)
        assert same(found, other, 1e-9)


def test_split_vertices_change_nothing():
    meshes = surroundings()
    split = [
        TriangleMesh(m.name, m.vertices[m.triangles.ravel()], np.arange(m.triangles.size).reshape(-1, 3))
        for m in meshes
    ]
    assert same(sampled(stroll(), meshes)[0], sampled(stroll(), split)[0], 1e-12)


def test_thinning_keeps_first_samples_and_steps():
    track = np.zeros((5, 2, 3))
    track[:, 1, 0] = [0, 0.004, 0.008, 0.009, 0.014]
    assert not thin_track(track, 0.006)[1:, 0].any() and thin_track(track, 0.006)[0, 0]
    assert thin_track(track, 0.006)[:, 1].tolist() == [True, False, True, False, True]
    assert thin_track(track[:0], 0.006).shape == (0, 2)


def test_bad_input_is_named():
    broken, none = TriangleMesh("Torn sheet", np.full((3, 3), np.nan), np.array([[0, 1, 2]])), DescriptorPoints.empty()
    for call, args, message in (
        (environment_proximity, (np.zeros((1, 3)), [broken], 1.0, D0), "Torn sheet"),
        (environment_proximity, (np.zeros((1, 3)), [], 1.0, D0), "at least one mesh"),
        (sample_descriptors, (none, np.zeros(1), [], D0), "0 candidates"),
        (sample_descriptors, (none, np.zeros(0), [], 0.0), "threshold"),
    ):
        with pytest.raises(InputError, match=message):
            call(*args)


@pytest.mark.parametrize("number", [0, 1])
def test_climbs_take_as_many_descriptors_as_the_thesis_reports(data, number):
    scene = climb(number)
    meshes = [mesh.state(0) for mesh in scene.environment.values()]
    positions = scene.track.positions
    thinned = positions[thin_track(positions, D0 / 6)]
    found, *_ = sampled(thinned, meshes)
    assert 200 <= len(found) <= 670
    assert set(found.object_index) == set(range(len(meshes)))
    full, *_ = sampled(positions[::2], meshes)
    assert abs(len(full) - len(found)) < 0.15 * len(found)
