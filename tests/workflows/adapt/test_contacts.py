"""The list of contacts: what Bind finds, what the user makes of it, and what becomes of that."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.environment.contact_words import set_contact
from bl_ext.devrepo.motion_loom.workflows.environment.contacts import edited
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of

from tests import adapt_live, commands
from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.adapt_commands import refused
from tests.commands import adapt, bind

OFF_STEP = "toe.R@Step:1-24=off"


def entries(rig, bone=None):
    return [item for item in rig.motion_loom_adapt.contacts if bone in (None, item.bone)]


def solved(rig, bone="toe.R"):
    return scenes.joints_of(rig, names=[bone])[:, 0]


def pick(rig, bone, frame=None):
    play.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones[bone]
    if frame is not None:
        bpy.context.scene.frame_set(frame)


def test_bind_lists_what_each_bone_touches(bound, capsys):
    found = entries(bound)
    assert {"toe.L", "toe.R"} <= {item.bone for item in found}
    assert all(item.state == "AUTO" and item.is_found and item.start <= item.end for item in found)
    bones = [item.bone for item in found]
    assert bones == sorted(bones, key=bones.index)
    report = adapt(capsys)
    assert [c["bone"] for c in report["contact_list"]] == bones and report["contact_list"][0]["state"] == "auto"


def test_a_contact_that_is_off_lets_go(bound, capsys):
    scenes.raise_step()
    held = adapt(capsys)
    kept = solved(bound)
    report = adapt(capsys, "--contact", OFF_STEP)
    assert np.abs(solved(bound) - kept).max() > 1e-4
    assert report["measures"]["contact_frames"] < held["measures"]["contact_frames"]
    assert adapt(capsys, "--contact", "toe.R@Step:1-24=auto")["contact_list"] == held["contact_list"]
    assert np.abs(solved(bound) - kept).max() < 1e-6


def test_what_is_on_goes_with_its_object(bound, capsys):
    scenes.raise_step()
    assert "ankle.L" not in adapt(capsys)["measures"]["contacts"]
    report = adapt(capsys, "--contact", "ankle.L@Step:16-22=on")
    entry = {"bone": "ankle.L", "object": "Step", "from": 16, "to": 22, "state": "on", "found": False, "own": False}
    assert entry in report["contact_list"]
    assert report["measures"]["contacts"]["ankle.L"] == {"counted": 7, "kept": 7, "covered": 0}


@pytest.mark.parametrize(
    "text, reason",
    [
        ("toe.L@Step:1-40=maybe", "is no contact; write BONE@OBJECT"),
        ("tail@Step:1-40=on", "has no bone 'tail'"),
        ("toe.L@Chair:1-40=on", "is not bound to 'Chair', so nothing touches it, but to Floor, Step"),
        ("toe.L@Step:9-3=on", "ends at frame 3, before it starts at 9"),
        ("wrist.L@Step:1-9=on", "cannot be held: the bone is more than"),
        ("toe.L@Step:900-990=on", "lies outside the bound frames"),
    ],
)
def test_what_makes_no_sense_is_named(bound, capsys, text, reason):
    assert reason in refused(capsys, "adapt", "--contact", text)


def test_a_bone_that_rides_has_no_contact(rig, capsys):
    bind(capsys, "--ride", "toe.R")
    assert "'toe.R' of 'Rig' is not solved" in refused(capsys, "adapt", "--contact", OFF_STEP)


def test_buttons_add_mirror_set_and_remove(bound):
    settings = bound.motion_loom_adapt
    count = len(settings.contacts)
    settings.active_surface = [item.bound_name for item in settings.surfaces].index("Step")
    pick(bound, "ankle.L", 16)
    assert bpy.ops.motion_loom.adapt_add_contact() == {"FINISHED"}
    item = settings.contacts[settings.active_contact]
    assert (item.bone, item.object, item.start, item.state, item.is_found) == ("ankle.L", "Step", 16, "ON", False)
    assert bpy.ops.motion_loom.adapt_mirror_contact() == {"FINISHED"}
    assert settings.contacts[settings.active_contact].bone == "ankle.R" and len(settings.contacts) == count + 2
    bpy.context.scene.frame_set(18)
    bpy.ops.motion_loom.adapt_set_contact_end(end="end")
    assert settings.contacts[settings.active_contact].end == 18
    bpy.context.scene.frame_set(5)
    with pytest.raises(RuntimeError, match="before it starts"):
        bpy.ops.motion_loom.adapt_set_contact_end(end="end")
    bpy.ops.motion_loom.adapt_remove_contact()
    assert len(settings.contacts) == count + 1
    bpy.ops.motion_loom.adapt_pick_contact()
    assert settings.contacts[settings.active_contact].bone == "ankle.L"
    bpy.ops.motion_loom.adapt_reset_contacts()
    assert len(settings.contacts) == count


@pytest.mark.parametrize("frame", [0, 25, 500])
def test_no_contact_is_added_outside_of_the_bound_frames(bound, frame):
    bound.motion_loom_adapt.active_surface = 1
    count = len(bound.motion_loom_adapt.contacts)
    pick(bound, "ankle.L", frame)
    with pytest.raises(RuntimeError, match=f"Frame {frame} lies outside the bound frames 1 to 24"):
        bpy.ops.motion_loom.adapt_add_contact()
    assert len(bound.motion_loom_adapt.contacts) == count


@pytest.mark.parametrize("first", [0, 1])
def test_of_entries_that_overlap_the_shorter_one_counts(bound, first):
    words = "ankle.L@Step:14-22=on", "ankle.L@Step:17-19=off"
    for word in (words[first], words[1 - first]):
        set_contact(bound, scenes.workflow(), word)
    binding = edited(bound, scenes.workflow(), stored_of(bound, scenes.workflow()))
    held = binding.touched[binding.objects.index("Step"), :, binding.track.skeleton.names.index("ankle.L")]
    assert binding.track.frames[held].tolist() == [14, 15, 16, 20, 21, 22]


def test_a_found_contact_is_switched_off_and_not_lost(bound):
    settings = bound.motion_loom_adapt
    count, settings.active_contact = len(settings.contacts), 0
    pick(bound, "hips")
    bpy.ops.motion_loom.adapt_remove_contact()
    assert len(settings.contacts) == count and settings.contacts[0].state == "OFF"


def test_a_bone_without_a_side_is_not_mirrored(bound):
    settings = bound.motion_loom_adapt
    settings.contacts[0].bone = "hips"
    settings.active_contact = 0
    with pytest.raises(RuntimeError, match="'hips' has no other side"):
        bpy.ops.motion_loom.adapt_mirror_contact()


def test_edits_are_kept_when_bound_again_and_the_rest_is_named(bound, capsys):
    adapt(capsys, "--no-assign", "--contact", "ankle.L@Step:16-20=on", "toe.L@Floor:1-3=off")
    entries(bound, "toe.L")[0].state = "OFF"
    off = (entries(bound, "toe.L")[0].object, entries(bound, "toe.L")[0].start)
    bpy.data.objects["Step"].name = "Stage"
    report = commands.run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Stage")
    assert [(c.object, c.start, c.state) for c in entries(bound, "ankle.L")] == [("Stage", 16, "ON")]
    states = {(c.object, c.start): c.state for c in entries(bound, "toe.L")}
    assert states[(off[0].replace("Step", "Stage"), off[1])] == "OFF"
    report = commands.run(capsys, "bind", "--rig", "Rig", "--environment", "Floor")
    assert any("'ankle.L' with 'Stage'" in note and "is left out" in note for note in report["notes"])


def test_edits_go_along_with_bones_that_are_renamed(bound, capsys):
    words = "--pin", "wrist.L=Step:3:9", "--hold", "wrist.R=3", "--leave", "elbow.R"
    adapt(capsys, "--no-assign", "--no-measures", "--contact", "ankle.L@Step:16-20=on", *words)
    for name in ("ankle.L", "wrist.L", "wrist.R", "elbow.R"):
        bound.data.bones[name].name = f"New {name}"
    play.press(bound, "fit")
    settings = bound.motion_loom_adapt
    assert [(c.start, c.end, c.state) for c in entries(bound, "New ankle.L") if not c.is_found] == [(16, 20, "ON")]
    assert (settings.pins[0].bone, settings.bones[0].bone) == ("New wrist.L", "New wrist.R")
    assert [item.name for item in settings.joints if item.mode == "LEAVE"] == ["New elbow.R"]
    assert "Bone 'ankle.L' is called 'New ankle.L' now" in settings.notes and "is left out" not in settings.notes


def test_edits_are_saved(bound, tmp_path):
    bound.motion_loom_adapt.contacts[0].state = "OFF"
    file = play.save(tmp_path / "edited.blend")
    bpy.ops.wm.open_mainfile(filepath=file)
    assert bpy.data.objects["Rig"].motion_loom_adapt.contacts[0].state == "OFF"


def test_a_live_rig_follows_its_contacts(live_rig, at_any_time):
    scenes.raise_step()
    adapt_live.follows(live_rig)
    for item in entries(live_rig, "toe.L"):
        item.state = "OFF"
    adapt_live.follows(live_rig)
