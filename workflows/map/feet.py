"""The feet of Map's target: looked for in its own motion, held in what the map makes of it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...scene import binding_store
from ...solvers.core.errors import InputError
from ...solvers.mapping.track import MapTrack, placed
from ...solvers.mapping.travel_estimators import AUTO, SOURCE, STAYS, TravelChoices
from ...solvers.shapes.foot_plants import PlantChoices
from ...solvers.shapes.mesh_feet import find_feet, lowest_ground
from ...solvers.shapes.planter import CARRIED, Planter, Plants, carried, moved, reach_of
from ...solvers.surface.followed_ground import MISSING, Ground
from ..mesh.feet_task import NONE_FOUND, OFF_GROUND, FeetTask, feet_inputs, own_frames
from ..mesh.plants import missing_now
from .model import clip_of, target_of, travel_choices
from .store import LearntTarget

# Of its own motion so many frames are looked at, from its first one on.
_MOST_OWN = 480
_AT_ONCE = 16


@dataclass(frozen=True)
class MapFeetTask(FeetTask):
    """track: what the target does over the clip, None where only its feet are wanted.  choices: how it travels in its
    own motion.  may_root: how far it goes is not told by its feet."""

    target: LearntTarget
    choices: TravelChoices
    track: MapTrack | None
    may_root: bool

    @property
    def held(self) -> PlantChoices:
        """How its feet are: where they tell how far it goes it is right as it is, and it walks on level ground."""
        return replace(self.inputs.choices, may_climb=False, may_root=self.may_root)

    @property
    def poses(self) -> tuple[int, int]:
        faces, over = len(self.target.space.triangles), 0 if self.track is None else len(self.track.times)
        return faces * len(self._own_frames), faces * over

    @property
    def _own_frames(self) -> np.ndarray:
        return self.target.frames[: own_frames(_MOST_OWN, len(self.target.space.rest))]

    def own_steps(self) -> Generator[float, None, Planter | str]:
        target = self.target
        if not np.isfinite(target.floor):
            return "Nothing is taken off the target's movement, as for a face: no feet are looked for"
        if not target.travel.learnt:
            return "The target's poses are in no order in time: no feet are looked for"
        space, times = target.space, (self._own_frames - target.frames[0]) / self.fps
        coefficients, own = space.coefficients[: len(times)], np.empty((len(times), len(space.rest), 3), np.float32)
        for start in range(0, len(times), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            own[some] = _in_world(space.vertices_of(coefficients[some]), target.place)
            yield start / len(times)
        feet = find_feet(own, space.triangles, lowest_ground(own), self.inputs.mask, space.same)
        if not len(feet):
            return NONE_FOUND
        still = np.zeros((len(times), 3))
        places, *_ = target.travel.track(coefficients, times, still[:, :2], still[:, 0], self.choices, target.feet_at)
        points = own[:, np.concatenate([foot.vertices for foot in feet.feet])].astype(float)
        points[..., :2] += places[:, None]
        rest = _in_world(space.rest, target.place)
        return Planter.learn(feet, rest, space.triangles, space.same, [(times, points, places)])

    def clip_steps(self, planter: Planter) -> Generator[float, None, Plants | None]:
        if self.track is None:
            return None
        track, target, vertices = self.track, self.target, planter.points.vertices
        worlds = placed(target.place, target.pivot, track.positions, track.headings)
        points = np.empty((len(track.times), len(vertices), 3))
        for frame, world in enumerate(worlds):
            points[frame] = _in_world(target.space.vertices_of(track.coefficients[frame])[vertices], world)
            if frame % _AT_ONCE == 0:
                yield frame / len(points)
        if self.inputs.ground is None:
            return planter.plants(track.times, points, track.positions, None, self.held)
        ground = self.ground_at(planter, track.positions)
        if ground is None:
            raise InputError(OFF_GROUND)
        up = carried(track.times, self._levels(planter, ground) - planter.points.feet.ground)
        return planter.plants(track.times, points, track.positions, ground, self.held, up)

    def ground_at(self, planter: Planter, positions: np.ndarray) -> Ground | None:
        """Where the target, its pivot at positions (F, 2), first comes to the ground that was picked, if it does."""
        eye = planter.points.feet.ground + reach_of(planter)
        return Ground.first_below(self.inputs.ground, self.target.pivot[:2] + positions, eye)

    def _levels(self, planter: Planter, ground: Ground) -> np.ndarray:
        """(F,) heights of the ground below the body, which walks on level ground by itself."""
        way = self.target.pivot[:2] + self.track.positions
        return ground.along(way[:, None], reach_of(planter)).levels[:, 0]


class LiveFeet:
    """Feet of a performance: they are held by what has come so far.

    note: that there is no ground to stand on where they are now, in words, or None.
    """

    note: str | None = None

    def __init__(self, task: MapFeetTask, planter: Planter):
        self._task, self._planter = task, planter
        self._plants = planter.live(task.inputs.ground is not None, task.held)
        self._ground: Ground | None = None
        self._up: float | None = None
        # Whether the ground is below the body; at first, before it ever was, it is not.
        self._states = np.array([MISSING])
        self._last = -np.inf

    def moved(
        self, vertices: np.ndarray, world: np.ndarray, position: np.ndarray, now: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (V, 3), own space, and world matrix (4, 4) with their feet held; position (2,), now: seconds."""
        up = self._carried(position, now)
        points = _in_world(vertices[self._planter.points.vertices], world) + [0.0, 0.0, up]
        root, offsets = self._plants.step(points, position, now, up, self._ground)
        if self._task.inputs.ground is not None:
            self.note = missing_now(self._states, self._plants.ground_states)
        return moved(vertices, world, self._planter.fields, root + [0.0, 0.0, up], offsets)

    def _carried(self, position: np.ndarray, now: float) -> float:
        """Metres up; beyond the ground as where it was last above it."""
        if self._task.inputs.ground is None:
            return 0.0
        if self._ground is None:
            self._ground = self._task.ground_at(self._planter, position[None])
        if self._ground is not None:
            way = self._task.target.pivot[:2] + position
            found = self._ground.along(way[None, None], reach_of(self._planter))
            level, self._states = float(found.levels[0, 0]), found.states[0]
            self._ground = Ground(self._ground.heights, level, way)
            height = level - self._planter.points.feet.ground
            before = height if self._up is None else self._up
            self._up = height + np.exp(-max(now - self._last, 0.0) / CARRIED) * (before - height)
        self._last = now
        return self._up or 0.0


