"""Map live: how it travels and turns, what is performed without keys, and what is left when a step does not end."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.solvers.core.errors import MotionLoomError
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live, registry
from bl_ext.devrepo.motion_loom.workflows.map import follower
from bl_ext.devrepo.motion_loom.workflows.mesh import live as mesh_live

from tests import map_play as play
from tests import mesh_steps
from tests.map_play import FRAMES, MAP, PAIRS, healthy, problem, status
from tests.mesh_steps import SAME, everything, hide, once, reopened, shown

pytestmark = pytest.mark.usefixtures("silent")


# -------------------------------------------------------------------------------------------------- travel, turn, time


def make_travelling():
    """A worm that crawls along -Y by keys of its object, and six dots."""
    ob = play.add_target()
    play.write_keys(ob, "location", [1, 24], [[2, 0, 0], [2, -3, 0]])
    play.learn(ob, play.add_dots())
    play.pair(ob, *PAIRS)
    return ob


@pytest.mark.parametrize("travel", ("AUTO", "LEARNT", "FEET", "STRIDE", "SOURCE", "NONE"))
def test_every_way_to_travel(both_ways, travel):
    ob = once(make_travelling)
    play.toggle(ob)
    settings = ob.motion_loom_map
    settings.turn_ratio, settings.stride = 0.0, 2.0
    settings.travel = travel
    play.now(ob)
    followed = MAP.follows_as_baked(ob)
    way = followed[-1].mean(axis=0) - followed[0].mean(axis=0)
    if travel in ("AUTO", "LEARNT", "STRIDE"):
        assert -12.0 < way[1] < -0.4 and abs(way[0]) < abs(way[1])
    if travel == "SOURCE":
        np.testing.assert_allclose(way[1], -0.8 * 39 / 24, atol=1.0)
    if travel == "NONE":
        assert np.abs(way[:2]).max() < 0.5
        here = settings.live_copy.matrix_world.translation
        assert np.abs(np.array(here)[:2] - [2, 0]).max() < 1e-5
    settings.travel_scale = 2.0
    play.now(ob)
    assert (np.abs(MAP.follows_as_baked(ob) - followed).max() > 0.1) == (travel != "NONE")


def test_the_target_turns_with_its_source(both_ways, ob, settings):
    settings.travel = "NONE"
    turned = {}
    for ratio in (0.0, 1.0, -0.5):
        settings.turn_ratio = ratio
        play.now(ob)
        bpy.context.scene.frame_set(40)
        turned[ratio] = settings.live_copy.matrix_world.to_euler().z
        MAP.follows_as_baked(ob)
    assert abs(turned[0.0]) < 1e-6
    assert turned[1.0] == pytest.approx(0.5 * 39 / 24, abs=0.3)
    assert turned[-0.5] == pytest.approx(-0.5 * turned[1.0], abs=1e-5)


@pytest.mark.parametrize(("fps", "base"), [(30, 1.0), (60, 1.001), (12, 1.0)])
def test_the_frame_rate_is_changed_after_learning(both_ways, ob, fps, base):
    """Frames are frames: keys stay where they are, and so does the result."""
    before = play.followed(ob)
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
    np.testing.assert_array_equal(play.followed(ob), before)
    np.testing.assert_allclose(MAP.follows_as_baked(ob), before, atol=SAME)
    MAP.press(ob, "live_refresh")
    np.testing.assert_allclose(play.followed(ob), before, atol=SAME)


@pytest.mark.parametrize(("old", "new"), [(100, 200), (100, 50), (90, 100)])
def test_it_is_learnt_where_time_is_stretched(both_ways, old, new):
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = old, new
    ob = play.make_ready([tuple(round(frame * new / old) for frame in frames) for frames in PAIRS])
    play.toggle(ob)
    np.testing.assert_allclose(play.followed(ob)[:20], shown(play.bake(ob), FRAMES)[:20], atol=1e-5)


def test_a_source_that_moves_longer_than_was_learnt_is_told(both_ways, ob, capfd):
    """Keys pulled apart: what is followed and baked is the range that was learnt."""
    assert "has grown" not in status(ob).note
    for dot in bpy.data.collections["Dots"].objects:
        play.write_keys(dot, "location", 2 * FRAMES - 1, play.dots()[:, int(dot.name[-1])])
    MAP.press(ob, "live_refresh")
    grown = "The range of 'Dots' has grown: it is frames 1 to 79, and 1 to 40 were learnt"
    assert grown in (out := capfd.readouterr().out) and "at all frames" not in out
    assert grown in status(ob).note
    play.bake(ob)
    assert grown in capfd.readouterr().out
    play.press("fit", workflow="map")
    assert "has grown" not in status(ob).note


# ---------------------------------------------------------------------------------------------------------- performing


@pytest.fixture
def clock(both_ways, monkeypatch):
    """A clock that tests set."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    found = Clock()
    monkeypatch.setattr(follower.time, "monotonic", found.monotonic)
    return found


