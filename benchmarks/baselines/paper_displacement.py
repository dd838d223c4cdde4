"""The published way to transfer travel, for comparison: six numbers from frame to frame, added up; see rigid_transfer.

Errors of all frames before stay in the sum, so it drifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.transfer.pose_regression import PoseRegression
from solvers.transfer.rigid_motion import RigidPairs


@dataclass(frozen=True)
class PaperDisplacement:
    """regression: of translation and rotation vector of a step (6,), in the frame of the torso before it.

    rotation (3, 3) and place (3,) of the target at the first pair, where it starts.
    """

    regression: PoseRegression
    rotation: np.ndarray
    place: np.ndarray

    @classmethod
    def learn(cls, pairs: RigidPairs, kernel: str = "neural_network") -> PaperDisplacement:
        """Boukhayma et al. 2017, sections 4 and 5.2, with the paper's noise of 0.1.

        Raises InputError for fewer than two steps, and as ``PoseRegression.fit``.
        """
        same = np.flatnonzero(np.diff(pairs.clip) == 0)
        if len(same) < 2:
            raise InputError("Fewer than two steps to learn travel from; add pairs.")
        source = _steps(pairs.source_rotations, pairs.source_translations)[same]
        target = _steps(pairs.target_rotations, pairs.target_translations)[same]
        regression = PoseRegression.fit(source, target, kernel, 0.1)
        return cls(regression, pairs.target_rotations[0], pairs.target_translations[0])

    def apply(self, rotations: np.ndarray, translations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (F, 3, 3) and translations (F, 3) of the target, world, of those of the source, from the start."""
        steps = self.regression.predict(_steps(rotations, translations))
        turns = Rotation.from_rotvec(steps[:, 3:]).as_matrix()
        out = np.empty((len(rotations), 3, 3)), np.empty((len(rotations), 3))
        out[0][0], out[1][0] = self.rotation, self.place
        for frame, (turn, step) in enumerate(zip(turns, steps[:, :3], strict=True)):
            out[0][frame + 1] = out[0][frame] @ turn
            out[1][frame + 1] = out[1][frame] + out[0][frame] @ step
        return out


def _steps(rotations: np.ndarray, translations: np.ndarray) -> np.ndarray:
    """(F - 1, 6) translation and rotation vector of each step in the frame before it."""
    back = np.swapaxes(rotations[:-1], 1, 2)
    moved = np.einsum("fij,fj->fi", back, np.diff(translations, axis=0))
    return np.concatenate((moved, Rotation.from_matrix(back @ rotations[1:]).as_rotvec()), axis=1)