def feet_task(
    ob, scene, depsgraph, track_key: str, track: MapTrack, first: float, performed: bool
) -> MapFeetTask | None:
    """What is to be solved for an object's feet; None where they are free.

    track_key: tells the track from others.  first: frame of it.  performed: the clip does not matter.  Raises
    as ``feet_inputs``.
    """
    settings, fps, frames = ob.motion_loom_map, clip_of(ob).fps, clip_of(ob).frames
    target = target_of(ob)
    chosen = travel_choices(settings)
    choices = own_choices(target, chosen)
    own = *binding_store.mark(settings.learnt), *vars(choices).values(), fps
    over = ("" if performed else track_key, first)
    inputs = feet_inputs(ob, "map", settings, scene, depsgraph, own, over, frames)
    if inputs is None:
        return None
    may_root = target.travel.estimator_of(chosen) != STAYS and target.travel.strokes_of(chosen) is None
    return MapFeetTask(inputs, first, fps, target, choices, None if performed else track, may_root)


def own_choices(target: LearntTarget, choices: TravelChoices) -> TravelChoices:
    """How the target travels in its own motion: as is right for it, but on the spot where that is chosen."""
    own = replace(choices, scale=1.0, turn_ratio=1.0)
    if choices.estimator == SOURCE or (choices.estimator != STAYS and target.travel.auto != STAYS):
        return replace(own, estimator=AUTO)
    return own


def _in_world(vertices: np.ndarray, world: np.ndarray) -> np.ndarray:
    """(..., 3) of vertices (..., 3), own space, by a matrix (4, 4)."""
    return vertices @ world[:3, :3].T + world[:3, 3]
