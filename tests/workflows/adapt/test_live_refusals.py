"""Live on what it cannot follow, and on all that a user does to a scene meanwhile.

The reason names the culprit and the way out, live goes on by itself when the cause is gone, nothing is printed, nothing
goes round in circles, and Live off leaves the source and the file as they were.
"""

import importlib
import threading
import time

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes
from tests.rig_scenes import add_strip, fingerprint

pytestmark = pytest.mark.usefixtures("both_ways", "silent")

registration = importlib.import_module("bl_ext.devrepo.motion_loom.registration")

STEP = 0.1


@pytest.fixture
def rig():
    """A bound walker that is live."""
    return go_live(bind(scenes.add_scene()))


class Before:
    """What there was before Live on."""

    def __init__(self, rig):
        self.source = rig.animation_data and rig.animation_data.action
        self.keys = self.source and fingerprint(self.source)
        self.actions = set(bpy.data.actions.keys())
        self.stores = stores()
        self.joints = scenes.joints_of(rig)


_before = {}


def stores():
    """Meshes that no object shows: what is bound, and whatever else is kept in one."""
    shown = {ob.data for ob in bpy.data.objects}
    return {mesh.name for mesh in bpy.data.meshes if mesh.users and mesh not in shown}


def bind(rig, environment=("Floor", "Step")):
    activate(rig)
    for name in environment:
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}
    return rig


def go_live(rig):
    _before[rig.name] = Before(rig)
    toggle(rig)
    settle()
    assert status(rig).problem is None
    return rig


def activate(ob):
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)


def toggle(rig):
    activate(rig)
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}


def step():
    return bpy.data.objects["Step"]


def status(rig):
    return live.status(rig, "adapt")


def settle():
    """Evaluate, follow and solve; then nothing may go on by itself."""
    layer = bpy.context.view_layer
    layer.update()
    deadline = time.monotonic() + 20
    while live._tick() is not None:
        assert time.monotonic() < deadline, "the timer never ends"
        time.sleep(0.002)
        layer.update()
    for _ in range(3):
        layer.update()
    assert updates_of(layer.update) == 0, "an endless loop of updates"


def updates_of(call) -> int:
    """How many datablocks are evaluated meanwhile."""
    seen = []

    def count(_scene, depsgraph):
        seen.extend(update.id.name for update in depsgraph.updates)

    bpy.app.handlers.depsgraph_update_post.append(count)
    try:
        call()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(count)
    return len(seen)


def joints(rig, frames=scenes.FRAMES):
    settle()
    now = bpy.context.scene.frame_current
    found = scenes.joints_of(rig, frames)
    bpy.context.scene.frame_set(now)
    settle()
    return found


def lift(height=STEP):
    step().location.z += height
    settle()


def follows(rig):
    """The rig goes up with the step, and down again."""
    settle()
    assert status(rig).problem is None, status(rig).problem
    low = joints(rig)
    lift()
    assert status(rig).problem is None and status(rig).track == "READY", status(rig)
    high = joints(rig)
    assert np.abs(high - low).max() > 0.6 * STEP
    lift(-STEP)
    assert np.abs(joints(rig) - low).max() < 1e-4


def stands_still(rig, *words, remedy=...):
    """The problem has these words, at any frame, and does not go away by itself."""
    for frame in (3, 20):
        bpy.context.scene.frame_set(frame)
        settle()
        found = status(rig)
        assert found is not None and found.problem is not None, "no problem is reported"
        for word in words:
            assert word in found.problem
        assert "Internal" not in found.problem
        assert remedy is ... or found.remedy == remedy


def ends_clean(rig, joints_too=True, new_actions=()):
    """Live off restores all."""
    was = _before.pop(rig.name, None) or _before.popitem()[1]
    toggle(rig)
    settle()
    assert not rig.motion_loom_adapt.live and status(rig) is None
    data = rig.animation_data
    assert (data and data.action) == was.source
    if was.source is not None:
        assert fingerprint(was.source) == was.keys
    assert set(bpy.data.actions.keys()) == was.actions | set(new_actions)
    assert stores() <= was.stores
    if joints_too:
        assert np.array_equal(scenes.joints_of(rig), was.joints)


# ------------------------------------------------------------------------------- objects of the environment


def test_an_object_is_deleted(rig):
    bpy.data.objects.remove(step())
    stands_still(rig, "'Step'", "was deleted", "press Update Binding", remedy="UPDATE")
    ends_clean(rig)


def test_an_object_is_deleted_in_the_viewport(rig):
    activate(step())
    bpy.ops.object.delete()
    stands_still(rig, "'Step'", "press Update Binding", remedy="UPDATE")
    if bpy.data.objects.get("Step") is not None:
        bpy.context.scene.collection.objects.link(step())
        follows(rig)
    ends_clean(rig)


def test_an_object_is_unlinked_and_linked_again(rig):
    bpy.context.scene.collection.objects.unlink(step())
    stands_still(rig, "'Step'", "is no longer in the scene")
    bpy.context.scene.collection.objects.link(step())
    follows(rig)
    ends_clean(rig)


def test_an_object_is_renamed(rig):
    ob = step()
    ob.name = "Podest"
    settle()
    assert status(rig).problem is None
    other = scenes.add_box("Step", (2, 2, 2), (3, 3, 3))
    assert other.name == "Step"
    low = joints(rig)
    other.location.z += STEP
    assert np.abs(joints(rig) - low).max() < 1e-5
    ob.location.z += STEP
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    bpy.data.objects.remove(other)
    ob.name = "Step"
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


def test_two_objects_swap_their_names(rig):
    floor, ob = bpy.data.objects["Floor"], step()
    floor.name = "X"
    ob.name = "Floor"
    floor.name = "Step"
    settle()
    assert status(rig).problem is None
    floor.name, ob.name = "X", "Step"
    floor.name = "Floor"
    follows(rig)
    ends_clean(rig)


def test_objects_are_joined(rig):
    activate(bpy.data.objects["Floor"])
    step().select_set(True)
    bpy.ops.object.join()
    stands_still(rig, "'Step'", "press Update Binding", remedy="UPDATE")
    ends_clean(rig)


def test_another_object_is_joined_into_one(rig):
    scenes.add_box("Wall", (2, 2, 2), (3, 3, 3))
    activate(step())
    bpy.data.objects["Wall"].select_set(True)
    bpy.ops.object.join()
    stands_still(rig, "'Step' had 8 vertices at bind", "press Update Binding", remedy="UPDATE")
    ends_clean(rig)


