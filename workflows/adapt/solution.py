"""What comes of a problem of Adapt: all frames solved, and what solves single ones."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...scene.motion import BoneMotion
from ...scene.state_track import ObjectState
from ...solvers.adapt import solve as solver
from ...solvers.adapt.frame import FrameAdapter
from ...solvers.core.types import TriangleMesh
from ..environment.problem import Problem
from ..environment.replaced import ground_notes, ground_report, together_now
from ..environment.sanity import refused_notes, size_notes, unsettled_note
from ..rig.control_channels import ControlChannelsNow, written_channels
from ..rig.frame import Channels, FrameSolver
from ..rig.frame_channels import JointChannels
from ..rig.problem import RigResult
from ..rig.write_back import adapted_motion
from ..rig.write_error import WriteError, write_error


@dataclass(frozen=True)
class Solution:
    """adapted: the joints.  results: the rig's motion, of one rig.  write_error: of the rig's joints against the solved
    ones.  seconds: that the solver took.
    notes: what is wrong with it or doubtful, for the user, a sentence each without its full stop."""

    adapted: solver.AdaptedMotion
    results: tuple[RigResult, ...]
    write_error: WriteError
    seconds: float
    notes: tuple[str, ...]


def differs_in_influence(problem: Problem, known: Problem) -> bool:
    """Whether a problem is a known one with another influence at most; both of the same choices."""
    motion, before = problem.source.motion, known.source.motion
    pins = zip(problem.options.pins, known.options.pins, strict=True)
    states = list(zip(problem.states, known.states, strict=True))
    arrays = [(motion.basis, before.basis), (motion.object_world, before.object_world)]
    arrays += [(pin.positions, old.positions) for pin, old in pins]
    arrays += [(now.matrices, old.matrices) for now, old in states]
    same = problem.stored is known.stored and all(now.shapes == old.shapes for now, old in states)
    return same and all(np.array_equal(*pair) for pair in arrays)


def solve_steps(problem: Problem) -> Generator[float, None, Solution]:
    """Solve all frames, yielding progress from 0 to 1: arrays only, so that a thread may do it.

    Raises OutputError where the rig cannot show the result.
    """
    began = time.perf_counter()
    adapted = yield from solver.adapt_steps(problem.binding, problem.environment, problem.options)
    seconds = time.perf_counter() - began
    whole = adapted_motion(problem.source, adapted.positions, adapted.turns, problem.turned)
    error = write_error(whole, problem.source, adapted.positions, problem.binding.scale)
    return _shown(problem, adapted, whole, error, seconds)


def fade_again(known: Solution, problem: Problem) -> Solution:
    """The solution of a problem that differs from the solved one in influence alone."""
    faded = _shown(problem, known.adapted, known.results[0].whole, known.write_error, 0.0)
    written = known.results[0].written
    if written is None:
        return faded
    return replace(faded, results=(faded.results[0].written_as(written, problem.influence),))


def _shown(problem: Problem, adapted, whole: BoneMotion, missed: WriteError, seconds: float) -> Solution:
    """With the motion as far as its influence goes, the original's for the rest."""
    source = problem.source
    unsettled = unsettled_note(adapted, problem.frames)
    uses = problem.options.surfaces
    same = [None if use.replaced else mesh for use, mesh in zip(uses, problem.environment, strict=True)]
    sizes = size_notes(problem.name, problem.options.scale, problem.binding, same)
    ground = ground_report(problem.binding, problem.environment, uses)
    told = *filter(None, (unsettled, missed.note)), *refused_notes(adapted, problem.frames)
    notes = *sizes, *ground_notes(problem.binding, problem.environment, ground), *told
    body = np.unique(source.bones[source.bones >= 0])
    result = RigResult.of(
        source.motion, whole, problem.influence, source.solvable, body, source.motion_parents, source.placed
    )
    return Solution(adapted, (result,), missed, seconds, notes)


class AdaptFrames(FrameSolver):
    """Solves single frames of a problem of Adapt."""

    def __init__(self, problem: Problem, solution: Solution, joints: JointChannels | ControlChannelsNow | None = None):
        """solution: of all frames of a problem with the same binding.  joints: of the same source, if known."""
        self.problem = problem
        self.joints = joints or _channels_of(problem, solution)
        self._adapter = FrameAdapter(problem.binding, problem.options, solution.adapted.moves)
        self._parts = [part for parts in problem.parts for part in parts]
        self._meshes: list[tuple[ObjectState | None, TriangleMesh | None]] = [(None, None)] * len(self._parts)

    def solvable(self, number: int) -> np.ndarray:
        return self.joints.solvable

    def look(self, states: Sequence[ObjectState]) -> None:
        if self._are_known(states):
            self._meshes = [
                (state, mesh if state is old else state.surface(part.triangles))
                for state, part, (old, mesh) in zip(states, self._parts, self._meshes, strict=True)
            ]
        # Others that have come to be in their place are solved with all frames.
        pairs = zip(self._parts, self._meshes, strict=True)
        now = [part.state(0) if mesh is None else mesh for part, (_, mesh) in pairs]
        last, environment = 0, []
        for parts, whole in zip(self.problem.parts, self.problem.environment, strict=True):
            environment.append(together_now(now[last : last + len(parts)], whole.triangles))
            last += len(parts)
        self._adapter.update(environment)

    def _are_known(self, states: Sequence[ObjectState]) -> bool:
        """Whether they are of the objects of the problem, with as many vertices."""
        sizes = [len(state.positions) for state in states]
        return sizes == [part.vertices.shape[1] for part in self._parts]

    def take_over(self, before: AdaptFrames) -> None:
        self._adapter.take_over(before._adapter)

    def channels(self, number: int, row: int, influence: float, start: np.ndarray | None = None) -> Channels:
        found = self._adapter.solve(row)
        return self.joints.channels(row, found.positions, found.turns, influence, start)

    def solved_channels(
        self, solution: Solution, number: int, row: int, influence: float, start: np.ndarray | None = None
    ) -> Channels:
        adapted, written = solution.adapted, solution.results[number].written
        if written is not None:
            return written_channels(written, row, influence)
        return self.joints.channels(row, adapted.positions[row], adapted.turns[row], influence, start)


def _channels_of(problem: Problem, solution: Solution) -> JointChannels | ControlChannelsNow:
    """What makes channels of solved joints, of the controls that move them where there are such and they are fitted."""
    written = solution.results[0].written
    if written is None:
        return JointChannels(problem.source, problem.turned)
    return ControlChannelsNow(problem.source, problem.turned, written)
