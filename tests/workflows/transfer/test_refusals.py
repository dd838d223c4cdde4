"""Transfer on subjects, clips and parts that cannot be: the reason names culprit and way out, nothing is changed."""

import functools

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.scene.part_groups import write_parts
from bl_ext.devrepo.motion_loom.workflows.transfer import read

from tests import map_play, map_scenes, mesh_play, mesh_steps
from tests import transfer_play as play
from tests.mesh_play import put
from tests.mesh_steps import delete, hide, once, to_another_scene
from tests.objects import add_object
from tests.transfer_play import FRAMES, PAIRS, TRANSFER

pytestmark = pytest.mark.usefixtures("no_traceback")

refused = functools.partial(mesh_play.refused, TRANSFER)
SUBJECTS = {"source": "Ann", "target": "Bob"}
of_both = pytest.mark.parametrize("of", SUBJECTS)


def make_strangers():
    """Ann and Bob, trained, among objects that cannot be what they are asked to be."""
    bob = play.make_trained()
    add_object("Camera", bpy.data.cameras.new("Camera"))
    add_object("Nobody")
    map_play.add_target()  # Worm
    map_scenes.add_mesh("Faceless", [(0, 0, 0), (1, 0, 0)], [])
    for subject, shape in (("Ann", play.SOURCE), ("Bob", play.TARGET)):
        vertices, faces = play.shapes(shape, np.arange(FRAMES))
        map_play.add_target(f"Rewired {subject}", vertices, np.roll(faces, 1, axis=0))
    vertices, faces = play.shapes(play.SOURCE, np.arange(FRAMES))
    vertices[11, 5] = np.nan
    map_play.add_target("Broken", vertices, faces)
    mesh_steps.activate(bob)
    return bob


@pytest.fixture
def bob():
    return once(make_strangers)


# ------------------------------------------------------------------------------------------------- subjects and clips


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"source": None}, "Choose the source subject"),
        ({"source": "Bob"}, "'Bob' cannot be its own source subject; choose another mesh"),
        ({"source": "Bob", "clips[0].source": None}, "'Bob' cannot be its own source subject"),  # said first
        ({"source": "Camera"}, "'Camera' is of type CAMERA; choose a mesh"),
        ({"source": "Nobody"}, "'Nobody' is of type EMPTY; choose a mesh"),
        ({"source": "Faceless"}, "'Faceless' has no faces; choose a mesh that has a surface"),
    ],
)
def test_source_subjects_that_cannot_be(bob, settings, changes, told):
    put(settings, changes)
    for button in ("fit", "transfer_add_clip", "transfer_suggest_parts"):
        refused(bob, button, told)


@of_both
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"": "Camera"}, "Clip 1, {of}: 'Camera' is of type CAMERA; choose a mesh"),
        ({"": None}, "Clip 1: choose a mesh for each subject"),
        ({"": "Worm"}, "Clip 1, {of}: 'Worm' has 48 vertices and '{name}' has (136|240)"),
        ({"": "Rewired {name}"}, "Clip 1.*'Rewired {name}' has other faces than '{name}'"),
        ({"_start": 7, "_end": 7}, "Clip 1, {of}: frames 7 to 7 are fewer than two"),
        ({"_start": 29, "_end": 1}, "Clip 1, {of}: the range 29 to 1 is empty; let it end after it starts"),
        ({"_end": 2_000_000_000}, "Clip 1, {of}: the range of .* goes beyond the frames that Blender has"),
    ],
)
def test_clips_that_cannot_be(bob, settings, of, changes, told):
    words = {"of": of, "name": SUBJECTS[of]}
    for end, value in changes.items():
        put(settings, {f"clips[0].{of}{end}": value.format(**words) if isinstance(value, str) else value})
    refused(bob, "fit", told.format(**words))


@of_both
def test_a_second_clip_of_other_faces(bob, settings, of):
    """Told from the subject as well as from the other clips."""
    play.add_clip(bob, settings.source, PAIRS)
    put(settings, {f"clips[1].{of}": f"Rewired {SUBJECTS[of]}"})
    refused(bob, "fit", f"Clip 2.*'Rewired {SUBJECTS[of]}' has other faces than '{SUBJECTS[of]}'")


def test_no_clips(bob, settings):
    settings.clips.clear()
    refused(bob, "fit", "Add a pair of clips")
    for button in ("transfer_remove_clip", "transfer_add_pair", "transfer_suggest_pair", "transfer_remove_pair"):
        refused(bob, button, "no clips yet")


