"""Adapt live on a small walker, without a window: tracks are solved at once, inside the handlers."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes
from tests.rig_scenes import fingerprint

SAME = 1e-6


@pytest.fixture
def rig():
    """A bound walker."""
    rig = scenes.add_scene()
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}
    return rig


def toggle():
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}


def bake():
    assert bpy.ops.motion_loom.bake(workflow="adapt") == {"FINISHED"}


def status(rig):
    return live.status(rig, "adapt")


def raise_step(height=0.12):
    bpy.data.objects["Step"].location.z += height


def shuffled(rig, frames=scenes.FRAMES, seed=0):
    """World heads (F, B, 3) in the order of the frames, visited in another."""
    order = np.random.default_rng(seed).permutation(len(frames))
    seen = scenes.joints_of(rig, frames[order])
    return seen[np.argsort(order)]


def baked(rig, frames=scenes.FRAMES):
    """The heads after Bake; what was live has ended by it."""
    bake()
    assert not rig.motion_loom_adapt.live
    return scenes.joints_of(rig, frames)


def test_an_unchanged_environment_leaves_the_motion_as_it_is(rig):
    before = scenes.joints_of(rig)
    source = rig.animation_data.action
    old = fingerprint(source)
    toggle()
    assert rig.animation_data.action != source and rig.animation_data.action.name.endswith("(live)")
    assert np.abs(shuffled(rig) - before).max() < 1e-5
    assert fingerprint(source) == old and status(rig).source_untouched


def test_live_is_bake_is_command(rig, tmp_path, capsys):
    toggle()
    raise_step()
    followed = shuffled(rig)
    assert status(rig).track == "READY" and status(rig).problem is None
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert np.abs(followed - baked(rig)).max() < SAME
    bpy.ops.wm.open_mainfile(filepath=path)
    assert jobs.main(["adapt", "--rig", "Rig", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["frames"] == len(scenes.FRAMES)
    assert np.abs(followed - scenes.joints_of(bpy.data.objects["Rig"])).max() < SAME


def test_between_frames_too(rig):
    toggle()
    raise_step()
    frames = np.linspace(1, 24, 70)
    followed = shuffled(rig, frames)
    assert np.abs(followed - baked(rig, frames)).max() < SAME


def test_an_edit_is_followed_at_the_present_frame_without_changing_it(rig):
    toggle()
    bpy.context.scene.frame_set(20)
    raise_step()
    bpy.context.view_layer.update()
    now = scenes.joints_of(rig, np.array([20]))
    raise_step(-0.12)
    bpy.context.view_layer.update()
    before = scenes.joints_of(rig, np.array([20]))
    assert (now - before)[0, :, 2].max() > 0.1


def test_off_plays_the_source_and_leaves_nothing(rig):
    source, count = rig.animation_data.action, len(bpy.data.actions)
    before = scenes.joints_of(rig)
    toggle()
    raise_step()
    shuffled(rig)
    toggle()
    assert rig.animation_data.action == source and len(bpy.data.actions) == count
    assert status(rig) is None
    assert np.array_equal(scenes.joints_of(rig), before)


def test_a_result_carries_no_notes_of_the_live_action(rig):
    toggle()
    raise_step()
    shuffled(rig)
    assert rig.animation_data.action.motion_loom_adapt.stamp
    bake()
    notes = rig.animation_data.action.motion_loom_adapt
    assert not (notes.stamp or notes.channels or notes.written or notes.keyed)


def test_goes_on_after_save_and_reopen(rig, tmp_path):
    toggle()
    raise_step()
    followed = shuffled(rig)
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    assert np.abs(shuffled(rig) - followed).max() < SAME
    raise_step(0.05)
    higher = shuffled(rig)
    assert np.abs(higher - followed).max() > 0.03
    assert np.abs(higher - baked(rig)).max() < SAME


def test_influence_fades(rig):
    original = scenes.joints_of(rig)
    toggle()
    raise_step()
    whole = shuffled(rig)
    rig.motion_loom_adapt.influence = 0.0
    assert np.abs(shuffled(rig) - original).max() < 1e-5
    rig.motion_loom_adapt.influence = 0.5
    half = shuffled(rig)
    assert 0.2 < np.linalg.norm(half - original) / np.linalg.norm(whole - original) < 0.8
    assert np.abs(half - baked(rig)).max() < SAME


def test_a_keyed_influence(rig):
    toggle()
    raise_step()
    path = "motion_loom_adapt.influence"
    for frame, value in ((1, 0.0), (24, 1.0)):
        rig.motion_loom_adapt.influence = value
        rig.keyframe_insert(path, frame=frame)
    followed = shuffled(rig)
    source = rig.motion_loom_adapt.source
    assert actions.find_curve(source, source.slots[0] if actions.HAS_SLOTS else None, path) is None
    assert np.abs(followed - baked(rig)).max() < SAME


def test_character_scale(rig):
    toggle()
    rig.scale = (0.8,) * 3
    followed = shuffled(rig)
    assert np.abs(followed - baked(rig)).max() < SAME


def test_options_count(rig):
    toggle()
    raise_step()
    before = shuffled(rig)
    rig.motion_loom_adapt.surfaces[1].mode = "IGNORE"
    ignored = shuffled(rig)
    assert np.abs(before - ignored).max() > 0.05
    assert np.abs(ignored - baked(rig)).max() < SAME


def test_an_environment_whose_keys_change(rig):
    toggle()
    step = bpy.data.objects["Step"]
    step.keyframe_insert("location", frame=1)
    step.location.z += 0.2
    step.keyframe_insert("location", frame=24)
    followed = shuffled(rig)
    assert status(rig).track == "READY"
    assert np.abs(followed - baked(rig)).max() < SAME


def test_keys_that_move_at_another_frame(rig):
    step = bpy.data.objects["Step"]
    for frame in (1, 24):
        step.keyframe_insert("location", frame=frame)
    toggle()
    bpy.context.scene.frame_set(1)
    curve = actions.find_curve(*actions.assigned(step), "location", 2)
    curve.keyframe_points[1].co.y += 0.2
    curve.update()
    bpy.context.scene.frame_set(1)
    assert status(rig).track == "READY"
    followed = shuffled(rig)
    assert np.abs(followed - baked(rig)).max() < SAME


def test_a_deforming_environment_needs_a_refresh(rig):
    toggle()
    step = bpy.data.objects["Step"]
    step.shape_key_add(name="Basis")
    key = step.shape_key_add(name="High")
    for point in key.data:
        point.co.z += 0.2
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=24)
    followed = shuffled(rig)
    assert status(rig).track == "SWEEP" and status(rig).remedy == "REFRESH"
    assert bpy.ops.motion_loom.live_refresh(workflow="adapt") == {"FINISHED"}
    refreshed = shuffled(rig)
    assert status(rig).track == "READY"
    assert np.abs(refreshed - baked(rig)).max() < SAME
    # Single frames do without what is smoothed over time.
    assert np.linalg.norm(followed - refreshed, axis=-1).max() < 0.05


@pytest.mark.skipif(not actions.HAS_SLOTS, reason="slots came with 4.4")
def test_a_file_bound_before_there_were_slots(rig):
    rig.motion_loom_adapt.source_slot = 0
    before = scenes.joints_of(rig)
    toggle()
    raise_step()
    followed = shuffled(rig)
    assert np.abs(followed - before).max() > 0.05
    toggle()
    assert np.array_equal(scenes.joints_of(rig), before)


def test_a_keyed_influence_goes_on_after_off_and_on(rig):
    toggle()
    raise_step()
    for frame, value in ((8, 0.0), (16, 1.0)):
        rig.motion_loom_adapt.influence = value
        rig.keyframe_insert("motion_loom_adapt.influence", frame=frame)
    followed = shuffled(rig)
    bpy.context.scene.frame_set(1)
    toggle()
    toggle()
    assert np.abs(shuffled(rig) - followed).max() < SAME
    assert np.abs(followed - baked(rig)).max() < SAME
