"""All estimators of a target's travel from its poses, learnt at once so that a user may switch between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.lag import rates
from ..rotations.rigid import turned
from ..shapes.mesh_feet import find_feet, lowest_ground
from .strokes import Steps, Strokes
from .travel import LAG, STANCE, STAYS, STRIDE, TRANSLATION, Travel, cycle_seconds, integrated, learn_travel

AUTO, SOURCE = "auto", "source"
ESTIMATORS = (AUTO, TRANSLATION, STANCE, STRIDE, SOURCE, STAYS)
_LEARNT = (TRANSLATION, STANCE, STRIDE)
_STAYS = 0.3  # of its radius: what goes no farther over its whole range does not travel
# Strokes tell how far a target goes that travels itself where they ask for as much of its way, along it.
_OWN, _ALONG = (0.6, 1.6), 0.9
# Of what its feet ask for: what goes farther itself is not on the spot.
_ON_THE_SPOT = 0.3
BACKWARD = "Its feet step backward, and it goes back by the same strokes"
_BY_RATES = "how fast its pose changes, which tells less at another tempo"
_EARLIER = "learnt by an earlier version, which knew none; Learn Again looks for them"

# Of a clip's gait, how surely it is not the feet's own before that is told.
_ANOTHER = 0.5

# Soles and whole feet, both (F, K, 3) world, of a target's coefficients (F, D); see ``FeetReadout``.
FeetAt = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class TravelChoices:
    """estimator: one of ``ESTIMATORS``.  scale: multiplies how far it goes.  stride: metres a cycle, of "stride".
    turn_ratio: of the source's turning that the target makes (Rhodin et al. 2014, section 6)."""

    estimator: str = AUTO
    scale: float = 1.0
    stride: float = 1.0
    turn_ratio: float = 1.0


