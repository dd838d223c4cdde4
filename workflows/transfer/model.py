"""What Transfer works with, computed once and looked up by its inputs: subjects, dense pairs, the new clip, result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ...scene import binding_store
from ...solvers.core.errors import InputError, PartError, StaleBindingError
from ...solvers.transfer.clip_pair import ClipRows, check_inside
from ...solvers.transfer.correspondence import DenseClip, densify
from ...solvers.transfer.ground_contact import track_floor, with_clearance
from ...solvers.transfer.level import tilt_of
from ...solvers.transfer.odd_pairs import OddPair, odd_pairs
from ...solvers.transfer.subject import SubjectTrack
from ...solvers.transfer.surface_transfer import SurfaceTransfer, levelled
from ...state import cache
from ..command_line.settings import require_numbers
from ..core.kept import kept, kept_by, unpacked
from .settings import are_parts_as_read, choice
from .store import NewClip, StoredClip, Subjects, unpack_clip, unpack_learnt, unpack_subjects

PARTS_CHANGED = "Parts or Components were changed since the clips were read: press Read Clips."


def subjects_of(ob) -> Subjects:
    """What was read of both subjects; StaleBindingError where there is nothing, or it cannot be used."""
    missing = f"The clips of '{ob.name}' are not read yet; press Read Clips."
    return unpacked(ob, "transfer subjects", ob.motion_loom_transfer.subjects, unpack_subjects, missing)


def learnt_of(ob) -> SurfaceTransfer:
    """What was learnt of the pairs; StaleBindingError where there is nothing, or it cannot be used."""
    settings = ob.motion_loom_transfer
    missing = f"'{ob.name}' has learnt nothing yet; press Train."
    return unpacked(ob, "transfer learnt", settings.subjects and settings.learnt, unpack_learnt, missing)


def clip_of(ob) -> NewClip:
    """What was read of the new clip; StaleBindingError where there is nothing, or it cannot be used."""
    missing = f"The new clip of '{ob.name}' is not read yet; switch Live on, or bake."
    clip = unpacked(ob, "transfer clip", ob.motion_loom_transfer.clip, unpack_clip, missing)
    count = len(subjects_of(ob).source.reference)
    if clip.samples.max(initial=0) >= count:
        raise StaleBindingError(f"The new clip of '{ob.name}' has other vertices than the subject; press Refresh.")
    return clip


# ------------------------------------------------------------------------------------------------------- training


@dataclass(frozen=True)
class UsedClip:
    """A clip of the list that is learnt from: its number, from 1, both of its tracks, and its pairs as rows (L, 2)."""

    number: int
    source: StoredClip
    target: StoredClip
    pairs: np.ndarray


def stored_clip(ob, clip) -> tuple[StoredClip, StoredClip]:
    """What was read of a clip of the list; StaleBindingError where it was not, or was changed since."""
    found = subjects_of(ob).clips.get(clip.stored)
    if found is None:
        raise StaleBindingError(f"{clip_name(clip)} of '{ob.name}' is not read as it is now; press Read Clips.")
    return found


def clip_name(clip) -> str:
    """For messages: its number, from 1."""
    return f"Clip {clip_number(clip)}"


def clip_number(clip) -> int:
    """From 1."""
    settings = clip.id_data.motion_loom_transfer
    return next(number for number, other in enumerate(settings.clips, start=1) if other == clip)


def used_clips(ob) -> list[UsedClip]:
    """The clips in use; InputError naming a clip or pair that cannot be, or where there is none."""
    settings = ob.motion_loom_transfer
    if not are_parts_as_read(settings):
        raise StaleBindingError(f"'{ob.name}': {PARTS_CHANGED}")
    used = []
    for number, clip in enumerate(settings.clips, start=1):
        if clip.use:
            source, target = stored_clip(ob, clip)
            used.append(UsedClip(number, source, target, pair_rows(clip, source, target)))
    if not used:
        raise InputError(f"No clip of '{ob.name}' is in use; add clips, or switch one on.")
    return used


def pair_rows(clip, source: StoredClip, target: StoredClip) -> np.ndarray:
    """(L, 2) rows of the clips at the pairs' frames, in order of time; between frames they are fractions.

    Raises InputError naming a pair that lies outside of what was read.
    """
    frames = np.array([(pair.source_frame, pair.target_frame) for pair in clip.pairs]).reshape(-1, 2)
    starts = _starts(source, target)
    rows = frames[np.argsort(frames[:, 0], kind="stable")] - starts
    check_inside(clip_name(clip), rows, (len(source.frames), len(target.frames)), starts)
    return rows


def training_mark(ob) -> tuple:
    """All that dense pairs depend on, for comparing."""
    settings = ob.motion_loom_transfer
    if settings.subjects is None:
        raise StaleBindingError(f"The clips of '{ob.name}' are not read yet; press Read Clips.")
    stored = binding_store.mark(settings.subjects)[1:]  # the first number is another one in each session
    values = [*stored, choice(settings, "densify"), settings.stretch]
    for clip in settings.clips:
        if clip.use:
            values.append(clip.stored)
            values += [frame for pair in clip.pairs for frame in (pair.source_frame, pair.target_frame)]
            values.append(None)  # where the next one begins
    return tuple(values)


def training_key(ob) -> str:
    """Of all that what is learnt depends on."""
    settings = ob.motion_loom_transfer
    return cache.fingerprint(*training_mark(ob), choice(settings, "kernel"), settings.noise)


def dense_of(ob) -> list[tuple[UsedClip, DenseClip]]:
    """The frames of the clips in use that answer to each other; raises as ``used_clips`` and ``densify``."""

    def make() -> list[tuple[UsedClip, DenseClip]]:
        settings, used = ob.motion_loom_transfer, used_clips(ob)
        rows = [_rows_of(ob, clip) for clip in used]
        with parts_named(ob):
            return list(zip(used, densify(rows, choice(settings, "densify").lower(), settings.stretch), strict=True))

    return kept(ob, "transfer dense", training_mark(ob), make)


def odd_of(ob) -> list[str]:
    """In words, the pairs of the clips in use that the others contradict; raises as ``dense_of``."""

    def make() -> list[str]:
        used, fps = used_clips(ob), subjects_of(ob).fps
        with parts_named(ob):
            found = odd_pairs([_rows_of(ob, clip) for clip in used], fps)
        return [_odd_text(used[odd.clip], odd) for odd in found]

    return kept(ob, "transfer odd pairs", training_mark(ob), make)


def _odd_text(clip: UsedClip, odd: OddPair) -> str:
    source, target = clip.pairs[odd.pair] + _starts(clip.source, clip.target)
    return (
        f"clip {clip.number}: pair {source:g}={target:g} is far off by the other pairs, which say target frame "
        f"{clip.target.frames[odd.answer]:g}; go to it and look, change or remove what is wrong"
    )


@contextmanager
def parts_named(ob) -> Iterator[None]:
    """Says the name of a part where something is wrong with it."""
    try:
        yield
    except PartError as error:
        raise InputError(f"'{subjects_of(ob).target.names[error.part]}': {error.problem}") from error


def _rows_of(ob, clip: UsedClip) -> ClipRows:
    name = f"Clip {clip.number} of '{ob.name}'"
    return ClipRows(clip.source.track.rows, clip.target.track.rows, clip.pairs, _starts(clip.source, clip.target), name)


def _starts(source: StoredClip, target: StoredClip) -> tuple[float, float]:
    return float(source.frames[0]), float(target.frames[0])


def is_trained(ob) -> bool:
    """Whether what was learnt is of the pairs and choices as they are."""
    settings = ob.motion_loom_transfer
    if settings.learnt is None or settings.subjects is None or not are_parts_as_read(settings):
        return False
    return settings.learnt_of == training_key(ob)


# --------------------------------------------------------------------------------------------------------- result


def keyed_track(ob) -> tuple[str, SubjectTrack]:
    """A key of all that it depends on, and what the target does over the new clip."""
    settings = ob.motion_loom_transfer
    learnt, clip = learnt_of(ob), clip_of(ob)
    marks = *binding_store.mark(settings.learnt), *binding_store.mark(settings.clip)
    choices = settings.travel, settings.travel_scale, settings.keep_clearance
    key = cache.fingerprint(*marks, *choices)
    return key, kept_by(ob, "transfer track", key, lambda: result_track(ob, learnt, clip))


def result_track(ob, learnt: SurfaceTransfer, clip: NewClip) -> SubjectTrack:
    """What the target does over a clip, which need not be the stored one."""
    track = moved_track(ob, learnt, clip)
    return cleared(ob, track, clip.track, clip.fps)


def moved_track(ob, learnt: SurfaceTransfer, clip: NewClip) -> SubjectTrack:
    """The same before its feet are brought to the ground; InputError where Travel Scale is no number."""
    settings = ob.motion_loom_transfer
    if settings.travel == "SOURCE":
        require_numbers(settings, ["travel_scale"])
    track = learnt.track(clip.track, clip.fps)
    scale = settings.travel_scale if settings.travel == "SOURCE" else 0.0
    translations = track.translations.copy()
    start = translations[0, :2]
    translations[:, :2] = start + scale * (translations[:, :2] - start)
    return SubjectTrack(track.rows, track.rotations, translations)


def cleared(ob, track: SubjectTrack, source_track: SubjectTrack, fps: float) -> SubjectTrack:
    """A target's track as high above its ground as its source's is, where that is asked for."""
    if not ob.motion_loom_transfer.keep_clearance:
        return track
    subjects, level = subjects_of(ob), learnt_of(ob).level
    both = subjects.target, levelled(source_track, level), subjects.source
    return with_clearance(track, *both, fps, None if tilt_of(level) == 0.0 else _levelled_floor(ob))


def _levelled_floor(ob) -> float:
    """Of the source, in its levelled world."""

    def make() -> float:
        subjects, level = subjects_of(ob), learnt_of(ob).level
        own = [levelled(source.track, level) for source, _ in subjects.clips.values()]
        return track_floor(subjects.source, own)

    settings = ob.motion_loom_transfer
    marks = *binding_store.mark(settings.subjects), *binding_store.mark(settings.learnt)
    return kept(ob, "transfer levelled floor", marks, make)
