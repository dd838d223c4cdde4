"""Adapt live on rigs of other files: library overrides, local copies of linked rigs, appended ones."""

import bpy
import numpy as np
import pytest

from tests import adapt_play as play
from tests import adapt_rigs as rigs
from tests import adapt_scenes as scenes
from tests.adapt_play import STEP, assert_ready, bind, brought, lift, live_is_bake, press, reopen, save, settle, status
from tests.adapt_scenes import joints_of
from tests.rig_scenes import fingerprint

pytestmark = pytest.mark.usefixtures("at_any_time", "silent")


def make_library(path, bound=False, live_too=False):
    """A file with the collection Cast (Rig and its skin) and Floor and Step beside it."""
    rig = scenes.add_scene()
    skin = scenes.add_box("Skin", (-0.2, -0.1, 0.0), (0.2, 0.1, 1.7))
    skin.parent = rig
    skin.modifiers.new("Deform", "ARMATURE").object = rig
    for bone in rig.data.bones:
        skin.vertex_groups.new(name=bone.name).add(range(8), 1.0, "ADD")
    scenes.add_collection("Cast", rig, skin)
    if bound:
        bind(rig)
    if live_too:
        press(rig)
    return save(path)


def override_the_hierarchy(cast):
    scene = bpy.context.scene
    scene.collection.children.link(cast)
    cast.override_hierarchy_create(scene, bpy.context.view_layer)


def override_by_the_operator(_cast):
    bpy.ops.object.collection_instance_add(collection="Cast")
    bpy.ops.object.make_override_library()


def override_the_rig_alone(cast):
    bpy.context.scene.collection.objects.link(cast.objects["Rig"])
    cast.objects["Rig"].override_create(remap_local_usages=True)


HOW = [override_the_hierarchy, override_by_the_operator, override_the_rig_alone]


def make_override(path, how):
    """The overriding rig, in an empty file with Floor and Step of its own."""
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.collections = ["Cast"]
    bpy.context.scene.render.fps = 24
    scenes.add_floor_and_step()
    how(there.collections[0])
    bpy.context.view_layer.update()
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.override_library is not None)


def bind_to_own(rig):
    """A list that comes from a library cannot lose its entries: they point at what is in this file."""
    for item in rig.motion_loom_adapt.surfaces:
        if item.target.library is not None:
            item.target = bpy.context.scene.objects[item.target.name]
    return bind(rig)


CASES = [
    *((how, bound, None) for how in HOW for bound in (False, True)), (override_the_hierarchy, False, rigs.with_ik)
]  # fmt: skip


@pytest.mark.parametrize(("how", "bound", "make"), CASES)
def test_an_override_is_live(tmp_path, how, bound, make):
    rig = make_override(make_library(tmp_path / "library.blend", bound), how)
    if make is not None:
        make(rig)
    before = joints_of(rig)
    bind_to_own(rig)
    press(rig)
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-5)
    rig = reopen(tmp_path / "shot.blend")
    with play.interactive():
        bpy.context.scene.frame_set(20)
        settle()
        there = joints_of(rig, [20])
        bpy.context.scene.objects["Step"].location.z += STEP
        bpy.context.view_layer.update()
        assert status(rig).problem is None and status(rig).track == "WAITING"
        assert np.abs(joints_of(rig, [20]) - there).max() > 0.6 * STEP
        assert_ready(rig)
    followed = joints_of(rig)
    for name in ("again.blend", "more.blend"):
        rig = reopen(tmp_path / name)
        assert rig.motion_loom_adapt.live and status(rig) is not None
        np.testing.assert_allclose(joints_of(rig), followed, atol=play.SAME)
    lift(0.03)
    live_is_bake(rig)
    play.play_source(rig)
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-6)
    press(rig)
    assert_ready(rig)
    press(rig)
    for _ in range(2):
        assert rig.animation_data.action.name == "Rig clip" and not rig.motion_loom_adapt.live and status(rig) is None
        np.testing.assert_allclose(joints_of(rig), before, atol=1e-6)
        rig = reopen(tmp_path / "off.blend")


