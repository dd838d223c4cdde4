"""How a target's own feet stand: how fast they slide and how high they are, by which others' standing is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .feet_motion import FeetMotion
from .foot_contacts import grounded, in_steps, runs, sliding_share, standing

# Body heights a second, and of the body's height: what own clips are taken to do at least.
LEAST_SLIDE, LEAST_AWAY = 1e-2, 1e-3
# Up to so many times the own clips' is left alone, of slides and of heights; beyond, what is left falls with that
# power.
LEFT, LEFT_HEIGHT, _POWER = 1.1, 1.02, 3
# Of the body's height: runs of a foot whose heights differ by more stand on steps, each at its own height.
_STEPS = 0.03


@dataclass(frozen=True)
class FootHabits:
    """Of K feet.  slide (K,): metres a second, the mean over a sole's vertices while it stands.  level (K,): clearance
    of its lowest point then, the median, and away (K,): RMS from that, metres.  Both of the clip that has most.  floor
    (K,): the least clearance that it ever has.  sliding: share of the steps with a foot down in which all that is down
    slides.  mean_slide: over all.  climbs: some foot stands on steps."""

    slide: np.ndarray
    level: np.ndarray
    away: np.ndarray
    floor: np.ndarray
    sliding: float
    mean_slide: float
    climbs: bool

    def on_picked_ground(self) -> FootHabits:
        """The same where the user says where the ground is: there the lowest points are to be, and none deeper."""
        none = np.zeros_like(self.level)
        return replace(self, level=none, away=none, floor=none)


def learn_habits(motions: Sequence[FeetMotion]) -> FootHabits:
    """Of what a target does in its own clips, one or more.  A foot that never stands there has the means of all."""
    pairs = [(motion, standing(motion)) for motion in motions]
    clearances = np.concatenate([motion.clearances for motion in motions])
    on_ground = np.concatenate([grounded(*pair) for pair in pairs])
    level = _by_foot(np.nanmedian, np.where(on_ground, clearances, np.nan))
    found = [levels(*pair, level) for pair in pairs]
    away = [_by_foot(_rms, away_from(right, *pair)) for (right, _), pair in zip(found, pairs, strict=True)]
    slides = [standing_slides(*pair) for pair in pairs]
    most = [np.max([_by_foot(np.nanmean, each) for each in slides], axis=0), np.max(away, axis=0)]
    sliding, mean = float(np.mean([sliding_share(motion) for motion in motions])), _mean(np.concatenate(slides))
    climbs = bool(np.any([on_steps for _, on_steps in found]))
    return FootHabits(most[0], level, most[1], clearances.min(axis=0), sliding, mean, climbs)


def standing_slides(motion: FeetMotion, stands: np.ndarray) -> np.ndarray:
    """(F - 1, K) how fast the soles slide over the ground, metres a second, NaN where they do not stand (F, K)."""
    return np.where(in_steps(stands), motion.slides, np.nan)


def away_from(levels: np.ndarray, motion: FeetMotion, stands: np.ndarray) -> np.ndarray:
    """(F, K) how far the lowest points of feet that stand (F, K) are above levels (F, K), metres, NaN elsewhere."""
    return np.where(grounded(motion, stands), motion.clearances - levels, np.nan)


def levels(
    motion: FeetMotion, stands: np.ndarray, level: np.ndarray, may_climb: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(F, K) the clearance at which each foot is to be while it stands (F, K), and whether it is on steps (K,).

    level (K,), but where the ground is not known, may_climb, and a foot's runs differ: then that of each run by itself.
    """
    out, on_steps = np.repeat(level[None], len(stands), axis=0), np.zeros(len(level), bool)
    if motion.ground is not None or not may_climb:
        return out, on_steps
    on_ground = grounded(motion, stands)
    for foot, column in enumerate(stands.T):
        heights_of = np.where(on_ground[:, foot], motion.clearances[:, foot], np.nan)
        found = [(slice(*run), float(np.nanmedian(heights_of[slice(*run)]))) for run in runs(column)]
        heights = [height for _, height in found]
        if found and max(heights) - min(heights) > _STEPS * motion.feet.height:
            for run, height in found:
                out[run, foot] = height
            on_steps[foot] = True
    return out, on_steps


def share_of_slide(slides: np.ndarray, habits: FootHabits, height: float) -> np.ndarray:
    """(K,) how much of slides (N, K), NaN where nothing stands, is to be taken away; see ``share_beyond``."""
    return share_beyond(_by_foot(np.nanmean, slides), habits.slide, LEAST_SLIDE * height, LEFT)


def share_of_height(away: np.ndarray, habits: FootHabits, height: float) -> np.ndarray:
    """(K,) the same of how far feet are from their levels (N, K)."""
    return share_beyond(_by_foot(_rms, away), habits.away, LEAST_AWAY * height, LEFT_HEIGHT)


def share_beyond(found: np.ndarray, own: np.ndarray, least: float, left: float) -> np.ndarray:
    """(K,) 0 to 1: how much of what is found (K,) is to be taken away, where the own clips have so much of it (K,).

    Nothing up to so many times as much as is left; of more, what stays is at most that and falls fast.  least: what own
    clips are taken to have.
    """
    own = left * np.maximum(own, least)
    return 1.0 - np.minimum(own / np.maximum(found, 1e-300), 1.0) ** _POWER


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(np.square(values))))


def _mean(values: np.ndarray) -> float:
    return 0.0 if np.isnan(values).all() else float(np.nanmean(values))


def _by_foot(reduce, values: np.ndarray) -> np.ndarray:
    """(K,) each column of values (N, K) reduced, those of NaN alone as the reduction of all; zero where all are."""
    known = ~np.isnan(values).all(axis=0)
    if not known.any():
        return np.zeros(values.shape[1])
    whole = float(reduce(values))
    return np.array([reduce(column) if some else whole for column, some in zip(values.T, known, strict=True)])
