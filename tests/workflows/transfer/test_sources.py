"""Transfer between subjects that move by other means than shape keys: cache files, armatures, keys of their objects.

The same motion in the world gives the same result, whatever plays it.
"""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import pc2
from bl_ext.devrepo.motion_loom.scene.part_groups import write_parts
from mathutils import Matrix

from tests import map_play, map_scenes, mesh_steps
from tests import transfer_play as play
from tests.mesh_steps import once, shown
from tests.objects import add_object
from tests.transfer_play import FRAMES, PAIRS, TRANSFER, healthy

pytestmark = pytest.mark.usefixtures("silent")

NEW = TRANSFER.frames


def cached(name, folder):
    """A mesh that a PC2 file moves."""
    vertices, faces = play.shapes(*play.CLIPS[name])
    ob = map_scenes.add_mesh(name, vertices[0], faces)
    path = folder / f"{name}.pc2"
    with pc2.writing(path, vertices.shape[1], len(vertices), 1.0, 1.0) as writer:
        writer.write(vertices.astype(np.float32))
    cache = ob.modifiers.new("Mesh Cache", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", str(path), 1.0
    return ob


def carried(name, _folder):
    """A mesh whose shape keys bend it, and whose object's keys carry and turn it."""
    shape, time, style = play.CLIPS[name]
    angles, places, yaws = play.motion(time, style)
    found = [play.body(shape, bend, (0.0, 0.0, 0.0)) for bend in angles]
    ob = map_play.add_target(name, np.stack([vertices for vertices, _ in found]), found[0][1])
    frames = np.arange(1, len(time) + 1)
    mesh_steps.write_keys(ob, "location", frames, places * (1, shape[2], shape[2]))
    mesh_steps.write_keys(ob, "rotation_euler", frames, np.stack((0 * yaws, 0 * yaws, yaws), axis=1))
    return ob


def on_a_cart(name, folder):
    """The same, with a keyed parent in place of its own keys."""
    ob = carried(name, folder)
    cart = add_object(f"{name}'s cart")
    cart.animation_data_create().action = ob.animation_data.action
    if hasattr(cart.animation_data, "action_slot"):
        cart.animation_data.action_slot = ob.animation_data.action_slot
    ob.animation_data_clear()
    ob.location, ob.rotation_euler, ob.parent = (0, 0, 0), (0, 0, 0), cart
    return ob


def train(ann, bob, new):
    """Bob, ready to perform the new clip."""
    for ob in (ann, bob):
        write_parts(ob, play.PARTS, play.masks(play.SOURCE if ob == ann else play.TARGET))
    clip = play.add_clip(bob, ann, PAIRS)
    clip.source_start, clip.source_end, clip.target_start, clip.target_end = 1, FRAMES, 1, FRAMES
    play.add_parts(bob)
    settings = bob.motion_loom_transfer
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 1, 30
    return play.learn(bob, performed=new)


@pytest.mark.parametrize("make", (cached, carried, on_a_cart))
def test_what_plays_the_motion_makes_no_difference(make, tmp_path):
    expected = play.followed(TRANSFER.add_live())
    bpy.ops.wm.read_homefile(use_empty=True)
    ann, bob, new = (make(name, tmp_path) for name in play.CLIPS)
    before = shown(bob, NEW)
    play.toggle(train(ann, bob, new))
    np.testing.assert_allclose(TRANSFER.follows_as_baked(bob), expected, atol=1e-3)
    play.toggle(bob)
    np.testing.assert_array_equal(shown(bob, NEW), before)


def test_an_object_is_moved_while_live(tmp_path):
    """Its place counts as its shape does, frame by frame; where it all starts from makes no difference."""
    ann, bob, new = (carried(name, tmp_path) for name in play.CLIPS)
    play.toggle(train(ann, bob, new))
    before = play.followed(bob)
    new.delta_location.x = 0.7
    bpy.context.scene.frame_set(12)
    bpy.context.scene.frame_set(12)
    assert play.status(bob).track == "SWEEP"
    play.press(bob, "live_refresh")
    assert healthy(bob)
    np.testing.assert_allclose(play.followed(bob), before, atol=1e-5)


def test_faces_of_many_corners_in_several_clips():
    """Blender splits them otherwise in each pose; they are the same all the same."""

    def add(name, time):
        vertices, quads = play.shapes(play.SOURCE, time)
        pairs = quads.reshape(-1, 2, 4)  # of neighbours around the beam
        faces = [[a[0], a[1], b[1], b[2], b[3], a[3]] for a, b in pairs.tolist() if a[1] == b[0]]
        faces += [quad for pair in pairs.tolist() if pair[0][1] != pair[1][0] for quad in pair]
        return map_play.add_target(name, vertices, faces)

    ann, other = add("Ann", np.arange(FRAMES)), add("Other", 11.3 + np.arange(FRAMES))
    bob = play.add_subject("Bob", *play.CLIPS["Bob"], groups=False)
    for source in (ann, other):
        play.add_clip(bob, ann, PAIRS).source = source
    play.toggle(play.learn(bob, performed=other))
    assert healthy(bob)


def add_rigged(name, shape, time, style=0.0):
    """A beam that an armature of three bones bends, walks and turns."""
    vertices, faces = play.body(shape, (0.0, 0.0), (0.0, 0.0, 0.0))
    ob = map_scenes.add_mesh(name, vertices, faces)
    size = shape[2]
    rig = add_object(f"{name}'s rig", bpy.data.armatures.new(name))
    with mesh_steps.edited(rig):
        for bone, (head, tail) in {"spine": (0.0, 0.3), "arm.L": (-0.4, -1.0), "arm.R": (0.4, 1.0)}.items():
            new = rig.data.edit_bones.new(bone)
            new.head, new.tail = (head * size, 0, 0), (tail * size, 0, 0)
            if bone != "spine":
                new.parent = rig.data.edit_bones["spine"]
    along = vertices[:, 0] / size
    share = np.clip((np.abs(along) - 0.2) / 0.4, 0.0, 1.0)
    weights = {"spine": 1 - share, "arm.L": share * (along < 0), "arm.R": share * (along > 0)}
    for bone, values in weights.items():
        group = ob.vertex_groups.new(name=bone)
        for vertex in np.flatnonzero(values > 0):
            group.add([int(vertex)], float(values[vertex]), "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    ob.parent = rig
    write_parts(ob, play.PARTS, play.masks(shape))
    angles, places, yaws = play.motion(time, style)
    frames = np.arange(1, len(time) + 1)
    for bone, turned in (("arm.L", -angles[:, 0]), ("arm.R", -angles[:, 1])):
        rig.pose.bones[bone].rotation_mode = "XYZ"
        turns = np.stack((0 * turned, 0 * turned, turned), axis=1)
        mesh_steps.write_keys(rig, f'pose.bones["{bone}"].rotation_euler', frames, turns)
    mesh_steps.write_keys(rig, "location", frames, places * (1, size, size))
    mesh_steps.write_keys(rig, "rotation_euler", frames, np.stack((0 * yaws, 0 * yaws, yaws), axis=1))
    return ob


def make_rigged():
    return train(*(add_rigged(name, *clip) for name, clip in play.CLIPS.items()))


@pytest.fixture
def bob():
    """Moved by an armature as Ann is, live."""
    bob = once(make_rigged)
    play.toggle(bob)
    return bob


@pytest.fixture
def rig(bob):
    """What moves the new clip."""
    return bpy.data.objects["Ann Again's rig"]


@pytest.mark.versions
def test_armatures(bob):
    found = TRANSFER.follows_as_baked(bob)
    himself = add_rigged("Bob Himself", play.TARGET, play.AGAIN, 1.0)
    truth = shown(himself, NEW)
    poses = [clip - clip.mean(axis=1, keepdims=True) for clip in (found, truth)]
    size = np.ptp(truth[0], axis=0).max()
    assert np.sqrt(np.square(poses[0] - poses[1]).sum(axis=-1).mean()) < 0.03 * size
    way, true_way = (clip[-1].mean(axis=0) - clip[0].mean(axis=0) for clip in (found, truth))
    assert np.linalg.norm(way - true_way) < 0.1 * np.linalg.norm(true_way)


def test_a_bone_is_posed_while_live(bob, rig):
    """Keys that are evaluated in the viewport move the target at that frame at once."""
    bpy.context.scene.frame_set(12)
    before = play.now(bob)
    bone = rig.pose.bones["arm.L"]
    bone.rotation_euler.z += 0.6
    play.now(bob)
    posed = play.now(bob)
    assert play.status(bob).track == "SWEEP" and np.abs(posed - before).max() > 0.05
    bone.keyframe_insert("rotation_euler", frame=12)
    play.press(bob, "live_refresh")
    bpy.context.scene.frame_set(12)
    assert healthy(bob)
    np.testing.assert_allclose(play.now(bob), posed, atol=0.05)


def test_the_armature_of_the_new_clip_is_deleted_and_hidden(bob, rig):
    """Hidden it moves on; without it nothing moves, which is an edit of every frame, and then a pose that is held."""
    before = play.followed(bob)
    rig.hide_viewport = True
    np.testing.assert_array_equal(play.followed(bob), before)
    assert healthy(bob)
    bpy.data.objects.remove(rig)
    bpy.context.scene.frame_set(5)
    assert play.status(bob).track == "SWEEP" and play.status(bob).problem is None
    play.press(bob, "live_refresh")
    assert healthy(bob) and "one pose that is held" in bob.motion_loom_transfer.clip_summary


def test_an_armature_on_a_turned_parent(bob, rig):
    """The target goes and turns the way that its source does in the world."""
    before = play.followed(bob)
    rig.parent = holder = add_object("Holder")
    holder.matrix_world = Matrix.Rotation(np.pi / 2, 4, "Z")
    bpy.context.view_layer.update()
    play.press(bob, "live_refresh")
    after = play.followed(bob)
    ways = [clip[-1].mean(axis=0) - clip[0].mean(axis=0) for clip in (before, after)]
    turned = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ ways[0]
    np.testing.assert_allclose(ways[1], turned, atol=0.02 * np.linalg.norm(turned))
    assert healthy(bob)


def test_other_meshes_of_either_body_are_told(capfd, tmp_path):
    """Of bodies that came as several objects all but one stayed behind, without a word."""
    ann, bob, new = (carried(name, tmp_path) for name in play.CLIPS)
    rig, skirt = add_object("Rig", bpy.data.armatures.new("Rig")), map_play.add_target("Skirt")
    ann.parent = skirt.parent = rig
    # As Alembic leaves it: an empty with all meshes of one body, and with another performance of the same.
    bob.parent, hair = add_object("Root"), map_play.add_target("Hair")
    hair.parent = bob.parent
    add_object("Bob Before", bob.data).parent = bob.parent
    train(ann, bob, new)
    of_source, of_target = bob.motion_loom_transfer.subjects_notes.splitlines()
    assert of_source.startswith("'Rig' also moves 'Skirt', of which nothing is learnt")
    assert of_target.startswith("'Root' also carries 'Hair', which 'Bob' does not take along")
    assert all("join" in note and "Read Clips" in note for note in (of_source, of_target))
    out = capfd.readouterr().out
    assert "'Rig' also moves 'Skirt'" in out and "'Root' also carries 'Hair'" in out
    notes = reported_notes(capfd)
    assert of_source in notes and of_target in notes
    skirt.hide_viewport = hair.hide_viewport = True
    play.press(bob, "fit")
    assert bob.motion_loom_transfer.subjects_notes == ""


def reported_notes(capfd):
    """Of the command, which reads nothing again."""
    assert jobs.main(["transfer", "--target", "Bob", "--learn-only", "--json"]) == 0
    return json.loads(capfd.readouterr().out.splitlines()[-1])["notes"]
