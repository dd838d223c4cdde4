"""How the result of Adapt is kept: frame step, curves of the source, fewer keys, NLA strips."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError
from bl_ext.devrepo.motion_loom.workflows.adapt import run
from bl_ext.devrepo.motion_loom.workflows.adapt.run import AdaptRigOptions
from bl_ext.devrepo.motion_loom.workflows.core.result_keys import KeyOptions
from bl_ext.devrepo.motion_loom.workflows.rig.action import play_source, plays_result

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.adapt_scenes import raise_step
from tests.commands import adapt, bind, refused
from tests.rig_scenes import add_strip, fingerprint, watch

pytestmark = pytest.mark.versions

HALVES = np.arange(scenes.FRAMES[0], scenes.FRAMES[-1] + 0.25, 0.5)


@pytest.fixture(scope="module")
def prop_file(motion_loom, tmp_path_factory):
    """A bound walker with a prop that no one solves: it hangs on the hand, and has keys of its own far apart."""
    bpy.ops.wm.read_homefile(use_empty=True)
    ob = scenes.add_scene()
    bpy.ops.object.mode_set(mode="EDIT")
    bone = ob.data.edit_bones.new("prop")
    bone.parent = ob.data.edit_bones["wrist.L"]
    bone.head, bone.tail = bone.parent.tail, bone.parent.tail + (bone.parent.tail - bone.parent.head)
    bone.use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, turn in ((1, 0.0), (24, 0.6)):
        ob.pose.bones["prop"].rotation_quaternion = (np.cos(turn), 0, np.sin(turn), 0)
        ob.pose.bones["prop"].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)
    play.bind(ob)
    return play.save(tmp_path_factory.mktemp("bake") / "prop.blend")


@pytest.fixture
def rig(prop_file):
    bpy.ops.wm.open_mainfile(filepath=prop_file)
    return bpy.data.objects["Rig"]


@pytest.fixture
def dense(rig):
    """The result of all frames as it plays where the step is raised, see ``ends``."""
    raise_step()
    result(rig)
    return ends(rig)


def result(rig, **options):
    keys = KeyOptions(**{k: options.pop(k) for k in ("step", "error", "only_changed") if k in options})
    return run.adapt_rig(bpy.context, rig, scenes.workflow(), AdaptRigOptions(measure=False, keys=keys, **options))


def ends(rig, frames=HALVES):
    return scenes.ends_of(rig, frames)


def apart(rig, others):
    return np.linalg.norm(ends(rig) - others, axis=-1).max()


def counts(rig):
    """{(bone, channel): keys}."""
    found = {}
    for curve in actions.all_curves(*actions.assigned(rig)):
        found[actions.bone_of_path(curve.data_path)] = len(curve.keyframe_points)
    return found


# ------------------------------------------------------------------------------------------- what is written


def test_what_did_not_change_keeps_the_curves_of_the_source(rig):
    kept = {row[:2]: row[2:] for row in fingerprint(rig.animation_data.action)}
    raise_step()
    report = result(rig)
    assert "prop" not in report["changed_bones"] and "knee.R" in report["changed_bones"]
    found = counts(rig)
    assert found["prop", "rotation_quaternion"] == 2 and found["knee.R", "rotation_quaternion"] == 24
    written = {(bone, channel) for (bone, channel), keys in found.items() if keys == 24 and bone != "prop"}
    for row in fingerprint(rig.animation_data.action):
        bone = actions.bone_of_path(row[0])
        assert bone[0] in report["changed_bones"] and bone in written or kept[row[:2]] == row[2:]
    dense = result(rig, only_changed=False)
    assert counts(rig)["prop", "rotation_quaternion"] == 24 and dense["curves"] > report["curves"]


def test_nothing_changed_is_a_copy_of_the_source(rig, capsys):
    before = fingerprint(rig.animation_data.action)
    report = adapt(capsys)
    assert report["curves"] == report["keys"] == 0 and report["key_error_mm"] == 0 and report["changed_bones"] == []
    assert fingerprint(rig.animation_data.action) == before
    assert rig.animation_data.action.name == "Rig clip (adapted)"


def test_outside_of_the_bound_range_what_did_not_change_plays_on(rig, capsys):
    bind(capsys, "--start", "1", "--end", "12")
    before = watch(rig, [24])[0]
    raise_step()
    adapt(capsys)
    index = rig.data.bones.find("prop"), rig.data.bones.find("wrist.L")
    after = watch(rig, [24])[0]
    local = [np.linalg.inv(pose[0, index[1]]) @ pose[0, index[0]] for pose in (before, after)]
    np.testing.assert_allclose(local[1], local[0], atol=1e-5)


def test_every_nth_frame_and_the_last(rig, dense):
    report = result(rig, step=5)
    frames = {tuple(k.co.x for k in c.keyframe_points) for c in actions.all_curves(*actions.assigned(rig))}
    assert (1, 6, 11, 16, 21, 24) in frames and report["keys_per_curve"] == 6
    assert report["keys_of_all_frames"] == 4 * report["keys"]
    assert report["key_error_mm"] == pytest.approx(1000 * apart(rig, dense), rel=0.02) and report["key_error_mm"] > 1
    assert result(rig, step=1000)["keys_per_curve"] == 2
    with pytest.raises(InputError, match="frame step is 0"):
        result(rig, step=0)


@pytest.mark.parametrize("error", [0.001, 0.005])
def test_fewer_keys_within_the_error(rig, dense, error):
    report = result(rig, error=error)
    assert report["keys"] < 0.8 * report["keys_of_all_frames"]
    seen = np.linalg.norm(ends(rig) - dense, axis=-1)[::2].max()  # at the frames
    assert seen <= error and report["key_error_mm"] <= 1000 * error
    assert sum(counts(rig).values()) > 0


@pytest.mark.parametrize("options", [{"step": 3}, {"error": 0.005}])
def test_curves_between_keys_are_smooth(rig, options):
    """Straight ones made every third frame jerk four times, reduced ones two and a half times."""
    raise_step()

    def jerk(positions):
        return np.linalg.norm(np.diff(positions, 3, axis=0), axis=-1).mean()

    result(rig)
    dense = jerk(ends(rig, np.arange(1, 25)))
    result(rig, **options)
    assert jerk(ends(rig, np.arange(1, 25))) < 1.25 * dense
    curves = actions.all_curves(*actions.assigned(rig))
    assert any(key.interpolation == "BEZIER" for curve in curves for key in curve.keyframe_points)


def test_reduced_keys_lie_on_the_step(rig):
    raise_step()
    result(rig, step=2)
    steps = np.arange(1, 24, 2)
    stepped = ends(rig, steps)
    report = result(rig, step=2, error=0.002)
    assert np.linalg.norm(ends(rig, steps) - stepped, axis=-1).max() <= 0.002
    written = [c for c in actions.all_curves(*actions.assigned(rig)) if len(c.keyframe_points) < 24]
    frames = {key.co.x for curve in written for key in curve.keyframe_points}
    assert frames <= {*range(1, 24, 2), 24} and report["keys_per_curve"] < 13


def test_the_panel_and_the_command_agree(rig, capsys):
    raise_step()
    report = adapt(capsys, "--step", "2", "--reduce", "0.003", "--strip")
    settings = rig.motion_loom_adapt
    assert settings.bake_step == 2 and settings.bake_reduce and settings.bake_strip
    assert settings.bake_error == pytest.approx(0.003)
    assert report["strip"] and rig.animation_data.action is None
    seen = ends(rig)
    play.press(rig, "bake")
    assert apart(rig, seen) < 1e-6
    adapt(capsys, "--reduce", "0")
    assert not settings.bake_reduce


@pytest.mark.parametrize("words", [["--reduce", "-1"], ["--reduce", "x"], ["--reduce", "1e-7"], ["--step", "0"]])
def test_bad_words_are_refused(rig, capsys, words):
    assert f"{words[0]} cannot be {words[1]}" in refused(capsys, "adapt", "--rig", "Rig", *words)


# ------------------------------------------------------------------------------------------------- NLA strips


@pytest.fixture
def assigned(rig):
    """The step raised; the source as it was, and the result as it plays when it is assigned."""
    before = ends(rig)
    raise_step()
    result(rig)
    seen = ends(rig)
    play_source(rig, scenes.workflow())
    return before, seen


def test_a_strip_plays_like_the_assigned_result(rig, assigned):
    before, seen = assigned
    source = rig.animation_data.action
    report = result(rig, strip=True)
    data = rig.animation_data
    assert data.action is None and source.use_fake_user
    assert [track.name for track in data.nla_tracks] == [report["action"]]
    assert bpy.data.actions[report["action"]].use_fake_user is False
    assert apart(rig, seen) < 1e-5 and plays_result(rig, scenes.workflow())
    # Before and after it holds, as the assigned action would.
    np.testing.assert_allclose(ends(rig, [-5, 40]), seen[[0, -1]], atol=1e-5)
    play_source(rig, scenes.workflow())
    assert data.action == source and not len(data.nla_tracks) and apart(rig, before) < 1e-5
    assert bpy.data.actions[report["action"]].use_fake_user


def test_a_strip_of_one_frame_and_in_remapped_time(rig):
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 50
    scenes.bind_rig(rig, start=5, end=5)
    raise_step()
    result(rig, only_changed=False)
    seen = ends(rig, [5])
    result(rig, only_changed=False, strip=True, step=3, error=1e-5)
    np.testing.assert_allclose(ends(rig, [5]), seen, atol=1e-4)


def test_a_strip_switches_constraints_off_as_well(rig):
    limit = rig.pose.bones["elbow.L"].constraints.new("DAMPED_TRACK")
    limit.target, limit.influence = bpy.data.objects["Floor"], 0.4
    scenes.bind_rig(rig)
    before = ends(rig)
    raise_step()
    report = result(rig)
    assert report["silenced_constraints"] == ["elbow.L: Damped Track"]
    seen = ends(rig)
    result(rig, strip=True)
    assert apart(rig, seen) < 1e-5
    raise_step(-0.12)
    play_source(rig, scenes.workflow())
    assert limit.influence == pytest.approx(0.4) and apart(rig, before) < 1e-5


def test_an_override_rig_takes_a_strip(rig, tmp_path):
    """What the user's file adds to a linked rig: the track is saved with it."""
    holder = bpy.data.collections.new("Cast")
    holder.objects.link(rig)
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {holder})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, there):
        there.collections = ["Cast"]
    bpy.context.scene.collection.children.link(bpy.data.collections["Cast"])
    bpy.data.collections["Cast"].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    ob = next(ob for ob in bpy.context.scene.objects if ob.override_library)
    scenes.add_floor_and_step()
    scenes.bind_rig(ob)
    before = ends(ob)
    raise_step()
    result(ob)
    seen = ends(ob)
    result(ob, strip=True)
    assert apart(ob, seen) < 1e-5
    ob = play.reopen(tmp_path / "shot.blend", ob.name)
    assert apart(ob, seen) < 1e-5
    play_source(ob, scenes.workflow())
    raise_step(-0.12)
    assert apart(ob, before) < 1e-5


