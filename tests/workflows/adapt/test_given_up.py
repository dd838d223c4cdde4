"""Contacts that a result does not keep are named: bone, object and frames, in the report, the panel and the command."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.adapt.report import remarks_of, shown_report

from benchmarks.blender_rig import build_armature
from checkout import PACKAGE
from tests import adapt_scenes as scenes
from tests.adapt_walk import FRAMES, STEP_HEIGHT, walk
from tests.commands import adapt


def add_stander():
    """In the middle of the walk, the right foot 15 cm higher than the left one and half a metre ahead."""
    track = walk(np.arange(25))
    sway = 0.02 * np.sin(np.linspace(0, 2 * np.pi, len(FRAMES)))[:, None, None] * [1.0, 0.0, 0.0]
    feet = [name[:-2] in ("ankle", "toe", "tip") for name in track.skeleton.names]
    positions = track.positions[12] + np.where(np.array(feet)[:, None], 0.0, sway)
    return build_armature(PACKAGE, replace(track, positions=positions, frames=FRAMES), "Rig")


def bound_to(*objects):
    rig = add_stander()
    bpy.context.view_layer.update()
    scenes.bind_rig(rig, objects)
    return rig


@pytest.fixture
def on_a_ramp(motion_loom):
    """The right foot on a ramp, the left one on the floor."""
    ramp = scenes.add_box("Ramp", (-0.6, 0.3, -0.3), (0.6, 1.6, STEP_HEIGHT))
    scenes.deform("Ramp", lambda at: at + np.where(at[:, 2:] > 0, [0.0, 0.0, 0.1], 0.0) * (at[:, 1:2] - 0.64))
    return bound_to(scenes.add_grid("Floor", (-1.5, 1.5), (-1.5, 2.5)), ramp)


@pytest.fixture
def on_two_boxes(motion_loom):
    """The left foot on one, the right foot on a higher one that is flush with it."""
    near = scenes.add_box("Near", (-0.6, -1.0, -0.3), (0.6, 0.3, 0.0))
    return bound_to(near, scenes.add_box("Far", (-0.6, 0.3, -0.3), (0.6, 1.6, STEP_HEIGHT)))


def moved(name, shift, capsys):
    """The report after an object has been moved, and the contacts that it names as given up."""
    bpy.data.objects[name].location = shift
    bpy.context.view_layer.update()
    report = adapt(capsys)
    return report, report["measures"]["given_up"]


def lost(bone, obj, covered=False):
    """In all frames."""
    return {"bone": bone, "object": obj, "covered": covered, "count": 24, "frames": [[1.0, 24.0]]}


def test_what_can_be_kept_is_not_named(on_two_boxes, capsys):
    report, given_up = moved("Far", (0.0, 0.9, 0.0), capsys)
    assert given_up == [] and report["notes"] == [] and report["measures"]["contacts_kept_pct"] == 100.0


def test_boxes_that_are_pulled_apart_further_than_legs_reach(on_two_boxes, capsys):
    report, given_up = moved("Far", (0.0, 2.5, 0.0), capsys)
    assert given_up == [lost("toe.L", "Near"), lost("toe.R", "Far")]
    note = "Contacts that the result gives up: 'toe.L' on 'Near' at frames 1 to 24; 'toe.R' on 'Far' at frames 1 to 24"
    assert note in report["notes"]
    assert any(text.startswith("Bone 'toe.R' keeps 0 %") and "with 'Far'" in text for text in report["warnings"])
    told = {each.text: each for each in remarks_of(shown_report(on_two_boxes, scenes.workflow()))}
    line = told["Gives up 'toe.L' on 'Near' in 24 frames"]
    assert (line.bone, line.frame, line.doubt) == ("toe.L", 1.0, "")


def test_boxes_that_are_run_into_each_other(on_two_boxes, capsys):
    report, given_up = moved("Far", (0.0, -0.3, 0.0), capsys)
    assert given_up == [lost("toe.L", "Near", covered=True)]
    assert report["notes"][-1].endswith("at frames 1 to 24, where that is covered")


def test_a_ramp_that_is_lifted_off_the_floor(on_a_ramp, capsys):
    """As long as it is too high for the foot: the frames that are named are those that the figures miss."""
    ramp = bpy.data.objects["Ramp"]
    for frame, height in ((1, 0.0), (8, 0.0), (16, 2.5), (24, 2.5)):
        ramp.location.z = height
        ramp.keyframe_insert("location", index=2, frame=frame)
    measures = adapt(capsys)["measures"]
    given_up = {(each["bone"], each["object"]): each for each in measures["given_up"]}
    assert set(given_up) == {("toe.R", "Ramp"), ("toe.L", "Floor")}
    for (bone, _), each in given_up.items():
        counts, spans = measures["contacts"][bone], each["frames"]
        assert sum(last - first + 1 for first, last in spans) == each["count"] == counts["counted"] - counts["kept"]
        assert 4 < spans[0][0] < 16 and spans[-1][1] == 24 and counts["kept"] > 0


def test_bones_that_are_deeper_in_something_than_in_the_source_are_named(on_two_boxes, capsys):
    """Nothing is changed, though the near box comes up by 4 cm: the left foot sinks in by as much."""
    on_two_boxes.motion_loom_adapt.influence = 0.0
    report, _ = moved("Near", (0.0, 0.0, 0.04), capsys)
    deeper = report["measures"]["deeper"]
    assert {each["object"] for each in deeper} == {"Near"} and {each["bone"][-2:] for each in deeper} == {".L"}
    assert deeper[0]["mm"] == pytest.approx(40.0, abs=1.5) and deeper[0]["frames"] == [[1.0, 24.0]]
    (note,) = [note for note in report["notes"] if "deeper inside than in the source" in note]
    assert f"'{deeper[0]['bone']}' in 'Near' by 40 mm at frames 1 to 24" in note
    # The foot stands on it, and contacts come before clearance; the chest does not.
    assert deeper[0]["held"] == deeper[0]["count"] and f"{deeper[0]['bone']}" in note and "contacts hold it" in note
    on_two_boxes.motion_loom_adapt.influence = 1.0
    report, _ = moved("Near", (0.0, 0.0, 0.04), capsys)
    assert not [note for note in report["notes"] if "deeper" in note]
