"""Keys that deform the environment are edited: noticed at every frame, also where the present one does not differ."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, deforming_keys
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes
from tests.instance_scenes import on_each, scatter
from tests.workflows.adapt.test_live_drivers import at, lift, live_is_bake, press, ready_at_all_frames, settle, status

pytestmark = pytest.mark.usefixtures("both_ways")

RISE = 0.15


def linked(name, data):
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def keyed(holder, path, values):
    """Keys from the first frame to the last."""
    for frame, value in zip((1, 24), values, strict=True):
        setattr(holder, path, value)
        holder.keyframe_insert(path, frame=frame)


def by_shape_key(step):
    step.shape_key_add(name="Basis")
    key = step.shape_key_add(name="High")
    for point in key.data:
        point.co.z += RISE
    keyed(key, "value", (0.0, 1.0))
    return step.data.shape_keys


def by_hook(step):
    """All vertices hang on an empty."""
    hook = linked("Hook", None)
    modifier = step.modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set(range(len(step.data.vertices)))
    keyed(hook, "location", ((0, 0, 0), (0, 0, RISE)))
    return hook


def by_lattice(step):
    lattice = linked("Cage", bpy.data.lattices.new("Cage"))
    lattice.scale, lattice.location = (4, 4, 4), (0, 1, 0)
    lattice.shape_key_add(name="Basis")
    key = lattice.shape_key_add(name="High")
    for point in key.data:
        point.co.z += RISE / 4
    step.modifiers.new("Cage", "LATTICE").object = lattice
    keyed(key, "value", (0.0, 1.0))
    return lattice.data.shape_keys


def by_armature(step):
    """The parent of the armature is keyed."""
    crane = scenes.add_walker("Crane")
    crane.animation_data_clear()
    step.modifiers.new("Crane", "ARMATURE").object = crane
    step.vertex_groups.new(name="hips").add(range(8), 1.0, "REPLACE")
    crane.parent = linked("Cart", None)
    keyed(crane.parent, "location", ((0, 0, 0), (0, 0, RISE)))
    return crane.parent


def by_modifier(step):
    """Its strength is keyed in the object's own action."""
    modifier = step.modifiers.new("Cast", "CAST")
    modifier.factor = 0.0
    for frame, value in ((1, 0.0), (24, 0.1)):
        modifier.factor = value
        modifier.keyframe_insert("factor", frame=frame)
    return step


def by_driver(step):
    """The shape key is driven by a keyed property of another object."""
    handle = linked("Handle", None)
    handle["share"] = 0.0
    owner = by_shape_key(step)
    owner.animation_data_clear()
    for frame, value in ((1, 0.0), (24, 1.0)):
        handle["share"] = value
        handle.keyframe_insert('["share"]', frame=frame)
    driver = owner.key_blocks["High"].driver_add("value").driver
    variable = driver.variables.new()
    variable.name = "share"
    variable.targets[0].id, variable.targets[0].data_path = handle, '["share"]'
    driver.expression = "share"
    return handle


def by_constraint(step):
    """It moves as another object does, which curves alone do not tell."""
    handle = linked("Handle", None)
    constraint = step.constraints.new("COPY_LOCATION")
    constraint.target, constraint.use_offset = handle, True
    keyed(handle, "location", ((0, 0, 0), (0, 0, RISE)))
    return handle


def by_instances(step):
    """Its faces show a child that is keyed."""
    child = on_each("FACES", step)
    keyed(child, "scale", ((1, 1, 1), (1, 1, 2)))
    return child


KINDS = [by_shape_key, by_hook, by_lattice, by_armature, by_modifier, by_driver, by_constraint, by_instances]


@pytest.fixture
def rig():
    return scenes.add_scene()


def go_live(rig):
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    at(1)
    press("fit")
    press("live")


def change(owner, share):
    """What is keyed at the last frame becomes a share of what it is."""
    for curve in actions.all_curves(*actions.assigned(owner)):
        curve.keyframe_points[-1].co.y *= share
        curve.update()
    settle()


