"""Duplicates of live rigs, with an action of their own or a shared one, and what Resume takes up."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_play as play
from tests import adapt_rigs as rigs
from tests.adapt_play import SAME, STEP, assert_ready, bind, lift, live_is_bake, press, reopen, settle, slot_of, status
from tests.adapt_scenes import joints_of

pytestmark = pytest.mark.usefixtures("at_any_time", "silent")


def live_actions():
    return [action for action in bpy.data.actions if "(live)" in action.name]


def duplicated(rig, kind):
    """A twin: duplicated along with its action or sharing it, or copied by a script."""
    edit = bpy.context.preferences.edit
    kept = edit.use_duplicate_action
    play.activate(rig)
    try:
        edit.use_duplicate_action = kind == "own action"
        if kind.startswith("script"):
            twin = rig.copy()
            bpy.context.scene.collection.objects.link(twin)
        else:
            bpy.ops.object.duplicate(linked=kind == "linked")
            twin = bpy.context.object
    finally:
        edit.use_duplicate_action = kept
    twin.name = "Twin"
    if kind == "script with action":
        slot = actions.HAS_SLOTS and twin.animation_data.action_slot.handle
        copy = twin.animation_data.action.copy()
        actions.assign(twin, copy, next(s for s in copy.slots if s.handle == slot) if actions.HAS_SLOTS else None)
    settle()
    return twin


@pytest.fixture(params=["own action", "shared action", "linked", "script", "script with action"])
def kind(request):
    return request.param


@pytest.mark.parametrize("make", [None, rigs.with_strips_alone])
def test_a_duplicate_gets_a_live_action_of_its_own(rig, kind, make, tmp_path):
    if make is not None:
        make(rig)
    bind(rig)
    press(rig)
    lift()
    high = joints_of(rig)
    twin = duplicated(rig, kind)
    assert twin.motion_loom_adapt.live
    played = twin.animation_data.action
    owner = played != rig.animation_data.action
    assert (status(rig).problem is None) == owner, status(rig)
    assert owner or "shares its live action with 'Twin'" in status(rig).problem
    if kind == "own action":  # Blender lets the settings point at the copy as well
        assert status(twin).problem is None
    else:
        assert status(twin).remedy == "RESUME"
    press(twin, "live_resume")
    assert (twin.animation_data.action == played) == owner
    assert_ready(twin)
    assert_ready(rig)
    assert twin.motion_loom_adapt.live_action != rig.motion_loom_adapt.live_action
    np.testing.assert_allclose(joints_of(rig), high, atol=1e-5)
    twin.location.x = 0.1
    twin.motion_loom_adapt.surfaces[1].influence = 0.5
    settle()
    assert_ready(twin)
    np.testing.assert_allclose(joints_of(rig), high, atol=1e-5)
    rig = reopen(tmp_path / "live.blend")
    twin = bpy.data.objects["Twin"]
    assert len(live_actions()) == 2
    lift(0.03)
    assert_ready(rig)
    followed = joints_of(rig)
    live_is_bake(twin)
    np.testing.assert_allclose(joints_of(rig), followed, atol=SAME)
    live_is_bake(rig)
    assert not live_actions()


@pytest.mark.parametrize("which", ["original", "twin"])
def test_live_off_of_one_leaves_the_other(bound, kind, which):
    source, before = bound.animation_data.action, joints_of(bound)
    press(bound)
    lift()
    high = joints_of(bound)
    twin = duplicated(bound, kind)
    first, other = (bound, twin) if which == "original" else (twin, bound)
    press(first)
    assert first.animation_data.action == source
    np.testing.assert_allclose(joints_of(first), before, atol=1e-6)
    np.testing.assert_allclose(joints_of(other), high, atol=1e-5)
    settle()
    if status(other).problem:
        press(other, "live_resume")
    lift(0.03)
    assert_ready(other)
    assert np.abs(joints_of(other) - high).max() > 0.02
    press(other)
    assert other.animation_data.action == source
    np.testing.assert_allclose(joints_of(other), before, atol=1e-6)
    assert not live_actions()


def key_the_neck(rig):
    rig.pose.bones["neck"].scale = (1.5,) * 3
    rig.pose.bones["neck"].keyframe_insert("scale", frame=10)


def test_keys_of_a_duplicate_are_kept(bound, kind):
    press(bound)
    twin = duplicated(bound, kind)
    key_the_neck(twin)
    press(twin, "live_resume")
    settle()
    lift()
    bpy.context.scene.frame_set(10)
    assert tuple(twin.pose.bones["neck"].scale) == pytest.approx((1.5,) * 3)
    assert "neck" in str([curve.data_path for curve in actions.all_curves(*actions.assigned(twin))])
    press(twin)
    kept = twin.motion_loom_adapt.live_action
    assert kept is not None and kept.use_fake_user


def test_a_duplicate_that_shares_is_baked_without_the_other(bound, kind):
    press(bound)
    lift()
    high = joints_of(bound)
    twin = duplicated(bound, kind)
    twin.motion_loom_adapt.surfaces[1].mode = "IGNORE"
    press(twin, "bake")
    assert not twin.motion_loom_adapt.live
    settle()
    np.testing.assert_allclose(joints_of(bound), high, atol=1e-5)
    assert_ready(bound)
    assert np.abs(joints_of(twin) - high).max() > 0.5 * STEP
    live_is_bake(bound)


def test_a_duplicate_is_bound_anew(rig, kind):
    rigs.with_strips_alone(rig)
    bind(rig)
    press(rig)
    lift()
    twin = duplicated(rig, kind)
    shared, sampled = rig.motion_loom_adapt.binding, rig.motion_loom_adapt.live_sampled
    press(twin, "fit")
    press(twin, "live_resume")
    assert rig.motion_loom_adapt.binding == shared and rig.motion_loom_adapt.live_sampled == sampled
    lift(0.03)
    assert_ready(rig)
    assert_ready(twin)
    live_is_bake(rig)
    live_is_bake(twin)
    assert len(play.kept_data()) == 2


# ------------------------------------------------------------------------------------------------------- resume


@pytest.mark.parametrize("button", ["live_resume", "bake"])
def test_what_was_solved_before_is_gone_after(bound, button):
    """Live stood still while the environment was left out of account."""
    source, before = bound.animation_data.action, joints_of(bound)
    press(bound)
    lift()
    actions.assign(bound, source, slot_of(source))
    for item in bound.motion_loom_adapt.surfaces:
        item.mode = "IGNORE"
    settle()
    assert status(bound).remedy == "RESUME"
    press(bound, button)
    assert bound.animation_data.action != source
    np.testing.assert_allclose(joints_of(bound), before, atol=1e-5)


def test_an_action_that_resume_takes_off_is_not_lost(bound):
    press(bound)
    mine = bpy.data.actions.new("Mine")
    bound.animation_data.action, mine.use_fake_user = mine, False
    settle()
    press(bound, "live_resume")
    assert mine.use_fake_user
    assert_ready(bound)


def test_keys_set_before_resume_are_kept_by_live_off(bound):
    source = bound.animation_data.action
    press(bound)
    key_the_neck(bound)
    live_action = bound.animation_data.action
    actions.assign(bound, source, slot_of(source))
    press(bound, "live_resume")
    assert bound.animation_data.action == live_action
    press(bound)
    assert bound.motion_loom_adapt.live_action == live_action and live_action.use_fake_user
