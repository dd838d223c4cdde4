"""The overlay of Transfer: coloured parts, whose weights are read again only where they may have changed."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import MotionLoomError
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.transfer import part_overlay
from bl_ext.devrepo.motion_loom.workflows.transfer.overlay import overlay_of

from tests import mesh_play, mesh_steps
from tests import transfer_play as play
from tests.mesh_steps import once
from tests.transfer_play import PAIRS, TRANSFER


@pytest.fixture
def reads(monkeypatch):
    """Names of the subjects whose weights were read, in order."""
    read, real = [], part_overlay.part_masks

    def counted(ob, groups):
        read.append(ob.name)
        return real(ob, groups)

    monkeypatch.setattr(part_overlay, "part_masks", counted)
    return read


@pytest.fixture
def bob(reads):
    """His parts are shown, and nothing was read for them yet."""
    bob = once(play.make_unread, ())
    bob.motion_loom_transfer.show_parts = True
    return bob


def points(bob):
    """Places (N, 3) and colours (N, 4) as they are drawn after Blender has evaluated what is to be seen."""
    bpy.context.view_layer.update()
    found = registry.by_id("transfer").overlay(bpy.context, bob)
    return found.points, found.point_colours


def test_frames_move_the_points_and_read_no_weights(bob, reads):
    before = points(bob)
    assert sorted(reads) == ["Ann", "Bob"]
    reads.clear()
    for frame in (5, 17, 30):
        bpy.context.scene.frame_set(frame)
        after = points(bob)
        assert np.abs(after[0] - before[0]).max() > 1e-2
        np.testing.assert_array_equal(after[1], before[1])
    bob.location.x += 1.0
    points(bob)
    assert not reads


def painted_over(bob):
    """With the brush's weight, which is 1 at first; a vertex that a group lacks is not set."""
    by_python(bob, 0.1)
    bpy.context.view_layer.update()
    mesh_steps.activate(bob)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    bob.vertex_groups.active = bob.vertex_groups["Left"]
    bpy.ops.paint.weight_set()
    bpy.ops.object.mode_set(mode="OBJECT")


def by_python(bob, weight=1.0):
    bob.vertex_groups["Left"].add(range(len(bob.data.vertices)), weight, "REPLACE")


def element_by_element(bob):
    number = bob.vertex_groups["Left"].index
    by_python(bob, 0.1)
    bpy.context.view_layer.update()
    for vertex in bob.data.vertices:
        next(one for one in vertex.groups if one.group == number).weight = 1.0


@pytest.mark.parametrize("edit", [painted_over, by_python, element_by_element])
def test_other_weights_are_shown_at_once(bob, reads, edit):
    before = points(bob)
    reads.clear()
    edit(bob)
    after = points(bob)
    assert set(reads) == {"Bob"}
    mine = slice(-len(bob.data.vertices), None)
    assert not np.array_equal(after[1], before[1])
    white = (after[1][mine, :3] == 1.0).all(axis=1)
    assert white.sum() > (before[1][mine, :3] == 1.0).all(axis=1).sum(), "more of them are in two parts"


def test_weights_edited_as_the_frame_changes_are_shown(bob, reads):
    """One evaluation for both; what shape keys move is told by the next one of the mesh."""
    bob.shape_key_clear()
    before = points(bob)
    reads.clear()
    by_python(bob)
    bpy.context.scene.frame_set(9)
    assert not np.array_equal(points(bob)[1], before[1]) and "Bob" in reads


def test_groups_in_another_order_or_of_other_names_are_shown(bob, reads):
    before = points(bob)
    parts = bob.motion_loom_transfer.parts
    parts[1].target_group, parts[2].target_group = "Right", "Left"
    assert not np.array_equal(points(bob)[1], before[1])
    bob.vertex_groups.remove(bob.vertex_groups["Left"])
    with pytest.raises(Exception, match="no vertex group 'Left'"):
        points(bob)


