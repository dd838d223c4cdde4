"""Transfer live while a user edits, deletes and renames: what is shown stays right, or says what is wrong.

Live goes on by itself when the cause is gone, and Live off leaves the file as it was.
"""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live
from mathutils import Matrix

from tests import map_play, mesh_play
from tests import transfer_play as play
from tests.mesh_play import PLACES
from tests.transfer_play import FRAMES, PAIRS, healthy, press, problem

pytestmark = pytest.mark.usefixtures("silent")

SAME = 1e-6
NEW = np.arange(1, 31)
AT = 12  # a frame of the new clip that is edited


def followed(bob, frames=NEW):
    """World vertices (F, V, 3) of the live copy, the frames visited in another order."""
    frames = np.asarray(frames)
    order = np.random.default_rng(0).permutation(len(frames))
    return map_play.shown(bob.motion_loom_transfer.live_copy, frames[order])[np.argsort(order)]


def follows_as_baked(bob, frames=NEW):
    found = followed(bob, frames)
    assert healthy(bob)
    size = max(1.0, float(np.abs(found).max()))
    np.testing.assert_allclose(map_play.shown(play.bake(bob), frames), found, atol=2 * SAME * size)
    assert healthy(bob)
    return found


def reopened(tmp_path):
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Bob"]


def edit(new, shape, frame=AT):
    """Give the new clip another shape (V, 3) at a frame."""
    block = new.data.shape_keys.key_blocks[frame - 1]
    block.points.foreach_set("co", np.asarray(shape, np.float32).ravel())
    new.data.shape_keys.update_tag()


def shape_at(time):
    return play.shapes(play.SOURCE, [time])[0][0]


def former(new, frame=AT):
    block = new.data.shape_keys.key_blocks[frame - 1]
    found = np.empty(3 * len(block.points), np.float32)
    block.points.foreach_get("co", found)
    return found


# ----------------------------------------------------------------------------------------------------- the new clip


def test_the_new_clip_is_edited():
    """The pose of that frame follows at once, the others after Refresh."""
    _, bob, new = play.add_live()
    before = followed(bob)
    bpy.context.scene.frame_set(AT)
    edit(new, shape_at(31.0))
    play.now(bob)
    here = play.now(bob)
    assert play.status(bob).track == "SWEEP" and play.status(bob).remedy == "REFRESH"
    assert np.abs(here - before[AT - 1]).max() > 0.02
    for frame in (1, 30):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(play.now(bob), before[frame - 1], atol=SAME)
        assert play.status(bob).track == "SWEEP"  # an edit elsewhere is not forgotten
    press(bob, "live_refresh")
    assert healthy(bob)
    after = follows_as_baked(bob)
    assert np.abs(after[AT - 1] - here).max() < 0.02


def test_an_edit_that_is_taken_back():
    _, bob, new = play.add_live()
    before = followed(bob)
    bpy.context.scene.frame_set(AT)
    old = former(new)
    edit(new, shape_at(31.0))
    play.now(bob)
    assert play.status(bob).track == "SWEEP"
    edit(new, old)
    np.testing.assert_allclose(play.now(bob), before[AT - 1], atol=SAME)
    assert healthy(bob)
    np.testing.assert_array_equal(followed(bob), before)


def test_a_bake_without_refresh_is_of_the_clip_as_it_is():
    _, bob, new = play.add_live()
    before = followed(bob)
    edit(new, shape_at(31.0))
    baked = map_play.shown(play.bake(bob), NEW)
    assert np.abs(baked - before).max() > 0.02
    np.testing.assert_allclose(followed(bob), baked, atol=SAME)
    assert healthy(bob)


def test_a_clip_edited_while_live_is_off():
    """It is read again when live comes on, whatever is stored of it."""
    _, bob, new = play.add_live()
    before = followed(bob)
    play.toggle(bob)
    edit(new, shape_at(31.0))
    play.toggle(bob)
    assert healthy(bob)
    assert np.abs(follows_as_baked(bob) - before)[AT - 1].max() > 0.005


