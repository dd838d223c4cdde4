"""Presets of which controls get results: in Blender's folder of presets and in files, for rigs with such controls."""

import json

import bpy
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError
from bl_ext.devrepo.motion_loom.workflows.rig import control_presets

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes


@pytest.fixture(scope="module")
def bound_file(tmp_path_factory):
    bpy.ops.wm.read_homefile(use_empty=True)
    control_scenes.animate_leg(control_scenes.add_leg())
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = 8
    play.bind(bpy.data.objects["Rig"], ("Floor",))
    return play.save(tmp_path_factory.mktemp("presets") / "leg.blend")


@pytest.fixture
def rig(bound_file, tmp_path, monkeypatch):
    monkeypatch.setattr(control_presets, "preset_folder", lambda: tmp_path / "presets")
    bpy.ops.wm.open_mainfile(filepath=bound_file)
    return bpy.data.objects["Rig"]


def used(rig):
    return {item.name for item in rig.motion_loom_adapt.controls if item.use}


def choose(rig, *names, write_to="IK", trunk="TWEAKS"):
    chosen = rig.motion_loom_adapt
    for item in chosen.controls:
        item.use = item.name in names
    chosen.write_to, chosen.trunk = write_to, trunk


def loaded(rig, path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return control_presets.use_preset(rig.motion_loom_adapt, str(path), control_presets.read_preset(str(path)))


def preset(**changes):
    content = {"format": "motion_loom_controls", "version": 1, "write_to": "FK", "trunk": "MAIN"}
    return content | {"controls": {"g": True}} | changes


def test_a_preset_that_was_saved_brings_the_choice_back(rig):
    choose(rig, "g", "p")
    assert bpy.ops.motion_loom.adapt_save_controls(name="Nur Füße") == {"FINISHED"}
    assert control_presets.preset_names() == ["Nur Füße"]
    choose(rig, "b", write_to="AS_KEYED", trunk="KEYED")
    assert bpy.ops.motion_loom.adapt_load_controls(name="Nur Füße") == {"FINISHED"}
    chosen = rig.motion_loom_adapt
    assert used(rig) == {"g", "p"} and (chosen.write_to, chosen.trunk) == ("IK", "TWEAKS")
    assert bpy.ops.motion_loom.adapt_remove_controls(name="Nur Füße") == {"FINISHED"}
    assert control_presets.preset_names() == []


def test_another_rig_uses_it_as_far_as_it_has_the_controls(rig, tmp_path):
    """Controls that it has not got are named, and so are those of which the preset says nothing."""
    choose(rig, "b", "p")
    told = loaded(rig, tmp_path / "other.json", preset(controls={"g": True, "b": False, "hand": True}))
    assert used(rig) == {"g", "p"}, "p is not in the preset"
    assert "the rig has no 'hand'" in told and "the preset says nothing of" in told and "'p'" in told


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("no json", "is not a preset of controls"),
        ("[" * 100_000, "is not a preset of controls"),
        ('{"format": 1, "format": 2}', "is there twice"),
        ({"format": "motion_loom_pairs", "version": 1}, "choose one that Save Control Preset has written"),
        (preset(version=2), "another version"),
        (preset(write_to="UP"), 'write_to is "UP"; it can be AS_KEYED, FK'),
        ({key: value for key, value in preset().items() if key != "trunk"}, "trunk is missing"),
        (preset(controls=[]), "names no controls"),
        (preset(controls={"g": 1}), "'g' is 1, neither true nor false"),
        (preset(controls={"hand": True, "g": False}), "has none of the controls that"),
    ],
)
def test_files_that_are_no_presets_change_nothing(rig, tmp_path, content, reason):
    choose(rig, "b")
    with pytest.raises(InputError) as error:
        loaded(rig, tmp_path / "bad.json", content)
    assert reason in str(error.value) and "bad.json" in str(error.value)
    assert used(rig) == {"b"} and rig.motion_loom_adapt.write_to == "IK"


@pytest.mark.parametrize("name", ["", "  ", "../up", "a/b", ".hidden", "a\nb"])
def test_names_that_no_file_can_have(rig, name):
    with pytest.raises(RuntimeError, match="cannot be the name of a preset"):
        bpy.ops.motion_loom.adapt_save_controls(name=name)


def test_a_file_that_is_not_there_is_named(rig, tmp_path):
    with pytest.raises(RuntimeError, match=r"Cannot read '.*gone\.json'"):
        bpy.ops.motion_loom.adapt_load_controls_file(filepath=str(tmp_path / "gone.json"))


def test_commands_read_and_write_presets(rig, capsys, tmp_path):
    words = ["--only-controls", "g", "--save-controls-preset", "Goal", "--no-measures"]
    found = commands.run(capsys, "adapt", "--rig", "Rig", *words)
    assert set(found["changed_bones"]) <= {"g"}
    play.play_source(rig)
    choose(rig, "b", "p")
    commands.run(capsys, "adapt", "--rig", "Rig", "--controls-preset", "Goal", "--trunk", "main", "--no-measures")
    assert used(rig) == {"g"} and rig.motion_loom_adapt.trunk == "MAIN"
    told = commands.refused(capsys, "adapt", "--rig", "Rig", "--controls-preset", "Gaol")
    assert "There is no preset 'Gaol' of controls; there are: Goal" in told
    told = commands.refused(capsys, "adapt", "--rig", "Rig", "--controls-preset", str(tmp_path / "no.json"))
    assert "Cannot read" in told and "no.json" in told
