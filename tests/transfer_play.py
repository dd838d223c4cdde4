"""Two small subjects of different meshes, their clips, and the steps that a user of Transfer goes through."""

from __future__ import annotations

import numpy as np
from bl_ext.devrepo.motion_loom.scene.part_groups import write_parts
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import map_play

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


def add_scene():
    """Ann and Bob, one clip each, and another one of Ann; returns Ann, Bob and the new clip, Bob active."""
    ann = add_subject("Ann", SOURCE, np.arange(FRAMES))
    bob = add_subject("Bob", TARGET, warped(), 1.0)
    new = add_subject("Ann Again", SOURCE, 7.0 + 1.2 * np.arange(30))
    map_play.activate(bob)
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
    map_play.activate(bob)
    map_play.press("transfer_add_clip")
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


def add_read(pairs=PAIRS):
    """Ann and Bob, read and paired."""
    ann, bob, new = add_scene()
    add_clip(bob, ann, pairs)
    add_parts(bob)
    map_play.press("fit", workflow="transfer")
    return ann, bob, new


def add_trained(pairs=PAIRS):
    ann, bob, new = add_read(pairs)
    map_play.press("train", workflow="transfer")
    bob.motion_loom_transfer.performed = new
    return ann, bob, new


def add_live(pairs=PAIRS):
    ann, bob, new = add_trained(pairs)
    toggle(bob)
    return ann, bob, new


def press(bob, button):
    map_play.activate(bob.motion_loom_transfer.live_copy or bob)
    map_play.press(button, workflow="transfer")


def toggle(bob):
    press(bob, "live")


def bake(bob, kind="ABSOLUTE_KEYS"):
    """The new object."""
    bob.motion_loom_transfer.bake_kind = kind
    press(bob, "bake")
    return bob.motion_loom_transfer.result


def status(bob):
    return live.status(bob, "transfer")


def healthy(bob):
    """Whether he is live, and all his frames are up to date."""
    return map_play.healthy(bob, "transfer")


def problem(bob):
    """What is wrong with him where the scene is."""
    return map_play.problem(bob, "transfer")


def now(bob):
    """World vertices (V, 3) of the live copy, where the scene is."""
    return map_play.now(bob, "motion_loom_transfer")


def choose_gone(settings, *names):
    """Give lists the choice that files of earlier versions may have, by number the third, and that is gone."""
    stored = settings.bl_system_properties_get() if hasattr(settings, "bl_system_properties_get") else settings
    for name in names:
        stored[name] = 2