def wave(ob):
    """What only stepping through frames can read."""
    modifier = ob.modifiers.new("Wave", "WAVE")
    modifier.height, modifier.speed = 0.1, 0.3


def gain_vertices(ob):
    ob.modifiers.new("Subdivision", "SUBSURF")
    wave(ob)


def edit(ob):
    mesh_steps.activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")


BROKEN = {
    "gains vertices": (gain_vertices, "Clip 1: the modifiers of '{name}' add or remove vertices.*end of the stack"),
    "stands still": (
        lambda ob: ob.data.shape_keys.animation_data_clear(), "'{name}' does not change.*stands still"
    ),
    "flat": (lambda ob: setattr(ob, "scale", (1.0, 1.0, 0.0)), "'{name}'.*scale"),
}  # fmt: skip


@of_both
@pytest.mark.parametrize("what", BROKEN)
def test_subjects_that_cannot_be_read(bob, of, what):
    change, told = BROKEN[what]
    name = SUBJECTS[of]
    change(bpy.data.objects[name])
    refused(bob, "fit", told.format(name=name))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda ob: delete(ob, "data"), "Clip 1: choose a mesh"),
        (delete, "Clip 1, source: 'Ann Again' is not in the scene 'Scene'; link it"),
        (to_another_scene, "Clip 1, source: 'Ann Again' is not in the scene 'Scene'; link it"),
        (edit, "'Ann Again' is being edited; leave Edit Mode"),
        (lambda _: edit(bpy.data.objects["Ann"]), "'Ann' is being edited; leave Edit Mode"),
    ],
)
def test_objects_of_clips_that_cannot_be_read(bob, settings, change, told):
    settings.clips[0].source = new = bpy.data.objects["Ann Again"]
    change(new)
    refused(bob, "fit", told)


@pytest.mark.parametrize("how", ("object", "collection", "excluded"))
def test_a_hidden_clip(bob, settings, how):
    """Shape keys are read all the same; what only stepping tells is not."""
    settings.clips[0].source = new = bpy.data.objects["Ann Again"]
    hide(new, how)
    play.press(bob, "fit")
    wave(new)
    refused(bob, "fit", "'Ann Again' is hidden, excluded")


def test_a_live_copy_and_what_is_no_number_as_clips(bob, settings):
    mesh_steps.activate(settings.performed)
    settings.clips[0].source = live_mesh.make(bpy.context, settings.performed)
    refused(bob, "fit", r"Clip 1, source: 'Ann Again \(live\)' is the live copy.*bake it")
    put(settings, {"clips[0].source": "Broken"})
    refused(bob, "fit", "'Broken' has vertices that are not numbers at frame 1[12]")


def test_a_target_without_faces(bob):
    faceless = bpy.data.objects["Faceless"]
    play.add_clip(faceless, bpy.data.objects["Ann"])
    faceless.motion_loom_transfer.part_count = 3
    refused(faceless, "fit", "'Faceless' has no faces; choose a mesh that has a surface")
    refused(faceless, "transfer_suggest_parts", "'Faceless'")


# -------------------------------------------------------------------------------------------------------------- parts


def bare(masks):
    masks[2, -1] = False


def stray(masks):
    masks[1] |= masks[0] & (np.cumsum(masks[0]) > masks[0].sum() * 0.45) & ~masks[2]


PARTS = {
    "left out": (bare, "(vertex is|vertices are|face is|faces are) in no part"),
    "in two pieces": (stray, "'Left' is in 2 pieces"),
}


@of_both
@pytest.mark.parametrize("what", PARTS)
def test_parts_that_cannot_be(bob, what, of):
    """change changes the masks (K, V) of a subject's parts in place."""
    change, told = PARTS[what]
    masks = play.masks(play.SOURCE if of == "source" else play.TARGET)
    change(masks)
    write_parts(bpy.data.objects[SUBJECTS[of]], play.PARTS, masks)
    refused(bob, "fit", f"'{SUBJECTS[of]}': .*({told})")


@of_both
def test_groups_that_cannot_be(bob, settings, of):
    ob = bpy.data.objects[SUBJECTS[of]]
    put(settings, {"parts[1].name": "Flipper", f"parts[1].{of}_group": ""})
    refused(bob, "fit", "Part 'Flipper': choose a vertex group of each subject")
    put(settings, {f"parts[1].{of}_group": "Right"})
    refused(bob, "fit", "Parts 'Flipper' and 'Right' have the same vertex group 'Right'")
    put(settings, {f"parts[1].{of}_group": "Left"})
    ob.vertex_groups.remove(ob.vertex_groups["Left"])
    refused(bob, "fit", f"Part 'Flipper': '{ob.name}' has no vertex group 'Left'; choose one that it has")