def test_a_strip_outlives_saving(rig, assigned, tmp_path):
    before, seen = assigned
    result(rig, strip=True)
    rig = play.reopen(tmp_path / "strip.blend")
    assert apart(rig, seen) < 1e-5 and plays_result(rig, scenes.workflow())
    play_source(rig, scenes.workflow())
    assert rig.animation_data.action.name == "Rig clip" and apart(rig, before) < 1e-5


def test_adapting_again_reads_the_source_and_replaces_the_strip(rig, assigned):
    _, seen = assigned
    first = result(rig, strip=True)
    second = result(rig, strip=True)
    assert [track.name for track in rig.animation_data.nla_tracks] == [second["action"]] != [first["action"]]
    assert second["source"] == "Rig clip" and apart(rig, seen) < 1e-5
    third = result(rig)
    assert not len(rig.animation_data.nla_tracks) and rig.animation_data.action.name == third["action"]
    assert apart(rig, seen) < 1e-5
    fourth = result(rig, strip=True)
    assert rig.animation_data.action is None and apart(rig, seen) < 1e-5
    assert all(bpy.data.actions[r["action"]].use_fake_user for r in (first, second, third))
    assert not bpy.data.actions[fourth["action"]].use_fake_user


def test_a_strip_above_others_leaves_what_lies_outside_to_them(rig, capsys):
    """The rig plays a strip and nothing else; the result covers the bound frames."""
    source, slot = actions.assigned(rig)
    add_strip(rig, source, slot, 1)
    rig.animation_data.action = None
    bind(capsys, "--start", "5", "--end", "12")
    before = ends(rig)
    outside = ends(rig, [1, 3, 14, 24])
    raise_step()
    result(rig)
    seen = ends(rig, np.arange(5, 12.1, 0.5))
    play_source(rig, scenes.workflow())
    report = result(rig, strip=True)
    assert [track.name for track in rig.animation_data.nla_tracks][-1] == report["action"]
    np.testing.assert_allclose(ends(rig, np.arange(5, 12.1, 0.5)), seen, atol=1e-5)
    np.testing.assert_allclose(ends(rig, [1, 3, 14, 24]), outside, atol=1e-5)
    play_source(rig, scenes.workflow())
    assert len(rig.animation_data.nla_tracks) == 1 and rig.animation_data.action is None
    assert apart(rig, before) < 1e-5


