"""A rig's motion read by curves and by frames, and written back, against what Blender plays."""

import random

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, motion
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, OutputError, SceneError

from tests import rig_scenes as scenes

FRAMES = np.arange(1.0, 13.0)
NAMES = ("hip", "chest", "arm.L", 'hand "L"', "back\\slash", "頭", "tail", "fin")


def read(ob, frames=FRAMES):
    return motion.read_motion(bpy.context, ob, frames)


def write(ob, name, what, **options):
    return motion.write_motion(bpy.context, ob, name, what, **options)


def play(ob, action):
    """Assign an action whose slot belongs to the object."""
    handle = actions.HAS_SLOTS and ob.animation_data.action_slot.handle
    slot = next(s for s in action.slots if s.handle == handle) if actions.HAS_SLOTS else None
    actions.assign(ob, action, slot)


def add_mover(ob):
    """A rig that is animated in every rotation mode and by object-level curves, and stands askew."""
    scenes.animate_at_random(ob)
    ob.rotation_mode = "ZYX"
    ob.rotation_euler, ob.scale = (0.3, -0.5, 1.0), (0.5, 0.5, 0.5)
    for frame, place in ((1, (0, 0, 0)), (12, (3, 1, 2))):
        ob.location = place
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_euler", frame=frame, index=2)
    bpy.context.scene.frame_set(1)
    return ob


# ------------------------------------------------------------------------------------------------- reading


def with_deltas(ob):
    ob.delta_location, ob.delta_scale = (1, 0, 2), (2, 2, 2)
    ob.delta_rotation_euler = (0.2, 0.1, -0.4)


def with_quaternion_deltas(ob):
    ob.rotation_mode, ob.rotation_quaternion = "QUATERNION", (0.5, 0.1, 0.7, -0.3)
    ob.delta_rotation_quaternion, ob.delta_scale = (0.8, 0.1, -0.4, 0.2), (1.2, 0.7, 1.0)


def with_axis_angle(ob):
    ob.rotation_mode, ob.rotation_axis_angle = "AXIS_ANGLE", (2.0, 0.3, 0.5, -0.8)


def with_still_parents(ob):
    grand, parent = (bpy.data.objects.new(name, None) for name in ("Grand", "Parent"))
    for empty in (grand, parent):
        bpy.context.scene.collection.objects.link(empty)
        empty.location, empty.rotation_euler, empty.scale = (1, 2, 3), (0.5, 0.1, 0.2), (2, 2, 2)
    parent.parent, ob.parent = grand, parent
    ob.matrix_parent_inverse = parent.matrix_basis.inverted()


def with_remapped_time(ob):
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 150


def with_muted_curves(ob):
    for number, curve in enumerate(actions.all_curves(*actions.assigned(ob))):
        curve.mute = number % 3 == 0
    actions.curve_list(*actions.assigned(ob)).groups[1].mute = True
    ob.animation_data.action.update_tag()
    scenes.pose_at_random(ob, random.Random(8))


def with_unkeyed_channels(ob):
    holder = actions.curve_list(*actions.assigned(ob))
    for curve in list(holder.fcurves)[::2]:
        holder.fcurves.remove(curve)
    scenes.pose_at_random(ob, random.Random(9))


def with_cycles(ob):
    for curve in actions.all_curves(*actions.assigned(ob)):
        curve.modifiers.new("CYCLES")
    ob.animation_data.action.update_tag()


def with_muted_strips(ob):
    action, slot = actions.assigned(ob)
    scenes.add_strip(ob, action, slot, 3, mute_track=True)


def with_strips_switched_off(ob):
    action, slot = actions.assigned(ob)
    scenes.add_strip(ob, action, slot, 3)
    ob.animation_data.use_nla = False


def with_muted_constraint(ob):
    ob.pose.bones[1].constraints.new("LIMIT_ROTATION").mute = True


