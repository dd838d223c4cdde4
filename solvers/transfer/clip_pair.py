"""Two clips of a like movement, one of each subject, with pairs of poses that answer to each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import InputError, PartError
from ..core.interpolation import BetweenRows

# A part that moves by less than this share of what the subject's liveliest part does, does not move.
_STILL = 1e-6


@dataclass(frozen=True)
class ClipRows:
    """Two clips of a like movement, one of each subject.

    source: of each part (n, P_k) rows, none (n, 0) of a part that is stiff.  target: of each part (m, Q_k).
    pairs: (L, 2) source and target rows that answer to each other, may be fractions, increasing in both columns.
    starts: frame numbers of the first rows, and name: of the clip, for messages; "Clip 2", by order, where None.
    """

    source: tuple[np.ndarray, ...]
    target: tuple[np.ndarray, ...]
    pairs: np.ndarray
    starts: tuple[float, float] = (0.0, 0.0)
    name: str | None = None

    @property
    def telling(self) -> tuple[int, ...]:
        """Numbers of the parts that are stiff in neither subject."""
        both = enumerate(zip(self.source, self.target, strict=True))
        return tuple(part for part, (mine, other) in both if mine.shape[1] and other.shape[1])

    def of_parts(self, parts: tuple[int, ...]) -> ClipRows:
        """The same of some parts alone."""
        source, target = (tuple(side[part] for part in parts) for side in (self.source, self.target))
        return replace(self, source=source, target=target)

    def paired(self) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Rows of each part at the pairs: of the source (L, P_k), and of the target (L, Q_k)."""
        sides = zip((self.source, self.target), self.pairs.T, strict=True)
        source, target = (tuple(_at(part, places) for part in parts) for parts, places in sides)
        return source, target


def _at(rows, places):
    return BetweenRows.at_places(places, len(rows)).of(rows)


def checked_clips(clips: list[ClipRows]) -> list[ClipRows]:
    """The clips as float arrays, each with a name.

    InputError naming clip, pair and part: fewer than two pairs, out of range or order, clips of one frame, parts that
    are not the same in all clips or never move, numbers that are not finite.
    """
    if not clips:
        raise InputError("There are no clips to pair; add one of each subject.")
    clips = [_as_floats(clip, clip.name or f"Clip {number}") for number, clip in enumerate(clips, start=1)]
    for clip in clips:
        for side, rows, first in (("source", clip.source, clips[0].source), ("target", clip.target, clips[0].target)):
            _check_side(f"{clip.name}: the {side}", rows, [part.shape[1] for part in first], len(clips[0].source))
        _check_pairs(clip)
    for side in ("source", "target"):
        _check_moves(side, [getattr(clip, side) for clip in clips])
    return clips


def _as_floats(clip, name):
    source, target = (tuple(np.asarray(part, float) for part in side) for side in (clip.source, clip.target))
    return ClipRows(source, target, np.asarray(clip.pairs, float), tuple(clip.starts), name)


def _check_side(whose: str, parts, widths, count: int) -> None:
    if len(parts) != count or not parts:
        raise InputError(f"{whose} has {len(parts)} parts, not {count}; both subjects need the same parts in all.")
    frames = {len(part) for part in parts}
    if len(frames) != 1:
        raise InputError(f"{whose} has parts of {sorted(frames)} frames; they must have the same.")
    if frames.pop() < 2:
        raise InputError(f"{whose} has one frame only; choose a clip with movement.")
    for number, (part, width) in enumerate(zip(parts, widths, strict=True), start=1):
        if part.shape[1] != width:
            numbers = f"{part.shape[1]} numbers, the first clip by {width}"
            raise InputError(f"{whose} tells part {number} by {numbers}; read all clips again.")
        bad = np.flatnonzero(~np.isfinite(part).all(axis=1))
        if bad.size:
            raise InputError(f"{whose} has a pose of part {number} in row {bad[0]} that is not a number; leave it out.")


def _check_pairs(clip: ClipRows) -> None:
    pairs = clip.pairs
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) < 2:
        raise InputError(f"{clip.name} needs two pairs or more; add some, or switch it off.")
    check_inside(clip.name, pairs, (len(clip.source[0]), len(clip.target[0])), clip.starts)
    crossed = np.flatnonzero((np.diff(pairs, axis=0) <= 0.0).any(axis=1))
    if crossed.size:
        first, second = (_told(pair) for pair in pairs[crossed[0] : crossed[0] + 2] + clip.starts)
        raise InputError(
            f"{clip.name}: pairs {first} and {second} are out of order: time must go on in both clips; change or "
            "remove one."
        )
    if np.floor(pairs[-1, 0]) - np.ceil(pairs[0, 0]) < 1.0:
        raise InputError(
            f"{clip.name} has no two whole frames of the source between its pairs; move them apart, or add one."
        )


def check_inside(name: str, pairs: np.ndarray, counts: tuple[int, int], starts: tuple[float, float]) -> None:
    """InputError naming the first of the pairs (L, 2) of rows that is outside of clips of so many rows."""
    outside = np.argwhere(~((pairs >= 0) & (pairs <= np.array(counts) - 1)))  # NaN is not inside either
    if outside.size:
        pair, side = outside[0]
        frames, start = pairs[pair] + starts, starts[side]
        raise InputError(
            f"{name}, pair {_told(frames)}: frame {frames[side]:g} is outside of the {('source', 'target')[side]}'s "
            f"clip, {start:g} to {start + counts[side] - 1:g}; change or remove the pair."
        )


def _told(pair) -> str:
    return f"{pair[0]:g}={pair[1]:g}"


def _check_moves(side: str, clips) -> None:
    """clips: of each the rows of all parts.  A part without components is stiff, and said to be."""
    sizes, widths = [], []
    for rows in zip(*clips, strict=True):
        values = np.concatenate(rows)
        sizes.append(np.ptp(values, axis=0).max(initial=0.0))
        widths.append(values.shape[1])
    still = np.flatnonzero((np.array(sizes) <= _STILL * max(sizes)) & (np.array(widths) > 0))
    if still.size:
        raise PartError(
            int(still[0]),
            f"it never moves in any clip of the {side}; add a clip in which it does, or make it part of its neighbour.",
        )
