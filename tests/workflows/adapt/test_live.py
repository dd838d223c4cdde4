"""Adapt live on a small walker, without a window: tracks are solved at once, inside the handlers."""


import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes
from tests.adapt_play import SAME, is_ready, live_is_bake, press, slot_of, status
from tests.adapt_scenes import joints_of, raise_step
from tests.objects import key

pytestmark = pytest.mark.versions

INFLUENCE = "motion_loom_adapt.influence"
BETWEEN = np.linspace(1, 24, 70)


def shuffled(rig, frames=scenes.FRAMES, seed=0):
    """World heads (F, B, 3) in the order of the frames, visited in another."""
    order = np.random.default_rng(seed).permutation(len(frames))
    return joints_of(rig, frames[order])[np.argsort(order)]


def key_influence(rig, values):
    for frame, value in values.items():
        rig.motion_loom_adapt.influence = value
        rig.keyframe_insert(INFLUENCE, frame=frame)


def step():
    return bpy.data.objects["Step"]


def move_a_later_key():
    """At frame 1, the key at frame 24."""
    bpy.context.scene.frame_set(1)
    curve = actions.find_curve(*actions.assigned(step()), "location", 2)
    curve.keyframe_points[1].co.y += 0.2
    curve.update()
    bpy.context.scene.frame_set(1)


EDITS = {
    "the step": lambda rig: raise_step(),
    "half an influence": lambda rig: (raise_step(), setattr(rig.motion_loom_adapt, "influence", 0.5)),
    "size": lambda rig: setattr(rig, "scale", (0.8,) * 3),
    "keys of the step": lambda rig: key(step(), "location", {1: (0, 0, 0), 24: (0, 0, 0.2)}),
    "a later key": lambda rig: move_a_later_key(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_live_is_bake(bound, edit):
    """At frames and between, whatever the order they are visited in."""
    if edit == "a later key":
        key(step(), "location", {1: (0, 0, 0), 24: (0, 0, 0)})
    before = joints_of(bound, BETWEEN)
    press(bound)
    EDITS[edit](bound)
    assert is_ready(bound)
    followed = shuffled(bound, BETWEEN)
    assert np.abs(followed - before).max() > 0.05
    assert bound.animation_data.action.motion_loom_adapt.stamp
    assert np.abs(live_is_bake(bound, frames=BETWEEN) - followed).max() < SAME
    notes = bound.animation_data.action.motion_loom_adapt
    assert not (notes.stamp or notes.channels or notes.written or notes.keyed)


def test_an_edit_is_followed_at_the_present_frame_without_changing_it(bound):
    press(bound)
    bpy.context.scene.frame_set(20)
    raise_step()
    now = joints_of(bound, [20])
    raise_step(-0.12)
    assert (now - joints_of(bound, [20]))[0, :, 2].max() > 0.1


def test_influence_fades(bound):
    original = joints_of(bound)
    press(bound)
    raise_step()
    whole, seen = shuffled(bound), []
    for share in (0.0, 0.5):
        bound.motion_loom_adapt.influence = share
        seen.append(np.linalg.norm(shuffled(bound) - original) / np.linalg.norm(whole - original))
    assert seen[0] < 1e-4 and 0.2 < seen[1] < 0.8


def test_a_keyed_influence_goes_on_after_off_and_on(bound):
    press(bound)
    raise_step()
    whole = shuffled(bound)
    key_influence(bound, {1: 0.0, 8: 0.0, 16: 1.0})
    followed = shuffled(bound)
    assert np.abs(followed - whole).max() > 0.05
    source = bound.motion_loom_adapt.source
    assert actions.find_curve(source, slot_of(source), INFLUENCE) is None
    bpy.context.scene.frame_set(1)
    for _ in range(2):
        press(bound)
    assert np.abs(shuffled(bound) - followed).max() < SAME
    assert np.abs(live_is_bake(bound) - followed).max() < SAME


def test_options_count(bound):
    press(bound)
    raise_step()
    before = shuffled(bound)
    bound.motion_loom_adapt.surfaces[1].mode = "IGNORE"
    ignored = shuffled(bound)
    assert np.abs(before - ignored).max() > 0.05
    assert np.abs(live_is_bake(bound) - ignored).max() < SAME


def test_single_frames_are_near_what_a_refresh_finds(bound):
    """They do without what is smoothed over time."""
    press(bound)
    scenes.add_shape_key(step(), lambda points: points + [0, 0, 0.2], keys=((1, 0.0), (24, 1.0)))
    followed = shuffled(bound)
    assert status(bound).track == "SWEEP" and status(bound).remedy == "REFRESH"
    press(bound, "live_refresh")
    assert np.linalg.norm(followed - live_is_bake(bound), axis=-1).max() < 0.05


@pytest.mark.skipif(not actions.HAS_SLOTS, reason="slots came with 4.4")
def test_a_file_bound_before_there_were_slots(bound):
    bound.motion_loom_adapt.source_slot = 0
    before = joints_of(bound)
    press(bound)
    raise_step()
    assert np.abs(shuffled(bound) - before).max() > 0.05
    press(bound)
    assert np.array_equal(joints_of(bound), before)


# ----------------------------------------------------------------------------- bones that the source does not animate

STILL = ("thigh.R", "knee.R", "chest")


@pytest.fixture
def unkeyed(rig):
    """The walker, of which some bones have no curves and stand where they were left, live at frame 20."""
    holder = actions.curve_list(*actions.assigned(rig))
    for curve in list(holder.fcurves):
        bone = actions.bone_of_path(curve.data_path)
        if bone is not None and bone[0] in STILL:
            holder.fcurves.remove(curve)
    for name in STILL:
        bone = rig.pose.bones[name]
        bone.rotation_quaternion, bone.rotation_euler = (0.9, 0.1, 0.2, 0.0), (0.1, 0.2, 0.3)
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    bpy.context.scene.frame_set(20)
    press(rig, "fit")
    return rig


def pose(rig):
    return [(*rig.pose.bones[name].rotation_quaternion, *rig.pose.bones[name].rotation_euler) for name in STILL]


@pytest.mark.parametrize("end", ["off", "off after a drag", "the environment"])
def test_bones_without_keys_go_back_to_where_they_were(unkeyed, monkeypatch, end):
    """While dragging no curves are written: the frames are solved one by one."""
    joints, bones = joints_of(unkeyed), pose(unkeyed)
    press(unkeyed)
    if end == "off after a drag":
        monkeypatch.setattr(live.live_runs, "at_once", False)
    for height in (0.12, -0.12, 0.12) if end == "the environment" else (0.12,):
        raise_step(height)
        assert status(unkeyed).problem is None
    assert np.abs(np.subtract(pose(unkeyed), bones)).max() > 1e-3
    if end == "the environment":
        raise_step(-0.12)
    else:
        press(unkeyed)
    assert pose(unkeyed) == bones
    np.testing.assert_allclose(joints_of(unkeyed), joints, atol=1e-5)
