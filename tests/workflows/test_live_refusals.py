"""Live on what it cannot follow, and on all that a user does to a scene meanwhile.

The reason names the culprit and the way out, live goes on by itself when the cause is gone, nothing is printed, nothing
goes round in circles, and Live off leaves the source and the file as they were.
"""

import time

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows import live

from tests import adapt_scenes as scenes
from tests.rig_scenes import fingerprint

STEP = 0.1


@pytest.fixture(params=["at once", "interactive"], autouse=True)
def way(request, monkeypatch):
    """Whole tracks inside the handlers, or single frames there and tracks by the timer."""
    monkeypatch.setattr(live_runs, "at_once", request.param == "at once")
    monkeypatch.setattr(live, "_PAUSE", 0.0)
    return request.param


@pytest.fixture(autouse=True)
def silence(capfd):
    """Nothing that a handler, a timer or an operator does may end in a traceback."""
    yield
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err and "Error" not in err, err


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
        self.meshes = len(bpy.data.meshes)
        self.joints = scenes.joints_of(rig)


_before = {}


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
    assert len(bpy.data.meshes) <= was.meshes + len(bpy.data.objects)
    if joints_too:
        assert np.array_equal(scenes.joints_of(rig), was.joints)


# ------------------------------------------------------------------------------- objects of the environment


def test_an_object_is_deleted(rig):
    bpy.data.objects.remove(step())
    stands_still(rig, "'Step'", "was deleted", "bind again", remedy="BIND")
    ends_clean(rig)


def test_an_object_is_deleted_in_the_viewport(rig):
    activate(step())
    bpy.ops.object.delete()
    stands_still(rig, "'Step'", "bind again", remedy="BIND")
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
    stands_still(rig, "'Step'", "bind again", remedy="BIND")
    ends_clean(rig)


def test_another_object_is_joined_into_one(rig):
    scenes.add_box("Wall", (2, 2, 2), (3, 3, 3))
    activate(step())
    bpy.data.objects["Wall"].select_set(True)
    bpy.ops.object.join()
    stands_still(rig, "'Step' had 8 vertices at bind", "bind again", remedy="BIND")
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


@pytest.mark.parametrize("hide", ["eye", "render", "wire", "layer"])
def test_an_object_that_is_hidden_from_view_alone(rig, hide):
    """What is hidden by the eye may still be evaluated or not; either way live tells, and goes on."""
    put_away(step())
    if hide == "eye":
        step().hide_set(True)
    elif hide == "layer":
        layer_of("Away").hide_viewport = True
    elif hide == "render":
        step().hide_render = True
    else:
        step().display_type = "WIRE"
    settle()
    if status(rig).problem is not None:
        stands_still(rig, "'Step' is hidden")
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
    assert "bind again" in status(rig).problem or "give it faces" in status(rig).problem
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
    settle()
    if bad in ("flat", "nan"):
        stands_still(rig, "'Step'")
    assert "Internal" not in (status(rig).problem or "")
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
    stands_still(rig, "'Rig'")
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
