"""Transfer live: what moves the copy of one target subject (see ``live``), and how a new clip is made ready for it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ...scene import binding_store, live_mesh
from ...scene.evaluation import evaluated_object
from ...scene.frames import frame_now
from ...scene.motion import frames_per_second
from ...scene.present import shape_now
from ...scene.session import object_of
from ...solvers.core.errors import SceneError, StaleBindingError
from ...solvers.mapping.track import lifted
from ...solvers.shapes.planter import moved
from ...solvers.transfer.subject import SubjectTrack
from ...state.live_states import Remedy, TrackNeed
from ..core.base import Steps, names_what_is_too_large
from ..core.follower import LiveProblem, Moment
from ..mesh.faces import is_split_by, require_read_mesh
from ..mesh.feet_task import FeetFound, Plant, found_of, is_known, keep, live_task, note_of_feet
from ..mesh.follower import MeshFollower, forget_edits
from ..mesh.live import require_copy, require_copy_if_live
from .feet import TransferFeetTask, feet_task
from .model import cleared, clip_of, is_trained, keyed_track, learnt_of, moved_track, subjects_of
from .read import other_faces, read_clip_steps, store_clip
from .store import NewClip, matrices

_SAME = 1e-4  # of the source's size: what single precision and the program's own evaluation may differ by
_AROUND = 0.25  # seconds
_OLD = "Pairs or choices were changed since Train"
_OTHER_RATE = "The frame rate was changed since the clips were read"
_UNSEEN = "Edits of the new clip are not seen behind its modifiers: press Refresh after them"


class TransferFollower(MeshFollower):
    """Moves the live copy of one target subject; at first it knows nothing."""

    def __init__(self):
        super().__init__()
        self._now: np.ndarray | None = None
        self._task: TransferFeetTask | None = None

    def check(self, ob, moment: Moment) -> tuple[TrackNeed, str]:
        require_copy(ob, ob.motion_loom_transfer)
        require_subject(ob)
        _require_learnt(ob)
        _require_clip(ob, moment)
        settings = ob.motion_loom_transfer
        given = ob, moment.scene, moment.depsgraph, *keyed_track(ob), clip_of(ob)
        self._task, refused = live_task(lambda: feet_task(*given))
        key = keyed_track(ob)[0] if self._task is None else self._task.key
        self._now = _vertices_now(ob, moment)
        fps = frames_per_second(moment.scene)
        notes = (
            None if is_trained(ob) else _OLD,
            None if fps == subjects_of(ob).fps else _OTHER_RATE,
            _UNSEEN if self._now is None else None,
            refused or note_of_feet(settings, found_of(ob, self._task)),
        )
        self.note = ". ".join(filter(None, notes)) or None
        if self._is_edited(ob, frame_now(moment.scene)) or fps != clip_of(ob).fps:
            return TrackNeed.SWEEP, key
        return TrackNeed.NOTHING if is_known(ob, settings, self._task) else TrackNeed.TRACK, key

    def job(self, ob, moment: Moment) -> Generator[float, None, FeetFound]:
        return self._task.live_steps()

    def put(self, ob, scene, result: FeetFound) -> None:
        keep(ob, ob.motion_loom_transfer, self._task, result)

    def show(self, ob, moment: Moment, was_posed: bool = False) -> None:
        frame = frame_now(moment.scene)
        self._write(ob, moment, *result_at(ob, frame), frame)

    def pose(self, ob, moment: Moment) -> None:
        """The new clip as it is now, between its stored poses before and after, where it is not as it was."""
        frame = frame_now(moment.scene)
        if self._now is None or not self._is_edited_near(frame):
            return self.show(ob, moment)
        clip = _with_frame(ob, frame, self._now)
        row = int(np.clip(frame - clip.frames[0], 0, len(clip.frames) - 1))
        # What brings feet to the ground looks no farther than this, and takes long for a long clip.
        some = slice(max(row - int(_AROUND * clip.fps) - 1, 0), row + int(_AROUND * clip.fps) + 2)
        track = moved_track(ob, learnt_of(ob), clip)
        track = cleared(ob, _cut(track, some), _cut(clip.track, some), clip.fps)
        number = row - some.start
        self._write(ob, moment, tuple(rows[number] for rows in track.rows), matrices(track)[number], frame)

    def _is_edited(self, ob, frame: float) -> bool:
        """Whether the new clip has been seen elsewhere than when it was read, at this frame or another one before."""
        clip, is_edited = clip_of(ob), None
        if self._now is not None and frame in clip.frames:
            expected = clip.places[int(frame - clip.frames[0])]
            size = float(np.abs(clip.places[0] - clip.places[0].mean(axis=0)).max())
            is_edited = not np.abs(self._now[clip.samples] - expected).max() <= _SAME * size
        return self._note_edit(ob.motion_loom_transfer.clip, frame, is_edited)

    def _write(self, ob, moment: Moment, rows, world: np.ndarray, frame: float) -> None:
        found, clip, plant = found_of(ob, self._task), clip_of(ob), None
        if found is not None:
            (plant,) = found.at(np.array([frame - clip.frames[0]]) / clip.fps)
        vertices, world = pose_of(ob, rows, world, plant)
        live_mesh.write(ob.motion_loom_transfer.live_copy, moment.depsgraph, vertices, world)


def _require_learnt(ob) -> None:
    """Raises LiveProblem where nothing is learnt of the clips as they were read."""
    try:
        learnt_of(ob)
    except StaleBindingError as error:
        raise LiveProblem(str(error), Remedy.TRAIN) from error


def _require_clip(ob, moment: Moment) -> None:
    """Raises LiveProblem where the new clip is gone, or what was read is not of it."""
    settings = ob.motion_loom_transfer
    performed = settings.performed
    if performed is None:
        raise LiveProblem(f"The new clip of '{ob.name}' was deleted; undo that, or choose another one.")
    if not performed.users_scene:
        raise LiveProblem(
            f"The new clip '{performed.name}' is in no scene: it was deleted or unlinked; undo that, link it, or "
            "choose another one."
        )
    if object_of(moment.scene, performed.session_uid, performed.name) is None:
        raise LiveProblem(
            f"The new clip '{performed.name}' is not in the scene '{moment.scene.name}'; link it, or choose another."
        )
    if settings.clip is None:
        raise LiveProblem(f"The new clip '{performed.name}' is to be read anew; press Refresh.", Remedy.REFRESH)
    if settings.clip_is_other:
        raise LiveProblem(
            f"The new clip '{performed.name}' is not read as it is chosen now; press Refresh.", Remedy.REFRESH
        )


def _vertices_now(ob, moment: Moment) -> np.ndarray | None:
    """World vertices (V, 3) of the new clip's object as it was evaluated; None where modifiers add to them after."""
    settings = ob.motion_loom_transfer
    performed = settings.performed
    evaluated_object(performed, moment.depsgraph)
    shape = shape_now(moment.depsgraph, performed)
    count = len(subjects_of(ob).source.reference)
    if len(performed.data.vertices) != count:
        raise LiveProblem(
            f"'{performed.name}' has {len(performed.data.vertices)} vertices where the source subject has {count}; "
            "undo that, or choose another new clip."
        )
    if not is_split_by(performed, subjects_of(ob).source.triangles, binding_store.mark(settings.subjects)):
        raise LiveProblem(other_faces(performed, "undo that, or choose another new clip"))
    if shape is None or len(shape.positions) != count:
        return None
    if not np.isfinite(shape.positions).all():
        raise SceneError(f"'{performed.name}' has vertices that are not numbers at this frame; repair or delete them.")
    return shape.positions @ shape.world[:3, :3].T + shape.world[:3, 3]


