"""Transfer live: learnt and read again, where it goes, its clips' places, the frame rate, other scenes and files."""

import re

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests import map_play, mesh_steps
from tests import transfer_play as play
from tests.mesh_play import put, put_in_reverse
from tests.mesh_steps import SAME, saved, shown
from tests.transfer_play import FRAMES, PAIRS, TRANSFER, healthy, problem

pytestmark = pytest.mark.usefixtures("silent")

NEW = TRANSFER.frames


def test_pairs_are_changed_while_live(bob):
    """What was learnt is shown until it is learnt again, and that is told."""
    clip, before = bob.motion_loom_transfer.clips[0], play.followed(bob)
    old = clip.pairs[2].target_frame
    clip.pairs[2].target_frame = old + 3
    assert problem(bob) is None and "since Train" in play.status(bob).note
    np.testing.assert_array_equal(play.followed(bob), before)
    play.press(bob, "train")
    assert healthy(bob) and play.status(bob).note is None
    after = TRANSFER.follows_as_baked(bob)
    assert np.abs(after - before).max() > 0.005
    clip.pairs[2].target_frame = old
    assert problem(bob) is None and "since Train" in play.status(bob).note
    play.press(bob, "train")
    np.testing.assert_allclose(play.followed(bob), before, atol=SAME)


@pytest.mark.parametrize(
    ("path", "value"),
    [("kernel", "SQUARED_EXPONENTIAL"), ("noise", 0.3), ("densify", "LINE"), ("stretch", 4), ("clips[0].use", False)],
)
def test_choices_of_training_are_changed_while_live(bob, settings, path, value):
    old = settings.path_resolve(path)
    for changed, is_told in ((value, True), (old, False)):
        put(settings, {path: changed})
        assert problem(bob) is None and ("since Train" in (play.status(bob).note or "")) == is_told


@pytest.mark.parametrize("components", (None, 3))
def test_clips_are_read_again_while_live(bob, settings, components):
    """Into as many components or into fewer: each step names the next one."""
    before = play.followed(bob)
    settings.components = components or settings.components
    for step, told, remedy in (("fit", "press Train", "TRAIN"), ("train", "read anew.*press Refresh", "REFRESH")):
        play.press(bob, step)
        assert re.search(told, problem(bob)) and play.status(bob).remedy == remedy
    play.press(bob, "live_refresh")
    apart = np.abs(TRANSFER.follows_as_baked(bob) - before).max()
    assert 1e-5 < apart < 0.5 if components else apart < SAME


def test_reading_again_takes_the_other_order(bob):
    before = play.followed(bob)
    play.toggle(bob)
    put_in_reverse(bob)
    for step in ("fit", "train", "live"):
        play.press(bob, step)
    assert healthy(bob)
    np.testing.assert_allclose(play.followed(bob)[:, ::-1], before, atol=1e-3)


def test_ways_to_travel(bob, settings):
    ways = {}
    settings.hold_ground = settings.keep_clearance = False
    for settings.travel, settings.travel_scale in (("SOURCE", 1.0), ("SOURCE", 2.0), ("SOURCE", 0.0), ("NONE", 1.0)):
        play.now(bob)
        found = TRANSFER.follows_as_baked(bob)
        ways[settings.travel, settings.travel_scale] = found[-1].mean(axis=0) - found[0].mean(axis=0)
    assert np.linalg.norm(ways["SOURCE", 1.0][:2]) > 0.5
    np.testing.assert_allclose(ways["SOURCE", 2.0][1], 2 * ways["SOURCE", 1.0][1], rtol=0.1)
    for still in (("SOURCE", 0.0), ("NONE", 1.0)):
        assert np.abs(ways[still][:2]).max() < 0.2
        np.testing.assert_allclose(ways[still][2], ways["SOURCE", 1.0][2], atol=0.05)


def test_staying_above_the_ground():
    """Nothing sinks below the lowest point of the target's own clips, however low its source goes."""
    _, bob, new = play.add_trained()
    settings, lowest = bob.motion_loom_transfer, shown(bob, np.arange(1, 41))[..., 2].min()
    new.delta_location.z = -1.0
    play.toggle(bob)
    settings.keep_clearance = False
    settings.hold_ground = False
    play.now(bob)
    assert TRANSFER.follows_as_baked(bob)[..., 2].min() < lowest - 0.3
    settings.hold_ground = True
    play.now(bob)
    assert TRANSFER.follows_as_baked(bob)[..., 2].min() > lowest - 1e-4


