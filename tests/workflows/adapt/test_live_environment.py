"""Live on all that a user does to the objects of the environment meanwhile.

The reason names the culprit and the way out, live goes on by itself when the cause is gone, nothing is printed, nothing
goes round in circles, and Live off leaves the source and the file as they were.
"""

import bmesh
import bpy
import numpy as np
import pytest

from tests import adapt_live, mesh_steps
from tests import adapt_scenes as scenes
from tests.adapt_live import STEP, edit_mesh, ends_clean, follows, has_risen, joints, lift, settle, stands_still, step
from tests.adapt_play import activate, bind, kept_data, press, status
from tests.linked import linked_instead
from tests.objects import add_object, into_collection

pytestmark = pytest.mark.usefixtures("both_ways", "silent")


def scene_objects():
    return bpy.context.scene.collection.objects


def floor():
    return bpy.data.objects["Floor"]


# ------------------------------------------------------------------------------------------- what cannot be followed


def link_what_is_kept(_rig):
    if bpy.data.objects.get("Step") is not None:
        scene_objects().link(step())


def unlink(_rig):
    scene_objects().unlink(step())


def link(_rig):
    scene_objects().link(step())


def join(target, other):
    activate(target)
    other.select_set(True)
    bpy.ops.object.join()


def join_a_wall(_rig):
    join(step(), scenes.add_box("Wall", (2, 2, 2), (3, 3, 3)))


def to_a_bone(rig):
    step().parent, step().parent_type, step().parent_bone = rig, "BONE", "wrist.R"


def to_a_bone_by_constraint(rig):
    follow = step().constraints.new("COPY_LOCATION")
    follow.target, follow.subtarget = rig, "wrist.R"


def let_go(_rig):
    step().parent, step().parent_type = None, "OBJECT"
    step().modifiers.clear()
    step().constraints.clear()


def build(_rig):
    modifier = step().modifiers.new("Build", "BUILD")
    modifier.frame_start, modifier.frame_duration = 1, 20


def place(height, scale=(1, 1, 1)):
    def change(_rig):
        step().location.z, step().scale = height, scale

    return change


def no_numbers(_rig):
    scenes.deform("Step", lambda places: np.where(places > 0.5, np.nan, places))


def new_step(_rig):
    step().data = scenes.add_box("Again", (-0.6, 0.3, -0.5), (0.6, 1.6, scenes.STEP_HEIGHT)).data


CARRIED = "'Step' cannot be in the environment of 'Rig', which moves it"
GONE = "is no longer in the scene"
# What is done, what the problem says, which button mends it, and what makes it followed again.
SPOILT = {
    "deleted": (
        lambda rig: bpy.data.objects.remove(step()), ("'Step'", "was deleted", "press Update Binding"), "UPDATE", None
    ),
    "deleted in the viewport": (
        lambda rig: mesh_steps.delete(step()), ("'Step'", "press Update Binding"), "UPDATE", link_what_is_kept
    ),
    "unlinked": (unlink, ("'Step'", GONE), ..., link),
    "in another scene": (lambda rig: mesh_steps.to_another_scene(step()), ("'Step'", GONE), ..., link),
    "joined": (lambda rig: join(floor(), step()), ("'Step'", "press Update Binding"), "UPDATE", None),
    "joined by another": (join_a_wall, ("'Step' had 8 vertices at bind", "press Update Binding"), "UPDATE", None),
    "carried": (lambda rig: setattr(step(), "parent", rig), (CARRIED,), ..., let_go),
    "carried by a bone": (to_a_bone, (CARRIED,), ..., let_go),
    "carried by a modifier": (
        lambda rig: setattr(step().modifiers.new("Deform", "ARMATURE"), "object", rig), (CARRIED,), ..., let_go
    ),
    "carried by a constraint": (to_a_bone_by_constraint, (CARRIED,), ..., let_go),
    "building up": (build, ("'Step'",), ..., let_go),
    "flat": (place(0.0, (1, 1, 0)), ("'Step'",), ..., place(0.0)),
    "mirrored": (place(0.0, (-1, 1, 1)), ("'Step'",), ..., place(0.0)),
    "no place": (place(float("nan")), ("'Step'",), ..., place(0.0)),
    "out of range": (place(1e30), ("'Step'",), ..., place(0.0)),
    "no numbers": (no_numbers, ("'Step' has vertices that are not numbers",), ..., new_step),
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILT)
def test_what_cannot_be_followed(live_rig, what):
    spoil, words, remedy, mend = SPOILT[what]
    spoil(live_rig)
    stands_still(live_rig, *words, remedy=remedy)
    if mend is not None and bpy.data.objects.get("Step") is not None:
        mend(live_rig)
        follows(live_rig)
    ends_clean(live_rig)


