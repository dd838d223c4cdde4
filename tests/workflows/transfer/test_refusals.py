"""Transfer on input that cannot be used: the reason names the culprit and the way out, and nothing is changed."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.scene.part_groups import write_parts
from bl_ext.devrepo.motion_loom.workflows.transfer import read
from bl_ext.devrepo.motion_loom.workflows.transfer.model import dense_of

from tests import map_play, mesh_play
from tests import transfer_play as play
from tests.transfer_play import FRAMES, PAIRS

pytestmark = pytest.mark.usefixtures("no_traceback")

SAME = 1e-6


def refused(ob, button, match, **arguments):
    return mesh_play.refused(ob, "motion_loom_transfer", button, match, **arguments)


def step_refused(ob, step, match):
    return refused(ob, step, match, workflow="transfer")


def add_unread():
    """Ann and Bob with a clip, pairs and parts, all ready to be read."""
    ann, bob, new = play.add_scene()
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    return ann, bob, new


def other_faces(ob):
    """Give a mesh other faces among the same vertices."""
    mesh = bpy.data.meshes.new("Rewired")
    faces = [tuple(face.vertices) for face in ob.data.polygons]
    mesh.from_pydata([tuple(vertex.co) for vertex in ob.data.vertices], [], [face[1:] for face in faces])
    ob.data = mesh
    return ob


def moved_by_modifier(ob):
    """A mesh that only stepping through frames can read."""
    wave = ob.modifiers.new("Wave", "WAVE")
    wave.height, wave.speed = 0.1, 0.3
    return ob


def gain_vertices(ob):
    """Modifiers that add vertices before one that deforms over time."""
    ob.modifiers.new("Subdivision", "SUBSURF")
    moved_by_modifier(ob)


def camera():
    found = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(found)
    return found


def elsewhere(ob):
    """Move an object to a scene that is not shown."""
    other = bpy.data.scenes.new("Other")
    for collection in list(ob.users_collection):
        collection.objects.unlink(ob)
    other.collection.objects.link(ob)


# ------------------------------------------------------------------------------------------------- subjects and clips


def test_no_source():
    _, bob, _ = add_unread()
    bob.motion_loom_transfer.source = None
    step_refused(bob, "fit", "Choose the source subject")
    refused(bob, "transfer_add_clip", "Choose the source subject")
    refused(bob, "transfer_suggest_parts", "Choose the source subject")


def test_the_source_is_the_target():
    _, bob, _ = add_unread()
    bob.motion_loom_transfer.source = bob
    step_refused(bob, "fit", "'Bob' cannot be its own source")
    refused(bob, "transfer_add_clip", "'Bob' cannot be its own source")
    refused(bob, "transfer_suggest_parts", "'Bob' cannot be its own source")


@pytest.mark.parametrize("kind", ("camera", "empty"))
def test_a_source_that_is_no_mesh(kind):
    _, bob, _ = add_unread()
    other = camera() if kind == "camera" else bpy.data.objects.new("Camera", None)
    bob.motion_loom_transfer.source = other
    for button in ("transfer_add_clip", "transfer_suggest_parts"):
        refused(bob, button, f"'Camera' is of type {kind.upper()}; choose a mesh")
    step_refused(bob, "fit", f"'Camera' is of type {kind.upper()}; choose a mesh")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_clip_that_is_no_mesh(of):
    _, bob, _ = add_unread()
    setattr(bob.motion_loom_transfer.clips[0], of, camera())
    step_refused(bob, "fit", f"Clip 1, {of}: 'Camera' is of type CAMERA; choose a mesh")


def test_no_clips():
    _, bob, _ = add_unread()
    bob.motion_loom_transfer.clips.clear()
    step_refused(bob, "fit", "Add a pair of clips")
    for button in ("transfer_remove_clip", "transfer_add_pair", "transfer_suggest_pair", "transfer_remove_pair"):
        refused(bob, button, "no clips yet")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_clip_of_other_vertices(of):
    ann, bob, _ = add_unread()
    setattr(bob.motion_loom_transfer.clips[0], of, bob if of == "source" else ann)
    subject, other = (ann, bob) if of == "source" else (bob, ann)
    match = f"Clip 1, {of}: '{other.name}' has {len(other.data.vertices)} vertices and '{subject.name}' has"
    step_refused(bob, "fit", match)


@pytest.mark.parametrize("of", ("source", "target"))
@pytest.mark.parametrize("number", (1, 2))
def test_a_clip_of_other_faces(of, number):
    """Of the same number of vertices: told from the subject, and from the other clips."""
    ann, bob, _ = add_unread()
    shape = play.SOURCE if of == "source" else play.TARGET
    stranger = play.add_subject("Stranger", shape, np.arange(FRAMES), groups=False)
    vertices, faces = play.shapes(shape, np.arange(FRAMES))
    rewired = map_play.add_target("Rewired", vertices, np.roll(faces, 1, axis=0))
    del stranger
    if number == 2:
        play.add_clip(bob, ann, PAIRS)
    setattr(bob.motion_loom_transfer.clips[number - 1], of, rewired)
    subject = ann if of == "source" else bob
    step_refused(bob, "fit", f"Clip {number}.*'Rewired' has other faces than '{subject.name}'")


@pytest.mark.parametrize("of", ("source", "target"))
def test_clips_of_one_frame(of):
    _, bob, _ = add_unread()
    clip = bob.motion_loom_transfer.clips[0]
    setattr(clip, f"{of}_start", 7)
    setattr(clip, f"{of}_end", 7)
    step_refused(bob, "fit", f"Clip 1, {of}: frames 7 to 7 are fewer than two")


@pytest.mark.parametrize("of", ("source", "target"))
def test_an_endless_clip(of):
    _, bob, _ = add_unread()
    setattr(bob.motion_loom_transfer.clips[0], f"{of}_end", 2_000_000_000)
    step_refused(bob, "fit", f"Clip 1, {of}: the range of .* goes beyond the frames that Blender has")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_clip_without_an_object(of):
    _, bob, _ = add_unread()
    setattr(bob.motion_loom_transfer.clips[0], of, None)
    step_refused(bob, "fit", "Clip 1: choose a mesh for each subject")


@pytest.mark.parametrize("remove", ("operator", "data", "to another scene"))
def test_the_object_of_a_clip_is_deleted(remove):
    _, bob, new = add_unread()
    bob.motion_loom_transfer.clips[0].source = new
    if remove == "data":
        bpy.data.objects.remove(new)
        step_refused(bob, "fit", "Clip 1: choose a mesh")
        return
    if remove == "operator":
        map_play.activate(new)
        bpy.ops.object.delete()
    else:
        elsewhere(new)
    step_refused(bob, "fit", "Clip 1, source: 'Ann Again' is not in the scene 'Scene'; link it")


def test_a_live_copy_as_a_clip():
    _, bob, new = add_unread()
    map_play.activate(new)
    bob.motion_loom_transfer.clips[0].source = live_mesh.make(bpy.context, new)
    step_refused(bob, "fit", r"Clip 1, source: 'Ann Again \(live\)' is the live copy.*bake it")


@pytest.mark.parametrize("hidden", ("object", "collection", "excluded"))
def test_a_hidden_clip(hidden):
    """Shape keys are read all the same; what only stepping tells is not."""
    _, bob, new = add_unread()
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(new)
    bpy.context.scene.collection.objects.unlink(new)
    bob.motion_loom_transfer.clips[0].source = new
    if hidden == "object":
        new.hide_viewport = True
    elif hidden == "collection":
        collection.hide_viewport = True
    else:
        bpy.context.view_layer.layer_collection.children["Set"].exclude = True
    bpy.context.view_layer.update()
    map_play.activate(bob)
    map_play.press("fit", workflow="transfer")
    moved_by_modifier(new)
    step_refused(bob, "fit", "'Ann Again' is hidden, excluded")


@pytest.mark.parametrize("of", ("subject", "clip"))
def test_edit_mode(of):
    ann, bob, new = add_unread()
    bob.motion_loom_transfer.clips[0].source = new
    map_play.activate(ann if of == "subject" else new)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.objects.active = bob
    before = mesh_play.values_of(bob.motion_loom_transfer)
    name = "Ann" if of == "subject" else "Ann Again"
    with pytest.raises(RuntimeError, match=f"'{name}' is being edited; leave Edit Mode"):
        bpy.ops.motion_loom.fit(workflow="transfer")
    assert mesh_play.values_of(bob.motion_loom_transfer) == before
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("of", ("source", "target"))
def test_modifiers_that_add_vertices(of):
    ann, bob, _ = add_unread()
    gain_vertices(ann if of == "source" else bob)
    name = "Ann" if of == "source" else "Bob"
    step_refused(bob, "fit", f"Clip 1: the modifiers of '{name}' add or remove vertices.*end of the stack")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_clip_that_stands_still(of):
    ann, bob, _ = add_unread()
    (ann if of == "source" else bob).data.shape_keys.animation_data_clear()
    step_refused(bob, "fit", f"'{'Ann' if of == 'source' else 'Bob'}' does not change.*stands still")


def test_vertices_that_are_no_numbers():
    vertices, faces = play.shapes(play.SOURCE, np.arange(FRAMES))
    vertices[11, 5] = np.nan
    _, bob, _ = add_unread()
    bob.motion_loom_transfer.clips[0].source = map_play.add_target("Broken", vertices, faces)
    step_refused(bob, "fit", "'Broken' has vertices that are not numbers at frame 1[12]")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_subject_whose_scale_is_zero(of):
    ann, bob, _ = add_unread()
    (ann if of == "source" else bob).scale.z = 0.0
    step_refused(bob, "fit", f"'{'Ann' if of == 'source' else 'Bob'}'.*scale")


def test_no_mesh_is_active():
    play.add_read()
    bpy.context.view_layer.objects.active = camera()
    for button in ("fit", "densify", "train", "live", "bake"):
        with pytest.raises(RuntimeError, match="Select the mesh"):
            getattr(bpy.ops.motion_loom, button)(workflow="transfer")
    for button in ("add_clip", "add_part", "suggest_parts", "add_pair", "show_pair"):
        with pytest.raises(RuntimeError, match="Select the mesh"):
            getattr(bpy.ops.motion_loom, f"transfer_{button}")()


# -------------------------------------------------------------------------------------------------------------- parts


def regrouped(ob, change):
    """Change the masks (K, V) of a subject's parts in place."""
    masks = play.masks(play.TARGET if ob.name == "Bob" else play.SOURCE)
    change(masks)
    write_parts(ob, play.PARTS, masks)


