"""Captured walks keyed onto a generated human's controls by the layer itself: deform bones against what was asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np

from . import _control_recovery as recovery
from ._control_clips import PosedClip, key_clip
from .bvh import Z_UP, read_bvh
from .control_rigs import build, posed_clip, rigify_roles
from .datasets import data_file

# Part of the rig: joint of a CMU clip by its place in the file, joint of a Bandai clip, whether bones are aligned.
_PARTS = {
    "spine": (0, "Hips", False), "spine.001": (13, "Hips", False), "spine.002": (14, "Spine", False),
    "spine.003": (15, "Chest", False), "spine.004": (16, "Neck", False), "spine.005": (17, "Neck", False),
    "spine.006": (18, "Head", False), "shoulder.L": (20, "Shoulder_L", False), "upper_arm.L": (21, "UpperArm_L", True),
    "forearm.L": (22, "LowerArm_L", True), "hand.L": (23, "Hand_L", True), "shoulder.R": (29, "Shoulder_R", False),
    "upper_arm.R": (30, "UpperArm_R", True), "forearm.R": (31, "LowerArm_R", True), "hand.R": (32, "Hand_R", True),
    "thigh.L": (2, "UpperLeg_L", True), "shin.L": (3, "LowerLeg_L", True), "foot.L": (4, "Foot_L", False),
    "toe.L": (5, "Toes_L", False), "thigh.R": (8, "UpperLeg_R", True), "shin.R": (9, "LowerLeg_R", True),
    "foot.R": (10, "Foot_R", False), "toe.R": (11, "Toes_R", False),
}  # fmt: skip
# Bandai's root, which no other skeleton has, and a clip that begins as somebody stands there.
_ROOT, _STANDING = "joint_Root", "bandai/dataset-1_walk-back_normal_001"
_TRUNK = re.compile(r"spine")
_LIMB = re.compile(r"(thigh|shin|foot|toe|upper_arm|forearm|hand)\.[LR]$")
_END = re.compile(r"(foot|hand)\.[LR]$")
_SWING, _FIRST = re.compile(r"(thigh|upper_arm)_ik\.[LR]$"), re.compile(r"(thigh|upper_arm)\.[LR]$")
KEYED = {"main": r"$", "spine FK": r"spine_fk", "tweaks": r"(spine_fk|tweak_spine)"}

# FK or IK, which controls of the trunk, the stretch of IK where it is not the rig's own.
WAYS = [
    (mode, trunk, stretch) for mode in ("FK", "IK") for trunk in KEYED for stretch in (None, 0.0)[: 1 + (mode == "IK")]
]


@dataclass(frozen=True)
class Capture:
    """A stretch of a file: frames from the first on, every so many."""

    file: str
    first: int
    step: int
    count: int = 40


CAPTURES = {
    "CMU 02_01": Capture("misc/02_01", 40, 4),
    "CMU 05_02": Capture("misc/05_02", 200, 4),
    "CMU 03_01": Capture("cmu/03_01_uneven_terrain_30fps", 10, 1),
    "Bandai giant": Capture("bandai/dataset-1_walk_giant_001", 20, 2),
    "Bandai left": Capture("bandai/dataset-1_walk-left_normal_001", 20, 2),
}


def walked(
    package: str, capture: str, mode: str, trunk: str, folder: Path, stretch: float | None = None, kind: str = "basic"
) -> dict[str, float]:
    """Millimetres and degrees at most between what was asked of the carriers and what was found, in the world; see also
    `_steps`.

    mode: "FK" or "IK".  trunk: which controls of it are keyed, see KEYED.  stretch: of IK, instead of the rig's own.
    """
    parts, take = recovery.Parts(package), CAPTURES[capture]
    ob = build(kind, folder)
    if stretch is not None:
        for bone in ob.pose.bones:
            bone.ik_stretch = stretch
    clip = still_clip(ob, mode, trunk, take.count)
    key_clip(ob, clip, "Still")
    controls = parts.measured_rig(parts.probe_rig(bpy.context, ob, clip.frames))
    rest = np.array([ob.data.bones[name].matrix_local for name in controls.rig.names])[controls.carriers]
    names = [controls.rig.names[bone].removeprefix("ORG-").removeprefix("DEF-") for bone in controls.carriers]
    asked = asked_of(take, names, rest, controls.carrier_parents)
    start = recovery.clock()
    fit, _ = recovery.fitted(parts, ob, controls, clip, asked)
    seconds = recovery.clock() - start

    def most(pattern, values, scale):
        return float(scale * values[:, [bool(pattern.match(name)) for name in names]].max())

    return {
        "trunk_mm": most(_TRUNK, fit.misses, 1e3), "limbs_mm": most(_LIMB, fit.misses, 1e3),
        "limbs_deg": most(_LIMB, fit.turns, 180.0 / np.pi), "ends_mm": most(_END, fit.misses, 1e3),
        "unsettled": float((~fit.converged).sum()), "evaluations": float(fit.evaluations.mean()),
        "fps": take.count / seconds,
    } | _steps(parts, controls, fit.channels, names, asked)  # fmt: skip


def _steps(parts, controls, channels, names: list[str], asked: np.ndarray) -> dict[str, float]:
    """Degrees from one frame to the next, at most, by which what swings a limb in IK turns it (worst_pole_step), and by
    which the captured limbs' first bones turn in all (asked_step)."""
    stepper = parts.Stepper.of(controls, controls.free, 1.0)
    before, after = (
        parts.ControlChannels(*(getattr(channels, name)[rows] for name in ("location", "rotation", "scale")))
        for rows in (slice(None, -1), slice(1, None))
    )
    turns = np.linalg.norm(stepper.between(before, after)[..., 3:], axis=-1)
    swings = [bool(_SWING.match(controls.rig.names[bone])) for bone in controls.controls]
    first = asked[:, [bool(_FIRST.match(name)) for name in names], :3, :3]
    asks = np.linalg.norm(parts.rotations(np.swapaxes(first[:-1], -1, -2) @ first[1:]), axis=-1)
    return {
        "worst_pole_step": float(np.degrees(turns[:, swings].max(initial=0.0))),
        "asked_step": float(np.degrees(asks.max())),
    }