def delete_one_face():
    bpy.ops.mesh.select_all(action="DESELECT")
    edited = bmesh.from_edit_mesh(bpy.context.object.data)
    edited.faces.ensure_lookup_table()
    edited.faces[0].select_set(True)
    bmesh.update_edit_mesh(bpy.context.object.data)
    bpy.ops.mesh.delete(type="FACE")


TOPOLOGY = {
    "subdivide": lambda ob: edit_mesh(ob, bpy.ops.mesh.subdivide),
    "delete faces": lambda ob: edit_mesh(ob, delete_one_face),
    "delete all": lambda ob: edit_mesh(ob, lambda: bpy.ops.mesh.delete(type="VERT")),
    "clear": lambda ob: ob.data.clear_geometry(),
    "bevel": lambda ob: ob.modifiers.new("Bevel", "BEVEL"),
    "subsurf": lambda ob: ob.modifiers.new("Subdivision", "SUBSURF"),
    "decimate": lambda ob: setattr(ob.modifiers.new("Decimate", "DECIMATE"), "ratio", 0.2),
    "new mesh": lambda ob: setattr(ob, "data", floor().data),
}


@pytest.mark.parametrize("change", TOPOLOGY)
def test_faces_come_and_go(mended, change):
    kept = step().data.copy()
    TOPOLOGY[change](step())
    stands_still(mended, "'Step' ha")
    assert "Update Binding" in status(mended).problem or "give it faces" in status(mended).problem
    step().modifiers.clear()
    step().data = kept


@pytest.mark.parametrize("how", ["object", "collection", "excluded"])
def test_an_object_is_hidden(mended, how):
    low = joints(mended)
    show = mesh_steps.hide(step(), how)
    step().location.z += STEP
    stands_still(mended, "'Step' is hidden, excluded or not in this view layer")
    show()
    settle()
    assert has_risen(mended, low)
    lift(-STEP)


def test_the_object_of_a_pin_is_excluded(live_rig):
    """Blender has it where it was then."""
    handle = add_object("Handle")
    handle.location = (-0.3, 0.3, 1.2)
    layer = into_collection(handle)
    pin = live_rig.motion_loom_adapt.pins.add()
    pin.bone, pin.target, pin.start, pin.end = "wrist.R", handle, 1, 24
    settle()
    assert status(live_rig).problem is None
    layer.exclude = True
    handle.location.z = 1.6
    stands_still(live_rig, "'Handle' is hidden, excluded or not in this view layer")
    layer.exclude = False
    wrist = live_rig.data.bones.find("wrist.R")
    np.testing.assert_allclose(joints(live_rig)[11, wrist], handle.location, atol=0.01)
    assert status(live_rig).problem is None
    live_rig.motion_loom_adapt.pins.clear()
    ends_clean(live_rig)


# ------------------------------------------------------------------------------------------------ what is followed


