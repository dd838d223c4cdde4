"""Transfer between captured people and animals: suggested parts, pairs marked by hand, live and bake."""

import functools

import bpy
import numpy as np
import pytest

from tests import map_play, mesh_play, mesh_steps, transfer_pairs
from tests import transfer_play as play

pytestmark = pytest.mark.usefixtures("data", "silent")


def learn(ob, source, part_count=None):
    """Suggest parts, if any are asked for, read, train, and let it perform the source itself."""
    settings = ob.motion_loom_transfer
    if part_count:
        settings.part_count = part_count
        mesh_steps.press("transfer_suggest_parts")
    play.learn(ob, performed=source)


def off_by(found, truth):
    """RMS distance, each frame moved onto its truth, in sizes of the truth."""
    away = np.linalg.norm((found - found.mean(1, keepdims=True)) - (truth - truth.mean(1, keepdims=True)), axis=2)
    return np.sqrt(np.square(away).mean()) / np.ptp(truth[0], axis=0).max()


def test_a_lion_takes_the_poses_of_a_cat():
    """Nine poses each: the poses of the cat, seen between them."""
    cat, lion, pairs, _ = transfer_pairs.cat_and_lion()
    tom, king = map_play.add_target("Cat", *cat, start=0), map_play.add_target("Lion", *lion, start=0)
    play.add_clip(king, tom, pairs.tolist())
    learn(king, tom)
    play.toggle(king)
    found = mesh_steps.shown(king.motion_loom_transfer.live_copy, np.arange(9))
    assert off_by(found, lion[0]) < 0.05


def test_a_cat_with_y_up_is_refused_until_it_is_turned():
    """As imported without turning it, nothing of it would fit: by Suggest and by Read Clips, and nothing is changed."""
    cat, lion, pairs, _ = transfer_pairs.cat_and_lion()
    lying = cat[0][..., [0, 2, 1]] * [1, 1, -1]
    tom, king = map_play.add_target("Cat", lying, cat[1], start=0), map_play.add_target("Lion", *lion, start=0)
    play.add_clip(king, tom, pairs.tolist())
    refused = functools.partial(mesh_play.refused, play.TRANSFER, king)
    refused("transfer_suggest_parts", "'Cat' stands along Y where 'Lion' stands along Z: turn it.* 90 degrees about X")
    assert not len(tom.vertex_groups) and not len(king.motion_loom_transfer.parts)
    tom.rotation_euler.x = np.pi / 2
    bpy.context.view_layer.update()
    mesh_steps.press("transfer_suggest_parts")
    tom.rotation_euler.x = 0.0
    bpy.context.view_layer.update()
    refused("fit", "'Cat' stands along Y.* press Read Clips")
    assert king.motion_loom_transfer.subjects is None
    tom.rotation_euler.x = np.pi / 2
    play.learn(king, performed=tom)
    for angle, axis in ((np.pi / 2, None), (0.0, "Y"), (-np.pi / 2, "-Z")):
        tom.rotation_euler.x = angle
        bpy.context.view_layer.update()
        play.bake(king)
        said = king.motion_loom_transfer.clip_summary
        assert (f"stands along {axis}, unlike" in said) if axis else ("stands along" not in said)


def add_animal(data, name, actions):
    """A rigged animal whose actions play one after the other; returns its mesh and their ranges (start, end)."""
    before = set(bpy.data.objects)
    known = set(bpy.data.actions)
    bpy.ops.import_scene.gltf(filepath=str(data / "quadruped_rigs" / "quaternius" / f"{name}.glb"))
    new = set(bpy.data.objects) - before
    rig = next(ob for ob in new if ob.type == "ARMATURE")
    mesh = next(ob for ob in new if ob.type == "MESH" and ob.modifiers)
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    rig.animation_data.action = None
    track, start, ranges = rig.animation_data.nla_tracks.new(), 1, []
    for wanted in actions:
        action = next(each for each in set(bpy.data.actions) - known if each.name.split("|")[-1].startswith(wanted))
        strip = track.strips.new(wanted, start, action)
        if hasattr(strip, "action_slot") and strip.action_slot is None:
            strip.action_slot = action.slots[0]
        ranges.append((start, start + int(action.frame_range[1] - action.frame_range[0])))
        start = ranges[-1][1] + 10
    return mesh, ranges


SLOW = (pytest.param(*pair, marks=pytest.mark.slow) for pair in (("Cow", "Alpaca"), ("Alpaca", "Horse")))


@pytest.mark.parametrize("source, target", (("Horse", "Cow"), *SLOW))
def test_a_rigged_animal_kicks_as_another(data, source, target):
    """Learnt from walking and eating with suggested parts, the head among them: nearer to its own kick than its mean
    pose, and nothing flies off."""
    one, ranges = add_animal(data, source, ("Walk", "Eating", "Attack_Kick"))
    other, answers = add_animal(data, target, ("Walk", "Eating", "Attack_Kick"))
    for here, there in zip(ranges[:2], answers[:2], strict=True):
        pairs = np.round(np.stack((np.linspace(*here, 6), np.linspace(*there, 6)), axis=1))
        play.add_clip(other, one)
        settings = other.motion_loom_transfer
        clip = settings.clips[settings.active_clip]
        clip.source_start, clip.source_end, clip.target_start, clip.target_end = *here, *there
        play.add_pairs(clip, pairs.tolist())
    bpy.context.scene.frame_set(1)
    learn(other, one, 6)
    settings.use_performed_range, (settings.performed_start, settings.performed_end) = True, ranges[2]
    frames = np.arange(answers[2][0], answers[2][1] + 1)
    truth, walk = mesh_steps.shown(other, frames), mesh_steps.shown(other, range(*answers[0]))
    found = mesh_steps.shown(play.bake(other), np.linspace(*ranges[2], len(frames)))
    assert off_by(found, truth) < 0.8 * off_by(np.broadcast_to(walk.mean(axis=0), truth.shape), truth)
    assert np.abs(np.diff(found, axis=0)).max() < 0.5 * np.ptp(truth[0], axis=0).max()
