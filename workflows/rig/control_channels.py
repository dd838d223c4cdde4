"""Single rows of a result as channels of controls: in closed form, fast enough for a drag.

Controls that ride on a carrier go where that is solved to be; the others stay as they were fitted last, until the
whole track is fitted again.
"""

from __future__ import annotations

import numpy as np

from ...solvers.controls.blending import blended
from ...solvers.controls.channels import Stepper, taken
from ...solvers.controls.closed_form import carried_channels
from ...solvers.controls.trial import ControlChannels
from ...solvers.rotations import frame_quaternions as quat
from ...solvers.rotations.channels import matrix_to_quaternion, quaternion_to_matrix
from ...solvers.skeleton.hierarchy import carriers
from .control_result import ControlResult
from .source import Source


class ControlChannelsNow:
    """Channels of controls for solved joints, a row at a time. solvable: see ``JointChannels``."""

    def __init__(self, source: Source, object_turns: np.ndarray, written: ControlResult):
        """object_turns: (F, 3, 3), as for ``adapted_motion``.  written: of a solution of the same binding."""
        self.solvable, self._written = written.solvable, written
        controls, problem = written.controls, written.problem
        self._stepper = Stepper.of(controls, problem.variables, problem.size)
        heads = np.flatnonzero(source.bones >= 0)
        own = carriers(source.motion_parents, source.bones[heads])[controls.carriers]
        self._moved = np.flatnonzero(own < len(heads))
        self._owners = heads[own[self._moved]]
        bones = controls.carriers[self._moved]
        self._offsets = source.whole.positions[:, bones] - source.track.positions[:, self._owners]
        self._turned_back = matrix_to_quaternion(np.swapaxes(object_turns, -1, -2))
        self._world, self._pose = source.motion.object_world, source.motion.pose[:, controls.carriers]

    def channels(
        self, row: int, positions: np.ndarray, turns: np.ndarray, influence: float, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``JointChannels.channels``."""
        written, some = self._written, np.array([row])
        found = carried_channels(
            written.controls,
            self._stepper,
            taken(written.fit.channels, some),
            written.fit.pose[some],
            self._targets(row, positions, turns)[None],
            written.controls.riders[written.problem.state[row]],
            written.fit.still[row],
        )
        return _spread(written, found, row, influence)

    def _targets(self, row: int, positions: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """(K, 4, 4) armature space, where the carriers are to be."""
        out, world = self._pose[row].copy(), self._world[row]
        carried = quat.mul(turns[self._owners], self._turned_back[row : row + 1])
        heads = positions[self._owners] + quat.rotate(carried, self._offsets[row])
        unit = world[:3, :3] / np.linalg.norm(world[:3, :3], axis=0)
        turned = unit.T @ quaternion_to_matrix(carried) @ unit
        out[self._moved, :3, :3] = turned @ out[self._moved, :3, :3]
        out[self._moved, :3, 3] = np.linalg.solve(world[:3, :3], (heads - world[:3, 3]).T).T
        return out


def written_channels(written: ControlResult, row: int, influence: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Location (B, 3), rotation (B, 4) in each bone's mode and scale (B, 3) as they were fitted."""
    return _spread(written, taken(written.fit.channels, np.array([row])), row, influence)


def _spread(written: ControlResult, found: ControlChannels, row: int, influence: float):
    """Channels of one frame, blended with the source's, as those of all bones."""
    controls = written.controls
    shown = blended(taken(written.problem.source, np.array([row])), found, np.array([influence]), controls.modes)
    out = tuple(part[row].copy() for part in written.original.channels())
    for whole, part in zip(out, (shown.location, shown.rotation, shown.scale), strict=True):
        whole[controls.controls] = part[0]
    return out
