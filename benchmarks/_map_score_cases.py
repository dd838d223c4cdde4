"""Real motions that drive real targets, for the scores of ways to map: with the right result known, or not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from solvers.core.interpolation import BetweenRows
from solvers.mapping.global_motion import ALL, NONE, GlobalMotion
from solvers.mapping.pair_suggestion import RowSpace, scores
from solvers.mapping.source_motion import SourceModel
from solvers.mapping.steady_points import steady_weights

from . import _map_cases, _map_ways
from ._map_score_rigs import FPS, rig_clips
from .camel_gallop import camel_gallop
from .datasets import data_file
from .mesh_sequences import mesh_sequence

PAIRS = 8
# Source, target, their folder, the clips that are paired, one that is not, one in whose first frame both rest.
_QUADRUPED = "quadruped_rigs", ("|Walk", "|Gallop", "|Eating"), "|Gallop_Jump", "|Idle"
_DINOSAUR = "nonhumanoid_rigs", ("_Walk", "_Run", "_Attack"), "_Jump", "_Idle"
_RIGS = (
    ("Horse", "Cow", *_QUADRUPED, False),
    ("Fox", "Husky", *_QUADRUPED, False),
    ("Alpaca", "Horse", *_QUADRUPED, True),
    ("Husky", "Alpaca", *_QUADRUPED, True),
    ("Cow", "Fox", *_QUADRUPED, True),
    ("Velociraptor", "Trex", *_DINOSAUR, True),
    ("Trex", "Apatosaurus", *_DINOSAUR, True),
)
CAMEL = "horse gallop to camel"
_EVERY = 20  # vertices from one point of a mesh that is a source to the next
_FACE = "holistic_face_hands/hand_0ff215ef4f1f111e217e2cefee0adc77"


@dataclass(frozen=True)
class SourceMesh:
    """The surface of a source: vertices (F, S, 3) at the frames that are mapped, triangles (T, 3), at rest (S, 3), and
    the target's vertices (V, 3) at rest in an answering pose."""

    vertices: np.ndarray
    triangles: np.ndarray
    rest: np.ndarray
    target_rest: np.ndarray


@dataclass(frozen=True)
class Fold:
    """known: features (n, P) of paired poses.  paired: (n,) rows of the target, between frames too.  shown: (F,) bool,
    the frames that are mapped by these."""

    known: np.ndarray
    paired: np.ndarray
    shown: np.ndarray


@dataclass(frozen=True)
class ScoreCase:
    """target: (N, V, 3) without ground motion, triangles (T, 3).  rows: (F, P) features of the source.  clips: (F,) of
    which clip each is.  answers: (F,) the row of the target, between frames too, that is right, where that is known.
    counted, unseen: (F,) bool, frames of clips that are paired, no pair themselves, and of clips without a pair.
    taken_off: leaves the pose alone of vertices (F, V, 3), world.  held_out: neither its source nor its target were
    looked at while poses were made to be right."""

    name: str
    held_out: bool
    target: np.ndarray
    triangles: np.ndarray
    rows: np.ndarray
    clips: np.ndarray
    folds: tuple[Fold, ...]
    counted: np.ndarray
    unseen: np.ndarray
    answers: np.ndarray | None = None
    source: SourceMesh | None = None
    taken_off: Callable[[np.ndarray], np.ndarray] = np.asarray

    @property
    def diagonal(self) -> float:
        return float(np.linalg.norm(np.ptp(self.target[0], axis=0)))

    @functools.cached_property
    def truth(self) -> np.ndarray | None:
        """(F, V, 3), None where it is not known."""
        return None if self.answers is None else self._at(self.answers)

    def poses(self, fold: Fold) -> np.ndarray:
        """(n, V, 3) of the target that a fold pairs."""
        return self._at(fold.paired)

    def _at(self, rows: np.ndarray) -> np.ndarray:
        return BetweenRows.at(rows, np.arange(float(len(self.target)))).of(self.target)


def rig_cases(quick: bool = False) -> Iterator[ScoreCase]:
    """Of rigs that play the same clips, a loop the first of them; each is made when it is asked for.

    quick: one that was held out, one that was not.
    """
    last = {rig[-1]: rig for rig in _RIGS}
    for rig in last.values() if quick else _RIGS:
        yield _of_rigs(*rig)


