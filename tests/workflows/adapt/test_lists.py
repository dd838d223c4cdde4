"""The list of the environment: what is added, and what the warning says when nothing is."""

from __future__ import annotations

import bpy
from bl_ext.devrepo.motion_loom import jobs

from tests.objects import add_object


def add(capfd, *names):
    """Select objects as well and press the button; returns what it answered and said."""
    for name in names:
        bpy.data.objects[name].select_set(True)
    capfd.readouterr()
    answer = bpy.ops.motion_loom.adapt_add_objects()
    jobs._flush_blender()
    return answer, capfd.readouterr().out


def listed(rig):
    return [item.target.name for item in rig.motion_loom_adapt.surfaces]


def test_selected_objects_are_added_once(rig, capfd):
    assert add(capfd, "Floor")[0] == {"FINISHED"}
    assert add(capfd, "Step")[0] == {"FINISHED"}
    assert listed(rig) == ["Floor", "Step"] and rig.motion_loom_adapt.active_surface == 1


def test_only_the_rig_is_selected(rig, capfd):
    answer, said = add(capfd)
    assert answer == {"CANCELLED"} and "Only the rig is selected" in said and "the rig last" in said


def test_nothing_new_is_selected(rig, capfd):
    add(capfd, "Floor")
    answer, said = add(capfd)
    assert answer == {"CANCELLED"} and "'Floor' is in the list already" in said
    assert listed(rig) == ["Floor"]


def test_what_has_no_surface(rig, capfd):
    add_object("Camera", bpy.data.cameras.new("Camera"))
    answer, said = add(capfd, "Camera")
    assert answer == {"CANCELLED"} and "'Camera' has no surface: select meshes" in said


def test_removing_keeps_the_choice_in_the_list(rig, capfd):
    add(capfd, "Floor", "Step")
    for left in (["Floor"], []):
        assert bpy.ops.motion_loom.adapt_remove_item(items="surfaces") == {"FINISHED"}
        assert listed(rig) == left and rig.motion_loom_adapt.active_surface == len(left) - 1
    for name in ("pins", "bones"):
        assert bpy.ops.motion_loom.adapt_add_item(items=name) == {"FINISHED"}
        assert bpy.ops.motion_loom.adapt_remove_item(items=name, index=0) == {"FINISHED"}
    for name in ("surfaces", "pins", "bones"):
        assert bpy.ops.motion_loom.adapt_remove_item(items=name, index=0) == {"CANCELLED"}
