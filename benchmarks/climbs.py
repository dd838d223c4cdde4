"""Captures of a person climbing boxes, and what is made of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.types import JointTrack, MeshTrack, Skeleton

from . import edits
from .datasets import Scene, data_file, read_obj
from .props import box, flat_ground, stage_under

EFFECTORS_CLIMB = {
    "toe": ("LeftToeBase", "RightToeBase"),
    "ankle": ("LeftFoot", "RightFoot"),
    "wrist": ("LeftHand", "RightHand"),
    "knuckle": ("LeftHandMiddle1", "RightHandMiddle1"),
}
_CLIMB_BODY = {
    "Hips": "",
    "Spine": "Hips",
    "Spine1": "Spine",
    "Neck": "Spine1",
    "Head": "Neck",
    "Shoulder": "Spine1",
    "UpLeg": "Hips",
}
_CLIMB_LIMBS = {
    "Arm": "Shoulder",
    "ForeArm": "Arm",
    "Hand": "ForeArm",
    "Leg": "UpLeg",
    "Foot": "Leg",
    "ToeBase": "Foot",
}
_FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")


def climb(number: int, fingers: bool = False) -> Scene:
    """Capture 0 or 1 of a person climbing boxes, 120 fps, Z up.

    Joints: the body and the two middle knuckles (23); fingers=True keeps all 51. The captured boxes stand on
    a ground at z = 0, a grid of 1 m cells reaching 2 m beyond the motion.
    """
    with np.load(data_file(f"scene_climb/seq_{number}/joints.npz")) as capture:
        names = [str(name) for name in capture["joint_names"]]
        positions = capture["joints"].astype(float)
    kept = [n for n in names if not n.endswith("FootMod") and (fingers or not _is_finger(n))]
    parents = [kept.index(parent) if parent else -1 for parent in map(_climb_parent, kept)]
    skeleton = Skeleton(tuple(kept), np.array(parents))
    positions = positions[:, [names.index(n) for n in kept]]
    track = JointTrack(skeleton, positions, 120.0, np.arange(len(positions)))
    files = sorted(data_file(f"scene_climb/seq_{number}/box_models").glob("*.obj"))
    environment = {"Ground": flat_ground(positions)}
    for file in files:
        environment[file.stem.capitalize()] = read_obj(file, file.stem.capitalize())
    changes = edits.climb_changes([name for name in environment if name != "Ground"])
    changes |= edits.strong_climb_changes({name: environment[name] for name in environment if name != "Ground"})
    return Scene(f"climb_{number}", track, environment, EFFECTORS_CLIMB, 1.8, changes)


def _is_finger(name):
    return any(finger in name for finger in _FINGERS) and not name.endswith("HandMiddle1")


def _climb_parent(name):
    side = next((s for s in ("Left", "Right") if name.startswith(s)), "")
    part = name[len(side) :]
    if part in _CLIMB_BODY:
        return _CLIMB_BODY[part]
    if part in _CLIMB_LIMBS:
        return side + _CLIMB_LIMBS[part]
    return side + (f"{part[:-1]}{int(part[-1]) - 1}" if part[-1] in "23" else "Hand")


def climb_mirrored() -> Scene:
    """Climb 0 reflected in x: nothing may depend on a side."""
    scene = climb(0)
    track, environment = edits.mirrored(scene.track, scene.environment.values())
    return replace(scene, name="climb_0_mirrored", track=track, environment=environment)


def climb_reversed() -> Scene:
    """Climb 1 played backwards: other contacts come first."""
    scene = climb(1)
    return replace(scene, name="climb_1_reversed", track=edits.time_reversed(scene.track))


def climb_part() -> Scene:
    """The middle of climb 0 at 60 fps: starts and ends away from the ground."""
    scene = climb(0)
    return replace(scene, name="climb_0_part", track=edits.sub_clip(scene.track, 600, 2560, 2))


def climb_split() -> Scene:
    """Climb 0 with the tall box cut in two between the feet, so that an edit can part them."""
    scene = climb(0)
    environment = dict(scene.environment)
    whole = environment.pop("Box1").vertices[0]
    left, right = whole[:4], whole[4:]
    triangles = scene.environment["Box1"].triangles
    for name, near, far in (("Box1a", 0.0, 0.59), ("Box1b", 0.59, 1.0)):
        ends = [left + share * (right - left) for share in (near, far)]
        environment[name] = MeshTrack(name, np.concatenate(ends)[None], triangles)
    changes = edits.climb_changes(["Box1a", "Box1b", "Box2", "Box3"])
    changes["halves_pulled_apart"] = {"Box1a": edits.moved((-0.2, 0, 0)), "Box1b": edits.moved((0.2, 0, 0))}
    changes["halves_run_together"] = {"Box1a": edits.moved((0.15, 0, 0)), "Box1b": edits.moved((-0.15, 0, 0))}
    return replace(scene, name="climb_0_split", environment=environment, edits=changes)


def climb_gap() -> Scene:
    """Climb 1 with a long slab 0.92 m beyond the tall box: both widened, 0.26 m is left to step down into."""
    scene = climb(1)
    slab = box("Slab", [-0.75, 0.59, 0], [3.25, 4.51, 0.9])
    names = ["Box1", "Box2", "Slab"]
    return replace(
        scene,
        name="climb_1_gap",
        environment=scene.environment | {"Slab": slab},
        edits=edits.climb_changes(names),
    )


def climb_walled(number: int) -> Scene:
    """A climb beside a wall that the edit pushes a quarter metre into where the body was."""
    scene = climb(number)
    lo, hi = scene.track.positions.min(axis=(0, 1)), scene.track.positions.max(axis=(0, 1))
    near = hi[0] + 0.3
    wall = box("Wall", [near, lo[1] - 0.5, 0], [near + 0.5, hi[1] + 0.5, hi[2] + 0.4])
    changes = {"wall_pushed_in": {"Wall": edits.moved((-0.55, 0, 0))}}
    environment = scene.environment | {"Wall": wall}
    return replace(scene, name=f"climb_{number}_walled", environment=environment, edits=changes)


def climb_staged(number: int) -> Scene:
    """A climb on a stage flush with the floor, which rises by 15 cm, with the boxes on it or past them."""
    scene = climb(number)
    stage = stage_under(scene.track.positions, 0.0)
    boxes = [name for name in scene.environment if name != "Ground"]
    changes = {
        "stage_raised": {"Stage": edits.lifted(0.15)},
        "all_raised": dict.fromkeys([*boxes, "Stage"], edits.lifted(0.15)),
    }
    environment = scene.environment | {"Stage": stage}
    return replace(scene, name=f"climb_{number}_staged", environment=environment, edits=changes)