@pytest.mark.parametrize(
    "change",
    [None, with_deltas, with_quaternion_deltas, with_axis_angle, with_still_parents, with_remapped_time]
    + [
        with_muted_curves,
        with_unkeyed_channels,
        with_cycles,
        with_muted_strips,
        with_strips_switched_off,
        with_muted_constraint,
    ],
)
def test_curves_tell_what_blender_plays(change):
    ob = add_mover(scenes.add_chain(NAMES))
    if change:
        change(ob)
    frames = np.concatenate((FRAMES, [12.25, 20.5]))
    found = read(ob, frames[:12]), read(ob, frames[12:])
    assert [part.sampled_because for part in found] == [None, None]
    poses, worlds = scenes.watch(ob, frames)
    np.testing.assert_allclose(np.concatenate([part.pose for part in found]), poses, atol=1e-5)
    np.testing.assert_allclose(np.concatenate([part.object_world for part in found]), worlds, atol=1e-5)


def test_curves_tell_what_blender_plays_for_every_bone_rule():
    ob = scenes.add_rig_of_all_rules()
    scenes.animate_at_random(ob, frames=(1, 6, 12))
    found = read(ob)
    assert found.sampled_because is None
    np.testing.assert_allclose(found.pose, scenes.watch(ob, FRAMES)[0], atol=1e-5)


def test_both_ways_of_reading_agree():
    ob = add_mover(scenes.add_chain(NAMES))
    by_curves = read(ob)
    ob.pose.bones["fin"].constraints.new("LIMIT_SCALE")  # limits nothing, but might
    by_frames = read(ob)
    assert by_frames.sampled_because == "bone 'fin' has constraints"
    np.testing.assert_allclose(by_frames.basis, by_curves.basis, atol=1e-5)
    np.testing.assert_allclose(by_frames.object_world, by_curves.object_world, atol=1e-5)
    assert by_frames.fps == by_curves.fps == 24.0


def add_driver(ob):
    ob.pose.bones["hip"].driver_add("location", 0).driver.expression = "frame / 10"


def add_constraint(ob):
    limit = ob.pose.bones["chest"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"


def add_object_constraint(ob):
    limit = ob.constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, 0.5


def add_moving_parent(ob):
    parent = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(parent)
    ob.parent = parent
    for frame, x in ((1, 0.0), (12, 2.0)):
        parent.location.x = x
        parent.keyframe_insert("location", frame=frame)


def add_bone_parent(ob):
    carrier = scenes.add_chain(("seat",), name="Carrier")
    scenes.animate_at_random(carrier)
    ob.parent, ob.parent_type, ob.parent_bone = carrier, "BONE", "seat"


def add_strips(ob):
    action, slot = actions.assigned(ob)
    scenes.add_strip(ob, action, slot, 4)
    ob.animation_data.action = None


def add_blending(ob):
    action, slot = actions.assigned(ob)
    scenes.add_strip(ob, action, slot, 4)
    ob.animation_data.action_influence = 0.4


def animate_rotation_mode(ob):
    for frame, mode in ((1, "XYZ"), (6, "ZXY")):
        ob.pose.bones["arm.L"].rotation_mode = mode
        ob.pose.bones["arm.L"].keyframe_insert("rotation_mode", frame=frame)


def animate_delta(ob):
    for frame in (1, 12):
        ob.delta_location.x = frame
        ob.keyframe_insert("delta_location", frame=frame)


@pytest.mark.parametrize(
    "change, reason",
    [
        (add_driver, "drivers move it"),
        (add_constraint, "bone 'chest' has constraints"),
        (add_object_constraint, "the object has constraints"),
        (add_moving_parent, "its parent 'Cart' may move"),
        (add_bone_parent, "its parent 'Carrier' may move"),
        (add_strips, "NLA strips contribute to it"),
        (add_blending, "NLA strips contribute to it"),
        (animate_rotation_mode, "the rotation mode of bone 'arm.L' is animated"),
        (animate_delta, "the object's 'delta_location' is animated"),
    ],
)
def test_what_curves_do_not_tell_is_sampled(change, reason):
    ob = add_mover(scenes.add_chain(NAMES))
    change(ob)
    found = read(ob)
    assert found.sampled_because == reason
    poses, worlds = scenes.watch(ob, FRAMES)
    np.testing.assert_allclose(found.pose, poses, atol=1e-5)
    np.testing.assert_allclose(found.object_world, worlds, atol=1e-5)


def test_sampling_leaves_the_scene_as_it_was():
    ob = add_mover(scenes.add_chain(NAMES))
    add_driver(ob)
    scene = bpy.context.scene
    scene.frame_set(5, subframe=0.25)
    ob.pose.bones["tail"].rotation_euler = (7, 8, 9)
    ob.pose.bones["fin"].location = (4, 5, 6)
    ob.location = (9, 9, 9)
    read(ob)
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.25)
    assert ob.pose.bones["tail"].rotation_euler[:] == (7, 8, 9)
    assert ob.pose.bones["fin"].location[:] == (4, 5, 6)
    assert ob.location[:] == (9, 9, 9)


