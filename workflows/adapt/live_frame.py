"""One frame of a live rig, solved by itself and shown over what the live action says."""

from __future__ import annotations

import numpy as np

from ...scene.influence import factor_now
from ...scene.pose_channels import PoseWriter
from ...scene.state_track import ObjectState
from ...solvers.adapt.frame import FrameAdapter
from ...solvers.adapt.solve import AdaptedMotion
from ...solvers.core.types import TriangleMesh
from ..environment.problem import Problem
from ..rig.action import INFLUENCE
from ..rig.frame_channels import AdaptedRows


class LiveFrame:
    """Arrays that stay the same while a user drags."""

    def __init__(self, ob, problem: Problem, adapter: FrameAdapter, rows: AdaptedRows, keyed, before: LiveFrame | None):
        """rows: of the problem.  keyed: (B, 3) bool, the channels that the live action holds.
        before: the one that this takes over from; it is not to be used any more."""
        self._problem, self._adapter = problem, adapter
        keyed = keyed | problem.source.solvable
        self._triangles = [mesh.triangles for mesh in problem.environment]
        self._writer = PoseWriter.of(ob, problem.source.motion.rig, keyed)
        self._meshes: list[tuple[ObjectState, TriangleMesh]] = []
        if before is not None and before._adapter is not adapter:
            adapter.take_over(before._adapter)
        self._rows = rows

    def show(self, ob, scene, depsgraph, states: list[ObjectState], adapted: AdaptedMotion | None) -> bool:
        """Solve the scene's present frame among objects as they are now; returns whether that changed the pose.

        adapted: all frames, where they were solved for these objects: that is shown instead.
        """
        if adapted is None:
            self._adapter.update(self._present(states))
        influence = factor_now(ob, INFLUENCE, depsgraph)
        rows, share = rows_at(scene.frame_current_final, self._problem.binding.track.frames)
        values = self._channels(rows[0], influence, adapted)
        if share:
            # Curves go straight from one key to the next, whose rotation is written nearest to the one before.
            after = self._channels(rows[1], influence, adapted, values[1])
            values = tuple((1.0 - share) * a + share * b for a, b in zip(values, after, strict=True))
        return self._writer.write(ob, depsgraph, tuple(part.astype(np.float32) for part in values))

    def _present(self, states: list[ObjectState]) -> list[TriangleMesh]:
        known = self._meshes or [(None, None)] * len(states)
        self._meshes = [
            (state, mesh if state is old else state.surface(triangles))
            for state, triangles, (old, mesh) in zip(states, self._triangles, known, strict=True)
        ]
        return [mesh for _, mesh in self._meshes]

    def _channels(self, row: int, influence: float, adapted, start: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        """Location (B, 3), rotation (B, 4) and scale (B, 3) of a row."""
        if adapted is not None:
            return self._rows.channels(row, adapted.positions[row], adapted.turns[row], influence, start)
        found = self._adapter.solve(row)
        return self._rows.channels(row, found.positions, found.turns, influence, start)


def rows_at(frame: float, frames: np.ndarray) -> tuple[list[int], float]:
    """Rows of a track that a scene frame lies between, or the one that it is at, and how far it is on the way."""
    place = np.clip(np.interp(frame, frames, np.arange(len(frames))), 0, len(frames) - 1)
    row = int(place)
    share = float(place - row)
    return ([row], 0.0) if share < 1e-6 else ([row, row + 1], share)
