"""The lists of Transfer: pairs of clips, and pairs of poses in them, added, removed, looked at and suggested."""

from __future__ import annotations

import numpy as np

from ...scene import binding_store
from ...scene.animated_range import range_to_read
from ...scene.frames import frame_now, frames_around, show_frame
from ...solvers.core.errors import InputError, MotionLoomError
from ...solvers.mapping.pair_suggestion import RowSpace, scores, suggest
from ..core.kept import kept
from ..core.list_entries import EntryList, entry_index, remove_chosen, resized
from ..mesh.target import target_behind, target_in, why_no_target
from .model import clip_name, clip_number, dense_of, pair_rows, stored_clip
from .read import source_subject
from .store import StoredClip

COUNT = 5
_MOST_FRAME = 1e6  # what a scene can go to, roundly
_AT_END = 0.02  # of a clip: a pair that near to its end counts as being there


def active_clip(ob):
    """The clip of the list that is looked at, or None."""
    settings = ob.motion_loom_transfer
    if not len(settings.clips):
        return None
    return settings.clips[min(max(settings.active_clip, 0), len(settings.clips) - 1)]  # scripts may choose none


# -------------------------------------------------------------------------------------------------------- reasons


def why_no_clip(context) -> str | None:
    """Why there is no clip to change, or None."""
    reason = why_no_target(context)
    return reason or (None if active_clip(target_in(context)) is not None else "There are no clips yet; add some.")


def why_no_pairs(context) -> str | None:
    """Why no pair can be added to the active clip, or None."""
    reason = why_no_clip(context)
    if reason is None and not active_clip(target_in(context)).stored:
        return "Press Read Clips first."
    return reason


def why_no_choice(context) -> str | None:
    """Why there is no pair to look at or to remove, or None."""
    reason = why_no_clip(context)
    return reason or (None if len(active_clip(target_in(context)).pairs) else "There are no pairs yet.")


# ---------------------------------------------------------------------------------------------------------- clips


def add_clip(context) -> str:
    """Add a pair of clips: of other selected meshes with the subjects' vertices, else of the subjects themselves.

    Raises SceneError where there is no source subject yet, or it is none.
    """
    ob = target_in(context)
    settings, source = ob.motion_loom_transfer, source_subject(context, ob)
    chosen = [other for other in map(target_behind, context.selected_objects) if other not in (None, ob, source)]
    of_source, of_target = _first_like(chosen, source) or source, _first_like(chosen, ob) or ob
    ranges = [_range_of(context.scene, owner) for owner in (of_source, of_target)]
    clip = settings.clips.add()
    clip.source, clip.target = of_source, of_target
    (clip.source_start, clip.source_end), (clip.target_start, clip.target_end) = (ends for ends, _ in ranges)
    settings.active_clip = len(settings.clips) - 1
    sides = zip((of_source, of_target), ranges, strict=True)
    told = [f"frames of '{owner.name}' are {because}" for owner, (_, because) in sides if because]
    return "; ".join((f"Clip {len(settings.clips)}: '{of_source.name}' and '{of_target.name}'", *told))


def _first_like(objects, subject):
    """The first of the objects that has as many vertices as a subject's mesh."""
    count = len(subject.data.vertices)
    return next((other for other in objects if other.type == "MESH" and len(other.data.vertices) == count), None)


def _range_of(scene, ob) -> tuple[tuple[int, int], str | None]:
    """First and last frame, and why the scene's range is in them, None where it is not."""
    start, end, because = range_to_read(scene, [ob])
    return frames_around(start, end), because


def remove_clip(context, index: int) -> None:
    """Remove a pair of clips with its pairs of poses, the active one for -1; raises InputError where there is none."""
    ob = target_in(context)
    settings = ob.motion_loom_transfer
    active = min(max(settings.active_clip, 0), len(settings.clips) - 1)
    index = entry_index(settings.clips, active, index, f"'{ob.name}'", "clip")
    remove_chosen(settings, "clips", "active_clip", index, f"Clip {index + 1}", "switch it off")


# ---------------------------------------------------------------------------------------------------------- pairs