def hide_collection(ob):
    hidden = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(hidden)
    hidden.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True


def hide_object(ob):
    ob.hide_viewport = True


@pytest.mark.parametrize("hide", [hide_collection, hide_object])
def test_a_hidden_rig_reads_by_curves_and_is_refused_by_frames(hide):
    ob = add_mover(scenes.add_chain(NAMES))
    expected = read(ob)
    hide(ob)
    found = read(ob)
    np.testing.assert_allclose(found.basis, expected.basis, atol=1e-6)
    np.testing.assert_allclose(found.object_world, expected.object_world, atol=1e-6)
    add_driver(ob)
    bpy.context.scene.frame_set(5)
    with pytest.raises(SceneError, match="'Rig' is hidden, excluded or not in this view layer at frame 1"):
        read(ob)
    assert bpy.context.scene.frame_current == 5


@pytest.mark.parametrize("frames", [[], [float("nan")], [3, 3], [5, 4]])
def test_bad_frames_are_refused(frames):
    ob = add_mover(scenes.add_chain(NAMES))
    with pytest.raises(InputError):
        read(ob, frames)


# ------------------------------------------------------------------------------------------------- writing


def test_nothing_changed_gives_the_same_curves_and_pose():
    ob = add_mover(scenes.add_chain(NAMES, connect=True))
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
    ob = add_mover(scenes.add_chain(NAMES))
    scenes.animate_at_random(ob, scale=False)
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
    found = read_still(ob, np.arange(1.0, 41.0))
    angle = 0.3 * np.arange(40)
    basis = found.basis.copy()
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    basis[:, 0, :2, :2] = turn
    tilt = np.array([[1, 0, 0], [0, np.cos(0.4), -np.sin(0.4)], [0, np.sin(0.4), np.cos(0.4)]])
    basis[:, 0, :3, :3] = tilt @ basis[:, 0, :3, :3]
    write(ob, "Spin", motion.replace(found, basis=basis), assign=True)
    halves = read(ob, found.frames[:-1] + 0.5).basis[:, 0, :3, :3]
    for half, a, b in zip(halves, basis[:-1, 0, :3, :3], basis[1:, 0, :3, :3], strict=True):
        assert np.trace(half.T @ a) > 1 + 2 * np.cos(0.25) and np.trace(half.T @ b) > 1 + 2 * np.cos(0.25)


def read_still(ob, frames):
    """The motion of a rig that has an action without any effect on its bones."""
    ob.keyframe_insert("location", frame=1)
    return read(ob, frames)