def bare(masks):
    masks[2, -1] = False


def apart(masks):
    masks[0, masks[1]] = False


def stray(masks):
    masks[1] |= masks[0] & (np.cumsum(masks[0]) > masks[0].sum() * 0.45) & ~masks[2]


def limbs_meet(masks):
    masks[1] |= masks[2] & masks[0]


def empty(masks):
    masks[1] = False
    masks[0] |= masks.sum(axis=0) == 0


def swallowed(masks):
    masks[2] |= masks[0]
    masks[2] &= ~masks[1]
    masks[0] &= masks[2]


def everywhere(masks):
    masks[0] = True


PARTS = {
    "left out": (bare, "(vertex is|vertices are|face is|faces are) in no part"),
    "apart": (apart, "'Left' does not overlap 'Torso'"),
    "in two pieces": (stray, "'Left' is in 2 pieces"),
    "limbs overlap": (limbs_meet, "'Left' and 'Right' overlap in"),
    "empty": (empty, "'Left' has no vertex"),
    "the torso swallowed": (swallowed, "'(Left|Right)'.*'Torso'"),
    "limbs in the torso": (everywhere, "'Left' lies wholly in 'Torso'"),
}


@pytest.mark.parametrize("name", ("Ann", "Bob"))
@pytest.mark.parametrize("what", PARTS)
def test_parts_that_cannot_be(what, name):
    _, bob, _ = add_unread()
    change, match = PARTS[what]
    regrouped(bpy.data.objects[name], change)
    step_refused(bob, "fit", f"'{name}': .*({match})")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_part_without_a_group(of):
    _, bob, _ = add_unread()
    setattr(bob.motion_loom_transfer.parts[1], f"{of}_group", "")
    step_refused(bob, "fit", "Part 'Left': choose a vertex group of each subject")