@dataclass(frozen=True)
class TravelEstimators:
    """learnt: by estimator the travel that the target's motion gives; "stride" is of one metre.  missing: why the
    others are not there.  auto: the one that is taken where the user leaves the choice, and note: why.

    strokes: of its feet, which "stance" and "stride" then go by; None where they tell nothing, and no_strokes: why.
    cycle: metres that they cover in a cycle of its own motion.  own: of what they ask for, how much it has travelled
    itself; "translation" then goes by them as well, 0 where it does not."""

    learnt: dict[str, Travel]
    missing: dict[str, str]
    auto: str
    note: str
    strokes: Strokes | None = None
    no_strokes: str = ""
    cycle: float = 0.0
    own: float = 0.0

    @classmethod
    def learn(cls, coefficients, times, translation, yaw, vertices, triangles, same=None) -> TravelEstimators:
        """See ``travel.learn_travel``.  triangles (T, 3) and same (V,): as in ``find_feet``."""
        strokes, why = _strokes(vertices, triangles, times, same)
        ground = None if strokes is None else _at_frames(strokes, vertices, times)
        motion = coefficients, times, translation, yaw, vertices
        estimators, missing = {}, {}
        for estimator in _LEARNT:
            try:
                estimators[estimator] = learn_travel(*motion, stride=1.0, learn_from=estimator, ground=ground)
            except InputError as error:
                missing[estimator] = str(error)
        radius = np.sqrt(((vertices - vertices.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
        if np.linalg.norm(np.ptp(translation, axis=0)) < _STAYS * radius:
            estimators.pop(TRANSLATION, None)
            missing[TRANSLATION] = "its own motion stays in place; choose Feet, Stride or Source"
        auto = learn_travel(*motion, ground=ground)
        cycle = own = gone = 0.0
        if ground is not None:
            cycle = float(np.linalg.norm(ground.mean(axis=0))) * cycle_seconds(coefficients, times)
            gone, own = _own_way(ground, times, translation, yaw)
        told = auto.learnt_from, auto.note
        if auto.learnt_from == STANCE and gone > _ON_THE_SPOT:
            # A dance: its feet stand where they are, and what they do besides is no travel.
            way = own > 0.0 and estimators.get(TRANSLATION)
            told = (TRANSLATION, way.note) if way else (STAYS, f"it goes {gone:.0%} of what its feet ask for")
        return cls(estimators, missing, *told, strokes, why, cycle, own)

    @classmethod
    def none(cls, note: str) -> TravelEstimators:
        """Of a target whose poses are in no order in time."""
        return cls({}, dict.fromkeys(_LEARNT, note), STAYS, note)

    def strokes_of(self, choices: TravelChoices) -> Strokes | None:
        """The strokes that are gone by, None where it is something else; raises as ``estimator_of``."""
        told = {STANCE: 1.0, STRIDE: self.cycle, TRANSLATION: self.own}.get(self.estimator_of(choices), 0.0)
        return self.strokes if told > 0.0 else None

    def stroke_scale(self, choices: TravelChoices) -> float:
        """By how much farther than its strokes ask for the target goes, where it goes by them."""
        estimator = self.estimator_of(choices)
        if estimator == STRIDE:
            return choices.scale * choices.stride / self.cycle
        return choices.scale * (self.own if estimator == TRANSLATION else 1.0)

    def _by_strokes(self) -> str:
        count = len(self.strokes.feet)
        by = f"the strokes of its {f'{count} feet' if count > 1 else 'one foot'}"
        unknown = "" if self.strokes.gaits[0].often > 0.0 else "how sharply they turn"
        unknown = unknown if self.strokes.asked > 0.0 else "how fast they stand"
        return f"{by} (Learn Again measures {unknown}, which is not known)" if unknown else by

    def note_of(self, choices: TravelChoices) -> str:
        """In words, what the target's travel stands on; raises as ``estimator_of``."""
        estimator = self.estimator_of(choices)
        if estimator == STANCE:
            note = self.learnt[STANCE].note
            if self.strokes is not None:
                return f"by {self._by_strokes()}: {note}"
            return f"by its lowest vertices, which tells less at another tempo: {note}; strokes: {self.no_strokes}"
        by = self._by_strokes() if self.strokes_of(choices) else f"{_BY_RATES}; strokes: {self._refused()}"
        if estimator == TRANSLATION:
            return f"by its own travel: {self.learnt[TRANSLATION].note}, told by {by}"
        if estimator == STRIDE:
            return f"by a length of stride: {choices.stride:.3g} m for each cycle of its own motion, told by {by}"
        if estimator == SOURCE:
            return "as far as its source goes"
        if choices.estimator != AUTO:
            return "it stays, as chosen"
        told = f"it stays: {self.note}"
        return told if self.strokes is not None or not self.no_strokes else f"{told}; strokes: {self.no_strokes}"

    def _refused(self) -> str:
        """Why it does not go by strokes."""
        return self.no_strokes if self.strokes is None else "they ask for another way than it went itself"

    def velocity(self, coefficient_rates: np.ndarray, choices: TravelChoices) -> np.ndarray:
        """Ground velocity (..., 2), metres a second in the target's own heading, of rates (..., D) a second.

        Zero for the estimator "source"; what goes by strokes has them to ask.  Raises InputError for one that the
        target's motion does not give.
        """
        estimator = self.estimator_of(choices)
        if estimator in (STAYS, SOURCE):
            return np.zeros((*coefficient_rates.shape[:-1], 2))
        length = choices.stride if estimator == STRIDE else 1.0
        return choices.scale * length * self.learnt[estimator].velocity(coefficient_rates)

    def track(
        self,
        coefficients: np.ndarray,
        times: np.ndarray,
        translation: np.ndarray,
        yaw: np.ndarray,
        choices: TravelChoices,
        feet_at: FeetAt | None = None,
    ) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """Positions (F, 2) on the ground, metres, and headings (F,), radians, both from 0 at the first frame; and what
        is worth knowing of its steps, in words.

        coefficients: (F, D) of the target.  times: (F,) seconds.  translation: (F, 2) metres and yaw: (F,) of the
        source's ground motion.  feet_at: of the target; called where it goes by strokes, and needed there.
        Raises InputError for one that the target's motion does not give.
        """  # fmt: skip
        turned_by = yaw - yaw[0]
        heading = choices.turn_ratio * turned_by
        if self.estimator_of(choices) == SOURCE:
            steps = along_source(np.diff(translation, axis=0), _halfway(heading - turned_by), choices)
            return _summed(steps), heading, ()
        strokes = self.strokes_of(choices)
        if strokes is not None and len(times) > 1:
            steps = strokes.steps(*feet_at(coefficients), times)
            velocity = self.stroke_scale(choices) * steps.velocity
            return _summed(turned(velocity, _halfway(heading)) * np.diff(times)[:, None]), heading, _told(steps)
        velocity = self.velocity(rates(coefficients, times, LAG), choices)
        return integrated(velocity, heading, times), heading, ()

    def estimator_of(self, choices: TravelChoices) -> str:
        """The estimator that is taken; raises InputError where the target's motion does not give it."""
        estimator = self.auto if choices.estimator == AUTO else choices.estimator
        if estimator not in ESTIMATORS or (estimator in _LEARNT and estimator not in self.learnt):
            why = self.missing.get(estimator, f"there is no way '{estimator}', use one of {', '.join(ESTIMATORS)}")
            raise InputError(f"The target cannot travel that way: {why}")
        return estimator

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays and texts that ``from_arrays`` makes the same of."""
        arrays = {f"weights {estimator}": travel.weights for estimator, travel in self.learnt.items()}
        arrays |= {f"note {estimator}": np.array(travel.note) for estimator, travel in self.learnt.items()}
        arrays |= {f"missing {estimator}": np.array(text) for estimator, text in self.missing.items()}
        if self.strokes is not None:
            arrays |= {f"strokes {name}": value for name, value in self.strokes.to_arrays().items()}
        texts = {"auto": self.auto, "note": self.note, "no strokes": self.no_strokes}
        numbers = {"cycle": self.cycle, "own": self.own}
        return arrays | {name: np.array(value) for name, value in (texts | numbers).items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TravelEstimators:
        """The reverse of ``to_arrays``; what an earlier version learnt, which knew no strokes, goes as it went then."""
        estimators, missing = {}, {}
        for estimator in _LEARNT:
            if f"weights {estimator}" in arrays:
                weights, note = arrays[f"weights {estimator}"], str(arrays[f"note {estimator}"])
                estimators[estimator] = Travel(estimator, weights, note)
            else:
                missing[estimator] = str(arrays[f"missing {estimator}"])
        of_strokes = {name[8:]: value for name, value in arrays.items() if name.startswith("strokes ")}
        strokes = Strokes.from_arrays(of_strokes) if of_strokes else None
        told = str(arrays["auto"]), str(arrays["note"]), strokes, str(arrays.get("no strokes", _EARLIER))
        return cls(estimators, missing, *told, *(float(arrays.get(name, 0.0)) for name in ("cycle", "own")))


def _told(steps: Steps) -> tuple[str, ...]:
    notes = []
    if steps.way < 0:
        notes.append(BACKWARD)
    elif steps.way == 0:
        notes.append("Whether its feet step forward or backward is not clear, and forward is taken")
    if steps.own_gait < _ANOTHER:
        notes.append(
            "Its feet stand for another share of the time than in its own motion, so that it goes as far as they push"
        )
    return tuple(notes)


def along_source(steps: np.ndarray, turn: np.ndarray, choices: TravelChoices) -> np.ndarray:
    """Steps (..., 2) of a target that goes as its source does, metres, of the source's own steps (..., 2).

    turn: (...,) radians by which the target has turned more than its source.
    """
    return choices.scale * turned(steps, turn)


def _strokes(vertices, triangles, times, same) -> tuple[Strokes | None, str]:
    """Strokes that tell how far the target goes, or why there are none, in words."""
    feet = find_feet(vertices, triangles, lowest_ground(vertices), same=same)
    if not len(feet):
        return None, "no part of it steps on the ground"
    strokes = Strokes.learn(feet, vertices, times)
    return (None, strokes.why_not) if strokes.why_not else (strokes, "")


def _at_frames(strokes: Strokes, vertices: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Velocity (F, 2) that a target's own feet ask for, at its frames."""
    feet = strokes.feet
    velocity = strokes.velocity(feet.soles(vertices), feet.centroids(vertices), times)
    middle = 0.5 * (times[1:] + times[:-1])
    return np.stack([np.interp(times, middle, column) for column in velocity.T], axis=1)


def _own_way(ground: np.ndarray, times: np.ndarray, translation: np.ndarray, yaw: np.ndarray) -> tuple[float, float]:
    """How far a target has travelled itself of what its feet ask for, velocity (F, 2): in all, and 0 where that is not
    along it or another length altogether."""
    gone = turned(np.diff(translation, axis=0), -_halfway(np.asarray(yaw, float))).sum(axis=0)
    asked = np.diff(times) @ _halfway(ground)
    length, way = max(float(np.linalg.norm(asked)), 1e-300), float(np.linalg.norm(gone))
    share = float(gone @ asked) / length**2
    agrees = share * length > _ALONG * way and _OWN[0] < share < _OWN[1]
    return way / length, share if agrees else 0.0


def _summed(steps: np.ndarray) -> np.ndarray:
    """Positions (F, 2) from the origin, of steps (F - 1, 2)."""
    return np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)))


def _halfway(values: np.ndarray) -> np.ndarray:
    return 0.5 * (values[1:] + values[:-1])
