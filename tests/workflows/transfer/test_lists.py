"""Clips, parts and groups of Transfer as scripts and users leave them."""

import bpy
import pytest

from tests import map_play, map_scenes
from tests import transfer_play as play


def refused(button, told, **arguments):
    with pytest.raises(RuntimeError, match=told):
        getattr(bpy.ops.motion_loom, button)(**arguments)


def test_a_script_need_not_choose_a_clip():
    _, bob, _ = play.add_read()
    settings = bob.motion_loom_transfer
    settings.active_clip = -1
    bpy.context.scene.frame_set(14)
    settings.target_frame = 13
    map_play.press("transfer_add_pair")
    assert len(settings.clips[0].pairs) == len(play.PAIRS) + 1
    settings.active_clip = 7
    map_play.press("transfer_suggest_pair")
    settings.active_clip = -1
    map_play.press("transfer_remove_clip")
    assert not len(settings.clips)


def test_a_target_without_faces():
    ann, _, _ = play.add_scene()
    dots = map_scenes.add_mesh("Dots", [(0, 0, 0), (1, 0, 0)], [])
    play.add_clip(dots, ann)
    dots.motion_loom_transfer.part_count = 3
    told = "'Dots' has no faces; choose a mesh that has a surface"
    refused("fit", told, workflow="transfer")
    refused("transfer_suggest_parts", "'Dots'")


def test_a_source_without_faces():
    _, bob, _ = play.add_scene()
    bob.motion_loom_transfer.source = map_scenes.add_mesh("Dots", [(0, 0, 0), (1, 0, 0)], [])
    for button in ("transfer_add_clip", "transfer_suggest_parts"):
        refused(button, "'Dots' has no faces; choose a mesh that has a surface")


def test_suggesting_fewer_parts_leaves_no_groups_behind():
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann)
    bob.motion_loom_transfer.part_count = 3
    map_play.press("transfer_suggest_parts")
    mine = [group.name for group in ann.vertex_groups]
    bob.motion_loom_transfer.part_count = 2
    map_play.press("transfer_suggest_parts")
    for subject in (ann, bob):
        left = [group.name for group in subject.vertex_groups]
        assert "Transfer Limb 2" in mine and "Transfer Limb 2" not in left
        assert {"Torso", "Left", "Right", "Transfer Torso", "Transfer Limb 1"} == set(left)


def test_clips_that_are_switched_off_are_not_read():
    ann, bob, new = play.add_scene()
    play.add_clip(bob, ann, play.PAIRS)
    play.add_parts(bob)
    other = bob.motion_loom_transfer.clips.add()
    other.use = False
    map_play.press("fit", workflow="transfer")
    assert bob.motion_loom_transfer.clips[0].stored and not other.stored
    map_play.press("train", workflow="transfer")
    other.source, other.target, other.use = ann, bob, True
    other.source_end = other.target_end = 40
    refused("train", "Clip 2 was changed since it was read", workflow="transfer")
    bob.motion_loom_transfer.clips[0].use = other.use = False
    refused("fit", "Switch a clip on", workflow="transfer")


def test_parts_are_suggested_before_what_subdivides():
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann)
    modifier = ann.modifiers.new("Smooth", "SUBSURF")
    bob.motion_loom_transfer.part_count = 3
    map_play.press("transfer_suggest_parts")
    assert modifier.show_viewport and len(bob.motion_loom_transfer.parts) == 3