@pytest.mark.parametrize("remove", ("operator", "data", "to another scene"))
def test_the_new_clip_is_deleted(remove):
    _, bob, new = play.add_live()
    bpy.context.scene.frame_set(9)
    before = play.now(bob)
    if remove == "data":
        bpy.data.objects.remove(new)
    elif remove == "operator":
        map_play.activate(new)
        bpy.ops.object.delete()
    else:
        bpy.data.scenes.new("Other").collection.objects.link(new)
        bpy.context.scene.collection.objects.unlink(new)
    text = problem(bob)
    assert ("not in the scene 'Scene'" if remove == "to another scene" else "was deleted") in text
    np.testing.assert_array_equal(play.now(bob), before)
    play.toggle(bob)
    assert not bob.hide_viewport and not bob.motion_loom_transfer.live


def test_the_new_clip_is_renamed_and_hidden(tmp_path):
    _, bob, new = play.add_live()
    before = followed(bob)
    new.name = 'the "clip" / 1 骨'
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob)
    new.hide_viewport = True
    assert "is hidden" in problem(bob) and new.name in problem(bob)
    new.hide_viewport = False
    assert problem(bob) is None
    bob = reopened(tmp_path)
    np.testing.assert_allclose(followed(bob), before, atol=SAME)
    play.toggle(bob)
    play.toggle(bob)
    np.testing.assert_allclose(follows_as_baked(bob), before, atol=SAME)


def test_another_new_clip_is_chosen():
    """While live it asks for a refresh; else it is read when live comes on, edited or not."""
    ann, bob, new = play.add_live()
    settings, before = bob.motion_loom_transfer, followed(bob)
    other = play.add_subject("Third", play.SOURCE, 20.0 - 0.7 * np.arange(30))
    settings.performed = other
    assert "'Third'" in problem(bob) and play.status(bob).remedy == "REFRESH"
    press(bob, "live_refresh")
    after = follows_as_baked(bob)
    assert np.abs(after - before).max() > 0.05
    play.toggle(bob)
    settings.performed = new
    play.toggle(bob)
    np.testing.assert_allclose(follows_as_baked(bob), before, atol=SAME)
    settings.performed = map_play.add_target()
    assert "'Worm'" in problem(bob)
    with pytest.raises(RuntimeError, match="'Worm' has 48 vertices"):
        press(bob, "live_refresh")
    settings.performed = ann
    press(bob, "live_refresh")
    follows_as_baked(bob, np.arange(1, 41))


def test_another_range_of_the_new_clip():
    _, bob, _ = play.add_live()
    settings = bob.motion_loom_transfer
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 5, 20
    assert "press Refresh" in problem(bob)
    press(bob, "live_refresh")
    found = followed(bob)
    assert healthy(bob) and "frames 5 to 20" in settings.clip_summary
    for outside, end in ((1, 5), (30, 20)):  # the ends are held
        np.testing.assert_array_equal(found[outside - 1], found[end - 1])
    np.testing.assert_allclose(map_play.shown(play.bake(bob), np.arange(5, 21)), found[4:20], atol=SAME)


def test_the_new_clip_has_no_numbers():
    _, bob, new = play.add_live()
    before = followed(bob)
    bpy.context.scene.frame_set(AT)
    old = former(new)
    broken = old.copy()
    broken[7] = np.nan
    edit(new, broken)
    assert "'Ann Again' has vertices that are not numbers" in problem(bob)
    edit(new, old)
    assert problem(bob) is None
    np.testing.assert_array_equal(followed(bob), before)


def test_the_new_clip_is_subdivided():
    """Modifiers after what deforms it do not count; its edits are not seen behind them, which is told."""
    _, bob, new = play.add_live()
    before = followed(bob)
    new.modifiers.new("Subdivision", "SUBSURF")
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob) and "press Refresh" in play.status(bob).note
    np.testing.assert_allclose(follows_as_baked(bob), before, atol=SAME)
    new.modifiers.clear()
    assert problem(bob) is None and play.status(bob).note is None


def test_the_new_clip_in_edit_mode():
    _, bob, new = play.add_live()
    map_play.activate(new)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.frame_set(AT)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert problem(bob) is None


# ------------------------------------------------------------------------------------------- the target and its copy


def test_the_live_copy_is_deleted():
    _, bob, _ = play.add_live()
    before = followed(bob)
    map_play.activate(bob.motion_loom_transfer.live_copy)
    bpy.ops.object.delete()
    assert "'Bob'" in problem(bob) and "Live off and on" in problem(bob)
    bpy.context.view_layer.objects.active = bob
    map_play.press("live", workflow="transfer")
    assert not bob.hide_viewport and not bob.hide_render and not bob.motion_loom_transfer.live
    play.toggle(bob)
    np.testing.assert_array_equal(followed(bob), before)
    assert sum("live" in name for name in bpy.data.objects.keys()) == 1