def test_an_object_is_parented(rig):
    low = joints(rig)
    handle = bpy.data.objects.new("Handle", None)
    handle.location = 0.0, 0.0, STEP
    bpy.context.scene.collection.objects.link(handle)
    bpy.context.view_layer.update()
    activate(handle)
    step().select_set(True)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=True)
    assert np.abs(joints(rig) - low).max() < 1e-4 and status(rig).problem is None
    handle.location.z += STEP
    high = joints(rig)
    assert np.abs(high - low).max() > 0.6 * STEP
    bpy.ops.object.select_all(action="DESELECT")
    step().select_set(True)
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    assert np.abs(joints(rig) - high).max() < 1e-4
    step().location.z -= STEP
    step().parent = handle  # without keeping its place
    settle()
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    step().parent = None
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("kind", ["object", "bone", "modifier", "constraint"])
def test_an_object_is_carried_by_the_rig(rig, kind):
    ob = step()
    if kind == "object":
        ob.parent = rig
    elif kind == "bone":
        ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", "wrist.R"
    elif kind == "modifier":
        ob.modifiers.new("Deform", "ARMATURE").object = rig
    else:
        follow = ob.constraints.new("COPY_LOCATION")
        follow.target, follow.subtarget = rig, "wrist.R"
    stands_still(rig, "'Step' cannot be in the environment of 'Rig', which moves it")
    ob.parent, ob.parent_type = None, "OBJECT"
    ob.modifiers.clear()
    ob.constraints.clear()
    follows(rig)
    ends_clean(rig)


def test_an_object_is_duplicated(rig):
    low = joints(rig)
    activate(step())
    bpy.ops.object.duplicate()
    bpy.context.object.location.z += STEP
    assert np.abs(joints(rig) - low).max() < 1e-5
    activate(step())
    bpy.ops.object.duplicate(linked=True)
    bpy.context.object.location.z += STEP
    assert np.abs(joints(rig) - low).max() < 1e-5
    step().data = step().data.copy()
    follows(rig)
    ends_clean(rig)


def test_a_linked_object_is_made_local(tmp_path):
    scenes.add_scene()
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {bpy.data.objects["Step"]})
    bpy.data.objects.remove(step())
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.objects = ["Step"]
    bpy.context.scene.collection.objects.link(there.objects[0])
    rig = go_live(bind(bpy.data.objects["Rig"]))
    activate(step())
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    assert step().library is None
    follows(rig)
    ends_clean(rig)


HIDINGS = {
    "viewport": (lambda ob, on: setattr(ob, "hide_viewport", on)),
    "excluded": (lambda ob, on: setattr(layer_of("Away"), "exclude", on)),
    "collection": (lambda ob, on: setattr(layer_of("Away").collection, "hide_viewport", on)),
}


def layer_of(name):
    return bpy.context.view_layer.layer_collection.children[name]


def put_away(ob):
    """Give an object a collection of its own."""
    group = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    settle()


@pytest.mark.parametrize("hide", HIDINGS)
def test_an_object_is_hidden(rig, hide):
    put_away(step())
    assert status(rig).problem is None
    low = joints(rig)
    HIDINGS[hide](step(), True)
    step().location.z += STEP
    stands_still(rig, "'Step' is hidden, excluded or not in this view layer")
    HIDINGS[hide](step(), False)
    settle()
    assert status(rig).problem is None
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


def test_the_object_of_a_pin_is_excluded(rig):
    """Blender has it where it was then."""
    handle = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(handle)
    handle.location = (-0.3, 0.3, 1.2)
    put_away(handle)
    pin = rig.motion_loom_adapt.pins.add()
    pin.bone, pin.target, pin.start, pin.end = "wrist.R", handle, 1, 24
    settle()
    assert status(rig).problem is None
    HIDINGS["excluded"](handle, True)
    handle.location.z = 1.6
    stands_still(rig, "'Handle' is hidden, excluded or not in this view layer")
    HIDINGS["excluded"](handle, False)
    wrist = [bone.name for bone in rig.data.bones].index("wrist.R")
    np.testing.assert_allclose(joints(rig)[11, wrist], handle.location, atol=0.01)
    assert status(rig).problem is None
    rig.motion_loom_adapt.pins.clear()
    ends_clean(rig)


@pytest.mark.parametrize("hide", ["eye", "render", "wire", "layer"])
def test_an_object_that_is_hidden_from_view_alone(rig, hide):
    """It is evaluated nevertheless."""
    put_away(step())
    if hide == "eye":
        step().hide_set(True)
    elif hide == "layer":
        layer_of("Away").hide_viewport = True
    elif hide == "render":
        step().hide_render = True
    else:
        step().display_type = "WIRE"
    follows(rig)
    step().hide_set(False)
    layer_of("Away").hide_viewport = False
    follows(rig)
    ends_clean(rig)


def test_an_object_is_moved_to_another_scene(rig):
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(step())
    bpy.context.scene.collection.objects.unlink(step())
    stands_still(rig, "'Step'", "is no longer in the scene")
    bpy.context.scene.collection.objects.link(step())
    follows(rig)
    ends_clean(rig)


# ------------------------------------------------------------------------------------------------- topology


def edit_mesh(ob, call):
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    call()
    settle()
    bpy.ops.object.mode_set(mode="OBJECT")


TOPOLOGY = {
    "subdivide": lambda ob: edit_mesh(ob, bpy.ops.mesh.subdivide),
    "delete faces": lambda ob: edit_mesh(ob, delete_one_face),
    "delete all": lambda ob: edit_mesh(ob, lambda: bpy.ops.mesh.delete(type="VERT")),
    "clear": lambda ob: ob.data.clear_geometry(),
    "bevel": lambda ob: ob.modifiers.new("Bevel", "BEVEL"),
    "subsurf": lambda ob: ob.modifiers.new("Subdivision", "SUBSURF"),
    "mask": lambda ob: ob.modifiers.new("Decimate", "DECIMATE").__setattr__("ratio", 0.2),
    "new mesh": lambda ob: setattr(ob, "data", bpy.data.objects["Floor"].data),
}


def delete_one_face():
    import bmesh

    bpy.ops.mesh.select_all(action="DESELECT")
    edited = bmesh.from_edit_mesh(bpy.context.object.data)
    edited.faces.ensure_lookup_table()
    edited.faces[0].select_set(True)
    bmesh.update_edit_mesh(bpy.context.object.data)
    bpy.ops.mesh.delete(type="FACE")


