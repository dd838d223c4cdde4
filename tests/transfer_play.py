"""Two small subjects of different meshes, their clips, and the steps that a user of Transfer goes through."""

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene.part_groups import write_parts

from tests import map_play, map_scenes, mesh_steps
from tests.mesh_steps import MeshPlay, once

PARTS = ("Torso", "Left", "Right")
# Of (rings, corners around, size).
SOURCE, TARGET = (17, 8, 1.0), (24, 10, 1.6)
FRAMES = 40


def body(shape, angles, place=(0.0, 0.0, 1.0), yaw=0.0):
    """(V, 3) a beam along X whose outer thirds bend by two angles, and its faces (Q, 4); see ``SOURCE``."""
    rings, around, size = shape
    along, turn = (part.ravel() for part in np.meshgrid(np.linspace(-1, 1, rings), np.arange(around), indexing="ij"))
    turn = turn * 2 * np.pi / around
    radius = 0.16 * (1.0 - 0.3 * along**2)
    # Each limb bends evenly over a stretch outside of the torso.
    bend = np.clip((np.abs(along) - 0.35) / 0.4, 0.0, 1.0)
    angle = bend * np.where(along < 0, angles[0], angles[1])
    middle = np.stack((along * np.cos(0.6 * angle), 0 * along, np.abs(along) * np.sin(0.6 * angle)), axis=1)
    normal = np.stack((-np.sign(along) * np.sin(angle), 0 * along, np.cos(angle)), axis=1)
    points = middle + radius[:, None] * (np.cos(turn)[:, None] * normal + np.sin(turn)[:, None] * [0.0, 1.0, 0.0])
    cosine, sine = np.cos(yaw), np.sin(yaw)
    points = points @ np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
    ring, over = (around * np.arange(rings - 1)[:, None] + (np.arange(around) + k) % around for k in (0, 1))
    faces = np.stack((ring, over, over + around, ring + around), axis=-1).reshape(-1, 4)
    return size * points + np.asarray(place), faces


def masks(shape):
    """(3, V) bool, overlapping."""
    rings, around, _ = shape
    along = np.repeat(np.linspace(-1, 1, rings), around)
    return np.stack((np.abs(along) < 0.55, along < -0.28, along > 0.28))


def motion(time, style=0.0):
    """Angles (N, 2), places (N, 3) and yaw (N,) at times (N,), in frames; style: how much livelier it is."""
    phase = 2 * np.pi * np.asarray(time, float) / 24.0
    angles = np.stack((0.6 * np.sin(phase), 0.5 * np.sin(phase + 1.3) + 0.2), axis=1)
    angles = angles + style * (0.3 * np.sin(angles) + 0.1)
    place = np.stack((0.02 * np.sin(phase), -0.03 * np.asarray(time), 1.0 + 0.05 * np.cos(phase)), axis=1)
    return angles, place, 0.1 * np.sin(phase / 2)


def shapes(shape, time, style=0.0):
    """(N, V, 3) and faces."""
    angles, places, yaws = motion(time, style)
    found = [body(shape, *pose) for pose in zip(angles, places * (1, shape[2], shape[2]), yaws, strict=True)]
    return np.stack([vertices for vertices, _ in found]), found[0][1]


def warped(frames=FRAMES):
    """Times (frames,) of the target's clip, of the same movement as the source's: slower first, then faster."""
    share = np.linspace(0.0, 1.0, frames)
    return (FRAMES - 1) * (share + 0.06 * np.sin(2 * np.pi * share))


def add_subject(name, shape, time, style=0.0, start=1, groups=True):
    """A mesh that performs the movement at times (N,), one a frame, with the vertex groups of its parts."""
    ob = map_play.add_target(name, *shapes(shape, time, style), start=start)
    if groups:
        write_parts(ob, PARTS, masks(shape))
    return ob


def add_stiff(name, shape, style=0.0, left_moves=True):
    """A subject with a stiff torso, and a left limb that moves or not."""
    angles, places, yaws = motion(np.arange(FRAMES), style)
    if not left_moves:
        angles[:, 0] = 0.3
    found = [body(shape, *pose) for pose in zip(angles, places, yaws, strict=True)]
    ob = map_play.add_target(name, np.stack([vertices for vertices, _ in found]), found[0][1])
    along = np.repeat(np.linspace(-1, 1, shape[0]), shape[1])
    write_parts(ob, PARTS, np.stack((np.abs(along) < 0.3, along < -0.2, along > 0.2)))
    return ob


AGAIN = 7.0 + 1.2 * np.arange(30)
# Shape, times and style of a clip each.
CLIPS = {"Ann": (SOURCE, np.arange(FRAMES), 0.0), "Bob": (TARGET, warped(), 1.0), "Ann Again": (SOURCE, AGAIN, 0.0)}