def _with_frame(ob, frame: float, vertices: np.ndarray) -> NewClip:
    """The stored clip with the pose of vertices (V, 3) at the row of a frame."""
    clip = clip_of(ob)
    row = int(np.clip(frame - clip.frames[0], 0, len(clip.frames) - 1))
    now = subjects_of(ob).source.read(vertices[None] / clip.scale)
    rows = tuple(values.copy() for values in clip.track.rows)
    for values, value in zip(rows, now.rows, strict=True):
        values[row] = value[0]
    rotations, translations = clip.track.rotations.copy(), clip.track.translations.copy()
    rotations[row], translations[row] = now.rotations[0], now.translations[0]
    return replace(clip, track=SubjectTrack(rows, rotations, translations))


def _cut(track: SubjectTrack, some: slice) -> SubjectTrack:
    """Some frames of a track."""
    return SubjectTrack(tuple(rows[some] for rows in track.rows), track.rotations[some], track.translations[some])


def require_subject(ob) -> None:
    """Raises StaleBindingError where the target's mesh is not the one that was read."""
    subjects = subjects_of(ob)
    count = len(subjects.target.reference)
    require_read_mesh(ob, count, subjects.faces, subjects.mark, "when its clips were read", "press Read Clips")


def result_at(ob, frame: float) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Rows (D_k,) of each part of the target and the matrix (4, 4) from its torso's frame to the world."""
    track = keyed_track(ob)[1].sampled(np.array([frame - clip_of(ob).frames[0]]))
    return tuple(rows[0] for rows in track.rows), matrices(track)[0]


def pose_of(ob, rows, world: np.ndarray, plant: Plant) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3), own space, and world matrix (4, 4) of the target's object.

    rows: (D_k,) of each part.  world: (4, 4) from the torso's frame to the world.  plant: what holds its feet, or None.
    """
    settings, subjects = ob.motion_loom_transfer, subjects_of(ob)
    home = subjects.home
    local = subjects.target.assemble(rows, settings.correct, settings.stitch)
    vertices, world = local @ home[:3, :3].T + home[:3, 3], world @ np.linalg.inv(home)
    if plant is not None:
        vertices, world = moved(vertices, world, *plant)
        if settings.stands_on is not None:
            return vertices, world  # the feet alone say how high the ground is
    return vertices, lifted(vertices, world, subjects.target.floor) if settings.hold_ground else world


def prepared_steps(context, ob) -> Generator[tuple[float, str], None, NewClip]:
    """Make sure that there is a result to be shown; the new clip, read as it is now, whatever is stored of it."""
    require_subject(ob)
    learnt_of(ob)
    return (yield from read_clip_steps(context, ob))


@names_what_is_too_large("reading the new clip of")
def refresh_steps(context, ob, workflow) -> Steps:
    """Read the new clip again, for what was learnt."""
    require_copy_if_live(ob, ob.motion_loom_transfer)
    require_subject(ob)
    clip = yield from read_clip_steps(context, ob)
    store_clip(ob, clip)
    forget_edits(ob, workflow.id)
    return f"The new clip of '{ob.name}' is up to date at all frames"
