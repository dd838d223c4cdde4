"""Suggest over what matters of the source, and what each next pair would gain."""

import json

import bpy
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.map.pairs import left_unknown, suggested_gains

from tests import map_play as play
from tests import mesh_steps
from tests.panel_layout import Context, Layout

pytestmark = pytest.mark.usefixtures("no_traceback")


@pytest.fixture
def settings():
    """Of Worm, learnt, with two pairs."""
    return mesh_steps.once(lambda: play.make_ready(play.PAIRS[:2])).motion_loom_map


def suggestions(settings):
    mesh_steps.press("map_suggest")
    return [float(word) for word in settings.suggestions.split()]


def mark(**frames):
    scene = bpy.context.scene
    for name, (frame, select) in frames.items():
        scene.timeline_markers.new(name, frame=frame).select = select


def preview(start, end):
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, start, end


def test_suggestions_are_in_the_range_that_matters(settings):
    anywhere = suggestions(settings)
    settings.weigh_by, settings.weigh_start, settings.weigh_end = "CUSTOM", 14, 20
    found = suggestions(settings)
    assert found and all(14 <= frame <= 20 for frame in found) and found != anywhere
    preview(14, 20)
    settings.weigh_by = "PREVIEW"
    assert suggestions(settings) == found
    mark(first=(20, True), between=(17, False), second=(14, True), far=(38, False))
    settings.weigh_by = "MARKERS"
    assert suggestions(settings) == found
    settings.weigh_by = "WHOLE"
    assert suggestions(settings) == anywhere


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("PREVIEW", "no preview range"),
        ("MARKERS", "0 are selected; select the first and the last"),
        ("CUSTOM", "No frame of the source, 1 to 40, is in the range that Suggest weighs by, 50 to 60"),
    ],
)
def test_a_range_that_is_not_there_is_refused_by_name(settings, way, told):
    settings.weigh_start, settings.weigh_end = 50, 60
    before = suggestions(settings)
    settings.weigh_by = way
    with pytest.raises(RuntimeError, match=told):
        bpy.ops.motion_loom.map_suggest()
    assert [float(word) for word in settings.suggestions.split()] == before
    with pytest.raises(InputError, match=told):
        suggested_gains(bpy.context.scene, settings.id_data)


def test_gains_are_told_and_fall_once_the_pair_is_there(settings, capfd):
    frames = suggestions(settings)
    told = capfd.readouterr().out
    gains = suggested_gains(bpy.context.scene, settings.id_data)
    assert [frame for frame, _ in gains] == frames and all(f"{frame:g} ({gain:.1%})" in told for frame, gain in gains)
    values = [gain for _, gain in gains]
    assert values == sorted(values, reverse=True) and 0.05 < values[0] < 1.0
    settings.target_frame = 12
    left = left_unknown(bpy.context.scene, settings.id_data)
    mesh_steps.press("map_add_pair")
    assert left_unknown(bpy.context.scene, settings.id_data) == pytest.approx(left * (1.0 - values[0]), rel=1e-3)
    assert suggested_gains(bpy.context.scene, settings.id_data)[0][1] < 0.3 * values[0]


def test_the_panel_shows_gains_and_what_there_is_no_range_for(settings):
    ob = settings.id_data

    def drawn():
        out = []
        registry.by_id("map").draw(Layout(out, True), Context(ob))
        return [str(text) for text in out]

    assert not any("gains" in text for text in drawn())
    frames = suggestions(settings)
    told = [text for text in drawn() if "of what is left" in text]
    gains = suggested_gains(bpy.context.scene, ob)
    assert told == [f"Frame {frame:g}: gains {gain:.1%} of what is left" for frame, gain in gains]
    assert f"The pairs leave {left_unknown(bpy.context.scene, ob):.0%} unknown" in drawn()
    assert len(told) == len(frames) and "weigh_start" not in drawn()
    settings.weigh_by = "CUSTOM"
    assert "weigh_start" in drawn()
    settings.weigh_by = "PREVIEW"
    assert any("no preview range" in text for text in drawn()) and not any("gains" in text for text in drawn())
    settings.weigh_by = "WHOLE"
    assert [text for text in drawn() if "of what is left" in text] == told


def test_the_command_reports_what_next_pairs_gain(settings, capfd):
    """What is weighed by is taken from the file or given; half of a range, or one beside another way, is refused."""
    bake = ("map", "--target", "Worm", "--bake", "absolute-keys", "--json")

    def run(*words):
        code = jobs.main([*bake, *words])
        written = capfd.readouterr()
        return json.loads(written.out.splitlines()[-1]) if code == 0 else written.err

    found = run("--weigh-start", "14", "--weigh-end", "20")
    assert found["next_pairs"] and all(14 <= pair["frame"] <= 20 for pair in found["next_pairs"])
    assert found["next_pairs"][0]["gain"] > 0.0 and 0.0 < found["left_unknown"] < 1.0 and settings.weigh_by == "CUSTOM"
    assert run("--weigh-by", "whole")["next_pairs"] != found["next_pairs"]
    assert "Give both --weigh-start and --weigh-end" in run("--weigh-start", "14")
    assert "not of --weigh-by whole" in run("--weigh-by", "whole", "--weigh-start", "14", "--weigh-end", "20")
    assert "no preview range" in run("--weigh-by", "preview")
    settings.weigh_by = "MARKERS"
    found = run()
    assert not found["next_pairs"] and any("select the first and the last" in note for note in found["notes"])
