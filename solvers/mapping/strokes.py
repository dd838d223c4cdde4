"""How fast a body goes, from the strokes of its feet: each pushes it along while it is low and moves back.

Nothing here is learnt of a motion but which way is back, how high each foot is lifted, and how far it goes for the way
of its feet to and fro; so the same steps cover the same ground at every tempo and frame rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import binary_opening, gaussian_filter1d

from ..core.errors import InputError
from ..core.lag import checked_times
from ..shapes.mesh_feet import MeshFeet
from .gaits import LEVELS, Gait, Recent, cycles_and_sharpness, longer, rounded
from .hops import HopStream, carried, flights
from .rounds import cycle_length, rounds
from .stance_speed import stance_speed

# Of the way between a foot's low and high: below the first it stands for sure, above the second it is lifted.
_STANDS, _LIFTED = 0.2, 0.6
# Of the RMS speed of feet: what moves back as fast pushes with all its weight; what moves slower at all may rest.
_PUSHES = 0.35
# Of the RMS speed in the feet's own motion, or of their way: slower ones, and shorter ones, tremble.
_TREMBLES = 0.2
# Feet that count together before their speed is the body's, and the share of all that make it rest.
_ENOUGH, _AT_REST = 0.5, 0.5
# Seconds: a Gaussian over a whole clip, and a single pole live; for how long feet are still that rest, and do not turn
# round; over how many the RMS speed is taken live, and the gait, of which slow steps need more; a gap after which a
# live body has stood; and how long a live body is seen before it may be said to step backward.
_SMOOTHING, _POLE, _RESTS, _MEMORY, _GAIT_MEMORY, SILENT, _WAY_SEEN = 0.03, 0.05, 0.2, 1.0, 2.0, 0.5, 0.5
# Seconds after which it is told anew live how sharply feet turn, and frames that are too few for it; turns of feet over
# which that is told, and the gait, and for how many seconds that is remembered at most.
_LOOKS, _FEW, _SHAPE_TURNS, _GAIT_TURNS, _GAIT_MOST = 0.2, 4, 2.5, 1.5, 6.0
# Of the body's height: a clip whose feet end no farther from where they began is a cycle.
_CLOSES = 0.06
# Moments a second between which a clip is looked at, so that its frame rate does not matter; and its own motion, once.
_MOMENTS, _OWN_MOMENTS = 120.0, 480.0
# Feet that go to and fro on one line, and forward while they are high, make strokes; so do those that go back while
# they are low, by so much of the way up, over so much of the body's height: in a run they are high behind, too.  Where
# they do so more surely still, the line may be wider, as of who runs and turns.  Feet that do the opposite, both so
# surely at least, step backward.
_ON_A_LINE, _AGREED, _BACK, _LOW, _FAR = 0.7, 0.45, 0.6, 0.3, 0.1
_SURELY_BACK, _WIDER, _BOTH = 0.7, 0.6, 0.2


class Steps(NamedTuple):
    """velocity (F - 1, 2): metres a second.  way: 1 where feet step forward, -1 backward, 0 where that is not clear and
    forward is taken.  own_gait: 0 to 1, see ``gaits.Length``."""

    velocity: np.ndarray
    way: int
    own_gait: float


@dataclass(frozen=True)
class Strokes:
    """feet: K of them, in metres.  forward: (2,) unit vector, the way that feet go while they are high.  speed: RMS of
    their own along it, metres a second.  on_a_line: 0 to 1, 1 - the smaller over the larger eigenvalue of their
    horizontal velocities.  agreed: -1 to 1, how surely the median foot goes forward while high, and back: how surely it
    goes back while low, 0 where it goes nowhere.  gaits: their own, rounded by each of ``gaits.LEVELS``.
    asked: metres a second that they go back while they stand in their own motion, see ``stance_speed``; 0 where that is
    not known, as of what an earlier version learnt."""

    feet: MeshFeet
    forward: np.ndarray
    speed: float
    on_a_line: float
    agreed: float
    gaits: tuple[Gait, ...] = (Gait(0.0, 0.0, 0.0),)
    asked: float = 0.0
    back: float = 0.0

    @classmethod
    def learn(cls, feet: MeshFeet, vertices: np.ndarray, times: np.ndarray) -> Strokes:
        """Of a body's own motion: vertices (F, V, 3) metres, Z up, place and heading out; times (F,) seconds.

        Raises InputError where it has no feet, and for fewer than two frames.
        """
        times = checked_times(times, len(vertices))
        if not len(feet) or len(vertices) < 2:
            raise InputError("No part of the target steps on the ground; give a stride instead.")
        points = soles, centroids = feet.soles(vertices), feet.centroids(vertices)
        velocity = _velocity(soles, times)
        values, axes = np.linalg.eigh(np.einsum("fki,fkj->ij", velocity, velocity))
        lift, along = _lift(feet, centroids), velocity @ axes[:, 1]
        agreed, while_low = _agreed(_votes(lift), along)
        sign = 1.0 if agreed.sum() >= 0.0 else -1.0
        far = np.median(np.ptp(soles[..., :2] @ axes[:, 1], axis=0)) > _FAR * feet.height
        back = -sign * float(np.median(while_low)) if far else 0.0
        on_a_line = 1.0 - float(values[0] / max(values[1], 1e-300))
        told = float(np.sqrt(np.mean(along**2))), on_a_line, sign * float(np.median(agreed))
        found = cls(feet, sign * axes[:, 1], *told, back=back)
        cycle = cycle_length(np.stack(points, axis=1), times, _CLOSES * feet.height)
        if cycle is not None:
            points, times = rounds(points, times, cycle)
        gaits = found._own_gaits(points, times, cycle is not None)
        # Who hops goes at no one speed while it stands.
        hops = flights(_lift(feet, points[1]), float(np.diff(times).mean()))
        return replace(found, gaits=gaits, asked=gaits[0].pushed if hops else found._asked(*points, times))

    @property
    def why_not(self) -> str | None:
        """In words, why these feet tell no way; None where they do."""
        if not self.speed > 0.0:
            return "its feet do not move"
        if self.on_a_line < (_WIDER if self.back > _SURELY_BACK else _ON_A_LINE):
            return "its feet move to all sides"
        if self.agreed > _AGREED or self.back > _BACK:
            return None
        return "its feet do not go one way while high and back while low"

    def velocity(self, soles: np.ndarray, centroids: np.ndarray, times: np.ndarray) -> np.ndarray:
        """See ``steps``."""
        return self.steps(soles, centroids, times).velocity

    def steps(self, soles: np.ndarray, centroids: np.ndarray, times: np.ndarray) -> Steps:
        """Ground velocity (F - 1, 2) between frames, metres a second, of soles and centroids (F, K, 3) of the feet.

        soles, centroids: of a pose without place and heading.  times: (F,) seconds.  Minus the mean velocity of feet,
        weighed by how low they are and whether they move back; zero while most are still; in flight it goes straight
        from the last one known to the next.  In their own gait it is made as long as they ask for in their own motion
        while they stand, for the way that they go to and fro; what is smoothed is held against their own motion,
        smoothed as much.  See ``gaits``.

        Where feet surely go forward while low and back while high, over all frames, the body steps backward: by the
        same strokes, the other way.
        """
        pushed, gait, parts, way = self._clip(soles, centroids, times)
        by, own = longer(gait, self.gaits, self.asked)
        return Steps(by * pushed.reshape(-1, parts, 2).mean(axis=1), way, own)

    def _clip(self, soles: np.ndarray, centroids: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, Gait, int, int]:
        """Velocity (N, 2) that is pushed, what it is a mean of, N of how many each step is, and ``Steps.way``."""
        fine, parts = _moments(times)
        if parts > 1:
            soles, centroids = (CubicSpline(times, points)(fine) for points in (soles, centroids))
        velocity, step = _velocity(soles, fine), float(np.diff(fine).mean())
        lift, speed = _lift(self.feet, centroids), self._speed(velocity)
        along = velocity @ self.forward
        to_and_fro, shape = np.abs(along), _shape(soles[..., :2] @ self.forward, fine)
        told = self._way(_agreed(_votes(lift), along), float(to_and_fro.mean()), shape[0])
        way = self._turned(told)
        pushed, weight, stands, still = way._pushed(velocity, lift, speed)
        rests = (weight == 0.0) & binary_opening(still, np.ones(max(round(_RESTS / step), 1)))
        known, weight = (weight > 0.0) | rests, np.where(rests, 1.0, weight)[:, None]
        if known.any():
            # A foot that comes down or leaves is slower than one that stands: flight goes on from the mean of a stance.
            smooth = _smoothed(weight * pushed, step)[known] / _smoothed(weight, step)[known]
            middle = 0.5 * (fine[1:] + fine[:-1])
            pushed = np.stack([np.interp(middle, middle[known], column) for column in smooth.T], axis=1)
        pushed = _smoothed(carried(pushed, velocity, lift, way.forward, flights(lift, step), step), step)
        gait = float((pushed @ way.forward).mean()), float(to_and_fro.mean()), float(stands.mean())
        return pushed, Gait(*gait, *shape), parts, told

    def _own_gaits(self, points: tuple[np.ndarray, np.ndarray], times: np.ndarray, cycles: bool) -> tuple[Gait, ...]:
        first = self._clip(*points, times)[1]
        seconds = 1.0 / max(first.often, 1.0 / float(times[-1] - times[0]))
        blurred = (rounded(points, times, level * seconds, cycles) for level in LEVELS[1:])
        gaits = first, *(self._clip(*of, times)[1] for of in blurred)
        sharp = [gait.sharp for gait in gaits]
        # Of what is no cycle, or drifts, rounding tells nothing.
        return gaits if min(sharp) > 0.0 and max(np.diff(sharp)) < 0.0 else (first._replace(sharp=0.0),)

    def _asked(self, soles: np.ndarray, centroids: np.ndarray, times: np.ndarray) -> float:
        fine, _ = _moments(times, _OWN_MOMENTS)
        # Animated feet change their speed at once, where a spline would overshoot.
        soles, centroids = (PchipInterpolator(times, points)(fine) for points in (soles, centroids))
        heights, back = 0.5 * (soles[1:, :, 2] + soles[:-1, :, 2]), -(_velocity(soles, fine) @ self.forward)
        return stance_speed(heights, _lift(self.feet, centroids), back, self.feet.height, float(np.diff(fine).mean()))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays that ``from_arrays`` makes the same of."""
        told = np.array([self.speed, self.on_a_line, self.agreed, *self.gaits[0][:3], self.asked, self.back])
        return self.feet.to_arrays() | {"forward": self.forward, "told": told, "gaits": np.array(self.gaits)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Strokes:
        """The reverse of ``to_arrays``."""
        speed, on_a_line, agreed, *rest = arrays["told"].tolist()
        forward = np.asarray(arrays["forward"], float)
        gaits = tuple(Gait(*row) for row in np.asarray(arrays.get("gaits", [rest[:3]]), float).tolist())
        # What an earlier version learnt goes as it went then.
        asked, back = rest[3:] if len(rest) > 3 else (0.0, 0.0)
        return cls(MeshFeet.from_arrays(arrays), forward, speed, on_a_line, agreed, gaits, asked, back)

    def stream(self) -> StrokeStream:
        """The same of a body that is seen one moment at a time; it cannot look ahead."""
        return StrokeStream(self)

    def _way(self, agreed: np.ndarray, to_and_fro: float, often: float) -> int:
        """See ``Steps.way``; agreed (2, K): see ``_votes``.  to_and_fro and often: see ``Gait``."""
        while_high, while_low = np.median(agreed, axis=1)
        if self._trembles(to_and_fro, often):
            return 1
        # Of a run's feet one vote is unsure, and so is each of a part of a cycle: what the other denies does not count.
        backward = while_high < -_AGREED or while_low > _BACK or max(while_high, -while_low) < -_BOTH
        forward = while_high > _AGREED or while_low < -_BACK or min(while_high, -while_low) > _BOTH
        if max(while_high, -while_low) < 0.0 and backward:
            return -1
        return 1 if min(while_high, -while_low) > 0.0 and forward else 0

    def _turned(self, way: int) -> Strokes:
        """These strokes, or the same the other way where feet step backward."""
        return replace(self, forward=-self.forward) if way < 0 else self

    def _trembles(self, to_and_fro: float, often: float) -> bool:
        """Whether feet go nowhere: for how often, at whatever tempo, where that is known."""
        own = self.gaits[0]
        if min(often, own.often) > 0.0:
            return to_and_fro / often <= _TREMBLES * own.to_and_fro / own.often
        return to_and_fro <= _TREMBLES * own.to_and_fro

    def _speed(self, velocity: np.ndarray) -> float:
        return max(float(np.sqrt(np.mean((velocity @ self.forward) ** 2))), _TREMBLES * self.speed)

    def _pushed(
        self, velocity: np.ndarray, lift: np.ndarray, speed: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Velocity (N, 2) of the body, how surely it is pushed (N,), 0 to 1, how many of its feet push, as a share of
        all (N,), and whether most feet are still (N,).

        velocity (N, K, 2) and lift (N, K): of the feet.  What is not pushed has no velocity.
        """
        low = np.clip((_LIFTED - lift) / (_LIFTED - _STANDS), 0.0, 1.0)
        least = max(_PUSHES * speed, 1e-300)
        weights = low * np.clip(-(velocity @ self.forward) / least, 0.0, 1.0)
        total = weights.sum(axis=1)
        still = np.clip(1.0 - np.linalg.norm(velocity, axis=2) / least, 0.0, 1.0).mean(axis=1)
        pushes = total > _ENOUGH
        mean = np.einsum("nk,nki->ni", weights, velocity) / np.where(pushes, total, 1.0)[:, None]
        surely = np.where(pushes, np.minimum(total, 1.0), 0.0)
        return np.where(pushes[:, None], -mean, 0.0), surely, weights.mean(axis=1), still > _AT_REST


class StrokeStream:
    """One body's strokes as they come: it knows the last moment, and how fast feet were of late.

    backward: whether it steps backward now."""

    def __init__(self, strokes: Strokes):
        self._strokes = strokes
        self._last: tuple[float, np.ndarray, np.ndarray] | None = None
        self._square, self._gait = Recent(0.0, _MEMORY), Recent(np.zeros(3), _GAIT_MEMORY)
        self._along = Recent(0.0, _GAIT_MEMORY)
        self.backward = False
        self._votes = Recent(np.zeros((2, 2, len(strokes.feet))), _GAIT_MEMORY)
        self._seen = 0.0  # seconds
        self._places: list[tuple[float, np.ndarray]] = []
        self._shape, self._looked = (0.0, 0.0), 0.0
        self._smooth: np.ndarray | None = None
        self._known = np.zeros(2)
        self._still = 0.0  # seconds
        self._hops = HopStream()

    def step(self, soles: np.ndarray, centroids: np.ndarray, time: float) -> np.ndarray:
        """Ground velocity (2,) at a time in seconds, of soles and centroids (K, 3); see ``Strokes.velocity``.

        In flight the last one known is held.  A time that is not later than the last one changes nothing.
        """
        last, now = self._last, (float(time), np.array(soles, float), np.array(centroids, float))
        if last is not None and time <= last[0]:
            return self._now()
        self._last = now
        if last is None or time - last[0] > SILENT:
            self._smooth, self._known, self._hops = None, np.zeros(2), HopStream()
            return self._now()
        elapsed = time - last[0]
        velocity = _velocity(np.stack((last[1], now[1])), np.array((last[0], now[0])))
        lift = _lift(self._strokes.feet, np.stack((last[2], now[2])))
        along = velocity @ self._strokes.forward
        square = self._square.step(float(np.mean(along**2)), elapsed)
        self._along.step(float(np.abs(along).mean()), elapsed)
        speed = max(float(np.sqrt(square)), _TREMBLES * self._strokes.speed)
        way = self._way(lift, along, elapsed)
        if self.backward != (way is not self._strokes):
            # What was pushed the wrong way is no gait.
            self.backward, self._gait = not self.backward, Recent(np.zeros(3), _GAIT_MEMORY)
        pushed, weight, stands, still = way._pushed(velocity, lift, speed)
        self._still = self._still + elapsed if still[0] else 0.0
        if weight[0] > 0.0 or self._still > _RESTS:
            self._known = pushed[0]
        flies = self._hops.step(velocity[0], lift[0], way.forward, now[0])
        if flies is not None:
            self._known = flies
        if self._smooth is None:
            self._smooth = self._known
        self._smooth = self._smooth + (1.0 - np.exp(-elapsed / _POLE)) * (self._known - self._smooth)
        self._look_at(now[1][:, :2] @ self._strokes.forward, now[0])
        gait = np.array([self._smooth @ way.forward, np.abs(along).mean(), stands[0]])
        self._gait.step(gait, elapsed)
        return self._now()

    def _look_at(self, places: np.ndarray, time: float) -> None:
        """How sharply feet turned of late; places (K,) of soles along the way."""
        if not self._places or time - self._places[-1][0] > SILENT:
            self._places, self._shape, self._looked = [], (0.0, 0.0), time
        self._places.append((time, places))
        if time - self._looked >= _LOOKS and len(self._places) > _FEW:
            self._looked = time
            times, places = (np.array(of) for of in zip(*self._places, strict=True))
            fine, parts = _moments(times)
            self._shape = _shape(CubicSpline(times, places)(fine) if parts > 1 else places, fine)
            # Of slow steps more must be remembered.
            a_turn = 1.0 / max(self._shape[0], 1.0 / _GAIT_MOST)
            self._gait.seconds = float(np.clip(_GAIT_TURNS * a_turn, _GAIT_MEMORY, _GAIT_MOST))
            since = time - float(np.clip(_SHAPE_TURNS * a_turn, _GAIT_MEMORY, _GAIT_MOST))
            self._places = [(then, there) for then, there in self._places if then > since]

    def _way(self, lift: np.ndarray, along: np.ndarray, elapsed: float) -> Strokes:
        weighed = (_votes(lift) * along)[:, 0]
        sums = self._votes.step(np.stack((weighed, np.abs(weighed))), elapsed)
        self._seen += elapsed
        # A part of a step tells no way.
        if self._seen < _WAY_SEEN:
            return self._strokes
        agreed = sums[0] / np.maximum(sums[1], 1e-300)
        return self._strokes._turned(self._strokes._way(agreed, self._along.mean, self._shape[0]))

    def _now(self) -> np.ndarray:
        if self._smooth is None:
            return np.zeros(2)
        strokes = self._strokes
        return longer(Gait(*self._gait.mean, *self._shape), strokes.gaits, strokes.asked).by * self._smooth


def _shape(places: np.ndarray, fine: np.ndarray) -> tuple[float, float]:
    """See ``cycles_and_sharpness``; of places (N, K) at times (N,)."""
    speeds = np.diff(places, axis=0) / np.diff(fine)[:, None]
    return cycles_and_sharpness(0.5 * (places[1:] + places[:-1]), speeds, float(fine[-1] - fine[0]))


def _votes(lift: np.ndarray) -> np.ndarray:
    """(2, N, K) of lift (N, K): for forward while high and back while low, and for low alone."""
    return np.stack((np.clip(lift, 0.0, 1.0) - 0.5, np.clip(1.0 - lift / _LOW, 0.0, 1.0)))


def _agreed(votes: np.ndarray, along: np.ndarray) -> np.ndarray:
    """(2, K) -1 to 1: which way each foot goes, of votes (2, N, K) and speeds (N, K)."""
    weighed = votes * along
    return weighed.sum(axis=1) / np.maximum(np.abs(weighed).sum(axis=1), 1e-300)


def _moments(times: np.ndarray, per_second: float = _MOMENTS) -> tuple[np.ndarray, int]:
    """Times between those of frames (F,), at least so many a second, and how many each step is."""
    parts = max(int(np.ceil(np.diff(times).mean() * per_second - 1e-6)), 1)
    return np.interp(np.arange(parts * (len(times) - 1) + 1) / parts, np.arange(len(times)), times), parts


def _smoothed(values: np.ndarray, step: float) -> np.ndarray:
    """Of values (N, ...) so many seconds apart."""
    return gaussian_filter1d(values, _SMOOTHING / step, axis=0, mode="nearest")


def _velocity(points: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F - 1, K, 2) horizontal, of points (F, K, 3)."""
    return np.diff(points[..., :2], axis=0) / np.diff(times)[:, None, None]


def _lift(feet: MeshFeet, centroids: np.ndarray) -> np.ndarray:
    """(F - 1, K) of centroids (F, K, 3) half-way between frames: 0 at their low height, 1 at their high one."""
    low, high = np.array([(foot.low, foot.high) for foot in feet.feet]).T
    height = 0.5 * (centroids[1:, :, 2] + centroids[:-1, :, 2])
    return (height - low) / np.maximum(high - low, 1e-300)