def test_undo_shows_the_weights_there_were(bob, reads):
    mesh_play.start_undo()
    expected = points(bob)[1]
    mesh_play.step("as they were")
    by_python(bob)
    assert not np.array_equal(points(bob)[1], expected)
    mesh_play.step("edited")
    bob = mesh_play.undo("Bob")
    np.testing.assert_array_equal(points(bob)[1], expected)


def test_parts_are_shown_on_both_subjects(bob):
    shown = registry.by_id("transfer").overlay(bpy.context, bob)
    counts = [len(bpy.data.objects[name].data.vertices) for name in ("Ann", "Bob")]
    assert len(shown.points) == sum(counts) and len(np.unique(shown.point_colours, axis=0)) == len(play.PARTS) + 1
    bob.motion_loom_transfer.show_parts = False
    assert registry.by_id("transfer").overlay(bpy.context, bob) is None


def test_while_live_parts_are_shown_on_the_copy():
    bob = TRANSFER.add_live()
    settings = bob.motion_loom_transfer
    settings.show_parts = True
    bpy.context.scene.frame_set(12)
    shown = registry.by_id("transfer").overlay(bpy.context, settings.live_copy).points
    assert np.allclose(shown[len(bpy.data.objects["Ann"].data.vertices) :], play.now(bob), atol=1e-4)


def test_pair_and_path_are_shown():
    _, bob, _ = play.add_read()
    shown = registry.by_id("transfer").overlay(bpy.context, bob)
    assert len(shown.triangles) and len(shown.screen_triangles) and len(shown.screen_lines)
    assert np.isfinite(shown.triangles).all() and np.isfinite(shown.screen_lines).all()
    bob.motion_loom_transfer.show_pair = bob.motion_loom_transfer.show_path = False
    assert registry.by_id("transfer").overlay(bpy.context, bob) is None


def test_the_chosen_pose_and_that_of_the_active_pair_are_where_the_target_was():
    _, bob, _ = play.add_read()
    settings = bob.motion_loom_transfer
    settings.show_path = False
    settings.clips[0].active_pair, settings.target_frame = 2, 5.0

    def shown():
        return registry.by_id("transfer").overlay(bpy.context, bob).triangles.reshape(-1, 3)

    was = play.shapes(play.TARGET, play.warped(), 1.0)[0]
    both = shown()
    for half, frame in ((both[len(both) // 2 :], 5), (both[: len(both) // 2], int(PAIRS[2][1]))):
        assert np.abs(half.min(axis=0) - was[frame - 1].min(axis=0)).max() < 0.02
        assert np.abs(half.max(axis=0) - was[frame - 1].max(axis=0)).max() < 0.02
    settings.target_frame = PAIRS[2][1]
    assert len(shown()) == len(both) // 2


def test_the_overlay_in_every_state():
    _, bob, _ = play.add_read(())
    settings, clip = bob.motion_loom_transfer, bob.motion_loom_transfer.clips[0]
    assert overlay_of(bpy.context, bob) is not None  # the pose to be paired
    settings.show_parts = True
    settings.source, ann = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")), settings.source
    bpy.context.scene.collection.objects.link(settings.source)
    assert overlay_of(bpy.context, bob) is not None
    settings.source = ann
    bob.vertex_groups["Left"].name = "Other"
    with pytest.raises(MotionLoomError, match="'Bob' has no vertex group 'Left'"):
        overlay_of(bpy.context, bob)
    settings.show_parts = False
    settings.target_frame = np.nan
    with pytest.raises(MotionLoomError):
        overlay_of(bpy.context, bob)
    settings.target_frame = 1e6
    assert overlay_of(bpy.context, bob) is not None
    for source, target in PAIRS:
        pair = clip.pairs.add()
        pair.source_frame, pair.target_frame = source, target
    clip.active_pair = 3
    assert overlay_of(bpy.context, bob) is not None
    clip.pairs[3].target_frame = 2
    assert overlay_of(bpy.context, bob) is not None  # contradicting pairs: no path, and no traceback
    settings.active_clip = 7  # as a script may: the last one is meant
    assert overlay_of(bpy.context, bob) is not None
    settings.active_clip = 0
    settings.show_pair = settings.show_path = False
    assert overlay_of(bpy.context, bob) is None
