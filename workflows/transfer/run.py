"""Bake: what the target makes of the new clip, as a new object that plays it by itself."""

from __future__ import annotations

import time
from collections.abc import Generator

import numpy as np

from ...scene.mesh_bakes import Baked
from ...scene.motion import frames_per_second
from ...scene.rigs import require_editable
from ...solvers.core.errors import MotionLoomError
from ...solvers.transfer.subject import SubjectTrack
from ..core.base import names_what_is_too_large, relayed, within
from ..mesh.bake import (
    MeshBakeOptions,
    bake_frames,
    costs_of,
    options_of,
    report_of,
    require_space,
    result_steps,
    write_steps,
)
from ..mesh.feet_task import FeetFound, Plant, feet_report, way_length
from ..mesh.live import require_copy_if_live
from ..mesh.plants import say
from .feet import feet_task
from .follower import pose_of, require_subject
from .model import is_trained, learnt_of, result_track, subjects_of
from .read import performed_frames, read_clip_steps, store_clip
from .store import NewClip, matrices


@names_what_is_too_large("transferring to")
def bake_steps(context, ob, options: MeshBakeOptions) -> Generator[tuple[float, str], None, dict]:
    """Bake, with progress; the new object is made after the last step only. Returns the report."""
    began = time.perf_counter()
    require_editable(ob)
    settings = ob.motion_loom_transfer
    require_copy_if_live(ob, settings)
    require_subject(ob)
    learnt = learnt_of(ob)
    known, _ = performed_frames(context.scene, settings)
    frames = bake_frames(known, options)
    count = len(subjects_of(ob).target.reference)
    require_space(options, count, len(frames))
    clip = yield from within(read_clip_steps(context, ob), 0.0, 0.3)
    whole, rows_of = result_track(ob, learnt, clip), frames - clip.frames[0]
    feet = yield from within(_feet_steps(context, ob, whole, clip), 0.3, 0.5)
    track, plants = whole.sampled(rows_of), _plants(feet, rows_of / clip.fps)
    torso = matrices(track)

    def pose(number: int) -> tuple[np.ndarray, np.ndarray]:
        return pose_of(ob, tuple(rows[number] for rows in track.rows), torso[number], plants[number])

    result = yield from relayed(result_steps(frames, count, pose), 0.5, 0.8, "Transferring")

    def keep(baked: Baked) -> dict:
        settings.result = baked.ob
        say(ob, "transfer", feet_report(settings, feet))
        store_clip(ob, clip)  # not before: a bake that is cancelled or fails leaves all as it was
        return report_of(ob, known, frames, options, baked) | {
            "source": settings.performed.name,
            "trained_as_set": is_trained(ob),
            "rate_as_read": frames_per_second(context.scene) == subjects_of(ob).fps,
            "learnt": settings.learnt_summary,
            **feet_report(settings, feet),
            "new_clip": settings.clip_summary,
            "travel_m": way_length(track.translations[:, :2], feet, rows_of / clip.fps),
            "seconds": time.perf_counter() - began,
        }

    return (yield from within(write_steps(context, ob, result, options, "transferred", keep), 0.8, 1.0))


def _feet_steps(
    context, ob, track: SubjectTrack, clip: NewClip
) -> Generator[tuple[float, str], None, FeetFound | None]:
    """What holds the feet over a clip as it was read now; None where they are free."""
    task = feet_task(ob, context.scene, context.evaluated_depsgraph_get(), "", track, clip)
    return None if task is None else (yield from relayed(task.steps(), 0.0, 1.0, "Holding the feet"))


def _plants(feet: FeetFound | None, seconds: np.ndarray) -> list[Plant]:
    return [None] * len(seconds) if feet is None else feet.at(seconds)


def costs(context, ob) -> dict[str, str]:
    """In words, by kind of bake; nothing while nothing is learnt or the range is empty."""
    settings = ob.motion_loom_transfer
    if settings.performed is None:
        return {}
    try:
        frames = len(bake_frames(performed_frames(context.scene, settings)[0], options_of(settings)))
        count = len(subjects_of(ob).target.reference)
    except MotionLoomError:
        return {}
    return costs_of(count, frames, settings.bake_keys)
