"""Distances at bind, contacts and affinities."""

import numpy as np
import pytest

from benchmarks.props import box, flat_ground
from solvers.adapt import clearance
from solvers.adapt.clearance import affinities, clearances, contact_offsets, contact_strength, effective_joints
from solvers.core.types import MeshTrack
from solvers.surface.closest_point import SurfaceIndex
from solvers.surface.track import SurfaceTrack

FRAMES, JOINTS, DT = 90, 4, 1 / 120


@pytest.fixture
def objects():
    ground = flat_ground(np.zeros((1, 1, 3)), 0.0, 3.0)
    step = box("Step", [0.5, -1, 0], [1.5, 1, 0.3])
    lift = MeshTrack("Lift", step.vertices + np.linspace(0, 0.5, FRAMES)[:, None, None] * [0, 0, 1], step.triangles)
    return [ground, lift]


def test_distances_are_those_of_each_object_at_each_frame(rng, objects):
    points = rng.uniform([-1, -1, -0.1], [2, 1, 1], (FRAMES, JOINTS, 3))
    distance, normal, closest, triangle = clearances(points, [SurfaceTrack(m) for m in objects], 0.4)
    assert distance.shape == (2, FRAMES, JOINTS) and normal.shape == closest.shape == (2, FRAMES, JOINTS, 3)
    for o, mesh in enumerate(objects):
        for frame in (0, 40, 89):
            state = mesh.state(frame)
            hits = SurfaceIndex(state.vertices, state.triangles).query(points[frame], 0.4)
            near = np.isfinite(hits.distance)
            assert np.array_equal(np.isfinite(distance[o, frame]), near)
            assert np.abs(distance[o, frame][near] - hits.distance[near]).max(initial=0) < 1e-12
            assert np.abs(closest[o, frame] - hits.closest).max() < 1e-12
            assert np.array_equal(triangle[o, frame] < 0, ~near)


def test_faces_at_an_edge_are_told_apart_by_where_a_point_is():
    """Beside the edge of a step the side is that of the face it lies farther before, whatever rounding says."""
    step = SurfaceTrack(box("Step", [0, 0, 0], [1, 1, 0.3]))
    above = np.array([[1.0 + 0.02, 0.5, 0.3 + 0.1]])
    beside = np.array([[1.0 + 0.1, 0.5, 0.3 + 0.02]])
    corner = np.array([[1.0 + 0.02, 1.0 + 0.1, 0.3 + 0.03]])
    for points, direction in ((above, [0, 0, 1]), (beside, [1, 0, 0]), (corner, [0, 1, 0])):
        *_, triangle = clearances(points[None], [step], 0.5)
        assert np.allclose(step.face_normals(triangle[0, 0], np.zeros(1, int)), direction)


def test_joints_close_to_a_surface_are_lifted_off_it_and_the_nearest_object_lifts(objects):
    heights = np.array([-0.2, -0.07, -0.01, 0.0, 0.02, 0.031, 0.4])
    points = np.column_stack([np.zeros((7, 2)), heights])[None]
    distance, normal, *_ = clearances(points, [SurfaceTrack(objects[0])], 1.0)
    moved = effective_joints(points, distance, normal, 1.0)
    assert np.allclose(moved[0, :, 2], [-0.2, 0.03, 0.03, 0.03, 0.03, 0.031, 0.4])
    assert np.array_equal(moved[..., :2], points[..., :2])
    points, distance = np.array([[[0.2, 0, 0.5]]]), np.array([[[0.02]], [[0.01]]])
    normal = np.array([[[[0, 0, 1.0]]], [[[-1.0, 0, 0]]]])
    assert np.allclose(effective_joints(points, distance, normal, 1.0), [[[0.18, 0, 0.5]]])


def test_speeds_are_metres_a_second():
    plate = SurfaceTrack(flat_ground(np.zeros((1, 1, 3)), 0.0, 3.0))
    points = (np.arange(10) * DT)[:, None, None] * np.array([3.0, 0, 4])
    distance, _, closest, triangle = clearances(points, [plate], 1.0)
    assert np.allclose(clearance.speeds_over(plate, points, closest[0], triangle[0], DT), 5.0)
    one = clearance.speeds_over(plate, points[:1], closest[0, :1], triangle[0, :1], DT)
    assert one.shape == (1, 1) and not one.any()


