"""Pairs of poses: added, removed, looked at, and suggested."""

from __future__ import annotations

import numpy as np

from ...scene import binding_store
from ...scene.frames import frame_now, show_frame
from ...scene.point_source import points_now
from ...solvers.core.errors import InputError, MotionLoomError
from ...solvers.mapping.odd_pair import odd_pair
from ...solvers.mapping.pair_suggestion import RowSpace, worth
from ...solvers.mapping.pair_suggestion import suggest as best_frames
from ...solvers.shapes.pose_picks import spread_poses
from ...state.live_runs import live_runs
from ..core.kept import kept
from ..core.list_entries import EntryList, entry_index, remove_chosen
from ..mesh.target import target_in, why_no_target
from .model import (
    clip_of,
    is_within,
    outside_text,
    pair_rows,
    pairs_mark,
    performed_text,
    source_of_clip,
    source_track_of,
    target_of,
)
from .shared_frames import shared_notes
from .unmet import told_contradiction
from .weighing import weights_of

COUNT = 5
_MOST_FRAME = 1e6  # what a scene can go to, roundly


def why_no_pairs(context) -> str | None:
    """Why no pair can be added to the active target, or None."""
    reason = why_no_target(context)
    if reason is None and _is_new(target_in(context)):
        return "Learn the target first."
    return reason


def why_no_choice(context) -> str | None:
    """Why there is no pair to look at or to remove, or None."""
    reason = why_no_target(context)
    if reason is None and not len(target_in(context).motion_loom_map.pairs):
        return "There are no pairs yet."
    return reason


def why_no_suggestion(context) -> str | None:
    """Why there is no suggestion to go to, or None."""
    reason = why_no_pairs(context)
    if reason is None and not suggested(target_in(context)):
        return "Press Suggest first."
    return reason


def add_pair(context) -> str:
    """Pair the source as it is now with the chosen pose of the target.

    Raises InputError where one of both is at a frame that was not read or learnt; nothing is changed then.
    """
    ob = target_in(context)
    settings, clip, target = ob.motion_loom_map, clip_of(ob), target_of(ob)
    frame, answer = frame_now(context.scene), settings.target_frame
    if not settings.live_input and not is_within(frame, clip.frames):
        raise InputError(
            f"{_sentence(outside_text(frame, clip.frames, 'source'))}; go to a frame in it, or give Source Range that "
            "frame and press Learn Again."
        )
    if not is_within(answer, target.frames):
        raise InputError(
            f"Target {outside_text(answer, target.frames, 'target')}; choose a frame in it, or give Target Range that "
            "frame and press Learn Again."
        )
    performed = _performed(context, ob) if settings.live_input else ""
    pair = settings.pairs.add()
    pair.source_frame, pair.target_frame, pair.performed = frame, answer, performed
    before, settings.active_pair = settings.active_pair, len(settings.pairs) - 1
    try:
        return _told(ob, f"Pair {len(settings.pairs)}: source {frame:g}, target {pair.target_frame:g}")
    except MotionLoomError:
        settings.pairs.remove(len(settings.pairs) - 1)
        settings.active_pair = before
        raise


def remove_pair(context, index: int) -> None:
    """Remove a pair, the active one for -1; raises InputError where there is none."""
    settings = target_in(context).motion_loom_map
    index = _index(settings, index)
    remove_chosen(settings, "pairs", "active_pair", index, f"Pair {index + 1}", "switch it off")


def show_pair(context) -> str | None:
    """Go to the poses of the active pair; raises InputError where there is none."""
    settings = target_in(context).motion_loom_map
    index = _index(settings, -1)
    pair = settings.pairs[index]
    if not np.abs((pair.source_frame, pair.target_frame)).max() < _MOST_FRAME:  # NaN is not either
        raise InputError(f"Pair {index + 1} has a frame that a scene cannot have; change or remove it.")
    settings.target_frame = pair.target_frame
    if pair.performed:
        return "The source's pose of this pair was performed: no frame holds it"
    show_frame(context.scene, pair.source_frame)
    return None


def suggest(context) -> str:
    """Note the best frames of the source for another pair, and go to the first; InputError where all score nothing."""
    ob = target_in(context)
    found = next_pairs(context.scene, ob)
    if not found:
        raise InputError("No frame of the source would tell more than the pairs do already.")
    settings = ob.motion_loom_map
    settings.suggestions = " ".join(f"{frame:g}" for frame, _ in found)
    settings.suggestion = 0
    show_frame(context.scene, found[0][0])
    told = ", ".join(f"{frame:g} ({gain:.1%})" for frame, gain in found)
    return f"Best frames of the source, and how much of what is left unknown a pair there would tell: {told}"


def next_suggestion(context, step: int) -> str:
    """Go to another of the suggested frames, round and round."""
    settings = target_in(context).motion_loom_map
    frames = suggested(target_in(context))
    settings.suggestion = (settings.suggestion + step) % len(frames)
    show_frame(context.scene, frames[settings.suggestion])
    return f"Suggestion {settings.suggestion + 1} of {len(frames)}: frame {frames[settings.suggestion]:g}"


