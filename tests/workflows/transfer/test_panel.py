"""The panel and the overlay of Transfer, in all states that a user can bring about.

The panel is drawn on a layout that checks what it is given; how it looks is seen in the program with windows only.
"""

import re

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.transfer.model import odd_of

from tests import mesh_steps
from tests import transfer_play as play
from tests.panel_layout import Context, Layout
from tests.transfer_play import FRAMES, PAIRS


class TransferLayout(Layout):
    """With lists and pictures as Transfer has them."""

    def _part(self, **_how):
        return TransferLayout(self.drawn, self.opened, self.workflow)

    row = column = box = split = _part

    def template_list(self, kind, _id, owner, items, active_owner, active, rows=5):
        draw = getattr(bpy.types, kind).draw_item
        for item in getattr(owner, items):
            draw(None, bpy.context, self, owner, item, 0, active_owner, active)

    def template_icon(self, icon_value, scale):
        assert isinstance(icon_value, int) and scale > 0
        self.drawn.append("(picture)")


def drawn(ob):
    out = []
    registry.by_id("transfer").draw(TransferLayout(out, True), Context(ob))
    return [str(text) for text in out]


def test_every_state_is_drawn():
    ann, bob, new = play.add_scene()
    settings = bob.motion_loom_transfer
    assert drawn(None) == ["Select a mesh of the subject that is to move"]
    assert "Add clips first" in drawn(bob)
    settings.source = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    settings.active_part = 4
    drawn(bob)
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    drawn(bob)
    mesh_steps.press("fit", workflow="transfer")
    assert "Read Clips Again" in drawn(bob)
    mesh_steps.press("densify", workflow="transfer")
    assert "(picture)" in drawn(bob)
    mesh_steps.press("train", workflow="transfer")
    assert any("40 pairs of 1 clip" in text for text in drawn(bob))
    settings.performed = new
    for kind, size in (("PC2", "0.1 MB in a file"), ("PCA_KEYS", "at most"), ("ABSOLUTE_KEYS", "30 keys")):
        settings.bake_kind = kind
        assert any(size in text for text in drawn(bob))
    play.toggle(bob)
    play.bake(bob)
    for ob in (bob, settings.live_copy):
        assert any("Every frame is up to date" in text for text in drawn(ob))
    settings.clips[0].pairs[1].source_frame = np.nan
    bpy.context.view_layer.update()
    assert any("train again" in text for text in drawn(bob))
    settings.clips[0].use = False
    bpy.data.objects.remove(new)
    bpy.context.view_layer.update()
    assert any("was deleted" in text for text in drawn(bob))
    settings.clips.clear()
    settings.subjects = settings.learnt = settings.clip = settings.source = None
    bpy.context.view_layer.update()
    drawn(bob)


def test_choices_that_are_gone_are_named():
    _, bob, _ = play.add_trained()
    shown = " ".join(drawn(bob))
    assert "is gone" not in shown
    play.choose_gone(bob.motion_loom_transfer, "kernel", "densify")
    shown = " ".join(drawn(bob))
    assert "Kernel 'Linear' is gone: 'Neural Network' takes its place" in shown
    assert "Between Pairs 'Linear Map' is gone: 'By Pose' takes its place" in shown


def test_a_pair_that_is_far_off_is_named(capfd):
    """By Train, in the panel and in the command's notes, with the frame that the others say; right ones are not."""
    _, bob, _ = play.add_read()
    [clip] = bob.motion_loom_transfer.clips
    clip.pairs.clear()
    frames = np.array((1.0, 5.0, 9.0, 13.0, 17.0, 22.0, 35.0, 38.0, 40.0))
    right = np.round(np.interp(frames - 1.0, play.warped(), np.arange(FRAMES)) + 1.0)
    play.add_pairs(clip, np.stack((frames, right), axis=1).tolist())
    play.press(bob, "train")
    assert odd_of(bob) == [] and "far off" not in capfd.readouterr().out
    clip.pairs[5].target_frame = right[5] + 10
    play.press(bob, "train")
    told = capfd.readouterr().out
    said = re.search(rf"clip 1: pair 22={right[5] + 10:g} is far off .*, which say target frame (\d+)", told)
    assert abs(float(said[1]) - right[5]) <= 2
    assert "is far off by the other pairs" in " ".join(drawn(bob))
    assert jobs.main(["transfer", "--target", "Bob", "--learn-only"]) == 0
    assert "Note: Clip 1: pair 22=" in capfd.readouterr().err
    clip.pairs[5].target_frame = right[5]
    assert odd_of(bob) == []