def test_the_target_is_deleted():
    _, bob, _ = play.add_live()
    copy = bob.motion_loom_transfer.live_copy
    bpy.data.objects.remove(bob)
    bpy.context.scene.frame_set(20)
    assert not live_runs.runs and copy.users_scene
    map_play.activate(copy)
    with pytest.raises(RuntimeError, match="(?i)deleted"):
        bpy.ops.motion_loom.live(workflow="transfer")


def test_target_and_copy_are_renamed_and_moved():
    _, bob, _ = play.add_live()
    before = followed(bob)
    bob.name, bob.location.x = "Robert / 'x'", 5.0
    bob.motion_loom_transfer.live_copy.name = "mine"
    bob.motion_loom_transfer.live_copy.location.x += 3.0
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob)


def test_a_face_of_the_target_is_removed():
    _, bob, _ = play.add_live()
    before = play.now(bob)
    faces = [tuple(face.vertices) for face in bob.data.polygons]
    data, shorter = bob.data, bpy.data.meshes.new("Shorter")
    shorter.from_pydata([tuple(v.co) for v in bob.data.vertices], [], faces[:-1])
    bob.data = shorter
    assert "'Bob'" in problem(bob) and "Read Clips" in problem(bob) and play.status(bob).remedy == "BIND"
    np.testing.assert_array_equal(play.now(bob), before)
    bob.data = data
    assert problem(bob) is None


def test_the_live_copy_has_another_topology_or_is_edited():
    _, bob, _ = play.add_live()
    copy = bob.motion_loom_transfer.live_copy
    data, shorter = copy.data, bpy.data.meshes.new("Shorter")
    shorter.from_pydata([tuple(v.co) for v in data.vertices][:40], [], [(0, 1, 2)])
    copy.data = shorter
    assert "(live)" in problem(bob) and "live off and on" in problem(bob)
    copy.data = data
    assert problem(bob) is None
    map_play.activate(copy)
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Edit Mode" in problem(bob)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert problem(bob) is None


@pytest.mark.parametrize(("which", "button"), (("subjects", "Read Clips"), ("learnt", "Train"), ("clip", "Refresh")))
def test_what_is_stored_is_gone(which, button):
    _, bob, _ = play.add_live()
    settings = bob.motion_loom_transfer
    there = getattr(settings, which)
    setattr(settings, which, None)
    bob.update_tag()
    assert f"press {button}" in problem(bob)
    setattr(settings, which, there)
    bob.update_tag()
    assert problem(bob) is None


@pytest.mark.parametrize("of", ("original", "copy"))
def test_a_copy_of_a_live_target(of):
    """Shift+D makes no second live one."""
    _, bob, _ = play.add_live()
    before = followed(bob)
    ob = bob if of == "original" else bob.motion_loom_transfer.live_copy
    twin = ob.copy()
    twin.data = ob.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob)
    play.toggle(bob)
    assert not bob.hide_viewport


def test_two_targets_of_one_source():
    ann, bob, new = play.add_live()
    eve = play.add_subject("Eve", play.TARGET, play.warped(), -0.5)
    play.add_clip(eve, ann, PAIRS)
    play.add_parts(eve)
    press(eve, "fit")
    press(eve, "train")
    eve.motion_loom_transfer.performed = new
    play.toggle(eve)
    found = followed(bob), followed(eve)
    assert healthy(bob) and healthy(eve) and np.abs(found[0] - found[1]).max() > 0.05
    bpy.data.objects.remove(eve.motion_loom_transfer.live_copy)
    bpy.context.scene.frame_set(4)
    assert play.status(eve).problem
    np.testing.assert_array_equal(followed(bob), found[0])
    assert healthy(bob)


