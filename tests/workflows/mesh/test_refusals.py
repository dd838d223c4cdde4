"""Meshes that cannot go live or be baked, whatever moves them: the reason names the way out, nothing is changed."""

import math
import os

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import binding_store

from tests.map_play import MAP
from tests.mesh_play import link, put, refused, says
from tests.mesh_steps import saved, shown
from tests.transfer_play import TRANSFER

pytestmark = pytest.mark.usefixtures("no_traceback")


def test_no_mesh_is_active(play, ready):
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.view_layer.objects.active = camera
    for button in play.buttons:
        says(play, button, "Select the mesh")


def test_a_linked_target(play, ready, tmp_path):
    bpy.context.view_layer.objects.active = link(tmp_path, play.target)[0]
    for button in play.buttons:
        says(play, button, f"'{play.target}' is linked")


@pytest.mark.parametrize("channel", ("hide_viewport", "hide_render"))
def test_a_target_whose_visibility_is_keyed(play, ready, channel):
    ready.keyframe_insert(channel, frame=1)
    refused(play, ready, "live", f"visibility of '{play.target}' is animated")
    play.bake(ready)


def test_other_faces_than_were_learnt(play, ready):
    former, count = ready.data, len(ready.data.vertices)
    ready.data = bpy.data.meshes.new("Fewer")
    faces = [tuple(face.vertices) for face in former.polygons]
    ready.data.from_pydata([tuple(vertex.co) for vertex in former.vertices], [], faces[:-1])
    play.settings(ready).bake_kind = "ABSOLUTE_KEYS"
    when = {MAP: "it was learnt", TRANSFER: "its clips were read.*press Read Clips"}[play]
    for button in ("live", "bake"):
        refused(play, ready, button, f"'{play.target}' had {count} vertices and {len(faces)} faces when {when}")
    ready.data = former
    play.toggle(ready)
    assert play.problem(ready) is None


def test_a_bake_that_cannot_be_written_leaves_what_was_read(play, ob, tmp_path):
    play.edit()
    put(play.settings(ob), {"bake_kind": "PC2", "bake_step": 1})
    mark = binding_store.mark(play.settings(ob).clip)
    refused(play, ob, "bake", "Save the file first")
    saved(tmp_path)
    for folder in ("/proc/nothing", "//scene.blend/inside"):
        play.settings(ob).bake_folder = folder
        refused(play, ob, "bake", "folder")
        assert binding_store.mark(play.settings(ob).clip) == mark
    play.settings(ob).bake_folder = "//cache"
    np.testing.assert_allclose(shown(play.bake(ob, "PC2"), play.frames), play.followed(ob), atol=1e-5)
    assert binding_store.mark(play.settings(ob).clip) != mark


@pytest.mark.parametrize(
    ("play", "name", "value", "said"),
    [
        *((MAP, name, math.nan, "nan") for name in ("travel_scale", "turn_ratio", "stride", "smoothing")),
        (TRANSFER, "travel_scale", math.nan, "nan"),
        (TRANSFER, "travel_scale", math.inf, "endless"),
        (TRANSFER, "travel_scale", -math.inf, "endless"),
    ],
)
def test_numbers_that_are_none(play, ob, name, value, said):
    settings = play.settings(ob)
    label = settings.bl_rna.properties[name].name
    put(settings, {"bake_kind": "ABSOLUTE_KEYS", name: value})
    refused(play, ob, "bake", f"{label} cannot be {said}; use a number")
    assert play.problem(ob) == f"{label} cannot be {said}; use a number."
    put(settings, {"travel": "NONE"} if play is TRANSFER else {name: 1.0})  # where it counts no more
    bpy.context.scene.frame_set(6)
    assert play.healthy(ob)


@pytest.mark.parametrize("folder", ("", "relative", "//relative", "deep/er"))
def test_a_folder_is_of_the_blend(play, ready, tmp_path, monkeypatch, folder):
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "place"
    elsewhere.mkdir()
    place.mkdir()
    monkeypatch.chdir(elsewhere)
    saved(place)
    play.settings(ready).bake_folder = folder
    modifier = play.bake(ready, "PC2").modifiers["Mesh Cache"]
    (path,) = place.rglob("*.pc2")
    assert bpy.path.abspath(modifier.filepath) == str(path)
    assert str(path.parent) == os.path.join(place, folder.lstrip("/")).rstrip(os.sep)
    assert not list(elsewhere.iterdir())