def test_a_part_that_never_moves(bob, settings):
    settings.source = settings.clips[0].source = play.add_stiff("Stiff", play.SOURCE, left_moves=False)
    refused(bob, "fit", "'Stiff': 'Left' never moves in the clips.*add a clip")


def test_removing_parts(bob, settings):
    settings.active_part = 2
    for left in ("Torso Left", "Torso", ""):
        mesh_steps.press("transfer_remove_part")
        assert " ".join(part.name for part in settings.parts) == left
    refused(bob, "transfer_remove_part", "no parts")


# ------------------------------------------------------------------------------------------------------- the new clip


def both_refused(bob, told):
    bob.motion_loom_transfer.bake_kind = "ABSOLUTE_KEYS"
    for step in ("live", "bake"):
        refused(bob, step, told)


RANGE = "use_performed_range", "performed_start", "performed_end"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"performed": None}, "Choose the new clip"),
        ({"performed": "Worm"}, "'Worm' has 48 vertices and the source subject has 136"),
        ({"performed": "Camera"}, "New clip: 'Camera' is of type CAMERA"),
        ({"performed": "Bob"}, "'Bob' (has 240 vertices|cannot be its own new clip)"),
        # As many vertices, another subject: its numbers would mean nothing.
        ({"performed": "Rewired Ann"}, "'Rewired Ann' has other faces than the source subject"),
        (dict(zip(RANGE, (True, 9, 3), strict=True)), "range of the new clip, 9 to 3, is empty"),
        (
            dict(zip(RANGE, (True, 1, 2_000_000_000), strict=True)),
            "The range of the new clip, .* to 2,000,000,000, goes beyond the frames",
        ),
        (
            dict(zip(RANGE, (True, 1, 1_000_000), strict=True)),
            "The range of the new clip, .* to 1,000,000, has more than the 100,000 frames",
        ),
    ],
)
def test_new_clips_that_cannot_be(bob, settings, changes, told):
    put(settings, changes)
    both_refused(bob, told)


def mirror_by_parent(ob):
    ob.parent = add_object("Mirror")
    ob.parent.scale = (-1.0, 1.0, 1.0)


def hide_waving(ob):
    wave(ob)
    hide(ob, "object")


MIRRORED = "'Ann Again' is mirrored, unlike the clips .* negative scale"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda ob: setattr(ob, "scale", (0.0, 0.0, 0.0)), "'Ann Again' has a scale of zero at frame"),
        (mirror_by_parent, MIRRORED),
        (lambda ob: setattr(ob, "scale", (0.01, 0.01, -0.01)), MIRRORED),
        (lambda ob: delete(ob, "data"), "Choose the new clip"),
        (delete, "New clip: 'Ann Again' is not in the scene 'Scene'; link it"),
        (to_another_scene, "New clip: 'Ann Again' is not in the scene 'Scene'; link it"),
        (edit, "'Ann Again' is being edited"),
        (hide_waving, "'Ann Again' is hidden, excluded"),
        (gain_vertices, "modifiers of 'Ann Again' add or remove vertices"),
    ],
)
def test_new_clips_that_cannot_be_read(bob, settings, change, told):
    change(settings.performed)
    both_refused(bob, told)


def test_a_live_copy_as_the_new_clip(bob, settings):
    settings.performed = live_mesh.make(bpy.context, settings.performed)
    both_refused(bob, "New clip: 'Ann Again .live.' is the live copy")


def test_a_new_clip_of_too_many_positions(bob, monkeypatch):
    monkeypatch.setattr(read, "_MOST_NUMBERS", 100)
    both_refused(bob, "The new clip '.*' has .* frames of .* vertices, which are too many to be read together")


def test_a_source_that_is_mirrored_in_all_its_clips(bob, settings):
    for name in ("Ann", "Ann Again"):
        bpy.data.objects[name].scale = (-1.0, 1.0, 1.0)
    for step in ("fit", "train", "live"):
        play.press(bob, step)
    assert play.status(bob).problem is None
    settings.performed.scale = (1.0, 1.0, 1.0)
    play.toggle(bob)
    refused(bob, "live", "'Ann Again' is mirrored")