@pytest.mark.parametrize("change", TOPOLOGY)
def test_faces_come_and_go(rig, change):
    kept = step().data.copy()
    TOPOLOGY[change](step())
    stands_still(rig, "'Step' ha")
    assert "Update Binding" in status(rig).problem or "give it faces" in status(rig).problem
    step().modifiers.clear()
    step().data = kept
    follows(rig)
    ends_clean(rig)


def test_a_modifier_whose_faces_come_and_go_over_time(rig):
    modifier = step().modifiers.new("Build", "BUILD")
    modifier.frame_start, modifier.frame_duration = 1, 20
    stands_still(rig, "'Step'")
    step().modifiers.clear()
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("bad", ["flat", "mirrored", "nan", "huge"])
def test_transforms_that_make_no_sense(rig, bad):
    old = step().scale.copy(), step().location.copy()
    if bad == "flat":
        step().scale.z = 0.0
    elif bad == "mirrored":
        step().scale.x = -1.0
    elif bad == "nan":
        step().location.x = float("nan")
    else:
        step().location.z = 1e30
    stands_still(rig, "'Step'")
    step().scale, step().location = old
    follows(rig)
    ends_clean(rig)


def test_vertices_that_are_no_numbers(rig):
    scenes.deform("Step", lambda places: np.where(places > 0.5, np.nan, places))
    stands_still(rig, "'Step' has vertices that are not numbers")
    kept = scenes.add_box("Again", (-0.6, 0.3, -0.5), (0.6, 1.6, scenes.STEP_HEIGHT))
    step().data = kept.data
    follows(rig)
    ends_clean(rig)


# --------------------------------------------------------------------------------------------------- the rig


def test_the_rig_is_deleted(rig):
    bpy.data.objects.remove(rig)
    lift()
    bpy.context.scene.frame_set(9)
    settle()
    assert not live_runs.runs


def test_the_rig_is_deleted_while_its_track_is_solved(rig):
    step().location.z += STEP
    bpy.context.view_layer.update()
    live._tick()
    bpy.data.objects.remove(rig)
    settle()
    bpy.context.scene.frame_set(9)
    settle()
    assert not live_runs.runs


def swap_action(rig):
    actions.assign(rig, _before["Rig"].source, slot_of(_before["Rig"].source))


def enter_edit_mode(rig):
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")


MEANWHILE = {
    "bone": lambda rig: setattr(rig.data.bones["ankle.R"], "name", "foot"),
    "bone deleted": lambda rig: edit_bones(rig, lambda bones: bones.remove(bones["head"])),
    "action": swap_action,
    "no action": lambda rig: rig.animation_data_clear(),
    "live action": lambda rig: bpy.data.actions.remove(live_action(rig)),
    "source": lambda rig: bpy.data.actions.remove(_before["Rig"].source),
    "binding": lambda rig: bpy.data.meshes.remove(rig.motion_loom_adapt.binding),
    "edit": enter_edit_mode,
    "off": toggle,
    "object": lambda rig: bpy.data.objects.remove(step()),
    "armature": lambda rig: setattr(rig, "data", bpy.data.armatures.new("Empty")),
}


@pytest.mark.parametrize("change", MEANWHILE)
def test_a_change_before_a_solved_track_is_written(rig, change):
    """The timer may come before any handler does."""
    pending_edit(rig)
    for run in live_runs.runs.values():
        if run.job is not None:
            run.job.wait()
    MEANWHILE[change](rig)
    while live._tick() is not None:
        time.sleep(0.002)
    found = status(rig)
    assert "Internal" not in (found and found.problem or "")
    settle()
    found = status(rig)
    assert "Internal" not in (found and found.problem or "")
    if change != "source":
        assert fingerprint(_before["Rig"].source) == _before["Rig"].keys
    if rig.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
        settle()
        assert status(rig).problem is None


def test_the_rig_and_another_object_come_and_go_at_once(rig):
    """The number of objects is the same as before."""
    bpy.data.objects.remove(rig)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Filler", None))
    lift()
    bpy.context.scene.frame_set(9)
    settle()


def test_the_rig_is_renamed(rig):
    was = _before.pop("Rig")
    rig.name = "Walker"
    _before["Walker"] = was
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Rig", None))
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("linked_action", [False, True])
def test_the_rig_is_duplicated(rig, linked_action):
    edit = bpy.context.preferences.edit
    kept = edit.use_duplicate_action
    edit.use_duplicate_action = not linked_action
    try:
        activate(rig)
        bpy.ops.object.duplicate()
    finally:
        edit.use_duplicate_action = kept
    twin = bpy.context.object
    assert twin != rig
    settle()
    for frame in (3, 20):
        bpy.context.scene.frame_set(frame)
        settle()
    assert status(rig) is not None and status(twin) is not None
    assert "Internal" not in (status(rig).problem or "") + (status(twin).problem or "")
    toggle(twin)
    assert not twin.motion_loom_adapt.live
    copies = [twin.animation_data.action] if twin.animation_data.action != _before["Rig"].source else []
    settle()
    bpy.data.objects.remove(twin)
    for copy in copies:
        bpy.data.actions.remove(copy)
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("keep", [True, False])
def test_the_rig_is_parented(rig, keep):
    low = joints(rig)
    handle = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(handle)
    handle.location.z = 0.05
    bpy.context.view_layer.update()
    activate(handle)
    rig.select_set(True)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=keep)
    settle()
    assert status(rig).problem is None
    assert np.abs(joints(rig) - low).max() < 1e-3
    follows(rig)
    handle.location.z = 0.5
    settle()
    assert "Internal" not in (status(rig).problem or "")
    handle.location.z = 0.05
    settle()
    world = rig.matrix_world.copy()
    rig.parent = None
    rig.matrix_world = world
    follows(rig)
    ends_clean(rig, joints_too=False)


@pytest.mark.parametrize("hide", [*HIDINGS, "eye"])
def test_the_rig_is_hidden(rig, hide):
    put_away(rig)
    low = joints(rig)
    switch = HIDINGS.get(hide, lambda ob, on: ob.hide_set(on))
    switch(rig, True)
    lift()
    bpy.context.scene.frame_set(12)
    settle()
    assert "Internal" not in (status(rig).problem or "")
    switch(rig, False)
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("scale", [(0, 0, 0), (-1, 1, 1), (1, 1, 2), (float("nan"), 1, 1)])
def test_scales_of_the_rig(rig, scale):
    rig.scale = scale
    stands_still(rig, "'Rig' is scaled unevenly" if scale == (1, 1, 2) else "'Rig'")
    rig.scale = (1, 1, 1)
    follows(rig)
    ends_clean(rig)