def still_clip(ob, mode: str, trunk: str, count: int) -> PosedClip:
    """Keys on the controls that a mode keys, which say rest: the source of a motion that is keyed onto the rig."""
    roles = rigify_roles(ob, mode)
    more = [bone.name for bone in ob.pose.bones if re.match(KEYED[trunk], bone.name)]
    tweaks = {name: 0.01 for name in more if name.startswith("tweak")}
    turns, moves = roles.turns | dict.fromkeys(more, 1.0), roles.moves | tweaks
    clip = posed_clip(ob, replace(roles, turns=turns, moves=moves), 0, np.arange(1.0, count + 1.0))
    still = {key: np.zeros_like(values) for key, values in clip.channels.items()}
    for (_, channel), values in still.items():
        if channel == "rotation_quaternion":
            values[:, 0] = 1.0
    return replace(clip, channels=still)


def asked_of(take: Capture, names: list[str], rest: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """(F, K, 4, 4) where parts of the body by name are asked to be, armature space, turned as the capture's joints.

    rest: (K, 4, 4) of the carriers, each after its parent among them.
    """
    motion = read_bvh(data_file(f"mocap_bvh/{take.file}.bvh"))
    joints = motion.skeleton.names
    of = {part: joints.index(b) if _ROOT in joints else a for part, (a, b, _) in _PARTS.items()}
    places, turns = _facing_front(motion, of, take.first + take.step * np.arange(take.count))
    offsets = motion.translations[0] @ Z_UP.T
    if _ROOT in joints:  # whose joints have axes along the bones
        standing = read_bvh(data_file(f"mocap_bvh/{_STANDING}.bvh"))
        neutral = _facing_front(standing, of, np.arange(1))[1][0]
        turns = turns @ np.swapaxes(neutral, -1, -2)
        offsets = (neutral[np.maximum(motion.skeleton.parents, 0)] @ offsets[..., None])[..., 0]
    leg = sum(np.linalg.norm(offsets[of[name] + 1]) for name in ("thigh.L", "shin.L"))
    own_leg = _length(names, rest, "thigh.L", "shin.L") + _length(names, rest, "shin.L", "foot.L")
    hips = of["spine"]
    way = (places[:, hips] - places[0, hips]) * own_leg / leg
    out = np.empty((take.count, *rest.shape))
    for k, name in enumerate(names):
        if name in of:
            turned = turns[:, of[name]]
            if _PARTS[name][2]:
                # Hands have no length in some captures: they are laid as forearms are.
                laid = name.replace("hand", "forearm")
                turned = turned @ _laid(rest[names.index(laid), :3, 1], offsets[_next(motion, of[laid])])
            out[:, k, :3, :3] = turned @ rest[k, :3, :3]
        else:
            up = parents[k]
            above = np.eye(3) if up < 0 else out[:, up, :3, :3] @ np.linalg.inv(rest[up, :3, :3])
            out[:, k, :3, :3] = above @ rest[k, :3, :3]
        out[:, k, :3, 3], out[:, k, 3] = rest[k, :3, 3], (0.0, 0.0, 0.0, 1.0)
        if name == "spine":
            out[:, k, :3, 3] += way
        elif parents[k] >= 0:
            up, local = parents[k], np.linalg.inv(rest[parents[k]]) @ rest[k]
            out[:, k, :3, 3] = out[:, up, :3, 3] + out[:, up, :3, :3] @ local[:3, 3]
    return out


def _facing_front(motion, of: dict[str, int], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, J, 3) and turns (n, J, 3, 3) at some frames, Z up, of a clip that faces forward, -Y, as it begins."""
    places, turns = (each[rows] for each in motion.world())
    turns, places = Z_UP @ turns @ Z_UP.T, places @ Z_UP.T
    if _ROOT not in motion.skeleton.names:
        return places, turns
    side = places[0, of["thigh.L"]] - places[0, of["thigh.R"]]
    cosine, sine = side[:2] / np.linalg.norm(side[:2])
    about = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    return places @ about.T, about @ turns


def _next(motion, joint: int) -> int:
    return int(np.flatnonzero(motion.skeleton.parents == joint)[0])


def _length(names: list[str], rest: np.ndarray, start: str, end: str) -> float:
    return float(np.linalg.norm(rest[names.index(end), :3, 3] - rest[names.index(start), :3, 3]))


def _laid(given: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(3, 3) the smallest turn of one direction to another."""
    given, wanted = given / np.linalg.norm(given), wanted / np.linalg.norm(wanted)
    axis = np.cross(given, wanted)
    skew = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + skew + skew @ skew / (1.0 + given @ wanted)