@pytest.mark.parametrize("how", ["eye", "render", "wire", "in this view layer"])
def test_an_object_that_is_hidden_from_view_alone(mended, how):
    """It is evaluated nevertheless."""
    show = None
    if how == "eye":
        step().hide_set(True)
    elif how == "render":
        step().hide_render = True
    elif how == "wire":
        step().display_type = "WIRE"
    else:
        show = mesh_steps.hide(step(), how)
    follows(mended)
    step().hide_set(False)
    if show:
        show()


def test_an_object_is_renamed(mended):
    """Another one takes its name, which moves nothing."""
    ob = step()
    ob.name = "Podest"
    settle()
    assert status(mended).problem is None
    other = scenes.add_box("Step", (2, 2, 2), (3, 3, 3))
    assert other.name == "Step"
    low = joints(mended)
    other.location.z += STEP
    assert np.abs(joints(mended) - low).max() < 1e-5
    ob.location.z += STEP
    assert has_risen(mended, low)
    bpy.data.objects.remove(other)
    ob.name = "Step"
    lift(-STEP)


def test_two_objects_swap_their_names(mended):
    lower, upper = floor(), step()
    for names in (("Step", "Floor"), ("Floor", "Step")):
        lower.name = "X"
        upper.name, lower.name = names[1], names[0]
        settle()
        assert status(mended).problem is None


def test_an_object_is_parented(mended):
    low = joints(mended)
    handle = add_object("Handle")
    handle.location.z = STEP
    bpy.context.view_layer.update()
    activate(handle)
    step().select_set(True)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=True)
    assert np.abs(joints(mended) - low).max() < 1e-4 and status(mended).problem is None
    handle.location.z += STEP
    high = joints(mended)
    assert np.abs(high - low).max() > 0.6 * STEP
    activate(step())
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    assert np.abs(joints(mended) - high).max() < 1e-4
    step().location.z -= STEP
    step().parent = handle  # without keeping its place
    settle()
    assert has_risen(mended, low)
    step().parent = None


def test_an_object_is_duplicated(mended):
    low = joints(mended)
    for linked in (False, True):
        activate(step())
        bpy.ops.object.duplicate(linked=linked)
        bpy.context.object.location.z += STEP
        assert np.abs(joints(mended) - low).max() < 1e-5
    step().data = step().data.copy()


def test_a_linked_object_is_made_local(rig, tmp_path):
    linked_instead(step(), tmp_path / "library.blend")
    adapt_live.go_live(bind(rig))
    activate(step())
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    assert step().library is None
    follows(rig)
    ends_clean(rig)


def test_the_mesh_is_edited_in_edit_mode(live_rig):
    low = joints(live_rig)
    activate(step())
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(step().data)
    for vertex in edited.verts:
        vertex.co.z += STEP
    bmesh.update_edit_mesh(step().data)
    high = joints(live_rig)
    assert np.abs(high - low).max() > 0.6 * STEP
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(joints(live_rig) - high).max() < 1e-4
    ends_clean(live_rig)


# --------------------------------------------------------------------------------------------- the binding is updated


def test_objects_are_edited_added_and_deleted(live_rig):
    """What was adapted stays adapted: the foot goes on standing on the step that was lifted before."""
    lift()
    foot = live_rig.data.bones.find("ankle.R")
    lifted = joints(live_rig)[-6:, foot]

    def update():
        settle()
        assert status(live_rig).remedy == "UPDATE"
        press(live_rig, "update_binding")
        settle()
        assert status(live_rig).problem is None and status(live_rig).track == "READY"
        np.testing.assert_allclose(joints(live_rig)[-6:, foot], lifted, atol=0.01)

    scenes.edit("Floor")
    live_rig.motion_loom_adapt.surfaces.add().target = scenes.add_wall()
    update()
    for name in ("Floor", "Wall"):
        bpy.data.objects.remove(bpy.data.objects[name])
    update()
    press(live_rig)
    assert live_rig.animation_data.action.name == "Rig clip" and len(bpy.data.actions) == 1
    assert kept_data() == [live_rig.motion_loom_adapt.binding]
