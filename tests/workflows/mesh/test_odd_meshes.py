"""Meshes that are not clean, objects at odd places and odd names: live is finite, right, and what bakes show."""

import shlex

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.map import command as map_command
from bl_ext.devrepo.motion_loom.workflows.transfer import command as transfer_command

from tests import map_play, mesh_steps, transfer_play
from tests.map_play import MAP
from tests.mesh_play import PLACES
from tests.mesh_steps import SAME, saved, shown
from tests.transfer_play import TRANSFER

pytestmark = pytest.mark.usefixtures("no_traceback")

# Each changes shapes (F, V, 3) and faces, a list.


def flipped(shapes, faces):
    return shapes, [face[::-1] if number % 3 == 0 else face for number, face in enumerate(faces)]


def zero_area(shapes, faces):
    extra = np.repeat(shapes[:, 5:6], 2, axis=1)
    count = shapes.shape[1]
    return np.concatenate((shapes, extra), axis=1), [*faces, [5, count, count + 1]]


def slivers(shapes, faces):
    edge = shapes[:, :1] + 1e-7 * (shapes[:, 6:7] - shapes[:, :1])
    return np.concatenate((shapes, edge), axis=1), [*faces, [0, shapes.shape[1], 1]]


def two_parts(shapes, faces):
    count = shapes.shape[1]
    other = shapes[::-1] * [1, 1, 0.5] + [1.5, 0.0, 0.5]
    return np.concatenate((shapes, other), axis=1), [*faces, *[[corner + count for corner in face] for face in faces]]


def loose_vertices(shapes, faces):
    return np.concatenate((shapes, shapes[:, :2] + [0, 0, 2.0]), axis=1), faces


def double_faces(shapes, faces):
    return shapes, [*faces, *faces[:6]]


def collapses(shapes, faces):
    shapes = shapes.copy()
    shapes[12, 6:12] = shapes[12, 6:12].mean(axis=0)  # a ring of it closes for one frame
    return shapes, faces


def inside_out(shapes, faces):
    shapes = shapes.copy()
    shapes[8:12, :, 0] *= -1
    return shapes, faces


ODD = flipped, zero_area, slivers, loose_vertices, double_faces, collapses, inside_out


def centred(clip):
    return clip - clip.mean(axis=-2, keepdims=True)


@pytest.mark.parametrize("change", (*ODD, two_parts))
def test_targets_of_map_that_are_not_clean(change):
    shapes, faces = map_play.worm_shapes()
    ob = map_play.add_target("Worm", *change(shapes, faces.tolist()))
    map_play.learn(ob, map_play.add_dots())
    map_play.pair(ob, *map_play.PAIRS)
    MAP.toggle(ob)
    found, was = MAP.follows_as_baked(ob), shown(ob, np.arange(1, 25))
    source, target = map_play.PAIRS[0]
    assert np.linalg.norm(centred(found[source - 1]) - centred(was[target - 1]), axis=1).mean() < 0.3
    assert np.ptp(found, axis=1).max() < 2.5 * np.ptp(was, axis=1).max()


@pytest.mark.parametrize("change", ODD)
def test_subjects_of_transfer_that_are_not_clean(change):
    """Both of them, their bodies as one part; what is inside out for a while is told otherwise, but whole."""
    made = []
    for name, clip in transfer_play.CLIPS.items():
        vertices, faces = transfer_play.shapes(*clip)
        made.append(map_play.add_target(name, *change(vertices, faces.tolist())))
    ann, bob, new = made
    TRANSFER.toggle(transfer_play.learn(bob, ann, new, parts=False))
    truth = transfer_play.wanted()
    found = TRANSFER.follows_as_baked(bob)[:, : truth.shape[1]]
    allowed = 0.2 if change is inside_out else 0.03
    away = np.linalg.norm(centred(found) - centred(truth), axis=-1)
    assert away.mean() < allowed * np.ptp(truth[0], axis=0).max()


def put_at(ob, place, parented):
    if parented:
        holder = bpy.data.objects.new("Holder", None)
        bpy.context.scene.collection.objects.link(holder)
        holder.matrix_world = PLACES[place]
        ob.parent, ob.location = holder, (0.3, 0.2, 0.1)
    else:
        ob.matrix_world = PLACES[place]
    bpy.context.view_layer.update()


@pytest.mark.parametrize("parented", (False, True))
@pytest.mark.parametrize("place", PLACES)
def test_places_of_the_target_of_map(place, parented):
    """The result in the world does not depend on how the target's object is placed there."""
    ob = map_play.add_target()
    put_at(ob, place, parented)
    map_play.learn(ob, map_play.add_dots())
    ob.motion_loom_map.travel, ob.motion_loom_map.turn_ratio = "NONE", 0.0
    map_play.pair(ob, *map_play.PAIRS)
    MAP.toggle(ob)
    found = MAP.follows_as_baked(ob)[[source - 1 for source, _ in map_play.PAIRS]]
    there = shown(ob, [target for _, target in map_play.PAIRS])
    size = np.ptp(shown(ob, [1])[0], axis=0).max()
    assert np.abs(there.mean(axis=1) - found.mean(axis=1)).max() < 0.3 * size
    # The heading that was taken off, and two pairs that contradict each other: alike in every place.
    assert np.abs(centred(there) - centred(found)).max() < 0.31 * size
    MAP.toggle(ob)


