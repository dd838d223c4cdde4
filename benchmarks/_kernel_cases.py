"""Bodies that perform the same clips, of which one is left out at a time: what two kernels are compared on."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solvers.core.interpolation import BetweenRows
from solvers.core.steps import result_of
from solvers.mapping.pair_suggestion import RowSpace, scores
from solvers.surface.cotangent import lumped_mass
from solvers.transfer.clip_pair import ClipRows
from solvers.transfer.correspondence import densify
from solvers.transfer.part_matching import match_parts
from solvers.transfer.part_suggestion import suggest_parts
from solvers.transfer.regression_inputs import inputs_of_parts, with_velocity
from solvers.transfer.subject import Subject
from solvers.transfer.torso_frame import to_local

from . import transfer_set as people
from .datasets import data_file
from .glb import GlbFile
from .imported_bodies import performed
from .retarget import Clip

FPS = 24.0
SUGGESTED, AT_RANDOM = "suggested", "at random"
# Pairs a clip, and how they are chosen.
CONFIGURATIONS = ((4, SUGGESTED), (6, SUGGESTED), (8, SUGGESTED), (12, SUGGESTED), (6, AT_RANDOM))
CLIP = 1000  # more stretches than a clip has
# Names of clips are ends of actions' names.
_ANIMALS = ("Walk", "Gallop", "Eating", "Gallop_Jump", "Jump_toIdle")
_DINOSAURS = ("Walk", "Run", "Attack", "Jump", "Idle")
_FISH = ("Attack", "Death", "Swimming_Fast", "Swimming_Impulse", "Swimming_Normal")
# Name: folder, clips, parts, the body by which parts are told.
_KINDS = {
    **dict.fromkeys(("Horse", "Cow", "Fox", "Husky", "Alpaca"), ("quadruped_rigs", _ANIMALS, 5, "Horse")),
    **dict.fromkeys(("Trex", "Velociraptor", "Apatosaurus"), ("nonhumanoid_rigs", _DINOSAURS, 5, "Trex")),
    **dict.fromkeys(("Shark", "Goldfish"), ("nonhumanoid_rigs", _FISH, 1, "Shark")),
}
_GROUPS = {"Horse": "animals", "Trex": "dinosaurs", "Shark": "fish"}
# Clips of people that are in no other set here.
_OTHER_CLIPS = (
    Clip("hang", "cmu/01_03_climb_hang_swing_30fps", 10.0, 75),
    Clip("dangle", "cmu/01_06_climb_sit_dangle_legs_30fps", 8.0, 75),
    Clip("lean back", "cmu/01_10_climb_swing_leanback_30fps", 8.0, 75),
    Clip("jog", "cmu/02_03_run_jog_30fps", 0.25, 28),
    Clip("uneven", "cmu/03_01_uneven_terrain_30fps", 0.4, 80),
    Clip("backflip", "misc/backflip", 3.0, 75),
    Clip("contortion", "misc/contorsion", 2.0, 75),
    Clip("other dance", "misc/dance", 6.0, 90),
    Clip("knockout", "misc/knockout", 1.0, 90),
)


@dataclass(frozen=True)
class Body:
    """name.  triangles (T, 3).  clips: vertices (F, V, 3), Z up.  memberships (K, V)."""

    name: str
    triangles: np.ndarray
    clips: dict[str, np.ndarray]
    memberships: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"part {number}" for number in range(len(self.memberships)))


@dataclass(frozen=True)
class KernelCase:
    """One clip is not learnt from.  Of each clip, moving: of each part, poses and velocities of the source; rows: poses
    alone; wanted: rows of the target; truth: (F,) the target's row for each of the source's.  Of the unseen clip,
    answers: of each part what is right, and beyond: (F,) squared metres that components cannot tell.  shares: (K,) of
    the parts in the target's area.  size: of the target, metres.
    """

    name: str
    group: str
    unseen: str
    moving: dict[str, tuple[np.ndarray, ...]]
    rows: dict[str, tuple[np.ndarray, ...]]
    wanted: dict[str, tuple[np.ndarray, ...]]
    truth: dict[str, np.ndarray]
    answers: tuple[np.ndarray, ...]
    beyond: tuple[np.ndarray, ...]
    shares: np.ndarray
    size: float
    fps: float

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(clip for clip in self.moving if clip != self.unseen)

    def pairs(self, count: int, how: str, seed: int = 0) -> dict[str, np.ndarray]:
        """By clip (L, 2): its ends and what a user adds between them, as suggested or anywhere."""
        found = {}
        for clip in self.known:
            length = len(self.truth[clip])
            rows = suggested(features_of(self.rows[clip]), min(count, length)) if how == SUGGESTED else np.concatenate((
                [0, length - 1],
                np.random.default_rng(seed).permutation(np.arange(1, length - 1))[: count - 2],
            ))  # fmt: skip
            rows = np.sort(rows)
            found[clip] = forward(np.stack((rows, np.round(self.truth[clip][rows])), axis=1).astype(float))
        return found

    def dense(self, pairs: dict[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
        """Inputs (n, P) and outputs (n, M) of each part's regression, and (n,) of which stretch between pairs each is,
        counted from ``CLIP`` times the clip's number."""
        clips = [ClipRows(self.rows[clip], self.wanted[clip], pairs[clip]) for clip in self.known]
        inputs, outputs, stretch = [], [], []
        for clip, made in zip(self.known, densify(clips), strict=True):
            at = BetweenRows.at_places(made.target_rows, len(self.wanted[clip][0]))
            inputs.append([part[made.source_rows] for part in inputs_of_parts(self.moving[clip])])
            outputs.append([at.of(part) for part in self.wanted[clip]])
            last = len(pairs[clip]) - 2
            stretch.append(
                CLIP * len(stretch)
                + np.clip(np.searchsorted(pairs[clip][:, 0], made.source_rows, side="right") - 1, 0, last)
            )
        sides = ([np.concatenate(part) for part in zip(*side, strict=True)] for side in (inputs, outputs))
        return *sides, np.concatenate(stretch)

    @property
    def shown(self) -> list[np.ndarray]:
        """Inputs (F, P) of the unseen clip."""
        return inputs_of_parts(self.moving[self.unseen])

    def squares(self, predicted: list[np.ndarray]) -> np.ndarray:
        """(K,) mean squared distances of vertices, over the body's size, of each part of the unseen clip."""
        sides = zip(predicted, self.answers, self.beyond, strict=True)
        return np.array([np.mean(np.square(a - b).sum(axis=1) + c) for a, b, c in sides]) / self.size**2


