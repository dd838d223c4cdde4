"""Characters whose IK bones came without constraints, with IK, poles and a switch put back as an animator does."""

import bpy
import numpy as np
import pytest

from benchmarks import control_rigs, datasets
from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands

FRAMES = np.arange(1.0, 6.0)


CASES = ("kaykit_ik", "quaternius_horse_ik")


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    """A rig with a switch."""
    return bound(request.param, tmp_path, add_switch)


def bound(name, folder, change):
    """A rig that was changed, posed by IK and bound to a floor, which then goes up by 3 % of the height."""
    if datasets.data_folder() is None:
        pytest.skip("the characters are not there; set MOTION_LOOM_DATA")
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_rigs.build(name, folder)
    change(rig)
    control_rigs.key_clip(rig, control_rigs.CASES[name].clip(rig, "IK", 1, FRAMES), "clip")
    heights = body(rig)[..., 2, 3]
    size = np.ptp(heights[0])
    scenes.add_grid("Floor", (-2.0 * size, 2.0 * size), (-2.0 * size, 2.0 * size), cells=8)
    floor = bpy.data.objects["Floor"]
    floor.location.z, bpy.context.scene.frame_end = heights.min(), int(FRAMES[-1])
    bpy.context.view_layer.update()
    play.bind(rig, ("Floor",))
    floor.location.z += 0.03 * size
    bpy.context.view_layer.update()
    return rig


def add_switch(rig):
    """A property of the first bone that all constraints go by, at IK."""
    root = rig.data.bones[0].name
    rig.pose.bones[root]["ik"] = 1.0
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            driver = constraint.driver_add("influence").driver
            driver.type = "AVERAGE"
            target = driver.variables.new().targets[0]
            target.id, target.data_path = rig, f'pose.bones["{root}"]["ik"]'


def body(rig):
    """(F, B, 4, 4) world space, of all bones but poles, as Blender evaluates them."""
    out = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = [bone for bone in shown.pose.bones if "Pole" not in bone.name and not bone.name[:-2].endswith("IK")]
        out.append([np.array(shown.matrix_world @ bone.matrix) for bone in bones])
    return np.array(out)


def test_they_are_written_in_ik_in_fk_and_in_both(case, capsys):
    """In both the chains of IK begin at the pose of their FK controls, which may be another than the source's."""
    rig = case
    before = body(rig)
    found = commands.run(capsys, "adapt", "--rig", rig.name)
    keyed = body(rig)
    assert found["controls"]["away_mm"] < 0.5 and np.abs(keyed - before)[..., 3].max() > 0.01
    assert not any(each.mute for bone in rig.pose.bones for each in bone.constraints)
    both = commands.run(capsys, "adapt", "--rig", rig.name, "--write-to", "both")
    assert both["controls"]["away_mm"] < 1.0
    assert len(both["changed_bones"]) > len(found["changed_bones"])
    assert np.linalg.norm((body(rig) - keyed)[..., :3, 3], axis=-1).max() < 2e-3
    in_fk = commands.run(capsys, "adapt", "--rig", rig.name, "--write-to", "fk")
    assert in_fk["controls"]["away_mm"] < 1.0 and any("is keyed to 0" in note for note in in_fk["notes"])


@pytest.mark.parametrize("name", CASES)
def test_without_a_switch_fk_keys_the_influence_of_each_limb(name, tmp_path, capsys):
    """Feet that copy their goal's rotation go on doing so, and hoofs that are goals themselves are placed: toes were
    8 mm, hoofs 26 mm off."""
    rig = bound(name, tmp_path, lambda _rig: None)
    in_fk = commands.run(capsys, "adapt", "--rig", rig.name, "--write-to", "fk")
    assert in_fk["controls"]["away_mm"] < 0.5
    assert sum(note.endswith('"].influence is keyed to 0 over the bound frames') for note in in_fk["notes"]) == 4