@pytest.mark.parametrize("name", ("Ann", "Bob"))
def test_a_group_that_is_gone(name):
    _, bob, _ = add_unread()
    ob = bpy.data.objects[name]
    ob.vertex_groups.remove(ob.vertex_groups["Left"])
    step_refused(bob, "fit", f"'{name}' has no vertex group 'Left'")


def test_one_group_for_two_parts():
    _, bob, _ = add_unread()
    bob.motion_loom_transfer.parts[2].source_group = "Left"
    step_refused(bob, "fit", "Parts 'Left' and 'Right' have the same vertex group 'Left'")


def stiff(name, shape, style=0.0, left_moves=True):
    """A subject with a stiff torso, and a left limb that moves or not."""
    time = np.arange(FRAMES)
    angles, places, yaws = play.motion(time, style)
    if not left_moves:
        angles[:, 0] = 0.3
    found = [play.body(shape, *pose)[0] for pose in zip(angles, places, yaws, strict=True)]
    ob = map_play.add_target(name, np.stack(found), play.body(shape, (0, 0))[1])
    along = np.repeat(np.linspace(-1, 1, shape[0]), shape[1])
    write_parts(ob, play.PARTS, np.stack((np.abs(along) < 0.3, along < -0.2, along > 0.2)))
    return ob