def test_map_and_transfer_take_turns():
    """What moves a mesh already is named, by each of the other."""
    _, bob, _ = play.add_trained()
    dots = map_play.add_dots()
    map_play.learn(bob, dots)
    map_play.pair(bob, *((3, 1), (11, 8), (22, 15)))
    play.toggle(bob)
    before = followed(bob)
    map_play.activate(bob.motion_loom_transfer.live_copy)
    with pytest.raises(RuntimeError, match="'Bob' is live in Transfer Surface Motion; switch that off first"):
        bpy.ops.motion_loom.live(workflow="map")
    np.testing.assert_array_equal(followed(bob), before)
    play.toggle(bob)
    map_play.toggle(bob)
    mesh_play.refused(bob, "motion_loom_map", "live", "'Bob' is live in Map.*switch that off", workflow="transfer")
    map_play.toggle(bob)
    play.toggle(bob)
    np.testing.assert_array_equal(followed(bob), before)


# ----------------------------------------------------------------------------------------------------------- learning


def test_pairs_are_changed_while_live():
    """What was learnt is shown until it is learnt again, and that is told."""
    _, bob, _ = play.add_live()
    clip, before = bob.motion_loom_transfer.clips[0], followed(bob)
    old = clip.pairs[2].target_frame
    clip.pairs[2].target_frame = old + 3
    assert problem(bob) is None and "since Train" in play.status(bob).note
    np.testing.assert_array_equal(followed(bob), before)
    press(bob, "train")
    assert healthy(bob) and play.status(bob).note is None
    after = follows_as_baked(bob)
    assert np.abs(after - before).max() > 0.005
    clip.pairs[2].target_frame = old
    assert problem(bob) is None and "since Train" in play.status(bob).note
    press(bob, "train")
    np.testing.assert_allclose(followed(bob), before, atol=SAME)


@pytest.mark.parametrize(
    ("name", "value"),
    (("kernel", "SQUARED_EXPONENTIAL"), ("noise", 0.3), ("densify", "LINE"), ("stretch", 4), ("use", False)),
)
def test_choices_of_training_are_changed_while_live(name, value):
    _, bob, _ = play.add_live()
    settings = bob.motion_loom_transfer
    owner = settings.clips[0] if name == "use" else settings
    old = getattr(owner, name)
    setattr(owner, name, value)
    assert problem(bob) is None and "since Train" in play.status(bob).note
    setattr(owner, name, old)
    assert problem(bob) is None and play.status(bob).note is None


def test_clips_are_read_again_while_live():
    """With other parts: each step names the next one."""
    _, bob, _ = play.add_live()
    settings, before = bob.motion_loom_transfer, followed(bob)
    settings.components = 3
    press(bob, "fit")
    assert "press Train" in problem(bob)
    press(bob, "train")
    assert "press Refresh" in problem(bob) and play.status(bob).remedy == "REFRESH"
    press(bob, "live_refresh")
    after = follows_as_baked(bob)
    assert 1e-5 < np.abs(after - before).max() < 0.5


# ----------------------------------------------------------------------------------------------------- travel, ground


def test_ways_to_travel():
    _, bob, _ = play.add_live()
    settings, ways = bob.motion_loom_transfer, {}
    settings.hold_ground = settings.keep_clearance = False
    for settings.travel, settings.travel_scale in (("SOURCE", 1.0), ("SOURCE", 2.0), ("SOURCE", 0.0), ("NONE", 1.0)):
        play.now(bob)
        found = follows_as_baked(bob)
        copy = settings.live_copy
        places = []
        for frame in NEW:
            bpy.context.scene.frame_set(frame)
            places.append(np.array(copy.matrix_world.translation))
        ways[settings.travel, settings.travel_scale] = found[-1].mean(axis=0) - found[0].mean(axis=0)
    assert np.linalg.norm(ways["SOURCE", 1.0][:2]) > 0.5
    np.testing.assert_allclose(ways["SOURCE", 2.0][1], 2 * ways["SOURCE", 1.0][1], rtol=0.1)
    for still in (("SOURCE", 0.0), ("NONE", 1.0)):
        assert np.abs(ways[still][:2]).max() < 0.2
        np.testing.assert_allclose(ways[still][2], ways["SOURCE", 1.0][2], atol=0.05)


def test_staying_above_the_ground():
    """Nothing sinks below the lowest point of the target's own clips, however low its source goes."""
    _, bob, new = play.add_trained()
    settings, lowest = bob.motion_loom_transfer, map_play.shown(bob, np.arange(1, 41))[..., 2].min()
    new.delta_location.z = -1.0
    play.toggle(bob)
    settings.keep_clearance = False
    settings.hold_ground = False
    play.now(bob)
    assert follows_as_baked(bob)[..., 2].min() < lowest - 0.3
    settings.hold_ground = True
    play.now(bob)
    assert follows_as_baked(bob)[..., 2].min() > lowest - 1e-4


