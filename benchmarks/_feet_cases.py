"""What Map and Transfer make of meshes with feet, on real bodies, before their feet are held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from solvers.core.steps import result_of
from solvers.mapping.global_motion import ALL, GlobalMotion
from solvers.mapping.source_motion import SourceModel, source_track
from solvers.mapping.track import MotionMap, map_track
from solvers.mapping.travel_estimators import TravelChoices, TravelEstimators
from solvers.rotations.rigid import turned
from solvers.shapes.feet_readout import FeetReadout
from solvers.shapes.foot_plants import PlantChoices
from solvers.shapes.mesh_feet import find_feet, lowest_ground
from solvers.shapes.planter import Planter
from solvers.shapes.target_space import learn_target_steps
from solvers.surface.weld import staying_together
from solvers.transfer.correspondence import DenseClip
from solvers.transfer.ground_contact import with_clearance
from solvers.transfer.subject import Subject
from solvers.transfer.subject_track import SubjectTrack
from solvers.transfer.surface_transfer import SurfaceTransfer, bodies_of

from ._transfer_bodies import FPS as DANCE_FPS
from ._transfer_bodies import dance
from .camel_gallop import camel_gallop
from .imported_bodies import performed
from .mesh_sequences import mesh_sequence
from .transfer_set import PART_NAMES, transfer_set

ROUNDS, PAIRS, EVERY = 4, 8, 20
_MESH_FPS = 24.0


# Of Map: how far a target goes is told by its feet, and it walks on level ground.
ON_STROKES = PlantChoices(may_climb=False, may_root=False)


@dataclass(frozen=True)
class Moving:
    """times (F,) seconds, vertices (F, V, 3) world, metres, Z up, and places (F, 2) of the body."""

    times: np.ndarray
    vertices: np.ndarray
    places: np.ndarray


@dataclass(frozen=True)
class FeetCase:
    """A target's own clips, and what is made of it.  triangles (T, 3).  same (V,): what stays together.  looked_at:
    its figures were seen while the rules were tuned."""

    name: str
    looked_at: bool
    triangles: np.ndarray
    same: np.ndarray
    own: list[Moving]
    result: Moving
    choices: PlantChoices = ON_STROKES

    def planter(self) -> Planter:
        """What holds its feet."""
        every = np.concatenate([clip.vertices for clip in self.own])
        feet = find_feet(every, self.triangles, lowest_ground(every), same=self.same)
        vertices = np.concatenate([foot.vertices for foot in feet.feet])
        own = [(clip.times, clip.vertices[:, vertices], clip.places) for clip in self.own]
        return Planter.learn(feet, self.own[0].vertices[0], self.triangles, self.same, own)


def cases(word: str = "") -> Iterator[FeetCase]:
    """One after the other, those with a word in their names."""
    for name, looked_at, make in _CASES:
        if word in name:
            yield make(name, looked_at)


def _animals(source: str, target: str, action: str) -> Callable[[str, bool], FeetCase]:
    """One animal's joints drive another's mesh, both as imported; they play the same action."""

    def make(name: str, looked_at: bool) -> FeetCase:
        watched, moved = (performed(f"quadruped_rigs/quaternius/{each}.glb", action) for each in (source, target))
        return _mapped(name, looked_at, watched.looped(ROUNDS), moved, len(watched.times) - 1)

    return make


def _people(source: str, target: str) -> Callable[[str, bool], FeetCase]:
    def make(name: str, looked_at: bool) -> FeetCase:
        watched, moved = (performed("biped_rigs/kaykit/Barbarian.glb", each) for each in (source, target))
        return _mapped(name, looked_at, watched.looped(ROUNDS), moved, len(watched.times) - 1)

    return make


@dataclass(frozen=True)
class _Clip:
    times: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    joints: np.ndarray


def _horse_to_camel(name: str, looked_at: bool) -> FeetCase:
    horse, _ = mesh_sequence("horse_gallop")
    horse = horse[:25, ::EVERY][..., [0, 2, 1]] * [1, -1, 1]
    points = np.concatenate([horse[:-1]] * ROUNDS + [horse[-1:]])
    vertices, triangles = camel_gallop()
    vertices = np.concatenate((vertices, vertices[:1]))
    watched = _Clip(np.arange(len(points)) / _MESH_FPS, points, triangles, points)
    moved = _Clip(np.arange(len(vertices)) / _MESH_FPS, vertices, triangles, vertices)
    return _mapped(name, looked_at, watched, moved, 24)


def _cat_to_itself(name: str, looked_at: bool) -> FeetCase:
    cat, triangles = mesh_sequence("walking_cat")
    cat = cat[..., [0, 2, 1]] * [1, -1, 1]
    times = np.arange(len(cat)) / _MESH_FPS
    return _mapped(name, looked_at, _Clip(times, cat, triangles, cat[:, :: EVERY // 4]),
                   _Clip(times, cat, triangles, cat), len(cat) - 1, first=0)  # fmt: skip


def _mapped(name: str, looked_at: bool, watched, moved, cycle: int, first: int = 1) -> FeetCase:
    """By 8 pairs evenly over a cycle.  first: number of the source's cycle that they are of, the second by default, by
    when it is known how the first frame came about."""
    ground, same = GlobalMotion(moved.vertices[0], ALL), staying_together(moved.vertices)
    motion = ground.track(moved.vertices)
    body = (motion.points + ground.pivot).astype(np.float32)
    space = result_of(learn_target_steps(body, moved.triangles, same=same))
    travel = TravelEstimators.learn(
        space.coefficients, moved.times, motion.translation, motion.yaw, body, moved.triangles, same
    )
    feet_at = None
    if travel.strokes is not None:
        feet_at = FeetReadout.build(space, travel.strokes.feet, np.eye(4)).of
    names = tuple(map(str, range(watched.joints.shape[1])))
    model = SourceModel.fit(names, watched.joints, watched.times, ALL, tracked=False)
    source = source_track(model, watched.joints, watched.times, tracked=False)
    shares = np.arange(PAIRS) / PAIRS
    rows = source.features[np.round(cycle * (first + shares)).astype(int)]
    picks = np.round(shares * (len(moved.times) - 1)).astype(int)
    mapping, choices = MotionMap.learn(rows, space.coefficients[picks], space.box), TravelChoices()
    track = map_track(mapping, travel, source, choices, feet_at)
    still = np.zeros((len(moved.times), 3))
    places, *_ = travel.track(space.coefficients, moved.times, still[:, :2], still[:, 0], choices, feet_at)
    own = Moving(moved.times, _placed(space.vertices_of(space.coefficients), places, 0 * places[:, 0], ground), places)
    shown = _placed(space.vertices_of(track.coefficients), track.positions, track.headings, ground)
    return FeetCase(name, looked_at, moved.triangles, same, [own], Moving(track.times, shown, track.positions))


def _placed(vertices: np.ndarray, places: np.ndarray, headings: np.ndarray, ground: GlobalMotion) -> np.ndarray:
    """(F, V, 3) gone to places (F, 2) and turned about the pivot."""
    out = vertices - ground.pivot
    out[..., :2] = turned(out[..., :2], headings[:, None]) + places[:, None]
    return out + ground.pivot


def _dance(backward: bool) -> Callable[[str, bool], FeetCase]:
    def make(name: str, looked_at: bool) -> FeetCase:
        source, target, _, track = dance(backward)
        track = with_clearance(track, target.subject, source.track, source.subject, DANCE_FPS)
        times = np.arange(len(target.vertices)) / DANCE_FPS
        own = Moving(times, target.vertices.astype(float), target.track.translations[:, :2])
        return FeetCase(
            name, looked_at, target.triangles, staying_together(target.vertices), [own],
            _performed_by(target.subject, track, DANCE_FPS), choices=PlantChoices(),
        )  # fmt: skip

    return make


def _set(clip: str) -> Callable[[str, bool], FeetCase]:
    """An unseen clip of the scored set, performed by its target, learnt from two of the training clips."""

    def make(name: str, looked_at: bool) -> FeetCase:
        scored = transfer_set()
        training = scored.training[:2]
        source, target = (
            result_of(Subject.learn_steps([getattr(each, side) for each in training], body.triangles, body.memberships,
                                          PART_NAMES))
            for side, body in (("source", scored.source), ("target", scored.target))
        )  # fmt: skip
        clips = []
        for each in training:
            frames = np.arange(len(each.source))
            dense = DenseClip(frames, each.truth, np.zeros((1, 1)), np.zeros((0, 2), int), frames, "")
            clips.append((source.read(each.source), target.read(each.target), dense))
        learnt = result_of(SurfaceTransfer.learn_steps(clips, scored.fps, bodies=bodies_of(source, target)))
        shown = next(each for each in scored.unseen if each.name == clip)
        given = source.read(shown.source)
        track = with_clearance(learnt.track(given, scored.fps), target, given, source, scored.fps)
        own = [
            Moving(np.arange(len(each.target)) / scored.fps, each.target.astype(float), track_of.translations[:, :2])
            for each, (_, track_of, _) in zip(training, clips, strict=True)
        ]
        return FeetCase(
            name, looked_at, scored.target.triangles, staying_together(target.captured), own,
            _performed_by(target, track, scored.fps), choices=PlantChoices(),
        )  # fmt: skip

    return make


def _performed_by(subject: Subject, track: SubjectTrack, fps: float) -> Moving:
    vertices = np.empty((len(track), len(subject.reference), 3))
    for frame, (turn, place) in enumerate(zip(track.rotations, track.translations, strict=True)):
        vertices[frame] = subject.assemble(tuple(rows[frame] for rows in track.rows)) @ turn.T + place
    return Moving(np.arange(len(track)) / fps, vertices, track.translations[:, :2])


_CASES = (
    ("Map, cow to alpaca, walk", True, _animals("Cow", "Alpaca", "Walk")),
    ("Map, horse to fox, walk", True, _animals("Horse", "Fox", "Walk")),
    ("Map, horse to fox, gallop", True, _animals("Horse", "Fox", "Gallop")),
    ("Map, husky to horse, gallop", True, _animals("Husky", "Horse", "Gallop")),
    ("Map, cow to horse, gallop", True, _animals("Cow", "Horse", "Gallop")),
    ("Map, horse to husky, gallop", True, _animals("Horse", "Husky", "Gallop")),
    ("Map, fox to alpaca, gallop", True, _animals("Fox", "Alpaca", "Gallop")),
    ("Map, alpaca to cow, walk", True, _animals("Alpaca", "Cow", "Walk")),
    ("Map, a person walking, to a run", True, _people("Walking_A", "Running_A")),
    ("Transfer, samba by crane", True, _dance(False)),
    ("Transfer, crane by samba", True, _dance(True)),
    ("Map, fox to cow, walk", True, _animals("Fox", "Cow", "Walk")),
    ("Map, alpaca to husky, walk", True, _animals("Alpaca", "Husky", "Walk")),
    ("Map, fox to cow, gallop", True, _animals("Fox", "Cow", "Gallop")),
    ("Map, cow to husky, gallop", True, _animals("Cow", "Husky", "Gallop")),
    ("Map, horse to camel, gallop", True, _horse_to_camel),
    ("Map, a person walking, to another walk", True, _people("Walking_C", "Walking_A")),
    ("Map, a person running, to a walk", True, _people("Running_A", "Walking_A")),
    ("Map, a walking cat to itself", True, _cat_to_itself),
    ("Transfer, steps up and down", True, _set("steps")),
    ("Transfer, basketball", True, _set("basketball")),
    ("Transfer, dance", True, _set("dance")),
    ("Transfer, a walk to a handshake", True, _set("handshake")),
    ("Map, husky to fox, walk", False, _animals("Husky", "Fox", "Walk")),
    ("Map, fox to horse, walk", False, _animals("Fox", "Horse", "Walk")),
    ("Map, a person running, to another walk", False, _people("Running_B", "Walking_C")),
    ("Map, husky to cow, walk", False, _animals("Husky", "Cow", "Walk")),
    ("Map, horse to alpaca, walk", False, _animals("Horse", "Alpaca", "Walk")),
    ("Map, alpaca to horse, gallop", False, _animals("Alpaca", "Horse", "Gallop")),
    ("Map, fox to husky, gallop", False, _animals("Fox", "Husky", "Gallop")),
    ("Map, cow to fox, gallop", False, _animals("Cow", "Fox", "Gallop")),
    ("Map, a person walking otherwise, to another run", False, _people("Walking_B", "Running_B")),
    ("Transfer, climb", False, _set("climb")),
)