def test_the_rig_shows_its_rest_position(rig):
    rig.data.pose_position = "REST"
    stands_still(rig, "'Rig' shows its rest position")
    rig.data.pose_position = "POSE"
    follows(rig)
    ends_clean(rig)


# ----------------------------------------------------------------------------------------------------- bones


def edit_bones(rig, call):
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    call(rig.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_bone_is_renamed(rig):
    rig.data.bones["ankle.R"].name = "foot"
    stands_still(rig, "'Rig' has no bone 'ankle.R' as it was bound", "undo the renaming or bind again", remedy="BIND")
    rig.data.bones["foot"].name = "ankle.R"
    follows(rig)
    ends_clean(rig)


def add_bone(parent):
    def call(bones):
        new = bones.new("extra")
        new.head, new.tail = bones[parent].tail, bones[parent].tail + bones[parent].vector
        new.parent = bones[parent]

    return call


def test_a_bone_is_added_at_the_end_of_a_solved_one(rig):
    edit_bones(rig, add_bone("head"))
    stands_still(rig, "Bone 'head' of 'Rig' has got children since it was bound", remedy="BIND")
    edit_bones(rig, lambda bones: bones.remove(bones["extra"]))
    follows(rig)
    ends_clean(rig)


def test_a_bone_without_parent_is_added(rig):
    def call(bones):
        new = bones.new("extra")
        new.head, new.tail = (2, 2, 0), (2, 2, 1)

    edit_bones(rig, call)
    settle()
    follows(rig)
    edit_bones(rig, lambda bones: bones.remove(bones["extra"]))
    follows(rig)
    ends_clean(rig)


def test_a_bone_is_deleted(rig):
    edit_bones(rig, lambda bones: bones.remove(bones["toe.R"]))
    stands_still(rig, "'Rig'", "bone", "bind again", remedy="BIND")
    ends_clean(rig, joints_too=False)


def test_the_rest_is_edited(rig):
    def longer(factor):
        def call(bones):
            bone = bones["wrist.L"]
            bone.tail = bone.head + factor * bone.vector

        return call

    low = joints(rig)
    edit_bones(rig, longer(1.2))
    settle()
    assert status(rig).problem is None
    follows(rig)
    edit_bones(rig, longer(1 / 1.2))
    assert np.abs(joints(rig) - low).max() < 1e-3
    follows(rig)
    ends_clean(rig, joints_too=False)


def test_a_bone_is_turned_in_its_rest(rig):
    def turn(angle):
        def call(bones):
            bones["wrist.L"].roll += angle

        return call

    edit_bones(rig, turn(0.5))
    settle()
    assert "Internal" not in (status(rig).problem or "")
    edit_bones(rig, turn(-0.5))
    follows(rig)
    ends_clean(rig, joints_too=False)


def test_the_environment_changes_while_the_armature_is_in_edit_mode(rig):
    low = joints(rig)
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["wrist.L"].tail.x += 0.01
    lift()
    bpy.context.scene.frame_set(7)
    settle()
    assert status(rig).problem is None
    rig.data.edit_bones["wrist.L"].tail.x -= 0.01
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    lift(-STEP)
    follows(rig)
    ends_clean(rig, joints_too=False)


def test_live_off_in_edit_mode_and_pose_mode(rig):
    activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    lift()
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert rig.animation_data.action == _before["Rig"].source
    assert np.array_equal(scenes.joints_of(rig), _before["Rig"].joints)


MODES = [("Rig", "POSE"), ("Rig", "EDIT"), ("Step", "EDIT"), ("Step", "SCULPT"), ("Step", "WEIGHT_PAINT")]


@pytest.mark.parametrize("name, mode", MODES)
def test_modes(rig, name, mode):
    activate(bpy.data.objects[name])
    bpy.ops.object.mode_set(mode=mode)
    settle()
    low = joints(rig)
    lift()
    assert status(rig).problem is None
    if mode != "EDIT" or name == "Step":
        assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    lift(-STEP)
    follows(rig)
    ends_clean(rig, joints_too=mode != "EDIT")


def test_the_mesh_is_edited_in_edit_mode(rig):
    import bmesh

    low = joints(rig)
    activate(step())
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(step().data)
    for vertex in edited.verts:
        vertex.co.z += STEP
    bmesh.update_edit_mesh(step().data)
    high = joints(rig)
    assert np.abs(high - low).max() > 0.6 * STEP
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(joints(rig) - high).max() < 1e-4
    ends_clean(rig)


# -------------------------------------------------------------------------------------------------- actions


def live_action(rig):
    return rig.motion_loom_adapt.live_action


def slot_of(action):
    return action.slots[0] if actions.HAS_SLOTS else None


def test_another_action_is_assigned(rig):
    other = _before["Rig"].source.copy()
    old = fingerprint(other)
    rig.animation_data.action = other
    if actions.HAS_SLOTS:
        rig.animation_data.action_slot = slot_of(other)
    lift()
    stands_still(rig, f"'Rig' plays the action '{other.name}', not its live one", "Resume", remedy="RESUME")
    assert fingerprint(other) == old
    rig.animation_data.action = live_action(rig)
    if actions.HAS_SLOTS:
        rig.animation_data.action_slot = slot_of(live_action(rig))
    lift(-STEP)
    follows(rig)
    assert fingerprint(other) == old
    bpy.data.actions.remove(other)
    ends_clean(rig)


def test_live_off_while_another_action_plays(rig):
    other = _before["Rig"].source.copy()
    other.name = "Other"
    actions.assign(rig, other, slot_of(other))
    settle()
    toggle(rig)
    assert rig.animation_data.action == other and not rig.motion_loom_adapt.live
    assert fingerprint(_before["Rig"].source) == _before["Rig"].keys == fingerprint(other)
    assert set(bpy.data.actions.keys()) == _before["Rig"].actions | {"Other"}


def test_the_source_is_assigned_by_hand(rig):
    source = _before["Rig"].source
    actions.assign(rig, source, slot_of(source))
    lift()
    stands_still(rig, "not its live one", remedy="RESUME")
    assert fingerprint(source) == _before["Rig"].keys
    activate(rig)
    assert bpy.ops.motion_loom.live_resume(workflow="adapt") == {"FINISHED"}
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


def test_no_action_is_assigned(rig):
    rig.animation_data.action = None
    lift()
    stands_still(rig, "'Rig' plays no action, not its live one", remedy="RESUME")
    lift(-STEP)
    activate(rig)
    assert bpy.ops.motion_loom.live_resume(workflow="adapt") == {"FINISHED"}
    follows(rig)
    ends_clean(rig)


def test_animation_data_is_cleared(rig):
    rig.animation_data_clear()
    lift()
    stands_still(rig, "'Rig' plays no action, not its live one", remedy="RESUME")
    lift(-STEP)
    toggle(rig)
    assert not rig.motion_loom_adapt.live and rig.animation_data is None or rig.animation_data.action is None
    assert fingerprint(_before["Rig"].source) == _before["Rig"].keys
    assert set(bpy.data.actions.keys()) == _before["Rig"].actions


def test_resume_after_animation_data_was_cleared(rig):
    rig.animation_data_clear()
    settle()
    activate(rig)
    assert bpy.ops.motion_loom.live_resume(workflow="adapt") == {"FINISHED"}
    follows(rig)
    ends_clean(rig)


def test_the_live_action_is_deleted(rig):
    bpy.data.actions.remove(live_action(rig))
    lift()
    stands_still(rig, "'Rig' plays no action, not its live one", remedy="RESUME")
    activate(rig)
    assert bpy.ops.motion_loom.live_resume(workflow="adapt") == {"FINISHED"}
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


def test_live_off_after_the_live_action_was_deleted(rig):
    bpy.data.actions.remove(live_action(rig))
    settle()
    ends_clean(rig)


def test_the_live_action_is_renamed(rig):
    live_action(rig).name = "Mine"
    follows(rig)
    ends_clean(rig)


def test_the_source_is_renamed(rig):
    _before["Rig"].source.name = "Other"
    follows(rig)
    _before["Rig"].actions = {"Other"}
    ends_clean(rig)


def test_the_source_is_deleted(rig):
    bpy.data.actions.remove(_before["Rig"].source)
    lift()
    stands_still(rig, "'Rig'", "was deleted")
    toggle(rig)
    assert not rig.motion_loom_adapt.live


def move_keys(action, bone, by):
    for curve in actions.all_curves(action, slot_of(action)):
        if f'"{bone}"' in curve.data_path and curve.array_index == 1:
            for key in curve.keyframe_points:
                key.co.y += by
            curve.update()
    action.update_tag()


def test_the_source_is_edited(rig):
    source = _before["Rig"].source
    move_keys(source, "thigh.R", 0.2)
    edited = fingerprint(source)
    settle()  # an edit and another frame at once are not told apart
    stands_still(rig, "The motion of 'Rig' is not the one that was bound", "thigh.R", remedy="BIND")
    assert not status(rig).source_untouched and fingerprint(source) == edited
    move_keys(source, "thigh.R", -0.2)
    for curve, old in zip(actions.all_curves(source, slot_of(source)), _before["Rig"].keys, strict=True):
        assert old[0] == curve.data_path
        for point, values in zip(curve.keyframe_points, old[3], strict=True):
            point.co, point.handle_left, point.handle_right = values[0:2], values[2:4], values[4:6]
    source.update_tag()
    settle()
    assert status(rig).source_untouched
    follows(rig)
    ends_clean(rig)


def test_the_source_is_edited_where_nothing_is_solved(rig):
    source = _before["Rig"].source
    low = joints(rig)
    rig["mood"] = 0.0
    actions.curve_list(source, slot_of(source)).fcurves.new('["mood"]').keyframe_points.insert(1, 1.0)
    edited = fingerprint(source)
    follows(rig)
    assert not status(rig).source_untouched and fingerprint(source) == edited
    assert np.abs(joints(rig) - low).max() < 1e-5
    toggle(rig)
    assert rig.animation_data.action == source and fingerprint(source) == edited


def test_the_bound_slot_is_left(rig):
    if not actions.HAS_SLOTS:
        pytest.skip("there are no slots before 4.4")
    other = live_action(rig).slots.new("OBJECT", "Other")
    rig.animation_data.action_slot = other
    lift()
    stands_still(rig, "'Rig'", "slot", remedy="RESUME")
    rig.animation_data.action_slot = None
    stands_still(rig, "'Rig'", "slot", remedy="RESUME")
    rig.animation_data.action_slot = slot_of(live_action(rig))
    lift(-STEP)
    follows(rig)
    rig.animation_data.action_slot = other
    settle()
    activate(rig)
    assert bpy.ops.motion_loom.live_resume(workflow="adapt") == {"FINISHED"}
    follows(rig)
    assert rig.animation_data.action_slot == slot_of(live_action(rig))


# ------------------------------------------------------------------------------------------ the user's keys


def add_finger(rig):
    """A bone that is not solved: it hangs on nothing."""

    def call(bones):
        new = bones.new("prop")
        new.head, new.tail = (1, 0, 1), (1, 0, 1.2)

    edit_bones(rig, call)


def curve_of(rig, path, index=0):
    return actions.find_curve(rig.animation_data.action, slot_of(rig.animation_data.action), path, index)


def kept_keys(rig, path, index=0):
    """The curve in the action that Live off keeps for the user's keys."""
    name = live_action(rig).name
    toggle(rig)
    settle()
    kept = bpy.data.actions[name]
    assert kept.use_fake_user and rig.animation_data.action == _before["Rig"].source
    assert fingerprint(_before["Rig"].source) == _before["Rig"].keys
    return actions.find_curve(kept, slot_of(kept), path, index)


def test_keys_on_a_solved_bone(rig):
    bone = rig.pose.bones["thigh.R"]
    channel = "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler"
    bpy.context.scene.frame_set(5)
    for value in range(len(getattr(bone, channel))):
        getattr(bone, channel)[value] += 0.1
    bone.keyframe_insert(channel, frame=5)
    settle()
    # Solving writes over them.
    lift()
    lift(-STEP)
    assert status(rig).problem is None
    assert kept_keys(rig, actions.bone_path("thigh.R", channel)) is not None
    assert np.array_equal(scenes.joints_of(rig), _before["Rig"].joints)


@pytest.mark.parametrize("where", ["bone", "object", "property", "pose property"])
def test_keys_on_what_is_not_solved(rig, where):
    holder, path, key = rig, "", ""
    if where == "bone":
        add_finger(rig)
        settle()
        holder, key = rig.pose.bones["prop"], "location"
        path = actions.bone_path("prop", "location")
    elif where == "object":
        key = path = "color"
    elif where == "property":
        rig["mood"] = 0.0
        key = path = '["mood"]'
    else:
        holder = rig.pose.bones["head"]
        holder["mood"] = 0.0
        key, path = '["mood"]', 'pose.bones["head"]["mood"]'
    for frame, value in ((1, 1.0), (12, 1.01)):
        if key.startswith("["):
            holder["mood"] = value
        else:
            setattr(holder, key, (value,) * len(getattr(holder, key)))
        holder.keyframe_insert(key, frame=frame)
    bpy.context.scene.frame_set(7)
    settle()
    assert status(rig).problem is None, status(rig).problem
    follows(rig)
    assert [point.co.y for point in curve_of(rig, path).keyframe_points] == pytest.approx([1.0, 1.01])
    assert [point.co.y for point in kept_keys(rig, path).keyframe_points] == pytest.approx([1.0, 1.01])


@pytest.mark.parametrize("channel", ["location", "rotation_euler", "scale", "delta_location"])
@pytest.mark.parametrize("of_bone", [False, True])
def test_keys_that_move_what_is_solved_for(rig, of_bone, channel):
    """What is solved knows only where the bound action has the rig and its joints; also when it is baked."""
    if of_bone and channel in ("rotation_euler", "delta_location"):
        pytest.skip("bones have no delta, and how they turn is solved")
    holder, whose = (rig.pose.bones["wrist.L"], "Bone 'wrist.L' of 'Rig'") if of_bone else (rig, "'Rig' itself")
    old = getattr(holder, channel).x
    holder.keyframe_insert(channel, frame=1)
    getattr(holder, channel).x += 0.05
    holder.keyframe_insert(channel, frame=24)
    stands_still(rig, f"{whose} ({channel}) is keyed in 'Rig clip (live)'", "Delete these keys")
    activate(rig)
    for command in (bpy.ops.motion_loom.live_refresh, bpy.ops.motion_loom.bake):
        with pytest.raises(RuntimeError, match="is keyed in"):
            command(workflow="adapt")
    for frame in (1, 24):
        holder.keyframe_delete(channel, frame=frame)
    getattr(holder, channel).x = old
    settle()
    follows(rig)
    holder.keyframe_insert(channel, frame=1)
    getattr(holder, channel).x += 0.05
    holder.keyframe_insert(channel, frame=24)
    kept = live_action(rig).name
    ends_clean(rig, joints_too=False, new_actions=[kept])
    with pytest.raises(RuntimeError, match="is keyed in"):
        bpy.ops.motion_loom.live(workflow="adapt")
    assert not rig.motion_loom_adapt.live and rig.animation_data.action == rig.motion_loom_adapt.source


@pytest.mark.parametrize("channel", ["location", "scale"])
@pytest.mark.parametrize("name", ["", "wrist.L"])
def test_keys_that_hold_still(rig, name, channel):
    """As one key of everything sets them: they count as the value that they hold."""
    holder = rig.pose.bones[name] if name else rig
    old = getattr(holder, channel).copy()
    holder.keyframe_insert(channel, frame=5)
    follows(rig)
    getattr(holder, channel)[:] = [value + 0.1 for value in old]
    holder.keyframe_insert(channel, frame=5)
    settle()
    if (name, channel) == ("wrist.L", "location"):  # another body than was bound
        stands_still(rig, "The motion of 'Rig' is not the one that was bound (bone 'elbow.L'", remedy="BIND")
        getattr(holder, channel)[:] = old
        holder.keyframe_insert(channel, frame=5)
        settle()
    follows(rig)
    held = joints(rig)
    activate(rig)
    assert bpy.ops.motion_loom.bake(workflow="adapt") == {"FINISHED"}
    assert np.abs(scenes.joints_of(rig) - held).max() < 1e-6


def test_a_joint_is_moved_without_keys(rig):
    rig.pose.bones["wrist.L"].location.x += 0.1
    stands_still(rig, "The motion of 'Rig' is not the one that was bound (bone 'elbow.L'", remedy="BIND")
    rig.pose.bones["wrist.L"].location.x = 0.0
    settle()
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("name", ["thigh.R", "hips", "prop"])
def test_bones_are_posed_without_keys(rig, name):
    """As Blender plays any action: until the frame changes."""
    if name == "prop":
        add_finger(rig)
        settle()
    low = joints(rig)
    bpy.context.scene.frame_set(7)
    if name != "thigh.R":
        rig.pose.bones[name].location.x += 0.1
    rig.pose.bones[name].rotation_quaternion.x += 0.1
    settle()
    assert status(rig).problem is None
    rig.pose.bones[name].location = 0, 0, 0
    follows(rig)
    others = [row for row, bone in enumerate(rig.data.bones) if bone.name != "prop"]
    assert np.abs(joints(rig) - low)[:, others].max() < 1e-5


def test_autokey_sets_no_keys(rig):
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    count = {curve.data_path: len(curve.keyframe_points) for curve in actions.all_curves(*actions.assigned(rig))}
    follows(rig)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    now = {curve.data_path: len(curve.keyframe_points) for curve in actions.all_curves(*actions.assigned(rig))}
    assert all(len(scenes.FRAMES) >= now[path] for path in now) and count.keys() <= now.keys()
    ends_clean(rig)


def test_curves_of_the_live_action_are_deleted_and_muted(rig):
    lift()
    action, slot = actions.assigned(rig)
    curves = actions.curve_list(action, slot).fcurves
    curves.remove(next(curve for curve in curves if "knee.R" in curve.data_path))
    next(curve for curve in curves if "thigh.R" in curve.data_path).mute = True
    curves.find(actions.bone_path("hips", "location"), index=2).keyframe_points.insert(7.5, 3.0)
    lift(-STEP)
    follows(rig)
    name = live_action(rig).name
    ends_clean(rig, new_actions=[name])
    assert bpy.data.actions[name].use_fake_user


def test_the_whole_live_action_is_emptied(rig):
    action, slot = actions.assigned(rig)
    curves = actions.curve_list(action, slot).fcurves
    for curve in list(curves):
        curves.remove(curve)
    settle()
    lift()
    assert "Internal" not in (status(rig).problem or "")
    lift(-STEP)
    toggle(rig)
    settle()
    assert rig.animation_data.action == _before["Rig"].source
    assert np.array_equal(scenes.joints_of(rig), _before["Rig"].joints)


# ------------------------------------------------------------------------------------------------------ NLA


def pushed_strip(rig):
    """A strip of a copy of the source on a track of its own, mute."""
    source = _before["Rig"].source
    copy = source.copy()
    add_strip(rig, copy, slot_of(copy), 1, mute_track=True)
    return copy


def test_a_strip_is_tweaked(rig):
    copy = pushed_strip(rig)
    settle()
    track = rig.animation_data.nla_tracks[0]
    track.mute = False
    track.strips[0].select = True
    rig.animation_data.nla_tracks.active = track
    rig.animation_data.use_tweak_mode = True
    if not rig.animation_data.use_tweak_mode:
        pytest.skip("this Blender does not enter tweak mode without an editor")
    old = fingerprint(copy)
    lift()
    stands_still(rig, "'Rig'", "tweak")
    assert fingerprint(copy) == old and fingerprint(_before["Rig"].source) == _before["Rig"].keys
    rig.animation_data.use_tweak_mode = False
    rig.animation_data.nla_tracks.remove(track)
    bpy.data.actions.remove(copy)
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("mute", [True, False])
def test_tracks_beside_the_action(rig, mute):
    copy = pushed_strip(rig)
    track = rig.animation_data.nla_tracks[0]
    track.mute = mute
    settle()
    low = joints(rig)
    lift()
    assert status(rig).problem is None
    if not mute:  # what is bound plays on top of another motion
        assert status(rig).track == "SWEEP"
        activate(rig)
        assert bpy.ops.motion_loom.live_refresh(workflow="adapt") == {"FINISHED"}
    settle()
    assert status(rig).track == "READY" and np.abs(joints(rig) - low).max() > 0.6 * STEP
    lift(-STEP)
    rig.animation_data.nla_tracks.remove(track)
    bpy.data.actions.remove(copy)
    follows(rig)
    ends_clean(rig)


def test_the_live_action_is_pushed_down(rig):
    action = live_action(rig)
    add_strip(rig, action, slot_of(action), 1)
    rig.animation_data.action = None
    settle()
    stands_still(rig, "'Rig' plays no action, not its live one", remedy="RESUME")
    lift()
    toggle(rig)
    assert not rig.motion_loom_adapt.live
    settle()


def test_strips_alone():
    rig = scenes.add_scene()
    action, slot = actions.assigned(rig)
    add_strip(rig, action, slot, 1)
    rig.animation_data.action = None
    go_live(bind(rig))
    low = joints(rig)
    lift()
    assert "Internal" not in (status(rig).problem or "") and status(rig).problem is None
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    ends_clean(rig)


# ----------------------------------------------------------------------------------------- files, extension


def pending_edit(rig):
    """An edit whose track is being solved, or waits for it."""
    step().location.z += STEP
    bpy.context.view_layer.update()
    live._tick()


def thread_names():
    return [thread.name for thread in threading.enumerate() if thread.name == "Motion Loom"]


@pytest.mark.parametrize("wait", [True, False])
def test_the_file_is_opened_again(rig, tmp_path, wait):
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    low = joints(rig)
    if wait:
        lift()
    else:
        pending_edit(rig)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert not thread_names()
    rig = bpy.data.objects["Rig"]
    assert np.abs(joints(rig) - low).max() < 1e-5
    follows(rig)
    was = _before["Rig"]
    toggle(rig)
    assert rig.animation_data.action.name in was.actions
    assert set(bpy.data.actions.keys()) == was.actions and fingerprint(rig.animation_data.action) == was.keys
    assert np.array_equal(scenes.joints_of(rig), was.joints)


def test_a_new_file_while_a_track_is_solved(rig):
    pending_edit(rig)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not thread_names() and not live_runs.runs
    other = scenes.add_scene()
    old, action = fingerprint(other.animation_data.action), other.animation_data.action
    settle()
    assert not live_runs.runs and fingerprint(action) == old and len(bpy.data.actions) == 1


def handlers_of_ours():
    return [
        call
        for calls in (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
        if isinstance(calls, list)
        for call in calls
        if getattr(call, "__module__", "").startswith("bl_ext.devrepo.motion_loom")
    ]


@pytest.mark.parametrize("pending", [False, True])
def test_the_extension_is_disabled_and_enabled(rig, pending):
    uid = rig.session_uid
    low = joints(rig)
    if pending:
        pending_edit(rig)
    registration.unregister()
    try:
        assert not handlers_of_ours() and not bpy.app.timers.is_registered(live._tick) and not thread_names()
        assert not live_runs.runs
        if pending:
            step().location.z -= STEP
        bpy.context.view_layer.update()
        for row, frame in ((2, 3), (19, 20)):
            seen = scenes.joints_of(rig, np.array([frame]))[0]
            if not pending:
                assert np.abs(seen - low[row]).max() < 1e-5
    finally:
        registration.register()
    rig = next(ob for ob in bpy.data.objects if ob.session_uid == uid)
    assert rig.motion_loom_adapt.live
    bpy.context.scene.frame_set(2)  # in a window a timer looks
    follows(rig)
    ends_clean(rig)


def test_an_edit_while_disabled_is_noticed(rig):
    low = joints(rig)
    registration.unregister()
    step().location.z += STEP
    bpy.context.view_layer.update()
    registration.register()
    bpy.context.scene.frame_set(2)  # in a window a timer looks
    settle()
    assert np.abs(joints(rig) - low).max() > 0.6 * STEP
    lift(-STEP)
    ends_clean(rig)


def test_purge_save_and_reopen(rig, tmp_path):
    lift()
    high = joints(rig)
    for _ in range(2):
        bpy.data.orphans_purge(do_local_ids=True, do_recursive=True)
    assert live_action(rig) is not None and rig.motion_loom_adapt.binding is not None
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    assert np.abs(joints(rig) - high).max() < 1e-5
    lift(-STEP)
    follows(rig)
    was = _before["Rig"]
    toggle(rig)
    assert fingerprint(rig.animation_data.action) == was.keys and set(bpy.data.actions.keys()) == was.actions


@pytest.mark.parametrize("link", [False, True])
def test_into_another_file(rig, tmp_path, link):
    lift()
    high = joints(rig)
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=link) as (_, there):
        there.objects = ["Rig", "Floor", "Step"]
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    settle()
    rig = next(ob for ob in bpy.data.objects if ob.name == "Rig")
    assert np.abs(joints(rig) - high).max() < 1e-5
    found = status(rig)
    assert "Internal" not in (found and found.problem or "")
    if not link:
        lift(-STEP)
        follows(rig)
        toggle(rig)
        assert fingerprint(rig.animation_data.action) == _before["Rig"].keys
        assert len(bpy.data.actions) == 1


def test_the_rig_alone_into_another_file(rig, tmp_path):
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path) as (_, there):
        there.objects = ["Rig"]
    bpy.context.scene.collection.objects.link(there.objects[0])
    settle()
    stands_still(there.objects[0], "which 'Rig' is bound to, is no longer in the scene")