@pytest.mark.parametrize("names", (["keep_clearance"], ["hold_ground"], ["correct"], ["stitch"], ["correct", "stitch"]))
def test_switches_count_at_once(bob, settings, names):
    before = play.now(bob)
    for name in names:
        setattr(settings, name, not getattr(settings, name))
    after = play.now(bob)
    assert "correct" not in names and "stitch" not in names or np.abs(after - before).max() > 1e-6
    TRANSFER.follows_as_baked(bob, NEW[::5])


def test_the_clips_are_placed_otherwise_than_the_subjects():
    """Other objects perform the clips, at other places: the copy stands where the first clip is."""
    ann, bob, new = play.add_scene()
    she = play.add_subject("She", play.SOURCE, np.arange(FRAMES), groups=False)
    he = play.add_subject("He", play.TARGET, play.warped(), 1.0, groups=False)
    she.matrix_world = Matrix.Translation((3, 1, 0)) @ Matrix.Rotation(0.8, 4, "Z")
    he.matrix_world = Matrix.Translation((-5, 2, 0)) @ Matrix.Rotation(-1.0, 4, "Z") @ Matrix.Scale(2.0, 4)
    bpy.context.view_layer.update()
    bob.motion_loom_transfer.source = ann
    for ob in (she, he):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = bob
    mesh_steps.press("transfer_add_clip")
    clip = bob.motion_loom_transfer.clips[0]
    assert (clip.source, clip.target) == (she, he)
    play.add_pairs(clip)
    play.add_parts(bob)
    play.learn(bob, performed=she)
    there = shown(he, [target for _, target in PAIRS])
    play.toggle(bob)
    found = TRANSFER.follows_as_baked(bob, [source for source, _ in PAIRS])
    assert np.linalg.norm(found - there, axis=-1).mean() < 0.1 * np.ptp(there[0], axis=0).max()


def test_the_frame_rate_is_changed(bob):
    """A clip at another rate moves faster: all frames need a refresh, and until then nothing jumps."""
    before = play.followed(bob)
    bpy.context.scene.render.fps = 30
    np.testing.assert_array_equal(play.followed(bob), before)
    found = play.status(bob)
    assert found.track == "SWEEP" and "frame rate" in found.note and found.problem is None
    play.press(bob, "live_refresh")
    after = TRANSFER.follows_as_baked(bob)
    assert np.isfinite(after).all() and 1e-5 < np.abs(after - before).max() < 0.3
    bpy.context.scene.render.fps = 24
    play.press(bob, "live_refresh")
    np.testing.assert_allclose(TRANSFER.follows_as_baked(bob), before, atol=SAME)
    assert play.status(bob).note is None


def test_another_scene(bob):
    """The target and its copy are shown in a scene that has no new clip."""
    before, first = play.followed(bob), bpy.context.scene
    other = bpy.data.scenes.new("Other")
    for ob in (bob, bob.motion_loom_transfer.live_copy):
        other.collection.objects.link(ob)
    other.frame_set(9)
    first.frame_set(4)
    assert healthy(bob)
    np.testing.assert_array_equal(play.followed(bob), before)
    play.toggle(bob)
    assert not bob.hide_viewport and len(bpy.data.scenes) == 2


@pytest.mark.parametrize("is_live", (False, True))
def test_a_target_is_appended_to_another_file(bob, tmp_path, is_live):
    """What was learnt and the clips come along, to be linked into the scene; a live copy is made anew."""
    expected = play.followed(bob)
    if not is_live:
        play.toggle(bob)
    path = saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    map_play.add_target("Ann Again")  # a name that is taken
    with bpy.data.libraries.load(path, link=False) as (_, there):
        there.objects = ["Bob"]
    bob = there.objects[0]
    bpy.context.scene.collection.objects.link(bob)
    bpy.context.view_layer.update()
    if is_live:
        assert "live copy of 'Bob' is in no scene: it was deleted, or 'Bob' came without it" in problem(bob)
        bpy.context.view_layer.objects.active = bob
        mesh_steps.press("live", workflow="transfer")
        assert not bob.hide_viewport and not bob.hide_render
    with pytest.raises(RuntimeError, match="New clip: 'Ann Again.001' is not in the scene.*link it"):
        play.bake(bob)
    bpy.context.scene.collection.objects.link(bob.motion_loom_transfer.performed)
    play.toggle(bob)
    np.testing.assert_allclose(TRANSFER.follows_as_baked(bob), expected, atol=SAME)