def score_cases() -> Iterator[ScoreCase]:
    """All, the known ones first; each is made when it is asked for."""
    yield from rig_cases()
    yield _cat_to_lion()
    yield _horse_to_camel()
    gallop, cat = _map_cases.target("horse_gallop"), _map_cases.target("walking_cat")
    yield _horse_poses_to("cat")
    yield _horse_poses_to("lion")
    for clip, mesh in (("walk00", gallop), ("pace", gallop), ("pace", cat)):
        yield _of_case(_map_cases.from_clip("dog", clip, mesh))
    yield _of_case(_from_face(_map_cases.target("face_poses")))


# ------------------------------------------------------------------------------------------------------------ rigs


def _of_rigs(
    source: str, target: str, folder: str, paired: tuple[str, ...], unseen: str, rest: str, held_out: bool
) -> ScoreCase:
    clips = *paired, unseen
    one, other = (rig_clips(f"{folder}/quaternius/{name}.glb", (*clips, rest)) for name in (source, target))
    points = [one.points[clip] for clip in clips]
    model = _model(points)
    rows = np.concatenate([_rows(model, clip) for clip in points])
    number = np.repeat(np.arange(len(clips)), [len(clip) for clip in points])
    own = [other.vertices[clip] for clip in clips]
    starts = np.cumsum([0, *map(len, own[:-1])])
    at = np.concatenate([
        start + np.linspace(0.0, len(theirs) - 1.0, len(ours))
        for start, theirs, ours in zip(starts, own, points, strict=True)
    ])  # fmt: skip
    whole = np.concatenate(own)
    ground = GlobalMotion(whole[0], ALL, steady_weights(whole[:: max(len(whole) // 50, 1)]))
    mesh = ground.track(whole).points
    is_unseen = number == len(paired)
    every = np.arange(len(rows))
    picks = picked(rows, ~is_unseen)
    surface = np.concatenate([one.vertices[clip] for clip in clips])
    cage = SourceMesh(surface, one.triangles, one.vertices[rest][0], other.vertices[rest][0])
    return ScoreCase(
        f"{source} to {target}", held_out, mesh, other.triangles, rows, number,
        (Fold(rows[picks], at[picks], every >= 0),), ~is_unseen & ~np.isin(every, picks), is_unseen, at, cage,
        lambda shown: ground.track(shown).points,
    )  # fmt: skip


def _model(clips: list[np.ndarray]) -> SourceModel:
    """Of clips (F, J, 3) one after the other, far enough apart that none seems to follow from the one before."""
    times = np.concatenate([10.0 * number + np.arange(len(clip)) / FPS for number, clip in enumerate(clips)])
    points = np.concatenate(clips)
    return SourceModel.fit(tuple(map(str, range(points.shape[1]))), points, times, ALL, tracked=False)


def _rows(model: SourceModel, points: np.ndarray) -> np.ndarray:
    return model.features.rows(model.ground.track(points).points, np.arange(len(points)) / FPS)


def picked(rows: np.ndarray, weights: np.ndarray, count: int = PAIRS, after: np.ndarray | None = None) -> np.ndarray:
    """So many frames, each the best suggestion at its turn. weights: (F,) how much frames matter.  after: (n,) frames
    that are paired already, which come first."""
    space, picks = RowSpace.of(rows, weights=weights), [] if after is None else after.tolist()
    for _ in range(count):
        picks.append(int(np.argmax(scores(space, rows[picks]))))
    return np.array(picks)


# ----------------------------------------------------------------------------------------------------- mesh sequences


def _cat_to_lion() -> ScoreCase:
    """Nine poses, each by pairs of all others: the lion's were made from the cat's by deformation transfer, by hand-set
    correspondences. Where they were put is nobody's pose: all are about their middle."""
    cat, lion = (_map_cases.target(f"{name}_poses") for name in ("cat", "lion"))
    places = _centred(cat.vertices[:, ::_EVERY])
    model = SourceModel.fit(tuple(map(str, range(places.shape[1]))), places, cat.times, NONE, tracked=False)
    rows = model.features.rows(model.ground.track(places).points, cat.times)
    every, count = np.arange(len(rows)), len(rows)
    folds = tuple(Fold(rows[every != one], every[every != one].astype(float), every == one) for one in every)
    cage = SourceMesh(cat.vertices, cat.triangles, _reference("cat-poses"), _reference("lion-poses"))
    right = _centred(lion.vertices)
    return ScoreCase(
        "cat poses to lion poses", True, right, lion.triangles, rows, every, folds,
        np.ones(count, bool), np.zeros(count, bool), every.astype(float), cage, _centred,
    )  # fmt: skip


def _centred(vertices: np.ndarray) -> np.ndarray:
    return vertices - vertices.mean(axis=1, keepdims=True)


def _horse_to_camel() -> ScoreCase:
    """The gallop of a horse moves a camel whose own one was made from it."""
    vertices, triangles = camel_gallop()
    ground = GlobalMotion(vertices[0], ALL, steady_weights(vertices))
    camel = ground.track(vertices).points
    horse = _map_cases.target("horse_gallop")
    points = np.tile(horse.vertices[:, ::_EVERY], (2, 1, 1))
    # Two rounds, of which the second counts: how its first frame came about is then known.
    rows = _rows(_model([points]), points)[len(camel) :]
    picks = picked(rows, np.ones(len(rows)))
    every = np.arange(len(rows))
    surface = mesh_sequence("horse_gallop")[0][: len(camel)][..., [0, 2, 1]] * [1, -1, 1]
    cage = SourceMesh(surface, horse.triangles, _reference("horse-gallop"), _reference("camel"))
    return ScoreCase(
        CAMEL, False, camel, triangles, rows, 0 * every,
        (Fold(rows[picks], picks.astype(float), every >= 0),),
        ~np.isin(every, picks), every < 0, every.astype(float), cage, lambda shown: ground.track(shown).points,
    )  # fmt: skip


def _horse_poses_to(name: str) -> ScoreCase:
    """Ten poses of a horse, a second apart and smooth in between, drive an animal whose poses nobody has paired."""
    horse, mesh = (_map_cases.target(f"{animal}_poses") for animal in ("horse", name))
    times = np.arange(0.0, horse.times[-1] + 1e-9, 0.1)
    places = PchipInterpolator(horse.times, horse.vertices)(times)
    points = places[:, ::_EVERY]
    model = SourceModel.fit(tuple(map(str, range(points.shape[1]))), points, times, NONE, tracked=False)
    rows = model.features.rows(model.ground.track(points).points, times)
    at = np.searchsorted(times, horse.times - 1e-6)[: len(mesh.vertices)]
    every = np.ones(len(rows), bool)
    cage = SourceMesh(places, horse.triangles, _reference("horse-gallop"), _reference(f"{name}-poses"))
    return ScoreCase(
        f"horse poses to {name} poses", False, mesh.vertices, mesh.triangles, rows, 0 * every,
        (Fold(rows[at], np.arange(float(len(at))), every),), every, ~every, None, cage,
    )  # fmt: skip


def _reference(name: str) -> np.ndarray:
    """(V, 3) of the rest that a sequence's poses were made from, Z up."""
    lines = data_file(f"mesh_seq/ref_{name}.obj").read_text().splitlines()
    places = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)
    return places[:, [0, 2, 1]] * [1, -1, 1]


# ------------------------------------------------------------------------------------------- nobody knows what is right


def _of_case(case: _map_cases.Case) -> ScoreCase:
    space = _map_ways.target_space(case.target.name, _map_ways.COMBINED, 50, case.target)
    features = _map_ways.features_of(case, False)
    known, picks, frames = _map_ways.pairs_of(case, features, scores, space)
    rows = features(case.mapped, case.times, _map_cases.FPS)
    every = np.ones(len(rows), bool)
    return ScoreCase(
        case.name, False, case.target.vertices, case.target.triangles, rows, 0 * every,
        (Fold(known[picks], frames.astype(float), every),), every, ~every,
    )  # fmt: skip


def _from_face(mesh: _map_cases.Target) -> _map_cases.Case:
    """68 landmarks of a speaking face, in its size, seen from the front, drive a mesh of another one."""
    with np.load(data_file(f"point_seq/{_FACE}.npz")) as file:
        points, fps = file["face68"].astype(float), float(file["fps"])
    points = points[..., [0, 2, 1]] * [1.0, 1.0, -1.0]
    points[..., 1] = 0.0
    points /= np.nanmax(np.ptp(points[0], axis=0))
    good = np.isfinite(points).all(axis=(1, 2))
    return _map_cases.from_points("face landmarks", points[good], np.flatnonzero(good) / fps, NONE, mesh)
