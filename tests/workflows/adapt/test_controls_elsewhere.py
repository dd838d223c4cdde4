"""Adapt on control rigs in other files, and on one whose names tell nothing."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from benchmarks import _control_home as home
from benchmarks.control_rigs import key_clip, posed_clip
from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes
from tests import rigify_scenes as rigify
from tests.linked import linked
from tests.rig_scenes import fingerprint

SAME = 1e-6
FRAMES = rigify.FRAMES[:6]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A file with a walking default human in the collection Cast, and its floor."""
    path = rigify.save_human(tmp_path_factory.mktemp("controls"))
    scenes.add_collection("Cast", bpy.data.objects["rig"])
    return play.save(path)


def bind(rig):
    chosen = rig.motion_loom_adapt
    chosen.use_range, chosen.start, chosen.end = True, int(FRAMES[0]), int(FRAMES[-1])
    play.bind(rig, ("Floor",))


def wave(height=0.06):
    scenes.deform("Floor", lambda v: v + np.outer(height * np.sin(3.0 * v[:, 1] + v[:, 0]), [0.0, 0.0, 1.0]))
    bpy.context.view_layer.update()


def heads(rig):
    """(F, B, 3) of deform bones, as Blender evaluates them."""
    out = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        out.append([bone.head[:] for bone in bones if bone.bone.use_deform])
    return np.array(out)


def assert_follows_live_and_baked(rig):
    """Live follows a changed floor, the bake is what live shows, and the source stays."""
    source, before = rig.animation_data.action, heads(rig)
    told = fingerprint(source)
    play.press(rig)
    np.testing.assert_allclose(heads(rig), before, atol=1e-4)
    wave()
    assert play.status(rig).problem is None
    shown = heads(rig)
    assert np.abs(shown - before)[..., 2].max() > 0.03
    play.press(rig, "bake")
    np.testing.assert_allclose(heads(rig), shown, atol=SAME)
    assert rig.animation_data.action != source and fingerprint(source) == told


@pytest.mark.versions
def test_an_appended_rig_keeps_what_was_measured_of_it(library, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=library)
    bind(bpy.data.objects["rig"])
    rig, _ = play.brought(play.save(tmp_path / "bound.blend"), "rig", "Floor")
    assert_follows_live_and_baked(rig)


def test_an_override_is_bound_live_and_kept(library, tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True)
    cast = linked(library, collection="Cast")
    bpy.context.scene.render.fps = 24
    scenes.add_grid("Floor", (-1.2, 1.2), (-1.6, 1.0), cells=40)
    cast.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.override_library)
    bind(rig)
    rig = play.reopen(tmp_path / "shot.blend", "rig")
    assert_follows_live_and_baked(rig)
    baked = heads(rig)
    np.testing.assert_allclose(heads(play.reopen(tmp_path / "shot.blend", "rig")), baked, atol=SAME)


def test_a_linked_rig_is_told_what_to_do(library):
    bpy.ops.wm.read_homefile(use_empty=True)
    rig, _ = linked(library, "rig", "Floor")
    told = play.refused(rig, "fit")
    assert "is linked" in told and "library override" in told


@pytest.mark.parametrize("shapes", [True, False], ids=["custom shapes", "no custom shapes"])
def test_legs_in_ik_with_poles_follow_by_bones_whose_names_tell_nothing(shapes, capsys):
    """Planted feet of a home-made rig go with the floor, by the goals alone, and nothing is switched off."""
    rig = home.build(shapes=shapes)
    roles = home.roles("IK")
    clip = posed_clip(rig, replace(roles, reaches={}, poles=dict.fromkeys(roles.poles, 0.0)), 3, FRAMES)
    feet = {f"foot.{side}": home.name_of(f"foot.{side}") for side in "lr"}
    for side in "lr":
        for goal in ("step", "grip"):
            clip.channels[home.name_of(f"{goal}.{side}"), "location"] = np.zeros((len(FRAMES), 3))
    key_clip(rig, clip, "Sway")
    scenes.add_grid("Floor", (-0.6, 0.6), (-0.6, 0.6), cells=24)
    bind(rig)
    before = heads(rig)
    scenes.deform("Floor", lambda v: v + [0.0, 0.0, 0.07])
    told = commands.run(capsys, "adapt", "--rig", rig.name)
    rows = [[bone.name for bone in rig.data.bones if bone.use_deform].index(name) for name in feet.values()]
    np.testing.assert_allclose((heads(rig) - before)[:, rows, 2], 0.07, atol=0.01)
    assert told["silenced_constraints"] == [] and told["controls"]["away_mm"] < 0.5, told["controls"]


def test_a_keyed_choice_of_what_a_goal_hangs_on_counts_and_stays(capsys):
    """As a keyed parent of Rigify, a choice among several: the goal is keyed in the one, then in the other."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.animate_leg(control_scenes.add_leg())
    path = control_scenes.hang_by_choice(rig)
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = 8
    play.bind(rig, ("Floor",))
    bpy.data.objects["Floor"].location.z = 0.04
    bpy.context.view_layer.update()
    found = commands.run(capsys, "adapt", "--rig", "Rig")
    assert found["controls"]["away_mm"] < 1.0 and "g" in found["controls"]["written"]
    both = rig.motion_loom_adapt.source, rig.animation_data.action
    curves = [actions.find_curve(each, play.slot_of(each), path, 0) for each in both]
    np.testing.assert_array_equal(*map(actions.keys_of, curves))
