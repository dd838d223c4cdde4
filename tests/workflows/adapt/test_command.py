"""Copy Command: the line it gives does what the panel does."""

from __future__ import annotations

import shlex

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError
from bl_ext.devrepo.motion_loom.workflows.adapt import command as adapt_command
from bl_ext.devrepo.motion_loom.workflows.command_line import words as command_words
from bl_ext.devrepo.motion_loom.workflows.core.naming import result_name

from tests import adapt_scenes as scenes
from tests.adapt_play import press, save
from tests.adapt_scenes import joints_of, raise_step

# What shells, argparse or Blender might take for something else.
NAMES = ("Rig", "-rig", "--rig=x", "a=b:1:2", "it's \"odd\" $HOME", "back\\slash; ls", "Ständer 骨", "-1")


@pytest.fixture
def rig(rig):
    """Neither bound nor saved."""
    for name in ("Floor", "Step"):
        item = rig.motion_loom_adapt.surfaces.add()
        item.name, item.target = name, bpy.data.objects[name]
    return rig


def run_command(command):
    """Run a copied line as a shell and Blender would; the file with the result is open afterwards."""
    words = shlex.split(command)
    assert words[:2] == ["blender", "--background"] and words[3:5] == ["--command", "motion_loom"]
    bpy.ops.wm.open_mainfile(filepath=words[2])
    assert jobs.main(words[5:]) == 0
    bpy.ops.wm.open_mainfile(filepath=words[-1])


@pytest.mark.parametrize("name", NAMES)
def test_the_command_does_what_the_panel_does(rig, tmp_path, name):
    rig.name = name
    press(rig, "fit")
    raise_step()
    settings = rig.motion_loom_adapt
    settings.orientation, settings.limits, settings.surfaces[0].influence = 0.5, False, 0.9
    save(tmp_path / "my scene's.blend")
    command = adapt_command.command_of(bpy.context, rig)
    press(rig, "bake")
    expected = joints_of(rig)
    run_command(command)
    again = bpy.data.objects[name]
    assert again.animation_data.action.name == "Rig clip (adapted)"
    np.testing.assert_allclose(joints_of(again), expected, atol=1e-6)


def test_a_rig_that_is_not_bound_is_bound_to_what_is_listed(rig, tmp_path):
    for number, name in enumerate(("-floor", "Step=1:2")):
        rig.motion_loom_adapt.surfaces[number].target.name = name
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 3, 20
    settings.surfaces[1].mode = "AVOID"
    save(tmp_path / "scene.blend")
    command = adapt_command.command_of(bpy.context, rig)
    press(rig, "fit")
    press(rig, "bake")
    expected, summary = joints_of(rig), settings.summary
    run_command(command)
    again = bpy.data.objects["Rig"]
    assert again.motion_loom_adapt.summary == summary
    assert [item.mode for item in again.motion_loom_adapt.surfaces] == ["ATTACH", "AVOID"]
    np.testing.assert_allclose(joints_of(again), expected, atol=1e-6)


def test_a_result_that_is_not_to_be_played(rig, tmp_path):
    press(rig, "fit")
    rig.motion_loom_adapt.assign = False
    save(tmp_path / "scene.blend")
    run_command(adapt_command.command_of(bpy.context, rig))
    assert bpy.data.objects["Rig"].animation_data.action.name == "Rig clip"
    assert "Rig clip (adapted)" in bpy.data.actions


def test_a_scene_without_a_file(rig):
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = scenes.add_scene()
    with pytest.raises(OutputError, match="save it"):
        adapt_command.command_of(bpy.context, rig)


def test_quotes_for_the_windows_shell(monkeypatch):
    monkeypatch.setattr(command_words.os, "name", "nt")
    words = ["C:\\Program Files\\Blender\\blender.exe", "plain", "a&b", 'say "hi"']
    assert command_words.quoted(words) == '"C:\\Program Files\\Blender\\blender.exe" plain "a&b" "say \\"hi\\""'


# --------------------------------------------------------------------------------------------------- the button


def reports(capfd):
    written = capfd.readouterr()
    return written.out + written.err


def test_the_button_refuses_without_file_or_environment(rig, tmp_path):
    rig.motion_loom_adapt.surfaces.clear()
    with pytest.raises(RuntimeError, match="Add the objects"):
        bpy.ops.motion_loom.copy_command(workflow="adapt")
    with pytest.raises(RuntimeError, match="No workflow 'nothing'"):
        bpy.ops.motion_loom.copy_command(workflow="nothing")


def test_the_button_copies_and_tells_of_unsaved_changes(rig, tmp_path, capfd):
    press(rig, "fit")
    save(tmp_path / "scene.blend")
    assert bpy.ops.motion_loom.copy_command(workflow="adapt") == {"FINISHED"}
    # Blender without windows does not keep track of what is saved, so the flag tells what is right.
    assert ("Save the file first" in reports(capfd)) == bpy.data.is_dirty


# ------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("Walk", "Walk (adapted)"),
        ("Walk (adapted)", "Walk (adapted)"),
        ("Walk (adapted).003", "Walk (adapted)"),
        ("Walk (live)", "Walk (adapted)"),
        ("Walk.001", "Walk.001 (adapted)"),
        ("Walk (baked)", "Walk (baked) (adapted)"),
    ],
)
def test_names_do_not_pile_up(source, name):
    assert result_name(source, "adapted") == name


def test_a_result_that_is_bound_itself(rig):
    press(rig, "fit")
    press(rig, "bake")
    assert rig.animation_data.action.name == "Rig clip (adapted)"
    press(rig, "fit")
    press(rig, "bake")
    assert rig.animation_data.action.name == "Rig clip (adapted).001"
    assert rig.motion_loom_adapt.source.name == "Rig clip (adapted)"