def next_pairs(scene, ob) -> list[tuple[float, float]]:
    """The frames of the source that are most worth a pair, at most COUNT, best first, each with what a pair there
    gains: its share, 0 to 1, of the variance that is left over the frames that matter."""
    gains = gains_of(scene, ob)
    best = best_frames(gains, source_track_of(ob).times, COUNT)
    return list(zip(clip_of(ob).frames[best].tolist(), gains[best].tolist(), strict=True))


def suggested_gains(scene, ob) -> list[tuple[float, float]]:
    """The frames that were suggested, each with what a pair there gains beside the pairs as they are now."""
    if not suggested(ob):
        return []
    gains, frames = gains_of(scene, ob), clip_of(ob).frames
    return [(frame, float(np.interp(frame, frames, gains))) for frame in suggested(ob)]


def poses_to_perform(ob, count: int) -> list[float]:
    """Frames of the target's motion, at most count, that show how unlike its poses are."""
    target = target_of(ob)
    return target.frames[spread_poses(target.space.coefficients, count)].tolist()


def suggested(ob) -> list[float]:
    """Frames of the source, best first."""
    return [float(word) for word in ob.motion_loom_map.suggestions.split()]


def left_unknown(scene, ob) -> float:
    """Share, 0 to 1, of the variance of the frames that matter which the pairs in use leave; 1 where there are none."""
    return _worth(scene, ob)[1]


def gains_of(scene, ob) -> np.ndarray:
    """(F,) the share of the variance that is left over the frames that matter which a pair at each frame of the clip
    would take off, 0 to 1; glitches and frames that do not matter gain nothing."""
    return _worth(scene, ob)[0]


def _worth(scene, ob) -> tuple[np.ndarray, float]:
    settings = ob.motion_loom_map
    mark, weights = weights_of(scene, ob)

    def rows() -> RowSpace:
        track = source_track_of(ob)
        if weights is not None and not weights[~track.glitches].any():
            raise InputError("All frames of the source in the range that Suggest weighs by are glitches; widen it.")
        return RowSpace.of(track.features, track.glitches, weights)

    def make() -> tuple[np.ndarray, float]:
        space = kept(ob, "map rows", (*binding_store.mark(settings.clip), settings.smoothing, *mark), rows)
        (score, left), (_, all_of_it) = worth(space, pair_rows(ob)[0]), worth(space, [])
        return score / left if left > 0.0 else np.zeros(len(score)), left / all_of_it

    return kept(ob, "map gains", (*pairs_mark(ob), *mark), make)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def odd_one(ob) -> tuple[int, float, float] | None:
    """The number, from 1, of the pair in use that the others contradict most, its target frame, and the one that
    answers to its source by them; None where they agree or do not tell."""

    settings = ob.motion_loom_map

    def make() -> tuple:
        frames = target_of(ob).frames
        used = [pair for pair in settings.pairs if pair.use]
        source = np.array([np.nan if pair.performed else pair.source_frame for pair in used])
        rows = np.interp([pair.target_frame for pair in used], frames, np.arange(len(frames)))
        times = np.stack((source, rows), axis=1)
        return (odd_pair(*pair_rows(ob), target_of(ob).space.coefficients, times),)

    if sum(pair.use for pair in settings.pairs) < 2:
        return None
    (found,) = kept(ob, "map odd pair", pairs_mark(ob), make)
    if found is None:
        return None
    number, pair = [(number, pair) for number, pair in enumerate(settings.pairs, start=1) if pair.use][found.pair]
    return number, pair.target_frame, float(target_of(ob).frames[found.answer])


def odd_text(odd: tuple[int, float, float]) -> str:
    """In words."""
    number, frame, answer = odd
    return (
        f"pair {number} is far off by the other pairs: they say target frame {answer:g} where it has {frame:g}; go to "
        "it and look, change it, or switch off what is wrong"
    )


def _is_new(ob) -> bool:
    settings = ob.motion_loom_map
    return settings.learnt is None or settings.clip is None


def _index(settings, index: int) -> int:
    return entry_index(settings.pairs, settings.active_pair, index, f"'{settings.id_data.name}'", "pair")


def _performed(context, ob) -> str:
    """The source's pose as it moves now; how it moves is known while live only."""
    run = live_runs.runs.get((ob.session_uid, "map"))
    recent = run.follower.recent() if run is not None else None
    if recent is None:
        recent = (points_now(source_of_clip(ob), context.evaluated_depsgraph_get()),) * 2
    return performed_text(*recent)


def _told(ob, text: str) -> str:
    """With a warning where pairs contradict each other or share a frame."""
    odd, shared = odd_one(ob), [note.removesuffix(".") for note in shared_notes(ob)]
    return "; ".join(filter(None, (text, told_contradiction(ob), odd and odd_text(odd), *shared)))


PAIRS = EntryList(
    "pair", "Pair", add_pair, remove_pair, why_no_pairs, why_no_choice,
    add_tip="Pair the source as it is at this frame with the target pose that is chosen",
    remove_tip="Remove a pair",
)  # fmt: skip
