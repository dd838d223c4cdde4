"""One frame of a live run, solved by itself and shown over what the live actions say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ...scene.influence import factor_now
from ...scene.pose_channels import PoseWriter
from ...scene.state_track import ObjectState
from .problem import RigProblem, RigSolution
from .way_back import WayBack

Channels = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Location (B, 3), rotation (B, 4) in each bone's mode and scale (B, 3)."""


class FrameSolver(ABC):
    """Solves the frames of a run by themselves, fast enough for a drag: arrays that stay the same meanwhile.

    problem: what they belong to.
    """

    problem: RigProblem

    @abstractmethod
    def solvable(self, number: int) -> np.ndarray:
        """(B, 3) bool, which of location, rotation and scale of each bone of a rig are written."""

    @abstractmethod
    def channels(self, number: int, row: int, influence: float, start: np.ndarray | None = None) -> Channels:
        """Of a rig in a row of the frames, among objects as ``look`` took them.

        start: (B, 4) rotation channels to be nearest to, by default the original's.
        """

    @abstractmethod
    def solved_channels(
        self, solution: RigSolution, number: int, row: int, influence: float, start: np.ndarray | None = None
    ) -> Channels:
        """As ``channels``, of a solution of all frames."""

    def look(self, states: Sequence[ObjectState]) -> None:  # noqa: B027 a workflow without surroundings has no use of it
        """The objects around are like that now."""

    def take_over(self, before: FrameSolver) -> None:  # noqa: B027 as above
        """Go on from another one of the same binding, which is not used any more."""


class LiveFrames:
    """Shows single frames on the rigs of a run."""

    def __init__(
        self,
        rigs: Sequence,
        solver: FrameSolver,
        keyed: Sequence[np.ndarray],
        ways: Sequence[WayBack],
        before: LiveFrames | None,
    ):
        """keyed: of each rig (B, 3) bool, the channels that its live action holds.  ways: back to its source.
        before: what this takes over from; it is not to be used any more."""
        self._solver, self._ways = solver, ways
        if before is not None and before._solver is not solver:
            solver.take_over(before._solver)
        self._writers = [
            PoseWriter.of(ob, original.rig, mask | solver.solvable(number))
            for number, (ob, original, mask) in enumerate(zip(rigs, solver.problem.originals, keyed, strict=True))
        ]

    def show(
        self, rigs: Sequence, scene, depsgraph, path: str, states: Sequence[ObjectState], solution: RigSolution | None
    ) -> None:
        """Solve the scene's present frame among objects as they are now, and show it.

        path: of the influence, from a rig's object.  solution: of all frames, where they were solved for these objects:
        that is shown instead.
        """
        if solution is None:
            self._solver.look(states)
        frame = scene.frame_current_final
        for number, (ob, writer, way) in enumerate(zip(rigs, self._writers, self._ways, strict=True)):
            if way.is_source(frame):
                continue  # which plays there whatever is solved
            rows, share = rows_at(frame, way.frames)
            influence = factor_now(ob, path, depsgraph)
            values = self._channels(number, rows[0], influence, solution)
            if share:
                # Curves go straight from one key to the next, whose rotation is written nearest to the one before.
                after = self._channels(number, rows[1], influence, solution, values[1])
                values = tuple((1.0 - share) * a + share * b for a, b in zip(values, after, strict=True))
            writer.write(ob, depsgraph, tuple(part.astype(np.float32) for part in values))

    def _channels(self, number: int, row: int, influence: float, solution, start: np.ndarray | None = None) -> Channels:
        """row: of the frames with those of the way back to the source."""
        way, frames = self._ways[number], self._solver.problem.frames
        bound = row - way.bound.start
        if 0 <= bound < len(frames):
            return self._bound(number, bound, influence, solution, start)
        end = 0 if bound < 0 else len(frames) - 1
        known = self._solver.problem.influences[number]
        if np.ptp(known):  # it is keyed, or driven: what counts is how far it goes at the end of the range
            influence = float(known[end])
        fade = way.fades[0 if bound < 0 else 1]
        changed = self._bound(number, end, influence, solution)
        return tuple(part[row if bound < 0 else bound - len(frames)] for part in fade.channels(changed))

    def _bound(self, number: int, row: int, influence: float, solution, start: np.ndarray | None = None) -> Channels:
        if solution is not None:
            return self._solver.solved_channels(solution, number, row, influence, start)
        return self._solver.channels(number, row, influence, start)


def rows_at(frame: float, frames: np.ndarray) -> tuple[list[int], float]:
    """Rows of a track that a scene frame lies between, or the one that it is at, and how far it is on the way."""
    place = np.clip(np.interp(frame, frames, np.arange(len(frames))), 0, len(frames) - 1)
    row = int(place)
    share = float(place - row)
    return ([row], 0.0) if share < 1e-6 else ([row, row + 1], share)


def row_at(frame: float, frames: np.ndarray) -> int | None:
    """The row of a track at a scene frame, None between rows and outside."""
    row = int(np.searchsorted(frames, frame - 1e-4))
    return row if row < len(frames) and abs(frames[row] - frame) < 1e-4 else None
