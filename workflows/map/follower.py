"""Map live: what moves the copy of one target, see ``core.live`` and ``mesh.live``."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ...scene import binding_store, live_mesh
from ...scene.discarding import discard
from ...scene.frames import frame_now
from ...scene.point_source import OBJECTS, PointSource, found_again, point_track_steps, points_now
from ...scene.restored import restored_after_error
from ...solvers.core.errors import StaleBindingError
from ...solvers.core.lag import rates
from ...solvers.mapping.pose_features import LAG
from ...solvers.mapping.source_motion import SourceModel, SourceStream, SourceTrack, source_track
from ...solvers.mapping.strokes import SILENT, Strokes, StrokeStream
from ...solvers.mapping.track import lifted, placed
from ...solvers.mapping.travel import Path
from ...solvers.mapping.travel_estimators import BACKWARD, SOURCE, FeetAt, along_source
from ...solvers.shapes.planter import moved
from ...state.cache import fingerprint
from ...state.live_states import TrackNeed
from ..core.base import Steps, names_what_is_too_large, relayed
from ..core.follower import Moment
from ..mesh import live
from ..mesh.feet_task import FeetFound, Plant, found_of, is_known, keep, live_task, note_of_feet
from ..mesh.follower import MeshFollower, forget_edits
from .feet import LiveFeet, MapFeetTask, feet_task
from .model import (
    clip_of,
    keyed_track,
    map_of,
    pose_at,
    require_learnt_mesh,
    row_of_poses,
    source_of_clip,
    target_of,
    track_of,
    track_over,
    travel_choices,
)
from .outgrown import outgrown
from .store import SourceClip, pack_clip

# Of the source's radius: what single precision and the program's own evaluation may differ by.
_SAME = 1e-4


class MapFollower(MeshFollower):
    """Moves the live copy of one target; at first it knows nothing."""

    def __init__(self):
        super().__init__()
        self._source: tuple[str, PointSource] | None = None
        self._now: np.ndarray | None = None
        self._performance: tuple[str, Performance] | None = None
        self._is_performed = False
        self._task: MapFeetTask | None = None
        self._live_feet: tuple[str, LiveFeet] | None = None
        self._outgrown: str | None = None
        self._note_of_feet: str | None = None

    # ------------------------------------------------------------------------------------------- for the engine

    def check(self, ob, moment: Moment) -> tuple[TrackNeed, str]:
        live.require_copy(ob, ob.motion_loom_map)
        require_learnt_mesh(ob)
        key, track = keyed_track(ob)
        clip = clip_of(ob)
        self._now = self._points_now(ob, moment.depsgraph)
        settings = ob.motion_loom_map
        self._is_performed = settings.live_input
        given = ob, moment.scene, moment.depsgraph, key, track, float(clip.frames[0]), settings.live_input
        self._task, refused = live_task(lambda: feet_task(*given))
        if not moment.is_playback:  # another frame changes nothing about a range
            self._outgrown = None if settings.live_input else outgrown(moment.scene, ob)
        self._note_of_feet = refused or note_of_feet(settings, found_of(ob, self._task))
        is_same = settings.live_input and self._task and self._live_feet and self._live_feet[0] == self._task.key
        self._tell(self._live_feet[1].note if is_same else None)
        key = key if self._task is None else self._task.key
        if self._is_edited(ob, clip, frame_now(moment.scene)):
            return TrackNeed.SWEEP, key
        return TrackNeed.NOTHING if is_known(ob, settings, self._task) else TrackNeed.TRACK, key

    def job(self, ob, moment: Moment) -> Generator[float, None, FeetFound]:
        return self._task.live_steps()

    def put(self, ob, scene, result: FeetFound) -> None:
        keep(ob, ob.motion_loom_map, self._task, result)

    def show(self, ob, moment: Moment, was_posed: bool = False) -> None:
        if ob.motion_loom_map.live_input:
            self._write_performed(ob, moment)
        else:
            frames = np.array([frame_now(moment.scene)])
            self._write(ob, moment, *(part[0] for part in result_at(ob, frames)), self._plant(ob, frames))

    def pose(self, ob, moment: Moment) -> None:
        """The source as it is now, as fast as its clip was at this frame, where the clip was."""
        clip, frame = clip_of(ob), frame_now(moment.scene)
        if not self._is_edited_near(frame):
            return self.show(ob, moment)
        before, then = pose_at(ob, frame)
        before = self._now - then + before
        coefficients = map_of(ob).coefficients(row_of_poses(clip.model, np.stack((before, self._now))))
        frames = np.array([frame])
        _, position, heading = track_of(ob).sampled(seconds_of(clip, frames))
        self._write(ob, moment, coefficients, position[0], heading[0], self._plant(ob, frames))

    # -------------------------------------------------------------------------------------------------------------

    def _tell(self, of_ground: str | None) -> None:
        """What is worth knowing, and that of the ground below what is performed."""
        backward = self._is_performed and self._performance is not None and self._performance[1].steps_backward
        of_steps = BACKWARD if backward else None
        self.note = ". ".join(filter(None, (self._outgrown, self._note_of_feet, of_ground, of_steps))) or None

    def recent(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The source's points (J, 3) a tenth of a second ago and now, of what is performed; None before that."""
        return self._performance and self._performance[1].recent()

    def _performed(self, ob) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        settings = ob.motion_loom_map
        key = fingerprint(*binding_store.mark(settings.clip), settings.smoothing)
        if self._performance is None or self._performance[0] != key:
            self._performance = key, Performance(SourceStream(clip_of(ob).model, settings.smoothing))
        return self._performance[1].step(ob, self._now, time.monotonic())

    def _points_now(self, ob, depsgraph) -> np.ndarray:
        source, collection = self._points(ob), ob.motion_loom_map.source_collection
        try:
            return points_now(source, depsgraph)
        except StaleBindingError:
            if source.kind != OBJECTS or collection is None:
                raise
        source = found_again(source, collection.all_objects)
        points = points_now(source, depsgraph)
        self._source = self._source[0], source
        return points

    def _points(self, ob) -> PointSource:
        settings = ob.motion_loom_map
        chosen = [source.session_uid if source else 0 for source in (settings.source, settings.source_collection)]
        key = fingerprint(*binding_store.mark(settings.clip), *chosen)
        if self._source is None or self._source[0] != key:
            self._source = key, source_of_clip(ob)
        return self._source[1]

    def _is_edited(self, ob, clip, frame: float) -> bool:
        """Whether the source has been seen elsewhere than in its clip, at this frame or at another one before."""
        settings = ob.motion_loom_map
        if settings.live_input:
            self.forget_edits()
            return False
        is_edited = not _is_there(self._now, clip, frame) if frame in clip.frames else None
        return self._note_edit(settings.clip, frame, is_edited)

    def _plant(self, ob, frames: np.ndarray) -> Plant:
        """What holds the feet at a scene frame (1,); None while that is not known, and where nothing does."""
        found = found_of(ob, self._task)
        return None if found is None else found.at(seconds_of(clip_of(ob), frames))[0]

    def _write(self, ob, moment: Moment, coefficients, position, heading, plant: Plant) -> None:
        vertices, world = pose_of(ob, coefficients, position, heading, plant)
        live_mesh.write(ob.motion_loom_map.live_copy, moment.depsgraph, vertices, world)

    def _write_performed(self, ob, moment: Moment) -> None:
        coefficients, position, heading = (part[0] for part in self._performed(ob))
        vertices, world = free_pose_of(ob, coefficients, position, heading)
        feet = self._feet(ob)
        if feet is not None:
            vertices, world = feet.moved(vertices, world, position, time.monotonic())
        self._tell(feet and feet.note)
        world = above_ground(ob, vertices, world, feet is not None)
        live_mesh.write(ob.motion_loom_map.live_copy, moment.depsgraph, vertices, world)

    def _feet(self, ob) -> LiveFeet | None:
        """The feet of what is performed, as far as they are known."""
        found = found_of(ob, self._task)
        if found is None or found.why_not is not None:
            return None
        if self._live_feet is None or self._live_feet[0] != self._task.key:
            self._live_feet = self._task.key, LiveFeet(self._task, found.planter)
        return self._live_feet[1]


