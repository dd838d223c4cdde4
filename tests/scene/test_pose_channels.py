"""Poses that handlers write over the animation, as Blender evaluates them."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.channels import SIZES, rotation_channel
from bl_ext.devrepo.motion_loom.scene.pose_channels import PoseWriter
from bl_ext.devrepo.motion_loom.scene.rigs import read_rig

from tests import rig_scenes as scenes
from tests.objects import evaluate, handled

NAMES = ("hip", "chest", "arm", "hand", "tail")
MODES = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZXY", "QUATERNION")
WRITTEN = ("hip", "chest", "arm")


def add_rig(**chain):
    ob = scenes.add_chain(NAMES, **chain)
    scenes.animate_at_random(ob, modes=MODES)
    return ob


def update(*layers, times=1):
    for _ in range(times):
        for layer in layers or (bpy.context.view_layer,):
            layer.update()


def chosen(rig, bones=WRITTEN):
    """All channels of some bones."""
    return np.repeat(np.isin(rig.names, bones)[:, None], 3, axis=1)


def values_at(rig, frame):
    """Channels that differ from frame to frame."""
    rng = np.random.default_rng(int(frame))
    bones = len(rig.names)
    return tuple(rng.uniform(0.5, 1.5, (bones, size)).astype(np.float32) for size in (3, 4, 3))


def channels(ob, bone):
    """Location, rotation and scale of a bone of an original or evaluated object."""
    bone = ob.pose.bones[bone]
    return [np.array(getattr(bone, name)) for name in ("location", rotation_channel(bone.rotation_mode), "scale")]


def wanted(rig, bone, frame):
    parts = [part[rig.names.index(bone)] for part in values_at(rig, frame)]
    return [parts[0], parts[1][: SIZES[rotation_channel(rig.rotation_modes[rig.names.index(bone)])]], parts[2]]


def shown(ob, view_layer=None):
    """What a view layer has evaluated already."""
    return ob.evaluated_get((view_layer or bpy.context.view_layer).depsgraph)


class Shower:
    """A handler that shows a pose at every call, and how often it was called and wrote."""

    def __init__(self, ob, keyed=None):
        self.rig = read_rig(ob)
        self.ob, self.calls, self.written = ob, 0, 0
        self.writer = PoseWriter.of(ob, self.rig, chosen(self.rig) if keyed is None else keyed)

    def __call__(self, scene, depsgraph):
        self.calls += 1
        self.written += self.writer.write(self.ob, depsgraph, values_at(self.rig, scene.frame_current))


def everywhere(handler):
    return handled(handler, "frame_change_post", "depsgraph_update_post")


def require_shown(ob, rig, frame, bones=WRITTEN, view_layer=None):
    for bone in bones:
        for seen in (shown(ob, view_layer), ob):
            for value, expected in zip(channels(seen, bone), wanted(rig, bone, frame), strict=True):
                np.testing.assert_array_equal(value, expected, err_msg=bone)


def test_a_frame_shows_what_a_handler_wrote():
    ob = add_rig()
    shower = Shower(ob)
    with everywhere(shower):
        for frame in (3, 9, 3, 7):
            bpy.context.scene.frame_set(frame)
            require_shown(ob, shower.rig, frame)


def test_an_edit_shows_what_a_handler_wrote_and_the_pose_is_evaluated_from_it():
    ob = add_rig()
    shower = Shower(ob)
    bpy.context.scene.frame_set(5)
    with handled(shower, "depsgraph_update_post"):
        ob.location.x += 1.0
        update()
        require_shown(ob, shower.rig, 5)
    bpy.context.scene.frame_set(4)
    with everywhere(shower):
        bpy.context.scene.frame_set(6)
    matrix = np.array(shown(ob).pose.bones["hip"].matrix_basis)
    np.testing.assert_allclose(matrix[:3, 3], wanted(shower.rig, "hip", 6)[0], atol=1e-6)


def test_it_comes_to_rest():
    """Writing causes an evaluation, which calls handlers: they must not write the same again."""
    ob = add_rig()
    shower = Shower(ob)
    with everywhere(shower):
        bpy.context.scene.frame_set(5)
        update(times=10)
        ob.location.x += 1.0
        update(times=10)
        assert (shower.calls, shower.written) == (2, 1)


def test_what_is_not_a_number_comes_to_rest():
    ob = add_rig()
    rig = read_rig(ob)
    writer = PoseWriter.of(ob, rig, chosen(rig))
    values = tuple(np.full((len(NAMES), size), np.nan, np.float32) for size in (3, 4, 3))
    depsgraph = evaluate()
    assert writer.write(ob, depsgraph, values)
    update()
    assert not writer.write(ob, depsgraph, values)


def test_other_bones_keep_moving():
    ob = add_rig()
    others = [name for name in NAMES if name not in WRITTEN]
    expected = {}
    for frame in (2, 5, 11):
        bpy.context.scene.frame_set(frame)
        expected[frame] = [np.concatenate(channels(shown(ob), bone)) for bone in others]
    shower = Shower(ob)
    with everywhere(shower):
        for frame, poses in expected.items():
            bpy.context.scene.frame_set(frame)
            for bone, pose in zip(others, poses, strict=True):
                np.testing.assert_array_equal(np.concatenate(channels(shown(ob), bone)), pose)


def test_other_channels_of_a_bone_keep_moving():
    ob = add_rig()
    bpy.context.scene.frame_set(8)
    place = np.array(shown(ob).pose.bones["hip"].location)
    bpy.context.scene.frame_set(1)
    keyed = chosen(read_rig(ob), ("hip",))
    keyed[:, [0, 2]] = False
    shower = Shower(ob, keyed)
    with everywhere(shower):
        bpy.context.scene.frame_set(8)
    seen = shown(ob).pose.bones["hip"]
    np.testing.assert_array_equal(np.array(seen.location), place)
    np.testing.assert_array_equal(np.array(seen.rotation_quaternion), wanted(shower.rig, "hip", 8)[1])


def test_without_the_handler_the_animation_plays_again():
    ob = add_rig()
    bpy.context.scene.frame_set(6)
    before = np.concatenate(channels(shown(ob), "hip"))
    shower = Shower(ob)
    with everywhere(shower):
        bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_set(6)
    np.testing.assert_array_equal(np.concatenate(channels(shown(ob), "hip")), before)


@pytest.mark.parametrize("how", ["locked", "muted"])
def test_locks_and_mutes_of_channels_do_not_hide_what_is_written(how):
    ob = add_rig()
    if how == "locked":
        for bone in ob.pose.bones:
            bone.lock_location = bone.lock_rotation = (True, True, True)
            bone.lock_rotations_4d = bone.lock_rotation_w = True
    else:
        for curve in actions.all_curves(*actions.assigned(ob))[::2]:
            curve.mute = True
        ob.animation_data.action.update_tag()
    shower = Shower(ob)
    with everywhere(shower):
        bpy.context.scene.frame_set(7)
        require_shown(ob, shower.rig, 7)


def test_a_connected_bone_stays_where_it_hangs():
    ob = add_rig(connect=True)
    shower = Shower(ob)
    with everywhere(shower):
        bpy.context.scene.frame_set(7)
    seen = shown(ob).pose.bones
    np.testing.assert_allclose(np.array(seen["chest"].head), np.array(seen["hip"].tail), atol=1e-5)
    require_shown(ob, shower.rig, 7)


def test_bones_are_found_by_name_not_by_place():
    ob = add_rig()
    rig = read_rig(ob)
    order = np.array([3, 0, 4, 2, 1])
    shuffled = replace(
        rig,
        names=tuple(rig.names[bone] for bone in order),
        rotation_modes=tuple(rig.rotation_modes[bone] for bone in order),
        parents=np.full(len(order), -1),
    )
    values = tuple(part[order] for part in values_at(rig, 4))
    bpy.context.scene.frame_set(4)
    assert PoseWriter.of(ob, shuffled, chosen(shuffled)).write(ob, evaluate(), values)
    update()
    require_shown(ob, rig, 4)


def test_every_view_layer_shows_it():
    ob = add_rig()
    layers = bpy.context.view_layer, bpy.context.scene.view_layers.new("Second")
    shower = Shower(ob)
    with everywhere(shower):
        for frame in (3, 8):
            bpy.context.scene.frame_set(frame)
            for layer in layers:
                layer.update()
                require_shown(ob, shower.rig, frame, view_layer=layer)
        update(*layers, times=5)
        written = shower.written
        update(*layers, times=5)
        assert shower.written == written


def override_of(ob, folder):
    """The rig as a library override in a new file."""
    linked = scenes.link_from_library(ob, folder)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return next(o for o in bpy.context.scene.objects if o.type == "ARMATURE" and o.override_library)


def test_overrides_of_linked_rigs(tmp_path):
    ob = override_of(add_rig(), tmp_path)
    shower = Shower(ob)
    others = {}
    for frame in (5, 9):
        bpy.context.scene.frame_set(frame)
        others[frame] = np.concatenate(channels(shown(ob), "tail"))
    with everywhere(shower):
        for frame in (5, 9):
            bpy.context.scene.frame_set(frame)
            require_shown(ob, shower.rig, frame)
            np.testing.assert_array_equal(np.concatenate(channels(shown(ob), "tail")), others[frame])
