"""One frame by itself against the frames of a track: the same in the same environment, near in a changed one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.climbs import climb
from benchmarks.scenes import mug
from solvers.adapt.frame import FrameAdapter
from solvers.adapt.solve import AVOID, IGNORE, AdaptOptions, Pin, SurfaceUse, adapt
from solvers.core.errors import InputError, StaleBindingError
from solvers.warp.joint_limits import JointLimits
from tests.adapt_bound import Bound, made_and


@pytest.fixture(scope="module")
def climbing():
    return Bound(climb(0), 900, 1200)


@pytest.fixture(scope="module")
def descending():
    return Bound(climb(1), 1500, 1800)


@pytest.fixture(scope="module", params=made_and("climbing"))
def up(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module", params=made_and("climbing", "descending"))
def bound(request):
    return request.getfixturevalue(request.param)


def rows(bound):
    """Some frames of a track, from the first to near the last."""
    return np.arange(0, bound.frames, 13)


def states(meshes, row=0):
    return [mesh.state(row) for mesh in meshes]


def gaps(bound, adapter, motion):
    """Largest distance of a joint from the track's (R,), metres."""
    found = [adapter.solve(row).positions for row in rows(bound)]
    return np.linalg.norm(np.stack(found) - motion.positions[rows(bound)], axis=-1).max(axis=1)


def solved(bound, meshes, options):
    motion = adapt(bound.binding, meshes, options)
    adapter = FrameAdapter(bound.binding, options, motion.moves)
    adapter.update(states(meshes))
    return motion, adapter


@pytest.mark.parametrize("edit", ["lifted_and_tilted", "stretched", "mixed", None])
def test_the_track_s_environment_gives_its_frames(bound, edit):
    motion, adapter = solved(bound, bound.changed(edit) if edit else bound.meshes, AdaptOptions())
    gap = gaps(bound, adapter, motion)
    print(edit, 1000 * np.median(gap), 1000 * gap.max())
    # Between two boxes a frame rests on tangent planes that the track may have taken a few millimetres aside; a leg
    # that bends easily may find room on another side of a corner.
    median, most = (2e-3, 0.01) if edit == "mixed" else (2.5e-4, 2.5e-3)
    assert np.median(gap) < median and np.percentile(gap, 70) < most and gap.max() < 0.025
    for row in rows(bound)[::6]:
        turn, other = adapter.solve(row).turns, motion.turns[row]
        assert np.degrees(2 * np.arccos(np.minimum(np.abs((turn * other).sum(axis=-1)), 1.0))).max() < 6


def knees(bound):
    straight = np.tile([1.0, 0, 0, 0], (bound.frames, 2, 1))
    low, high = np.full((2, 3), -0.1), np.full((2, 3), 0.1)
    return JointLimits(bound.joints("knees"), low, high, ("XYZ", "ZXY"), straight, straight)


