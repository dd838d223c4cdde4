"""Bind names surfaces that spoil the result."""

import bpy

from tests import adapt_scenes as scenes
from tests.commands import bind, run


def test_an_object_that_is_inside_out_is_named(capsys):
    scenes.add_scene()
    assert bind(capsys)["notes"] == []
    bpy.data.objects["Step"].data.flip_normals()
    bpy.context.view_layer.update()
    (note,) = [note for note in bind(capsys)["notes"] if "faces" in note]
    assert "behind the faces of 'Step'," in note and "Recalculate Outside" in note
    bpy.data.objects["Step"].data.flip_normals()
    bpy.context.view_layer.update()
    assert not any("faces" in note for note in bind(capsys)["notes"])


def test_faces_in_one_plane_are_named_until_one_is_avoided(capsys):
    rig = scenes.add_scene()
    scenes.add_grid("Plate", (-0.6, 0.6), (0.3, 1.6), scenes.STEP_HEIGHT)
    bpy.context.view_layer.update()
    bind(capsys)
    report = run(capsys, "bind", "--rig", "Rig", "--keep", "--environment", "Plate")
    assert any("lie in one plane" in note for note in report["notes"])
    (note,) = [note for note in bind(capsys, "Plate")["notes"] if "plane" in note]
    assert note.startswith("Faces of 'Step' and 'Plate' lie in one plane under ") and "toe.R'" in note
    rig.motion_loom_adapt.surfaces["Step"].mode = "AVOID"
    assert not any("plane" in note for note in bind(capsys, "Plate")["notes"])


def test_tiles_side_by_side_are_not_in_the_way_of_each_other(capsys):
    scenes.add_scene()
    scenes.add_grid("Left", (-1.5, 0.1), (-1.5, 2.5))
    scenes.add_grid("Right", (0.1, 1.5), (-1.5, 2.5))
    bpy.context.view_layer.update()
    report = run(capsys, "bind", "--rig", "Rig", "--environment", "Left", "Right")
    assert report["notes"] == []
