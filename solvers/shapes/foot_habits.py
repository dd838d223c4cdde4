"""How a target's own feet stand: how fast they slide and how high they are, by which others' standing is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .feet_motion import FeetMotion
from .foot_contacts import grounded, in_steps, runs, settled, sliding_share, standing
from .own_stances import OwnStances

# Body heights a second: what own clips are taken to slide at least.
LEAST_SLIDE = 1e-2
# Up to so many times the own clips' slide is left alone; beyond, what is left falls with that power.
LEFT, _POWER = 1.1, 3
# Of the body's height: runs of a foot whose heights differ by more stand on steps, each at its own height.
_STEPS = 0.03


@dataclass(frozen=True)
class FootHabits:
    """Of K feet.  slide (K,): metres a second, the mean over a sole's vertices while it stands, of the clip that has
    most.  level (K,): clearance of its lowest point then, the median, metres.  stances: in which heights it is left
    alone.  off: metres by which the lowest point of what stands is off its level at the worst moment.  floor (K,): the
    least clearance that it ever has.  sliding: share of the steps with a foot down in which all that is down slides.
    mean_slide: over all.  climbs: some foot stands on steps.  stands: share of the frames in which one does."""

    slide: np.ndarray
    level: np.ndarray
    stances: OwnStances
    off: float
    floor: np.ndarray
    sliding: float
    mean_slide: float
    climbs: bool
    stands: float

    def on_picked_ground(self) -> FootHabits:
        """The same where the user says where the ground is: there the lowest points are to be, and none deeper."""
        none = np.zeros_like(self.level)
        return replace(self, level=none, floor=none, stances=OwnStances.none(len(none)))


def learn_habits(motions: Sequence[FeetMotion]) -> FootHabits:
    """Of what a target does in its own clips, one or more.  A foot that never stands there has the means of all."""
    pairs = [(motion, standing(motion)) for motion in motions]
    clearances = np.concatenate([motion.clearances for motion in motions])
    is_settled = np.concatenate([settled(*pair) for pair in pairs])
    level = _by_foot(np.nanmedian, np.where(is_settled, clearances, np.nan))
    rights, on_steps = zip(*(levels(*pair, level) for pair in pairs), strict=True)
    clips = [(pair[0], grounded(*pair, right), right) for pair, right in zip(pairs, rights, strict=True)]
    off = max(off_level(*clip) for clip in clips)
    slides = [standing_slides(*pair) for pair in pairs]
    slide = np.max([_by_foot(np.nanmean, each) for each in slides], axis=0)
    sliding, mean = float(np.mean([sliding_share(motion) for motion in motions])), _mean(np.concatenate(slides))
    floor, climbs = clearances.min(axis=0), bool(np.any(on_steps))
    # What is performed has no steps, for they are told by whole runs: there it is seen against one level.
    against_level = [(*clip[:2], np.broadcast_to(level, clip[2].shape)) for clip in clips if climbs]
    stances = OwnStances.learn([*clips, *against_level])
    stands = float(np.mean(np.concatenate([stands.any(axis=1) for _, stands in pairs])))
    return FootHabits(slide, level, stances, off, floor, sliding, mean, climbs, stands)


def standing_slides(motion: FeetMotion, stands: np.ndarray) -> np.ndarray:
    """(F - 1, K) how fast the soles slide over the ground, metres a second, NaN where they do not stand (F, K)."""
    return np.where(in_steps(stands), motion.slides, np.nan)


def off_level(motion: FeetMotion, on_ground: np.ndarray, levels: np.ndarray) -> float:
    """Metres by which the lowest point of what is on the ground (F, K) is off its level (F, K), at the worst moment: of
    several feet, the one that is nearest."""
    away = np.where(on_ground, np.abs(motion.clearances - levels), np.inf).min(axis=1)
    return float(away[np.isfinite(away)].max(initial=0.0))


def levels(
    motion: FeetMotion, stands: np.ndarray, level: np.ndarray, may_climb: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(F, K) the clearance at which each foot is to be while it stands (F, K), and whether it is on steps (K,).

    level (K,), but where the ground is not known, may_climb, and a foot's runs differ: then that of each run by itself.
    """
    out, on_steps = np.repeat(level[None], len(stands), axis=0), np.zeros(len(level), bool)
    if motion.ground is not None or not may_climb:
        return out, on_steps
    is_settled = settled(motion, stands)
    for foot, column in enumerate(stands.T):
        heights_of = np.where(is_settled[:, foot], motion.clearances[:, foot], np.nan)
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


def share_beyond(found: np.ndarray, own: np.ndarray, least: float, left: float) -> np.ndarray:
    """(K,) 0 to 1: how much of what is found (K,) is to be taken away, where the own clips have so much of it (K,).

    Nothing up to so many times as much as is left; of more, what stays is at most that and falls fast.  least: what own
    clips are taken to have.
    """
    own = left * np.maximum(own, least)
    return 1.0 - np.minimum(own / np.maximum(found, 1e-300), 1.0) ** _POWER


def _mean(values: np.ndarray) -> float:
    return 0.0 if np.isnan(values).all() else float(np.nanmean(values))


def _by_foot(reduce, values: np.ndarray) -> np.ndarray:
    """(K,) each column of values (N, K) reduced, those of NaN alone as the reduction of all; zero where all are."""
    known = ~np.isnan(values).all(axis=0)
    if not known.any():
        return np.zeros(values.shape[1])
    whole = float(reduce(values))
    return np.array([reduce(column) if some else whole for column, some in zip(values.T, known, strict=True)])
