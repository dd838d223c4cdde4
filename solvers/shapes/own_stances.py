"""Whether a foot stands as it does somewhere in the target's own clips, told by how high its parts are, and how fast
they go up or down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .feet_motion import FeetMotion
from .foot_contacts import runs

# Of the body's height, 1 mm and 4 mm of a body 1.8 m high: what is as near to a stance of own clips stands as there,
# what is farther stands otherwise.
_SAME, _OTHER = 0.001 / 1.8, 0.004 / 1.8
# Seconds: a height that changes by as much in that time is as far as one that is other by that much.  A foot that lands
# passes all heights; one that floats stays.
_SPAN = 0.05
# Of the body's height: what is lower is looked at, standing or not, for what is performed is not told apart as well.
_NEAR = 0.1
# Steps that are compared at once with all of the own clips.
_AT_ONCE = 512


@dataclass(frozen=True)
class OwnStances:
    """Of K feet, the ways that their states, see ``_state``, go in own clips while they are near the ground, in G
    pieces: starts (G, 2P) and ways (G, 2P) from there; slides (G,), metres a second over the ground, the mean over the
    vertices of a sole, at their starts, and changes (G,) of those."""

    starts: tuple[np.ndarray, ...]
    ways: tuple[np.ndarray, ...]
    slides: tuple[np.ndarray, ...]
    changes: tuple[np.ndarray, ...]

    @classmethod
    def none(cls, count: int) -> OwnStances:
        """Of feet that are to be on the ground whatever they do in their own clips."""
        return cls(*(((np.empty((0, 0)),) * count,) * 2), *(((np.empty(0),) * count,) * 2))

    @classmethod
    def learn(cls, clips: Sequence[tuple[FeetMotion, np.ndarray, np.ndarray]]) -> OwnStances:
        """Of own clips: a motion, which feet are on the ground (F, K), and their levels (F, K)."""
        found = []
        for foot in range(len(clips[0][0].feet)):
            parts = [_of_clip(motion, foot, on_ground[:, foot], right[:, foot]) for motion, on_ground, right in clips]
            found.append([np.concatenate(part) for part in zip(*parts, strict=True)])
        return cls(*(tuple(of_feet) for of_feet in zip(*found, strict=True)))

    def shares(self, motion: FeetMotion, on_ground: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """(F, K) 0 to 1: how much of its height a foot on the ground (F, K) is to give up: nothing in a run in which it
        stands as in own clips, on the whole, all of it in others."""
        out = np.ones(on_ground.shape)
        for foot, column in enumerate(on_ground.T):
            away = self._away(motion, foot, levels[:, foot])
            for start, end in runs(column):
                off = np.sqrt(np.mean(np.square(away[start:end])))
                out[start:end, foot] = share_unlike(off, motion.feet.height)
        return out

    def _away(self, motion: FeetMotion, foot: int, levels: np.ndarray) -> np.ndarray:
        """(F,) metres from own clips, by how it comes to each frame or how it goes on, whichever is nearer."""
        heights, spans = motion.probe_heights(foot), np.diff(motion.times)[:, None]
        above, out = heights - levels[:, None], np.full(len(heights), np.inf)
        changes = _changes(heights[:-1], heights[1:], spans)
        for frames, here in ((slice(1, None), above[1:]), (slice(None, -1), above[:-1])):
            away, _ = self.nearest(foot, _state(here, changes))
            out[frames] = np.minimum(out[frames], away)
        return out

    def performed(self, before: FeetMotion, now: FeetMotion, foot: int, level: float) -> tuple[float, float]:
        """How far a foot is from own clips now, metres, by two motions of a frame each, and how fast its sole slides
        there, metres a second."""
        heights = now.probe_heights(foot)
        changes = _changes(before.probe_heights(foot), heights, now.times[0] - before.times[0])
        away, slides = self.nearest(foot, _state(heights - level, changes))
        return float(away[0]), float(slides[0])

    def nearest(self, foot: int, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far states (S, 2P) are from the ways of own clips: (S,) metres, RMS over a foot's
        probes, infinite where there are none, and (S,) how fast the sole slides there, metres a second."""
        starts, ways = self.starts[foot], self.ways[foot]
        if not len(starts):
            return np.full(len(found), np.inf), np.zeros(len(found))
        lengths, own = np.einsum("gp,gp->g", ways, ways), np.einsum("gp,gp->g", starts, starts)
        along = np.einsum("gp,gp->g", starts, ways)
        out, slides = np.empty((2, len(found)))
        for start in range(0, len(found), _AT_ONCE):
            some, here = found[start : start + _AT_ONCE], slice(start, start + _AT_ONCE)
            apart = np.einsum("sp,sp->s", some, some)[:, None] - 2.0 * some @ starts.T + own
            ahead = some @ ways.T - along
            share = np.clip(ahead / np.maximum(lengths, 1e-300), 0.0, 1.0)
            apart += share * (share * lengths - 2.0 * ahead)
            each, least = np.arange(len(some)), apart.argmin(axis=1)
            out[here] = apart[each, least]
            slides[here] = self.slides[foot][least] + share[each, least] * self.changes[foot][least]
        return np.sqrt(np.maximum(out, 0.0) / (0.5 * starts.shape[1])), slides


def _state(above: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """(S, 2P) of a foot, metres: the heights of its probes above its level (S, P), and how those change (S, P)."""
    return np.concatenate((above, changes), axis=1)


def _changes(before: np.ndarray, after: np.ndarray, spans: np.ndarray | float) -> np.ndarray:
    """(S, P) of heights (S, P) a span of seconds apart, within a twentieth of a second."""
    return (after - before) * (_SPAN / spans)


def share_unlike(away: float | np.ndarray, height: float) -> float | np.ndarray:
    """0 to 1, smoothly: whether what is so far, metres, from the stances of own clips stands otherwise."""
    share = np.clip((away / height - _SAME) / (_OTHER - _SAME), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def _of_clip(motion: FeetMotion, foot: int, on_ground: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, ...]:
    """Starts (G, 2P), ways (G, 2P), slides (G,) and changes (G,) of the steps in which it is near the ground or stands:
    from frame to frame, where heights change, and at their ends, where speeds do; so at any frame rate."""
    near = on_ground | (motion.nearness[:, foot] <= _NEAR * motion.feet.height)
    kept, heights = near[1:] | near[:-1], motion.probe_heights(foot)
    right = np.where(on_ground[:-1], levels[:-1], levels[1:])[:, None]
    slides, changes = motion.slides[:, foot], _changes(heights[:-1], heights[1:], np.diff(motion.times)[:, None])
    still, goes_on = np.zeros_like(changes), (kept[1:] & kept[:-1])
    turning, faster = still.copy(), np.zeros(len(kept))
    turning[:-1][goes_on], faster[:-1][goes_on] = np.diff(changes, axis=0)[goes_on], np.diff(slides)[goes_on]
    begun, ended = (_state(each - right, changes)[kept] for each in (heights[:-1], heights[1:]))
    along, turned = _state(np.diff(heights, axis=0), still)[kept], _state(still, turning)[kept]
    return (
        np.concatenate((begun, ended)),
        np.concatenate((along, turned)),
        np.tile(slides[kept], 2),
        np.concatenate((0.0 * slides[kept], faster[kept])),
    )
