"""All estimators of a target's travel from its poses, learnt at once so that a user may switch between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.lag import rates
from ..rotations.rigid import turned
from .travel import LAG, STANCE, STAYS, STRIDE, TRANSLATION, Travel, integrated, learn_travel

AUTO, SOURCE = "auto", "source"
ESTIMATORS = (AUTO, TRANSLATION, STANCE, STRIDE, SOURCE, STAYS)
_LEARNT = (TRANSLATION, STANCE, STRIDE)
_STAYS = 0.3  # of its radius: what goes no farther over its whole range does not travel


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
    others are not there.  auto: the one that is taken where the user leaves the choice, and note: why."""

    learnt: dict[str, Travel]
    missing: dict[str, str]
    auto: str
    note: str

    @classmethod
    def learn(cls, coefficients, times, translation, yaw, vertices) -> TravelEstimators:
        """See ``travel.learn_travel``."""
        estimators, missing = {}, {}
        motion = coefficients, times, translation, yaw, vertices
        for estimator in _LEARNT:
            try:
                estimators[estimator] = learn_travel(*motion, stride=1.0, learn_from=estimator)
            except InputError as error:
                missing[estimator] = str(error)
        radius = np.sqrt(((vertices - vertices.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
        if np.linalg.norm(np.ptp(translation, axis=0)) < _STAYS * radius:
            estimators.pop(TRANSLATION, None)
            missing[TRANSLATION] = "its own motion stays in place; choose Feet, Stride or Source"
        auto = learn_travel(*motion)
        return cls(estimators, missing, auto.learnt_from, auto.note)

    @classmethod
    def none(cls, note: str) -> TravelEstimators:
        """Of a target whose poses are in no order in time."""
        return cls({}, dict.fromkeys(_LEARNT, note), STAYS, note)

    def velocity(self, coefficient_rates: np.ndarray, choices: TravelChoices) -> np.ndarray:
        """Ground velocity (..., 2), metres a second in the target's own heading, of rates (..., D) a second.

        Zero for the estimator "source". Raises InputError for one that the target's motion does not give.
        """
        estimator = self.estimator_of(choices)
        if estimator in (STAYS, SOURCE):
            return np.zeros((*coefficient_rates.shape[:-1], 2))
        length = choices.stride if estimator == STRIDE else 1.0
        return choices.scale * length * self.learnt[estimator].velocity(coefficient_rates)

    def track(
        self, coefficients: np.ndarray, times: np.ndarray, translation: np.ndarray, yaw: np.ndarray,
        choices: TravelChoices,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions (F, 2) on the ground, metres, and headings (F,), radians, both from 0 at the first frame.

        coefficients: (F, D) of the target.  times: (F,) seconds.  translation: (F, 2) metres and yaw: (F,) of the
        source's ground motion. Raises InputError for one that the target's motion does not give.
        """  # fmt: skip
        turned_by = yaw - yaw[0]
        heading = choices.turn_ratio * turned_by
        if self.estimator_of(choices) == SOURCE:
            steps = along_source(np.diff(translation, axis=0), _halfway(heading - turned_by), choices)
            return np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0))), heading
        velocity = self.velocity(rates(coefficients, times, LAG), choices)
        return integrated(velocity, heading, times), heading

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
        return arrays | {"auto": np.array(self.auto), "note": np.array(self.note)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TravelEstimators:
        """The reverse of ``to_arrays``."""
        estimators, missing = {}, {}
        for estimator in _LEARNT:
            if f"weights {estimator}" in arrays:
                weights, note = arrays[f"weights {estimator}"], str(arrays[f"note {estimator}"])
                estimators[estimator] = Travel(estimator, weights, note)
            else:
                missing[estimator] = str(arrays[f"missing {estimator}"])
        return cls(estimators, missing, str(arrays["auto"]), str(arrays["note"]))


def along_source(steps: np.ndarray, turn: np.ndarray, choices: TravelChoices) -> np.ndarray:
    """Steps (..., 2) of a target that goes as its source does, metres, of the source's own steps (..., 2).

    turn: (...,) radians by which the target has turned more than its source.
    """
    return choices.scale * turned(steps, turn)


def _halfway(values: np.ndarray) -> np.ndarray:
    return 0.5 * (values[1:] + values[:-1])