def unkeyed(ob):
    """The source's empties without their actions, to be moved by hand."""
    empties = list(bpy.data.collections["Dots"].objects)
    for empty in empties:
        empty.animation_data_clear()
    return empties


def perform(ob, empties, clock, places, fps=60.0):
    """World vertices (N, V, 3) while the empties go through places (N, 6, 3)."""
    found = []
    for place in places:
        for empty, at in zip(empties, place, strict=True):
            empty.location = at
        clock.now += 1.0 / fps
        found.append(play.now(ob))
    return np.array(found)


def moved_by_hand(clock, travel="NONE"):
    ob = MAP.add_live()
    ob.motion_loom_map.travel = travel
    play.now(ob)
    ob.motion_loom_map.live_input = True
    return ob, unkeyed(ob)


def test_a_source_that_moves_without_keys(clock):
    ob, empties = moved_by_hand(clock)
    frames = np.linspace(1, 40, 98)
    found = perform(ob, empties, clock, play.dots(frames))
    assert healthy(ob) and np.isfinite(found).all()
    ob.motion_loom_map.live_input = False
    expected = shown(ob.motion_loom_map.live_copy, frames)
    off = np.abs(found - expected)[12:]  # the first tenth of a second has another past
    assert off.max() < 0.05


def test_a_performed_source_travels_as_it_goes(clock):
    ob, empties = moved_by_hand(clock, "SOURCE")
    found = perform(ob, empties, clock, play.dots(np.linspace(1, 40, 98)))
    assert (found[-1] - found[0]).mean(axis=0)[1] == pytest.approx(-0.8 * 39 / 24, abs=0.8)


def test_a_performed_source_that_falls_silent(clock):
    """It stood still, and did not go on as it went."""
    ob, empties = moved_by_hand(clock, "STRIDE")
    found = perform(ob, empties, clock, play.dots(np.linspace(1, 20, 48)))
    clock.now += 60.0
    after = perform(ob, empties, clock, play.dots(np.array([20.2])))
    step = np.abs(found[-1].mean(axis=0) - found[0].mean(axis=0)).max() / 48
    assert np.abs(after[0].mean(axis=0) - found[-1].mean(axis=0)).max() < 0.15 + 10 * step


def test_gaps_of_a_performed_source(clock):
    ob, empties = moved_by_hand(clock)
    places = play.dots(np.linspace(1, 40, 60))
    perform(ob, empties, clock, places[:30])
    empties[2].hide_viewport = True
    found = perform(ob, empties, clock, places[30:40])
    assert healthy(ob) and np.isfinite(found).all()
    mesh_steps.press("map_add_pair")
    for empty in empties:
        empty.hide_viewport = True
    found = perform(ob, empties, clock, places[40:45])
    assert healthy(ob) and np.isfinite(found).all()


def test_performed_pairs(clock, tmp_path):
    """Made while it moves, they give what pairs of frames would have given."""
    pairs = (6, 1), (13, 8), (22, 15), (34, 20)
    ob = MAP.add_ready(pairs)
    settings = ob.motion_loom_map
    settings.travel = "NONE"
    expected = shown(play.bake(ob), FRAMES)
    play.toggle(ob)
    empties = unkeyed(ob)
    settings.live_input = True
    for number in range(len(pairs)):
        settings.pairs[number].use = number < 2
    for source, target in pairs:
        perform(ob, empties, clock, play.dots(np.linspace(source - 8, source, 21)))
        settings.target_frame = target
        mesh_steps.press("map_add_pair")
        assert settings.pairs[-1].performed
        clock.now += 1.0
    for _ in pairs:
        mesh_steps.press("map_remove_pair", index=0)
    assert len(settings.pairs) == len(pairs)
    settings.live_input = False
    for empty, places in zip(empties, np.moveaxis(play.dots(), 1, 0), strict=True):
        play.write_keys(empty, "location", FRAMES, places)
    found = shown(settings.live_copy, FRAMES)
    assert healthy(ob)
    assert np.abs(found - expected).max() < 0.1
    ob = reopened(ob, tmp_path)
    np.testing.assert_allclose(shown(ob.motion_loom_map.live_copy, FRAMES), found, atol=SAME)


