"""Bind names surfaces that spoil the result."""

import bpy
import pytest

from tests import adapt_scenes as scenes
from tests.workflows.adapt.test_workflow import bind, run


@pytest.fixture
def rig():
    return scenes.add_scene()


def test_an_object_that_is_inside_out_is_named(rig, capsys):
    assert bind(capsys)["notes"] == []
    bpy.data.objects["Step"].data.flip_normals()
    bpy.context.view_layer.update()
    (note,) = [note for note in bind(capsys)["notes"] if "faces" in note]
    assert "behind the faces of 'Step'," in note and "Recalculate Outside" in note
    bpy.data.objects["Step"].data.flip_normals()
    bpy.context.view_layer.update()
    assert not any("faces" in note for note in bind(capsys)["notes"])


def test_faces_in_one_plane_are_named_until_one_is_avoided(rig, capsys):
    scenes.add_grid("Plate", (-0.6, 0.6), (0.3, 1.6), scenes.STEP_HEIGHT)
    bpy.context.view_layer.update()
    bind(capsys)
    report = run(capsys, "bind", "--rig", rig.name, "--keep", "--environment", "Plate")
    assert any("lie in one plane" in note for note in report["notes"])
    report = run(capsys, "bind", "--rig", rig.name, "--environment", "Floor", "Step", "Plate")
    (note,) = [note for note in report["notes"] if "plane" in note]
    assert note.startswith("Faces of 'Step' and 'Plate' lie in one plane under ") and "toe.R'" in note
    rig.motion_loom_adapt.surfaces["Step"].mode = "AVOID"
    report = run(capsys, "bind", "--rig", rig.name, "--environment", "Floor", "Step", "Plate")
    assert not any("plane" in note for note in report["notes"])


def test_tiles_side_by_side_are_not_in_the_way_of_each_other(rig, capsys):
    scenes.add_grid("Left", (-1.5, 0.1), (-1.5, 2.5))
    scenes.add_grid("Right", (0.1, 1.5), (-1.5, 2.5))
    bpy.context.view_layer.update()
    report = run(capsys, "bind", "--rig", rig.name, "--environment", "Left", "Right")
    assert report["notes"] == []
