"""How a target's torso turns otherwise than its source's: learnt from what the source's torso does.

A torso whose turn is copied leans as the source's does.  But a torso's frame is of its surface, and where a body bends,
the frame of one surface turns against its limbs by more or less than that of another; and a target may have a bearing
of its own.  Both show in the shape of the source's torso.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from ..core.errors import InputError
from ..regression.gaussian_process import NEURAL_NETWORK, GaussianProcess, checked_pairs, in_one_order
from ..rotations.rotation_vectors import exp, log
from .pose_regression import SPREAD, PoseRegression

# Of the variance of the turns to be learnt: what of it is taken for noise, at least.  Clips tell it about the same way
# for many frames, and pairs are off by a frame.
_NOISE = 0.3
# How far from the nearest pose that was learnt from, in spreads of those, half of a turn is left.  Beyond, poses are
# of a kind that nobody has shown, and what was learnt goes on wrong: a dance came out farther off than copied.
_FAR = 1.5


@dataclass(frozen=True)
class TorsoTurn:
    """regression: from rows of the source's torso to rotation vectors, radians, in the frame of the target's torso."""

    regression: PoseRegression

    @classmethod
    def learn(cls, rows: np.ndarray, copied: np.ndarray, wanted: np.ndarray) -> TorsoTurn | None:
        """Of the source's torso (n, D), of its turn as copied (n, 3, 3) and as the target has it (n, 3, 3), world.

        None where the source's torso is stiff, or always the same: nothing tells then.  Turns are told in the torso's
        frame, so a turn of the world, about gravity or any other axis, changes nothing of what is learnt; and they are
        regressed towards none, so what few pairs say, or poses far from theirs ask for, is nearly as it is copied.
        """
        vectors = log(np.swapaxes(copied, 1, 2) @ wanted)
        try:
            return cls(_towards_none(rows, vectors)) if rows.shape[1] else None
        except InputError:
            return None

    def turns(self, rows: np.ndarray) -> np.ndarray:
        """Rotations (F, 3, 3) in the frame of the target's torso, to follow what is copied, at rows (F, D)."""
        regression = self.regression
        away = self._known.query((rows - regression.input_mean) / regression.input_scale)[0] / np.sqrt(rows.shape[1])
        return exp(regression.predict(rows) / (1.0 + (away[:, None] / _FAR) ** 4))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All that is needed to build the same again."""
        return self.regression.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TorsoTurn:
        """Of what ``to_arrays`` gave."""
        return cls(PoseRegression.from_arrays(arrays))

    @cached_property
    def _known(self) -> cKDTree:
        """Of the poses that were learnt from, scaled."""
        return cKDTree(self.regression.process.rows)


def _towards_none(rows: np.ndarray, vectors: np.ndarray) -> PoseRegression:
    """Like ``PoseRegression.fit``, but of outputs about zero, not about their mean."""
    rows, vectors = in_one_order(*checked_pairs(rows, vectors))
    middle = rows.mean(axis=0)
    scale, size = (float(np.sqrt(np.mean(values**2))) or 1.0 for values in (rows - middle, vectors))
    process = GaussianProcess.fit((rows - middle) / scale, vectors / size, NEURAL_NETWORK, _NOISE, spread=SPREAD)
    return PoseRegression(middle, scale, np.zeros(vectors.shape[1]), size, process)
