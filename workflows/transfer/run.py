"""Bake: what the target makes of the new clip, as a new object that plays it by itself."""

from __future__ import annotations

import time
from collections.abc import Generator

import numpy as np

from ...scene.mesh_bakes import Baked
from ...scene.motion import frames_per_second
from ...scene.rigs import require_editable
from ...solvers.core.errors import MotionLoomError
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
from ..mesh.live import require_copy_if_live
from .follower import pose_of, require_subject
from .model import is_trained, learnt_of, result_track, subjects_of
from .read import performed_frames, read_clip_steps, store_clip
from .store import matrices


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
    track = result_track(ob, learnt, clip).sampled(frames - clip.frames[0])
    torso = matrices(track)

    def pose(number: int) -> tuple[np.ndarray, np.ndarray]:
        return pose_of(ob, tuple(rows[number] for rows in track.rows), torso[number])

    result = yield from relayed(result_steps(frames, count, pose), 0.3, 0.8, "Transferring")

    def keep(baked: Baked) -> dict:
        settings.result = baked.ob
        store_clip(ob, clip)  # not before: a bake that is cancelled or fails leaves all as it was
        return report_of(ob, known, frames, options, baked) | {
            "source": settings.performed.name,
            "trained_as_set": is_trained(ob),
            "rate_as_read": frames_per_second(context.scene) == subjects_of(ob).fps,
            "learnt": settings.learnt_summary,
            "new_clip": settings.clip_summary,
            "travel_m": float(np.linalg.norm(np.diff(track.translations[:, :2], axis=0), axis=1).sum()),
            "seconds": time.perf_counter() - began,
        }

    return (yield from within(write_steps(context, ob, result, options, "transferred", keep), 0.8, 1.0))


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
