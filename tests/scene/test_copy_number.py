"""Whether a datablock was edited, told by the copy of it that Blender evaluates."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene.evaluation import copy_number

from tests.control_scenes import add_leg, animate_leg
from tests.objects import add_object


@pytest.fixture
def rig():
    bpy.ops.wm.read_homefile(use_empty=True)
    ob = animate_leg(add_leg())
    bpy.context.view_layer.update()
    return ob


def number_of(block):
    return copy_number(block, bpy.context.evaluated_depsgraph_get())


def step():
    bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)


@pytest.mark.versions
def test_playing_is_no_edit(rig):
    blocks = rig, rig.data, rig.animation_data.action
    before = [number_of(each) for each in blocks]
    for _ in range(4):
        step()
    assert [number_of(each) for each in blocks] == before
    assert not any(".motion_loom_copy" in each for each in blocks), "the user's own are not marked"


EDITS = {
    "a constraint's influence": lambda rig: setattr(rig.pose.bones["d"].constraints[0], "influence", 0.5),
    "a new constraint": lambda rig: rig.pose.bones["b"].constraints.new("LIMIT_ROTATION"),
    "a constraint less": lambda rig: rig.pose.bones["e"].constraints.remove(rig.pose.bones["e"].constraints[0]),
    "an IK limit": lambda rig: setattr(rig.pose.bones["c"], "use_ik_limit_x", True),
    "a lock": lambda rig: setattr(rig.pose.bones["g"], "lock_location", (True, False, False)),
    "a rotation mode": lambda rig: setattr(rig.pose.bones["b"], "rotation_mode", "YXZ"),
    "a scale": lambda rig: setattr(rig.pose.bones["b"], "scale", (1.0, 2.0, 1.0)),
    "the object's place": lambda rig: setattr(rig, "location", (1.0, 0.0, 0.0)),
    "a setting": lambda rig: setattr(rig.motion_loom_adapt, "orientation", 0.5),
    "an entry of a setting": lambda rig: setattr(rig.motion_loom_adapt.bones.add(), "factor", 0.5),
}


@pytest.mark.versions
@pytest.mark.parametrize("what", EDITS)
def test_an_edit_shows_with_the_next_frame(rig, what):
    before = number_of(rig)
    EDITS[what](rig)
    step()
    assert number_of(rig) != before


@pytest.mark.versions
def test_edits_of_bones_and_keys_show(rig):
    before = [number_of(each) for each in (rig.data, rig.animation_data.action)]
    rig.data.bones["b"].name = "hip"
    rig.pose.bones["g"].keyframe_insert("location", frame=6)
    step()
    after = [number_of(each) for each in (rig.data, rig.animation_data.action)]
    assert all(new != old for new, old in zip(after, before, strict=True))


def test_what_is_not_evaluated_is_never_the_same(rig):
    alone = bpy.data.objects.new("Alone", None)
    assert number_of(alone) != number_of(alone) and not alone.keys()
    hidden = add_object("Hidden")
    bpy.context.view_layer.update()
    assert number_of(hidden) == number_of(hidden)
