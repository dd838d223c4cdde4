"""What a live action is solved to, and what says later what it was solved for."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...scene.influence import FactorTrack
from ...scene.state_track import ObjectState, StateTrack
from ...solvers.adapt.frame import FrameAdapter
from ...solvers.core.errors import StaleBindingError
from ...state.cache import fingerprint
from ..environment.problem import Problem, Solution, fade_again, solve_steps
from ..rig.frame_channels import AdaptedRows
from .live_key import Inputs


@dataclass(frozen=True)
class Track:
    """What was solved. adapter, rows: to solve and write frames by themselves.  inputs: what beside the environment it
    was solved for.  source: digest of the bound action.  deforming: of the keys that deform the environment."""

    problem: Problem
    solution: Solution
    adapter: FrameAdapter
    rows: AdaptedRows
    inputs: Inputs | None
    source: str
    deforming: str = ""


@dataclass(frozen=True)
class Stamp:
    """What the live action was solved for, as it is kept in the settings. influence: where a driver tells it.
    deforming: digest of the keys that deform the environment, None where that was not noted."""

    inputs: str
    states: tuple[StateTrack, ...]
    influence: FactorTrack | None = None
    deforming: str | None = None

    def to_text(self) -> str:
        states = [state.to_text() for state in self.states]
        more = {} if self.influence is None else {"influence": self.influence.to_text()}
        if self.deforming is not None:
            more["deforming"] = self.deforming
        return json.dumps([self.inputs, *states, more])

    @classmethod
    def from_text(cls, text: str) -> Stamp:
        if not text:
            return cls("", ())
        try:
            inputs, *states = json.loads(text)
            more = states.pop() if states and isinstance(states[-1], dict) else {}
        except ValueError as error:
            raise StaleBindingError("The state of the live action is damaged; switch Live off and on.") from error
        influence = FactorTrack.from_text(more["influence"]) if "influence" in more else None
        return cls(inputs, tuple(map(StateTrack.from_text, states)), influence, more.get("deforming"))

    def fits(self, row: int | None, states: list[ObjectState]) -> bool:
        """Whether the present objects are those of a row (None: between rows)."""
        if len(states) != len(self.states):
            return False
        return all(known.matches(row, state) for known, state in zip(self.states, states, strict=True))

    def goes_along(self, ways: list[np.ndarray | None]) -> bool:
        """Whether what moves by curves moves as it did. ways: world matrices (F, 4, 4), None of others."""
        return all(way is None or known.goes_along(way) for known, way in zip(self.states, ways, strict=True))


def stamp_of(track: Track) -> Stamp:
    """What says later what a track was solved for."""
    problem = track.problem
    influence = FactorTrack(problem.binding.track.frames, problem.influence) if track.inputs.fades else None
    return Stamp(key_of(track.inputs, track.source), tuple(problem.states), influence, track.deforming)


def key_of(inputs: Inputs, source: str) -> str:
    """Of all that a live action depends on but the environment. source: digest of the bound action's keys."""
    return fingerprint(inputs.key, source)


def solved(problem: Problem, inputs: Inputs | None, source: str, deforming: str = "") -> Generator[float, None, Track]:
    """Arrays only: a thread may do it."""
    solution = yield from solve_steps(problem)
    adapter = FrameAdapter(problem.binding, problem.options, solution.adapted.moves)
    rows = AdaptedRows(problem.source, problem.turned)
    return Track(problem, solution, adapter, rows, inputs, source, deforming)


def faded(known: Track, problem: Problem, inputs: Inputs, source: str, deforming: str) -> Generator[float, None, Track]:
    """As ``solved``, of a problem that differs from a solved one in influence alone."""
    yield 0.0
    solution = fade_again(known.solution, problem)
    return replace(known, problem=problem, solution=solution, inputs=inputs, source=source, deforming=deforming)