@pytest.mark.parametrize("kind", ["rigid", "deforming"])
def test_speeds_over_a_moving_object_are_against_what_is_below(rng, kind):
    """A point that keeps its place over a turning or growing plate rests; one at rest in the world does not."""
    plate = flat_ground(np.zeros((1, 1, 3)), 0.0, 1.0)
    time = np.arange(60) * DT
    if kind == "rigid":
        angle = 2.0 * time
        turns = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    else:
        turns = (1.0 + time)[:, None, None] * np.diag([1.0, 1.0])
    turns = np.concatenate([np.concatenate([turns, np.zeros((60, 2, 1))], 2), np.tile([[[0, 0, 1.0]]], (60, 1, 1))], 1)
    mesh = MeshTrack("Plate", np.einsum("fab,vb->fva", turns, plate.vertices[0]), plate.triangles)
    surface = SurfaceTrack(mesh)
    assert surface.is_deforming == (kind == "deforming")
    start = np.array([[0.4, 0.3, 0.05], [-0.2, 0.35, 0.02]])
    riding, waiting = np.einsum("fab,pb->fpa", turns, start), np.repeat(start[None], 60, axis=0)
    for points, lowest, highest in ((riding, 0.0, 0.01), (waiting, 0.25, 1.1)):
        _, _, closest, triangle = clearances(points, [surface], 0.5)
        found = clearance.speeds_over(surface, points, closest[0], triangle[0], DT)
        assert lowest <= found.min() and found[1:-1].max() <= highest
        far = clearance.speeds_over(surface, points, closest[0], np.full_like(triangle[0], -1), DT)
        assert np.abs(far - np.linalg.norm(np.gradient(points, DT, axis=0), axis=-1)).max() < 1e-12


def standing(rng, at, noise=0.001):
    """(1, F, 1) distances: half the frames at rest at a height, the rest in flight; and which are at rest."""
    distance = np.where(np.arange(FRAMES) < 45, at + noise * rng.normal(size=FRAMES), rng.uniform(0, 0.5, FRAMES))
    return distance[None, :, None], (np.arange(FRAMES) < 45)[None, :, None]


@pytest.mark.parametrize("at", [-0.02, 0.0, 0.0419, 0.044, 0.12])
def test_offset_is_where_a_joint_rests(rng, at):
    offset = contact_offsets(*standing(rng, at), 1.0)
    assert offset.shape == (1, 1) and abs(offset[0, 0] - at) < 0.002


def test_offset_is_the_mode_not_the_least_and_does_not_jump_with_rounding():
    """Whatever border of a bin the values lie on, a change of them in the last digits changes it as little."""
    distance = np.concatenate([np.full(30, 0.04), np.full(10, 0.0), np.full(12, 0.09)])[None, :, None]
    assert contact_offsets(distance, np.ones((1, 52, 1), bool), 1.0)[0, 0] == pytest.approx(0.04, abs=0.002)
    for at in np.arange(-0.076, 0.158, 0.002):
        distance = np.full((1, 20, 1), at)
        there, back = (contact_offsets(distance + d, np.ones((1, 20, 1), bool), 1.0)[0, 0] for d in (1e-12, -1e-12))
        assert abs(there - back) < 1e-9 and abs(there - at) < 1e-9


@pytest.mark.parametrize("size", [0.01, 1.0, 40.0])
def test_offset_scales_with_the_body(rng, size):
    distance, slow = standing(rng, 0.05)
    plain = contact_offsets(distance, slow, 1.0)
    assert np.abs(contact_offsets(size * distance, slow, size) / size - plain).max() < 1e-9


def test_what_is_never_slow_or_never_near_has_no_offset_and_no_contact(rng):
    distance, slow = standing(rng, 0.05)
    assert np.isnan(contact_offsets(distance, slow & False, 1.0)).all()
    far = np.full_like(distance, np.inf)
    offsets = contact_offsets(far, slow, 1.0)
    assert np.isnan(offsets).all()
    assert not contact_strength(far, offsets, 1.0).any() and not contact_strength(distance, offsets, 1.0).any()


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_contact_fades_from_one_centimetre_above_the_offset_to_where_it_is_told_to_begin(size):
    """Six centimetres by itself. A short reach is a firm hold only within a sixth of it."""

    def strength(gap, *reach):
        at = size * (0.05 + np.array(gap))[None, :, None]
        return contact_strength(at, np.array([[0.05 * size]]), size, *(size * r for r in reach))[0, :, 0]

    assert np.allclose(strength([-0.03, 0.0, 0.01, 0.035, 0.06, 0.2, np.inf]), [1, 1, 1, 0.5, 0, 0, 0])
    gap = [0.0, 0.01, 0.02, 0.11, 0.3]
    assert np.allclose(strength(gap, 0.06), strength(gap))
    assert np.allclose(strength(gap, 0.21), [1, 1, 0.99275, 0.5, 0])
    assert np.allclose(strength(gap, 0.012), [1, 0.104, 0, 0, 0])
    assert not strength(gap, 0.0).any()