def test_a_part_that_never_moves():
    _, bob, _ = add_unread()
    settings = bob.motion_loom_transfer
    settings.source = settings.clips[0].source = stiff("Stiff", play.SOURCE, left_moves=False)
    step_refused(bob, "fit", "'Stiff': 'Left' never moves in the clips.*add a clip")


@pytest.mark.parametrize("both", (False, True))
def test_a_torso_may_be_stiff(both):
    """As those of many rigs are, of one subject or both: read, trained, live and baked."""
    _, bob, _ = add_unread()
    settings = bob.motion_loom_transfer
    settings.source = settings.clips[0].source = settings.performed = source = stiff("Stiff", play.SOURCE)
    if both:
        bob = stiff("Stiff too", play.SOURCE, 1.0)
        play.add_clip(bob, source, [(1, 1), (9, 9), (18, 18), (27, 27), (40, 40)])
        play.add_parts(bob)
        settings = bob.motion_loom_transfer
        settings.performed = source
    map_play.activate(bob)
    map_play.press("fit", workflow="transfer")
    map_play.press("densify", workflow="transfer")
    map_play.press("train", workflow="transfer")
    frames = (1, 13, 22, 31)
    truth = map_play.shown(bob, frames)
    play.toggle(bob)
    assert play.status(bob).problem is None
    live = map_play.shown(settings.live_copy, frames)
    np.testing.assert_allclose(map_play.shown(play.bake(bob), frames), live, atol=1e-4)
    if both:
        away = (live - live.mean(axis=1, keepdims=True)) - (truth - truth.mean(axis=1, keepdims=True))
        assert np.sqrt(np.square(away).sum(axis=2).mean()) < 0.03 * np.ptp(truth[0], axis=0).max()


def test_removing_parts():
    _, bob, _ = add_unread()
    settings = bob.motion_loom_transfer
    settings.active_part = 2
    map_play.activate(bob)
    for left in ("Torso Left", "Torso", ""):
        map_play.press("transfer_remove_part")
        assert " ".join(part.name for part in settings.parts) == left
    refused(bob, "transfer_remove_part", "no parts")


# -------------------------------------------------------------------------------------------------------------- pairs


def train_refused(bob, match):
    for step in ("densify", "train"):
        text = step_refused(bob, step, match)
    return text


@pytest.mark.parametrize("count", (0, 1))
def test_fewer_than_two_pairs(count):
    _, bob, _ = play.add_read(PAIRS[:count])
    train_refused(bob, "Clip 1: add two pairs or more")


BAD_PAIRS = {
    "out of order": (((1, 1), (9, 20), (18, 12), (40, 40)), "9=20 and 18=12 are out of order"),
    "one frame twice": (((1, 1), (9, 12), (9, 14), (40, 40)), "9=12 and 9=14 are out of order"),
    "one answer twice": (((1, 1), (9, 12), (15, 12), (40, 40)), "9=12 and 15=12 are out of order"),
    "the same pair twice": (((1, 1), (9, 12), (9, 12), (40, 40)), "9=12 and 9=12 are out of order"),
    "before the source": (((-3, 1), (40, 40)), "pair -3=1: frame -3 is outside of the source's clip, 1 to 40"),
    "after the target": (((1, 1), (40, 41)), "pair 40=41: frame 41 is outside of the target's clip, 1 to 40"),
    "one moment": (((3.2, 3), (4.4, 5)), "no two whole frames of the source between its pairs"),
    "no number": (((1, 1), (np.nan, 9), (40, 40)), "pair nan=9: frame nan is outside"),
    "endless": (((1, 1), (9, np.inf), (40, 40)), "pair 9=(inf|3.40282e.38): frame (inf|3.40282e.38) is outside"),
}


@pytest.mark.parametrize("what", BAD_PAIRS)
def test_pairs_that_cannot_be(what):
    pairs, match = BAD_PAIRS[what]
    _, bob, _ = play.add_read(pairs)
    train_refused(bob, f"Clip 1.*{match}")


def test_a_frame_that_a_scene_cannot_have():
    _, bob, _ = play.add_read(((np.nan, 1), (2, np.inf)))
    for bob.motion_loom_transfer.clips[0].active_pair in (0, 1):
        refused(bob, "transfer_show_pair", "Clip 1.*cannot have; change or remove")


def test_no_clip_in_use():
    _, bob, _ = play.add_read()
    bob.motion_loom_transfer.clips[0].use = False
    train_refused(bob, "Switch a clip on")


