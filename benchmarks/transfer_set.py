"""A scored set for Transfer: two bodies of different topology perform the same clips, and which frames answer is known.

Source: ai4animation/Geno, 9,332 vertices, 18,660 triangles.  Target: ai4animation/Cranberry with each triangle made
four, 7,318 vertices, 14,632 triangles. Both are welded, closed and in one piece; metres, Z up, 30 frames a second.
Both follow CMU clips by linear blend skinning, turns of joints copied relative to matching rests, the ground way in
proportion to the legs.

The target differs from the source by more than its shape:
- manner, ``transfer_style``: arms swing farther, elbows are more bent, the back bends farther and leans, legs stand
  wider, knees come higher, the head follows less. All of it is smooth functions of the pose, most of them nonlinear.
- its arms come 40 ms later than its other joints.
- its steps are 8 % longer for its legs than the source's; its lowest point is as far from the ground, for its legs.
- its studio is turned by 25 degrees about up, and moved by (1.0, -0.5) m on the ground, against the source's.
- time: a clip of the source's of F frames is one of G = length F of the target's, with length between 0.85 and 1.2 a
  clip. Share u of the target's time is share u + sum_k a_k (sin(2 pi f_k u + p_k) - sin(p_k) - u (sin(2 pi f_k + p_k)
  - sin(p_k))) of the source's, with f = 1.0, 2.3, 4.1, a = 0.03, 0.012, 0.005 and phases p from the seed: speeds
  differ by half at most, never going back.
- capture noise on both: a field of 12 waves of 0.25 m length or more over the body, 3 mm RMS, that changes over a third
  of a second, and 1 mm a vertex and frame, normal.

Truth: ``ClipPair.truth``, for each source frame the target's frame, a fraction, and ``ClipPair.answers``, the target
at exactly that moment, without noise. Key poses: five a training clip, at both ends and, in between, where the source
is slowest within a tenth of the clip around each quarter; the target's frame of each is rounded and then off by -1, 0
or 1, drawn by the seed. Parts come from skin weights: a vertex is in every part that has more than 2 % of it, and one
ring of vertices more; a vertex of both legs is the torso's.

Training: walk, run, jump, forward jump, bend. Unseen, kept apart: steps up and down, basketball, dance, handshake,
climb; truth and answers are there for scoring only.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from .bvh import Z_UP
from .retarget import Clip, body_turns, leg_length, performance
from .skinned_body import SkinnedBody, read_skinned_body
from .transfer_style import styled

FPS = 30.0
PART_NAMES = ("torso", "left arm", "right arm", "left leg", "right leg")
TRAINING = (
    Clip("walk", "misc/02_01", 0.4, 66),
    Clip("run", "pfnn/LocomotionFlat09_000", 4.8, 75),
    Clip("jump", "cmu/02_04_jump_balance_30fps", 0.3, 66),
    Clip("forward jump", "cmu/01_01_playground_jump", 1.0, 70),
    Clip("bend", "cmu/02_06_bend_scoop_up_30fps", 0.4, 75),
)
UNSEEN = (
    Clip("steps", "cmu/03_03_uneven_terrain_30fps", 6.0, 90),
    Clip("basketball", "misc/06_04", 0.5, 70),
    Clip("dance", "misc/05_02", 4.5, 90),
    Clip("handshake", "misc/18_01_walk_shakehands_A", 1.0, 90),
    Clip("climb", "cmu/01_08_climb_sit_rock_lower_30fps", 3.5, 90),
)
ARM_LAG = 0.04  # seconds
STRIDE, TURN, PLACE = 1.08, np.radians(25.0), np.array((1.0, -0.5, 0.0))
LENGTHS = (0.85, 1.2)
WARP_WAVES, WARP_SIZES = np.array((1.0, 2.3, 4.1)), np.array((0.03, 0.012, 0.005))
NOISE_FIELD, NOISE_POINT = 0.003, 0.001  # metres
NOISE_WAVES, NOISE_LENGTH, NOISE_TIME = 12, 0.25, 1.0 / 3.0
KEYS, KEY_WINDOW, KEY_ERROR = 5, 0.1, 1
_MEMBER, _RINGS = 0.02, 1
_LAGGING = tuple(side + name for side in "lr" for name in ("humerus", "radius", "wrist", "hand"))
_GENO = {
    "root": "Hips", "lowerback": "Spine", "upperback": "Spine2", "thorax": "Spine3", "lowerneck": "Neck",
    "upperneck": "Neck1", "head": "Head",
} | {
    side[0].lower() + name: side + joint
    for side in ("Left", "Right")
    for name, joint in {
        "femur": "UpLeg", "tibia": "Leg", "foot": "Foot", "toes": "ToeBase", "clavicle": "Shoulder", "humerus": "Arm",
        "radius": "ForeArm", "wrist": "Hand",
    }.items()
}  # fmt: skip
_CRANBERRY = {
    "root": "b_root", "lowerback": "b_spine0", "upperback": "b_spine2", "thorax": "b_spine3", "lowerneck": "b_neck0",
    "head": "b_head",
} | {
    side + name: f"b_{side}_{joint}"
    for side in "lr"
    for name, joint in {
        "femur": "upleg", "tibia": "leg", "foot": "foot_twist", "toes": "ball", "clavicle": "shoulder",
        "humerus": "arm", "radius": "forearm", "wrist": "wrist",
    }.items()
}  # fmt: skip


@dataclass(frozen=True)
class SubjectData:
    """name.  vertices (V, 3) at rest, Z up.  triangles (T, 3).  memberships (5, V) bool, see ``PART_NAMES``."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    memberships: np.ndarray


