"""A rig's motion written to a new action, against what Blender plays."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, channels, motion
from bl_ext.devrepo.motion_loom.scene.motion_writing import written_channels
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError, SceneError

from tests import rig_scenes as scenes
from tests.motion_scenes import FRAMES, NAMES, add_mover, read, strips_alone, write


def play(ob, action):
    """Assign an action whose slot belongs to the object."""
    handle = actions.HAS_SLOTS and ob.animation_data.action_slot.handle
    slot = next(s for s in action.slots if s.handle == handle) if actions.HAS_SLOTS else None
    actions.assign(ob, action, slot)


def changed(found, bone=None, at=(slice(None), slice(0, 3), 3), by=1.0):
    """The motion with a bone's basis, a component of it, changed by values (F,)."""
    basis = found.basis.copy()
    basis[:, found.rig.names.index(bone or found.rig.names[0])][at] += by
    return replace(found, basis=basis)


def test_nothing_changed_gives_the_same_curves_and_pose():
    ob = add_mover(connect=True)
    source, slot = actions.assigned(ob)
    mirror(ob, "arm.L", axes=(0,))
    mirror(ob, "fin", axes=(0, 1))
    before = scenes.fingerprint(source)
    found = read(ob)
    poses, worlds = scenes.watch(ob, FRAMES)
    new = write(ob, "New", found)
    assert actions.assigned(ob) == (source, slot) and scenes.fingerprint(source) == before
    assert new.use_fake_user and new.name == "New"
    play(ob, new)
    after, moved = scenes.watch(ob, FRAMES)
    np.testing.assert_allclose(after, poses, atol=1e-5)
    np.testing.assert_allclose(moved, worlds, atol=1e-5)
    old = {(c.data_path, c.array_index): c for c in actions.all_curves(source, slot)}
    for curve in actions.all_curves(*actions.assigned(ob)):
        if "quaternion" not in curve.data_path and "axis_angle" not in curve.data_path:  # not of unit length
            expected = actions.sample(old[curve.data_path, curve.array_index], FRAMES)
            np.testing.assert_allclose(actions.sample(curve, FRAMES), expected, atol=1e-5)


def mirror(ob, bone, axes):
    """Turn the sign of a bone's scale curves."""
    action = ob.animation_data.action
    for curve in actions.all_curves(*actions.assigned(ob)):
        if actions.bone_of_path(curve.data_path) == (bone, "scale") and curve.array_index in axes:
            for key in curve.keyframe_points:
                key.co.y = -key.co.y
            curve.update()
    action.update_tag()


def test_turned_bones_play_as_asked_in_every_rotation_mode():
    """World-space turns on a rig that is itself turned, scaled and moving, played by Blender."""
    ob = add_mover(scale=False)
    found = read(ob)
    angle = np.linspace(0.0, 2.0, len(FRAMES))[:, None] * np.linspace(-1, 1, len(NAMES))
    turns = np.tile(np.eye(3), (*angle.shape, 1, 1))
    turns[..., 0, 0] = turns[..., 1, 1] = np.cos(angle)
    turns[..., 0, 1], turns[..., 1, 0] = -np.sin(angle), np.sin(angle)
    hip = np.column_stack((FRAMES, 0 * FRAMES, 1 + 0 * FRAMES))
    turned = motion.turn_motion(found, turns, {0: hip})
    new = write(ob, "Turned", turned, assign=True)
    assert ob.animation_data.action == new
    poses, worlds = scenes.watch(ob, FRAMES)
    old = (worlds[:, None] @ found.pose)[..., :3, :3]
    now = (worlds[:, None] @ poses)[..., :3, :3]
    np.testing.assert_allclose(now, turns @ old, atol=1e-5)
    np.testing.assert_allclose((worlds @ poses[:, 0])[:, :3, 3], hip, atol=1e-5)


