"""Live on all that a user does to the rig meanwhile: its object, its armature, its bones, and modes."""

import time
from functools import partial

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_live, mesh_steps
from tests import adapt_scenes as scenes
from tests.adapt_live import STEP, ends_clean, follows, has_risen, is_no_bug, joints, lift, live_action, settle, step
from tests.adapt_play import activate, bind, press, slot_of, status
from tests.adapt_rigs import edit_bones
from tests.objects import add_object
from tests.rig_scenes import fingerprint

pytestmark = pytest.mark.usefixtures("both_ways", "silent")


# ------------------------------------------------------------------------------------------- what cannot be followed


def scale(*values):
    return lambda rig: setattr(rig, "scale", values)


def show(position):
    return lambda rig: setattr(rig.data, "pose_position", position)


def rename(old, new):
    return lambda rig: setattr(rig.data.bones[old], "name", new)


def add_child(rig):
    def add(bones):
        new = bones.new("extra")
        new.head, new.tail = bones["head"].tail, bones["head"].tail + bones["head"].vector
        new.parent = bones["head"]

    edit_bones(rig, add)


def remove(name):
    return lambda rig: edit_bones(rig, lambda bones: bones.remove(bones[name]))


def shift_a_joint(by):
    return lambda rig: setattr(rig.pose.bones["wrist.L"].location, "x", by)