@dataclass(frozen=True)
class ClipPair:
    """source (F, V, 3) and target (G, W, 3): captured, float32, metres, Z up.

    truth: (F,) the target's frame, a fraction, that answers to each of the source's.  shown (F, V, 3): the source
    without noise, and answers (F, W, 3), the target at those moments, float32.  pairs: (L, 2) int, source and target
    frames of key poses, as a user marks them; of unseen clips there are none.
    """

    name: str
    source: np.ndarray
    target: np.ndarray
    truth: np.ndarray
    shown: np.ndarray
    answers: np.ndarray
    pairs: np.ndarray


@dataclass(frozen=True)
class TransferSet:
    """training and unseen clips of both subjects, at fps frames a second."""

    source: SubjectData
    target: SubjectData
    training: tuple[ClipPair, ...]
    unseen: tuple[ClipPair, ...]
    fps: float


@functools.cache
def transfer_set(seed: int = 0) -> TransferSet:
    """See the top of this file; a few seconds, kept afterwards. Raises InputError where the captures are not there."""
    return set_of(TRAINING, UNSEEN, seed)


def set_of(training: tuple[Clip, ...], unseen: tuple[Clip, ...], seed: int = 0) -> TransferSet:
    """The same two bodies in any clips; raises InputError as ``performance`` too."""
    source = _Actor(read_skinned_body("ai4animation/Geno/Model.glb"), _GENO, styled=False)
    target = _Actor(read_skinned_body("ai4animation/Cranberry/Model.glb").split(), _CRANBERRY, styled=True)
    rng = np.random.default_rng(seed)
    pairs = [_clip_pair(clip, source, target, rng) for clip in training + unseen]
    # What nobody has marked: unseen clips have no key poses.
    apart = tuple(replace(pair, pairs=np.empty((0, 2), int)) for pair in pairs[len(training) :])
    return TransferSet(source.data("Geno"), target.data("Cranberry"), tuple(pairs[: len(training)]), apart, FPS)