@pytest.mark.parametrize("mode", scenes.ROTATION_MODES)
def test_written_rotations_do_not_jump_between_frames(mode):
    """Half way between two frames the pose is between them: no flip of sign, triple or turn."""
    ob = scenes.add_chain(("spin",))
    ob.pose.bones["spin"].rotation_mode = mode
    ob.keyframe_insert("location", frame=1)  # an action without any effect on its bones
    found = read(ob, np.arange(1.0, 41.0))
    angle = 0.3 * np.arange(40)
    basis = found.basis.copy()
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    basis[:, 0, :2, :2] = turn
    tilt = np.array([[1, 0, 0], [0, np.cos(0.4), -np.sin(0.4)], [0, np.sin(0.4), np.cos(0.4)]])
    basis[:, 0, :3, :3] = tilt @ basis[:, 0, :3, :3]
    write(ob, "Spin", replace(found, basis=basis), assign=True)
    halves = read(ob, found.frames[:-1] + 0.5).basis[:, 0, :3, :3]
    for half, a, b in zip(halves, basis[:-1, 0, :3, :3], basis[1:, 0, :3, :3], strict=True):
        assert np.trace(half.T @ a) > 1 + 2 * np.cos(0.25) and np.trace(half.T @ b) > 1 + 2 * np.cos(0.25)


def test_only_bones_that_are_keyed_or_moved_get_curves():
    ob = scenes.add_chain(NAMES)
    scenes.animate_at_random(ob, scale=False, bones=[ob.pose.bones["chest"]], channels=("rotation_axis_angle",))
    found = read(ob)
    new = write(ob, "New", changed(found, "fin", (slice(None), 0, 3), FRAMES))
    written = {curve.data_path for curve in curves_of(new)}
    assert written == {actions.bone_path("chest", "rotation_axis_angle"), actions.bone_path("fin", "location")}


def test_channels_that_did_not_change_keep_the_curves_of_the_source():
    """By bone and channel; what is written gets a key a frame."""
    ob = add_mover(scale=False)
    source, slot = actions.assigned(ob)
    found = read(ob)
    basis = found.basis.copy()
    basis[:, found.rig.names.index("fin"), 0, 3] += FRAMES
    basis[:, found.rig.names.index("chest"), :3, :3] = basis[::-1, found.rig.names.index("chest"), :3, :3]
    other = replace(found, basis=basis)
    needed = written_channels(bpy.context, ob, other, (source, slot), found)
    named = {(found.rig.names[b], int(c)) for b, c in np.argwhere(needed)}
    assert named == {("fin", 0), ("chest", 1)}
    kept = dict((row[:2], row[2:]) for row in scenes.fingerprint(source))
    write(ob, "New", other, assign=True, keys=np.repeat(needed[None], len(FRAMES), axis=0))
    paths = {actions.bone_path("fin", "location")} | {
        actions.bone_path("chest", channel) for channel in scenes.CHANNELS if channel.startswith("rotation")
    }
    for row in scenes.fingerprint(ob.animation_data.action):
        assert row[0] in paths or kept[row[:2]] == row[2:]
    np.testing.assert_allclose(scenes.watch(ob, FRAMES)[0], other.pose, atol=1e-5)