# What is done, what the problem says, which button mends it, and what makes it followed again.
SPOILT = {
    "no size": (scale(0, 0, 0), ("'Rig'",), ..., scale(1, 1, 1)),
    "mirrored": (scale(-1, 1, 1), ("'Rig'",), ..., scale(1, 1, 1)),
    "uneven": (scale(1, 1, 2), ("'Rig' is scaled unevenly",), ..., scale(1, 1, 1)),
    "no number": (scale(float("nan"), 1, 1), ("'Rig'",), ..., scale(1, 1, 1)),
    "at rest": (show("REST"), ("'Rig' shows its rest position",), ..., show("POSE")),
    "a bone renamed": (
        rename("ankle.R", "foot"),
        ("'Rig' has no bone 'ankle.R' as it was bound", "undo the renaming or bind again"), "BIND",
        rename("foot", "ankle.R"),
    ),
    "a bone added at the end of a solved one": (
        add_child, ("Bone 'head' of 'Rig' has got children since it was bound",), "BIND", remove("extra")
    ),
    "a bone deleted": (remove("toe.R"), ("'Rig'", "bone", "bind again"), "BIND", None),
    "a joint moved without keys": (
        shift_a_joint(0.1), ("The motion of 'Rig' is not the one that was bound (bone 'elbow.L'",), "BIND",
        shift_a_joint(0.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILT)
def test_what_cannot_be_followed(live_rig, what):
    spoil, words, remedy, mend = SPOILT[what]
    spoil(live_rig)
    adapt_live.stands_still(live_rig, *words, remedy=remedy)
    if mend is not None:
        mend(live_rig)
        settle()
        follows(live_rig)
    ends_clean(live_rig, joints_too=mend is not None)


# ------------------------------------------------------------------------------------------------ what is followed


def add_root(rig):
    def add(bones):
        new = bones.new("extra")
        new.head, new.tail = (2, 2, 0), (2, 2, 1)

    edit_bones(rig, add)


def lengthen(factor):
    def edit(bones):
        bone = bones["wrist.L"]
        bone.tail = bone.head + factor * bone.vector

    return lambda rig: edit_bones(rig, edit)


def roll(angle):
    return lambda rig: edit_bones(rig, lambda bones: setattr(bones["wrist.L"], "roll", bones["wrist.L"].roll + angle))


EDITS = {
    "another root": (add_root, remove("extra")),
    "the length of an end": (lengthen(1.2), lengthen(1 / 1.2)),
    "the roll of an end": (roll(0.5), roll(-0.5)),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_rest_is_edited_and_put_back(live_rig, edit):
    low = joints(live_rig)
    there, back = EDITS[edit]
    there(live_rig)
    settle()
    assert is_no_bug(live_rig)
    if edit != "the roll of an end":
        follows(live_rig)
    back(live_rig)
    assert np.abs(joints(live_rig) - low).max() < 1e-3
    follows(live_rig)
    ends_clean(live_rig, joints_too=edit == "another root")


def test_the_environment_changes_while_the_armature_is_in_edit_mode(live_rig):
    low = joints(live_rig)
    activate(live_rig)
    bpy.ops.object.mode_set(mode="EDIT")
    live_rig.data.edit_bones["wrist.L"].tail.x += 0.01
    lift()
    bpy.context.scene.frame_set(7)
    settle()
    assert status(live_rig).problem is None
    live_rig.data.edit_bones["wrist.L"].tail.x -= 0.01
    bpy.ops.object.mode_set(mode="OBJECT")
    assert has_risen(live_rig, low)
    lift(-STEP)
    follows(live_rig)
    ends_clean(live_rig, joints_too=False)


MODES = [("Rig", "POSE"), ("Rig", "EDIT"), ("Step", "EDIT"), ("Step", "SCULPT"), ("Step", "WEIGHT_PAINT")]


@pytest.mark.parametrize("name, mode", MODES)
def test_modes(live_rig, name, mode):
    activate(bpy.data.objects[name])
    bpy.ops.object.mode_set(mode=mode)
    settle()
    low = joints(live_rig)
    lift()
    assert status(live_rig).problem is None
    if (name, mode) != ("Rig", "EDIT"):
        assert has_risen(live_rig, low)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert has_risen(live_rig, low)
    lift(-STEP)
    follows(live_rig)
    ends_clean(live_rig, joints_too=mode != "EDIT")


def test_live_off_in_pose_mode(live_rig):
    activate(live_rig)
    bpy.ops.object.mode_set(mode="POSE")
    lift()
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    was = adapt_live.before["Rig"]
    assert live_rig.animation_data.action == was.source
    assert np.array_equal(scenes.joints_of(live_rig), was.joints)


# --------------------------------------------------------------------------------------------------- the object itself


def test_the_rig_goes_and_another_object_comes_at_once(live_rig):
    """The number of objects is the same as before; nothing is printed."""
    bpy.data.objects.remove(live_rig)
    add_object("Filler")
    lift()
    bpy.context.scene.frame_set(9)
    settle()


def source():
    return adapt_live.before["Rig"].source


MEANWHILE = {
    "bone": rename("ankle.R", "foot"),
    "bone deleted": remove("head"),
    "action": lambda rig: actions.assign(rig, source(), slot_of(source())),
    "no action": lambda rig: rig.animation_data_clear(),
    "live action": lambda rig: bpy.data.actions.remove(live_action(rig)),
    "source": lambda rig: bpy.data.actions.remove(source()),
    "binding": lambda rig: bpy.data.node_groups.remove(rig.motion_loom_adapt.binding),
    "edit": lambda rig: (activate(rig), bpy.ops.object.mode_set(mode="EDIT")),
    "off": press,
    "object": lambda rig: bpy.data.objects.remove(step()),
    "armature": lambda rig: setattr(rig, "data", bpy.data.armatures.new("Empty")),
    "rig": lambda rig: bpy.data.objects.remove(rig),
}


@pytest.mark.parametrize("change", MEANWHILE)
def test_a_change_before_a_solved_track_is_written(live_rig, change):
    """The timer may come before any handler does."""
    adapt_live.pending_edit()
    for run in live_runs.runs.values():
        if run.job is not None:
            run.job.wait()
    MEANWHILE[change](live_rig)
    while live._tick() is not None:
        time.sleep(0.002)
    if change == "rig":
        bpy.context.scene.frame_set(9)
        settle()
        assert not live_runs.runs
        return
    assert is_no_bug(live_rig)
    settle()
    assert is_no_bug(live_rig)
    was = adapt_live.before["Rig"]
    if change != "source":
        assert fingerprint(was.source) == was.keys
    if live_rig.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
        settle()
        assert status(live_rig).problem is None


@pytest.mark.parametrize("keep", [True, False])
def test_the_rig_is_parented(live_rig, keep):
    low = joints(live_rig)
    handle = add_object("Handle")
    handle.location.z = 0.05
    bpy.context.view_layer.update()
    activate(handle)
    live_rig.select_set(True)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=keep)
    settle()
    assert status(live_rig).problem is None
    assert np.abs(joints(live_rig) - low).max() < 1e-3
    follows(live_rig)
    for height in (0.5, 0.05):
        handle.location.z = height
        settle()
        assert is_no_bug(live_rig)
    world = live_rig.matrix_world.copy()
    live_rig.parent = None
    live_rig.matrix_world = world
    follows(live_rig)
    ends_clean(live_rig, joints_too=False)


@pytest.mark.parametrize("how", ["object", "collection", "excluded", "in this view layer", "eye"])
def test_the_rig_is_hidden(mended, how):
    low = joints(mended)
    if how == "eye":
        mended.hide_set(True)
    show = partial(mended.hide_set, False) if how == "eye" else mesh_steps.hide(mended, how)
    lift()
    bpy.context.scene.frame_set(12)
    settle()
    assert is_no_bug(mended)
    show()
    assert has_risen(mended, low)
    lift(-STEP)


BREAKAGES = {
    "object": lambda rig: bpy.data.objects.remove(bpy.data.objects["Block"]),
    "bone": rename("ankle.R", "foot"),
    "action": lambda rig: setattr(rig.animation_data, "action", None),
    "live action": lambda rig: bpy.data.actions.remove(live_action(rig)),
    "binding": lambda rig: bpy.data.node_groups.remove(rig.motion_loom_adapt.binding),
    "nan": lambda rig: setattr(rig, "location", (float("nan"), 0, 0)),
    "rest": show("REST"),
}


@pytest.mark.parametrize("what", BREAKAGES)
def test_one_broken_rig_leaves_the_other_live(rig, what):
    scenes.add_box("Block", (0.8, 0.8, 0), (1.2, 1.2, 0.1))
    adapt_live.go_live(bind(rig, ("Floor", "Step", "Block")))
    other = adapt_live.add_bound("Other")
    BREAKAGES[what](rig)
    settle()
    assert status(rig).problem is not None and is_no_bug(rig)
    follows(other)
    assert status(rig).problem is not None
    was = adapt_live.before["Other"]
    was.actions &= set(bpy.data.actions.keys())  # one may be broken by having none
    ends_clean(other, new_actions=[name for name in bpy.data.actions.keys() if name.startswith("Rig clip (live)")])
