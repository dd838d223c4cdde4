"""A mesh is live while a user edits, deletes and renames: what is shown stays right, or says what is wrong.

Live goes on by itself when the cause is gone, and Live off leaves the file as it was.
"""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import map_play, mesh_steps, transfer_play
from tests.map_play import MAP
from tests.mesh_play import put_in_reverse, refused, says
from tests.mesh_steps import SAME, delete, edited, everything, reopened, shown
from tests.transfer_play import TRANSFER

pytestmark = pytest.mark.usefixtures("silent")


def with_faces(ob, count=None, vertices=None):
    """Give a mesh its first faces and vertices alone; returns what it had."""
    former, fewer = ob.data, bpy.data.meshes.new("Fewer")
    faces = [tuple(face.vertices) for face in former.polygons]
    fewer.from_pydata([tuple(vertex.co) for vertex in former.vertices][:vertices], [], faces[:count])
    ob.data = fewer
    return former


# ------------------------------------------------------------------------------------------------------- the source


@pytest.mark.usefixtures("both_ways")
def test_the_source_is_edited(play, ob):
    """The pose of that frame follows at once, the others after Refresh."""
    before = play.followed(ob)
    row = list(play.frames).index(play.at)
    bpy.context.scene.frame_set(play.at)
    play.edit()
    play.now(ob)
    bpy.context.scene.frame_set(play.at)
    here = play.now(ob)
    assert play.status(ob).track == "SWEEP" and play.status(ob).remedy == "REFRESH"
    assert np.abs(here - before[row]).max() > 0.005
    for frame in play.frames[[0, -1]]:
        bpy.context.scene.frame_set(int(frame))
        if play is TRANSFER:  # of which one frame was edited alone
            np.testing.assert_allclose(play.now(ob), before[frame - 1], atol=SAME)
        assert play.status(ob).track == "SWEEP"  # an edit elsewhere is not forgotten
    play.press(ob, "live_refresh")
    after = play.follows_as_baked(ob)
    # What a pose at once does not know of its neighbours.
    assert np.abs(after[row] - here).max() < (0.15 if play is MAP else 0.02)
    assert np.abs(after - before).max() > 0.005


@pytest.mark.usefixtures("both_ways")
def test_an_edit_is_taken_back(play, ob):
    before = play.followed(ob)
    bpy.context.scene.frame_set(play.at)
    for back, track in ((False, "SWEEP"), (True, "READY")):
        play.edit(back)
        play.now(ob)
        bpy.context.scene.frame_set(play.at)
        shown_now = play.now(ob)
        assert play.status(ob).track == track
    np.testing.assert_allclose(shown_now, before[list(play.frames).index(play.at)], atol=1e-4)
    np.testing.assert_allclose(play.followed(ob), before, atol=SAME)
    assert play.healthy(ob)


@pytest.mark.usefixtures("both_ways")
def test_a_bake_without_refresh_is_of_the_source_as_it_is(play, ob):
    before = play.followed(ob)
    play.edit()
    baked = shown(play.bake(ob), play.frames)
    assert np.abs(baked - before).max() > 0.005
    np.testing.assert_allclose(play.followed(ob), baked, atol=SAME)
    assert play.healthy(ob)


@pytest.mark.parametrize("how", ("data", "operator"))
def test_the_source_is_deleted(play, ob, how):
    bpy.context.scene.frame_set(9)
    before = play.now(ob)
    delete(bpy.data.objects[play.source], how)
    assert "deleted" in play.problem(ob)
    np.testing.assert_array_equal(play.now(ob), before)
    play.toggle(ob)
    assert not ob.hide_viewport and not play.settings(ob).live


def test_the_source_is_renamed(play, ob, tmp_path):
    before = play.followed(ob)
    for number, other in enumerate([other for other in bpy.data.objects if other.name[:-2] == play.source[:-2]]):
        other.name = f"left / 'hand' {9 - number} 骨"
    for collection in bpy.data.collections:
        collection.name = "Other"
    np.testing.assert_array_equal(play.followed(ob), before)
    assert play.healthy(ob)
    ob = reopened(ob, tmp_path)
    np.testing.assert_allclose(play.followed(ob), before, atol=SAME)
    assert play.healthy(ob)
    play.toggle(ob)
    play.toggle(ob)
    np.testing.assert_allclose(play.follows_as_baked(ob), before, atol=SAME)


# ------------------------------------------------------------------------------------------- the target and its copy