def test_only_bones_that_are_keyed_or_moved_get_curves():
    ob = scenes.add_chain(NAMES)
    scenes.animate_at_random(ob, scale=False, bones=[ob.pose.bones["chest"]], channels=("rotation_axis_angle",))
    found = read(ob)
    basis = found.basis.copy()
    basis[:, found.rig.index("fin"), 0, 3] += FRAMES
    new = write(ob, "New", motion.replace(found, basis=basis))
    written = {curve.data_path for curve in curves_of(new)}
    paths = [actions.bone_path("chest", "rotation_axis_angle"), actions.bone_path("fin", "location")]
    assert written == set(paths)


def test_channels_that_did_not_change_keep_the_curves_of_the_source():
    """By bone and channel; what is written gets a key a frame."""
    ob = add_mover(scenes.add_chain(NAMES))
    scenes.animate_at_random(ob, scale=False)
    source, slot = actions.assigned(ob)
    found = read(ob)
    basis = found.basis.copy()
    basis[:, found.rig.index("fin"), 0, 3] += FRAMES
    basis[:, found.rig.index("chest"), :3, :3] = basis[::-1, found.rig.index("chest"), :3, :3]
    changed = motion.replace(found, basis=basis)
    needed = motion.written_channels(bpy.context, ob, changed, (source, slot), found)
    named = {(found.rig.names[b], int(c)) for b, c in np.argwhere(needed)}
    assert named == {("fin", 0), ("chest", 1)}
    kept = dict((row[:2], row[2:]) for row in scenes.fingerprint(source))
    write(ob, "New", changed, assign=True, keys=np.repeat(needed[None], len(FRAMES), axis=0))
    paths = {actions.bone_path("fin", "location")} | {
        actions.bone_path("chest", channel) for channel in scenes.CHANNELS if channel.startswith("rotation")
    }
    for row in scenes.fingerprint(ob.animation_data.action):
        assert row[0] in paths or kept[row[:2]] == row[2:]
    np.testing.assert_allclose(scenes.watch(ob, FRAMES)[0], changed.pose, atol=1e-5)