def hand_pin(bound):
    (hand,) = bound.joints("hand")
    place = bound.track.positions[:, hand] + [0.0, 0.05, 0.1]
    return Pin(hand, place, np.clip((np.arange(bound.frames) - bound.frames // 3) / 36, 0, 1))


OPTIONS = {
    "open": lambda bound: AdaptOptions(collision=False),
    "larger": lambda bound: AdaptOptions(scale=1.15),
    "resized": lambda bound: AdaptOptions(scale=0.9, resized=0.9 * bound.track.positions),
    "limits": lambda bound: AdaptOptions(limits=knees(bound)),
    "pins": lambda bound: AdaptOptions(pins=(hand_pin(bound),)),
    "avoid": lambda bound: AdaptOptions(surfaces=(SurfaceUse(), SurfaceUse(AVOID), *(SurfaceUse(),) * 2)),
    "influence": lambda bound: AdaptOptions(surfaces=(SurfaceUse(), SurfaceUse(influence=0.4), *(SurfaceUse(),) * 2)),
    "ignore": lambda bound: AdaptOptions(surfaces=(SurfaceUse(), SurfaceUse(IGNORE), *(SurfaceUse(),) * 2)),
    "nothing": lambda bound: AdaptOptions(surfaces=(SurfaceUse(IGNORE),) * 4),
    "weights": lambda bound: AdaptOptions(joint_weight=np.linspace(0, 2, len(bound.track.skeleton.names))),
    "no turning": lambda bound: AdaptOptions(orientation=0.0),
    "wide": lambda bound: AdaptOptions(clearance=0.15, contact_reach=0.0),
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_option_means_the_same(up, options):
    motion, adapter = solved(up, up.changed("tilted"), options(up))
    gap = gaps(up, adapter, motion)
    print(1000 * np.median(gap), 1000 * gap.max())
    # With some objects heeded less than others, the body is squeezed between them; a step is near the foot behind it.
    squeezed = options in (OPTIONS["avoid"], OPTIONS["influence"]) or (up.scene.name, options) == (
        "made",
        OPTIONS["wide"],
    )
    assert np.median(gap) < (2e-3 if squeezed else 2.5e-4) and gap.max() < (0.03 if squeezed else 4e-3)


@pytest.mark.parametrize("scale", [1.0, 1.1])
def test_without_collisions_the_track_before_the_change_does(up, scale):
    """Nothing is smoothed then, and where a frame starts matters by less than a tenth of the tolerance."""
    options = AdaptOptions(collision=False, upright=0.0, scale=scale)
    adapter = FrameAdapter(up.binding, options, adapt(up.binding, up.meshes, options).moves)
    adapter.update(states(up.changed("tilted")))
    assert gaps(up, adapter, adapt(up.binding, up.changed("tilted"), options)).max() < 1e-5


@pytest.mark.parametrize("edit", ["moved:Box1", "tilted", "stretched"])
def test_a_changed_environment_is_followed_before_the_track_is(up, edit):
    """With the moves of the track before the change the frame is near what the track will be."""
    follows_before_the_track(up, edit)


@pytest.mark.captures
def test_widened_objects_are_followed_before_the_track_is(climbing):
    """Made steps come into the foot behind them."""
    follows_before_the_track(climbing, "widened")


def follows_before_the_track(up, edit):
    here = adapt(up.binding, up.meshes)
    adapter = FrameAdapter(up.binding, AdaptOptions(), here.moves)
    adapter.update(states(up.meshes))
    adapter.solve(0)
    adapter.update(states(up.changed(edit)))
    motion = adapt(up.binding, up.changed(edit))
    gap = gaps(up, adapter, motion)
    moved = np.linalg.norm(motion.positions - here.positions, axis=-1).max(axis=1)
    print(edit, 1000 * np.median(gap), 1000 * np.percentile(gap, 95), 1000 * np.median(moved))
    # How low the hips go is smoothed over time, which a frame cannot know before the track does.
    assert np.percentile(gap, 95) < 0.05 and np.median(gap) < 0.1 * np.median(moved)


def test_a_result_depends_on_nothing_that_was_solved_before(up):
    after = up.changed("lifted_and_tilted")
    motion, fresh = solved(up, after, AdaptOptions())
    used = FrameAdapter(up.binding, AdaptOptions(), motion.moves)
    for edit in ("widened", "moved", "stretched"):
        used.update(states(up.changed(edit)))
        for row in (up.frames - 50, 10, up.frames // 2):
            used.solve(row)
    used.update(states(after))
    for row in (up.frames // 2, 0, up.frames - 1, 10):
        one, other = fresh.solve(row), used.solve(row)
        assert np.abs(one.positions - other.positions).max() < 1e-4
        assert np.array_equal(one.positions, fresh.solve(row).positions)


@pytest.mark.captures
def test_surroundings_moved_as_one_take_the_frame_along(climbing):
    turn, shift = Rotation.from_rotvec([0.2, -0.4, 1.1]).as_matrix(), np.array([2.0, -1.0, 0.5])
    after = climbing.changed("tilted")
    motion, adapter = solved(climbing, after, AdaptOptions(upright=0.0))
    here = [adapter.solve(row).positions for row in rows(climbing)]
    adapter.update([replace(m, vertices=m.vertices @ turn.T + shift) for m in states(after)])
    for row, before in zip(rows(climbing), here, strict=True):
        assert np.abs(adapter.solve(row).positions - (before @ turn.T + shift)).max() < 1e-6


@pytest.mark.captures
def test_bound_while_an_object_moves():
    """A mug in a hand: the descriptors' frames at bind are the row's own."""
    bound = Bound(mug(), 0, 30)
    motion = adapt(bound.binding, bound.meshes)
    adapter = FrameAdapter(bound.binding, AdaptOptions(), motion.moves)
    for row in range(0, 30, 4):
        adapter.update(states(bound.meshes, row))
        assert np.linalg.norm(adapter.solve(row).positions - motion.positions[row], axis=1).max() < 1e-3


def test_what_cannot_be_solved_is_named(up):
    moves = adapt(up.binding, up.meshes).moves
    adapter = FrameAdapter(up.binding, AdaptOptions(), moves)
    with pytest.raises(InputError, match="not known yet"):
        adapter.solve(0)
    with pytest.raises(StaleBindingError, match="bound to 4 objects"):
        adapter.update(states(up.meshes)[:2])
    adapter.update(states(up.meshes))
    with pytest.raises(InputError, match=f"Row {up.frames}"):
        adapter.solve(up.frames)
    with pytest.raises(InputError, match="scale"):
        FrameAdapter(up.binding, AdaptOptions(scale=-1.0), moves)
    flat = [replace(m, vertices=0.0 * m.vertices) for m in states(up.meshes)]
    before = adapter.solve(0).positions
    with pytest.raises(InputError, match="Ground"):
        adapter.update(flat)
    with pytest.raises(InputError, match="not known yet"):
        adapter.solve(0)
    adapter.update(states(up.meshes))
    assert np.abs(adapter.solve(0).positions - before).max() < 1e-9


def test_taking_over_surfaces_changes_nothing(up):
    motion = adapt(up.binding, up.meshes, AdaptOptions())
    first, fresh, heir = (FrameAdapter(up.binding, AdaptOptions(orientation=o), motion.moves) for o in (1.0, 0.5, 0.5))
    first.update(states(up.meshes))
    before = first.solve(100).positions
    heir.take_over(first)
    with pytest.raises(InputError, match="not known yet"):
        heir.solve(100)
    for adapter in (heir, fresh):
        adapter.update(states(up.changed("lifted_and_tilted")))
    assert np.abs(heir.solve(100).positions - fresh.solve(100).positions).max() < 1e-9
    first.update(states(up.meshes))
    assert np.abs(first.solve(100).positions - before).max() < 1e-12
