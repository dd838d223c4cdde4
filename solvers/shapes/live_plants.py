"""The same as ``foot_plants`` for a body of which only the past is known: a source that is performed now."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .feet_motion import FeetMotion, FootPoints, Ground
from .foot_contacts import NEAR, NEAR_SLIDING, SLOW, is_low, is_lowest, slow_limit
from .foot_habits import LEAST_AWAY, LEAST_SLIDE, FootHabits, share_beyond
from .foot_plants import REACH, SMOOTH, ramp, slides_all_the_time
from .plant_fields import PlantFields

# A foot that stands goes on to until it is so many times as high, or as fast, as one that begins to may be.
_STILL_NEAR, _STILL_SLOW = 1.6, 1.5
# Seconds: what is so old counts little for what feet do, and so long without news is an end.
_MEMORY, _SILENT = 3.0, 0.5
# Seconds over which a foot that lands gets to its height.
_LANDS = 0.06


@dataclass
class _Foot:
    """stands, since when: seconds.  wait: it was about to at the last step.  anchors: (h, 2) of its handles.  kept:
    (h, 3) offsets when it landed or was let go."""

    stands: bool = False
    wait: bool = False
    since: float = -np.inf
    anchors: np.ndarray | None = None
    kept: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))


class LivePlants:
    """What has stood, and where; one step after the other.  Anchors are where feet land."""

    def __init__(self, feet: FootPoints, habits: FootHabits, fields: PlantFields, ground: Ground | None, in_full: bool):
        self._feet, self._habits, self._fields, self._ground = feet, habits, fields, ground
        self._in_full = in_full
        self._handles = [np.flatnonzero(fields.foot == foot) for foot in range(len(feet))]
        self._begin()

    def _begin(self) -> None:
        self._before: tuple[float, np.ndarray, np.ndarray] | None = None
        self._root, self._speed, self._rise = np.zeros(2), np.zeros(2), 0.0
        self._all = [_Foot(kept=np.zeros((len(own), 3))) for own in self._handles]
        self._offsets = np.zeros((len(self._fields.foot), 3))
        # At first feet are taken to do what they do in their own clips.
        self._slide, self._away, self._sliding = self._habits.slide, self._habits.away**2, self._habits.sliding

    def step(self, points: np.ndarray, place: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Root (3,) and offsets (H, 3), see ``PlantTrack``, of the feet's points (N, 3) and the body's place (2,),
        world, at a time in seconds; at one that is not later than the last, as then."""
        if self._before is not None and time - self._before[0] > _SILENT:
            self._begin()
        if self._before is None:
            self._before = time, points, place
            return np.zeros(3), self._offsets
        last, points_before, place_before = self._before
        if time <= last:
            return np.append(self._root, self._rise), self._offsets
        pair = np.stack((points_before, points)), np.stack((place_before, place))
        motion = FeetMotion(self._feet, np.array((last, time)), *pair, self._ground)
        self._before = time, points, place
        self._follow(motion, time - last)
        moved = motion.moved(np.tile(np.append(self._root, 0.0), (2, 1)))
        self._stand(moved, time)
        self._remember(moved, time - last)
        self._offsets = self._moved(moved, time, time - last)
        return np.append(self._root, self._rise), self._offsets

    def _follow(self, motion: FeetMotion, span: float) -> None:
        """Move the body against its sliding feet, where they slide all the time."""
        height = self._feet.height
        is_down = (is_lowest(motion) & (motion.clearances <= NEAR_SLIDING * height)).all(axis=0)
        if is_down.any():
            slides = float(motion.slides[0, is_down].min() > SLOW * height)
            self._sliding += _blend(span, _MEMORY) * (slides - self._sliding)
        wanted = np.zeros(2)
        if slides_all_the_time(self._sliding, self._habits):
            wanted = -motion.sole_steps[0, is_down].mean(axis=0) / span if is_down.any() else self._speed
        self._speed = self._speed + _blend(span, SMOOTH) * (wanted - self._speed)
        self._root = self._root + self._speed * span

    def _stand(self, motion: FeetMotion, time: float) -> None:
        near, low = motion.clearances[-1] / self._feet.height, is_low(motion)[-1]
        speed = np.linalg.norm(motion.sole_steps[0], axis=1) / np.diff(motion.times)
        limit = slow_limit(motion)[0]
        for number, foot in enumerate(self._all):
            begins = low[number] and near[number] <= NEAR and speed[number] <= limit
            goes_on = near[number] <= _STILL_NEAR * NEAR and speed[number] <= _STILL_SLOW * limit
            own = self._handles[number]
            if foot.stands and not goes_on:
                foot.stands, foot.since, foot.kept = False, time, self._offsets[own]
            elif not foot.stands and begins and foot.wait:
                # Where it is seen now it stays.
                foot.stands, foot.since, foot.kept = True, time, self._offsets[own]
                foot.anchors = self._places(motion)[own] + foot.kept[:, :2]
            foot.wait = bool(begins)

    def _remember(self, motion: FeetMotion, span: float) -> None:
        """What standing feet have done of late."""
        speed = np.linalg.norm(motion.sole_steps[0], axis=1) / span
        counts = np.array([foot.stands for foot in self._all]) & (speed <= slow_limit(motion)[0])
        share = np.where(counts, _blend(span, _MEMORY), 0.0)
        self._slide = self._slide + share * (motion.slides[0] - self._slide)
        self._away = self._away + share * (np.square(motion.clearances[-1] - self._habits.level) - self._away)

    def _shares(self, found: np.ndarray, own: np.ndarray, least: float) -> np.ndarray:
        return np.ones(len(self._all)) if self._in_full else share_beyond(found, own, least * self._feet.height)

    def _moved(self, motion: FeetMotion, time: float, span: float) -> np.ndarray:
        held = self._shares(self._slide, self._habits.slide, LEAST_SLIDE)
        away = motion.clearances[-1] - self._habits.level
        raised = self._shares(np.sqrt(self._away), self._habits.away, LEAST_AWAY)
        stands = np.array([foot.stands for foot in self._all])
        common = -(raised * away)[stands].mean() if stands.any() else self._rise
        self._rise += _blend(span, SMOOTH) * (common - self._rise)
        places, out = self._places(motion), np.zeros_like(self._offsets)
        reach = REACH * self._feet.height
        for number, foot in enumerate(self._all):
            own, old = self._handles[number], ramp(time - foot.since)
            if not foot.stands:
                out[own] = old * foot.kept
                continue
            sideways = held[number] * (foot.anchors - places[own])
            farthest = float(np.linalg.norm(sideways, axis=1).max())
            out[own, :2] = sideways * min(1.0, reach / max(farthest, 1e-300))
            lands = ramp(time - foot.since, _LANDS)
            out[own, 2] = lands * foot.kept[:, 2] + (1.0 - lands) * (-raised[number] * away[number] - self._rise)
        floor = np.minimum(self._habits.floor, self._habits.level)
        lowest = motion.clearances[-1] + self._rise + out[[own[0] for own in self._handles], 2]
        out[:, 2] += np.maximum(floor - lowest, 0.0)[self._fields.foot]
        return out

    def _places(self, motion: FeetMotion) -> np.ndarray:
        """(H, 2) of the handles now."""
        return self._fields.handles @ motion.soles[-1, :, :2]


def _blend(span: float, seconds: float) -> float:
    """How far a value goes to a new one within a span, in seconds, by one pole."""
    return 1.0 - float(np.exp(-span / seconds))
