"""Feet that stand are held where they stand: how a body and its soles are to be moved for that, over a whole track.

After Rhodin et al. 2015, section 2.5, with anchors of whole runs in the place of the frame before, so that a frame is
the same however it is reached, and against what the feet do beyond the target's own clips alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import lfilter

from .feet_motion import REACH, FeetMotion
from .foot_contacts import down, grounded, in_steps, runs, sliding_share, standing
from .foot_habits import FootHabits, levels, share_of_slide, standing_slides
from .plant_fields import PlantFields

# Seconds: a foot is let go or taken hold of over so long; Gaussians over the way and height of the body, and over how
# the soles are moved: the least that a foot that lands does not jerk by.
RAMP, SMOOTH, _CALM = 0.3, 0.08, 0.017
# A body is moved over the ground where all that is down slides in more than so many steps, and in its own clips in less
# than that share of them: what slides by its own nature, as one that walks on the spot, is right as it is.
SLIDES, _OWN = 0.4, 0.5
# How a body travels is chosen, and rules: in seconds, what feet moved it by is given up with this time constant; of the
# body's height, it is never moved farther.
RETURN, ROOM = 1.0, 0.1


@dataclass(frozen=True)
class PlantChoices:
    """in_full: feet are also held against what they do in the target's own clips.  may_climb: a foot whose runs differ
    in height stands on steps.  may_root: the body may be moved over the ground, where its feet slide all the time."""

    in_full: bool = False
    may_climb: bool = True
    may_root: bool = True


DEFAULTS = PlantChoices()


@dataclass(frozen=True)
class PlantTrack:
    """root: (F, 3) by how much the whole body is moved, and offsets: (F, H, 3) by how much each handle is beyond that,
    world, metres.  stands: (F, K).  is_rooted: the body was moved over the ground, not just up and down.
    short: (run, foot) pairs of the first frame and foot of each run that is out of reach and held in part.
    asked: how far feet that slide all the time would carry the body, metres, at most; 0 where they do not."""

    root: np.ndarray
    offsets: np.ndarray
    stands: np.ndarray
    is_rooted: bool
    short: tuple[tuple[int, int], ...]
    asked: float = 0.0


def plant_track(
    motion: FeetMotion, habits: FootHabits, fields: PlantFields, choices: PlantChoices = DEFAULTS
) -> PlantTrack:
    """Of what feet do over a track: standing soles keep their place and height, the rest of the mesh follows smoothly.

    habits: of the target's own clips, on the ground that the motion has.  What feet slide up to 1.1 times as much as
    there is left alone, and so is the height of a foot that stands as it does somewhere there, so that a clip of its
    own stays as it is.  All others are brought to the ground, while anything stands at least one of them.

    The body goes up and down with what its standing feet have in common.  Over the ground it is moved only where its
    feet slide all the time and some stand once it is, and never far, see ``near_way``; it is never turned.  On steps,
    where the ground is not known, each run keeps its height.
    """
    root = np.zeros((len(motion.times), 3))
    asked, stands = 0.0, standing(motion)
    if choices.may_root and slides_all_the_time(sliding_share(motion), habits):
        steps = _steps_of_standing(motion)
        asked = float(np.linalg.norm(np.cumsum(steps, axis=0), axis=1).max())
        followed = np.column_stack((near_way(_returning(steps, motion.times), motion.feet.height), root[:, 2]))
        stands_there = standing(motion.moved(followed))
        if stands_there.any():
            root, motion, stands = followed, motion.moved(followed), stands_there
    is_rooted = bool(root.any())
    sideways, short = _held(motion, fields, stands, _shares(motion, habits, stands, choices.in_full))
    moved = _with_feet_moved(motion, fields, sideways)
    rise, lift, short_of = _raised(moved, habits, stands, choices)
    root[:, 2] += rise
    upwards = lift[:, fields.foot, None]
    short = tuple(sorted(short | short_of))
    return PlantTrack(root, np.concatenate((sideways, upwards), axis=2), stands, is_rooted, short, asked)


def slides_all_the_time(share: float, habits: FootHabits) -> bool:
    """Whether feet whose steps slide in such a share are to be followed by the body; see ``sliding_share``."""
    return share > SLIDES and habits.sliding < _OWN * share


def ramp(seconds: np.ndarray, over: float | np.ndarray = RAMP) -> np.ndarray:
    """From 1 at once to 0 after so many seconds, smoothly."""
    share = np.clip(np.asarray(seconds, float) / over, 0.0, 1.0)
    return 1.0 - share * share * (3.0 - 2.0 * share)


def near_way(shift: np.ndarray, height: float) -> np.ndarray:
    """Shifts (..., 2) over the ground of a body so high, softly kept within ``ROOM`` of the way that was chosen."""
    room = ROOM * height
    return shift * (room / np.sqrt(room**2 + np.square(shift).sum(axis=-1, keepdims=True)))


def _returning(steps: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, 2) of steps (F - 1, 2), added up and given up again; frames are evenly apart."""
    left = float(np.exp(-(times[-1] - times[0]) / max(len(steps), 1) / RETURN))
    return np.concatenate((np.zeros((1, 2)), lfilter([1.0], [1.0, -left], steps, axis=0)))


