"""Transfer between two small bodies: read, paired, trained; what it does, and what is told of it."""

import re
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.part_groups import part_masks
from bl_ext.devrepo.motion_loom.solvers.rotations.rigid import procrustes
from bl_ext.devrepo.motion_loom.workflows.transfer.model import dense_of

from tests import map_scenes, mesh_steps
from tests import transfer_play as play
from tests.mesh_steps import shown
from tests.transfer_play import FRAMES, TRANSFER, healthy, wanted

pytestmark = [pytest.mark.usefixtures("silent"), pytest.mark.versions]

NEW = TRANSFER.frames
CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SIDES = np.array(((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)))


def size():
    return np.ptp(wanted()[0], axis=0).max()


def aligned_error(found, truth):
    """(F,) RMS distance, each frame moved onto its truth: poses alone."""
    poses = [clip - clip.mean(axis=1, keepdims=True) for clip in (found, truth)]
    return np.sqrt(np.square(poses[0] - poses[1]).sum(axis=-1).mean(axis=1))


def test_the_target_does_it_in_its_own_way(bob):
    """And goes where it should."""
    found, truth = shown(bob.motion_loom_transfer.live_copy, NEW), wanted()
    assert healthy(bob)
    assert aligned_error(found, truth).mean() < 0.015 * size()
    # What lies between would be the source's own style.
    plain = play.shapes(play.TARGET, 7.0 + 1.2 * np.arange(30), 0.0)[0]
    assert aligned_error(found, truth).mean() < 0.5 * aligned_error(plain, truth).mean()
    way, true_way = (clip[-1].mean(0) - clip[0].mean(0) for clip in (found, truth))
    assert np.linalg.norm(way - true_way) < 0.1 * np.linalg.norm(true_way)
    assert np.abs(found[..., 2].mean(1) - truth[..., 2].mean(1)).max() < 0.05 * size()


def test_densifying_finds_the_times_between_pairs_and_paints_a_picture():
    _, bob, _ = play.add_read()
    [(used, pairs)] = dense_of(bob)
    truth = np.interp(pairs.source_rows, play.warped(), np.arange(FRAMES))
    assert np.abs(pairs.target_rows - truth).mean() < 0.5
    assert len(pairs.source_rows) == FRAMES
    pictures = []
    for _ in range(2):
        play.press(bob, "densify")
        pictures.append(bob.motion_loom_transfer.clips[0].picture)
    assert pictures[0] is not None and min(pictures[0].size) >= 40 and pictures[1] == pictures[0]


def test_parts_are_suggested_while_live(ann, bob):
    bob.motion_loom_transfer.part_count = 3
    mesh_steps.press("transfer_suggest_parts")
    assert [part.name for part in bob.motion_loom_transfer.parts] == ["Torso", "Limb 1", "Limb 2"]
    assert bob.hide_viewport and healthy(bob)


def test_what_is_told_of_travel_rate_and_error(capfd):
    _, bob, new = play.add_trained()
    assert "m a metre" in bob.motion_loom_transfer.learnt_summary
    assert "guessed" not in bob.motion_loom_transfer.learnt_summary  # Ann walks 1.2 m
    bpy.context.scene.render.fps = 60
    bob.motion_loom_transfer.bake_step = 7
    play.bake(bob, "PCA_KEYS")
    told = capfd.readouterr().out
    assert "the frame rate was changed since the clips were read" in told and "at the stored frames" in told


def test_clips_on_the_spot_tell_no_way():
    ann, bob, _ = play.add_scene()
    for ob in (ann, bob):
        for block in ob.data.shape_keys.key_blocks:
            shape = map_scenes.positions(block)
            shape -= [0.0, shape[:, 1].mean(), 0.0]
            block.points.foreach_set("co", shape.ravel())
    play.learn(bob, ann)
    assert "guessed from sizes as no clip travels" in bob.motion_loom_transfer.learnt_summary


def test_suggesting_fewer_parts_leaves_no_groups_behind():
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann)
    bob.motion_loom_transfer.part_count = 3
    mesh_steps.press("transfer_suggest_parts")
    mine = [group.name for group in ann.vertex_groups]
    bob.motion_loom_transfer.part_count = 2
    mesh_steps.press("transfer_suggest_parts")
    for subject in (ann, bob):
        left = [group.name for group in subject.vertex_groups]
        assert "Transfer Limb 2" in mine and "Transfer Limb 2" not in left
        assert {"Torso", "Left", "Right", "Transfer Torso", "Transfer Limb 1"} == set(left)


def test_parts_are_suggested_before_what_subdivides():
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann)
    modifier = ann.modifiers.new("Smooth", "SUBSURF")
    bob.motion_loom_transfer.part_count = 3
    mesh_steps.press("transfer_suggest_parts")
    assert modifier.show_viewport and len(bob.motion_loom_transfer.parts) == 3


def test_names_for_scripts_in_the_manual():
    """All that its tables call a setting or one of its values is that."""
    manual = Path(__file__).parents[3] / "docs" / "manual" / "transfer.md"
    rows = re.findall(r"^\|[^|]*\|[^|]*\|([^|]+)\|$", manual.read_text(encoding="utf-8"), re.MULTILINE)
    _, bob, _ = play.add_read()
    settings = bob.motion_loom_transfer
    groups = (settings, settings.clips[0], settings.parts[0], settings.clips[0].pairs[0])
    names = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(names) > 30 and {"densify", "hold_ground", "performed"} <= names
    assert not [name for name in names if not any(hasattr(group, name) for group in groups)]
    for name, values in re.findall(r"`(\w+)`: ([A-Z_, ]+) $", "\n".join(rows), re.MULTILINE):
        allowed = settings.bl_rna.properties[name].enum_items.keys()
        assert set(values.split(", ")) == set(allowed), name


def test_what_is_worn_goes_with_what_it_moves_with(capfd):
    """A box beside the torso that moves with the left limb, on both: it is that limb's, and is told."""
    worn = []
    for name, (shape, times, style) in play.CLIPS.items():
        bodies, faces = play.shapes(shape, times, style)
        tip = play.masks(shape)[1] & ~play.masks(shape)[0]
        turns, shifts = procrustes(bodies[:, tip], bodies[0, tip])
        box = bodies[0].mean(axis=0) + shape[2] * (0.1 * CUBE + [-0.2, 0.0, 0.35])
        carried = np.einsum("fij,nj->fni", turns, box) + shifts[:, None]
        ob = play.map_play.add_target(name, np.concatenate((bodies, carried), axis=1), [*faces, *(SIDES + len(tip))])
        worn.append((ob, len(tip)))
    (ann, _), (bob, _), _ = worn
    play.add_clip(bob, ann)
    bob.motion_loom_transfer.part_count = 3
    mesh_steps.press("transfer_suggest_parts")
    told = capfd.readouterr().out
    assert "1 loose piece of 'Ann' and 1 loose piece of 'Bob'" in told
    for ob, count in worn[:2]:
        names = [f"Transfer Limb {number}" for number in (1, 2)]
        torso, *limbs = part_masks(ob, ["Transfer Torso", *names])
        left = limbs[int(map_scenes.positions(ob.data.shape_keys.key_blocks[0])[limbs[1]][:, 0].mean() < 0.0)]
        assert left[count:].all() and not torso[count:].any()
    play.press(bob, "fit")
