"""Body parts as vertex groups, and pictures made of numbers."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.part_groups import part_masks, write_parts
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError

from tests import map_scenes as scenes
from tests.objects import edit

MASKS = np.arange(36) % 3 == np.arange(3)[:, None]


def test_parts_come_back_as_they_were_written():
    ob = scenes.add_strip()
    write_parts(ob, ["Torso", "Arm", "Bein ä"], MASKS)
    assert np.array_equal(part_masks(ob, ["Torso", "Arm", "Bein ä"]), MASKS)
    assert np.array_equal(part_masks(ob, ["Arm"]), MASKS[1:2])
    assert np.array_equal(part_masks(ob, ["Arm", "Arm"]), MASKS[[1, 1]])


def test_writing_again_leaves_nothing_of_what_was_there_and_other_groups_alone():
    ob = scenes.add_strip()
    ob.vertex_groups.new(name="Mine").add([1, 2], 0.7, "REPLACE")
    ob.vertex_groups["Mine"].add([3], 0.49, "REPLACE")  # the faint rim of a brush does not belong
    ob.vertex_groups["Mine"].add([4], 0.5, "REPLACE")
    write_parts(ob, ["Torso"], MASKS[:1])
    write_parts(ob, ["Torso"], MASKS[1:2])
    assert np.array_equal(part_masks(ob, ["Torso"]), MASKS[1:2])
    assert part_masks(ob, ["Mine"])[0].nonzero()[0].tolist() == [1, 2, 4]
    assert [group.name for group in ob.vertex_groups] == ["Mine", "Torso"]


def test_what_cannot_be_is_refused_by_name(tmp_path):
    ob = scenes.add_strip()
    with pytest.raises(InputError, match="'Strip' has no vertex group 'Leg'"):
        part_masks(ob, ["Leg"])
    edit(ob)
    for read_or_write in (lambda: part_masks(ob, []), lambda: write_parts(ob, ["Torso"], MASKS[:1])):
        with pytest.raises(SceneError, match="leave Edit Mode"):
            read_or_write()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not len(ob.vertex_groups)
    with pytest.raises(SceneError, match="is linked"):
        write_parts(scenes.linked(ob, tmp_path, override=True), ["Torso"], MASKS[:1])
