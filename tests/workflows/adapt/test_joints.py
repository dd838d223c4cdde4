"""The list of bones: what is solved, what rides and what stays, by limb, and what the user chooses instead."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.workflows.adapt.command import command_of
from bl_ext.devrepo.motion_loom.workflows.environment.joints import is_chosen_anew

from tests import adapt_scenes as scenes
from tests.adapt_scenes import bones_of
from tests.commands import adapt, bind, refused


def test_every_bone_is_listed_by_limb(rig, capsys):
    scenes.add_controls(rig)
    report = bind(capsys)
    assert report["solved"]["thigh.L"] == ["thigh.L", "knee.L", "ankle.L", "toe.L"]
    assert report["solved"]["arm.R"] == ["arm.R", "elbow.R", "wrist.R"]
    assert report["solved"]["hips"] == ["hips", "spine", "chest"] and report["solved"]["neck"] == ["neck", "head"]
    assert report["riding"] == {"root": "hips", "socket": "wrist.L", "ik_hand": "wrist.L", "pole": "hips"}
    assert report["staying"] == ["alone"]
    entries = rig.motion_loom_adapt.joints
    assert sorted(item.name for item in entries) == sorted(bones_of(rig))
    assert [item.limb for item in entries if item.name == "socket"] == ["arm.L"]


def test_what_is_chosen_counts_from_the_next_bind_on(rig, capsys):
    before = bind(capsys)
    entries = {item.name: item for item in rig.motion_loom_adapt.joints}
    entries["neck"].mode = "RIDE"
    assert is_chosen_anew(rig, scenes.workflow())
    report = bind(capsys)
    assert not is_chosen_anew(rig, scenes.workflow()) and report["riding"] == {"neck": "chest"}
    assert report["solved"].keys() - {"head"} == before["solved"].keys() - {"neck"}
    assert bind(capsys)["riding"] == {"neck": "chest"}


def test_bones_are_chosen_on_the_command_line(rig, capsys):
    scenes.add_controls(rig)
    report = bind(capsys, "--solve", "pole", "--ride", "toe.L", "toe.R")
    assert "pole" in report["solved"]["pole"] and report["riding"]["toe.L"] == "ankle.L"
    adapted = adapt(capsys)
    assert adapted["write_error_mm"] < 0.1
    assert all(adapted[key] == report[key] for key in ("solved", "riding", "staying"))


@pytest.mark.parametrize(
    "words, reason",
    [
        (("--ride", "tail"), "'Rig' has no bone 'tail'"),
        (("--ride", "neck", "--solve", "neck"), "Bone 'neck' is to be solved and to ride; choose one"),
    ],
)
def test_what_cannot_be_chosen_is_named(rig, capsys, words, reason):
    assert reason in refused(capsys, "bind", "--rig", "Rig", "--environment", "Floor", *words)
    assert rig.motion_loom_adapt.binding is None


def test_less_than_half_of_the_body_is_said(rig, capsys):
    report = bind(capsys)
    assert report["notes"] == []
    report = bind(capsys, "--ride", *(name for name in bones_of(rig) if name not in ("hips", "ankle.R")))
    (note,) = report["notes"]
    assert note.startswith("Only ") and "'elbow.L'" in note and "choose Solve" in note


LEG = ("thigh.R", "knee.R", "ankle.R", "toe.R")


def flag(rig, names):
    for bone in rig.data.bones:
        bone.use_deform = bone.name in names


def test_a_limb_that_moves_by_itself_and_rides_is_named(rig, capsys):
    scenes.add_controls(rig)
    flag(rig, [name for name in bones_of(rig) if name not in LEG])
    report = bind(capsys)
    assert report["riding"]["ankle.R"] == "hips"
    (note,) = [note for note in report["notes"] if "ride" in note]
    assert "'thigh.R'" in note and "on 'hips'" in note and "choose Solve" in note
    # Of the user's choice it does without a note.
    assert not any("ride" in note for note in bind(capsys, "--ride", *LEG)["notes"])
    solved = bind(capsys, "--solve", *LEG)
    assert set(LEG) <= set(sum(solved["solved"].values(), [])) and not any("rides on" in n for n in solved["notes"])


def test_a_mechanism_beside_the_body_is_no_limb(rig, capsys):
    """It moves as a leg does, and carries no skin."""
    flag(rig, [name for name in bones_of(rig) if name not in LEG])
    for name in LEG:
        constraint = rig.pose.bones["neck"].constraints.new("COPY_LOCATION")
        constraint.target, constraint.subtarget, constraint.mute = rig, name, True
    assert bind(capsys)["notes"] == []


def test_one_flagged_bone_and_a_shoe_leave_no_limb_out(rig, capsys):
    whole = bind(capsys)["solved"]
    flag(rig, ["wrist.R"])
    assert bind(capsys)["solved"] == whole
    shoe = scenes.add_box("Shoe", (0, 0, 0), (0.1, 0.1, 0.1))
    shoe.parent, shoe.parent_type, shoe.parent_bone = rig, "BONE", "ankle.L"
    assert bind(capsys)["solved"] == whole


def test_the_copied_command_chooses_them(rig, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "clip.blend"))
    item = rig.motion_loom_adapt.joints.add()
    item.name, item.mode = "neck", "RIDE"
    surface = rig.motion_loom_adapt.surfaces.add()
    surface.target = bpy.data.objects["Floor"]
    assert "--ride" in command_of(bpy.context, rig) and "neck" in command_of(bpy.context, rig)
