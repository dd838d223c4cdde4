"""Live while files are opened, the extension is switched off, and scenes, view layers, rates and frames change."""

import importlib
import threading

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_live
from tests import adapt_scenes as scenes
from tests.adapt_live import STEP, ends_clean, follows, joints, lift, live_action, pending_edit, settle, stands_still
from tests.adapt_play import brought, press, save, status
from tests.objects import into_collection
from tests.rig_scenes import fingerprint

pytestmark = pytest.mark.usefixtures("both_ways", "silent")

registration = importlib.import_module("bl_ext.devrepo.motion_loom.registration")


# ----------------------------------------------------------------------------------------- files, extension


def no_thread():
    return not [thread for thread in threading.enumerate() if thread.name == "Motion Loom"]


def off_plays_the_source(rig):
    """Also in another file than the one in which it went live."""
    was = adapt_live.before["Rig"]
    press(rig)
    action = rig.animation_data.action
    assert {action.name} == set(bpy.data.actions.keys()) == was.actions and fingerprint(action) == was.keys
    assert np.array_equal(scenes.joints_of(rig), was.joints)


@pytest.mark.parametrize("edit", ["pending", "purged"])
def test_the_file_is_opened_again(live_rig, tmp_path, edit):
    """What is saved is found again, and an edit that is not is gone."""
    if edit == "purged":
        lift()
        for _ in range(2):
            bpy.data.orphans_purge(do_local_ids=True, do_recursive=True)
        assert live_action(live_rig) is not None and live_rig.motion_loom_adapt.binding is not None
    path, saved = save(tmp_path / "live.blend"), joints(live_rig)
    if edit == "pending":
        pending_edit()
    bpy.ops.wm.open_mainfile(filepath=path)
    assert no_thread()
    rig = bpy.data.objects["Rig"]
    assert np.abs(joints(rig) - saved).max() < 1e-5
    follows(rig)
    off_plays_the_source(rig)


def test_a_new_file_while_a_track_is_solved(live_rig):
    pending_edit()
    bpy.ops.wm.read_homefile(use_empty=True)
    assert no_thread() and not live_runs.runs
    action = scenes.add_scene().animation_data.action
    keys = fingerprint(action)
    settle()
    assert not live_runs.runs and fingerprint(action) == keys and len(bpy.data.actions) == 1


def handlers_of_ours():
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    calls = [call for held in lists if isinstance(held, list) for call in held]
    return [call for call in calls if getattr(call, "__module__", "").startswith("bl_ext.devrepo.motion_loom")]


@pytest.mark.parametrize("edit", ["none", "pending", "meanwhile"])
def test_the_extension_is_disabled_and_enabled(live_rig, edit):
    uid, low = live_rig.session_uid, joints(live_rig)
    if edit == "pending":
        pending_edit()
    registration.unregister()
    try:
        assert not handlers_of_ours() and not bpy.app.timers.is_registered(live._tick) and no_thread()
        assert not live_runs.runs
        adapt_live.step().location.z += {"none": 0.0, "pending": -STEP, "meanwhile": STEP}[edit]
        bpy.context.view_layer.update()
        if edit == "none":
            assert np.abs(scenes.joints_of(live_rig, [3, 20]) - low[[2, 19]]).max() < 1e-5
    finally:
        registration.register()
    rig = next(ob for ob in bpy.data.objects if ob.session_uid == uid)
    assert rig.motion_loom_adapt.live
    bpy.context.scene.frame_set(2)  # in a window a timer looks
    if edit == "meanwhile":
        settle()
        assert adapt_live.has_risen(rig, low)
        lift(-STEP)
    follows(rig)
    ends_clean(rig)


@pytest.mark.parametrize("link", [False, True])
def test_into_another_file(live_rig, tmp_path, link):
    lift()
    high = joints(live_rig)
    rig, *_ = brought(save(tmp_path / "live.blend"), "Rig", "Floor", "Step", link=link)
    settle()
    assert np.abs(joints(rig) - high).max() < 1e-5
    assert adapt_live.is_no_bug(rig)
    if not link:
        lift(-STEP)
        follows(rig)
        off_plays_the_source(rig)


def test_the_rig_alone_into_another_file(live_rig, tmp_path):
    (rig,) = brought(save(tmp_path / "live.blend"), "Rig")
    settle()
    stands_still(rig, "which 'Rig' is bound to, is no longer in the scene")


