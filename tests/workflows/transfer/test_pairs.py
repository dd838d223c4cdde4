"""Pairs of Transfer and what is learnt from them: made, suggested, and refused by the names of clip and pair."""

import functools

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.transfer.model import dense_of

from tests import mesh_play, mesh_steps
from tests import transfer_play as play
from tests.mesh_play import put
from tests.mesh_steps import once, shown
from tests.transfer_play import FRAMES, PAIRS, TRANSFER

pytestmark = pytest.mark.usefixtures("no_traceback")

refused = functools.partial(mesh_play.refused, TRANSFER)


@pytest.fixture
def bob():
    """Trained."""
    return TRANSFER.add_ready()


@pytest.fixture
def clip(bob):
    return bob.motion_loom_transfer.clips[0]


def train_refused(bob, told):
    for step in ("densify", "train"):
        refused(bob, step, told)


def test_fewer_than_two_pairs(bob, clip):
    for count in (1, 0):
        while len(clip.pairs) > count:
            clip.pairs.remove(0)
        train_refused(bob, "Clip 1: add two pairs or more")


BAD_PAIRS = {
    "out of order": (((1, 1), (9, 20), (18, 12), (40, 40)), "9=20 and 18=12 are out of order"),
    "one frame twice": (((1, 1), (9, 12), (9, 14), (40, 40)), "9=12 and 9=14 are out of order"),
    "one answer twice": (((1, 1), (9, 12), (15, 12), (40, 40)), "9=12 and 15=12 are out of order"),
    "the same pair twice": (((1, 1), (9, 12), (9, 12), (40, 40)), "9=12 and 9=12 are out of order"),
    "before the source": (((-3, 1), (40, 40)), "pair -3=1: frame -3 is outside of the source's clip, 1 to 40"),
    "after the target": (((1, 1), (40, 41)), "pair 40=41: frame 41 is outside of the target's clip, 1 to 40"),
    "one moment": (((3.2, 3), (4.4, 5)), "no two whole frames of the source between its pairs"),
    "no number": (((1, 1), (np.nan, 9), (40, 40)), "pair nan=9: frame nan is outside"),
    "endless": (((1, 1), (9, np.inf), (40, 40)), "pair 9=(inf|3.40282e.38): frame (inf|3.40282e.38) is outside"),
}


@pytest.mark.parametrize("what", BAD_PAIRS)
def test_pairs_that_cannot_be(bob, clip, what):
    pairs, told = BAD_PAIRS[what]
    clip.pairs.clear()
    play.add_pairs(clip, pairs)
    train_refused(bob, f"Clip 1.*{told}")


def test_a_frame_that_a_scene_cannot_have(bob, clip):
    clip.pairs.clear()
    play.add_pairs(clip, ((np.nan, 1), (2, np.inf)))
    for clip.active_pair in (0, 1):
        refused(bob, "transfer_show_pair", "Clip 1.*cannot have; change or remove")


def test_clips_in_use(bob):
    """The number of the clip is told; switched off, it does not matter, is not read, and may name nothing."""
    play.add_clip(bob, bpy.data.objects["Ann"], PAIRS[:1])
    first, second = bob.motion_loom_transfer.clips  # where they are now that there are two
    train_refused(bob, "Clip 2 was changed since it was read")
    second.use = False
    for step in ("fit", "train"):
        play.press(bob, step)
    assert first.stored and not second.stored
    second.use = True
    train_refused(bob, "Clip 2 was changed since it was read")
    play.press(bob, "fit")
    train_refused(bob, "Clip 2: add two pairs or more")
    second.use, second.source, second.target = False, None, None
    play.press(bob, "train")
    first.use = False
    for step in ("fit", "densify", "train"):
        refused(bob, step, "Switch a clip on")


@pytest.mark.parametrize(
    "changes", ({"source": "Ann Again"}, {"target": "Bobby"}, {"source_start": 3}, {"target_end": 3})
)
def test_a_clip_changed_after_reading(bob, clip, changes):
    play.add_subject("Bobby", play.TARGET, play.warped(), 1.0)
    put(clip, changes)
    train_refused(bob, "Clip 1 was changed since it was read: press Read Clips")
    for button in ("transfer_add_pair", "transfer_suggest_pair"):
        refused(bob, button, "Press Read Clips first")


def test_a_range_that_is_changed_and_put_back_is_read_still(clip):
    clip.source_end = 30
    assert not clip.stored
    clip.source_end = FRAMES
    assert clip.stored


def exchange_groups(settings):
    first, second = settings.parts[1], settings.parts[2]
    first.target_group, second.target_group = second.target_group, first.target_group


def add_part(settings):
    settings.parts.add()


@pytest.mark.parametrize("change", (exchange_groups, add_part, lambda settings: put(settings, {"components": 2})))
def test_changed_parts_are_to_be_read_before_they_are_learnt(bob, change):
    play.toggle(bob)
    assert play.status(bob).note is None
    change(bob.motion_loom_transfer)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(5)
    train_refused(bob, "Parts or Components were changed since the clips were read")
    assert "changed since Train" in play.status(bob).note


def test_pairs_before_reading():
    bob = once(play.make_unread)
    for button in ("transfer_add_pair", "transfer_suggest_pair", "densify", "train", "live", "bake"):
        refused(bob, button, "Press Read Clips first")