def test_two_clips_of_which_one_cannot_be():
    """The number of the clip is told; switched off, it does not matter."""
    ann, bob, _ = play.add_read()
    clip = play.add_clip(bob, ann, PAIRS[:1])
    train_refused(bob, "Clip 2 was changed since it was read")
    map_play.press("fit", workflow="transfer")
    train_refused(bob, "Clip 2: add two pairs or more")
    clip.use = False
    map_play.press("train", workflow="transfer")


@pytest.mark.parametrize("what", ("source", "target", "source_start", "target_end"))
def test_a_clip_changed_after_reading(what):
    _, bob, new = play.add_trained()
    clip = bob.motion_loom_transfer.clips[0]
    twin = play.add_subject("Bobby", play.TARGET, play.warped(), 1.0)
    setattr(clip, what, {"source": new, "target": twin}.get(what, 3))
    train_refused(bob, "Clip 1 was changed since it was read: press Read Clips")
    for button in ("transfer_add_pair", "transfer_suggest_pair"):
        refused(bob, button, "Press Read Clips first")


def test_pairs_before_reading():
    _, bob, _ = add_unread()
    for button in ("transfer_add_pair", "transfer_suggest_pair"):
        refused(bob, button, "Press Read Clips first")
    for step in ("densify", "train", "live", "bake"):
        step_refused(bob, step, "Press Read Clips first")


def test_adding_pairs():
    """In the order of time whatever the order of making; the new one is active, one of the same frame replaced."""
    _, bob, _ = play.add_read(())
    settings, clip = bob.motion_loom_transfer, bob.motion_loom_transfer.clips[0]
    for source, target in ((30, 33), (1, 1), (12, 14), (20.5, 22), (12, 15)):
        bpy.context.scene.frame_set(int(source), subframe=source % 1)
        settings.target_frame = target
        map_play.press("transfer_add_pair")
        pair = clip.pairs[clip.active_pair]
        assert (pair.source_frame, pair.target_frame) == (source, target)
    assert [pair.source_frame for pair in clip.pairs] == [1, 12, 20.5, 30]
    bpy.context.scene.frame_set(25)
    settings.target_frame = 3
    refused(bob, "transfer_add_pair", "Clip 1: 25=3 contradicts the pair (12=15|20.5=22): time must go on")
    settings.target_frame = 41
    refused(bob, "transfer_add_pair", "Frame 41 is outside of the target's clip, 1 to 40")
    settings.target_frame = np.nan
    refused(bob, "transfer_add_pair", "Frame nan is outside of the target's clip")
    bpy.context.scene.frame_set(77)
    refused(bob, "transfer_add_pair", "Frame 77 is outside of the source's clip, 1 to 40")
    refused(bob, "transfer_remove_pair", "Clip 1 has no pair 8", index=7)
    clip.active_pair = -1
    refused(bob, "transfer_show_pair", "has no pair 0")


def test_suggestions_end_where_nothing_more_is_told():
    """Pressed again and again, without a pair and with one at every frame."""
    _, bob, _ = play.add_read(())
    clip, seen = bob.motion_loom_transfer.clips[0], []
    for _ in range(8):
        map_play.press("transfer_suggest_pair")
        seen.append(bpy.context.scene.frame_current)
        assert 1 <= bob.motion_loom_transfer.target_frame <= FRAMES
    assert {1, 40} <= set(seen) and len(set(seen)) >= 4
    for frame in range(1, FRAMES + 1):
        pair = clip.pairs.add()
        pair.source_frame = pair.target_frame = frame
    refused(bob, "transfer_suggest_pair", "Clip 1: no frame would tell more")


def test_a_kernel_matrix_that_is_singular():
    """One pose of the source answers to two of the target: all kernels cope, with the least noise too."""
    ann, bob, new = play.add_read()
    play.add_clip(bob, ann, [(source, 41 - target) for source, target in PAIRS[::-1]])
    settings = bob.motion_loom_transfer
    settings.performed = new
    settings.clips[1].target = play.add_subject("Back", play.TARGET, play.warped()[::-1], 1.0)
    for pair, (source, _) in zip(settings.clips[1].pairs, PAIRS, strict=True):
        pair.source_frame, pair.target_frame = source, 1 + 39 * (source - 1) / 39
    map_play.press("fit", workflow="transfer")
    map_play.press("train", workflow="transfer")
    play.toggle(bob)
    for settings.kernel in ("NEURAL_NETWORK", "SQUARED_EXPONENTIAL"):
        settings.noise = 1e-6
        map_play.activate(settings.live_copy)
        map_play.press("train", workflow="transfer")
        assert np.isfinite(map_play.shown(settings.live_copy, (12,))).all() and play.status(bob).problem is None