def wanted():
    """World vertices (30, V, 3) of Bob, were he to do himself what Ann does in her new clip."""
    return shapes(TARGET, AGAIN, 1.0)[0]


def add_scene():
    """Ann and Bob, one clip each, and another one of Ann; returns Ann, Bob and the new clip, Bob active."""
    ann, bob, new = (add_subject(name, *clip) for name, clip in CLIPS.items())
    mesh_steps.activate(bob)
    return ann, bob, new


# Source and target frames, from 1.
PAIRS = tuple(
    (float(frame), float(np.round(np.interp(frame - 1, warped(), np.arange(FRAMES)) + 1)))
    for frame in (1, 9, 18, 27, 34, 40)
)


def add_clip(bob, ann, pairs=()):
    """The clip of both subjects, as pressing + and choosing leaves it."""
    settings = bob.motion_loom_transfer
    settings.source = ann
    mesh_steps.activate(bob)
    mesh_steps.press("transfer_add_clip")
    clip = settings.clips[settings.active_clip]
    add_pairs(clip, pairs)
    return clip


def add_pairs(clip, pairs=PAIRS):
    for source, target in pairs:
        pair = clip.pairs.add()
        pair.source_frame, pair.target_frame = source, target


def add_parts(bob):
    settings = bob.motion_loom_transfer
    for name in PARTS:
        part = settings.parts.add()
        part.name, part.source_group, part.target_group = name, name, name


def make_unread(pairs=PAIRS):
    """Bob with a clip, pairs and parts, all ready to be read; Ann, and another clip of her."""
    ann, bob, _ = add_scene()
    add_clip(bob, ann, pairs)
    add_parts(bob)
    return bob


def make_read(pairs=PAIRS):
    bob = make_unread(pairs)
    mesh_steps.press("fit", workflow="transfer")
    return bob


def make_trained(pairs=PAIRS):
    bob = make_read(pairs)
    mesh_steps.press("train", workflow="transfer")
    bob.motion_loom_transfer.performed = bpy.data.objects["Ann Again"]
    return bob


AT = 12  # the frame of the new clip that is edited


def set_shape(shape, frame=AT):
    """Give the new clip another shape (V, 3) at a frame; returns the one that it had."""
    keys = bpy.data.objects["Ann Again"].data.shape_keys
    former = map_scenes.positions(keys.key_blocks[frame - 1])
    keys.key_blocks[frame - 1].points.foreach_set("co", np.asarray(shape, np.float32).ravel())
    keys.update_tag()
    return former


def edit(back=False):
    """Another pose in the middle of the new clip, or its own again."""
    set_shape(shapes(SOURCE, [AGAIN[AT - 1] if back else 31.0])[0][0])


BUTTONS = "fit", "densify", "train", "live", "bake"
BUTTONS += tuple(
    f"transfer_{name}"
    for name in ("add_clip", "add_part", "suggest_parts", "add_pair", "suggest_pair", "show_pair")
)
TRANSFER = MeshPlay("transfer", "Bob", "Ann Again", np.arange(1, 31), make_trained, edit, AT, BUTTONS)


def cast(bob):
    """Ann, Bob, and the new clip, of a scene with Bob."""
    return bpy.data.objects["Ann"], bob, bpy.data.objects["Ann Again"]


def add_read(pairs=PAIRS):
    """Ann and Bob, read and paired."""
    return cast(once(make_read, pairs))


def add_trained(pairs=PAIRS):
    return cast(TRANSFER.add_ready(pairs))


def add_live(pairs=PAIRS):
    return cast(TRANSFER.add_live(pairs))


def learn(bob, source=None, performed=None, parts=True):
    """Add a clip with its pairs and the parts, where a source is given; read, train, choose a new clip; returns Bob."""
    if source:
        add_clip(bob, source, PAIRS)
    if source and parts:
        add_parts(bob)
    for step in ("fit", "train"):
        TRANSFER.press(bob, step)
    bob.motion_loom_transfer.performed = performed
    return bob


def pair_words(pairs=PAIRS):
    return [f"{source:g}={target:g}" for source, target in pairs]


def words_naming_all():
    """Of a command line for the scene of Ann and Bob as it is at first."""
    parts = [f"{part}={part}" for part in PARTS]
    words = ["--source", "Ann", "--clip", "Ann:1..40=Bob:1..40", "--part", *parts]
    return [*words, "--pair", *pair_words(), "--perform", "Ann Again"]


toggle, bake, status, healthy = TRANSFER.toggle, TRANSFER.bake, TRANSFER.status, TRANSFER.healthy
problem, now, press, followed = TRANSFER.problem, TRANSFER.now, TRANSFER.press, TRANSFER.followed


def choose_gone(settings, *names):
    """Give lists the choice that files of earlier versions may have, by number the third, and that is gone."""
    stored = settings.bl_system_properties_get() if hasattr(settings, "bl_system_properties_get") else settings
    for name in names:
        stored[name] = 2