@pytest.mark.parametrize("make", KINDS)
def test_edited_keys_are_noticed_at_every_frame(rig, make):
    owner = make(bpy.data.objects["Step"])
    go_live(rig)
    ready_at_all_frames(rig)
    at(1)
    change(owner, 0.5)
    for frame in (1, 12, 24, 30):
        at(frame)
        assert status(rig).track == "SWEEP" and status(rig).remedy == "REFRESH", frame
    press("live_refresh")
    ready_at_all_frames(rig)
    live_is_bake(rig)


@pytest.mark.parametrize("make", KINDS)
def test_keys_that_are_put_back_need_nothing(rig, make):
    owner = make(bpy.data.objects["Step"])
    go_live(rig)
    before = scenes.joints_of(rig)
    at(1)
    change(owner, 0.5)
    assert status(rig).track == "SWEEP"
    change(owner, 2.0)
    ready_at_all_frames(rig)
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)


def test_it_is_noticed_after_the_file_was_opened(rig, tmp_path):
    by_shape_key(bpy.data.objects["Step"])
    go_live(rig)
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    ready_at_all_frames(rig)
    at(1)
    change(bpy.data.objects["Step"].data.shape_keys, 0.5)
    assert status(rig).track == "SWEEP"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    at(1)
    assert status(rig).track == "SWEEP"
    press("live_refresh")
    live_is_bake(rig)


def test_without_what_deformed_it_all_frames_follow_at_once(rig):
    step = bpy.data.objects["Step"]
    by_hook(step)
    go_live(rig)
    step.modifiers.clear()
    lift(0.1)
    ready_at_all_frames(rig)
    live_is_bake(rig)


def test_playback_does_not_look_at_the_keys(rig, monkeypatch):
    by_shape_key(bpy.data.objects["Step"])
    go_live(rig)
    ready_at_all_frames(rig)
    if live.at_once():
        pytest.skip("without a window scripts edit keys and change the frame at once")
    monkeypatch.setattr(deforming_keys, "keys_digest", None)
    for frame in range(2, 24):
        bpy.context.scene.frame_set(frame)
        assert status(rig).problem is None and status(rig).track == "READY"


@pytest.mark.parametrize("make", [by_hook, by_constraint])
def test_without_what_could_have_moved_it(rig, make):
    """The set is as it was, but for keys that moved nothing."""
    step = bpy.data.objects["Step"]
    change(make(step), 0.0)
    go_live(rig)
    step.modifiers.clear()
    step.constraints.clear()
    settle()
    ready_at_all_frames(rig)
    at(12)
    bpy.context.view_layer.update()
    assert status(rig).track == "READY"
    live_is_bake(rig)


def by_faces(floor):
    return on_each("FACES", floor)


def by_nodes(floor):
    """Geometry nodes show another object."""
    stone = scenes.add_box("Stone", (-0.6, -0.65, -0.5), (0.6, 0.65, 0.15))
    points = scatter(floor, ((0, 0.95, 0),))[0]
    tree, shown = points.id_data, points.outputs[0].links[0].to_node
    node = tree.nodes.new("GeometryNodeObjectInfo")
    node.inputs["Object"].default_value = stone
    tree.links.new(node.outputs["Geometry"], shown.inputs["Instance"])
    return stone


@pytest.mark.parametrize("make", [by_faces, by_nodes])
def test_what_is_shown_as_instances_is_edited(rig, make):
    """The object that shows it is not evaluated for that."""
    stone = make(bpy.data.objects["Floor"])
    go_live(rig)
    ready_at_all_frames(rig)
    before = scenes.joints_of(rig)
    scenes.deform("Stone", lambda vertices: vertices + [0, 0, 0.1])
    settle()
    assert stone.name == "Stone" and status(rig).track == "SWEEP", status(rig)
    press("live_refresh")
    ready_at_all_frames(rig)
    assert np.abs(scenes.joints_of(rig) - before).max() > 0.05
    live_is_bake(rig)