def test_under_constraints_only_bones_that_curves_tell_keep_them():
    """An influence of constraints is seen per bone; strips may be anywhere, so that there all are written."""
    ob = add_mover(scale=False)
    limit = ob.pose.bones["arm.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    found = read(ob)
    assert found.sampled_because == "bone 'arm.L' has constraints"
    source = actions.assigned(ob)
    needed = written_channels(bpy.context, ob, found, source, found)
    assert {found.rig.names[b] for b in np.flatnonzero(needed.any(axis=1))} == {"arm.L"}
    scenes.add_strip(ob, *source, 1)
    found = read(ob)
    assert written_channels(bpy.context, ob, found, source, found)[:, :2].all()


def test_keys_at_chosen_frames():
    ob = add_mover(scale=False)
    found = read(ob)
    keys = np.zeros((len(FRAMES), len(NAMES), 3), bool)
    keys[[0, 4, -1], 1, 1] = keys[[0, -1], 2, 0] = True
    new = write(ob, "New", found, keys=keys, assign=True)
    at = {}
    for curve in curves_of(new):
        bone = actions.bone_of_path(curve.data_path)
        if bone and bone[0] in ("chest", "arm.L"):
            at.setdefault(bone, set()).add(tuple(key.co.x for key in curve.keyframe_points))
    chest = channels.channels_of(found.rig, 1)[1]
    assert at["chest", chest] == {(1, 5, 12)} and at["arm.L", "location"] == {(1, 12)}
    assert at["chest", "location"] == {(1, 4, 9, 12)}  # the source's


def curves_of(action):
    slots = action.slots if actions.HAS_SLOTS else [None]
    return [curve for slot in slots for curve in actions.all_curves(action, slot)]


def test_everything_else_in_the_action_is_kept():
    ob = add_mover()
    ob["mood"] = 0.5
    ob.pose.bones["hip"]["squash"] = 0.2
    limit = ob.pose.bones["fin"].constraints.new("LIMIT_SCALE")
    limit.mute = True
    for frame in (1, 7):
        ob.keyframe_insert('["mood"]', frame=frame)
        ob.pose.bones["hip"].keyframe_insert('["squash"]', frame=frame)
        limit.keyframe_insert("influence", frame=frame)
    source, slot = actions.assigned(ob)
    source.pose_markers.new("step").frame = 4
    muted = actions.all_curves(source, slot)[0]
    muted.mute = True
    chest = np.array(read(ob).rig.names) == "chest"
    keys = np.broadcast_to(chest[:, None], (len(FRAMES), len(chest), 3))
    new = write(ob, "New", read(ob), keys=keys)
    kept = dict((row[:2], row[2:]) for row in scenes.fingerprint(new))
    for row in scenes.fingerprint(source):
        if actions.bone_of_path(row[0]) is None or actions.bone_of_path(row[0])[0] != "chest":
            assert kept[row[:2]] == row[2:]
    assert [marker.name for marker in new.pose_markers] == ["step"]
    assert len(kept) == len(scenes.fingerprint(source))


def test_groups_are_named_after_bones_and_play():
    ob = add_mover()
    for group in actions.curve_list(*actions.assigned(ob)).groups:
        group.mute = group.name == "hip"
    new = write(ob, "New", read(ob), assign=True)
    for curve in actions.playing_curves(*actions.assigned(ob)):
        bone = actions.bone_of_path(curve.data_path)
        assert bone is None or curve.group.name.startswith(bone[0][:60])
    playing = [actions.bone_of_path(curve.data_path) for curve in actions.playing_curves(*actions.assigned(ob))]
    assert "hip" in {bone[0] for bone in playing if bone}
    assert new.users == 1 and not new.use_fake_user


def test_a_failure_leaves_nothing_behind(monkeypatch):
    """Neither what has no valid pose nor an error on the way."""
    ob = add_mover()
    found = read(ob)
    names = set(bpy.data.actions.keys())
    basis = found.basis.copy()
    basis[3, 2, 0, 0] = np.nan
    with pytest.raises(OutputError, match="Bone 'arm.L' has no valid pose at frame 4"):
        write(ob, "New", replace(found, basis=basis))
    assert set(bpy.data.actions.keys()) == names

    def refuse(*_):
        raise OutputError("refused")

    monkeypatch.setattr(actions, "write_curve", refuse)
    with pytest.raises(OutputError, match="refused"):
        write(ob, "New", found)
    assert set(bpy.data.actions.keys()) == names


def test_uneven_object_scale_is_named():
    ob = add_mover()
    ob.scale = (1, 1, 1.5)
    found = read(ob)
    with pytest.raises(SceneError, match="'Rig' is scaled unevenly at frame 1"):
        motion.turn_motion(found, np.tile(np.eye(3), (*found.basis.shape[:2], 1, 1)))


def test_two_rigs_of_one_action_are_written_apart():
    one = scenes.add_chain(NAMES, name="One")
    scenes.animate_at_random(one)
    action, slot = actions.assigned(one)
    two = scenes.add_chain(NAMES, name="Two")
    for a, b in zip(one.pose.bones, two.pose.bones, strict=True):
        b.rotation_mode = a.rotation_mode
    actions.assign(two, action, slot)
    before = scenes.fingerprint(action)
    found = read(two)
    other = changed(found)
    write(two, "New", other, assign=True)
    assert one.animation_data.action == action and scenes.fingerprint(action) == before
    np.testing.assert_allclose(read(one).basis, found.basis, atol=1e-6)
    np.testing.assert_allclose(read(two).basis, other.basis, atol=1e-5)


# ------------------------------------------------------------------------------- linked and override rigs


@pytest.fixture
def library(tmp_path):
    ob = add_mover()
    found = read(ob)
    scenes.link_from_library(ob, tmp_path)
    return found


def test_a_linked_rig_is_read_and_not_written(library):
    ob = bpy.data.objects["Rig"]
    found = read(ob)
    np.testing.assert_allclose(found.basis, library.basis, atol=1e-6)
    with pytest.raises(SceneError, match="'Rig' is linked from .* library override or a local copy"):
        write(ob, "New", found)


def test_an_override_rig_is_read_and_written(library):
    linked = bpy.data.collections["Cast"]
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    ob = next(ob for ob in bpy.context.scene.objects if ob.override_library)
    found = read(ob)
    np.testing.assert_allclose(found.basis, library.basis, atol=1e-6)
    other = changed(found)
    new = write(ob, "New", other, assign=True)
    assert new.library is None and ob.animation_data.action == new
    np.testing.assert_allclose(scenes.watch(ob, FRAMES)[0], other.pose, atol=1e-5)


def test_a_linked_action_on_a_local_rig_gives_a_local_one(tmp_path):
    ob = add_mover()
    found = read(ob)
    action, _ = actions.assigned(ob)
    path = tmp_path / "actions.blend"
    bpy.data.libraries.write(str(path), {action})
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.actions = [action.name]
    linked = next(a for a in bpy.data.actions if a.library)
    actions.assign(ob, linked, linked.slots[0] if actions.HAS_SLOTS else None)
    np.testing.assert_allclose(read(ob).basis, found.basis, atol=1e-6)
    new = write(ob, "Local", read(ob), assign=True)
    assert new.library is None and not linked.use_fake_user
    np.testing.assert_allclose(read(ob).basis, found.basis, atol=1e-5)


def test_strips_alone_are_written_into_a_fresh_action():
    ob = add_mover()
    strips_alone(ob)
    found = read(ob)
    write(ob, "Fresh", found, assign=True)
    ob.animation_data.use_nla = False
    np.testing.assert_allclose(read(ob).pose, found.pose, atol=1e-5)
    assert read(ob).sampled_because is None


# ------------------------------------------------------------------------------------------------ real rigs


def import_clip(data, path):
    file = data / path
    if file.suffix == ".bvh":
        bpy.ops.import_anim.bvh(filepath=str(file), global_scale=0.01)
    else:
        bpy.ops.import_scene.gltf(filepath=str(file))
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


@pytest.mark.parametrize(
    "path",
    [
        "quadruped_rigs/quaternius/Horse.glb",
        "biped_rigs/kaykit/Barbarian.glb",
        "nonhumanoid_rigs/quaternius/Trex.glb",
        "mocap_bvh/cmu/03_01_uneven_terrain_30fps.bvh",
        "mocap_bvh/bandai/dataset-1_walk_giant_001.bvh",
        "mocap_bvh/nonhuman",
    ],
)
def test_real_rigs_read_and_write(data, path):
    if (data / path).is_dir():
        path = next((data / path).glob("*.bvh")).relative_to(data)
    ob = import_clip(data, path)
    first, last = motion.motion_range(bpy.context.scene, ob)
    frames = np.arange(np.floor(first), min(np.ceil(last), first + 60) + 1)
    found = read(ob, frames)
    assert found.sampled_because is None
    poses, worlds = scenes.watch(ob, frames)
    np.testing.assert_allclose(found.pose, poses, atol=1e-5)
    np.testing.assert_allclose(found.object_world, worlds, atol=1e-5, rtol=1e-6)
    before = scenes.fingerprint(ob.animation_data.action)
    source = ob.animation_data.action
    write(ob, "Written", found, assign=True)
    np.testing.assert_allclose(scenes.watch(ob, frames)[0], poses, atol=1e-5)
    assert scenes.fingerprint(source) == before