def test_a_strip_that_is_not_to_play_is_mute(rig, assigned):
    before, seen = assigned
    source = rig.animation_data.action
    result(rig, strip=True, assign=False)
    track = rig.animation_data.nla_tracks[0]
    assert track.mute and rig.animation_data.action == source and apart(rig, before) < 1e-5
    track.mute = False
    rig.animation_data.action = None
    assert apart(rig, seen) < 1e-5


def test_what_the_user_did_to_the_track_is_kept(rig, assigned):
    before, seen = assigned
    report = result(rig, strip=True)
    track = rig.animation_data.nla_tracks[0]
    track.name = "mine"
    other = bpy.data.actions.new("other")
    track.strips.new("other", 100, other)
    play_source(rig, scenes.workflow())
    assert [strip.name for strip in rig.animation_data.nla_tracks["mine"].strips] == ["other"]
    assert report["action"] in bpy.data.actions


def test_a_strip_that_would_not_play_is_refused(rig, assigned):
    data = rig.animation_data
    known = set(bpy.data.actions.keys())
    data.use_nla = False
    with pytest.raises(SceneError, match="NLA of 'Rig' is switched off"):
        result(rig, strip=True)
    data.use_nla = True
    track = data.nla_tracks.new()
    track.is_solo = True
    with pytest.raises(SceneError, match="plays alone"):
        result(rig, strip=True)
    data.nla_tracks.remove(track)
    result(rig, strip=True)
    known = set(bpy.data.actions.keys())
    strip = data.nla_tracks[0].strips[0]
    data.nla_tracks.active = data.nla_tracks[0]
    strip.select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    for call in (lambda: result(rig, strip=True), lambda: result(rig), lambda: play_source(rig, scenes.workflow())):
        with pytest.raises(SceneError, match="tweaking an NLA strip"):
            call()
    assert set(bpy.data.actions.keys()) == known and len(data.nla_tracks) == 1