def test_copy_and_paste(rig, tmp_path):
    """As the clipboard does it: the selection is written to a file and appended."""
    path = str(tmp_path / "buffer.blend")
    bpy.data.libraries.write(path, {rig, step(), bpy.data.objects["Floor"]}, fake_user=False)
    with bpy.data.libraries.load(path) as (_, there):
        there.objects = ["Rig"]
    twin = there.objects[0]
    bpy.context.scene.collection.objects.link(twin)
    settle()
    assert twin.name != "Rig" and "Internal" not in (status(twin).problem or "")
    follows(rig)
    toggle(twin)
    settle()
    assert not twin.motion_loom_adapt.live
    follows(rig)


# --------------------------------------------------------------------------------------------------- scenes


def test_two_scenes_with_the_same_rig(rig):
    other = bpy.data.scenes.new("Other")
    for name in ("Rig", "Floor", "Step"):
        other.collection.objects.link(bpy.data.objects[name])
    follows(rig)
    first = bpy.context.window.scene
    bpy.context.window.scene = other
    settle()
    follows(rig)
    other.frame_set(9)
    settle()
    bpy.context.window.scene = first
    settle()
    follows(rig)
    bpy.data.scenes.remove(other)
    follows(rig)
    ends_clean(rig)


def test_the_rig_alone_in_another_scene(rig):
    first = bpy.context.window.scene
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(rig)
    bpy.context.window.scene = other
    stands_still(rig, "'Floor', which 'Rig' is bound to, is no longer in the scene")
    bpy.context.window.scene = first
    follows(rig)
    bpy.data.scenes.remove(other)
    ends_clean(rig)