@pytest.mark.parametrize("how", ("data", "operator"))
def test_the_live_copy_is_deleted(play, ob, how):
    """Every button says so, and Live off and on makes a new one."""
    before = play.followed(ob)
    delete(play.copy(ob), how)
    of = f"live copy of '{play.target}'"
    unlinked = f"{of} is in no scene: it was deleted, or '{play.target}' came without it from another file; undo that"
    told = unlinked if how == "operator" else f"{of} was deleted; undo that, or switch Live off and on"
    assert told in play.problem(ob)
    bpy.context.view_layer.objects.active = ob
    play.settings(ob).bake_kind = "ABSOLUTE_KEYS"
    for button in ("live_refresh", "bake", "fit"):
        says(play, button, told)
    mesh_steps.press("live", workflow=play.workflow)
    assert not ob.hide_viewport and not ob.hide_render and not play.settings(ob).live
    play.toggle(ob)
    assert play.healthy(ob) and sum("live" in name for name in bpy.data.objects.keys()) == 1
    np.testing.assert_array_equal(play.followed(ob), before)


def test_the_target_is_deleted(play, ob):
    copy = play.copy(ob)
    bpy.data.objects.remove(ob)
    bpy.context.scene.frame_set(20)
    assert not live_runs.runs and copy.users_scene
    mesh_steps.activate(copy)
    says(play, "live", "(?i)deleted")


def test_target_and_copy_are_renamed_and_moved(play, ob):
    before = play.followed(ob)
    ob.name, ob.location.x = "Robert / 'x'", 5.0
    play.copy(ob).name = "mine"
    play.copy(ob).location.x += 3.0
    np.testing.assert_array_equal(play.followed(ob), before)
    assert play.healthy(ob)


def test_a_face_of_the_target_is_removed(play, ob):
    before = play.now(ob)
    former = with_faces(ob, -1)
    remedy = {"map": "learn", "transfer": "Read Clips"}[play.workflow]
    assert f"'{play.target}'" in play.problem(ob) and remedy in play.problem(ob) and play.status(ob).remedy == "BIND"
    np.testing.assert_array_equal(play.now(ob), before)
    ob.data = former
    assert play.problem(ob) is None


def test_the_live_copy_has_another_topology_or_is_edited(play, ob):
    copy = play.copy(ob)
    former = with_faces(copy, 1, vertices=40)
    assert "(live)" in play.problem(ob) and "live off and on" in play.problem(ob)
    copy.data = former
    assert play.problem(ob) is None
    with edited(copy):
        assert "Edit Mode" in play.problem(ob)
    assert play.problem(ob) is None


def test_a_target_in_another_order_is_refused(play, ready):
    """Its vertices were sorted; also while live, by another object of the same mesh, as the target itself is hidden."""
    when = {"map": "it was learnt", "transfer": "its clips were read"}[play.workflow]
    told = f"The vertices or faces of '{play.target}' are in another order than when {when}; undo that"
    put_in_reverse(ready)
    play.settings(ready).bake_kind = "ABSOLUTE_KEYS"
    for button in ("live", "bake"):
        refused(play, ready, button, told)
    put_in_reverse(ready)
    play.toggle(ready)
    before = play.now(ready)
    twin = bpy.data.objects.new("Twin", ready.data)
    bpy.context.scene.collection.objects.link(twin)
    with edited(twin):
        assert play.problem(ready) is None  # it is not looked at in Edit Mode
    put_in_reverse(twin)
    assert told in play.problem(ready) and play.status(ready).remedy == "BIND"
    np.testing.assert_array_equal(play.now(ready), before)
    for button in ("bake", "live_refresh")[: 1 if play is MAP else 2]:
        refused(play, ready, button, told)
    put_in_reverse(twin)
    assert play.problem(ready) is None
    np.testing.assert_array_equal(play.now(ready), before)


STORED = ((MAP, "learnt", "Learn Target"), (TRANSFER, "subjects", "press Read Clips"),
          (TRANSFER, "learnt", "press Train"), (TRANSFER, "clip", "press Refresh"))  # fmt: skip


@pytest.mark.parametrize(("play", "which", "told"), STORED)
def test_what_is_stored_is_gone(play, ob, which, told):
    settings = play.settings(ob)
    there = getattr(settings, which)
    setattr(settings, which, None)
    ob.update_tag()
    assert told in play.problem(ob)
    setattr(settings, which, there)
    ob.update_tag()
    assert play.problem(ob) is None