class Performance:
    """A source that moves by itself, as a stream does: it knows the time, and what came before."""

    def __init__(self, stream: SourceStream):
        self._stream, self._path = stream, Path()
        self._poses: deque[tuple[float, np.ndarray]] = deque()
        self._coefficients: deque[tuple[float, np.ndarray]] = deque()
        self._first: SourceTrack | None = None
        self._last: SourceTrack | None = None
        self._strokes: tuple[Strokes, StrokeStream] | None = None

    def step(self, ob, points: np.ndarray, now: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients (1, D), position (1, 2) and heading (1,) for points (J, 3) at a time in seconds."""
        source = self._stream.step(points, now)
        held = self._poses[-1][1] if self._poses else points
        _push(self._poses, now, np.where(np.isfinite(points), points, held))
        coefficients = map_of(ob).coefficients(source.features[0])
        _push(self._coefficients, now, coefficients)
        self._first = self._first or source
        heading = self._travelled(ob, source, now)
        self._last = source
        return coefficients[None], self._path.position[None], np.array([heading])

    def _travelled(self, ob, source: SourceTrack, now: float) -> float:
        """Go on to a time in seconds; the heading there."""
        choices, target = travel_choices(ob.motion_loom_map), target_of(ob)
        travel, strokes = target.travel, target.travel.strokes_of(choices)
        turned_by = source.yaw[0] - self._first.yaw[0]
        heading = choices.turn_ratio * turned_by
        last = self._last or source
        if travel.estimator_of(choices) == SOURCE:
            step = source.translation[0] - last.translation[0]
            self._path.position = self._path.position + along_source(step, heading - turned_by, choices)
            velocity = np.zeros(2)
        elif strokes is not None:
            velocity = travel.stroke_scale(choices) * self._stroked(strokes, target.feet_at, now)
        else:
            velocity = travel.velocity(self._rates(), choices)
        if now - last.times[0] > SILENT:
            self._path.step(np.zeros(2), heading, last.times[0] + LAG)
        self._path.step(velocity, heading, now)
        return heading

    def recent(self) -> tuple[np.ndarray, np.ndarray]:
        """The points a tenth of a second ago and now, both (J, 3)."""
        return self._poses[0][1], self._poses[-1][1]

    @property
    def steps_backward(self) -> bool:
        """Whether the strokes of its feet go backward now."""
        return self._strokes is not None and self._strokes[1].backward

    def _stroked(self, strokes: Strokes, feet_at: FeetAt, now: float) -> np.ndarray:
        """Velocity (2,) that the strokes of its feet ask for at a time in seconds."""
        if self._strokes is None or self._strokes[0] is not strokes:
            self._strokes = strokes, strokes.stream()
        soles, whole = feet_at(self._coefficients[-1][1][None])
        return self._strokes[1].step(soles[0], whole[0], now)

    def _rates(self) -> np.ndarray:
        times = np.array([when for when, _ in self._coefficients])
        return rates(np.stack([value for _, value in self._coefficients]), times, LAG)[-1]


def _push(samples: deque, now: float, value: np.ndarray) -> None:
    """Keep what came within the lag, and one before it."""
    if samples and samples[-1][0] >= now:
        samples.pop()
    samples.append((now, np.array(value)))
    while len(samples) > 2 and samples[1][0] <= now - LAG:
        samples.popleft()


def pose_of(
    ob, coefficients: np.ndarray, position: np.ndarray, heading: float, plant: Plant
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3), own space, and world matrix (4, 4) of a target's coefficients (D,) at a place on the ground.

    plant: what holds its feet there, or None.
    """
    vertices, world = free_pose_of(ob, coefficients, position, heading)
    if plant is not None:
        vertices, world = moved(vertices, world, *plant)
    return vertices, above_ground(ob, vertices, world, plant is not None)


def free_pose_of(ob, coefficients: np.ndarray, position: np.ndarray, heading: float) -> tuple[np.ndarray, np.ndarray]:
    """The same with nothing that holds it, and maybe below the ground."""
    target = target_of(ob)
    return target.space.vertices_of(coefficients), placed(target.place, target.pivot, position, heading)


def above_ground(ob, vertices: np.ndarray, world: np.ndarray, is_held: bool) -> np.ndarray:
    """The world matrix (4, 4), raised where that is chosen and it would sink below its lowest point.

    is_held: its feet are; on a ground that was picked they alone say how high it is.
    """
    settings = ob.motion_loom_map
    if not settings.hold_ground or (is_held and settings.stands_on is not None):
        return world
    return lifted(vertices, world, target_of(ob).floor)


def result_at(ob, frames: np.ndarray, clip: SourceClip | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients (N, D), positions (N, 2) and headings (N,) of the target at scene frames (N,).

    clip: by which, the stored one if None.
    """
    track = track_of(ob) if clip is None else track_over(ob, clip)
    return track.sampled(seconds_of(clip or clip_of(ob), frames))


def seconds_of(clip: SourceClip, frames: np.ndarray) -> np.ndarray:
    """(N,) since a clip began, at scene frames (N,)."""
    return (frames - clip.frames[0]) / clip.fps


def prepared_steps(context, ob) -> Steps:
    """Make sure that there is a result to be shown."""
    require_learnt_mesh(ob)
    map_of(ob)
    yield 0.2, "Learning the map"
    settings = ob.motion_loom_map
    depsgraph = context.evaluated_depsgraph_get()
    task = feet_task(ob, context.scene, depsgraph, *keyed_track(ob), float(clip_of(ob).frames[0]), settings.live_input)
    if task is not None and found_of(ob, task) is None:
        keep(ob, settings, task, (yield from relayed(task.steps(), 0.3, 1.0, "Holding the feet")))


@names_what_is_too_large("reading the source of")
def refresh_steps(context, ob, workflow) -> Steps:
    """Read the source's range again, for the map as it is."""
    live.require_copy_if_live(ob, ob.motion_loom_map)
    store_clip(ob, (yield from read_again_steps(context, ob)))
    forget_edits(ob, workflow.id)
    more = outgrown(context.scene, ob)
    if more:
        return f"The source of '{ob.name}' is up to date at the frames that were learnt. {more}"
    return f"The source of '{ob.name}' is up to date at all frames"


def read_again_steps(context, ob) -> Generator[tuple[float, str], None, SourceClip | None]:
    """The clip, read of its source as that is now, or None where it is as it was; see ``store_clip``."""
    clip, source = clip_of(ob), source_of_clip(ob)
    reading = point_track_steps(context, source, clip.frames)
    _, positions = yield from relayed(reading, 0.0, 1.0, "Reading the source")
    positions = positions.astype(np.float32).astype(float)  # as they will be stored
    if np.array_equal(positions, clip.positions, equal_nan=True):
        return None
    now = replace(clip, positions=positions, record=source.record())
    SourceModel.fit(source.names, positions, now.times, now.model.ground.remove, now.is_tracked)  # raises if it stands
    source_track(now.model, positions, now.times, tracked=now.is_tracked)  # raises what is wrong with it
    return now


def store_clip(ob, clip: SourceClip | None) -> None:
    """Keep another reading of the clip in its place; None: it stays."""
    if clip is None:
        return
    settings = ob.motion_loom_map
    with restored_after_error(ob):
        old, settings.clip = settings.clip, binding_store.save(ob.name, *pack_clip(clip))
        discard(old)


def _is_there(points: np.ndarray, clip, frame: float) -> bool:
    """Whether points (J, 3) are those of the clip at one of its frames."""
    expected = clip.positions[int(np.searchsorted(clip.frames, frame))]
    lost = np.isnan(expected) | np.isnan(points)
    size = np.nanmax(np.abs(clip.model.ground.reference - clip.model.ground.pivot))
    return bool((lost | (np.abs(points - expected) <= _SAME * size)).all())