def test_scenes_that_stretch_time_differently(rig):
    first = bpy.context.window.scene
    other = bpy.data.scenes.new("Other")
    for name in ("Rig", "Floor", "Step"):
        other.collection.objects.link(bpy.data.objects[name])
    other.render.frame_map_old, other.render.frame_map_new = 100, 200
    calls = []

    def count(_scene, _depsgraph):
        calls.append(1)

    layers = [first.view_layers[0], other.view_layers[0]]
    for scene in (first, other, first):
        bpy.context.window.scene = scene
        settle()
    bpy.app.handlers.depsgraph_update_post.append(count)
    before = fingerprint(live_action(rig))
    for _ in range(4):
        for layer in layers:
            layer.update()
    bpy.app.handlers.depsgraph_update_post.remove(count)
    assert fingerprint(live_action(rig)) == before, "the scenes write the live action in turns"
    follows(rig)
    bpy.data.scenes.remove(other)
    follows(rig)
    ends_clean(rig)


def test_two_view_layers(rig):
    layer = bpy.context.scene.view_layers.new("Second")
    put_away(step())
    layer.layer_collection.children["Away"].exclude = True
    layer.update()
    settle()
    follows(rig)
    bpy.context.window.view_layer = layer
    stands_still(rig, "'Step' is hidden, excluded or not in this view layer")
    bpy.context.window.view_layer = bpy.context.scene.view_layers[0]
    lift()
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