def add_pair(context) -> str:
    """Pair the source's pose at the present frame with the chosen pose of the target; a pair of that frame is replaced.

    Raises InputError outside of the clip, or where the pair would turn back time.
    """
    ob = target_in(context)
    clip, settings = active_clip(ob), ob.motion_loom_transfer
    source, target = stored_clip(ob, clip)
    frame, answer = frame_now(context.scene), settings.target_frame
    for value, frames, of in ((frame, source.frames, "source"), (answer, target.frames, "target")):
        if not frames[0] <= value <= frames[-1]:
            raise InputError(
                f"Frame {value:g} is outside of the {of}'s clip, {frames[0]:g} to {frames[-1]:g}; choose one in it, or "
                "give the clip that frame and press Read Clips."
            )
    return put_pair(clip, frame, answer)


def put_pair(clip, frame: float, answer: float) -> str:
    """Pair two frames, in place of a pair with the same source frame; InputError where time would turn back."""
    others = [pair for pair in clip.pairs if abs(pair.source_frame - frame) > 1e-3]
    for pair in others:
        if (pair.target_frame - answer) * (pair.source_frame - frame) <= 0.0:
            raise InputError(
                f"{clip_name(clip)}: {frame:g}={answer:g} contradicts the pair {pair.source_frame:g}="
                f"{pair.target_frame:g}: time must go on in both clips; choose other frames, or remove that pair."
            )
    same = [index for index, pair in enumerate(clip.pairs) if abs(pair.source_frame - frame) <= 1e-3]
    pair = clip.pairs[same[0]] if same else clip.pairs.add()
    pair.source_frame, pair.target_frame = frame, answer
    sort_pairs(clip)
    clip.active_pair = int(np.argmin([abs(other.source_frame - frame) for other in clip.pairs]))
    clip.id_data.update_tag(refresh={"OBJECT"})
    return f"{clip_name(clip)}, pair {clip.active_pair + 1}: source {frame:g}, target {answer:g}"


def replace_pairs(clip, frames: list[tuple[float, float]]) -> None:
    """Give a clip pairs of these source and target frames alone, in this order."""
    pairs = resized(clip, "pairs", len(frames), f"pairs of {clip_name(clip).lower()}")
    for pair, (source, target) in zip(pairs, frames, strict=True):
        pair.source_frame, pair.target_frame = source, target


def sort_pairs(clip) -> None:
    """In order of the source's time."""
    frames = sorted((pair.source_frame, pair.target_frame) for pair in clip.pairs)
    for pair, (source, target) in zip(clip.pairs, frames, strict=True):
        pair.source_frame, pair.target_frame = source, target


def remove_pair(context, index: int) -> None:
    """Remove a pair of the active clip, the active one for -1; raises InputError where there is none."""
    clip = active_clip(target_in(context))
    remove_pair_of(clip, _index(clip, index))


def remove_pair_of(clip, index: int) -> None:
    """Remove a pair of a clip; SceneError where it comes from the library."""
    remove_chosen(clip, "pairs", "active_pair", index, f"{clip_name(clip)}, pair {index + 1}")


def show_pair(context) -> str | None:
    """Go to the poses of the active pair; raises InputError where there is none."""
    ob = target_in(context)
    clip = active_clip(ob)
    pair = clip.pairs[_index(clip, -1)]
    if not np.abs((pair.source_frame, pair.target_frame)).max() < _MOST_FRAME:  # NaN is not either
        raise InputError(f"{clip_name(clip)}: the pair has a frame that a scene cannot have; change or remove it.")
    ob.motion_loom_transfer.target_frame = pair.target_frame
    show_frame(context.scene, pair.source_frame)
    return None


def _index(clip, index: int) -> int:
    return entry_index(clip.pairs, clip.active_pair, index, clip_name(clip), "pair")


# ----------------------------------------------------------------------------------------------------- suggestions


