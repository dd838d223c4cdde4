"""The same as ``foot_plants`` for a body of which only the past is known: a source that is performed now."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..surface.followed_ground import Ground
from .feet_motion import REACH, FeetMotion, FootPoints
from .foot_contacts import NEAR, NEAR_SLIDING, SLOW, is_low, is_lowest, is_settled, slow_limit
from .foot_habits import LEAST_AWAY, LEAST_SLIDE, LEFT, LEFT_HEIGHT, FootHabits, share_beyond
from .foot_plants import DEFAULTS, SMOOTH, PlantChoices, ramp, slides_all_the_time
from .plant_fields import PlantFields

# A foot that stands goes on to until it is so many times as high, or as fast, as one that begins to may be.
_STILL_NEAR, _STILL_SLOW = 1.6, 1.5
# Seconds: what is so old counts little for what feet do, so long without news is an end, and a foot gets to its height
# over so long.
_MEMORY, _SILENT, _LANDS = 2.0, 0.5, 0.05


@dataclass
class _Foot:
    """stands.  wait: it was about to at the last step.  since: seconds, when it was let go.  places: (h, 2) of its
    handles where it landed.  kept: (h, 2) how far they were moved when it landed or was let go.  share: of what it
    slides that is taken away.  lift: metres that it is raised beyond the body."""

    stands: bool = False
    wait: bool = False
    since: float = -np.inf
    places: np.ndarray | None = None
    kept: np.ndarray = field(default_factory=lambda: np.zeros((1, 2)))
    share: float = 0.0
    lift: float = 0.0


class LivePlants:
    """What has stood, and where; one step after the other.  Anchors are where feet land."""

    def __init__(
        self,
        feet: FootPoints,
        habits: FootHabits,
        fields: PlantFields,
        choices: PlantChoices = DEFAULTS,
    ):
        self._feet, self._habits, self._fields = feet, habits, fields
        self._choices = choices
        self._handles = [np.flatnonzero(fields.foot == foot) for foot in range(len(feet))]
        self._begin()

    def _begin(self) -> None:
        self._before: tuple[float, np.ndarray, np.ndarray, float] | None = None
        self._ground: Ground | None = None
        self._root, self._speed, self._rise = np.zeros(2), np.zeros(2), 0.0
        self._all = [_Foot(kept=np.zeros((len(own), 2))) for own in self._handles]
        self._offsets = np.zeros((len(self._fields.foot), 3))
        # At first feet are taken to do what they do in their own clips.
        self._slide, self._away, self._sliding = self._habits.slide, self._habits.away**2, self._habits.sliding

    def step(
        self, points: np.ndarray, place: np.ndarray, time: float, carried: float = 0.0, ground: Ground | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Root (3,) and offsets (H, 3), see ``PlantTrack``, of the feet's points (N, 3) and the body's place (2,),
        world, at a time in seconds; at one that is not later than the last, as then.  carried: see ``FeetMotion``.
        ground: below the body now, None where none was picked; feet follow it from where they once were."""
        if self._before is not None and time - self._before[0] > _SILENT:
            self._begin()
        if self._before is None:
            self._before = time, points, place, carried
            return np.zeros(3), self._offsets
        last, *before = self._before
        if time <= last:
            return np.append(self._root, self._rise), self._offsets
        points_of, places, up = (np.stack(both) for both in zip(before, (points, place, carried), strict=True))
        motion = FeetMotion(self._feet, np.array((last, time)), points_of, places, self._ground or ground, up)
        self._before = time, points, place, carried
        self._follow(motion, time - last)
        if self._root.any():
            motion = motion.moved(np.tile(np.append(self._root, 0.0), (2, 1)))
        if motion.followed is not None:
            self._ground = Ground(ground.heights, motion.followed.levels[-1], motion.ways[-1])
        self._stand(motion, time)
        self._offsets = self._moved(motion, time, time - last)
        return np.append(self._root, self._rise), self._offsets

    def _follow(self, motion: FeetMotion, span: float) -> None:
        """Move the body against its sliding feet, where they slide all the time."""
        height = self._feet.height
        is_down = (is_lowest(motion) & (motion.nearness <= NEAR_SLIDING * height)).all(axis=0)
        if is_down.any():
            slides = float(motion.slides[0, is_down].min() > SLOW * height)
            self._sliding += _blend(span, _MEMORY) * (slides - self._sliding)
        wanted = np.zeros(2)
        if self._choices.may_root and slides_all_the_time(self._sliding, self._habits):
            wanted = -motion.sole_steps[0, is_down].mean(axis=0) / span if is_down.any() else self._speed
        self._speed = self._speed + _blend(span, SMOOTH) * (wanted - self._speed)
        self._root = self._root + self._speed * span

    def _stand(self, motion: FeetMotion, time: float) -> None:
        near, low = motion.nearness[-1] / self._feet.height, is_low(motion)[-1]
        speed = np.linalg.norm(motion.sole_steps[0], axis=1) / np.diff(motion.times)
        limit, places = slow_limit(motion)[0], self._places(motion)
        shares = self._shares(self._slide, self._habits.slide, LEAST_SLIDE, LEFT)
        for number, foot in enumerate(self._all):
            begins = low[number] and near[number] <= NEAR and speed[number] <= limit
            goes_on = near[number] <= _STILL_NEAR * NEAR and speed[number] <= _STILL_SLOW * limit
            own = self._handles[number]
            if foot.stands and not goes_on:
                foot.stands, foot.since, foot.kept = False, time, self._offsets[own, :2]
            elif not foot.stands and begins and foot.wait:
                # Where it is seen now it stays.
                foot.stands, foot.places, foot.share = True, places[own], shares[number]
                foot.kept = self._offsets[own, :2]
            foot.wait = bool(begins)

    def _remember(self, motion: FeetMotion, stands: np.ndarray, on_ground: np.ndarray, span: float) -> None:
        """What standing feet have done of late."""
        speed, share = np.linalg.norm(motion.sole_steps[0], axis=1) / span, _blend(span, _MEMORY)
        slow = stands & (speed <= slow_limit(motion)[0])
        self._slide = self._slide + share * slow * (motion.slides[0] - self._slide)
        away = np.square(motion.clearances[-1] - self._habits.level)
        self._away = self._away + share * on_ground * (away - self._away)

    def _shares(self, found: np.ndarray, own: np.ndarray, least: float, left: float) -> np.ndarray:
        if self._choices.in_full:
            return np.ones(len(self._all))
        return share_beyond(found, own, least * self._feet.height, left)

    def _moved(self, motion: FeetMotion, time: float, span: float) -> np.ndarray:
        stands = np.array([foot.stands for foot in self._all])
        on_ground = stands & is_settled(motion)[-1]
        self._remember(motion, stands, on_ground, span)
        places, out = self._places(motion), np.zeros_like(self._offsets)
        self._raise(motion, stands, on_ground, span)
        floor = np.minimum(self._habits.floor, self._habits.level)
        reach = REACH * self._feet.height
        for number, foot in enumerate(self._all):
            own = self._handles[number]
            if foot.stands:
                sideways = foot.kept + foot.share * (foot.places - places[own])
                farthest = float(np.linalg.norm(sideways, axis=1).max())
                out[own, :2] = sideways * min(1.0, reach / max(farthest, 1e-300))
            else:
                out[own, :2] = ramp(time - foot.since) * foot.kept
            lowest = motion.clearances[-1, number] + self._rise + foot.lift
            out[own, 2] = np.clip(foot.lift + max(floor[number] - lowest, 0.0), -reach, reach)
        return out

    def _raise(self, motion: FeetMotion, stands: np.ndarray, on_ground: np.ndarray, span: float) -> None:
        """The body goes to what feet on the ground have in common, each of them to its height; what lands or leaves
        keeps what it has, and what swings gives it up."""
        shares = self._shares(np.sqrt(self._away), self._habits.away, LEAST_AWAY, LEFT_HEIGHT)
        wanted, reach = shares * (self._habits.level - motion.clearances[-1]), REACH * self._feet.height
        if on_ground.any():
            common = float(np.clip(wanted[on_ground].mean(), -reach, reach))
            self._rise += _blend(span, SMOOTH) * (common - self._rise)
        for number, foot in enumerate(self._all):
            if on_ground[number]:
                foot.lift += _blend(span, _LANDS) * (wanted[number] - self._rise - foot.lift)
            elif not stands[number]:
                foot.lift -= _blend(span, _LANDS) * foot.lift

    def _places(self, motion: FeetMotion) -> np.ndarray:
        """(H, 2) of the handles now."""
        return self._fields.handles @ motion.soles[-1, :, :2]


def _blend(span: float, seconds: float) -> float:
    """How far a value goes to a new one within a span, in seconds, by one pole."""
    return 1.0 - float(np.exp(-span / seconds))