@pytest.mark.parametrize("name", ("keep_clearance", "hold_ground", "correct", "stitch"))
def test_switches_count_at_once(name):
    _, bob, _ = play.add_live()
    settings = bob.motion_loom_transfer
    setattr(settings, name, not getattr(settings, name))
    play.now(bob)
    follows_as_baked(bob, NEW[::5])


# -------------------------------------------------------------------------------------------------- places of objects


@pytest.mark.parametrize("whose", ("Ann", "Bob"))
@pytest.mark.parametrize(("place", "parented"), [*((place, False) for place in PLACES), ("scaled", True)])
def test_places_of_the_subjects(place, whose, parented):
    """Asked for what it was learnt from, the target does in the world what it did, however objects are placed there."""
    ann, bob, _ = play.add_scene()
    ob = bpy.data.objects[whose]
    if parented:
        holder = bpy.data.objects.new("Holder", None)
        bpy.context.scene.collection.objects.link(holder)
        holder.matrix_world = PLACES[place]
        ob.parent, ob.location = holder, (0.3, 0.2, 0.1)
    else:
        ob.matrix_world = PLACES[place]
    bpy.context.view_layer.update()
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    press(bob, "fit")
    press(bob, "train")
    settings = bob.motion_loom_transfer
    settings.performed, settings.hold_ground, settings.keep_clearance = ann, False, False
    there = map_play.shown(bob, [target for _, target in PAIRS])
    play.toggle(bob)
    assert healthy(bob)
    found = followed(bob, [source for source, _ in PAIRS])
    size = np.ptp(there[0], axis=0).max()
    poses = [clip - clip.mean(axis=1, keepdims=True) for clip in (found, there)]
    assert np.linalg.norm(poses[0] - poses[1], axis=-1).mean() < 0.05 * size
    assert np.linalg.norm((found - there).mean(axis=1), axis=-1).max() < 0.3 * size
    play.bake(bob)
    baked = map_play.shown(settings.result, [source for source, _ in PAIRS])
    np.testing.assert_allclose(baked, found, atol=4e-6 * max(1.0, np.abs(found).max()))
    play.toggle(bob)


def test_the_clips_are_placed_otherwise_than_the_subjects():
    """Other objects perform the clips, at other places: the copy stands where the first clip is."""
    ann, bob, new = play.add_scene()
    she = play.add_subject("She", play.SOURCE, np.arange(FRAMES), groups=False)
    he = play.add_subject("He", play.TARGET, play.warped(), 1.0, groups=False)
    she.matrix_world = Matrix.Translation((3, 1, 0)) @ Matrix.Rotation(0.8, 4, "Z")
    he.matrix_world = Matrix.Translation((-5, 2, 0)) @ Matrix.Rotation(-1.0, 4, "Z") @ Matrix.Scale(2.0, 4)
    bpy.context.view_layer.update()
    for other in (she, he):
        other.select_set(True)
    bob.motion_loom_transfer.source = ann
    for ob in (she, he):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = bob
    map_play.press("transfer_add_clip")
    clip = bob.motion_loom_transfer.clips[0]
    assert (clip.source, clip.target) == (she, he)
    for source, target in PAIRS:
        pair = clip.pairs.add()
        pair.source_frame, pair.target_frame = source, target
    play.add_parts(bob)
    press(bob, "fit")
    press(bob, "train")
    bob.motion_loom_transfer.performed = she
    there = map_play.shown(he, [target for _, target in PAIRS])
    play.toggle(bob)
    found = follows_as_baked(bob, [source for source, _ in PAIRS])
    assert np.linalg.norm(found - there, axis=-1).mean() < 0.1 * np.ptp(there[0], axis=0).max()


# ------------------------------------------------------------------------------------------------------ time, scenes


def test_the_frame_rate_is_changed():
    """A clip at another rate moves faster: all frames need a refresh, and until then nothing jumps."""
    _, bob, _ = play.add_live()
    before = followed(bob)
    bpy.context.scene.render.fps = 30
    np.testing.assert_array_equal(followed(bob), before)
    found = play.status(bob)
    assert found.track == "SWEEP" and "frame rate" in found.note and found.problem is None
    press(bob, "live_refresh")
    after = follows_as_baked(bob)
    assert np.isfinite(after).all() and 1e-5 < np.abs(after - before).max() < 0.3
    bpy.context.scene.render.fps = 24
    press(bob, "live_refresh")
    np.testing.assert_allclose(follows_as_baked(bob), before, atol=SAME)
    assert play.status(bob).note is None


