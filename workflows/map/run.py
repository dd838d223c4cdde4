"""Bake: what the target does over a range, as a new object that plays it by itself."""

from __future__ import annotations

import time
from collections.abc import Generator

import numpy as np

from ...scene.mesh_bakes import Baked, MeshResult
from ...solvers.core.errors import MotionLoomError
from ..core.base import names_what_is_too_large, relayed, within
from ..mesh import bake
from ..mesh.bake import MeshBakeOptions, bake_frames, options_of, report_of, require_space, result_steps, write_steps
from ..mesh.feet_task import FeetFound, feet_report, found_of, way_length
from ..mesh.live import require_copy_if_live
from ..mesh.plants import say
from .feet import feet_task
from .follower import pose_of, read_again_steps, result_at, seconds_of, store_clip
from .model import (
    clip_of,
    confidence_of,
    keyed_track,
    map_of,
    require_learnt_mesh,
    target_of,
    track_of,
    track_over,
    travel_note,
)
from .outgrown import outgrown
from .pairs import odd_one
from .store import SourceClip
from .unmet import contradicting, contradiction_frames, left_out, missed


@names_what_is_too_large("mapping")
def bake_steps(context, ob, options: MeshBakeOptions) -> Generator[tuple[float, str], None, dict]:
    """Bake, with progress; the new object is made after the last step only. Returns the report."""
    began = time.perf_counter()
    require_copy_if_live(ob, ob.motion_loom_map)
    require_learnt_mesh(ob)
    map_of(ob)
    known = clip_of(ob).frames
    frames = bake_frames(known, options)
    require_space(options, len(target_of(ob).space.rest), len(frames))
    clip = None
    if not ob.motion_loom_map.live_input:
        clip = yield from within(read_again_steps(context, ob), 0.0, 0.2)
    feet = yield from within(_feet_steps(context, ob, clip), 0.2, 0.5)
    result = yield from relayed(_result_steps(ob, frames, clip, feet), 0.5, 0.8, "Mapping")

    def keep(baked: Baked) -> dict:
        ob.motion_loom_map.result = baked.ob
        say(ob, "map", feet_report(ob.motion_loom_map, feet))
        store_clip(ob, clip)  # not before: a bake that is cancelled or fails leaves all as it was
        return report_of(ob, known, frames, options, baked) | {
            "pairs": sum(pair.use for pair in ob.motion_loom_map.pairs),
            "contradiction": (found := contradicting(ob)),
            "contradiction_frames": contradiction_frames(ob, found),
            "pairs_missed": vars(missed(ob)),
            "pairs_left_out": vars(left_out(ob)),
            "odd_pair": _odd_pair(ob),
            "outgrown": None if ob.motion_loom_map.live_input else outgrown(context.scene, ob),
            "components": target_of(ob).space.components,
            "confidence_mean": float(confidence_of(ob).mean()),
            "travel": travel_note(ob),
            "travel_notes": [*track_of(ob).notes],
            **feet_report(ob.motion_loom_map, feet),
            "travel_m": way_length(result_at(ob, frames)[1], feet, seconds_of(clip_of(ob), frames)),
            "seconds": time.perf_counter() - began,
        }

    return (yield from within(write_steps(context, ob, result, options, "mapped", keep), 0.8, 1.0))


def _odd_pair(ob) -> dict[str, float] | None:
    """For JSON: the pair that the others contradict most, and the target frame that they say."""
    odd = odd_one(ob)
    return odd and dict(zip(("pair", "target_frame", "others_say"), odd, strict=True))


def costs_of(ob) -> dict[str, str]:
    """In words, by kind of bake; nothing while the target is not learnt or the range is empty."""
    settings = ob.motion_loom_map
    try:
        frames = bake_frames(clip_of(ob).frames, options_of(settings))
        return bake.costs_of(len(target_of(ob).space.rest), len(frames), settings.bake_keys)
    except MotionLoomError:
        return {}


def _feet_steps(context, ob, clip: SourceClip | None) -> Generator[tuple[float, str], None, FeetFound | None]:
    """What holds the feet over the clip, the stored one if None; None where they are free."""
    keyed = keyed_track(ob) if clip is None else ("", track_over(ob, clip))
    first, depsgraph = float((clip or clip_of(ob)).frames[0]), context.evaluated_depsgraph_get()
    task = feet_task(ob, context.scene, depsgraph, *keyed, first, False)
    if task is None:
        return None
    known = None if clip is not None else found_of(ob, task)
    if known is not None and known.refused is None:
        return known
    return (yield from relayed(task.steps(), 0.0, 1.0, "Holding the feet"))


def _result_steps(
    ob, frames: np.ndarray, clip: SourceClip | None, feet: FeetFound | None
) -> Generator[float, None, MeshResult]:
    track, plants = result_at(ob, frames, clip), [None] * len(frames)
    if feet is not None:
        plants = feet.at(seconds_of(clip or clip_of(ob), frames))

    def pose(number: int) -> tuple[np.ndarray, np.ndarray]:
        return pose_of(ob, *(part[number] for part in track), plants[number])

    return result_steps(frames, len(target_of(ob).space.rest), pose)
