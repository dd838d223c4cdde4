"""The same as ``foot_plants`` for a body of which only the past is known: a source that is performed now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..surface.followed_ground import Ground
from .feet_motion import REACH, FeetMotion, FootPoints
from .foot_contacts import NEAR, NEAR_SLIDING, SLOW, is_level, is_low, is_lowest, is_on, slow_limit_at
from .foot_habits import LEAST_SLIDE, FootHabits, share_beyond
from .foot_plants import DEFAULTS, RETURN, SMOOTH, PlantChoices, near_way, slides_all_the_time
from .own_stances import share_unlike
from .plant_fields import PlantFields

# A foot that stands goes on to until it is so many times as high, or as fast, as one that begins to may be.
_STILL_NEAR, _STILL_SLOW = 1.6, 1.5
# Seconds: what is so old counts little for what feet do, and so long without news is an end.
_MEMORY, _SILENT = 2.0, 0.5
# Up to so many times as fast as own clips are in such a pose, a slide is as theirs; from so many times on it is not.
# Up to the second times as fast as own clips on the whole it is left alone: less would be had for more jerk.
_AS_OWN, _MORE = 1.05, 1.2
# Seconds: what own clips do counts for so long at first.
_BELIEVED = 0.2
# Seconds, time constants: how a foot that stands comes to where it is held, and to its height; how it gives up where it
# was held; how the body gets to its height.
_HELD, _LANDS, _LETS_GO, _RISES = 0.01, 0.025, 0.08, 0.12
# Seconds: a foot is steered to the height that it will have in so long, for it comes after; and it goes to the one that
# it landed at the last time when it is on the ground in so long.
_AHEAD, _SOON = 0.0175, 0.1
# Seconds: a foot that has been near the ground and slow for so long stands.  A stance of a gallop lasts no more than
# four times as long: at 24 and 30 frames a second the step by which it is seen to be slow is long enough.
_SURE = 0.03


@dataclass
class _Eased:
    """Values (K,) that come to others without a jump in their speed: critically damped springs."""

    values: np.ndarray
    speeds: np.ndarray

    @classmethod
    def at_rest(cls, count: int) -> _Eased:
        return cls(np.zeros(count), np.zeros(count))

    def go_to(self, wanted: np.ndarray | float, span: float, seconds: np.ndarray | float) -> None:
        """What they are after a span, in seconds; in four times so many seconds nearly all of the way is gone."""
        away, rate = self.values - wanted, 1.0 / seconds
        drive, left = self.speeds + rate * away, np.exp(-rate * span)
        self.values = wanted + (away + drive * span) * left
        self.speeds = (self.speeds - rate * drive * span) * left


class _Feet:
    """Of K feet with H handles.  stands (K,).  begun (K,): seconds that they have been about to.  places (H, 2) of
    handles where they landed.  kept (H, 2): how far they were moved then.  over (H, 2): how far they are moved over the
    ground.  shares (K,): of what they slide that is taken away.  unlike (K,): sums of the squares of how far they have
    been from stances of own clips since they landed, in steps (K,).  lift (K,): metres that they are raised beyond the
    body, on the way to what is wanted (K,).  on_ground (K,), has_landed (K,): they are there, or once were.  landed
    (K,): metres, with the body, that were wanted when they last came there."""

    def __init__(self, count: int, handles: int):
        self.stands, self.begun = np.zeros(count, bool), np.zeros(count)
        self.places, self.kept = np.zeros((handles, 2)), np.zeros((handles, 2))
        self.over = _Eased(np.zeros((handles, 2)), np.zeros((handles, 2)))
        self.shares, self.unlike, self.steps = np.zeros(count), np.zeros(count), np.zeros(count)
        self.lift, self.wanted = _Eased.at_rest(count), np.zeros(count)
        self.landed, self.on_ground, self.has_landed = np.zeros(count), *np.zeros((2, count), bool)


@dataclass(frozen=True)
class _Moment:
    """motion: one frame of it, where the body has been moved to.  root: (2,) how far that is over the ground."""

    motion: FeetMotion
    root: np.ndarray

    @property
    def time(self) -> float:
        return self.motion.times[0]

    @cached_property
    def soles(self) -> np.ndarray:
        """(S, 2) of a body that is not moved."""
        return self.motion.soles[0, :, :2] - self.root

    @cached_property
    def middles(self) -> np.ndarray:
        """(K, 2) of soles likewise."""
        return self.motion.sole_middles[0] - self.root

    @cached_property
    def is_down(self) -> np.ndarray:
        """(K,)."""
        feet = self.motion.feet
        return (is_lowest(self.motion) & (self.motion.nearness <= NEAR_SLIDING * feet.height))[0]


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
        self._first_handles = np.searchsorted(fields.foot, np.arange(len(feet)))
        self._begin()

    def _begin(self) -> None:
        count, handles = len(self._feet), len(self._fields.foot)
        self._before: _Moment | None = None
        self._ground: Ground | None = None
        self._root, self._speed, self._shift = np.zeros(2), np.zeros(2), np.zeros(2)
        self._rise, self._common = _Eased.at_rest(1), 0.0
        self._all, self._offsets = _Feet(count, handles), np.zeros((handles, 3))
        # At first feet are taken to do what they do in their own clips.
        self._slide = self._own_slide = self._habits.slide
        self._stood, self._sliding = np.full(count, _BELIEVED), self._habits.sliding

    def step(
        self, points: np.ndarray, place: np.ndarray, time: float, carried: float = 0.0, ground: Ground | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Root (3,) and offsets (H, 3), see ``PlantTrack``, of the feet's points (N, 3) and the body's place (2,),
        world, at a time in seconds; at one that is not later than the last, as then.  carried: see ``FeetMotion``.
        ground: below the body now, None where none was picked; feet follow it from where they once were."""
        if self._before is not None and time - self._before.time > _SILENT:
            self._begin()
        before = self._before
        if before is None or time > before.time:
            now = self._before = self._seen(points, place, time, carried, ground)
            if before is not None:
                self._go_on(before, now)
        return np.append(self._root, self._rise.values), self._offsets

    @property
    def ground_states(self) -> np.ndarray:
        """(N,) of the picked ground below each of the N feet that stand now, see ``FollowedGround``."""
        followed = None if self._before is None else self._before.motion.followed
        return np.zeros(0, int) if followed is None else followed.states[0][self._all.stands]

    def _seen(self, points, place, time: float, carried: float, ground: Ground | None) -> _Moment:
        if self._root.any():
            points = points + np.append(self._root, 0.0)
        motion = FeetMotion(
            self._feet, np.array([time]), points[None], place[None], self._ground or ground, np.array([carried])
        )
        if motion.followed is not None:
            self._ground = Ground(motion.ground.heights, motion.followed.levels[-1], motion.ways[-1])
        return _Moment(motion, self._root)

    def _go_on(self, before: _Moment, now: _Moment) -> None:
        span, moved = now.time - before.time, now.soles - before.soles
        slides = self._feet.slides(moved[None])[0] / span
        self._follow(before, now, slides, span)
        gone = self._root - now.root
        if gone.any():
            slides = self._feet.slides((moved + gone)[None])[0] / span
        steps = now.middles - before.middles + gone
        speed = np.sqrt(np.einsum("ki,ki->k", steps, steps)) / span
        way = now.motion.places[0] - before.motion.places[0] + gone
        limit = slow_limit_at(float(np.hypot(*way)) / span, self._feet.height)
        places = self._fields.handles @ (now.soles + self._root)
        self._stand(now, span, speed, limit, places)
        away, own = self._compared(before, now)
        self._remember(self._all.stands & (speed <= limit), slides, own, span)
        self._raise(before, now, away, span)
        self._offsets = self._moved(now, places, span)

    def _follow(self, before: _Moment, now: _Moment, slides: np.ndarray, span: float) -> None:
        """Move the body against its feet, which by themselves slide so (K,), where they do all the time."""
        is_down = before.is_down & now.is_down
        if is_down.any():
            share = float(slides[is_down].min() > SLOW * self._feet.height)
            self._sliding += _blend(span, _MEMORY) * (share - self._sliding)
        wanted = np.zeros(2)
        if self._choices.may_root and slides_all_the_time(self._sliding, self._habits):
            steps = (now.middles - before.middles)[is_down]
            wanted = -steps.mean(axis=0) / span if is_down.any() else self._speed
        self._speed = self._speed + _blend(span, SMOOTH) * (wanted - self._speed)
        self._shift = self._shift * float(np.exp(-span / RETURN)) + self._speed * span
        self._root = near_way(self._shift, self._feet.height)

    def _stand(self, now: _Moment, span: float, speed: np.ndarray, limit: float, places: np.ndarray) -> None:
        """span: seconds of the step.  speed: (K,) of the soles over the ground, metres a second, and up to which they
        stand.  places: (H, 2)."""
        near, low, feet = now.motion.nearness[0] / self._feet.height, is_low(now.motion)[0], self._all
        begin = low & (near <= NEAR) & (speed <= limit)
        go_on = (near <= _STILL_NEAR * NEAR) & (speed <= _STILL_SLOW * limit)
        feet.begun = np.where(begin, feet.begun + span, 0.0)
        lands = ~feet.stands & (feet.begun >= _SURE)
        feet.stands = (feet.stands & go_on) | lands
        if lands.any():
            # Where it is seen now it stays.
            feet.kept = np.where(lands[self._fields.foot, None], feet.over.values, feet.kept)
            feet.places = np.where(lands[self._fields.foot, None], places, feet.places)
            feet.shares = np.where(lands, self._shares_of_slide(), feet.shares)
            feet.unlike, feet.steps = np.where(lands, 0.0, feet.unlike), np.where(lands, 0.0, feet.steps)

    def _shares_of_slide(self) -> np.ndarray | float:
        """(K,)."""
        if self._choices.in_full:
            return 1.0
        least = LEAST_SLIDE * self._feet.height
        more = self._slide / np.maximum(self._own_slide, least)
        unlike = np.clip((more - _AS_OWN) / (_MORE - _AS_OWN), 0.0, 1.0)
        return unlike * share_beyond(self._slide, self._habits.slide, least, _MORE)

    def _compared(self, before: _Moment, now: _Moment) -> tuple[np.ndarray, np.ndarray]:
        """(K,) how far feet that stand are from how they are in own clips, metres, and (K,) how fast they slide there,
        metres a second: where they are most like that, on the whole where they stand otherwise."""
        own, stances = self._habits.slide.copy(), self._habits.stances
        away = np.full(len(own), np.inf)
        if self._choices.in_full:
            return away, own
        for number in np.flatnonzero(self._all.stands).tolist():
            away[number], slide = stances.performed(before.motion, now.motion, number, self._habits.level[number])
            if np.isfinite(away[number]):
                own[number] += (1.0 - share_unlike(away[number], self._feet.height)) * (slide - own[number])
        return away, own

    def _remember(self, stands: np.ndarray, slides: np.ndarray, own: np.ndarray, span: float) -> None:
        """What standing feet have done of late: slides (K,), metres a second; own: see ``_compared``."""
        if stands.any():
            weight = _weight(span, self._stood) * stands
            self._slide = self._slide + weight * (slides - self._slide)
            self._own_slide = self._own_slide + weight * (own - self._own_slide)
            self._stood = self._stood + span * stands

    def _raise(self, before: _Moment, now: _Moment, unlike: np.ndarray, span: float) -> None:
        """The body goes to what feet on the ground have in common, each of them to its height; what lands or leaves
        keeps what it has, and what swings gives it up.  unlike: (K,) metres, see ``_compared``."""
        feet, reach = self._all, REACH * self._feet.height
        away = self._habits.level - now.motion.clearances[0]
        on_ground = self._on_ground(before, now, away, span)
        shares = self._shares_of_height(unlike, on_ground)
        wanted = shares * away
        if on_ground.any():
            self._common = min(max(float(wanted[on_ground].mean()), -reach), reach)
        self._rise.go_to(self._common, span, _RISES)
        coming = np.where(self._comes(before, now, span) & feet.has_landed, feet.landed - self._rise.values, 0.0)
        kept = np.where(feet.stands, feet.wanted, coming)
        feet.wanted = np.where(on_ground, wanted - self._rise.values, kept)
        goes_on = on_ground & feet.on_ground
        speed = shares * (before.motion.clearances[0] - now.motion.clearances[0]) / span - self._rise.speeds
        ahead = np.where(goes_on, _AHEAD * speed, 0.0)
        feet.landed = np.where(on_ground & ~goes_on, wanted, feet.landed)
        feet.on_ground, feet.has_landed = on_ground, feet.has_landed | on_ground
        feet.lift.go_to(feet.wanted + ahead, span, _LANDS)

    def _comes(self, before: _Moment, now: _Moment, span: float) -> np.ndarray:
        """(K,) whether a foot goes down so fast that it is on the ground soon."""
        nearness = now.motion.nearness[0]
        down = (before.motion.nearness[0] - nearness) / span
        return (down > 0.0) & (nearness < _SOON * down)

    def _on_ground(self, before: _Moment, now: _Moment, away: np.ndarray, span: float) -> np.ndarray:
        """(K,) of what stands, as ``foot_contacts.grounded``; away (K,) from its level."""
        height, nearness, stands = self._feet.height, now.motion.nearness[0], self._all.stands
        speed = np.abs(nearness - before.motion.nearness[0]) / span
        out = stands & (is_on(nearness, height) | is_level(speed, height))
        if stands.any() and not out.any():
            out[np.where(stands, np.abs(away), np.inf).argmin()] = True
        return out

    def _shares_of_height(self, unlike: np.ndarray, on_ground: np.ndarray) -> np.ndarray | float:
        """(K,) of how far feet on the ground (K,) are from their levels; see ``OwnStances.shares``."""
        if self._choices.in_full:
            return 1.0
        feet = self._all
        feet.unlike = feet.unlike + np.square(np.where(on_ground, unlike, 0.0))
        feet.steps = feet.steps + on_ground
        return share_unlike(np.sqrt(feet.unlike / np.maximum(feet.steps, 1.0)), self._feet.height)

    def _moved(self, now: _Moment, places: np.ndarray, span: float) -> np.ndarray:
        """(H, 3) of handles at places (H, 2), after a step of so many seconds."""
        feet, foot, reach = self._all, self._fields.foot, REACH * self._feet.height
        held = feet.kept + feet.shares[foot, None] * (feet.places - places)
        farthest = np.maximum.reduceat(np.square(held).sum(axis=1), self._first_handles)
        held *= np.minimum(1.0, reach / np.sqrt(np.maximum(farthest, 1e-300)))[foot, None]
        stands = feet.stands[foot, None]
        feet.over.go_to(np.where(stands, held, 0.0), span, np.where(stands, _HELD, _LETS_GO))
        floor = np.minimum(self._habits.floor, self._habits.level)
        deeper = np.maximum(floor - (now.motion.clearances[0] + self._rise.values + feet.lift.values), 0.0)
        lift = np.clip(feet.lift.values + deeper, -reach, reach)
        return np.column_stack((feet.over.values, lift[foot]))


def _weight(span: float, seconds: np.ndarray) -> np.ndarray:
    """(K,) of a span in a mean over so many seconds before it, in the long run over those that are not forgotten."""
    return np.maximum(span / (seconds + span), _blend(span, _MEMORY))


def _blend(span: float, seconds: float) -> float:
    """How far a value goes to a new one within a span, in seconds, by one pole."""
    return 1.0 - float(np.exp(-span / seconds))