# ----------------------------------------------------------------------------------------------------- time


@pytest.mark.parametrize("fps, base", [(30, 1.0), (24, 1.001), (1, 1.0), (240, 1.0)])
def test_the_frame_rate_is_changed(rig, fps, base):
    render = bpy.context.scene.render
    old = render.fps, render.fps_base
    low = joints(rig)
    render.fps, render.fps_base = fps, base
    assert np.abs(joints(rig) - low).max() < 0.02
    follows(rig)
    render.fps, render.fps_base = old
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("old, new", [(100, 200), (100, 50), (100, 110)])
def test_time_is_stretched(rig, old, new):
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new
    lift()
    stands_still(rig, "The motion of 'Rig' is not the one that was bound", "Time Stretching was changed", remedy="BIND")
    render.frame_map_old = render.frame_map_new = 100
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


def test_subframes(rig):
    bpy.context.scene.frame_set(7, subframe=0.5)
    lift()
    between = joints(rig, np.array([7.5]))[0]
    ends = joints(rig, np.array([7, 8]))
    assert np.abs(between - ends.mean(axis=0)).max() < 5e-3
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (7, 0.0)
    bpy.context.scene.frame_set(7, subframe=0.5)
    assert updates_of(bpy.context.view_layer.update) == 0
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("frame", [-100, 0, 25, 1000, 1_048_574])
def test_frames_outside(rig, frame):
    bpy.context.scene.frame_set(frame)
    lift()
    assert status(rig).problem is None
    bpy.context.scene.frame_set(12)
    lift(-STEP)
    follows(rig)
    ends_clean(rig)