def test_affinity_falls_with_clearance_and_rises_with_contact():
    distance = np.array([[[-0.1, 0.0, 0.06, 0.6, np.inf]], [[9.0, 9.0, 9.0, 9.0, np.inf]]])
    contact = np.zeros_like(distance)
    contact[0, 0, 1] = 1.0
    found = affinities(distance, contact, np.ones(2), 5.0, 1.0, DT)[0]
    assert np.allclose(found, [1.02, 6.02, 0.52, 0.02 + 1 / 101, 0.02])

    assert affinities(distance, contact, np.ones(2), 5.0, 1.0, DT).shape[-1] == 5


def test_affinity_heeds_objects_by_their_share():
    distance = np.array([[[0.0]], [[0.06]]])
    for heed, expected in (((1, 1), 1.02), ((0, 1), 0.52), ((0.3, 1), 0.52), ((0.7, 1), 0.72), ((0, 0), 0.02)):
        assert affinities(distance, 0 * distance, np.array(heed), 5.0, 1.0, DT)[0, 0] == pytest.approx(expected)


def test_affinity_is_smooth_in_time():
    distance = np.where(np.arange(FRAMES) < 45, 0.0, np.inf)[None, :, None]
    found = affinities(distance, np.zeros_like(distance), np.ones(1), 5.0, 1.0, DT)[:, 0]
    assert (np.diff(found) <= 1e-12).all() and np.abs(np.diff(found)).max() < 0.05
    assert found[0] == pytest.approx(1.02) and found[-1] == pytest.approx(0.02)


def rests_on(*gaps):
    """Strengths (O, F) of one joint that stands still over objects, at gaps (O, F) from them, and its offsets (O,)."""
    distance = np.array(gaps, float)[..., None]
    offsets = contact_offsets(distance, np.ones(distance.shape, bool), 1.0)
    return contact_strength(distance, offsets, 1.0)[..., 0], offsets[:, 0]


def test_what_hangs_over_a_floor_does_not_touch_it_however_long():
    """A toe on the foot of a ramp was held, and counted, at 10 cm from the floor below."""
    ramp, floor = rests_on([0.03] * 40 + [0.03] * 20, [0.1] * 40 + [0.05] * 20)[0]
    assert np.all(ramp == 1.0) and not floor[:40].any()
    bar, floor = rests_on([0.03] * 60 + [0.5] * 30, [0.5] * 60 + [0.12] * 30)[0]
    assert np.all(bar[:60] == 1.0) and not floor[60:].any()


def test_a_joint_may_rest_on_each_object_at_a_distance_of_its_own():
    (bar, floor), offsets = rests_on([0.015] * 60 + [0.5] * 30, [0.5] * 60 + [0.04] * 30)
    assert np.allclose(offsets, [0.015, 0.04])
    assert np.all(bar[:60] == 1.0) and np.all(floor[60:] == 1.0)


def test_a_toe_before_a_wall_stands_on_the_floor():
    wall, floor = rests_on([0.5] * 60 + [0.03] * 30, [0.04] * 90)[0]
    assert np.all(floor == 1.0) and np.all(wall[60:] > 0)


def test_all_that_lies_as_near_claims_a_joint_and_none_is_dropped_at_once():
    gap = np.stack([np.zeros(80), np.linspace(0, 0.04, 80)])[..., None]
    near, far = clearance.claims(gap, 1.0)[..., 0]
    assert np.all(near == 1.0) and np.all(far[:5] == 1.0) and far[-1] == 0.0
    assert (np.diff(far) <= 0).all() and np.abs(np.diff(far)).max() < 0.08
    assert np.abs(clearance.claims(7 * gap, 7.0) - clearance.claims(gap, 1.0)).max() < 1e-9