def forward(pairs: np.ndarray) -> np.ndarray:
    """Without those that would stop time."""
    keep = [0]
    for row in range(1, len(pairs)):
        if (pairs[row] > pairs[keep[-1]]).all():
            keep.append(row)
    return pairs[keep]


def features_of(rows: tuple[np.ndarray, ...]) -> np.ndarray:
    """As Transfer's Suggest Pair has them."""
    parts = [part - part.mean(axis=0) for part in rows]
    parts = [part / max(float(np.sqrt((part**2).sum(axis=1).mean())), 1e-12) for part in parts]
    return np.concatenate([*parts, np.ones((len(parts[0]), 1))], axis=1) / np.sqrt(len(parts) + 1.0)


def suggested(features: np.ndarray, count: int) -> np.ndarray:
    space, found = RowSpace.of(features), [0, len(features) - 1]
    while len(found) < count:
        score = scores(space, features[found])
        score[found] = -1.0
        found.append(int(score.argmax()))
    return np.array(found)


# --------------------------------------------------------------------------------------------------------- animals


@functools.cache
def animal(name: str) -> Body:
    folder, clips, count, like = _KINDS[name]
    file = f"{folder}/quaternius/{name}.glb"
    actions = GlbFile(data_file(file)).actions
    found = {}
    for clip in clips:
        action = next(a for a in actions if a.lower().endswith((f"|{clip}".lower(), f"_{clip}".lower())))
        found[clip] = performed(file, action, FPS)
    first = found[clips[0]]
    masks = np.ones((1, first.vertices.shape[1]), bool)
    if count > 1:
        masks = suggest_parts(first.vertices[0], first.triangles, count)
        if name != like:
            other = animal(like)
            masks = masks[match_parts(other.clips[clips[0]][0], other.memberships, first.vertices[0], masks)]
    return Body(name, first.triangles, {clip: each.vertices for clip, each in found.items()}, masks)


@functools.cache
def _subject(name: str, left_out: str) -> Subject:
    return _learnt(animal(name), left_out)


def _learnt(body: Body, left_out: str) -> Subject:
    clips = [vertices for clip, vertices in body.clips.items() if clip != left_out]
    return result_of(Subject.learn_steps(clips, body.triangles, body.memberships, body.names))


def animal_cases(source: str, target: str, group: str) -> Iterator[KernelCase]:
    one, other = animal(source), animal(target)
    truth = {
        clip: np.linspace(0.0, len(other.clips[clip]) - 1.0, len(vertices)) for clip, vertices in one.clips.items()
    }
    for clip in one.clips:
        yield _case(one, other, _subject(source, clip), _subject(target, clip), truth, clip, group, FPS)


