"""Curves of an action on every Blender version: found, sampled, written, copied, assigned."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests import rig_scenes as scenes
from tests.objects import add_object, key


def make_curve(times=(1, 2, 5, 9), values=(0.0, 1.0, -2.0, 0.5), interpolation="BEZIER"):
    ob = add_object("Cube")
    key(ob, "location", dict(zip(times, values, strict=True)), index=0)
    curve = actions.all_curves(*actions.assigned(ob))[0]
    for point in curve.keyframe_points:
        point.interpolation = interpolation
    curve.update()
    return curve


def rig_of(*names, **options):
    """A chain that is animated; its action and slot."""
    ob = scenes.add_chain(names, name="Knight")
    scenes.animate_at_random(ob, **options)
    return ob, *actions.assigned(ob)


CHANGES = {
    "none": lambda curve: None,
    "cycles": lambda curve: curve.modifiers.new("CYCLES"),
    "extrapolation": lambda curve: setattr(curve, "extrapolation", "LINEAR"),
    "easing": lambda curve: setattr(curve.keyframe_points[1], "interpolation", "BOUNCE"),
    "samples": lambda curve: curve.convert_to_samples(1, 9),
    "two keys at once": lambda curve: setattr(curve.keyframe_points[2].co, "x", curve.keyframe_points[1].co.x),
}


@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT", "SINE"])
@pytest.mark.parametrize("change", CHANGES)
def test_sample_is_what_blender_evaluates(interpolation, change):
    curve = make_curve(interpolation=interpolation)
    CHANGES[change](curve)
    times = np.concatenate((np.arange(-4, 16), [1.5, 1.99997, 2.00003, 8.999, 4 / 3]))
    np.testing.assert_allclose(actions.sample(curve, times), [curve.evaluate(t) for t in times], atol=1e-6)


def test_sample_reads_late_frames_of_a_dense_curve():
    times = np.arange(100_000, 100_050)
    values = np.sin(times)
    curve = make_curve((0, 1), (0, 0))
    holder = actions.curve_list(curve.id_data, next(iter(getattr(curve.id_data, "slots", [None]))))
    written = actions.write_curve(holder, "scale", 1, None, times, values)
    np.testing.assert_allclose(actions.sample(written, times), values, atol=1e-7)
    np.testing.assert_allclose([written.evaluate(t) for t in times], values, atol=1e-7)


def test_written_curve_is_linear_grouped_and_exact():
    ob = scenes.add_chain(("hand.L",))
    action, slot = actions.create(ob, "New")
    holder = actions.curve_list(action, slot, create=True)
    times, values = np.array([1, 2.5, 4]), np.array([0.1, -0.7, 0.3])
    group = actions.group_named(holder, "hand.L")
    curve = actions.write_curve(holder, actions.bone_path("hand.L", "location"), 1, group, times, values)
    assert curve.group.name == "hand.L"
    assert {key.interpolation for key in curve.keyframe_points} == {"LINEAR"}
    assert not actions.is_stepped(curve)
    np.testing.assert_allclose([curve.evaluate(t) for t in (1, 1.75, 2.5, 4)], [0.1, -0.3, -0.7, 0.3], atol=1e-6)
    stepped = actions.write_curve(holder, "hide_viewport", 0, None, times, [0, 1, 0], actions.CONSTANT)
    assert actions.is_stepped(stepped) and stepped.evaluate(3.9) == 1


def test_a_group_that_silences_its_curves_is_not_written_into():
    ob = scenes.add_chain(("a",))
    action, slot = actions.create(ob, "New")
    holder = actions.curve_list(action, slot, create=True)
    muted = actions.group_named(holder, "a")
    muted.mute = True
    assert actions.group_named(holder, "a").mute == actions.HAS_SLOTS


@pytest.mark.parametrize("name", scenes.ODD_NAMES)
def test_bone_paths_with_odd_names(name):
    ob = scenes.add_chain((name,))
    path = actions.bone_path(name, "rotation_euler")
    assert ob.path_resolve(path) == ob.pose.bones[name].rotation_euler
    assert actions.bone_of_path(path) == (name, "rotation_euler")
    ob.pose.bones[name].keyframe_insert("location", frame=1)
    written_by_blender = actions.all_curves(*actions.assigned(ob))[0].data_path
    assert actions.bone_of_path(written_by_blender) == (name, "location")


def test_other_paths_are_not_bone_channels():
    bone = 'pose.bones["a"]'
    for path in ("location", f'{bone}.constraints["b"].influence', f'{bone}["prop"]', bone, 'bones["a"].x'):
        assert actions.bone_of_path(path) is None


def test_no_action_no_slot_and_tweak_mode_are_named():
    with pytest.raises(SceneError, match="'Bare' has no action"):
        actions.assigned(scenes.add_chain(("a",), name="Bare"))
    ob, action, slot = rig_of("a")
    if actions.HAS_SLOTS:
        ob.animation_data.action_slot = None
        with pytest.raises(SceneError, match="'Knight' plays no slot"):
            actions.assigned(ob)
        ob.animation_data.action = bpy.data.actions.new("Nothing")
        with pytest.raises(SceneError, match="Action 'Nothing' of 'Knight' is empty"):
            actions.assigned(ob)
        ob.animation_data.action, ob.animation_data.action_slot = action, slot
    scenes.add_strip(ob, action, slot, 1)
    ob.animation_data.action = None
    ob.animation_data.nla_tracks[0].select = True
    ob.animation_data.use_tweak_mode = True
    with pytest.raises(SceneError, match="'Knight' is tweaking an NLA strip"):
        actions.assigned(ob)


def test_frame_range_ignores_muted_curves():
    ob = scenes.add_chain(("a", "b"))
    scenes.animate_at_random(ob, frames=(3, 8), bones=[ob.pose.bones["a"]])
    scenes.animate_at_random(ob, frames=(1, 99), bones=[ob.pose.bones["b"]])
    action, slot = actions.assigned(ob)
    assert actions.frame_range(action, slot) == (1.0, 99.0)
    for curve in actions.all_curves(action, slot):
        curve.mute = actions.bone_of_path(curve.data_path)[0] == "b"
    assert actions.frame_range(action, slot) == (3.0, 8.0)
    action.use_frame_range, action.frame_start, action.frame_end = True, 2.0, 50.0
    assert actions.frame_range(action, slot) == (2.0, 50.0)


def test_muted_group_counts_where_blender_heeds_it():
    """From 4.4 on, Blender plays the curves of a muted group all the same."""
    _, action, slot = rig_of("a", "b")
    for group in actions.curve_list(action, slot).groups:
        group.mute = group.name == "a"
    playing = {actions.bone_of_path(curve.data_path)[0] for curve in actions.playing_curves(action, slot)}
    assert playing == ({"a", "b"} if actions.HAS_SLOTS else {"b"})


def test_all_muted_and_empty_actions_are_named():
    ob = scenes.add_chain(("a",))
    action, slot = actions.create(ob, "Hollow")
    actions.assign(ob, action, slot)
    with pytest.raises(SceneError, match="'Hollow' has no curves"):
        actions.frame_range(action, slot)
    scenes.animate_at_random(ob)
    for curve in actions.all_curves(action, slot):
        curve.mute = True
    with pytest.raises(SceneError, match="'Hollow' has only muted curves"):
        actions.frame_range(action, slot)


def test_assigning_keeps_the_action_before():
    ob, source, slot = rig_of("a")
    new, new_slot = actions.copy(source, slot, "New")
    actions.assign(ob, new, new_slot)
    assert actions.assigned(ob) == (new, new_slot)
    assert source.use_fake_user
    assert len(actions.all_curves(new, new_slot)) == len(actions.all_curves(source, slot))
    assert scenes.watch(ob, [5])[0].shape == (1, 1, 4, 4)


@pytest.mark.skipif(not actions.HAS_SLOTS, reason="slots came with Blender 4.4")
def test_slots_of_several_objects_stay_apart():
    """Two rigs of one action, whose slots carry the same display name once one rig is renamed."""
    one, two = scenes.add_chain(("a",), name="One"), scenes.add_chain(("a",), name="Two")
    scenes.animate_at_random(one, seed=1)
    action, first = actions.assigned(one)
    second = action.slots.new(id_type="OBJECT", name="Two")
    two.animation_data_create().action = action
    two.animation_data.action_slot = second
    scenes.animate_at_random(two, seed=2, frames=(20, 30))
    assert actions.assigned(two) == (action, second)
    assert actions.frame_range(action, first) == (1.0, 12.0)
    assert actions.frame_range(action, second) == (20.0, 30.0)
    copied, slot = actions.copy(action, second, "Copy")
    assert slot.handle == second.handle
    actions.keep_only(copied, slot)
    assert [s.handle for s in copied.slots] == [second.handle]
    assert actions.frame_range(copied, slot) == (20.0, 30.0)
    assert len(action.slots) == 2
