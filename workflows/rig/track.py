"""What live actions are solved to, and what says later what they were solved for."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from ...scene.influence import FactorTrack
from ...scene.state_track import StateTrack
from ...solvers.core.errors import StaleBindingError
from ...state.cache import fingerprint
from .control_fit import fitted_steps
from .frame import FrameSolver
from .inputs import Inputs
from .problem import RigProblem, RigSolution


@dataclass(frozen=True)
class Track:
    """What was solved. frames: to solve and show frames by themselves.  inputs: of each rig, what beside the
    surroundings it was solved for.  sources: digests of the bound actions.  deforming: of the keys that deform what
    is around."""

    problem: RigProblem
    solution: RigSolution
    frames: FrameSolver
    inputs: tuple[Inputs, ...] = ()
    sources: tuple[str, ...] = ()
    deforming: str = ""


@dataclass(frozen=True)
class Stamp:
    """What a live action was solved for, as it is kept with it. influence: where a driver tells it.
    deforming: digest of the keys that deform what is around, None where that was not noted."""

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


def stamp_of(track: Track, number: int) -> Stamp:
    """What says later what one of the rigs of a track was solved for."""
    problem, influence = track.problem, None
    if track.inputs[number].fades:
        influence = FactorTrack(problem.frames, problem.influences[number])
    return Stamp(key_of(track.inputs, track.sources), tuple(problem.states), influence, track.deforming)


def key_of(inputs: Sequence[Inputs], sources: Sequence[str]) -> str:
    """Of all that live actions depend on but the surroundings. sources: digests of the bound actions' keys."""
    keys = [fingerprint(own.key, source) for own, source in zip(inputs, sources, strict=True)]
    return keys[0] if len(keys) == 1 else fingerprint(*keys)


def solved_track(workflow, problem: RigProblem, *known) -> Generator[float, None, Track]:
    """Arrays only: a thread may do it. known: inputs, sources and deforming of the track, as far as they are."""
    solution = yield from workflow.solve_steps(problem)
    return Track(problem, solution, workflow.frame_solver(problem, solution), *known)


def fitted_track(at, rigs: Sequence, workflow, track: Track) -> Generator[float, None, Track]:
    """A track that says what is written to rigs that are moved by controls, see ``control_fit.fitted_steps``."""
    solution = yield from fitted_steps(at, rigs, workflow, track.problem, track.solution)
    if solution is track.solution:
        return track
    return replace(track, solution=solution, frames=workflow.frame_solver(track.problem, solution))


def faded_track(
    workflow, before: Track, problem: RigProblem, inputs: tuple[Inputs, ...], sources: tuple[str, ...], deforming: str
) -> Generator[float, None, Track]:
    """As ``solved_track``, of a problem that differs from a solved one in influence alone."""
    yield 0.0
    solution = workflow.faded(before.solution, problem)
    return replace(before, problem=problem, solution=solution, inputs=inputs, sources=sources, deforming=deforming)