def test_an_override_of_a_live_rig(tmp_path):
    """What is live in the library plays on; the override is made live for its own surroundings."""
    rig = make_override(make_library(tmp_path / "library.blend", True, True), override_the_hierarchy)
    assert "Internal" not in (status(rig).problem or "")
    assert status(rig).problem and status(rig).remedy in ("RESUME", "BIND"), status(rig)
    before = joints_of(rig)
    bind_to_own(rig)
    press(rig, "live_resume")
    lift()
    assert status(rig).problem is None, status(rig)
    assert np.abs(joints_of(rig) - before).max() > 0.6 * STEP
    for name in ("shot.blend", "again.blend"):
        rig = reopen(tmp_path / name)
    live_is_bake(rig)


@pytest.mark.parametrize("live_too", [False, True])
def test_a_linked_rig_is_refused_and_its_local_copy_is_live(tmp_path, live_too):
    path = make_library(tmp_path / "library.blend", live_too, live_too)
    rig, *_ = brought(path, "Rig", "Skin", "Floor", "Step", link=True)
    live_action = rig.motion_loom_adapt.live_action
    written = fingerprint(live_action) if live_too else None
    before = joints_of(rig)
    assert status(rig) is None
    for button in ("live", "live_refresh", "live_resume"):
        assert "is linked from" in play.refused(rig, button)
    assert bpy.ops.motion_loom.make_local_copy() == {"FINISHED"}
    copy = bpy.context.object
    bpy.data.objects["Step"].make_local()
    settle()
    if live_too:
        assert status(copy).problem and status(copy).remedy == "RESUME", status(copy)
        press(copy, "live_resume")
    else:
        press(bind(copy))
    np.testing.assert_allclose(joints_of(copy), before, atol=1e-5)
    lift()
    assert_ready(copy)
    assert np.abs(joints_of(copy) - before).max() > 0.6 * STEP
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-6)
    copy = reopen(tmp_path / "shot.blend", "Rig (local)")
    lift(0.03)
    live_is_bake(copy)
    play.play_source(copy)
    press(copy)
    press(copy)
    assert copy.animation_data.action.name == "Rig clip"
    np.testing.assert_allclose(joints_of(copy), before, atol=1e-5)
    if live_too:
        rig = next(ob for ob in bpy.data.objects if ob.name == "Rig")
        assert fingerprint(rig.motion_loom_adapt.live_action) == written


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("make", [None, rigs.with_ik, rigs.with_strips_alone])
def test_an_appended_live_rig_goes_on(rig, make, alone, tmp_path):
    """Without its environment Blender brings what the settings point at, but puts it into no scene."""
    if make is not None:
        make(rig)
    before = joints_of(rig)
    bind(rig)
    press(rig)
    lift()
    high = joints_of(rig)
    others = [] if alone else ["Floor", "Step"]
    rig, *_ = brought(save(tmp_path / "live.blend"), "Rig", *others, *(["Target"] if make is rigs.with_ik else []))
    settle()
    np.testing.assert_allclose(joints_of(rig), high, atol=1e-5)
    if alone:
        assert "is no longer in the scene; link it to a collection of the scene again" in status(rig).problem
        assert status(rig).remedy == "UPDATE"
        for name in ("Floor", "Step"):
            bpy.context.scene.collection.objects.link(bpy.data.objects[name])
    assert_ready(rig)
    lift(0.03)
    assert_ready(rig)
    assert np.abs(joints_of(rig) - high).max() > 0.02
    if alone:
        press(rig)
        np.testing.assert_allclose(joints_of(rig), before, atol=1e-6)
    else:
        live_is_bake(rig)


def test_appended_twice(bound, tmp_path):
    press(bound)
    lift()
    path, names = save(tmp_path / "live.blend"), ["Rig", "Floor", "Step"]
    first, *_ = brought(path, *names)
    with bpy.data.libraries.load(path, link=False) as (_, there):
        there.objects = names
    second, _, other_step = there.objects
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    settle()
    assert first.motion_loom_adapt.live_action != second.motion_loom_adapt.live_action
    assert_ready(first)
    assert_ready(second)
    high = joints_of(first)
    other_step.location.z += 0.03
    settle()
    np.testing.assert_allclose(joints_of(first), high, atol=1e-6)
    assert np.abs(joints_of(second) - high).max() > 0.02
    live_is_bake(second)
    live_is_bake(first)