def _steps_of_standing(motion: FeetMotion) -> np.ndarray:
    """(F - 1, 2) minus the mean steps of what is down; where nothing is, the speed goes evenly to the next."""
    both, span = in_steps(down(motion)), np.diff(motion.times)
    count = both.sum(axis=1)
    known = count > 0
    steps = np.einsum("fk,fki->fi", both, motion.sole_steps)
    speeds = -steps[known] / (count[known] * span[known])[:, None]
    middle = 0.5 * (motion.times[1:] + motion.times[:-1])
    speed = np.stack([np.interp(middle, middle[known], column) for column in speeds.T], axis=1)
    return _smoothed(speed, motion.times, SMOOTH) * span[:, None]


def _shares(motion: FeetMotion, habits: FootHabits, stands: np.ndarray, in_full: bool) -> np.ndarray:
    if in_full:
        return np.ones(len(motion.feet))
    return share_of_slide(standing_slides(motion, stands), habits, motion.feet.height)


def _held(motion, fields, stands, shares):
    """(F, H, 2) how far the handles are moved over the ground, and the runs that are out of reach."""
    places = np.einsum("hs,fsi->fhi", fields.handles, motion.soles[..., :2])
    out, short, reach = np.zeros_like(places), set(), REACH * motion.feet.height
    for handle, foot in enumerate(fields.foot.tolist()):
        found = []
        for start, end in runs(stands[:, foot]):
            place = places[start:end, handle]
            moved = shares[foot] * (place.mean(axis=0) - place)
            farthest = float(np.linalg.norm(moved, axis=1).max())
            if farthest > reach:
                short.add((start, foot))
                moved *= reach / farthest
            found.append((start, end, moved))
        out[:, handle] = _faded(motion.times, found, 2)
    return _smoothed(out, motion.times, _CALM), short


def _with_feet_moved(motion: FeetMotion, fields: PlantFields, sideways: np.ndarray) -> FeetMotion:
    """The feet where they are held: on a slope the ground is at another height there."""
    if motion.ground is None:
        return motion
    means = np.eye(len(motion.feet))[:, fields.foot]
    of_feet = np.einsum("kh,fhi->fki", means / means.sum(axis=1, keepdims=True), sideways)
    points = motion.points.copy()
    points[..., :2] += np.repeat(of_feet, motion.feet.counts, axis=1)
    return replace(motion, points=points)


def _raised(motion, habits, stands, choices):
    """(F,) how far the body goes up, (F, K) each foot beyond that, and the runs that are out of reach."""
    right, on_steps = levels(motion, stands, habits.level, choices.may_climb)
    on_ground, reach = grounded(motion, stands, right), REACH * motion.feet.height
    shares = 1.0 if choices.in_full else habits.stances.shares(motion, on_ground, right)
    wanted, rise = shares * (right - motion.clearances), np.zeros(len(stands))
    known = on_ground.any(axis=1)
    if known.any():
        common = np.clip(np.mean(wanted[known], axis=1, where=on_ground[known]), -reach, reach)
        rise = _smoothed(np.interp(motion.times, motion.times[known], common), motion.times, SMOOTH)
    lift, short = np.zeros_like(wanted), set()
    for foot, column in enumerate(on_ground.T):
        found = []
        for start, end in runs(column):
            moved = (wanted[start:end, foot] - rise[start:end])[:, None]
            if np.abs(moved).max() > reach:
                short.add((start, foot))
            found.append((start, end, np.clip(moved, -reach, reach)))
        lift[:, foot] = _faded(motion.times, found, 1)[:, 0]
    lift = _smoothed(lift, motion.times, _CALM)
    # No foot goes deeper than any ever does, whether it stands or not, as far as it can be moved.
    floor = np.where(on_steps, -np.inf, np.minimum(habits.floor, habits.level))
    deeper = np.maximum(floor - (motion.clearances + rise[:, None] + lift), 0.0)
    return rise, np.minimum(lift + deeper, reach), short


def _faded(times: np.ndarray, found: list[tuple[int, int, np.ndarray]], width: int) -> np.ndarray:
    """(F, width) of runs (start, end, values): what they end with fades out, into the next one where that is near."""
    out = np.zeros((len(times), width))
    starts = [start for start, _, _ in found] + [len(times)]
    ends = [0] + [end for _, end, _ in found]
    for number, (start, end, values) in enumerate(found):
        out[start:end] = values
        before, after = slice(ends[number], start), slice(end, starts[number + 1])
        gaps = (
            times[start] - times[ends[number] - 1] if number else np.inf,
            times[starts[number + 1]] - times[end - 1] if number + 1 < len(found) else np.inf,
        )
        out[before] += ramp(times[start] - times[before], min(RAMP, gaps[0]))[:, None] * values[0]
        out[after] += ramp(times[after] - times[end - 1], min(RAMP, gaps[1]))[:, None] * values[-1]
    return out


def _smoothed(values: np.ndarray, times: np.ndarray, sigma: float) -> np.ndarray:
    """values (F, ...) by a Gaussian of sigma seconds over frames that are evenly apart."""
    step = (times[-1] - times[0]) / max(len(times) - 1, 1)
    return gaussian_filter1d(values, sigma / step, axis=0, mode="nearest") if step > 0.0 else values
