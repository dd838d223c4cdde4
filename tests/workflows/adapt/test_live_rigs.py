"""Adapt live on rigs that are not plain: sampled, overriding, linked, appended, scaled, oddly named."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, binding_store

from tests import adapt_play as play
from tests import adapt_rigs as rigs
from tests import adapt_scenes as scenes
from tests.adapt_play import SAME, STEP, assert_ready, bind, interactive, lift, live_is_bake, press, settle, status
from tests.adapt_scenes import joints_of
from tests.objects import add_object, key
from tests.rig_scenes import ROTATION_MODES, fingerprint

pytestmark = pytest.mark.usefixtures("at_any_time", "silent")


def go_live(rig, make):
    make(rig)
    press(bind(rig))


def played(rig):
    """The action and what it holds."""
    action = rig.animation_data.action
    return action and (action.name, fingerprint(action))


def assert_live(rig, tmp_path):
    """Live on, saved and opened, an edit dragged and followed, opened again, baked, live once more and off."""
    bpy.context.view_layer.update()
    before, source, acting = joints_of(rig), played(rig), play.influences(rig)
    bind(rig)
    press(rig)
    assert_ready(rig)
    np.testing.assert_allclose(joints_of(rig), before, atol=2e-5)
    assert not any(play.influences(rig))
    rig = play.reopen(tmp_path / "live.blend", rig.name)
    np.testing.assert_allclose(joints_of(rig), before, atol=2e-5)
    with interactive():
        bpy.context.scene.frame_set(20)
        settle()
        there = joints_of(rig, [20])
        bpy.context.scene.objects["Step"].location.z += STEP
        bpy.context.view_layer.update()
        assert status(rig).problem is None and status(rig).track == "WAITING"
        alone = joints_of(rig, [20])
        assert np.abs(alone - there).max() > 0.6 * STEP
        assert_ready(rig)
        followed = joints_of(rig)
        assert np.abs(followed[19] - alone).max() < 0.05
    rig = play.reopen(tmp_path / "again.blend", rig.name)  # what has been opened must be saved again as well
    assert rig.motion_loom_adapt.live
    np.testing.assert_allclose(joints_of(rig), followed, atol=SAME)
    lift(-0.02)
    baked = live_is_bake(rig)
    np.testing.assert_allclose((baked - before)[-6:, rig.data.bones.find("ankle.R"), 2], STEP - 0.02, atol=0.015)
    play.play_source(rig)
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-5)
    press(rig)
    np.testing.assert_allclose(joints_of(rig), baked, atol=SAME)
    press(rig)
    assert play.influences(rig) == acting and played(rig) == source
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-5)
    assert rig.motion_loom_adapt.live_sampled is None and len(play.kept_data()) == 1


SAMPLED = [
    rigs.with_ik, rigs.with_copy_rotation, rigs.with_a_driver, rigs.with_strips_alone, rigs.with_strips_that_walk,
    rigs.with_strips_below_an_action, rigs.with_a_moving_parent, rigs.with_an_object_constraint,
]  # fmt: skip
KINDS = [
    rigs.placed_like_imports, rigs.under_a_scaled_empty, rigs.turned_and_away, rigs.with_object_keys,
    rigs.under_a_still_empty, rigs.with_deltas, rigs.without_inherited_rotation, rigs.disconnected, rigs.connected,
    rigs.with_a_scaled_floor, rigs.with_a_mirrored_step,
]  # fmt: skip


@pytest.mark.parametrize("make", [*SAMPLED, *KINDS])
def test_rigs_of_every_kind(rig, make, tmp_path):
    make(rig)
    bpy.context.scene.frame_set(1)
    assert_live(rig, tmp_path)


def keyed_in(rig, mode):
    """The same motion in another rotation mode, for every bone."""
    before = joints_of(rig)
    poses = []
    for frame in scenes.FRAMES:
        bpy.context.scene.frame_set(int(frame))
        poses.append([bone.matrix_basis.copy() for bone in rig.pose.bones])
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for frame, pose in zip(scenes.FRAMES, poses, strict=True):
        for bone, basis in zip(rig.pose.bones, pose, strict=True):
            bone.matrix_basis = basis
            bone.keyframe_insert(channel, frame=int(frame))
            bone.keyframe_insert("location", frame=int(frame))
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-4)


@pytest.mark.parametrize("mode", [*ROTATION_MODES, "mixed"])
def test_every_rotation_mode(rig, mode, tmp_path):
    keyed_in(rig, "QUATERNION" if mode == "mixed" else mode)
    if mode == "mixed":
        for number, bone in enumerate(rig.pose.bones):
            bone.rotation_mode = ROTATION_MODES[number % 8] if number % 2 == 0 else "QUATERNION"
        bpy.context.scene.frame_set(1)
    assert_live(rig, tmp_path)


ODD = ['say "hi" back\\slash', "a=b] ['0'] 100%", "骨 Knie_δεξιά\ttab", "x" * 60]


@pytest.mark.parametrize("name", ODD)
def test_odd_names(rig, name, tmp_path):
    rig.name = rig.data.name = rig.animation_data.action.name = name
    for number, bone in enumerate(("thigh.R", "ankle.R", "spine", "wrist.L")):
        rig.data.bones[bone].name = f"{name[:55]}{number}"
    floor = bpy.data.objects["Floor"]
    floor.name = floor.data.name = f"{name[:50]} floor"
    settings, target = rig.motion_loom_adapt, add_object("Pin")
    target.location = rig.matrix_world @ rig.pose.bones[-1].head
    item, pin = settings.bones.add(), settings.pins.add()
    item.bone, item.factor = f"{name[:55]}1", 2.0
    pin.bone, pin.target, pin.start, pin.end = f"{name[:55]}3", target, 1, 3
    before = joints_of(rig)
    bind(rig, (floor.name, "Step"))
    press(rig)
    lift()
    assert_ready(rig)
    assert np.abs(joints_of(rig) - before).max() > 0.6 * STEP
    rig = play.reopen(tmp_path / "live.blend", name)
    assert rig.motion_loom_adapt.live
    lift(0.02)
    live_is_bake(rig)


# ------------------------------------------------------------------------------------------- sampled sources


@pytest.mark.parametrize("make", SAMPLED)
@pytest.mark.parametrize("edit", ["scale", "location"])
def test_a_sampled_rig_is_resized_or_moved(rig, make, edit):
    go_live(rig, make)
    setattr(rig, edit, {"scale": (0.9,) * 3, "location": (0.1, 0.0, 0.0)}[edit])
    settle()
    if status(rig).problem or status(rig).track == "SWEEP":
        assert status(rig).remedy == "REFRESH"
        assert make.__name__ in (
            "with_ik", "with_copy_rotation", "with_strips_that_walk", "with_an_object_constraint"
        )  # fmt: skip
        if make is rigs.with_ik:  # its target stays where it was: that is another motion
            said = "bone 'knee.R' has constraints: undo what changed there, or bind again"
            assert said in play.refused(rig, "live_refresh")
            return
        press(rig, "live_refresh")
    live_is_bake(rig)


def test_frames_alone_are_no_change(rig):
    """What strips move is no reason to solve again."""
    go_live(rig, rigs.with_strips_that_walk)
    written = rig.animation_data.action.motion_loom_adapt.stamp
    with interactive():
        for frame in (3, 17, 9):
            bpy.context.scene.frame_set(frame)
            assert play.is_ready(rig)
    assert rig.animation_data.action.motion_loom_adapt.stamp == written


def test_the_kept_motion_is_exact(rig):
    rigs.with_ik(rig)
    for ob in (rig, bpy.data.objects["Floor"], bpy.data.objects["Step"]):
        ob.location.x = 100.0
    bpy.data.objects["Target"].delta_location.x = 100.0
    bind(rig)
    press(rig)
    lift()
    live_is_bake(rig)


def test_constraints_changed_while_live_are_read_by_a_refresh(rig):
    go_live(rig, rigs.with_ik)
    lift()
    before = joints_of(rig)
    ik = rig.pose.bones["knee.R"].constraints[0]
    for mute in (True, False):
        ik.mute = mute
        settle()
        assert status(rig).problem is None
        press(rig, "live_refresh")
    np.testing.assert_allclose(joints_of(rig), before, atol=SAME)
    curve = actions.find_curve(*actions.assigned(bpy.data.objects["Target"]), "location", 2)
    for point in curve.keyframe_points:
        point.co.y += 0.00005  # still the motion that was bound
    curve.update()
    settle()
    press(rig, "live_refresh")
    assert 1e-6 < np.abs(joints_of(rig) - before).max() < 0.01
    live_is_bake(rig)


def test_a_constraint_that_comes_while_live_is_switched_off_by_a_refresh(bound):
    """It does not change the source, but would pull the foot back."""
    press(bound)
    source = bound.animation_data.action
    lift()
    before = joints_of(bound)
    press(bound)
    rigs.with_ik(bound)
    ik = bound.pose.bones["knee.R"].constraints[0]
    ik.mute = True
    press(bound)
    ik.mute = False
    settle()
    press(bound, "live_refresh")
    assert ik.influence == 0.0
    np.testing.assert_allclose(joints_of(bound), before, atol=1e-3)
    lift(0.02)
    live_is_bake(bound)
    play.play_source(bound)
    assert ik.influence == 1.0 and bound.animation_data.action != source


@pytest.mark.parametrize("at_once", [True, False])
def test_joint_limits_switched_off_while_live(rig, at_once):
    limit = rig.pose.bones["knee.R"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space, limit.min_x, limit.max_x = True, "LOCAL", -0.9, 0.9
    before = joints_of(rig)
    bind(rig)
    press(rig)
    with interactive(at_once):
        lift()
        rig.motion_loom_adapt.limits = False
        settle()
        lift(0.01)
        assert limit.influence == 0.0
        live_is_bake(rig)
        play.play_source(rig)
        press(rig)
        press(rig)
    assert limit.influence == 1.0
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-6)


def test_a_channel_beside_one_that_strips_play_is_followed(rig):
    """Live did not see where the rig was put on X, since strips played its Y; Bake did."""
    key(rig, "location", {1: 0.0, 24: 0.05}, index=1)
    go_live(rig, rigs.with_strips_alone)
    rig.location.x = 0.1
    settle()
    assert status(rig).remedy == "REFRESH"
    press(rig, "live_refresh")
    assert_ready(rig)
    live_is_bake(rig)


def test_another_motion_by_changed_strips_is_refused_by_a_refresh(rig):
    go_live(rig, rigs.with_strips_alone)
    lift()
    before = joints_of(rig)
    strip = rig.animation_data.nla_tracks[0].strips[0]
    strip.frame_start = 8
    settle()
    said = play.refused(rig, "live_refresh")
    assert "not the one that was bound" in said and "NLA strips contribute to it: undo what changed there" in said
    strip.frame_start = 1
    press(rig, "live_refresh")
    np.testing.assert_allclose(joints_of(rig), before, atol=SAME)
    live_is_bake(rig)


def test_bound_again_while_live_keeps_the_new_motion(rig, tmp_path):
    go_live(rig, rigs.with_strips_alone)
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 5, 18
    bind(rig)
    assert settings.live_sampled is not None
    lift()
    assert_ready(rig)
    assert len(play.kept_data()) == 2
    rig = play.reopen(tmp_path / "live.blend")
    lift(0.02)
    live_is_bake(rig, 1e-5)  # channels that the strips alone play here, Bake keys with their rounding


def damage(settings):
    words = settings.live_sampled["data"]
    words[len(words) // 2] ^= 1


def of_a_later_version(settings):
    arrays, header = binding_store.load(settings.live_sampled)
    settings.live_sampled = binding_store.save("Rig", arrays, header | {"format": 99})


DAMAGES = {
    "bytes": damage,
    "empty": lambda settings: settings.live_sampled.pop("data"),
    "version": of_a_later_version,
    "gone": lambda settings: bpy.data.node_groups.remove(settings.live_sampled),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_kept_motion_is_explained_and_mended(rig, kind, tmp_path):
    go_live(rig, rigs.with_strips_alone)
    DAMAGES[kind](rig.motion_loom_adapt)
    rig = play.reopen(tmp_path / "live.blend")
    lift()
    if kind == "gone":
        assert status(rig).track == "SWEEP" and status(rig).remedy == "REFRESH"
        press(rig, "live_refresh")
    else:
        assert "bind again" in status(rig).problem and status(rig).remedy == "BIND"
        lift(-STEP)
        press(rig, "fit")
        lift()
    live_is_bake(rig)


def test_a_source_that_is_sampled_no_more_needs_nothing_kept(rig):
    go_live(rig, rigs.with_a_moving_parent)
    world = rig.matrix_world.copy()
    rig.parent = None
    rig.matrix_world = world
    settle()
    lift()
    assert "Internal" not in (status(rig).problem or "")


# ------------------------------------------------------------------------------------------------ several


@pytest.mark.parametrize("at_once", [True, False])
def test_several_rigs_and_one_that_fails(rig, at_once):
    walkers = [rig, *(scenes.add_walker(f"Rig {k}") for k in (1, 2))]
    for k, walker in enumerate(walkers):
        walker.location.x = 0.2 * k
    scenes.add_box("Own", (3, 3, 0), (4, 4, 1))
    bpy.context.view_layer.update()
    for walker, names in zip(walkers, (("Floor", "Step"), ("Floor", "Step", "Own"), ("Step",)), strict=True):
        press(bind(walker, names))
    low = [joints_of(walker) for walker in walkers]
    bpy.data.objects.remove(bpy.data.objects["Own"])
    with interactive(at_once):
        lift()
        broken = walkers[1]
        assert "'Own'" in status(broken).problem and status(broken).remedy == "UPDATE"
        for walker, before in ((walkers[0], low[0]), (walkers[2], low[2])):
            assert_ready(walker)
            assert np.abs(joints_of(walker) - before).max() > 0.6 * STEP
        listed = broken.motion_loom_adapt.surfaces
        listed.remove(next(k for k, item in enumerate(listed) if item.target is None))
        lift(-STEP)
        press(broken, "fit")
        lift()
        assert_ready(broken)
        for walker in walkers:
            live_is_bake(walker)
