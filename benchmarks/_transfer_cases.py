"""The scored set as rows of numbers, in either direction: what regressions learn, and how far from right they are."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from solvers.core.interpolation import BetweenRows
from solvers.core.steps import result_of
from solvers.surface.cotangent import lumped_mass
from solvers.transfer.clip_pair import ClipRows
from solvers.transfer.part_space import PartSpace, learn_part_steps
from solvers.transfer.regression_inputs import with_velocity
from solvers.transfer.subject import Subject
from solvers.transfer.subject_track import SubjectTrack
from solvers.transfer.torso_frame import to_local

from .transfer_set import PART_NAMES, ClipPair, TransferSet, transfer_set

COMPONENTS = 20
Rows = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Moments:
    """Of a clip, at F moments.  inputs: of each part (F, 2 P_k) poses and velocities as captured.  outputs: (F, M_k) as
    captured; answers: without noise.  beyond: (F,) squared metres that the components cannot tell."""

    inputs: Rows
    outputs: Rows
    answers: Rows
    beyond: Rows

    def taken(self, rows: np.ndarray) -> Moments:
        """Of some moments only."""
        return Moments(*(tuple(part[rows] for part in side) for side in vars(self).values()))


@dataclass(frozen=True)
class Case:
    """A clip in one direction.  moments: at the frames of Geno, in both directions; places: those in the source's
    frames, and keys: numbers of the key poses among them.  clip: all frames, and key poses where any are marked.
    moving: of each part (n, 2 P_k) poses and velocities of the source's frames.  truth: for each frame of the source's
    the target's.  here, there: tracks.  answered: the target's track without noise, at the moments.  answers: its
    vertices (F, W, 3)."""

    name: str
    moments: Moments
    clip: ClipRows
    moving: Rows
    truth: np.ndarray
    here: SubjectTrack
    there: SubjectTrack
    places: np.ndarray
    keys: np.ndarray
    answered: SubjectTrack
    answers: np.ndarray


@dataclass(frozen=True)
class Direction:
    """shares: (K,) of the parts in the target's area, of sum one."""

    name: str
    source: Subject
    target: Subject
    shares: np.ndarray
    training: tuple[Case, ...]
    unseen: tuple[Case, ...]
    fps: float

    def error(self, predicted: Rows, moments: Moments) -> float:
        """RMS distance of vertices, weighted by area, mm; those of an overlap count in each of its parts."""
        return float(np.sqrt(np.mean(self.squares(predicted, moments)))) * 1e3

    def squares(self, predicted: Rows, moments: Moments) -> np.ndarray:
        """(F,) mean squared distances of vertices, square metres."""
        sides = zip(predicted, moments.answers, moments.beyond, strict=True)
        of_parts = [np.square(rows - right).sum(axis=1) + beyond for rows, right, beyond in sides]
        return self.shares @ np.stack(of_parts)


def together(cases: tuple[Case, ...]) -> Moments:
    """The moments of all cases, one after the other."""
    sides = zip(*(vars(case.moments).values() for case in cases), strict=True)
    return Moments(*(tuple(np.concatenate(part) for part in zip(*side, strict=True)) for side in sides))


def key_rows(cases: tuple[Case, ...]) -> np.ndarray:
    """Numbers of the key poses' moments in ``together``."""
    starts = np.cumsum([0, *(len(case.places) for case in cases)])
    return np.concatenate([start + case.keys for start, case in zip(starts[:-1], cases, strict=True)])


@functools.cache
def direction(backward: bool = False, whole: bool = False) -> Direction:
    """From Geno to Cranberry, or back.  whole: the body is one part, of as many numbers as five parts have."""
    return direction_of(transfer_set(), _subjects(), backward, whole)


def subjects_of(scored: TransferSet) -> tuple[Subject, Subject]:
    """Both subjects of the set, of five parts."""
    found = []
    for side, data in (("source", scored.source), ("target", scored.target)):
        clips = [getattr(clip, side) for clip in scored.training]
        found.append(result_of(Subject.learn_steps(clips, data.triangles, data.memberships, PART_NAMES)))
    return tuple(found)


@functools.cache
def _subjects() -> tuple[Subject, Subject]:
    return subjects_of(transfer_set())


def direction_of(scored: TransferSet, both: tuple[Subject, Subject], backward: bool, whole: bool = False) -> Direction:
    """See ``direction``, which is of the set that all others are of."""
    spaces = [_whole(subject, [getattr(clip, side) for clip in scored.training]) if whole else subject.parts
              for subject, side in zip(both, ("source", "target"), strict=True)]  # fmt: skip
    source, target = both[::-1] if backward else both
    spaces = spaces[::-1] if backward else spaces
    cases = [_case(clip, source, target, spaces, backward, scored.fps) for clip in scored.training + scored.unseen]
    count = len(scored.training)
    mass = lumped_mass(target.reference, target.triangles)
    areas = np.array([mass[part.vertices].sum() for part in spaces[1]])
    name = "Cranberry to Geno" if backward else "Geno to Cranberry"
    shares = areas / areas.sum()
    return Direction(name, source, target, shares, tuple(cases[:count]), tuple(cases[count:]), scored.fps)


def _whole(subject: Subject, clips: list[np.ndarray]) -> tuple[PartSpace, ...]:
    local = np.concatenate([_local(subject, clip) for clip in clips])
    mass = lumped_mass(subject.reference, subject.triangles)
    steps = learn_part_steps(local, np.arange(len(mass)), mass, "body", COMPONENTS * len(subject.parts))
    return (result_of(steps),)


def _local(subject: Subject, vertices: np.ndarray) -> np.ndarray:
    return to_local(vertices, *subject.torso.of(vertices)).astype(np.float32)


def _read(subject: Subject, parts: tuple[PartSpace, ...], vertices: np.ndarray) -> tuple[SubjectTrack, np.ndarray]:
    """Its track, and (F, V, 3) local vertices."""
    local = _local(subject, vertices)
    rows = tuple(part.coefficients_of(local[:, part.vertices]) for part in parts)
    return SubjectTrack(rows, *subject.torso.of(vertices)), local


def _case(clip: ClipPair, source: Subject, target: Subject, spaces, backward: bool, fps: float) -> Case:
    sides = (clip.target, clip.source) if backward else (clip.source, clip.target)
    (here, _), (there, _) = (
        _read(subject, parts, side) for subject, parts, side in zip((source, target), spaces, sides, strict=True)
    )
    frames = np.arange(len(clip.truth), dtype=float)
    places, answers = (clip.truth, clip.shown) if backward else (frames, clip.answers)
    answered, local = _read(target, spaces[1], answers)
    moving = tuple(with_velocity(part, fps) for part in here.rows)
    given, wanted = (BetweenRows.at_places(at, len(side)) for at, side in
                     zip((places, frames if backward else clip.truth), (here, there), strict=True))  # fmt: skip
    beyond = tuple(
        np.einsum("n,fni->f", part.weights, np.square(local[:, part.vertices] - part.vertices_of(rows)))
        for part, rows in zip(spaces[1], answered.rows, strict=True)
    )
    moments = Moments(
        tuple(given.of(part) for part in moving), tuple(wanted.of(part) for part in there.rows), answered.rows, beyond
    )
    truth = np.interp(np.arange(len(here)), clip.truth, frames) if backward else clip.truth
    keys, pairs = clip.pairs[:, 0], (clip.pairs[:, ::-1] if backward else clip.pairs).astype(float)
    rows = ClipRows(here.rows, there.rows, pairs)
    return Case(clip.name, moments, rows, moving, truth, here, there, places, keys, answered, answers)
