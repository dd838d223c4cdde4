"""Learn: read a source and a target over their ranges, and learn the target's poses and how they travel."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from ...scene import binding_store, live_mesh
from ...scene.animated_range import range_to_read
from ...scene.discarding import discard
from ...scene.frames import frames_around, require_range
from ...scene.mesh_sequence import MeshSequence, key_poses, mesh_sequence_steps
from ...scene.motion import frames_per_second
from ...scene.point_source import (
    VERTICES,
    PointSource,
    joints_source,
    objects_source,
    point_track_steps,
    vertices_source,
)
from ...scene.restored import restored_after_error
from ...scene.rigs import require_editable
from ...scene.session import object_of
from ...solvers.core.errors import InputError, SceneError, StillError
from ...solvers.core.subsampling import evenly_spaced_indices
from ...solvers.mapping.global_motion import ALL, NONE, TRANSLATION, GlobalMotion
from ...solvers.mapping.source_motion import SourceModel
from ...solvers.mapping.steady_points import steady_weights
from ...solvers.mapping.travel_estimators import TravelChoices, TravelEstimators
from ...solvers.shapes.target_space import learn_target_steps
from ...solvers.surface.weld import staying_together
from ..command_line.words import counted
from ..core.base import Steps, names_what_is_too_large, relayed
from ..mesh.faces import faces_mark
from ..mesh.live import require_copy_if_live
from ..mesh.plants import note_known
from .doubts import all_doubts, doubts_of, pose_doubts
from .model import met_of
from .parts import unseen_bones, unseen_meshes
from .store import LearntTarget, SourceClip, pack_clip, pack_target

# Largest over smallest scale above which an object counts as flat.
_FLAT = 1e6
_REMOVED = {"FULL": ALL, "PLACE": TRANSLATION, "NONE": NONE}
_MOST_NUMBERS = 4e8  # that poses are learnt from, single precision
_STEADY_FRAMES = 50  # from which the steady points of a target are found
_DOUBTED_POINTS = 300  # by which a target's motion is looked through for what is doubtful
_MOVES = 1e-4  # metres, of what does not rest
_AT_ONCE = 64  # frames whose ground motion is taken off together, in double precision


def source_of(settings) -> PointSource:
    """The points that the settings name; raises SceneError where they name none, InputError where there are none."""
    ob = settings.source
    if ob is None:
        if settings.source_collection is None:
            raise SceneError("Choose a source: an armature, a mesh, or a collection of objects.")
        if settings.id_data in settings.source_collection.all_objects.values():
            raise SceneError(
                f"'{settings.id_data.name}' is in '{settings.source_collection.name}' and cannot be its own source; "
                "take it out of that collection."
            )
        return objects_source(settings.source_collection)
    if ob == settings.id_data:
        raise SceneError(f"'{ob.name}' cannot be its own source; choose another object.")
    if live_mesh.is_live(ob):
        raise SceneError(f"'{ob.name}' is the live copy of another target: bake it and choose the result.")
    if ob.type == "ARMATURE":
        return joints_source(ob)
    return vertices_source(ob, settings.source_group) if ob.type == "MESH" else objects_source([ob])


@names_what_is_too_large("learning")
def learn_steps(context, ob) -> Steps:
    """Read and learn, with progress; the scene is changed after the last step only."""
    require_editable(ob)
    settings = ob.motion_loom_map
    require_copy_if_live(ob, settings)
    source = source_of(settings)
    _require_in_scene(context.scene, settings.source)
    frames, because = source_frames(context.scene, settings)
    _require_room(settings, len(frames), len(source.names))
    yield 0.0, "Reading the source"
    names, positions = yield from relayed(point_track_steps(context, source, frames), 0.0, 0.2, "Reading the source")
    fps = frames_per_second(context.scene)
    tracked, times = source.kind != VERTICES, (frames - frames[0]) / fps
    with _named(settings, positions):
        model = SourceModel.fit(names, positions, times, _REMOVED[settings.ground], tracked)
    clip = SourceClip(model, positions, frames, fps, source.record())
    with live_mesh.shown(context, ob):
        sequence, of_target = yield from _read_target(context, ob)
    remove, others = _REMOVED[settings.target_ground], unseen_meshes(context.scene, ob)
    learnt = yield from learn_sequence(sequence, fps, settings.components, remove, ob, others)
    yield 0.99, "Storing"
    with restored_after_error(ob):
        return _store(ob, learnt, clip, because, of_target)


def _require_room(settings, frames: int, points: int) -> None:
    """Raises InputError for a source of more positions than can be held at once."""
    if 3.0 * frames * points > _MOST_NUMBERS:
        source = settings.source or settings.source_collection
        raise InputError(
            f"'{source.name}' has {frames:,} frames of {points:,} points, which are too many to be read together; "
            "shorten the range of the source, or choose a vertex group."
        )


def _require_in_scene(scene, ob) -> None:
    if ob is not None and object_of(scene, ob.session_uid, ob.name) is None:
        raise SceneError(f"The source '{ob.name}' is not in the scene '{scene.name}'; link it, or choose another one.")


@contextmanager
def _named(settings, positions: np.ndarray) -> Iterator[None]:
    """Says which source cannot be used. positions: (F, J, 3) of its points, world, with all of their movement."""
    source = settings.source or settings.source_collection
    try:
        yield
    except InputError as error:
        seen = positions[np.isfinite(positions).all(axis=(1, 2))]
        if isinstance(error, StillError) and len(seen) and np.ptp(seen, axis=0).max() > _MOVES:
            raise InputError(
                f"'{source.name}' moves only as a whole, which is taken off as no pose; set Source Without to "
                "Nothing and press Learn Again."
            ) from error
        if isinstance(error, StillError) and (unseen := unseen_bones(settings)):
            raise InputError(f"{unseen}. Else choose a range in which they move.") from error
        raise InputError(f"'{source.name}': {error}") from error


def source_frames(scene, settings) -> tuple[np.ndarray, str | None]:
    """Scene frames (F,) of the source that are read, and why the scene's range is in them, None where it is not.

    Raises InputError for an empty range.
    """
    if settings.use_source_range:
        start, end, because = settings.source_start, settings.source_end, None
    else:
        objects = [settings.source] if settings.source else list(settings.source_collection.all_objects)
        start, end, because = range_to_read(scene, objects)
    source = settings.source or settings.source_collection
    return _frames(start, end, "source", source), because


def target_frames(scene, ob) -> tuple[np.ndarray, str | None]:
    """Scene frames (F,) of the target that are learnt, and why the scene's range is in them, None where it is not.

    Raises InputError for an empty range.
    """
    settings, because = ob.motion_loom_map, None
    if settings.use_target_range:
        frames = _frames(settings.target_start, settings.target_end, "target", ob)
    else:
        *ends, because = range_to_read(scene, [ob])
        frames = _frames(*ends, "target", ob)
    # Of a long range every second or third frame is learnt: the poses of a target repeat.
    numbers = 3 * len(ob.data.vertices) + 6 * max(len(ob.data.loops) - 2 * len(ob.data.polygons), 1)
    return frames[:: int(np.ceil(len(frames) * numbers / _MOST_NUMBERS))], because


def learn_sequence(
    sequence: MeshSequence, fps: float, components: int, remove: str, ob, others: tuple[str, ...] = ()
) -> Generator[tuple[float, str], None, LearntTarget]:
    """What is learnt of a target's vertices over time. fps: scene frames a second.  remove: see ``global_motion``.
    others: sentences on what else there is to know of it."""
    text = "Learning the target"
    same = staying_together(sequence.vertices)
    vertices, translation, yaw, pivot = yield from relayed(_grounded(sequence, remove, same), 0.45, 0.55, text)
    place = sequence.worlds[0]
    if not np.linalg.cond(place[:3, :3]) < _FLAT:
        raise InputError(f"'{ob.name}' has a scale of zero at frame {sequence.frames[0]:g}; give it another one.")
    local = (vertices - place[:3, 3].astype(np.float32)) @ np.linalg.inv(place[:3, :3]).T.astype(np.float32)
    learning = learn_target_steps(local, sequence.triangles, components=components, same=same)
    space = yield from relayed(learning, 0.55, 0.9, text)
    yield 0.9, "Learning how it travels"
    if remove == NONE:
        travel = TravelEstimators.none("nothing is taken off the target: it stays")
    elif sequence.poses:
        travel = TravelEstimators.none("its poses are shape keys, in no order in time; choose Source or None")
    else:
        times = (sequence.frames - sequence.frames[0]) / fps
        motion = space.coefficients, times, translation, yaw, vertices
        travel = TravelEstimators.learn(*motion, sequence.triangles, same)
    mesh = len(ob.data.vertices), len(ob.data.polygons), faces_mark(ob)
    floor = -np.inf if remove == NONE else float(vertices[..., 2].min())
    doubts = _doubts(sequence, fps, remove, yaw) + others
    return LearntTarget(space, sequence.frames, place, pivot, travel, floor, *mesh, doubts=doubts)


def _doubts(sequence: MeshSequence, fps: float, remove: str, yaw: np.ndarray) -> tuple[str, ...]:
    if sequence.poses:
        return pose_doubts(sequence.name, yaw, sequence.poses)
    some = evenly_spaced_indices(sequence.vertices.shape[1], _DOUBTED_POINTS)
    points = _world(replace(sequence, vertices=sequence.vertices[:, some]), slice(None))
    return doubts_of(sequence.name, "Target Without", remove, points, yaw, (sequence.frames, fps))


def _read_target(context, ob):
    if ob.motion_loom_map.target_motion == "SHAPE_KEYS":
        yield 0.2, "Reading the target"
        return key_poses(context, ob), None
    instead = ", or learn its shape keys as poses" if ob.data.shape_keys else ""
    frames, because = target_frames(context.scene, ob)
    steps = mesh_sequence_steps(context, ob, frames, instead)
    return (yield from relayed(steps, 0.2, 0.45, "Reading the target")), because


def _grounded(sequence: MeshSequence, remove: str, same: np.ndarray) -> Generator[float, None, tuple]:
    """World vertices (F, V, 3) float32 without ground motion, that motion (F, 2) and (F,), and its pivot (3,).

    same: (V,) the vertex that stands for each; the others count nothing, for a seam weighs as any other place.
    """
    count = len(sequence.vertices)
    out = np.empty_like(sequence.vertices)
    translation, yaw = np.empty((count, 2)), np.empty(count)
    few = evenly_spaced_indices(count, _STEADY_FRAMES)
    seen, reference, twins = _world(sequence, few), _world(sequence, slice(0, 1))[0], same != np.arange(len(same))
    seen[:, twins] = reference[twins] = np.nan
    ground, before = GlobalMotion(reference, remove, steady_weights(seen)), None
    for start in range(0, count, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        before = ground.track(_world(sequence, rows), before)
        out[rows], translation[rows], yaw[rows] = before.points + ground.pivot, before.translation, before.yaw
        yield min(start + _AT_ONCE, count) / count
    return out, translation, yaw, ground.pivot


def _world(sequence: MeshSequence, rows: slice | np.ndarray) -> np.ndarray:
    worlds = sequence.worlds[rows]
    vertices = sequence.vertices[rows].astype(float)
    return np.einsum("fij,fvj->fvi", worlds[:, :3, :3], vertices, optimize=True) + worlds[:, None, :3, 3]


def _frames(start: float, end: float, of: str, owner) -> np.ndarray:
    require_range(start, end, f"The range of the {of} '{owner.name}'")
    first, last = frames_around(start, end)
    if last <= first:
        raise InputError(f"The range of the {of}, {start:g} to {end:g}, has fewer than two frames; choose more.")
    return np.arange(first, last + 1, dtype=float)


def _store(ob, learnt: LearntTarget, clip: SourceClip, *because: str | None) -> str:
    """because: why the scene's range is in the frames of the source, and of the target."""
    settings = ob.motion_loom_map
    replaced = settings.learnt, settings.clip
    settings.meet_pairs = met_of(settings)  # kept with what is learnt, also where it is the default
    settings.learnt = binding_store.save(ob.name, *pack_target(learnt))
    settings.clip = binding_store.save(ob.name, *pack_clip(clip))
    space = learnt.space
    first, last = learnt.frames[0], learnt.frames[-1]
    settings.learnt_summary = (
        f"{len(space.rest)} vertices, {counted(space.components, 'component')}, "
        f"{_frames_text(learnt.frames, because[1])}"
    )
    points = counted(len(clip.model.names), "point")
    settings.clip_summary = f"{points}, {_frames_text(clip.frames, because[0])}"
    settings.suggestions, settings.suggestion = "", -1
    note_known(settings)
    settings.target_frame = min(max(settings.target_frame, first), last)
    for mesh in replaced:
        discard(mesh)
    told = "; ".join((settings.learnt_summary, f"travel: {learnt.travel.note_of(TravelChoices())}"))
    return ". ".join((f"Learnt '{ob.name}': {told}", *(doubt.removesuffix(".") for doubt in all_doubts(ob))))


def _frames_text(frames: np.ndarray, because: str | None) -> str:
    text = f"frames {frames[0]:g} to {frames[-1]:g}"
    return f"{text} ({because})" if because else text
