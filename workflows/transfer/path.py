"""The path of the active clip in its picture: pairs are grabbed, dragged, added and removed there."""

from __future__ import annotations

import numpy as np

from ..mesh.target import target_in
from .model import dense_of, stored_clip
from .overlay import PLACE
from .pairs import active_clip, remove_pair_of, replace_pairs, sort_pairs, why_no_clip

_SIDES = "source_frame", "target_frame"
_NEAR = 0.03  # of the picture's side: a pair that near to the mouse is meant


def why_no_path(context) -> str | None:
    """Why there is no path to edit, or None."""
    reason = why_no_clip(context)
    if reason is not None:
        return reason
    clip = active_clip(target_in(context))
    if not clip.stored:
        return "Press Read Clips first."
    if not clip.use:
        return "This clip is switched off."
    return None if len(clip.pairs) >= 2 else "Add two pairs or more."


def require_path(context) -> None:
    """Raises MotionLoomError where frames cannot be paired yet."""
    dense_of(target_in(context))


def pairs_now(context) -> list[tuple[float, float]]:
    """Source and target frames of the active clip's pairs."""
    return [(pair.source_frame, pair.target_frame) for pair in active_clip(target_in(context)).pairs]


def put_pairs(context, pairs: list[tuple[float, float]]) -> None:
    """Give the active clip these pairs."""
    clip = active_clip(target_in(context))
    replace_pairs(clip, pairs)
    clip.active_pair = min(clip.active_pair, len(pairs) - 1)
    _note(clip)


def in_picture(x: float, y: float) -> tuple[float, float]:
    """A place of the region, shares of its shorter side, as one of the picture, shares of its sides."""
    return (x - PLACE[0]) / PLACE[2], (y - PLACE[1]) / PLACE[3]


def is_in_picture(place: tuple[float, float]) -> bool:
    """Whether it is there, or so near that a pair at the edge may be meant."""
    return all(-_NEAR <= share <= 1.0 + _NEAR for share in place)


def grab(context, place: tuple[float, float]) -> int | None:
    """The number of the pair near a place of the picture, else of a new one there; None where time would turn back."""
    clip, source, target = _active(context)
    near = _near(clip, source, target, place)
    if near is None:
        near = _added(clip, *_frames_at(place, source, target))
    if near is not None:
        clip.active_pair = near
        _note(clip)
    return near


def _added(clip, frame: float, answer: float) -> int | None:
    if not all(_is_later(pair, frame, answer, pair.source_frame > frame) for pair in clip.pairs):
        return None
    pair = clip.pairs.add()
    pair.source_frame, pair.target_frame = frame, answer
    sort_pairs(clip)
    return next(number for number, other in enumerate(clip.pairs) if other.source_frame == frame)


def drag(context, number: int, place: tuple[float, float]) -> None:
    """Move a pair towards a place of the picture, as far as the pairs before and after it let time go on."""
    clip, source, target = _active(context)
    pair = clip.pairs[number]
    wanted = _frames_at(place, source, target)
    frames = tuple(_between(clip.pairs, number, of, frame) for of, frame in zip(_SIDES, wanted, strict=True))
    if None not in frames and frames != (pair.source_frame, pair.target_frame):
        pair.source_frame, pair.target_frame = frames
        _note(clip)


def _between(pairs, number: int, of: str, frame: float) -> float | None:
    """The nearest whole frame to one that lies between a pair's neighbours; None where there is none."""
    least = np.floor(getattr(pairs[number - 1], of)) + 1.0 if number else -np.inf
    most = np.ceil(getattr(pairs[number + 1], of)) - 1.0 if number + 1 < len(pairs) else np.inf
    return float(np.clip(frame, least, most)) if least <= most else None


def remove_at(context, place: tuple[float, float]) -> None:
    """Remove the pair near a place of the picture; two are kept."""
    clip, source, target = _active(context)
    near = _near(clip, source, target, place)
    if near is not None and len(clip.pairs) > 2:
        remove_pair_of(clip, near)


def _active(context):
    ob = target_in(context)
    clip = active_clip(ob)
    return clip, *stored_clip(ob, clip)


def _near(clip, source, target, place) -> int | None:
    found = []
    for number, pair in enumerate(clip.pairs):
        x, y = _share(pair.source_frame, source.frames), _share(pair.target_frame, target.frames)
        found.append((max(abs(x - place[0]), abs(y - place[1])), number))
    distance, number = min(found, default=(1.0, None))
    return number if distance <= _NEAR else None


def _is_later(pair, frame: float, answer: float, later: bool) -> bool:
    """Whether a pair is later, or else earlier, than two frames, in both clips."""
    way = 1.0 if later else -1.0
    return way * (pair.source_frame - frame) > 0.0 and way * (pair.target_frame - answer) > 0.0


def _frames_at(place: tuple[float, float], source, target) -> tuple[float, float]:
    """Whole frames of both clips at a place of the picture."""
    sides = zip(place, (source.frames, target.frames), strict=True)
    return tuple(float(round(np.interp(share, (0.0, 1.0), (frames[0], frames[-1])))) for share, frames in sides)


def _share(frame: float, frames) -> float:
    return float((frame - frames[0]) / (frames[-1] - frames[0]))


def _note(clip) -> None:
    clip.id_data.update_tag(refresh={"OBJECT"})