@pytest.mark.parametrize(("play", "which", "told"), STORED)
def test_what_is_stored_is_damaged(play, ob, which, told, tmp_path):
    """A clip is read again; the rest is asked for, while live too."""
    words = getattr(play.settings(ob), which)["data"]
    words[len(words) // 2] ^= 1
    ob = reopened(ob, tmp_path)
    assert "damaged" in play.problem(ob)
    play.toggle(ob)
    assert not ob.hide_viewport
    if which != "clip":
        play.settings(ob).bake_kind = "ABSOLUTE_KEYS"
        for button in ("live", "bake"):
            refused(play, ob, button, "damaged")
        for step in ("fit", "train") if play is TRANSFER else ("fit",):
            play.press(ob, step)
    play.toggle(ob)
    assert play.problem(ob) is None and np.isfinite(play.now(ob)).all()


def add_other(play):
    """Another target of the same source, live."""
    if play is MAP:
        other = map_play.learn(map_play.add_target("Other"), bpy.data.collections["Dots"])
        map_play.pair(other, *((source, 24 - target) for source, target in map_play.PAIRS))
    else:
        other = transfer_play.add_subject("Eve", transfer_play.TARGET, transfer_play.warped(), -0.5)
        transfer_play.learn(other, bpy.data.objects["Ann"], bpy.data.objects["Ann Again"])
    play.toggle(other)
    return other


def test_two_targets_of_one_source(play, ob):
    """Each does its own; a broken one says so alone."""
    other = add_other(play)
    found = play.followed(ob), play.follows_as_baked(other)
    assert play.healthy(ob) and np.abs(found[0] - found[1]).max() > 0.05
    bpy.data.objects.remove(play.copy(other))
    bpy.context.scene.frame_set(4)
    assert play.status(other).problem
    np.testing.assert_array_equal(play.follows_as_baked(ob), found[0])
    bpy.context.view_layer.objects.active = other
    mesh_steps.press("live", workflow=play.workflow)
    assert not other.hide_viewport and ob.hide_viewport and play.healthy(ob)


# ------------------------------------------------------------------------------------------------------- time, files


@pytest.mark.parametrize(("old", "new"), ((100, 200), (100, 50), (90, 100)))
def test_time_is_stretched(play, ob, old, new):
    """The source plays slower or faster than its keys say, and the target with it."""
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new
    play.press(ob, "live_refresh")
    last = int(play.settings(ob).clip_summary.split()[-1])
    assert play is MAP or last == pytest.approx(play.frames[-1] * new / old, abs=1)
    found = play.followed(ob, np.arange(1, last + 1))
    assert play.healthy(ob)
    np.testing.assert_allclose(shown(play.bake(ob), np.arange(1, last + 1)), found, atol=1e-5)


@pytest.mark.usefixtures("both_ways")
def test_subframes(play, ob):
    for frame in (1.0, 7.25, 21.5, 29.999, 39.999)[: 5 if play is MAP else 4]:
        between, before, after = play.followed(ob, [frame, np.floor(frame), np.floor(frame) + 1])
        share = frame - np.floor(frame)
        assert np.abs(between - ((1 - share) * before + share * after)).max() < 0.02
        assert play.healthy(ob)


def test_a_new_file_and_disabling_leave_nothing(play, ob, tmp_path):
    path = mesh_steps.saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not live_runs.runs
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects[play.target]
    live.stop_all()
    play.toggle(ob)
    assert not ob.hide_viewport and live_mesh.live_of(ob) is None


def test_what_the_user_made_stays_as_it_is(play, ready):
    """The selection, the visibility and all data, for whatever is selected when Live is pressed."""
    other = bpy.data.objects[play.source]
    for hide_render, selected in ((False, ready), (True, ready), (True, other)):
        ready.hide_render = hide_render
        mesh_steps.activate(ready)
        other.select_set(True)
        ready.select_set(selected == ready)
        bpy.context.scene.frame_set(5)
        before = everything()
        mesh_steps.press("live", workflow=play.workflow)
        copy = play.copy(ready)
        assert bpy.context.view_layer.objects.active == copy and other.select_get()
        assert ready.hide_viewport and ready.hide_render
        play.followed(ready)
        bpy.context.scene.frame_set(5)
        mesh_steps.press("live", workflow=play.workflow)
        assert everything() == before and bpy.context.scene.frame_current == 5
        assert not any(name.endswith("(live)") for name in (*bpy.data.objects.keys(), *bpy.data.meshes.keys()))