def test_under_constraints_only_bones_that_curves_tell_keep_them():
    """An influence of constraints is seen per bone; strips may be anywhere, so that there all are written."""
    ob = add_mover(scenes.add_chain(NAMES))
    scenes.animate_at_random(ob, scale=False)
    limit = ob.pose.bones["arm.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    found = read(ob)
    assert found.sampled_because == "bone 'arm.L' has constraints"
    source = actions.assigned(ob)
    needed = motion.written_channels(bpy.context, ob, found, source, found)
    assert {found.rig.names[b] for b in np.flatnonzero(needed.any(axis=1))} == {"arm.L"}
    scenes.add_strip(ob, *source, 1)
    found = read(ob)
    assert motion.written_channels(bpy.context, ob, found, source, found)[:, :2].all()


def test_keys_at_chosen_frames():
    ob = add_mover(scenes.add_chain(NAMES))
    scenes.animate_at_random(ob, scale=False)
    found = read(ob)
    keys = np.zeros((len(FRAMES), len(NAMES), 3), bool)
    keys[[0, 4, -1], 1, 1] = keys[[0, -1], 2, 0] = True
    new = write(ob, "New", found, keys=keys, assign=True)
    at = {}
    for curve in curves_of(new):
        bone = actions.bone_of_path(curve.data_path)
        if bone and bone[0] in ("chest", "arm.L"):
            at.setdefault(bone, set()).add(tuple(key.co.x for key in curve.keyframe_points))
    chest = motion.channels_of(found.rig, 1)[1]
    assert at["chest", chest] == {(1, 5, 12)} and at["arm.L", "location"] == {(1, 12)}
    assert at["chest", "location"] == {(1, 4, 9, 12)}  # the source's


def curves_of(action):
    return [
        curve for slot in (action.slots if actions.HAS_SLOTS else [None]) for curve in actions.all_curves(action, slot)
    ]


def test_everything_else_in_the_action_is_kept():
    ob = add_mover(scenes.add_chain(NAMES))
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
    new = write(ob, "New", read(ob), bones=["chest"])
    kept = dict((row[:2], row[2:]) for row in scenes.fingerprint(new))
    for row in scenes.fingerprint(source):
        if actions.bone_of_path(row[0]) is None or actions.bone_of_path(row[0])[0] != "chest":
            assert kept[row[:2]] == row[2:]
    assert [marker.name for marker in new.pose_markers] == ["step"]
    assert len(kept) == len(scenes.fingerprint(source))


def test_groups_are_named_after_bones_and_play():
    ob = add_mover(scenes.add_chain(NAMES))
    for group in actions.curve_list(*actions.assigned(ob)).groups:
        group.mute = group.name == "hip"
    new = write(ob, "New", read(ob), assign=True)
    for curve in actions.playing_curves(*actions.assigned(ob)):
        bone = actions.bone_of_path(curve.data_path)
        assert bone is None or curve.group.name.startswith(bone[0][:60])
    playing = [actions.bone_of_path(curve.data_path) for curve in actions.playing_curves(*actions.assigned(ob))]
    assert "hip" in {bone[0] for bone in playing if bone}
    assert new.users == 1 and not new.use_fake_user


def test_a_failure_leaves_nothing_behind():
    ob = add_mover(scenes.add_chain(NAMES))
    found = read(ob)
    basis = found.basis.copy()
    basis[3, 2, 0, 0] = np.nan
    names = set(bpy.data.actions.keys())
    with pytest.raises(OutputError, match="Bone 'arm.L' has no valid pose at frame 4"):
        write(ob, "New", motion.replace(found, basis=basis))
    assert set(bpy.data.actions.keys()) == names


def test_an_exception_on_the_way_removes_the_new_action(monkeypatch):
    ob = add_mover(scenes.add_chain(NAMES))
    found = read(ob)

    def refuse(*_):
        raise OutputError("refused")

    monkeypatch.setattr(actions, "assign", refuse)
    names = set(bpy.data.actions.keys())
    with pytest.raises(OutputError, match="refused"):
        write(ob, "New", found, assign=True)
    assert set(bpy.data.actions.keys()) == names


def test_uneven_object_scale_is_named():
    ob = add_mover(scenes.add_chain(NAMES))
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
    basis = found.basis.copy()
    basis[:, 0, :3, 3] += 1.0
    write(two, "New", motion.replace(found, basis=basis), assign=True)
    assert one.animation_data.action == action and scenes.fingerprint(action) == before
    np.testing.assert_allclose(read(one).basis, found.basis, atol=1e-6)
    np.testing.assert_allclose(read(two).basis, basis, atol=1e-5)


def test_remapped_time_is_written_where_it_plays():
    ob = add_mover(scenes.add_chain(NAMES))
    with_remapped_time(ob)
    found = read(ob)
    write(ob, "New", found, assign=True)
    np.testing.assert_allclose(scenes.watch(ob, FRAMES)[0], found.pose, atol=1e-5)


# ------------------------------------------------------------------------------- linked and override rigs


@pytest.fixture
def library(tmp_path):
    ob = add_mover(scenes.add_chain(NAMES))
    found = read(ob)
    holder = bpy.data.collections.new("Cast")
    holder.objects.link(ob)
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), {holder})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.collections = ["Cast"]
    bpy.context.scene.collection.children.link(bpy.data.collections["Cast"])
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
    basis = found.basis.copy()
    basis[:, 0, :3, 3] += 1.0
    new = write(ob, "New", motion.replace(found, basis=basis), assign=True)
    assert new.library is None and ob.animation_data.action == new
    expected = motion.replace(found, basis=basis).pose
    np.testing.assert_allclose(scenes.watch(ob, FRAMES)[0], expected, atol=1e-5)


def test_a_linked_action_on_a_local_rig_gives_a_local_one(tmp_path):
    ob = add_mover(scenes.add_chain(NAMES))
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
    ob = add_mover(scenes.add_chain(NAMES))
    add_strips(ob)
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
