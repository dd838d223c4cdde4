"""Bind names surfaces that spoil the result."""

import bpy
import pytest

from tests import adapt_scenes as scenes
from tests.workflows.test_adapt import bind


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
