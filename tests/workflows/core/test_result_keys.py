"""Keys chosen for motions of any rig, as Blender plays them."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, motion
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError
from bl_ext.devrepo.motion_loom.solvers.skeleton.curve_reduction import key_tangents
from bl_ext.devrepo.motion_loom.workflows.core.result_keys import KeyOptions, choose_keys

from tests import rig_scenes as scenes
from tests.adapt_scenes import ends_of
from tests.motion_scenes import write

pytestmark = pytest.mark.versions

FRAMES = np.arange(1.0, 41.0)
HALVES = np.arange(1.0, 40.1, 0.5)


def moving(ob, size=0.5, **kind):
    """Its motion with smooth keys in every rotation mode, and the object moving and scaled."""
    scenes.animate_at_random(ob, frames=(1, 14, 27, 40), **kind)
    ob.scale = (size,) * 3
    ob.location = (0, 0, 0)
    ob.keyframe_insert("location", frame=1)
    ob.location = (2, 0, 1)
    ob.keyframe_insert("location", frame=40)
    bpy.context.scene.frame_set(1)
    return motion.read_motion(bpy.context, ob, FRAMES)


def chosen(ob, found, **options):
    """Without a motion to compare with: all channels that have curves."""
    return choose_keys(bpy.context, ob, found, found, KeyOptions(only_changed=False, **options))


def ends(ob):
    return ends_of(ob, HALVES)


def apart(some, others):
    """(F, B) the largest distance of a bone's points."""
    return np.linalg.norm(some - others, axis=-1).max(axis=-1)


def dense_ends(ob, found, source):
    """As it plays with keys at all frames, and curves that are straight, or smooth, between them."""
    every = np.ones((len(FRAMES), len(found.rig.names), 3), bool)
    out = []
    for tangents in (None, key_tangents(found.channels(), FRAMES, every)):
        write(ob, "Dense", found, source=source, assign=True, tangents=tangents)
        out.append(ends(ob))
    return out


@pytest.mark.parametrize(
    "build", [lambda: scenes.add_chain([*"abcdefghi"]), scenes.add_rig_of_all_rules], ids=["chain", "rules"]
)
@pytest.mark.parametrize("error", [0.002, 0.02])
def test_blender_keeps_within_the_error(build, error):
    """Every rotation mode, every rule of inheritance, scaled bones, a scaled object."""
    ob = build()
    found = moving(ob)
    source = actions.assigned(ob)
    straight, smooth = dense_ends(ob, found, source)
    keys = chosen(ob, found, error=error)
    write(ob, "Thin", found, source=source, assign=True, keys=keys.chosen, tangents=keys.tangents)
    thin = ends(ob)
    # Half way between frames nobody knows the motion any nearer than its straight and its smooth curves agree.
    off = apart(thin, smooth) - np.where(np.isin(HALVES, FRAMES)[:, None], 0.0, apart(straight, smooth))
    seen, report = off.max(), keys.report()
    assert apart(thin, straight)[::2].max() <= error
    assert seen <= error * 1.001 and report["key_error_mm"] == pytest.approx(1000 * seen, rel=0.01, abs=0.01)
    assert report["keys"] < report["keys_of_all_frames"]
    written = [curve for curve in actions.all_curves(*actions.assigned(ob)) if actions.bone_of_path(curve.data_path)]
    counted = sum(len(curve.keyframe_points) for curve in written)
    assert counted >= report["keys"]  # the source also keys rotations of other modes


def test_unchanged_is_left_to_the_source():
    ob = scenes.add_chain(("a", "b"))
    found = moving(ob, scale=False)
    keys = choose_keys(bpy.context, ob, found, found, KeyOptions(step=3, error=0.01))
    assert not keys.chosen.any()
    assert keys.report() == {
        "curves": 0, "keys": 0, "keys_of_all_frames": 0, "keys_per_curve": 0, "key_error_mm": 0.0
    }  # fmt: skip


def test_remapped_time():
    ob = scenes.add_chain(("a", "b", "c"))
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 50
    found = moving(ob)
    source = actions.assigned(ob)
    dense, _ = dense_ends(ob, found, source)
    keys = chosen(ob, found, error=0.01)
    write(ob, "Thin", found, source=source, assign=True, keys=keys.chosen, tangents=keys.tangents)
    assert apart(ends(ob), dense)[::2].max() <= 0.01


@pytest.mark.parametrize(("options", "text"), [({"step": 0}, "frame step"), ({"error": -1.0}, "key reduction")])
def test_bad_options_are_refused(options, text):
    ob = scenes.add_chain(("a",))
    found = moving(ob)
    with pytest.raises(InputError, match=text):
        chosen(ob, found, **options)