def test_stretches_that_are_too_steep_are_told(capfd):
    _, bob, _ = play.add_read(((1, 1), (4, 30), (40, 40)))
    bob.motion_loom_transfer.stretch = 1
    map_play.press("train", workflow="transfer")
    assert "clip 1: time runs evenly in source frames 1 to 4" in capfd.readouterr().out
    [(_, pairs)] = dense_of(bob)
    assert np.isfinite(pairs.target_rows).all()


# ------------------------------------------------------------------------------------------------- what was read


@pytest.mark.parametrize("which", ("subjects", "learnt", "clip"))
def test_what_is_stored_is_damaged(which, tmp_path):
    _, bob, _ = play.add_live()
    play.toggle(bob)
    mesh = getattr(bob.motion_loom_transfer, which)
    mesh.vertices[len(mesh.vertices) // 2].co.x += 1.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "damaged.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "damaged.blend"))
    bob = bpy.data.objects["Bob"]
    if which == "clip":
        play.toggle(bob)  # it is read again
        assert map_play.shown(bob.motion_loom_transfer.live_copy, (3,)).size and play.status(bob).problem is None
        return
    step_refused(bob, "live", "damaged")
    bob.motion_loom_transfer.bake_kind = "ABSOLUTE_KEYS"
    step_refused(bob, "bake", "damaged")
    map_play.press("fit", workflow="transfer")
    map_play.press("train", workflow="transfer")
    play.toggle(bob)
    assert play.status(bob).problem is None


def test_the_topology_is_changed_after_reading():
    _, bob, _ = play.add_trained()
    former = bob.data
    bob.data = bob.data.copy()
    bob.shape_key_clear()
    faces = [tuple(face.vertices) for face in former.polygons]
    bob.data.clear_geometry()
    bob.data.from_pydata([tuple(vertex.co) for vertex in former.vertices], [], faces[:-1])
    bob.motion_loom_transfer.bake_kind = "ABSOLUTE_KEYS"
    for step in ("live", "bake"):
        step_refused(bob, step, "'Bob' had 240 vertices and 230 faces when its clips were read.*press Read Clips")
    bob.data = former
    play.toggle(bob)
    assert play.status(bob).problem is None


def test_pairs_changed_after_training_are_told():
    _, bob, _ = play.add_trained()
    bob.motion_loom_transfer.clips[0].pairs[2].target_frame += 1
    play.toggle(bob)
    assert "since Train" in play.status(bob).note and play.status(bob).problem is None


# ------------------------------------------------------------------------------------------------------- the new clip


def both_refused(bob, match):
    bob.motion_loom_transfer.bake_kind = "ABSOLUTE_KEYS"
    for step in ("live", "bake"):
        step_refused(bob, step, match)


def test_no_new_clip():
    _, bob, _ = play.add_trained()
    bob.motion_loom_transfer.performed = None
    both_refused(bob, "Choose the new clip")


def test_a_new_clip_of_other_vertices():
    _, bob, _ = play.add_trained()
    bob.motion_loom_transfer.performed = map_play.add_target()
    both_refused(bob, "'Worm' has 48 vertices and the source subject has 136")


def test_a_new_clip_whose_scale_is_zero():
    _, bob, new = play.add_trained()
    new.scale = (0.0, 0.0, 0.0)
    both_refused(bob, f"'{new.name}' has a scale of zero at frame")


def mirror_by_parent(ob):
    parent = bpy.data.objects.new("Mirror", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (-1.0, 1.0, 1.0)
    ob.parent = parent


def mirror_by_scale(ob):
    ob.scale = (0.01, 0.01, -0.01)


@pytest.mark.parametrize("mirror", (mirror_by_parent, mirror_by_scale))
def test_a_new_clip_that_is_mirrored(mirror):
    _, bob, new = play.add_trained()
    mirror(new)
    both_refused(bob, "'Ann Again' is mirrored, unlike the clips .* negative scale")


def test_a_source_that_is_mirrored_in_all_its_clips():
    ann, bob, new = add_unread()
    for ob in (ann, new):
        ob.scale = (-1.0, 1.0, 1.0)
    for step in ("fit", "train"):
        play.press(bob, step)
    bob.motion_loom_transfer.performed = new
    play.toggle(bob)
    assert play.status(bob).problem is None
    new.scale = (1.0, 1.0, 1.0)
    play.toggle(bob)
    step_refused(bob, "live", "'Ann Again' is mirrored")


def test_a_new_clip_of_other_faces():
    """As many vertices, another subject: its numbers would mean nothing."""
    _, bob, _ = play.add_trained()
    vertices, faces = play.shapes(play.SOURCE, np.arange(FRAMES))
    bob.motion_loom_transfer.performed = map_play.add_target("Rewired", vertices, faces[::-1])
    both_refused(bob, "'Rewired' has other faces than the source subject")


@pytest.mark.parametrize("remove", ("operator", "data", "to another scene"))
def test_the_new_clip_is_deleted(remove):
    _, bob, new = play.add_trained()
    if remove == "data":
        bpy.data.objects.remove(new)
        both_refused(bob, "Choose the new clip")
        return
    if remove == "operator":
        map_play.activate(new)
        bpy.ops.object.delete()
    else:
        elsewhere(new)
    both_refused(bob, "New clip: 'Ann Again' is not in the scene 'Scene'; link it")


@pytest.mark.parametrize("what", ("camera", "live copy", "the target", "edited", "hidden", "gains vertices"))
def test_new_clips_that_cannot_be(what):
    _, bob, new = play.add_trained()
    settings = bob.motion_loom_transfer
    if what == "camera":
        settings.performed = camera()
        both_refused(bob, "New clip: 'Camera' is of type CAMERA")
    if what == "live copy":
        settings.performed = live_mesh.make(bpy.context, new)
        both_refused(bob, "New clip: 'Ann Again .live.' is the live copy")
    if what == "the target":
        settings.performed = bob
        both_refused(bob, "'Bob' (has 240 vertices|cannot be its own new clip)")
    if what == "edited":
        map_play.activate(new)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.context.view_layer.objects.active = bob
        with pytest.raises(RuntimeError, match="'Ann Again' is being edited"):
            bpy.ops.motion_loom.live(workflow="transfer")
        bpy.context.view_layer.objects.active = new
        bpy.ops.object.mode_set(mode="OBJECT")
    if what == "hidden":
        moved_by_modifier(new).hide_viewport = True
        bpy.context.view_layer.update()
        both_refused(bob, "'Ann Again' is hidden, excluded")
    if what == "gains vertices":
        gain_vertices(new)
        both_refused(bob, "modifiers of 'Ann Again' add or remove vertices")


def test_a_range_of_the_new_clip_that_is_none():
    _, bob, _ = play.add_trained()
    settings = bob.motion_loom_transfer
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 9, 3
    both_refused(bob, "range of the new clip, 9 to 3, is empty")


def test_a_range_of_the_new_clip_that_is_endless():
    _, bob, _ = play.add_trained()
    settings = bob.motion_loom_transfer
    settings.use_performed_range, settings.performed_end = True, 2_000_000_000
    both_refused(bob, "The range of the new clip, .* to 2,000,000,000, goes beyond the frames")
    settings.performed_end = 1_000_000
    both_refused(bob, "The range of the new clip, .* to 1,000,000, has more than the 100,000 frames")


def test_a_new_clip_of_too_many_positions(monkeypatch):
    _, bob, _ = play.add_trained()
    monkeypatch.setattr(read, "_MOST_NUMBERS", 100)
    both_refused(bob, "The new clip '.*' has .* frames of .* vertices, which are too many to be read together")


def test_a_range_to_bake_that_is_empty():
    _, bob, _ = play.add_trained()
    settings = bob.motion_loom_transfer
    settings.bake_kind = "ABSOLUTE_KEYS"
    settings.use_bake_range, settings.bake_start, settings.bake_end = True, 9, 3
    step_refused(bob, "bake", "9 to 3 is empty.*1 to 30")


def test_a_cache_file_of_an_unsaved_scene():
    _, bob, _ = play.add_trained()
    bob.motion_loom_transfer.bake_kind = "PC2"
    step_refused(bob, "bake", "Save the file first")


def test_a_bake_that_fails_leaves_what_was_read(tmp_path):
    _, bob, _ = play.add_live()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bob.motion_loom_transfer.bake_kind, bob.motion_loom_transfer.bake_folder = "PC2", "/proc/nothing"
    step_refused(bob, "bake", "folder")


def test_nothing_learnt():
    _, bob, new = play.add_read()
    bob.motion_loom_transfer.performed = new
    both_refused(bob, "has learnt nothing yet; press Train")


@pytest.mark.parametrize("channel", ("hide_viewport", "hide_render"))
def test_a_target_whose_visibility_is_keyed(channel):
    _, bob, _ = play.add_trained()
    bob.keyframe_insert(channel, frame=1)
    step_refused(bob, "live", "visibility of 'Bob' is animated")
    play.bake(bob)


# ---------------------------------------------------------------------------------------------------------- libraries


def linked(tmp_path, names, override=False):
    """Objects of a trained scene as they come from a library, in a file without the others."""
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    for name in names:
        collection.objects.link(bpy.data.objects[name])
        bpy.context.scene.collection.objects.unlink(bpy.data.objects[name])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, there):
        there.collections = ["Set"]
    bpy.context.scene.collection.children.link(there.collections[0])
    if override:
        there.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    objects = [ob for ob in bpy.context.scene.objects if (ob.library is None) == override]
    return {ob.name: ob for ob in objects}


def test_a_linked_target(tmp_path):
    play.add_trained()
    bob = linked(tmp_path, ("Ann", "Bob", "Ann Again"))["Bob"]
    bpy.context.view_layer.objects.active = bob
    for button in ("fit", "train", "densify", "live", "bake"):
        with pytest.raises(RuntimeError, match="'Bob' is linked"):
            getattr(bpy.ops.motion_loom, button)(workflow="transfer")
    for button in ("add_clip", "add_part", "add_pair", "suggest_pair", "suggest_parts"):
        with pytest.raises(RuntimeError, match="'Bob' is linked"):
            getattr(bpy.ops.motion_loom, f"transfer_{button}")()


def test_a_linked_source(tmp_path):
    """It is read where it is; only writing groups into it is refused."""
    play.add_scene()
    there = linked(tmp_path, ("Ann", "Ann Again"))
    bob = play.add_subject("Bob", play.TARGET, play.warped(), 1.0)
    play.add_clip(bob, there["Ann"], PAIRS)
    play.add_parts(bob)
    refused(bob, "transfer_suggest_parts", "'Ann'.*linked")
    map_play.press("fit", workflow="transfer")
    map_play.press("train", workflow="transfer")
    bob.motion_loom_transfer.performed = there["Ann Again"]
    play.toggle(bob)
    followed = map_play.shown(bob.motion_loom_transfer.live_copy, np.arange(1, 31))
    assert play.status(bob).problem is None
    np.testing.assert_allclose(map_play.shown(play.bake(bob), np.arange(1, 31)), followed, atol=SAME)
    path = str(tmp_path / "user.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bob = bpy.data.objects["Bob"]
    again = map_play.shown(bob.motion_loom_transfer.live_copy, np.arange(1, 31))
    np.testing.assert_allclose(again, followed, atol=SAME)
    assert play.status(bob).problem is None


def test_an_overridden_target(tmp_path):
    """All is done on it, and saved with the file that overrides it."""
    play.add_scene()
    bob = linked(tmp_path, ("Ann", "Bob", "Ann Again"), override=True)["Bob"]
    ann, new = bpy.context.scene.objects["Ann"], bpy.context.scene.objects["Ann Again"]
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    map_play.press("fit", workflow="transfer")
    map_play.press("densify", workflow="transfer")
    map_play.press("train", workflow="transfer")
    bob.motion_loom_transfer.performed = new
    play.toggle(bob)
    followed = map_play.shown(bob.motion_loom_transfer.live_copy, np.arange(1, 31))
    np.testing.assert_allclose(map_play.shown(play.bake(bob), np.arange(1, 31)), followed, atol=SAME)
    path = str(tmp_path / "user.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bob = next(ob for ob in bpy.context.scene.objects if ob.name == "Bob" and ob.library is None)
    again = map_play.shown(bob.motion_loom_transfer.live_copy, np.arange(1, 31))
    np.testing.assert_allclose(again, followed, atol=SAME)
    play.toggle(bob)
    assert not bob.hide_viewport


def test_two_objects_of_one_name(tmp_path):
    """A clip of a library and one of the file, called the same: each is what it is."""
    play.add_scene()
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    ann, bob, _ = play.add_scene()
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.objects = ["Ann"]
    twin = there.objects[0]
    bpy.context.scene.collection.objects.link(twin)
    play.add_parts(bob)
    play.add_clip(bob, ann, PAIRS)
    vertices, faces = play.shapes(play.SOURCE, 3.0 + np.arange(FRAMES))
    ann_keys = ann.data.shape_keys.key_blocks
    for block, shape in zip(ann_keys, vertices, strict=True):
        block.points.foreach_set("co", shape.astype(np.float32).ravel())
    second = play.add_clip(bob, ann, PAIRS)
    second.source = twin
    assert second.source.name == ann.name
    map_play.press("fit", workflow="transfer")
    first, other = (used.source.track.translations for used, _ in dense_of(bob))
    assert np.abs(first - other).max() > 1e-3