# ------------------------------------------------------------------------------------------------- two rigs


BREAKAGES = {
    "object": lambda rig: bpy.data.objects.remove(bpy.data.objects["Block"]),
    "bone": lambda rig: setattr(rig.data.bones["ankle.R"], "name", "foot"),
    "action": lambda rig: setattr(rig.animation_data, "action", None),
    "live action": lambda rig: bpy.data.actions.remove(live_action(rig)),
    "binding": lambda rig: bpy.data.meshes.remove(rig.motion_loom_adapt.binding),
    "nan": lambda rig: setattr(rig, "location", (float("nan"), 0, 0)),
    "rest": lambda rig: setattr(rig.data, "pose_position", "REST"),
}


@pytest.mark.parametrize("what", BREAKAGES)
def test_one_broken_rig_leaves_the_other_live(what):
    scenes.add_box("Block", (0.8, 0.8, 0), (1.2, 1.2, 0.1))
    rig = scenes.add_scene()
    go_live(bind(rig, ("Floor", "Step", "Block")))
    other = scenes.add_walker("Other")
    bpy.context.view_layer.update()
    go_live(bind(other))
    BREAKAGES[what](rig)
    settle()
    assert status(rig).problem is not None and "Internal" not in status(rig).problem
    follows(other)
    assert status(rig).problem is not None
    _before["Other"].actions &= set(bpy.data.actions.keys())  # one may be broken by having none
    ends_clean(other, new_actions=[name for name in bpy.data.actions.keys() if name.startswith("Rig clip (live)")])
