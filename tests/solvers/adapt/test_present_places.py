"""Motions over a ground that takes the place of the bound one, and where feet stand on it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box, flat_ground
from solvers.adapt.binding import fit
from solvers.adapt.findings import find
from solvers.adapt.footholds import HALF
from solvers.adapt.frame import FrameAdapter
from solvers.adapt.ground_doubts import ground_doubts
from solvers.adapt.lost_ground import lost_ground
from solvers.adapt.present_places import present_places
from solvers.adapt.solve import AdaptOptions, SurfaceUse, adapt
from solvers.adapt.stances import feet, stances
from solvers.core.errors import InputError
from solvers.core.types import JointTrack, MeshTrack
from tests.adapt_bound import gap
from tests.adapt_ground import RISE, TREAD, bound_march, planks, profile, ramp, stairs

USES = (SurfaceUse(replaced="GRAVITY"),)
OPTIONS = AdaptOptions(surfaces=USES)


@pytest.fixture(scope="module")
def binding():
    return bound_march()


@pytest.fixture(scope="module")
def short_steps():
    """Steps of two treads."""
    return bound_march(stride=2 * TREAD, steps=6, step_frames=18)


def over(binding, ground, options=OPTIONS):
    return adapt(binding, [ground], options)


def floor(binding, height=0.0):
    return flat_ground(binding.track.positions, height, 1.5)


def turned(binding, turn, shift=0.0):
    """The same binding in another place."""
    track = binding.track
    return replace(
        binding,
        track=JointTrack(track.skeleton, track.positions @ turn.T + shift, track.fps, track.frames),
        axes=turn @ binding.axes,
        **{name: getattr(binding, name) @ turn.T + shift for name in ("origins", "effective")},
    )


def joint(binding, *names):
    return [binding.track.skeleton.names.index(name) for name in names]


def test_a_copy_of_the_ground_changes_nothing(binding):
    copy = floor(binding)
    copy = MeshTrack("Copy", copy.vertices, np.roll(copy.triangles[::-1], 1, axis=1))
    assert gap(over(binding, copy).positions, binding.track.positions) < 1e-8


def test_an_object_on_which_nobody_stands_may_be_replaced(binding):
    """A wall, or a chair on which a pelvis alone rests: there is no stance at all."""
    free = replace(binding, slow=np.zeros_like(binding.slow), rests=None)
    assert not free.touched.any()
    motion = over(free, floor(free))
    assert gap(motion.positions, free.track.positions) < 1e-8
    adapter = FrameAdapter(free, OPTIONS, motion.moves)
    adapter.update([floor(free).state(0)])
    assert gap(adapter.solve(5).positions, motion.positions[5]) < 1e-6
    lifted = over(free, floor(free, 0.3)).positions
    assert gap(lifted, adapt(free, [floor(free, 0.3)], AdaptOptions()).positions) < 1e-6


def test_a_copy_that_is_lifted_is_as_if_the_ground_were(binding):
    lifted = adapt(binding, [floor(binding, 0.3)], AdaptOptions())
    assert gap(over(binding, floor(binding, 0.3)).positions, lifted.positions) < 1e-6


@pytest.mark.parametrize("make", [stairs, ramp])
def test_what_is_turned_about_gravity_is_solved_alike(binding, make):
    turn, shift = Rotation.from_euler("z", 130.0, degrees=True).as_matrix(), np.array([3.0, -2.0, 1.0])
    ground = MeshTrack("There", make().vertices @ turn.T + shift, make().triangles)
    moved = over(turned(binding, turn, shift), ground)
    assert gap(over(binding, make()).positions @ turn.T + shift, moved.positions) < 1e-4


def test_gravity_may_point_anywhere(binding):
    turn = Rotation.from_euler("xyz", [70.0, 20.0, 10.0], degrees=True).as_matrix()
    ground = MeshTrack("There", stairs().vertices @ turn.T, stairs().triangles)
    moved = over(turned(binding, turn), ground, replace(OPTIONS, gravity=tuple(turn @ [0.0, 0.0, -1.0])))
    assert gap(over(binding, stairs()).positions @ turn.T, moved.positions) < 1e-4


def test_a_frame_by_itself_is_the_track_s(binding):
    motion = over(binding, stairs())
    adapter = FrameAdapter(binding, OPTIONS, motion.moves)
    adapter.update([floor(binding).state(0)])
    adapter.update([stairs().state(0)])
    rows = np.arange(3, len(motion.positions), 7)
    found = {row: adapter.solve(row).positions for row in rows[::-1]}
    gaps = [gap(found[row], motion.positions[row]) for row in rows]
    assert np.median(gaps) < 1e-3 and max(gaps) < 0.03
    again = [gap(adapter.solve(row).positions, found[row]) for row in rows]
    assert max(again) == 0.0


def test_feet_stand_still_and_flat_on_one_tread(short_steps):
    motion = over(short_steps, stairs())
    standing = present_places(short_steps, [stairs()], USES).standing
    assert standing.borne.min() > 0.85 and np.abs(standing.moved).max() < 0.2
    soles = short_steps.track.positions - motion.positions
    for foot, first, last in zip(standing.stances.joints, standing.stances.first, standing.stances.last, strict=True):
        if last - first < 6:  # cut off by the ends
            continue
        # Joints of a foot are displaced alike, and by a whole number of rises.
        shift = -soles[first + 2 : last - 1, foot & short_steps.effectors]
        assert np.ptp(shift.reshape(-1, 3), axis=0).max() < 0.05
        rises = shift[..., 2] / RISE
        assert np.abs(rises - rises.mean().round()).max() < 0.15
    kept = find(short_steps, motion.positions, motion.turns, [stairs()], 1.0, uses=USES).contacts
    assert kept.kept.sum() >= 0.95 * kept.counted.sum()


def test_feet_far_ahead_of_the_root_stand_on_their_own_steps(binding):
    """The fore legs of a fox stood two treads too high, or had no ground: only what its root reaches counted."""
    positions, track = binding.track.positions.copy(), binding.track
    positions[:, binding.tree.order[: binding.tree.roots]] -= [0.0, 1.8, 0.0]
    animal = bound_march(JointTrack(track.skeleton, positions, track.fps, track.frames))
    found, as_before = (present_places(bound, [stairs()], USES).standing for bound in (animal, binding))
    assert found.found.all()
    np.testing.assert_allclose(found.frames([stairs()])[0], as_before.frames([stairs()])[0], atol=1e-9)


def test_blocks_that_overlap_are_as_the_stairs_that_they_look_like(short_steps):
    ends = 0.6 + TREAD * np.arange(20)
    blocks = [box("Block", [-2.0, y, -1.0], [2.0, y + 5.0, RISE * number]) for number, y in enumerate(ends, 1)]
    blocks.append(box("Block", [-2.0, -4.0, -1.0], [2.0, 5.0, 0.0]))
    triangles = np.concatenate([block.triangles + 8 * number for number, block in enumerate(blocks)])
    overlapping = MeshTrack("Blocks", np.concatenate([block.vertices for block in blocks], axis=1), triangles)
    assert gap(over(short_steps, overlapping).positions, over(short_steps, stairs()).positions) < 1e-6


def test_stairs_that_the_steps_do_not_fit_say_so(binding):
    """Half a foot over an edge is told."""
    narrow = stairs(rise=0.1, tread=0.14)
    standing = present_places(binding, [narrow], USES).standing
    assert (standing.borne < HALF).any()


def test_feet_find_the_planks(binding):
    standing = present_places(binding, [planks()], USES).standing
    assert standing.found.all() and standing.borne.min() > 0.8 and np.abs(standing.moved).max() > 0.01
    motion = over(binding, planks())
    contacts = find(binding, motion.positions, motion.turns, [planks()], 1.0, uses=USES).contacts
    assert contacts.kept.sum() >= 0.95 * contacts.counted.sum()


def test_hooves_do_not_step_into_gaps(binding):
    """A hoof fits into a gap between planks, and went down by 40 cm; down a stair it may go."""
    track = binding.track
    effectors = np.isin(track.skeleton.names, ("toe.L", "toe.R"))
    hooves = fit(track, [floor(binding)], effectors, 1.7)
    plank = np.array(((0.0, 0.0), (0.3, 0.0), (0.3, -0.4), (0.54, -0.4)))
    for first in (-4.0, -3.8, -3.6):
        gaps = profile(np.concatenate([plank + (y, 0.0) for y in np.arange(first, 8.0, 0.54)]))
        standing = present_places(hooves, [gaps], USES).standing
        assert np.abs(standing.frames([gaps])[0][0, :, 2]).max() < 1e-9 and standing.moved.any()
    down = stairs(rise=-0.1, tread=0.2)
    assert present_places(hooves, [down], USES).standing.frames([down])[0][0, :, 2].min() < -0.3


def test_the_trunk_stays_upright_on_a_ramp(binding):
    motion = over(binding, ramp(0.27))
    found = find(binding, motion.positions, motion.turns, [ramp(0.27)], 1.0, uses=USES)
    assert np.nanmean(found.tilts) < 3.0 and found.contacts.kept.sum() >= 0.95 * found.contacts.counted.sum()


def test_where_the_ground_ends_the_body_goes_on_and_it_is_told(binding):
    end = profile([(-4.0, 0.4), (1.2, 0.4)])
    motion, places = over(binding, end), present_places(binding, [end], USES)
    (lost,) = lost_ground(binding, places.replaced)
    missing = lost.missing.any(axis=1)
    assert 0 < lost.lost < lost.points and not missing[:20].any() and missing[-20:].all()
    assert np.abs((motion.positions - binding.track.positions)[..., 2] - 0.4).max() < 0.1
    held = np.moveaxis(places.standing.unheld(slice(None)), 0, 1)
    assert held[joint(binding, "toe.L", "toe.R")][:, -1].max() == 1.0 and held[:, :10].max() == 0.0


def test_a_ground_that_moves_carries_the_motion(binding):
    count = len(binding.track.positions)
    rise = 0.2 * np.linspace(0.0, 1.0, count)[:, None]
    moving = MeshTrack("Lift", floor(binding).vertices + rise[..., None] * [0.0, 0.0, 1.0], floor(binding).triangles)
    motion = over(binding, moving)
    assert gap(motion.positions - binding.track.positions, rise[..., None] * [0.0, 0.0, 1.0]) < 0.03


@pytest.mark.parametrize(("height", "rise"), [(0.5, 0.0), (-0.8, 0.0), (1.3, 1.3), (-3.0, -3.0)])
def test_a_ground_far_above_or_below_is_told(binding, height, rise):
    (doubt,) = doubts(binding, floor(binding, height))
    assert abs(doubt.rise - rise) < 1e-6 and not doubt.is_steep and not doubt.has_moved


@pytest.mark.parametrize("how", ["GRAVITY", "CLOSEST"])
def test_a_wall_is_told_to_go_another_way_than_along_gravity(binding, how):
    lying = Rotation.from_euler("x", 90.0, degrees=True).as_matrix()
    ground = MeshTrack("There", floor(binding).vertices @ lying.T, floor(binding).triangles)
    (doubt,) = doubts(turned(binding, lying), ground, how)
    assert doubt.is_steep == (how == "GRAVITY") and doubt.rise == 0.0


def test_an_object_that_moved_at_bind_is_told(binding):
    shift = np.linspace(0.0, 0.1, len(binding.track.positions))[:, None, None] * [0.0, 0.0, 1.0]
    moving = replace(binding, origins=binding.origins + shift, axes=np.repeat(binding.axes, len(shift), axis=0))
    (doubt,) = doubts(moving, floor(binding))
    assert doubt.has_moved


@pytest.mark.parametrize("turned", [False, True])
def test_a_block_that_is_inside_out_is_told(binding, turned):
    """Its bottom was stood on, without a word."""
    block = box("Block", [-3.0, -3.0, -0.5], [3.0, 5.0, 0.0])
    block = MeshTrack("Block", block.vertices, block.triangles[:, ::-1] if turned else block.triangles)
    (doubt,) = doubts(binding, block)
    assert (doubt.inside_out, doubt.closed) == (int(turned), 1)


def test_a_way_that_crosses_above_itself_is_told(binding):
    """Up a spiral staircase of which one turn is 2.5 m long, and 1.4 m higher."""
    wound = bound_march(JointTrack(binding.track.skeleton, spiral(binding.track.positions), 30.0, binding.track.frames))
    narrow = profile(stairs().vertices[0, : stairs().vertices.shape[1] // 2, 1:], 0.3)
    (doubt,) = doubts(wound, MeshTrack("Spiral", spiral(narrow.vertices), narrow.triangles))
    assert doubt.crossing[0] and doubt.crossing[-1] and not doubt.crossing.all()
    assert not doubts(binding, stairs())[0].crossing.any()


def spiral(points, radius=0.4):
    x, y, z = np.moveaxis(points, -1, 0)
    angle = y / radius
    return np.stack(((radius + x) * np.cos(angle), (radius + x) * np.sin(angle), z), axis=-1)


def test_feet_that_slide_in_the_source_are_told(binding):
    assert doubts(binding, floor(binding))[0].sliding == []
    track = binding.track
    drift = 0.3 * np.sin(2.0 * np.pi * track.frames / 20.0)[:, None, None] * [0.0, 1.0, 0.0]
    found = doubts(bound_march(JointTrack(track.skeleton, track.positions + drift, 30.0, track.frames)), floor(binding))
    feet_of = found[0].sliding
    assert len(feet_of) == 2 and all(foot.share > 0.5 and 0.3 < foot.metres < 2.0 for foot in feet_of)


def doubts(binding, ground, how="GRAVITY"):
    uses = (SurfaceUse(replaced=how),)
    return ground_doubts(binding, uses, present_places(binding, [ground], uses).replaced)


def test_findings_name_what_takes_the_place(binding):
    solved = binding.track.positions, np.tile([1.0, 0.0, 0.0, 0.0], (*binding.track.positions.shape[:2], 1))
    deep = floor(binding, 0.2)
    deep = MeshTrack("Higher", deep.vertices, deep.triangles)
    found = find(binding, *solved, [deep], 1.0, uses=USES)
    assert found.objects == ("Higher",) and found.depth.obj == "Higher"
    assert find(binding, *solved, [deep], 1.0).objects == binding.objects


def test_a_ground_elsewhere_is_named(binding):
    away = profile([(40.0, 0.0), (50.0, 0.0)])
    with pytest.raises(InputError, match="'Profile'"):
        over(binding, away)


def test_by_closest_point(binding):
    lifted = AdaptOptions(surfaces=(SurfaceUse(replaced="CLOSEST"),))
    motion = over(binding, floor(binding, 0.2), lifted)
    assert gap(motion.positions, adapt(binding, [floor(binding, 0.2)], AdaptOptions()).positions) < 1e-6


def test_weights_of_a_foot_sum_to_one_between_its_stances(binding):
    found = stances(binding, [0])
    for foot in feet(binding):
        mine = (found.joints == foot).all(axis=1)
        if not mine.any():
            continue
        total, first, last = found.weights[mine].sum(axis=0), found.first[mine].min(), found.last[mine].max()
        assert np.abs(total[first : last + 1] - 1.0).max() < 1e-9 and total.max() <= 1.0 + 1e-9
    assert all(found.weights[k, found.first[k] : found.last[k] + 1].min() == 1.0 for k in range(len(found)))


def test_a_foot_that_slides_a_little_stands_all_the_while(binding):
    """Slow at the beginning and at the end alone, it stood twice, on two treads: it was carried on without a step."""
    whole = stances(binding, [0])
    slow = binding.slow.copy()
    for foot, first, last in zip(whole.joints, whole.first, whole.last, strict=True):
        slow[0, first + 4 : max(last - 3, first + 4), foot] = False
    sliding = replace(binding, slow=slow, rests=None)
    found = stances(sliding, [0])
    np.testing.assert_array_equal((found.first, found.last), (whole.first, whole.last))
    distance = sliding.distance.copy()
    distance[:, whole.middle] += 0.1
    assert len(stances(replace(sliding, distance=distance), [0])) > len(whole)