def test_a_performed_pair_without_live(clock):
    ob = MAP.add_ready()
    ob.motion_loom_map.live_input = True
    mesh_steps.press("map_add_pair")
    bpy.data.objects["Dots 1"].hide_viewport = True
    mesh_steps.press("map_add_pair")
    play.bake(ob)


def test_a_damaged_performed_pair(both_ways, ob):
    pair = ob.motion_loom_map.pairs[1]
    for text in ("broken", "~~~~~", "00000"):
        pair.performed = text
        ob.update_tag()
        assert "remove that pair" in problem(ob)
    pair.performed = ""
    ob.update_tag()
    assert problem(ob) is None


# ----------------------------------------------------------------------------------------------- steps that do not end


def left(ob):
    """What a bake or a refresh may not touch before its end."""
    settings = ob.motion_loom_map
    stored = [(block.name, binding_store.mark(block)) for block in (settings.clip, settings.learnt)]
    found = everything(), sorted(bpy.data.meshes.keys()), sorted(bpy.data.node_groups.keys()), stored
    return *found, settings.result, bpy.context.scene.frame_current


def steps_of(ob, step):
    play.activate(ob.motion_loom_map.live_copy or ob)
    return live.while_paused(getattr(registry.by_id("map"), step)(bpy.context))


def cancelled_after(ob, step, count):
    """Whether the step had more parts than that; it is at its end otherwise."""
    steps = steps_of(ob, step)
    try:
        for _ in range(count):
            next(steps)
    except StopIteration:
        return False
    steps.close()
    return True


@pytest.mark.parametrize("kind", ("PCA_KEYS", "ABSOLUTE_KEYS", "refresh"))
def test_cancelled_after_the_source_was_read_again(ob, kind):
    play.edit()
    bpy.context.scene.frame_set(7)
    step = "live_refresh" if kind == "refresh" else "bake"
    ob.motion_loom_map.bake_kind = "PCA_KEYS" if kind == "refresh" else kind
    before, count = left(ob), 1
    while cancelled_after(ob, step, count):
        assert left(ob) == before, count
        count += 1
    assert count > 1 and left(ob)[2] != before[2]
    assert healthy(ob)
    if kind == "ABSOLUTE_KEYS":
        baked = shown(ob.motion_loom_map.result, FRAMES)
        np.testing.assert_allclose(baked, play.followed(ob), atol=SAME)


def test_no_target_frame(ob):
    ob.motion_loom_map.target_frame = float("nan")
    with pytest.raises(MotionLoomError, match="not a number"):
        registry.by_id("map").overlay(bpy.context, ob)
    with pytest.raises(RuntimeError, match="Target frame nan is outside"):
        bpy.ops.motion_loom.map_add_pair()
    assert problem(ob) is None and len(ob.motion_loom_map.pairs) == len(play.PAIRS)


# ------------------------------------------------------------------------------------------------------ hidden targets


def live_on(ob):
    """As for the active object, which one of an excluded collection cannot be."""
    list(live.while_paused(mesh_live.live_on_steps(bpy.context, ob, registry.by_id("map"))))


@pytest.mark.parametrize("how", ("object", "collection", "in this view layer", "excluded"))
def test_a_hidden_target_does_not_go_live(how):
    ob = MAP.add_ready()
    show = hide(ob, how)
    before = everything()
    with pytest.raises(MotionLoomError, match="'Worm' is disabled in viewports, or its collections"):
        live_on(ob)
    assert everything() == before and not ob.motion_loom_map.live and not live_runs.runs
    if how in ("object", "collection"):
        play.bake(ob)
    show()
    live_on(ob)
    assert healthy(ob) and ob.motion_loom_map.live_copy.visible_get()


def test_a_target_hidden_with_h_goes_live():
    ob = MAP.add_ready()
    ob.hide_set(True)
    live_on(ob)
    assert healthy(ob) and ob.motion_loom_map.live_copy.visible_get()
    play.toggle(ob)
    assert ob.hide_get() and not ob.hide_viewport
