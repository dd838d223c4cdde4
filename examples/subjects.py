"""Two captured people, made up: a slim one and a stout one, with other meshes, other proportions and another style.

Both do a walk, a wave and a crouch, the stout one in his own time. The slim one then walks along a bend and waves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import bpy
import clip
import gait
import movements
import numpy as np
from bodies import Build, make_body, make_skin, open_rest
from movements import Style
from scipy.spatial.transform import Rotation
from walker import key_basis, key_poses

FPS = 24
SLIM = Build({"chest": (1.0, 0.95), "spine": (1.0, 0.9)}, cell=0.028)
STOUT = Build(
    dict.fromkeys(("hips", "thigh", "shin", "foot", "toe"), (0.84, 1.25))
    | {"foot": (0.84, 0.84), "toe": (0.84, 0.84), "spine": (0.95, 1.75), "chest": (0.9, 1.4), "hips": (0.84, 1.4)}
    | {"clavicle": (1.25, 1.3), "neck": (0.6, 1.4), "head": (0.95, 1.15)}
    | dict.fromkeys(("upper_arm", "forearm", "hand"), (0.86, 1.35)),
    hips=1.5,
    cell=0.031,
)
PLAIN, OWN = Style(), Style(bounce=0.05, stoop=0.22, wide=0.35, lively=1.25)
_DENSE = 96  # moments a second at which a movement is worked out
_REST = 6  # frames between clips
_PAIRS = 5  # a clip, where nobody says which poses
_SMALLER, _LIVELY = 0.85, 1.25  # of the stout one where a clip of the user's is performed


@dataclass(frozen=True)
class Movement:
    """A movement that both do.  seconds: of the slim one.  slower: how much longer the stout one takes.  swing: how
    unevenly, -1 to 1.  moments: seconds that are easy to tell by eye, at which poses are paired."""

    name: str
    motion: Callable
    seconds: float
    slower: float = 1.0
    swing: float = 0.0
    moments: tuple[float, ...] = ()


_STEPS = tuple(0.12 + gait.PERIOD * step for step in range(1, 5))  # when feet are down
LEARNT = (
    Movement("walk", movements.walk, 3.0, 1.15, 0.3, (0.0, *_STEPS, 3.0)),
    Movement("wave", movements.wave, 4.0, 0.9, -0.4, (0.0, 0.67, 1.3, 2.7, 4.0)),
    Movement("crouch", movements.crouch, 4.2, 1.2, 0.5, (0.0, 1.0, 1.75, 2.7, 4.2)),
)
NEW = Movement("walk along a bend, waving", movements.walk_waving, 3.8)


@dataclass(frozen=True)
class Clip:
    """First and last frame of a movement, of both; pairs: (source, target) frames that belong together."""

    name: str
    source: tuple[int, int]
    target: tuple[int, int]
    pairs: list[tuple[int, int]]


@dataclass(frozen=True)
class Subjects:
    """The meshes.  new: performs the slim one's new clip over frames (F,).  own: first frame at which the stout one
    does it himself.  height: metres, of the slim one."""

    slim: bpy.types.Object
    stout: bpy.types.Object
    new: bpy.types.Object
    clips: list[Clip]
    frames: np.ndarray
    own: int
    height: float


def make_subjects() -> Subjects:
    """Put them into the scene, keyed from frame 1 on; its range and rate are set to the new clip."""
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    slim, stout = make_body("Slim", SLIM), make_body("Stout", STOUT)
    new = _again(slim, "Slim, new clip")
    for body, aside in ((slim, 2.2), (new, 0.0), (stout, -1.8)):
        body.parent.rotation_euler.z = math.pi / 2.0
        body.parent.location.y = aside
    clips, start, answer = [], 1, 1
    for movement in LEARNT:
        source, target = _times(movement, False), _times(movement, True)
        _key(slim, movement, source, PLAIN, start)
        _key(stout, movement, target, OWN, answer)
        answers = np.interp(movement.moments, target, np.arange(len(target)))
        paired = zip(movement.moments, answers.tolist(), strict=True)
        pairs = [(start + round(time * FPS), answer + round(at)) for time, at in paired]
        clips.append(Clip(movement.name, (start, start + len(source) - 1), (answer, answer + len(target) - 1), pairs))
        start, answer = start + len(source) + _REST, answer + len(target) + _REST
    times = _times(NEW, False)
    _key(new, NEW, times, PLAIN, 1)
    _key(stout, NEW, times, OWN, answer)
    scene.frame_start, scene.frame_end = 1, len(times)
    for body in (slim, stout):
        body.parent.hide_set(True)  # their clips are there to be looked at, the new one to be changed
    return Subjects(slim, stout, new, clips, np.arange(1, len(times) + 1), answer, 1.8)


def subjects_of_clip(path: str) -> Subjects:
    """The performer of a BVH file in a slim body, and in a stout one that is smaller and livelier.

    They are learnt from in the first and the last third of the clip; the middle is the new clip.
    """
    slim_rig, height = clip.load(path, body=False)
    scene = bpy.context.scene
    first, last = scene.frame_start, scene.frame_end
    ends = np.linspace(first, last, 4).round().astype(int)
    if ends[1] - first < 2 * _PAIRS:
        raise clip.ClipError(f"'{path}' is too short to be learnt from and performed: {last - first + 1} frames.")
    poses = _poses(slim_rig, np.arange(first, last + 1))
    slim_rig.animation_data_clear()
    open_rest(slim_rig, poses)
    stout_rig = slim_rig.copy()
    stout_rig.data, stout_rig.name = slim_rig.data.copy(), "Stout rig"
    scene.collection.objects.link(stout_rig)
    slim, stout = make_skin(slim_rig, height, 1.0, "Slim"), make_skin(stout_rig, height, 1.5, "Stout")
    stout_rig.scale, stout_rig.location.y = (_SMALLER,) * 3, -height
    plain = _away_from_rest(slim_rig, poses)
    _key_rig(slim_rig, plain, int(first))
    poses = _livelier(slim_rig, plain)
    clips, answer = [], 1
    for name, (start, end), swing in (("start", ends[:2], 0.4), ("end", ends[2:], -0.4)):
        part = Movement(name, None, float(end - start), 1.1, swing)
        rows = _times(part, True, 1)
        _key_rig(stout_rig, {bone: _at(pose, rows + start - first) for bone, pose in poses.items()}, answer)
        paired = np.linspace(0, end - start, _PAIRS).round()
        answers = answer + np.interp(paired, rows, np.arange(len(rows))).round()
        pairs = list(zip((start + paired).astype(int).tolist(), answers.astype(int).tolist(), strict=True))
        clips.append(Clip(name, (int(start), int(end)), (answer, answer + len(rows) - 1), pairs))
        answer += len(rows) + _REST
    frames = np.arange(ends[1], ends[2] + 1)
    _key_rig(stout_rig, {bone: pose[frames - first] for bone, pose in poses.items()}, answer)
    scene.frame_start, scene.frame_end = int(frames[0]), int(frames[-1])
    stout_rig.hide_set(True)
    return Subjects(slim, stout, slim, clips, frames, answer, height)


def _poses(rig, frames) -> dict[str, np.ndarray]:
    """The pose (F, 4, 4) of each bone, in the armature's space."""
    found = {bone.name: [] for bone in rig.pose.bones}
    for frame in frames.tolist():
        bpy.context.scene.frame_set(frame)
        for bone in rig.pose.bones:
            found[bone.name].append(np.array(bone.matrix))
    return {name: np.stack(matrices) for name, matrices in found.items()}


