"""CMU clips performed by skinned bodies: turns of joints relative to matching rests, and a second manner of moving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError

from .bvh import BvhMotion, read_bvh
from .datasets import data_file
from .skinned_body import SkinnedBody

# The CMU skeleton, whose joints are named in several ways but always come in this order.
JOINTS = (
    "root lhipjoint lfemur ltibia lfoot ltoes ltoes/tail rhipjoint rfemur rtibia rfoot rtoes rtoes/tail lowerback "
    "upperback thorax lowerneck upperneck head head/tail lclavicle lhumerus lradius lwrist lhand lfingers "
    "lfingers/tail lthumb lthumb/tail rclavicle rhumerus rradius rwrist rhand rfingers rfingers/tail rthumb rthumb/tail"
).split()
PLACE = {name: number for number, name in enumerate(JOINTS)}
# A bone of each limb, by its two ends in the clip; turns of the hand and of the toes are told against the one before.
_BONES = {
    "humerus": ("humerus", "radius"),
    "radius": ("radius", "wrist"),
    "wrist": ("radius", "wrist"),
    "femur": ("femur", "tibia"),
    "tibia": ("tibia", "foot"),
    "foot": ("foot", "toes"),
    "toes": ("foot", "toes"),
}
_MARGIN = 0.2  # seconds of a clip that must be there before and after what is used


@dataclass(frozen=True)
class Clip:
    """A stretch of a file: seconds from start on, frames at FPS."""

    name: str
    file: str
    start: float
    frames: int


@dataclass(frozen=True)
class Performance:
    """turns (F, 38, 3, 3) of the joints against their parents.  places (F, 3) of the root, and bones (38, 3), where the
    rest has joints from their parents: over the length of a leg, Y up."""

    turns: np.ndarray
    places: np.ndarray
    bones: np.ndarray


def performance(clip: Clip, seconds: np.ndarray, lag: dict[str, float] | None = None) -> Performance:
    """What a clip does at seconds (F,) from its start; joints by name may lag behind by seconds.

    Raises InputError for another skeleton, and where the clip is too short.
    """
    motion = read_bvh(data_file(f"mocap_bvh/{clip.file}.bvh"))
    if len(motion.skeleton.names) != len(JOINTS):
        raise InputError(f"'{clip.file}' does not have the {len(JOINTS)} joints of a CMU clip; choose another.")
    bones = motion.translations[0].copy()
    leg = np.linalg.norm(bones[PLACE["ltibia"]]) + np.linalg.norm(bones[PLACE["lfoot"]])
    at = clip.start + np.asarray(seconds, float)
    if at.min() < _MARGIN or at.max() > (len(motion.translations) - 1) / motion.fps - _MARGIN:
        raise InputError(f"'{clip.file}' is too short for {clip.name}; choose an earlier stretch.")
    turns = np.stack(
        [_turned(motion, joint, at - (lag or {}).get(name, 0.0)) for joint, name in enumerate(JOINTS)],
        axis=1,
    )
    rows = np.arange(len(motion.translations)) / motion.fps
    places = np.stack([np.interp(at, rows, column) for column in motion.translations[:, 0].T], axis=1)
    return Performance(turns, places / leg, bones / leg)


def _turned(motion: BvhMotion, joint: int, seconds: np.ndarray) -> np.ndarray:
    """(F, 3, 3) of a joint between the frames of its file, the shortest way."""
    rows = seconds * motion.fps
    before = rows.astype(int)
    start = Rotation.from_matrix(motion.rotations[before, joint])
    step = (start.inv() * Rotation.from_matrix(motion.rotations[before + 1, joint])).as_rotvec()
    return (start * Rotation.from_rotvec((rows - before)[:, None] * step)).as_matrix()


def body_turns(performed: Performance, body: SkinnedBody, joints: dict[str, str]) -> np.ndarray:
    """(F, J, 3, 3) from rest in the world: a joint of the body that answers to one of the clip's, by name, turns as
    that does, after its bone has been laid along the clip's bone at rest; others go with what they hang on."""
    world = np.empty_like(performed.turns)
    for joint, parent in enumerate(_PARENTS):
        world[:, joint] = performed.turns[:, joint] if parent < 0 else world[:, parent] @ performed.turns[:, joint]
    answers = {target: name for name, target in joints.items()}
    out = np.empty((len(world), len(body.names), 3, 3))
    for joint, (name, parent) in enumerate(zip(body.names, body.parents, strict=True)):
        if name in answers:
            out[:, joint] = world[:, PLACE[answers[name]]] @ _laid(answers[name], performed.bones, body, joints)
        else:
            out[:, joint] = out[:, parent] if parent >= 0 else world[:, 0]
    return out


def leg_length(body: SkinnedBody, joints: dict[str, str]) -> float:
    """Metres from hip over knee to ankle."""
    hip, knee, ankle = (body.places[body.names.index(joints[f"l{name}"])] for name in ("femur", "tibia", "foot"))
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


def _laid(name: str, bones: np.ndarray, body: SkinnedBody, joints: dict[str, str]) -> np.ndarray:
    """(3, 3) the smallest turn that lays the body's bone along the clip's."""
    if name[1:] not in _BONES:
        return np.eye(3)
    start, end = (name[0] + end for end in _BONES[name[1:]])
    wanted = bones[PLACE[end]]
    given = body.places[body.names.index(joints[end])] - body.places[body.names.index(joints[start])]
    wanted, given = wanted / np.linalg.norm(wanted), given / np.linalg.norm(given)
    axis = np.cross(given, wanted)
    sine = np.linalg.norm(axis)
    return Rotation.from_rotvec(axis / sine * np.arctan2(sine, given @ wanted)).as_matrix()


def _parents() -> tuple[int, ...]:
    chains = (
        "root lhipjoint lfemur ltibia lfoot ltoes ltoes/tail",
        "root rhipjoint rfemur rtibia rfoot rtoes rtoes/tail",
        "root lowerback upperback thorax lowerneck upperneck head head/tail",
        "thorax lclavicle lhumerus lradius lwrist lhand lfingers lfingers/tail",
        "lwrist lthumb lthumb/tail",
        "thorax rclavicle rhumerus rradius rwrist rhand rfingers rfingers/tail",
        "rwrist rthumb rthumb/tail",
    )
    found = {child: parent for chain in chains for parent, child in zip(chain.split(), chain.split()[1:], strict=False)}
    return tuple(PLACE[found[name]] if name in found else -1 for name in JOINTS)


_PARENTS = _parents()
