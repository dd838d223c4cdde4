"""How far a target goes that steps on the spot: by its strokes, at the tempo of its source, and files from before."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.map import follower
from bl_ext.devrepo.motion_loom.workflows.map.model import target_of, track_of

from tests import map_play as play
from tests.mesh_steps import MeshPlay
from tests.panel_layout import Context, Layout
from tests.stepping_bodies import CYCLE, SPEED, TRIANGLES, stepper

pytestmark = pytest.mark.usefixtures("silent")
FPS, ROUND = 24, 12
FRAMES = np.arange(1, 4 * ROUND + 2)
STEPS = MeshPlay("map", "Stepper", "Dots 2", FRAMES, None, None, 20, play.BUTTONS)


def places(frames, tempo=1.0):
    """(F, 5, 3) of the stumps of a smaller stepper and of its trunk."""
    vertices = 0.3 * stepper((np.asarray(frames, float) - 1.0) * tempo / ROUND)
    return vertices.reshape(len(vertices), 5, 8, 3).mean(axis=2) + vertices[:, ::8] * [0, 0, 1]


def make(tempo=1.0):
    """The stepper, driven by a smaller one at a tempo, backward below zero; a pair for each frame, 24 a second."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps = FPS
    ob = play.add_target("Stepper", stepper(np.arange(2 * ROUND + 1) / ROUND), TRIANGLES)
    frames = np.arange(1, round(4 * ROUND / abs(tempo)) + 2)
    play.learn(ob, play.add_dots(places=places(frames, tempo), frames=frames))
    paired = range(ROUND) if tempo > 0 else range(-3 * ROUND, -2 * ROUND)
    play.pair(ob, *((1 + round((ROUND + at) / tempo), 1 + (ROUND + at) % (2 * ROUND)) for at in paired))
    return ob


def gone(ob):
    """How far along -Y over the last two cycles, of what its own feet ask for."""
    track = track_of(ob)
    middle = len(track.times) // 2
    return (track.positions[middle, 1] - track.positions[-1, 1]) / (2 * target_of(ob).travel.cycle)


def panel_texts(ob):
    out = []
    registry.by_id("map").draw(Layout(out, True), Context(ob))
    return " ".join(map(str, out))


def test_its_feet_cover_the_same_ground_at_every_tempo():
    """By pairs that it meets to a tenth: its mapped feet step that much shorter."""
    ways = []
    for tempo in (1 / 3, 0.5, 1.0):
        ob = make(tempo)
        assert target_of(ob).travel.auto == "stance"
        ways.append(gone(ob))
    assert ways[-1] == pytest.approx(1.0, abs=0.12)
    np.testing.assert_allclose(ways, ways[-1], rtol=0.02)


def test_live_is_what_is_baked_and_both_say_what_it_stands_on(capfd):
    ob = make()
    play.toggle(ob)
    seen = STEPS.follows_as_baked(ob)
    assert (seen[-1] - seen[0]).mean(axis=0)[1] == pytest.approx(-4 * CYCLE * SPEED, rel=0.2)
    told = "the strokes of its 4 feet"
    assert told in panel_texts(ob)
    play.toggle(ob)
    capfd.readouterr()
    assert jobs.main(["map", "--target", "Stepper", "--bake", "absolute-keys", "--json"]) == 0
    assert told in capfd.readouterr().out


def test_steps_backward_are_told_in_panel_report_and_while_performed(monkeypatch, capfd):
    """Of a source that walks backward, to which it is paired so; nothing of the kind is said of one that walks."""
    said = "step backward"
    ob = make()
    play.toggle(ob)
    assert said not in panel_texts(ob)
    play.toggle(ob)
    ob = make(-1.0)
    assert gone(ob) == pytest.approx(-1.0, abs=0.12)
    assert jobs.main(["map", "--target", "Stepper", "--bake", "absolute-keys", "--json"]) == 0
    assert said in capfd.readouterr().out
    play.toggle(ob)
    assert said in panel_texts(ob)
    ob.motion_loom_map.live_input = True
    clock = [100.0]
    monkeypatch.setattr(follower.time, "monotonic", lambda: clock[0])
    empties = list(bpy.data.collections["Dots"].objects)
    for empty in empties:
        empty.animation_data_clear()
    for place in places(np.arange(1.0, 2 * ROUND), -1.0):
        for empty, at in zip(empties, place, strict=True):
            empty.location = at
        clock[0] += 1.0 / FPS
        play.now(ob)
    assert said in panel_texts(ob)


def test_a_stride_is_as_long_as_it_is_said_to_be():
    ob = make(0.5)
    ob.motion_loom_map.travel, ob.motion_loom_map.stride = "STRIDE", 2.0
    assert gone(ob) == pytest.approx(2.0 / target_of(ob).travel.cycle, rel=0.12)
    assert "length of stride" in panel_texts(ob)


def test_a_performed_source_steps_as_far(monkeypatch):
    """It sees no future, yet goes as far; and stands when its source does."""
    clock = [100.0]
    monkeypatch.setattr(follower.time, "monotonic", lambda: clock[0])
    ob = make()
    play.toggle(ob)
    ob.motion_loom_map.live_input = True
    empties = list(bpy.data.collections["Dots"].objects)
    for empty in empties:
        empty.animation_data_clear()
    frames = np.concatenate((np.arange(1.0, 4 * ROUND + 1, 0.4), np.full(60, 4.0 * ROUND)))
    found = []
    for place in places(frames):
        for empty, at in zip(empties, place, strict=True):
            empty.location = at
        clock[0] += 0.4 / FPS
        found.append(play.now(ob).mean(axis=0)[1])
    walk = len(frames) - 60
    assert found[walk - 1] - found[walk // 2] == pytest.approx(-2 * CYCLE * SPEED, rel=0.2)
    assert abs(found[-1] - found[-30]) < 0.01 * SPEED


def test_a_file_from_before_goes_as_it_went_and_says_how_to_renew_it(tmp_path):
    """Without the arrays of strokes; until it is learnt again."""
    ob = make()
    settings = ob.motion_loom_map
    arrays, header = binding_store.load(settings.learnt)
    kept = {name: array for name, array in arrays.items() if not name.startswith(("travel strokes", "travel cycle"))}
    header["texts"].pop("travel no strokes")
    settings.learnt = binding_store.save(ob.name, kept, header)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "before.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "before.blend"))
    ob = bpy.data.objects["Stepper"]
    assert target_of(ob).travel.strokes is None and track_of(ob).positions[-1, 1] < -0.5 * CYCLE * SPEED
    assert "earlier version" in panel_texts(ob) and "Learn Again" in panel_texts(ob)
    play.toggle(ob)
    assert STEPS.healthy(ob)
    play.toggle(ob)
    play.learn(ob)
    assert "earlier version" not in panel_texts(ob) and gone(ob) == pytest.approx(1.0, abs=0.12)


def test_feet_that_are_damaged():
    ob = make()
    settings = ob.motion_loom_map
    arrays, header = binding_store.load(settings.learnt)
    feet = arrays["travel strokes vertices"]
    for wrong in (feet + 10**6, feet[:-1], -1 - feet):
        settings.learnt = binding_store.save(ob.name, arrays | {"travel strokes vertices": wrong}, header)
        play.activate(ob)
        with pytest.raises(RuntimeError, match="damaged.*learn the target again"):
            bpy.ops.motion_loom.live(workflow="map")