@dataclass(frozen=True)
class _Actor:
    """joints: names of the body's by those of the clip's."""

    body: SkinnedBody
    joints: dict[str, str]
    styled: bool

    def performed(self, clip: Clip, seconds: np.ndarray, lowest: np.ndarray | None = None) -> np.ndarray:
        """(F, V, 3) float32, Z up, without noise.  lowest (F,): the lowest heights that are wanted, over the leg's
        length; None for what the clip has, the lowest of which is 0."""
        does = performance(clip, seconds, dict.fromkeys(_LAGGING, ARM_LAG) if self.styled else None)
        if self.styled:
            does = replace(does, turns=styled(does.turns))
        leg = leg_length(self.body, self.joints)
        way = leg * does.places * ((STRIDE, 1.0, STRIDE) if self.styled else (1.0, 1.0, 1.0))
        posed = self.body.posed(body_turns(does, self.body, self.joints), way) @ Z_UP.T.astype(np.float32)
        below = posed[..., 2].min(axis=1)
        posed[..., 2] -= (below.min() if lowest is None else below - leg * lowest).reshape(-1, 1)
        return posed @ _studio().T.astype(np.float32) + PLACE.astype(np.float32) if self.styled else posed

    def lowest(self, posed: np.ndarray) -> np.ndarray:
        """(F,) of vertices (F, V, 3), over the leg's length."""
        return posed[..., 2].min(axis=1) / leg_length(self.body, self.joints)

    def noisy(self, posed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Vertices (F, V, 3) as a capture would have them."""
        return (
            posed + _field(self.body.vertices, len(posed), rng) + rng.normal(0, NOISE_POINT, posed.shape).astype("f4")
        )

    def data(self, name: str) -> SubjectData:
        limbs = [self.joints[side + bone] for bone in ("humerus", "femur") for side in "lr"]
        return SubjectData(name, self.body.vertices @ Z_UP.T, self.body.triangles, memberships(self.body, limbs))


def memberships(body: SkinnedBody, limbs: list[str]) -> np.ndarray:
    """(K, V) bool: the torso, and all that hangs on each joint of ``limbs``; see the top of this file."""
    shares = np.stack([body.weights @ body.below(limb).astype(float) for limb in limbs])
    inside = shares > _MEMBER
    shared = inside.sum(axis=0) > 1
    inside &= ~shared
    torso = shared | (shares.sum(axis=0) < 1.0 - _MEMBER)
    near = _neighbours(body.triangles, len(body.vertices))
    for _ in range(_RINGS):
        wide = (near @ inside.T.astype(float)).T > 0.0
        inside |= wide & (wide.sum(axis=0) == 1) & ~shared
        torso |= near @ torso.astype(float) > 0.0
    return np.concatenate((torso[None], inside))


def warp(count: int, frames: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Of a target clip of ``count`` frames and a source clip of ``frames``: the source's frames (count,) at the
    target's, and the target's (frames,) at the source's, fractions."""
    phases = rng.uniform(0.0, 2.0 * np.pi, len(WARP_WAVES))

    def at(share):
        waves = np.sin(2.0 * np.pi * WARP_WAVES * share[:, None] + phases)
        ends = np.sin(2.0 * np.pi * WARP_WAVES + phases) - np.sin(phases)
        return share + (waves - np.sin(phases) - share[:, None] * ends) @ WARP_SIZES

    fine = np.linspace(0.0, 1.0, 20 * (count + frames))
    back = np.interp(np.linspace(0.0, 1.0, frames), at(fine), fine)
    return (frames - 1) * at(np.linspace(0.0, 1.0, count)), (count - 1) * back


def _clip_pair(clip: Clip, source: _Actor, target: _Actor, rng: np.random.Generator) -> ClipPair:
    frames = clip.frames
    count = round(rng.uniform(*LENGTHS) * frames)
    at_source, truth = warp(count, frames, rng)
    shown = source.performed(clip, np.arange(frames) / FPS)
    lowest = source.lowest(shown)
    answers = target.performed(clip, np.arange(frames) / FPS, lowest)
    clean = target.performed(clip, at_source / FPS, np.interp(at_source, np.arange(frames), lowest))
    keys = _key_frames(shown)
    marked = np.round(truth[keys]).astype(int) + rng.integers(-KEY_ERROR, KEY_ERROR + 1, len(keys))
    pairs = np.stack((keys, np.clip(marked, 0, count - 1)), axis=1)
    return ClipPair(clip.name, source.noisy(shown, rng), target.noisy(clean, rng), truth, shown, answers, pairs)


def _key_frames(shown: np.ndarray) -> np.ndarray:
    """(KEYS,) both ends, and between them where the body's pose changes least."""
    some = shown[:, ::50] - shown[:, ::50].mean(axis=1, keepdims=True)
    speed = np.linalg.norm(np.gradient(some, axis=0), axis=2).mean(axis=1)
    last = len(shown) - 1
    keys = [0, last]
    for middle in np.arange(1, KEYS - 1) * last / (KEYS - 1):
        low, high = int(middle - KEY_WINDOW * last), int(middle + KEY_WINDOW * last)
        keys.append(low + int(speed[low : high + 1].argmin()))
    return np.sort(keys)


def _field(places: np.ndarray, frames: int, rng: np.random.Generator) -> np.ndarray:
    """(F, V, 3) float32 waves over the body at rest, whose phases drift."""
    directions = rng.normal(size=(NOISE_WAVES, 3))
    directions *= (
        2.0 * np.pi / (NOISE_LENGTH * rng.uniform(1.0, 3.0, NOISE_WAVES) * np.linalg.norm(directions, axis=1))[:, None]
    )
    phases = rng.uniform(0, 2 * np.pi, NOISE_WAVES) + np.cumsum(
        rng.normal(0, 1.0 / np.sqrt(NOISE_TIME * FPS), (frames, NOISE_WAVES)), axis=0
    )
    ways = rng.normal(size=(NOISE_WAVES, 3))
    ways *= NOISE_FIELD * np.sqrt(2.0 / NOISE_WAVES) / np.linalg.norm(ways, axis=1, keepdims=True)
    along = (places @ directions.T).astype(np.float32)
    out = np.empty((frames, len(places), 3), np.float32)
    for frame, phase in enumerate(phases.astype(np.float32)):
        out[frame] = np.sin(along + phase) @ ways.astype(np.float32)
    return out


def _directions(rng: np.random.Generator) -> np.ndarray:
    vectors = rng.normal(size=(NOISE_WAVES, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _studio() -> np.ndarray:
    cosine, sine = np.cos(TURN), np.sin(TURN)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _neighbours(triangles: np.ndarray, count: int) -> csr_matrix:
    start, end = triangles.reshape(-1), np.roll(triangles, -1, axis=1).reshape(-1)
    return csr_matrix((np.ones(2 * len(start)), (np.r_[start, end], np.r_[end, start])), (count, count))
