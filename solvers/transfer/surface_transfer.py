"""What one captured body does, performed by another: a regression a part, and the torso's turns and travel."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..core.errors import InputError, PartError
from ..regression.gaussian_process import NEURAL_NETWORK, NOISE_FLOOR
from ..rotations.rigid import ground_yaw, procrustes, turned
from .correspondence import DenseClip
from .facing import facing
from .level import level_of
from .pose_regression import PoseRegression
from .regression_inputs import inputs_of_parts, with_velocity
from .rigid_motion import Bodies, RigidPairs, RigidTransfer, yaw_of
from .subject import Subject
from .subject_track import SubjectTrack
from .torso_turn import TorsoTurn

# Of the subject's size: parts nearer to each other, seen from above, do not tell where it faces.
_ABOUT_ONE_PLACE = 0.1
# The cosine of how far from upright a body may lean against the other and be told by its parts.
_LEANS = np.cos(np.radians(50.0))
# Parts that, turned, are off by more than this share of their mean square answer to each other badly.
_UNLIKE = 0.3

Clip = tuple[SubjectTrack, SubjectTrack, DenseClip]


@dataclass(frozen=True)
class SurfaceTransfer:
    """regressions: of each part from the poses and velocities that ``inputs_of_parts`` gives
    it, to poses.  sizes: (K,) numbers of each part of the target.  rigid: of the torso.  turn: what the torso turns
    otherwise than as it is copied; None where the source's tells nothing, and where an earlier version has learnt.
    level: (3, 3) takes the tilt of the source's world off, see ``level_of``."""

    regressions: tuple[PoseRegression, ...]
    sizes: tuple[int, ...]
    rigid: RigidTransfer
    turn: TorsoTurn | None = None
    level: np.ndarray = field(default_factory=lambda: np.eye(3))

    @classmethod
    def learn_steps(
        cls,
        clips: Sequence[Clip],
        fps: float,
        kernel: str = NEURAL_NETWORK,
        noise_floor: float = NOISE_FLOOR,
        *,
        bodies: Bodies,
    ) -> Generator[float, None, SurfaceTransfer]:
        """From pairs of clips: tracks of the source and of the target, and which of their frames answer to each other.

        fps: frames a second of the source's clips.  bodies: see ``bodies_of``.  Parts answer to each other by number
        (Boukhayma et al. 2017, section 5.2).  Yields shares of the way.

        The order of the clips makes no difference to poses; place and heading are those of the first.

        Raises InputError where there is no clip, tracks differ in their number of parts, and PartError as
        ``PoseRegression.fit``.
        """
        clips = list(clips)
        _check(clips)
        sizes = tuple(rows.shape[1] for rows in clips[0][1].rows)
        pairs = [_pairs(clip, fps) for clip in clips]
        yield 0.05
        regressions, count = [], len(pairs[0])
        for part in range(count):
            inputs, outputs = (np.concatenate([pair[part][side] for pair in pairs]) for side in (0, 1))
            regressions.append(_fitted(part, inputs, outputs, kernel, noise_floor))
            yield 0.05 + 0.85 * (part + 1) / count
        level = level_of(rigid_pairs(clips), bodies)
        clips = [(levelled(source, level), target, dense) for source, target, dense in clips]
        torsos = rigid_pairs(clips)
        rigid = RigidTransfer.learn(torsos, bodies)
        sides = ([part[dense.source_rows] for part in source.rows] for source, _, dense in clips)
        rows = [np.concatenate(part) for part in zip(*sides, strict=True)]
        turn = TorsoTurn.learn(rows, rigid.copied(torsos), torsos.target_rotations, torsos.clip)
        yield 1.0
        return cls(tuple(regressions), sizes, rigid, turn, level)

    def track(self, source: SubjectTrack, fps: float, start: np.ndarray | None = None) -> SubjectTrack:
        """The target's track of a clip of the source at fps frames a second.

        start: see ``RigidTransfer.apply``.  Raises InputError for a track of another number of parts, and as
        ``with_velocity``.
        """
        inputs = _inputs(source, fps)
        if len(inputs) != len(self.regressions):
            raise InputError(
                f"The clip has {len(source.rows)} parts and what was learnt has {len(self.sizes)}; learn it again."
            )
        if any(given.shape[1] != len(one.input_mean) for given, one in zip(inputs, self.regressions, strict=True)):
            raise InputError("Poses of the clip have other numbers than those that were learnt from; learn it again.")
        rows = tuple(regression.predict(given) for regression, given in zip(self.regressions, inputs, strict=True))
        source = levelled(source, self.level)
        rotations, translations = self.rigid.apply(source.rotations, source.translations, start)
        if self.turn is not None:
            rotations = rotations @ self.turn.turns(source.rows)
        return SubjectTrack(rows, rotations, translations)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All that is needed to build the same again: numbers, and a text for each regression's kernel."""
        out = {"sizes": np.array(self.sizes), "level": self.level}
        for number, regression in enumerate(self.regressions):
            out |= {f"regression {number} {name}": value for name, value in regression.to_arrays().items()}
        if self.turn is not None:
            out |= {f"turn {name}": value for name, value in self.turn.to_arrays().items()}
        return out | {f"rigid {name}": value for name, value in self.rigid.to_arrays().items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> SurfaceTransfer:
        """Of what ``to_arrays`` gave."""
        sizes = tuple(int(size) for size in arrays["sizes"])
        count = sum(name.startswith("regression ") and name.endswith(" kernel") for name in arrays)
        found = [_beginning(arrays, f"regression {number} ") for number in range(count)]
        regressions = tuple(PoseRegression.from_arrays(each) for each in found)
        turn = _beginning(arrays, "turn ")
        rigid = RigidTransfer.from_arrays(_beginning(arrays, "rigid "))
        level = np.asarray(arrays.get("level", np.eye(3)), float)  # earlier versions had none
        return cls(regressions, sizes, rigid, TorsoTurn.from_arrays(turn) if turn else None, level)


def levelled(track: SubjectTrack, level: np.ndarray) -> SubjectTrack:
    """A track in a world that is turned by (3, 3) about its origin; the same one where that is no turn."""
    if np.array_equal(level, np.eye(3)):
        return track
    return replace(track, rotations=level @ track.rotations, translations=track.translations @ level.T)


def bodies_of(source: Subject, target: Subject) -> Bodies:
    """Sizes of two subjects, and where the target faces in its local frame, by how the parts lie about the torso.

    Where the parts lie about one place seen from above, or there is but one, or they lie otherwise in the two bodies,
    shapes tell.
    """
    yaw, misfit = _layout_yaw(source, target)
    if misfit > _UNLIKE:
        shapes = [values for subject in (source, target) for values in (subject.captured.mean(axis=0), subject.mass)]
        yaw = facing(*shapes)
    return Bodies(source.size, target.size, yaw)


def _layout_yaw(source: Subject, target: Subject) -> tuple[float, float]:
    """Yaw that turns where the parts of one lie to where those of the other lie, seen from above, and how far off they
    are then: the share of their mean square, or endless where they lie about one place."""
    mine, other = (subject.layout / subject.size for subject in (source, target))
    mine, other = mine - mine.mean(axis=0), other - other.mean(axis=0)
    spreads = [np.square(places[:, :2]).sum(axis=1).mean() for places in (mine, other)]
    if min(spreads) <= _ABOUT_ONE_PLACE**2:
        return 0.0, np.inf
    yaw = float(ground_yaw(other, mine))
    away = other[:, :2] - turned(mine[:, :2], np.asarray(yaw))
    misfit = float(np.square(away).sum(axis=1).mean() / np.mean(spreads))
    return _leaning_yaw(mine, other) or (yaw, misfit) if misfit > _UNLIKE else (yaw, misfit)


def _leaning_yaw(mine: np.ndarray, other: np.ndarray) -> tuple[float, float] | None:
    """The same of places (K, 3) about their middles where one body leans against the other: seen from above they lie
    otherwise then, and not in space.  None where they do in space too."""
    rotation, _ = procrustes(other, mine)
    spread = np.mean([np.square(places).sum(axis=1).mean() for places in (mine, other)])
    misfit = float(np.square(other - mine @ rotation.T).sum(axis=1).mean() / spread)
    if misfit > _UNLIKE or rotation[2, 2] < _LEANS:
        return None
    return yaw_of(rotation), misfit


def rigid_pairs(clips: Sequence[Clip]) -> RigidPairs:
    """Where the torsos are at the moments that answer to each other, of all clips."""
    found = []
    for number, (source, target, dense) in enumerate(clips):
        there = target.sampled(dense.target_rows)
        here = source.rotations[dense.source_rows], source.translations[dense.source_rows]
        found.append((*here, there.rotations, there.translations, np.full(len(there), number)))
    return RigidPairs(*(np.concatenate(values) for values in zip(*found, strict=True)))


def _fitted(part: int, *pairs_and_options) -> PoseRegression:
    try:
        return PoseRegression.fit(*pairs_and_options)
    except InputError as problem:
        raise PartError(part, str(problem)) from problem


def _pairs(clip: Clip, fps: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inputs (n, P) and outputs (n, M) of each regression."""
    source, target, dense = clip
    inputs, outputs = _inputs(source, fps), target.sampled(dense.target_rows).rows
    return [(given[dense.source_rows], wanted) for given, wanted in zip(inputs, outputs, strict=True)]


def _inputs(source: SubjectTrack, fps: float) -> list[np.ndarray]:
    """Poses and velocities that each part's regression looks at."""
    return inputs_of_parts([with_velocity(part, fps) for part in source.rows])


def _beginning(arrays: dict[str, np.ndarray], start: str) -> dict[str, np.ndarray]:
    return {name[len(start) :]: value for name, value in arrays.items() if name.startswith(start)}


def _check(clips: list[Clip]) -> None:
    if not clips:
        raise InputError("There are no clips to learn from; add a pair of clips.")
    for number, (source, target, _) in enumerate(clips, start=1):
        if len(source.rows) != len(target.rows):
            raise InputError(
                f"Clip {number}: the source has {len(source.rows)} parts and the target {len(target.rows)}; give both "
                "the same parts."
            )