def test_nothing_learnt():
    _, bob, new = play.add_read()
    put(bob.motion_loom_transfer, {"performed": "Ann Again", "bake_kind": "ABSOLUTE_KEYS"})
    for step in ("live", "bake"):
        refused(bob, step, "has learnt nothing yet; press Train")


def test_adding_pairs():
    """In the order of time whatever the order of making; the new one is active, one of the same frame replaced."""
    _, bob, _ = play.add_read(())
    settings, clip = bob.motion_loom_transfer, bob.motion_loom_transfer.clips[0]
    for source, target in ((30, 33), (1, 1), (12, 14), (20.5, 22), (12, 15)):
        bpy.context.scene.frame_set(int(source), subframe=source % 1)
        settings.target_frame = target
        mesh_steps.press("transfer_add_pair")
        pair = clip.pairs[clip.active_pair]
        assert (pair.source_frame, pair.target_frame) == (source, target)
    assert [pair.source_frame for pair in clip.pairs] == [1, 12, 20.5, 30]
    bpy.context.scene.frame_set(25)
    for settings.target_frame, told in (
        (3, "Clip 1: 25=3 contradicts the pair (12=15|20.5=22): time must go on"),
        (41, "Frame 41 is outside of the target's clip, 1 to 40"),
        (np.nan, "Frame nan is outside of the target's clip"),
    ):
        refused(bob, "transfer_add_pair", told)
    bpy.context.scene.frame_set(77)
    refused(bob, "transfer_add_pair", "Frame 77 is outside of the source's clip, 1 to 40")
    refused(bob, "transfer_remove_pair", "Clip 1 has no pair 8", index=7)
    clip.active_pair = -1
    refused(bob, "transfer_show_pair", "has no pair 0")


def test_suggestions_end_where_nothing_more_is_told():
    """Pressed again and again, without a pair and with one at every frame."""
    _, bob, _ = play.add_read(())
    clip, seen = bob.motion_loom_transfer.clips[0], []
    for _ in range(8):
        mesh_steps.press("transfer_suggest_pair")
        seen.append(bpy.context.scene.frame_current)
        assert 1 <= bob.motion_loom_transfer.target_frame <= FRAMES
    assert {1, 40} <= set(seen) and len(set(seen)) >= 4
    play.add_pairs(clip, [(frame, frame) for frame in range(1, FRAMES + 1)])
    refused(bob, "transfer_suggest_pair", "Clip 1: no frame would tell more")


def test_a_script_need_not_choose_a_clip(bob, settings, clip):
    settings.active_clip = -1
    bpy.context.scene.frame_set(14)
    settings.target_frame = 13
    mesh_steps.press("transfer_add_pair")
    assert len(clip.pairs) == len(PAIRS) + 1
    settings.active_clip = 7
    mesh_steps.press("transfer_suggest_pair")
    settings.active_clip = -1
    mesh_steps.press("transfer_remove_clip")
    assert not len(settings.clips)


def test_a_kernel_matrix_that_is_singular():
    """One pose of the source answers to two of the target: all kernels cope, with the least noise too."""
    ann, bob, new = play.add_read()
    settings = bob.motion_loom_transfer
    settings.performed = new
    second = play.add_clip(bob, ann, [(source, 1 + 39 * (source - 1) / 39) for source, _ in PAIRS])
    second.target = play.add_subject("Back", play.TARGET, play.warped()[::-1], 1.0)
    for step in ("fit", "train", "live"):
        play.press(bob, step)
    for kernel in settings.bl_rna.properties["kernel"].enum_items.keys():
        settings.kernel, settings.noise = kernel, 1e-6
        play.press(bob, "train")
        assert np.isfinite(shown(settings.live_copy, (12,))).all() and play.status(bob).problem is None


def test_stretches_that_are_too_steep_are_told(capfd):
    _, bob, _ = play.add_read(((1, 1), (4, 30), (40, 40)))
    bob.motion_loom_transfer.stretch = 1
    play.press(bob, "train")
    assert "clip 1: time runs evenly in source frames 1 to 4" in capfd.readouterr().out
    [(_, pairs)] = dense_of(bob)
    assert np.isfinite(pairs.target_rows).all()


@pytest.mark.parametrize("both", (False, True))
def test_a_torso_may_be_stiff(both):
    """As those of many rigs are, of one subject or both: read, trained, live and baked."""
    bob = once(play.make_unread)
    settings = bob.motion_loom_transfer
    settings.source = settings.clips[0].source = settings.performed = source = play.add_stiff("Stiff", play.SOURCE)
    if both:
        bob = play.add_stiff("Stiff too", play.SOURCE, 1.0)
        play.add_clip(bob, source, [(1, 1), (9, 9), (18, 18), (27, 27), (40, 40)])
        play.add_parts(bob)
        settings = bob.motion_loom_transfer
        settings.performed = source
    for step in ("fit", "densify", "train"):
        play.press(bob, step)
    frames = (1, 13, 22, 31)
    truth = shown(bob, frames)
    play.toggle(bob)
    assert play.status(bob).problem is None
    live = shown(settings.live_copy, frames)
    np.testing.assert_allclose(shown(play.bake(bob), frames), live, atol=1e-4)
    if both:
        away = (live - live.mean(axis=1, keepdims=True)) - (truth - truth.mean(axis=1, keepdims=True))
        assert np.sqrt(np.square(away).sum(axis=2).mean()) < 0.03 * np.ptp(truth[0], axis=0).max()