@pytest.mark.parametrize(("old", "new"), ((100, 200), (100, 50)))
def test_time_is_stretched(old, new):
    _, bob, _ = play.add_live()
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new
    press(bob, "live_refresh")
    last = int(bob.motion_loom_transfer.clip_summary.split()[-1])
    assert last == pytest.approx(30 * new / old, abs=1)
    found = followed(bob, np.arange(1, last + 1))
    assert healthy(bob)
    np.testing.assert_allclose(map_play.shown(play.bake(bob), np.arange(1, last + 1)), found, atol=1e-5)


@pytest.mark.parametrize("frame", (1.0, 7.25, 21.5, 29.999))
def test_subframes(frame):
    _, bob, _ = play.add_live()
    between, before, after = followed(bob, [frame, np.floor(frame), np.floor(frame) + 1])
    share = frame - np.floor(frame)
    assert np.abs(between - ((1 - share) * before + share * after)).max() < 0.02
    assert healthy(bob)


def test_a_subframe_of_an_edited_clip():
    _, bob, new = play.add_live()
    bpy.context.scene.frame_set(AT)
    edit(new, shape_at(31.0))
    play.now(bob)
    at = play.now(bob)
    bpy.context.scene.frame_set(AT, subframe=0.05)
    near = play.now(bob)
    assert play.status(bob).track == "SWEEP" and np.abs(near - at).max() < 0.1


def test_another_scene():
    """The target and its copy are shown in a scene that has no new clip."""
    _, bob, _ = play.add_live()
    before, first = followed(bob), bpy.context.scene
    other = bpy.data.scenes.new("Other")
    for ob in (bob, bob.motion_loom_transfer.live_copy):
        other.collection.objects.link(ob)
    other.frame_set(9)
    first.frame_set(4)
    assert healthy(bob)
    np.testing.assert_array_equal(followed(bob), before)
    play.toggle(bob)
    assert not bob.hide_viewport and len(bpy.data.scenes) == 2


# -------------------------------------------------------------------------------------------------------------- files


def test_a_new_file_and_disabling_leave_nothing(tmp_path):
    play.add_live()
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not live_runs.runs
    bpy.ops.wm.open_mainfile(filepath=path)
    bob = bpy.data.objects["Bob"]
    live.stop_all()
    play.toggle(bob)
    assert not bob.hide_viewport and live_mesh.live_of(bob) is None


@pytest.mark.parametrize("is_live", (False, True))
def test_a_target_is_appended_to_another_file(tmp_path, is_live):
    """What was learnt and the clips come along, to be linked into the scene; a live copy is made anew."""
    _, bob, _ = play.add_live()
    expected = followed(bob)
    if not is_live:
        play.toggle(bob)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    map_play.add_target("Ann Again")  # a name that is taken
    with bpy.data.libraries.load(path, link=False) as (_, there):
        there.objects = ["Bob"]
    bob = there.objects[0]
    bpy.context.scene.collection.objects.link(bob)
    bpy.context.view_layer.update()
    if is_live:
        assert "live copy of 'Bob' was deleted" in problem(bob)
        bpy.context.view_layer.objects.active = bob
        map_play.press("live", workflow="transfer")
        assert not bob.hide_viewport and not bob.hide_render
    with pytest.raises(RuntimeError, match="New clip: 'Ann Again.001' is not in the scene.*link it"):
        play.bake(bob)
    bpy.context.scene.collection.objects.link(bob.motion_loom_transfer.performed)
    play.toggle(bob)
    np.testing.assert_allclose(follows_as_baked(bob), expected, atol=SAME)


def test_what_the_user_made_stays_as_it_is():
    """Through all steps and back."""
    ann, bob, new = play.add_scene()
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    before = map_play.everything()
    for button in ("fit", "densify", "train"):
        press(bob, button)
    bob.motion_loom_transfer.performed = new
    play.toggle(bob)
    bpy.context.scene.frame_set(17)
    bpy.context.scene.frame_set(1)
    play.toggle(bob)
    assert map_play.everything() == before
