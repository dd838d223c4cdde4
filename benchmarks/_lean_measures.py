"""The scored set with one of the two bodies leaning: its world, its bearing, or as its limbs move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from solvers.core.steps import result_of
from solvers.transfer.correspondence import densify
from solvers.transfer.rigid_motion import RigidTransfer
from solvers.transfer.subject import Subject
from solvers.transfer.surface_transfer import SurfaceTransfer, bodies_of, rigid_pairs
from solvers.transfer.torso_turn import TorsoTurn

from ._transfer_cases import Direction, direction_of, subjects_of
from ._transfer_world import _away
from .transfer_set import ClipPair, TransferSet, transfer_set

COPIED, TORSO, NOW, LOCAL = "turn copied", "by the torso alone", "now", "torso's frame"
WORLD, VARIES = np.radians(25.0), np.radians(20.0)
LEANS = (
    "none", "its world, 25 degrees", "its bearing, 25 degrees", "with its torso, +-20", "with an arm, +-20",
    "with a leg, +-20",
)  # fmt: skip
_PARTS = {"with its torso, +-20": 0, "with an arm, +-20": 1, "with a leg, +-20": 3}


@dataclass(frozen=True)
class Leaning:
    """Who leans how, "source" or "target" of the direction; errors: by way, mm in the world, of all unseen clips.
    level: degrees that were taken off."""

    who: str
    lean: str
    direction: str
    errors: dict[str, float]
    level: float


def leaning(quick: bool = False) -> Iterator[Leaning]:
    """Of each lean of each body of the set, in both directions; quick: of one whose world is tilted."""
    base = transfer_set()
    plain = subjects_of(base)
    for side in ("source",) if quick else ("source", "target"):
        subject = plain[side == "target"]
        for lean in LEANS[:2] if quick else LEANS[1:] if side == "target" else LEANS:
            leant = _set_with(base, side, _leaned(lean, subject, [getattr(clip, side) for clip in base.training]))
            both = subjects_of(leant)
            for backward in (False, True):
                of = direction_of(leant, both, backward)
                who = "source" if (side == "source") != backward else "target"
                errors, level = _errors(of)
                yield Leaning(who if lean != LEANS[0] else "nobody", lean, of.name, errors, level)


def _set_with(base: TransferSet, side: str, change: Callable[[np.ndarray], np.ndarray]) -> TransferSet:
    names = ("source", "shown") if side == "source" else ("target", "answers")

    def changed(clip: ClipPair) -> ClipPair:
        return replace(clip, **{name: change(getattr(clip, name)) for name in names})

    return replace(base, training=tuple(map(changed, base.training)), unseen=tuple(map(changed, base.unseen)))


def _leaned(lean: str, subject: Subject, clips: list[np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    if lean == LEANS[0]:
        return lambda vertices: vertices
    if lean == LEANS[1]:
        turn = Rotation.from_euler("x", WORLD).as_matrix().T
        return lambda vertices: (vertices @ turn).astype(np.float32)
    if lean == LEANS[2]:
        return lambda vertices: _bent(vertices, subject, np.full(len(vertices), WORLD))
    part = _PARTS[lean]
    spread = np.std(np.concatenate([subject.read(clip).rows[part][:, 0] for clip in clips]))
    return lambda vertices: _bent(vertices, subject, VARIES * np.tanh(subject.read(vertices).rows[part][:, 0] / spread))


def _bent(vertices: np.ndarray, subject: Subject, angles: np.ndarray) -> np.ndarray:
    """Frames (F, V, 3), each leaned by an angle (F,) about the torso's place and an axis that goes with its heading."""
    track = subject.read(vertices)
    yaw = np.arctan2(*np.moveaxis(track.rotations[:, [1, 0], [0, 0]], 1, 0))
    heading = Rotation.from_euler("z", yaw)
    turns = (heading * Rotation.from_euler("x", angles) * heading.inv()).as_matrix()
    middle = track.translations[:, None]
    return (middle + np.einsum("fij,fnj->fni", turns, vertices - middle)).astype(np.float32)


def _errors(of: Direction) -> tuple[dict[str, float], float]:
    dense = densify([case.clip for case in of.training])
    clips = [(case.here, case.there, one) for case, one in zip(of.training, dense, strict=True)]
    bodies = bodies_of(of.source, of.target)
    now = result_of(SurfaceTransfer.learn_steps(clips, of.fps, bodies=bodies))
    torsos = rigid_pairs(clips)
    rigid = RigidTransfer.learn(torsos, bodies)
    rows = np.concatenate([source.rows[0][pairs.source_rows] for source, _, pairs in clips])
    turn = TorsoTurn.learn([rows], rigid.copied(torsos), torsos.target_rotations, torsos.clip)
    ways = {
        COPIED: replace(now, rigid=rigid, turn=None, level=np.eye(3)),
        TORSO: replace(now, rigid=rigid, turn=turn, level=np.eye(3)),
        NOW: now,
    }
    squares = {way: [] for way in (*ways, LOCAL)}
    for case in of.unseen:
        for way, learnt in ways.items():
            track = learnt.track(case.here, of.fps).sampled(case.places)
            squares[way].append(_away(of, case, track) ** 2)
        squares[LOCAL].append(_away(of, case, replace(track, rotations=case.answered.rotations)) ** 2)
    errors = {way: float(np.sqrt(np.mean(values))) for way, values in squares.items()}
    return errors, float(np.degrees(np.arccos(np.clip(now.level[2, 2], -1.0, 1.0))))