@pytest.mark.parametrize("whose", ("Ann", "Bob"))
@pytest.mark.parametrize(("place", "parented"), [*((place, False) for place in PLACES), ("scaled", True)])
def test_places_of_the_subjects_of_transfer(place, whose, parented):
    """Asked for what it was learnt from, the target does in the world what it did, however objects are placed there."""
    ann, bob, _ = transfer_play.add_scene()
    put_at(bpy.data.objects[whose], place, parented)
    settings = transfer_play.learn(bob, ann, ann).motion_loom_transfer
    settings.hold_ground = settings.keep_clearance = False
    there = shown(bob, [target for _, target in transfer_play.PAIRS])
    TRANSFER.toggle(bob)
    found = TRANSFER.follows_as_baked(bob, [source for source, _ in transfer_play.PAIRS])
    size = np.ptp(there[0], axis=0).max()
    assert np.linalg.norm(centred(found) - centred(there), axis=-1).mean() < 0.05 * size
    assert np.linalg.norm((found - there).mean(axis=1), axis=-1).max() < 0.3 * size
    TRANSFER.toggle(bob)


# -------------------------------------------------------------------------------------------------------------- names

NAMES = "-worm", 'it\'s "odd" $HOME', "back\\slash; ls", "a/b:1..2=c 骨, d", "..", 63 * "x"


def performed_anew(words, workflow, name):
    """World vertices of what the command line makes of the file that is open."""
    assert jobs.main(words[words.index(workflow) :]) == 0
    ob = bpy.data.objects[name]
    settings = getattr(ob, f"motion_loom_{workflow}")
    return shown(settings.result, settings_frames(workflow))


def settings_frames(workflow):
    return {"map": MAP, "transfer": TRANSFER}[workflow].frames[::7]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_of_map(tmp_path, name):
    ob = MAP.add_ready()
    ob.name = name
    for number, empty in enumerate(bpy.data.collections["Dots"].objects):
        empty.name = f"{number} {name}"[:60]
    map_play.learn(ob)
    path, pairs = saved(tmp_path), str(tmp_path / "pairs.json")
    mesh_steps.press("map_save_pairs", filepath=pairs)
    mesh_steps.press("map_load_pairs", filepath=pairs)
    for kind in ("PC2", "PCA_KEYS", "ABSOLUTE_KEYS"):
        MAP.bake(ob, kind)
    MAP.toggle(ob)
    expected = MAP.followed(ob, settings_frames("map"))
    assert np.isfinite(expected).all() and MAP.healthy(ob)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    words = shlex.split(map_command.command_of(bpy.context, ob, "blender"))
    bpy.ops.wm.open_mainfile(filepath=words[2])
    np.testing.assert_allclose(performed_anew(words, "map", name), expected, atol=SAME)


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_of_transfer(tmp_path, name):
    """Of both subjects and of all groups, by the line that the panel copies and by one that names everything."""
    ann, bob, new = transfer_play.add_read()
    bob.name, ann.name, new.name = name, f"{name[:50]} A", f"{name[:50]} N"
    for ob in (ann, bob):
        for group in ob.vertex_groups:
            group.name = f"{group.name} {name}"[:60]
    settings = bob.motion_loom_transfer
    for part, group in zip(settings.parts, bob.vertex_groups, strict=True):
        part.source_group = part.target_group = group.name
    settings.performed = new
    for step in ("fit", "train", "live"):
        TRANSFER.press(bob, step)
    expected = TRANSFER.followed(bob, settings_frames("transfer"))
    assert TRANSFER.healthy(bob)
    path = saved(tmp_path)
    parts = [f"{part.name}={part.source_group}" for part in settings.parts]
    words = shlex.split(transfer_command.command_of(bpy.context, bob, "blender"))
    bpy.ops.wm.open_mainfile(filepath=words[2])
    np.testing.assert_allclose(performed_anew(words, "transfer", name), expected, atol=SAME)
    bpy.ops.wm.open_mainfile(filepath=path)
    words = [
        "transfer", f"--target={name}", f"--source={name[:50]} A", f"--clip={name[:50]} A:1..40={name}:1..40",
        "--pair", *(f"{source:g}={target:g}" for source, target in transfer_play.PAIRS),
        "--part", *parts, f"--perform={name[:50]} N", "--bake", "absolute-keys",
    ]  # fmt: skip
    np.testing.assert_allclose(performed_anew(words, "transfer", name), expected, atol=1e-5)