def test_copy_and_paste(live_rig, tmp_path):
    """As the clipboard does it: the selection is written to a file and appended."""
    path = str(tmp_path / "buffer.blend")
    bpy.data.libraries.write(path, {live_rig, adapt_live.step(), bpy.data.objects["Floor"]}, fake_user=False)
    with bpy.data.libraries.load(path) as (_, there):
        there.objects = ["Rig"]
    twin = there.objects[0]
    bpy.context.scene.collection.objects.link(twin)
    settle()
    assert twin.name != "Rig" and adapt_live.is_no_bug(twin)
    follows(live_rig)
    press(twin)
    settle()
    assert not twin.motion_loom_adapt.live
    follows(live_rig)


# --------------------------------------------------------------------------------------------------- scenes


@pytest.fixture
def other(live_rig):
    """Another scene with the same objects."""
    scene = bpy.data.scenes.new("Other")
    for name in ("Rig", "Floor", "Step"):
        scene.collection.objects.link(bpy.data.objects[name])
    return scene


def ends_in_one_scene(rig, other):
    follows(rig)
    bpy.data.scenes.remove(other)
    follows(rig)
    ends_clean(rig)


def test_two_scenes_with_the_same_rig(live_rig, other):
    follows(live_rig)
    first = bpy.context.window.scene
    bpy.context.window.scene = other
    settle()
    follows(live_rig)
    other.frame_set(9)
    settle()
    bpy.context.window.scene = first
    settle()
    ends_in_one_scene(live_rig, other)


def test_scenes_that_stretch_time_differently(live_rig, other):
    first = bpy.context.window.scene
    other.render.frame_map_old, other.render.frame_map_new = 100, 200
    for scene in (first, other, first):
        bpy.context.window.scene = scene
        settle()
    before = fingerprint(live_action(live_rig))
    for _ in range(4):
        for layer in (first.view_layers[0], other.view_layers[0]):
            layer.update()
    assert fingerprint(live_action(live_rig)) == before, "the scenes write the live action in turns"
    ends_in_one_scene(live_rig, other)


def test_the_rig_alone_in_another_scene(live_rig):
    first, other = bpy.context.window.scene, bpy.data.scenes.new("Other")
    other.collection.objects.link(live_rig)
    bpy.context.window.scene = other
    stands_still(live_rig, "'Floor', which 'Rig' is bound to, is no longer in the scene")
    bpy.context.window.scene = first
    ends_in_one_scene(live_rig, other)


def test_two_view_layers(mended):
    layer = bpy.context.scene.view_layers.new("Second")
    into_collection(adapt_live.step())
    layer.layer_collection.children["Props"].exclude = True
    layer.update()
    settle()
    follows(mended)
    bpy.context.window.view_layer = layer
    stands_still(mended, "'Step' is hidden, excluded or not in this view layer")
    bpy.context.window.view_layer = bpy.context.scene.view_layers[0]
    lift()
    lift(-STEP)


# ----------------------------------------------------------------------------------------------------- time


@pytest.mark.parametrize("fps, base", [(30, 1.0), (24, 1.001), (1, 1.0), (240, 1.0)])
def test_the_frame_rate_is_changed(mended, fps, base):
    render = bpy.context.scene.render
    old = render.fps, render.fps_base
    low = joints(mended)
    render.fps, render.fps_base = fps, base
    assert np.abs(joints(mended) - low).max() < 0.02
    follows(mended)
    render.fps, render.fps_base = old


@pytest.mark.parametrize("old, new", [(100, 200), (100, 50), (100, 110)])
def test_time_is_stretched(mended, old, new):
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new
    lift()
    said = "The motion of 'Rig' is not the one that was bound", "Time Stretching was changed"
    stands_still(mended, *said, remedy="BIND")
    render.frame_map_old = render.frame_map_new = 100
    lift(-STEP)


def test_subframes(mended):
    bpy.context.scene.frame_set(7, subframe=0.5)
    lift()
    between = joints(mended, np.array([7.5]))[0]
    ends = joints(mended, np.array([7, 8]))
    assert np.abs(between - ends.mean(axis=0)).max() < 5e-3
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (7, 0.0)
    bpy.context.scene.frame_set(7, subframe=0.5)
    assert adapt_live.updates_of(bpy.context.view_layer.update) == 0
    lift(-STEP)


@pytest.mark.parametrize("frame", [-100, 0, 25, 1000, 1_048_574])
def test_frames_outside(mended, frame):
    bpy.context.scene.frame_set(frame)
    lift()
    assert status(mended).problem is None
    bpy.context.scene.frame_set(12)
    lift(-STEP)
