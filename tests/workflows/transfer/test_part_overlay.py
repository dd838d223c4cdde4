"""The coloured parts: weights, which are slow to read, are read again where they may have changed, and only there."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.transfer import part_overlay

from tests import map_play, mesh_play
from tests import transfer_play as play


@pytest.fixture
def reads(monkeypatch):
    """Names of the subjects whose weights were read, in order."""
    read, real = [], part_overlay.part_masks

    def counted(ob, groups):
        read.append(ob.name)
        return real(ob, groups)

    monkeypatch.setattr(part_overlay, "part_masks", counted)
    return read


def scene():
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann)
    play.add_parts(bob)
    bob.motion_loom_transfer.show_parts = True
    return ann, bob


def points(bob):
    """Places (N, 3) and colours (N, 4) as they are drawn after Blender has evaluated what is to be seen."""
    bpy.context.view_layer.update()
    found = registry.by_id("transfer").overlay(bpy.context, bob)
    return found.points, found.point_colours


def test_frames_move_the_points_and_read_no_weights(reads):
    _, bob = scene()
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
    map_play.activate(bob)
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
def test_other_weights_are_shown_at_once(reads, edit):
    _, bob = scene()
    before = points(bob)
    reads.clear()
    edit(bob)
    after = points(bob)
    assert set(reads) == {"Bob"}
    mine = slice(-len(bob.data.vertices), None)
    assert not np.array_equal(after[1], before[1])
    white = (after[1][mine, :3] == 1.0).all(axis=1)
    assert white.sum() > (before[1][mine, :3] == 1.0).all(axis=1).sum(), "more of them are in two parts"


def test_weights_edited_as_the_frame_changes_are_shown(reads):
    """One evaluation for both; what shape keys move is told by the next one of the mesh."""
    _, bob = scene()
    bob.shape_key_clear()
    before = points(bob)
    reads.clear()
    by_python(bob)
    bpy.context.scene.frame_set(9)
    assert not np.array_equal(points(bob)[1], before[1]) and "Bob" in reads


def test_groups_in_another_order_or_of_other_names_are_shown(reads):
    _, bob = scene()
    before = points(bob)
    parts = bob.motion_loom_transfer.parts
    parts[1].target_group, parts[2].target_group = "Right", "Left"
    assert not np.array_equal(points(bob)[1], before[1])
    bob.vertex_groups.remove(bob.vertex_groups["Left"])
    with pytest.raises(Exception, match="no vertex group 'Left'"):
        points(bob)


def test_undo_shows_the_weights_there_were(reads):
    _, bob = scene()
    mesh_play.start_undo()
    expected = points(bob)[1]
    mesh_play.step("as they were")
    by_python(bob)
    assert not np.array_equal(points(bob)[1], expected)
    mesh_play.step("edited")
    bob = mesh_play.undo("Bob")
    np.testing.assert_array_equal(points(bob)[1], expected)
