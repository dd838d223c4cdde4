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
    """Of K feet: starts (G, 2P), states in G steps of own clips in which it is near the ground, see ``states``, and to
    the next ones, ways (G, 2P), zero where that is not among them; slides (G,), metres a second over the ground, the
    mean over the vertices of its sole, and changes (G,) of those."""

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
            away, _ = self.nearest(foot, states(motion, foot, column, levels[:, foot]))
            for start, end in runs(column):
                # Of a run of one frame, the steps to and from it.
                inside = away[start : end - 1] if end - start > 1 else away[max(start - 1, 0) : end]
                if len(inside):
                    out[start:end, foot] = share_unlike(np.sqrt(np.mean(np.square(inside))), motion.feet.height)
        return out

    def nearest(self, foot: int, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far states (S, 2P) are from the nearest in own clips, or between two: (S,) metres, RMS over a foot's
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


def states(motion: FeetMotion, foot: int, on_ground: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(F - 1, 2P) of a foot in the steps between frames, metres: the heights of its probes above its level (F,), and by
    how much they change within a twentieth of a second."""
    heights, right = motion.probe_heights(foot), np.where(on_ground[:-1], levels[:-1], levels[1:])
    return _states(heights[:-1], heights[1:], right[:, None], np.diff(motion.times)[:, None])


def states_between(before: FeetMotion, now: FeetMotion, foot: int, level: float) -> np.ndarray:
    """(1, 2P) likewise, between two motions of a frame each."""
    heights = before.probe_heights(foot), now.probe_heights(foot)
    return _states(*heights, level, now.times[0] - before.times[0])


def _states(before, after, level, span) -> np.ndarray:
    """Heights (S, P) at the ends of steps, which take a span of seconds."""
    return np.concatenate((0.5 * (before + after) - level, (after - before) * (_SPAN / span)), axis=1)


def share_unlike(away: float | np.ndarray, height: float) -> float | np.ndarray:
    """0 to 1, smoothly: whether what is so far, metres, from the stances of own clips stands otherwise."""
    share = np.clip((away / height - _SAME) / (_OTHER - _SAME), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def _of_clip(motion: FeetMotion, foot: int, on_ground: np.ndarray, levels: np.ndarray):
    """States (G, 2P) of the steps in which it is near the ground or stands, the ways to the next, slides (G,) and their
    changes."""
    near = on_ground | (motion.nearness[:, foot] <= _NEAR * motion.feet.height)
    found, kept = states(motion, foot, on_ground, levels), near[1:] | near[:-1]
    slides = motion.slides[:, foot]
    ways, changes = np.zeros_like(found), np.zeros(len(found))
    goes_on = np.flatnonzero(kept[1:] & kept[:-1])
    ways[goes_on], changes[goes_on] = (values[goes_on + 1] - values[goes_on] for values in (found, slides))
    return found[kept], ways[kept], slides[kept], changes[kept]