def _away_from_rest(rig, poses: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same (F, 4, 4) away from rest, in each bone's own axes."""
    found = {}
    for bone in rig.data.bones:
        rest, pose = np.array(bone.matrix_local), poses[bone.name]
        if bone.parent:
            rest = np.linalg.inv(np.array(bone.parent.matrix_local)) @ rest
            pose = np.linalg.inv(poses[bone.parent.name]) @ pose
        found[bone.name] = np.linalg.inv(rest) @ pose
    return found


def _livelier(rig, poses: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same, all bones but those that lead to the feet turning farther from their mean."""
    feet = {bone.name for toe in clip.toes_of(rig) for bone in (toe, *toe.parent_recursive)}
    for name, pose in poses.items():
        if name not in feet:
            turns = Rotation.from_matrix(pose[:, :3, :3])
            middle = turns.mean()
            pose[:, :3, :3] = (middle * Rotation.from_rotvec(_LIVELY * (middle.inv() * turns).as_rotvec())).as_matrix()
    return poses


def _key_rig(rig, poses: dict[str, np.ndarray], start: int) -> None:
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        key_basis(bone, poses[bone.name], start)


def _again(body: bpy.types.Object, name: str) -> bpy.types.Object:
    """The same mesh on an armature of its own."""
    other, rig = body.copy(), body.parent.copy()
    other.name, rig.name = name, f"{name} rig"
    for ob in (rig, other):
        bpy.context.scene.collection.objects.link(ob)
    other.parent = other.modifiers["Armature"].object = rig
    return other


def _times(movement: Movement, warped: bool, fps: float = FPS) -> np.ndarray:
    """Times (F,) of the movement at the frames of a clip: evenly, or in the stout one's way."""
    count = round(movement.seconds * (movement.slower if warped else 1.0) * fps) + 1
    share = np.linspace(0.0, 1.0, count)
    if warped:
        share = share + movement.swing * np.sin(2.0 * math.pi * share) / (2.0 * math.pi)
    return movement.seconds * share


def _key(body: bpy.types.Object, movement: Movement, times: np.ndarray, style: Style, start: int) -> None:
    """Key a movement at times (F,)."""
    dense = np.arange(-_DENSE // 2, (movement.seconds + 0.5) * _DENSE) / _DENSE
    motion = movement.motion(dense, style)
    rows = np.interp(times, dense, np.arange(len(dense)))
    hips, turns = _at(motion.hips, rows), {name: _at(turn, rows) for name, turn in motion.turns.items()}
    key_poses(body.parent, STOUT.size("hips")[0] * hips if style is OWN else hips, turns, start)


def _at(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Values (D, ...) at rows (F,), fractions too; what lies between two turns that close is nearly one."""
    row = np.minimum(rows.astype(int), len(values) - 2)
    share = (rows - row).reshape(-1, *[1] * (values.ndim - 1))
    return (1.0 - share) * values[row] + share * values[row + 1]
