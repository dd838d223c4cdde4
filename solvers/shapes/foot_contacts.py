"""Which feet of a mesh stand when, read from what the feet themselves do, never from what drives them."""

from __future__ import annotations

import numpy as np

from .feet_motion import FeetMotion

# Of the body's height: how far above the ground a foot that stands is, and how far a foot that slides much.
NEAR, NEAR_SLIDING = 0.05, 0.08
# Body heights a second, or share of the body's own speed: what stands is slower.
SLOW, _SLOW_SHARE = 0.35, 0.75
# Of the body's height, and body heights a second: what is higher above the ground and goes up or down as fast lands or
# leaves.
_ON, _LEVEL = 0.012, 0.12
# Of the body's height: the lower foot is within that of the lowest.
LOWEST = 0.02
# Body heights a second, in all directions: the lowest foot that is as still stands, whatever is below it, as on a step.
_STILL = 0.15
_SOME = 0.25
# Seconds: gaps as short are closed, then runs as short are dropped: one frame at 24 frames a second.
SHORTEST = 0.045


def standing(motion: FeetMotion) -> np.ndarray:
    """(F, K) bool: which feet stand: near the ground and slow, or lowest and still, wherever the ground is."""
    near = is_low(motion) & (motion.nearness <= NEAR * motion.feet.height)
    return tidied(motion.times, (near & _in_both(_is_slow(motion))) | _on_something(motion))


def down(motion: FeetMotion) -> np.ndarray:
    """(F, K) bool: which feet are down, fast or slow: the lowest, and what is hardly higher, near the ground."""
    return tidied(motion.times, is_lowest(motion) & (motion.nearness <= NEAR_SLIDING * motion.feet.height))


def is_lowest(motion: FeetMotion) -> np.ndarray:
    """(F, K) bool: which feet are lower above the ground than all others, or hardly higher."""
    lowest = motion.nearness.min(axis=1, keepdims=True)
    return motion.nearness <= lowest + LOWEST * motion.feet.height


def tidied(times: np.ndarray, is_on: np.ndarray) -> np.ndarray:
    """is_on (F, K) without gaps of a frame inside, then without runs of a frame; times (F,) seconds."""
    out = is_on.copy()
    for column in out.T:
        for start, end in runs(~column):
            if start > 0 and end < len(column) and _lasts(times, start, end) <= SHORTEST:
                column[start:end] = True
        for start, end in runs(column):
            if _lasts(times, start, end) <= SHORTEST:
                column[start:end] = False
    return out


def runs(is_on: np.ndarray) -> list[tuple[int, int]]:
    """(start, end) of each run of true in (F,), the end not in it."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_on.astype(np.int8), [0]))))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _lasts(times: np.ndarray, start: int, end: int) -> float:
    """Seconds, each frame taken to last until the next one."""
    step = (times[-1] - times[0]) / max(len(times) - 1, 1)
    return times[end - 1] - times[start] + step


def is_low(motion: FeetMotion) -> np.ndarray:
    """(F, K) bool: whose middle is in the lower half of its way."""
    return motion.middles <= motion.feet.highest_low


def slow_limit(motion: FeetMotion) -> np.ndarray:
    """(F - 1,) metres a second: a foot that stands is slower; the faster the body, the more its feet disagree."""
    body = np.linalg.norm(np.diff(motion.places, axis=0), axis=1) / np.diff(motion.times)
    return slow_limit_at(body, motion.feet.height)


def slow_limit_at(body: np.ndarray | float, height: float) -> np.ndarray | float:
    """The same for a body that is so fast, metres a second, and so high."""
    return np.maximum(SLOW * height, _SLOW_SHARE * body)


def _is_slow(motion: FeetMotion) -> np.ndarray:
    """(F - 1, K)."""
    speed = np.linalg.norm(motion.sole_steps, axis=2) / np.diff(motion.times)[:, None]
    return speed <= slow_limit(motion)[:, None]


def grounded(motion: FeetMotion, stands: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(F, K) bool: where a foot that stands (F, K) is to be at its level (F, K), a clearance.

    Not while it lands or leaves; but while all that stand do, the one that is nearest to its level: something carries
    the body.
    """
    out = settled(motion, stands)
    in_air = stands.any(axis=1) & ~out.any(axis=1)
    nearest = np.where(stands, np.abs(motion.clearances - levels), np.inf).argmin(axis=1)
    out[in_air, nearest[in_air]] = True
    return out


def settled(motion: FeetMotion, stands: np.ndarray) -> np.ndarray:
    """(F, K) bool: where a foot that stands (F, K) neither lands nor leaves; of a run in which it does nothing else,
    the lowest frame."""
    out = stands & is_settled(motion)
    for foot, column in enumerate(stands.T):
        for start, end in runs(column):
            if not out[start:end, foot].any():
                out[start + int(np.argmin(motion.clearances[start:end, foot])), foot] = True
    return out


def is_settled(motion: FeetMotion) -> np.ndarray:
    """(F, K) bool: as good as on the ground, or below it, or not going up or down."""
    speed = np.abs(np.diff(motion.nearness, axis=0)) / np.diff(motion.times)[:, None]
    return is_on(motion.nearness, motion.feet.height) | _in_both(is_level(speed, motion.feet.height))


def is_on(nearness: np.ndarray, height: float) -> np.ndarray:
    """Whether what is so near to the ground, metres, is as good as on it, of a body so high."""
    return nearness <= _ON * height


def is_level(speed: np.ndarray, height: float) -> np.ndarray:
    """Whether what goes up or down by so many metres a second does neither, of a body so high."""
    return speed <= _LEVEL * height


def _on_something(motion: FeetMotion) -> np.ndarray:
    """(F, K) bool: lowest, and hardly moving in any direction."""
    span, height = np.diff(motion.times)[:, None], motion.feet.height
    sideways = np.linalg.norm(motion.sole_steps, axis=2)
    speed = np.hypot(sideways, np.diff(motion.middles, axis=0)) / span
    return is_lowest(motion) & _in_both(speed <= _STILL * height)


def _in_both(of_steps: np.ndarray) -> np.ndarray:
    """(F, ...) true at frames both of whose steps (F - 1, ...) are, of the first and last the one there is."""
    if not len(of_steps):
        return np.ones((1, *of_steps.shape[1:]), bool)
    return np.concatenate((of_steps[:1], of_steps[1:] & of_steps[:-1], of_steps[-1:]))


def in_steps(is_on: np.ndarray) -> np.ndarray:
    """(F - 1, K) true in steps between two frames in both of which is_on (F, K) is."""
    return is_on[1:] & is_on[:-1]


def sliding_share(motion: FeetMotion) -> float:
    """Share of the steps with a foot down, or standing, in which all of them slide.

    Of a quarter of all steps at least: what is seldom down tells little.
    """
    slides = np.where(in_steps(down(motion) | standing(motion)), motion.slides, np.inf).min(axis=1, initial=np.inf)
    known = np.isfinite(slides)
    count = np.sum(slides[known] > SLOW * motion.feet.height)
    return float(count / max(np.sum(known), _SOME * len(slides), 1.0))