def _case(one, other, source, target, truth, unseen, group, fps, right=None) -> KernelCase:
    """right: vertices (F, W, 3) that answer to the unseen clip, where they are better known than by the target's."""
    here = {clip: source.read(vertices) for clip, vertices in one.clips.items()}
    there = {clip: target.read(vertices) for clip, vertices in other.clips.items()}
    moving = {clip: tuple(with_velocity(part, fps) for part in track.rows) for clip, track in here.items()}
    shown = other.clips[unseen]
    if right is None:
        right = BetweenRows.at_places(truth[unseen], len(shown)).of(shown.reshape(len(shown), -1))
        right = right.reshape(-1, *shown.shape[1:])
    local = to_local(right, *target.torso.of(right))
    answers = tuple(part.coefficients_of(local[:, part.vertices]) for part in target.parts)
    beyond = tuple(
        np.einsum("n,fni->f", part.weights, np.square(local[:, part.vertices] - part.vertices_of(rows)))
        for part, rows in zip(target.parts, answers, strict=True)
    )
    mass = lumped_mass(target.reference, target.triangles)
    areas = np.array([mass[part.vertices].sum() for part in target.parts])
    rows = [{clip: track.rows for clip, track in tracks.items()} for tracks in (here, there)]
    return KernelCase(
        f"{one.name} to {other.name}", group, unseen, moving, *rows, truth, answers, beyond,
        areas / areas.sum(), target.size, fps,
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- people


@functools.cache
def _people(kind: str, seed: int = 0) -> tuple[Body, Body, dict]:
    """Geno and Cranberry in the clips of the scored set, or in others."""
    clips = people.TRAINING + people.UNSEEN if kind == "set" else _OTHER_CLIPS
    made = people.set_of(clips, (), seed)
    bodies = [
        Body(data.name, data.triangles, {clip.name: getattr(clip, side) for clip in made.training}, data.memberships)
        for side, data in (("source", made.source), ("target", made.target))
    ]
    return *bodies, {clip.name: clip for clip in made.training}


@functools.cache
def _person(kind: str, side: int, known: tuple[str, ...]) -> Subject:
    body = _people(kind)[side]
    clips = [body.clips[clip] for clip in known]
    return result_of(Subject.learn_steps(clips, body.triangles, body.memberships, body.names))


def people_cases(kind: str, backward: bool, draws: int, group: str, known: int = 4) -> Iterator[KernelCase]:
    """Of each draw so many clips are learnt from, and each of the others is a case."""
    *bodies, clips = _people(kind)
    one, other = bodies[::-1] if backward else bodies
    for draw in range(draws):
        order = np.random.default_rng(100 + draw).permutation(sorted(clips))
        learnt = tuple(order[:known])
        subjects = [_person(kind, side, learnt) for side in ((1, 0) if backward else (0, 1))]
        for unseen in order[known:]:
            chosen = (*learnt, str(unseen))
            truth = {}
            for clip in chosen:
                there = clips[clip].truth
                frames = np.arange(len(there), dtype=float)
                truth[clip] = np.interp(np.arange(len(one.clips[clip])), there, frames) if backward else there
            cut = [Body(b.name, b.triangles, {c: b.clips[c] for c in chosen}, b.memberships) for b in (one, other)]
            right = None if backward else clips[unseen].answers
            yield _case(*cut, *subjects, truth, str(unseen), group, people.FPS, right)


LOOKED_AT = {"Horse", "Cow", "Fox", "Husky"}


def kernel_cases(quick: bool = False) -> Iterator[KernelCase]:
    """All, or one of each group; each is made when it is asked for."""
    seen = set()
    for group, cases in _groups_of_cases():
        if not quick:
            yield from cases
        elif group not in seen:
            seen.add(group)
            yield next(cases)


def _groups_of_cases() -> Iterator[tuple[str, Iterator[KernelCase]]]:
    """By name; a name may come several times."""
    for source, (_, _, _, kind) in _KINDS.items():
        for target, (_, _, _, other) in _KINDS.items():
            if source != target and kind == other:
                looked_at = "looked at" if {source, target} <= LOOKED_AT else "held out"
                group = f"{_GROUPS[kind]}, {looked_at}"
                yield group, animal_cases(source, target, group)
    for backward in (False, True):
        for kind, group in (("set", "people, looked at"), ("other", "people, held out")):
            yield group, people_cases(kind, backward, 2, group)
