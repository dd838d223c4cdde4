"""A person made of joints, 1.8 m high and Z up, with and without controls."""

import numpy as np

from solvers.core.types import JointTrack, Skeleton

# Name: parent, x, y, z. A bone begins at a joint; those named "/tail" only end one.
BODY = {
    "hips": (None, 0, 0, 1.0),
    "chest": ("hips", 0, 0, 1.3),
    "neck": ("chest", 0, 0, 1.5),
    "head": ("neck", 0, 0, 1.6),
    "head/tail": ("head", 0, 0, 1.8),
}
for side, x in (("L", 1), ("R", -1)):
    BODY |= {
        f"arm.{side}": ("chest", 0.2 * x, 0, 1.45),
        f"elbow.{side}": (f"arm.{side}", 0.5 * x, 0, 1.45),
        f"wrist.{side}": (f"elbow.{side}", 0.75 * x, 0, 1.45),
        f"wrist.{side}/tail": (f"wrist.{side}", 0.9 * x, 0, 1.45),
        f"thigh.{side}": ("hips", 0.1 * x, 0, 0.95),
        f"knee.{side}": (f"thigh.{side}", 0.1 * x, -0.02, 0.5),
        f"ankle.{side}": (f"knee.{side}", 0.1 * x, 0, 0.1),
        f"toe.{side}": (f"ankle.{side}", 0.1 * x, -0.15, 0.03),
        f"toe.{side}/tail": (f"toe.{side}", 0.1 * x, -0.22, 0.03),
    }


def rooted(away=0, body=BODY):
    """The body on a root on the ground, or away from it."""
    return {"root": (None, 0, away, 0)} | body | {"hips": ("root", 0, 0, 1.0)}


def bones_of(body):
    return [name for name in body if "/" not in name]


def track_of(body, motion=None, frames=3):
    """The track of a body; parents (B,) of its bones, which come first. motion: name -> (F, 3) of what moves."""
    names = bones_of(body) + [name for name in body if "/" in name]
    parents = np.array([names.index(body[name][0]) if body[name][0] else -1 for name in names])
    frames = len(next(iter(motion.values()))) if motion else frames
    positions = np.tile(np.array([body[name][1:] for name in names], float), (frames, 1, 1))
    for name, places in (motion or {}).items():
        positions[:, names.index(name)] = places
    track = JointTrack(Skeleton(tuple(names), parents), positions, 30.0, np.arange(frames))
    return track, parents[: len(bones_of(body))]
