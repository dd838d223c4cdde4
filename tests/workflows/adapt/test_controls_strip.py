"""Results on controls as NLA strips above their source: they play as if they were assigned."""

import bpy
import numpy as np
import pytest

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes

FRAMES = control_scenes.FRAMES
SAME = 1e-6


@pytest.fixture(scope="module", params=["ACTION", "STRIPS"])
def bound_file(request, tmp_path_factory):
    """A leg that is moved by an action, or by NLA strips alone, on a floor that goes up after Bind."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.animate_leg(control_scenes.add_leg())
    if request.param == "STRIPS":
        data = rig.animation_data
        data.nla_tracks.new().strips.new("walk", 1, data.action)
        data.action = None
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = 8
    play.bind(rig, ("Floor",))
    bpy.data.objects["Floor"].location.z = 0.05
    return play.save(tmp_path_factory.mktemp("strip") / "leg.blend")


@pytest.fixture
def rig(bound_file):
    bpy.ops.wm.open_mainfile(filepath=bound_file)
    return bpy.data.objects["Rig"]


def poses(rig):
    """(F, B, 4, 4) world space, as Blender evaluates them."""
    out = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append([np.array(shown.matrix_world @ bone.matrix) for bone in shown.pose.bones])
    return np.array(out)


def test_a_strip_plays_as_what_is_assigned_and_goes_with_play_source(rig):
    before = poses(rig)
    play.press(rig, "bake")
    assigned = poses(rig)
    assert np.abs(assigned - before).max() > 0.02
    play.play_source(rig)
    rig.motion_loom_adapt.bake_strip = True
    play.press(rig, "bake")
    assert rig.animation_data.action is None and rig.animation_data.nla_tracks[-1].strips[0].blend_type == "REPLACE"
    np.testing.assert_allclose(poses(rig), assigned, atol=SAME)
    play.play_source(rig)
    np.testing.assert_allclose(poses(rig), before, atol=SAME)


def test_a_result_is_made_of_the_source_though_a_strip_of_the_last_one_plays(rig, capsys):
    """Bake, the command and Live; the report is that of the first one, too."""
    rig.motion_loom_adapt.bake_strip = True
    first = commands.run(capsys, "adapt", "--rig", "Rig")
    shown = poses(rig)
    again = commands.run(capsys, "adapt", "--rig", "Rig")
    assert again["controls"]["away_mm"] == pytest.approx(first["controls"]["away_mm"], abs=1e-3)
    np.testing.assert_allclose(poses(rig), shown, atol=SAME)
    play.press(rig)
    np.testing.assert_allclose(poses(rig), shown, atol=SAME)
