"""Places that the change of an environment has put inside another object, and what becomes of a walk on them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box, flat_ground, height_field
from solvers.adapt.binding import fit
from solvers.adapt.covered_places import FAR, LIFT, THICK, THIN, TRAVEL, covered_contacts, covered_over_time
from solvers.adapt.frame import FrameAdapter
from solvers.adapt.measures import compare
from solvers.adapt.solve import IGNORE, AdaptOptions, SurfaceUse, adapt
from solvers.core.types import JointTrack, MeshTrack, Skeleton
from solvers.surface.descriptor_frames import DescriptorPoints, descriptor_frames
from solvers.surface.track import SurfaceTrack
from tests.adapt_bound import gap, moved
from tests.adapt_walk import walk

FRAMES = 30
POSE = np.array([[0, 0, 0.9], [0.05, 0, 0.5], [0, 0, 0.1], [0.15, 0, 0.03]])
TOE = np.array([False, False, False, True])
WALKED = 60


def floor():
    return height_field("Floor", np.arange(-2, 3.0), np.arange(-2, 3.0), np.zeros((5, 5)))


def stage(top, deep=0.6):
    return box("Stage", [-1, -1, top - deep], [1, 1, top])


def standing(*meshes):
    skeleton = Skeleton(("hip", "knee", "ankle", "toe"), np.arange(4) - 1)
    track = JointTrack(skeleton, np.repeat(POSE[None], FRAMES, axis=0), 60.0, np.arange(FRAMES))
    return fit(track, list(meshes), TOE, 1.8)


@pytest.mark.parametrize("top, touched", [(0.0, [True, True]), (-0.05, [True, False])])
def test_contacts_on_a_floor_are_covered_by_a_stage_that_rises_through_it(top, touched):
    """A foot on two faces in one plane touches both of them."""
    binding = standing(floor(), stage(top))
    assert np.array_equal(binding.touched[:, :, 3].all(axis=1), touched)
    for change, expected in ((0.0, False), (0.15 - top, True), (-0.2, False)):
        meshes = [floor(), stage(top + change)]
        found = covered_contacts(
            binding, [SurfaceTrack(mesh) for mesh in meshes], descriptor_frames(binding.points, meshes)
        )
        assert (found[0, :, 3] == expected).all() and not found[..., :3].any()
        assert (found[1, :, 3] == (touched[1] and change < 0)).all()


def lifts(*meshes, at, covering=None, scale=1.0):
    """How far places on the first of some meshes, at x and y (M, 2), move out, and how much they are covered."""
    x, y = np.transpose(at)
    triangle, place = np.zeros(len(x), int), np.zeros((len(x), 3))
    index = meshes[0].vertices[0][meshes[0].triangles]
    for k, (a, b) in enumerate(zip(x, y, strict=True)):
        for t, corners in enumerate(index):
            share = np.linalg.solve(np.vstack((corners[:, :2].T, np.ones(3))), [a, b, 1])
            if (share >= 0).all():
                triangle[k], place[k] = t, share
    points = DescriptorPoints(np.zeros(len(x), int), triangle, place)
    surfaces = [SurfaceTrack(mesh) for mesh in meshes]
    covering = list(range(len(meshes))) if covering is None else covering
    chosen = [surfaces[k] for k in covering]
    asked = np.ones((1, len(x)), bool)
    found = covered_over_time(points, meshes, chosen, covering, descriptor_frames(points, meshes), asked, scale)
    return None if found is None else (found.lift[0], found.share[0])


def test_places_move_out_onto_what_covers_them_and_others_stay():
    lift, share = lifts(floor(), stage(0.15), at=[[0.1, 0.2], [0.97, 0.3], [1.4, 0.1]])
    assert np.allclose(lift, [0.15, 0.15, 0.0], atol=1e-3) and np.array_equal(share, [1, 1, 0])
    assert lifts(floor(), stage(0.0), at=[[0.1, 0.2]]) is None
    assert lifts(floor(), stage(0.15), at=[[0.1, 0.2]], covering=[0]) is None


def test_out_of_one_object_a_place_does_not_move_into_another():
    block = box("Block", [-0.5, -0.5, 0.1], [0.5, 0.5, 0.3])
    lift, _ = lifts(floor(), stage(0.15), block, at=[[0.1, 0.2], [0.8, 0.2]])
    assert np.allclose(lift, [0.3, 0.15], atol=1e-3)


def test_how_far_places_move_has_no_jump_from_nothing_to_the_farthest():
    tops = np.linspace(0.0, 1.2 * TRAVEL, 400)
    found = [lifts(floor(), stage(top, 1.5), at=[[0.1, 0.2]]) or (np.zeros(1), np.zeros(1)) for top in tops]
    lift, share = np.array(found)[..., 0].T
    assert np.abs(np.diff(lift)).max() < 0.012 and np.abs(np.diff(share)).max() < 0.25
    whole = (tops > THICK + LIFT) & (tops < FAR)
    assert np.allclose(lift[whole], tops[whole], atol=2e-3) and (share[whole] == 1).all()
    for none in (tops < THIN, tops > TRAVEL + LIFT):
        assert not lift[none].any() and not share[none].any()


@pytest.fixture(scope="module")
def clip():
    return walk(np.arange(WALKED), 60.0)


def staged(clip, top, change):
    """A walk on a floor with a stage under it, bound, and the objects when the stage has risen."""
    ground = flat_ground(clip.positions)
    low, high = clip.positions.min(axis=(0, 1)) - 0.5, clip.positions.max(axis=(0, 1)) + 0.5
    under = box("Stage", [*low[:2], top - 0.4], [*high[:2], top])
    names = clip.skeleton.names
    binding = fit(clip, [ground, under], np.isin(names, ("toe.L", "toe.R", "ankle.L", "ankle.R")), 1.7)
    return binding, [ground, under], [ground, replace(under, vertices=under.vertices + [0, 0, change])]


RISES = pytest.mark.parametrize("top, change", [(0.0, 0.15), (-0.05, 0.2), (-0.05, 0.35)])


@RISES
def test_feet_rise_with_a_stage_that_rises_through_the_floor(clip, top, change):
    """They stayed half way, inside the stage: the floor, covered now, held them as well."""
    binding, _, after = staged(clip, top, change)
    motion = adapt(binding, after)
    risen = motion.positions - clip.positions - [0, 0, top + change]
    assert np.abs(risen).max() < 0.012
    figures = compare(binding, motion.positions, after, 1.0).figures()
    assert figures["penetration_pct"] == 0
    assert figures["contacts_kept_pct"] == (100 if top == 0 else None)


def test_unchanged_surroundings_are_exact_and_cover_nothing(clip):
    for top in (0.0, -0.05):
        binding, before, _ = staged(clip, top, 0.0)
        assert gap(adapt(binding, before).positions, clip.positions) < 1e-6


@RISES
def test_a_frame_by_itself_gives_that_of_the_track(clip, top, change):
    binding, before, after = staged(clip, top, change)
    motion = adapt(binding, after)
    adapter = FrameAdapter(binding, AdaptOptions(), motion.moves)
    for meshes in (before, after):
        adapter.update([mesh.state(0) for mesh in meshes])
    found = [adapter.solve(row).positions for row in (40, 3, 21)]
    assert gap(np.stack(found), motion.positions[[40, 3, 21]]) < 1e-4


def test_what_turns_and_moves_as_one_is_adapted_alike(clip):
    binding, before, after = staged(clip, -0.05, 0.2)
    turn, shift = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix(), np.array([2.0, 1.0, -0.5])
    there = fit(
        replace(clip, positions=clip.positions @ turn.T + shift), moved(before, turn, shift), binding.effectors, 1.7
    )
    expected = adapt(binding, after).positions @ turn.T + shift
    assert gap(adapt(there, moved(after, turn, shift)).positions, expected) < 1e-4


def test_an_object_that_is_ignored_covers_nothing_and_is_not_covered(clip):
    binding, _, after = staged(clip, -0.05, 0.2)
    options = AdaptOptions(surfaces=(SurfaceUse(), SurfaceUse(IGNORE)))
    assert gap(adapt(binding, after, options).positions, clip.positions) < 1e-6
    lone = AdaptOptions(surfaces=(SurfaceUse(IGNORE), SurfaceUse()))
    motion = adapt(binding, after, lone)
    adapter = FrameAdapter(binding, lone, motion.moves)
    adapter.update([mesh.state(0) for mesh in after])
    assert gap(adapter.solve(9).positions, motion.positions[9]) < 1e-4


def test_places_that_a_moving_object_covered_at_bind_are_not_covered_anew(clip):
    """A platform that passes through the floor during the motion leaves the walk as it was; stored files of before it
    was noted do not tell and keep theirs too."""
    ground = flat_ground(clip.positions)
    low, high = clip.positions.min(axis=(0, 1)) - 0.5, clip.positions.max(axis=(0, 1)) + 0.5
    block = box("Platform", [*low[:2], -0.6], [0.0, high[1], -0.2])
    rise = np.linspace(0, 0.3, WALKED)[:, None, None] * [0, 0, 1]
    platform = MeshTrack("Platform", block.vertices + rise, block.triangles)
    binding = fit(clip, [ground, platform], np.isin(clip.skeleton.names, ("toe.L", "toe.R")), 1.7)
    assert binding.covered.any() and not binding.covered.all()
    for bound in (binding, replace(binding, covered=None)):
        assert gap(adapt(bound, [ground, platform]).positions, clip.positions) < 1e-6