def suggest_pair(context) -> str:
    """Go to the source's frame that is most worth a pair, with the target's that is likely to answer to it.

    Pressed again, to the next best one.  Raises InputError where no frame would tell more.
    """
    ob = target_in(context)
    clip = active_clip(ob)
    source, target = stored_clip(ob, clip)
    frames = worth_pairing(ob, clip)
    if not len(frames):
        raise InputError(f"{clip_name(clip)}: no frame would tell more than the pairs do already.")
    frame = _following(frames, frame_now(context.scene))
    answer = likely_answer(ob, clip, source, target, frame)
    show_frame(context.scene, frame)
    ob.motion_loom_transfer.target_frame = answer
    return f"{clip_name(clip)}: source {frame:g}, target likely {answer:g}: set Target Frame, then press Add Pair"


def _following(frames: np.ndarray, now: float) -> float:
    """The best frame, or the one after it in rank where that is looked at."""
    at = np.flatnonzero(np.isclose(frames, now))
    return float(frames[(at[0] + 1) % len(frames)] if at.size else frames[0])


def worth_pairing(ob, clip) -> np.ndarray:
    """Scene frames of the source's clip, best first: its ends, then where a pair would tell most (Cohn 1996)."""
    source, target = stored_clip(ob, clip)
    paired = pair_rows(clip, source, target)[:, 0]
    last = len(source.frames) - 1
    ends = [row for row in (0, last) if not (np.abs(paired - row) <= _AT_END * last).any()]
    features = _features(ob, clip, source)
    rows = np.array([features[int(round(row))] for row in [*paired, *ends]]).reshape(-1, features.shape[1])
    score = scores(RowSpace.of(features), rows)
    score[np.round(paired).astype(int)] = 0.0
    best = suggest(score, source.frames, COUNT)
    return source.frames[[*ends, *(row for row in best.tolist() if row not in ends)]]


def _features(ob, clip, source: StoredClip) -> np.ndarray:
    """(F, P) rows of all parts, each part of the same weight, and a one."""

    def make() -> np.ndarray:
        parts = [rows - rows.mean(axis=0) for rows in source.track.rows]
        parts = [rows / max(float(np.sqrt((rows**2).sum(axis=1).mean())), 1e-12) for rows in parts]
        features = np.concatenate([*parts, np.ones((len(source.frames), 1))], axis=1)
        return features / np.sqrt(len(parts) + 1.0)

    mark = *binding_store.mark(ob.motion_loom_transfer.subjects), clip.stored
    return kept(ob, f"transfer features {clip_number(clip)}", mark, make)


def likely_answer(ob, clip, source: StoredClip, target: StoredClip, frame: float) -> float:
    """The target's frame that goes with a source frame: by the dense pairs, else evenly between pairs and ends."""
    found = dense_answer(ob, clip, frame)
    if found is not None:
        return found
    pairs = pair_rows(clip, source, target)
    row = frame - source.frames[0]
    ends = np.array([[0.0, 0.0], [len(source.frames) - 1.0, len(target.frames) - 1.0]])
    known = np.unique(np.concatenate((ends[:1], pairs, ends[1:])), axis=0)
    known = known[np.concatenate(([True], np.diff(known[:, 0]) > 1e-9))]
    return float(np.round(target.frames[0] + np.interp(row, *known.T)))


def dense_answer(ob, clip, frame: float) -> float | None:
    """What the dense pairs say, None where there are none yet or they do not reach that far."""
    try:
        dense = {used.number: (used, pairs) for used, pairs in dense_of(ob)}
    except MotionLoomError:
        return None
    if clip_number(clip) not in dense:
        return None
    used, pairs = dense[clip_number(clip)]
    row = frame - used.source.frames[0]
    if not pairs.source_rows[0] <= row <= pairs.source_rows[-1]:
        return None
    return float(np.round(used.target.frames[0] + np.interp(row, pairs.source_rows, pairs.target_rows), 1))


# ------------------------------------------------------------------------------------------------------------ lists

CLIPS = EntryList(
    "clip", "Clips", add_clip, remove_clip, why_no_target, why_no_clip,
    add_tip="Add a pair of clips: of the other selected meshes of the two subjects, else of the subjects themselves",
    remove_tip="Remove the pair of clips, with its pairs of poses",
)  # fmt: skip
PAIRS = EntryList(
    "pair", "Pair", add_pair, remove_pair, why_no_pairs, why_no_choice,
    add_tip="Pair the source as it is at this frame with the target's pose that is chosen",
    remove_tip="Remove a pair",
)  # fmt: skip
