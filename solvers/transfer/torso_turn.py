"""How a target's torso turns otherwise than its source's: learnt from what the source's torso does, or all of it.

A torso whose turn is copied leans as the source's does.  But a torso's frame is of its surface, and where a body bends,
the frame of one surface turns against its limbs by more or less than that of another; and a target may have a bearing
of its own.  Both show in the shape of the source's torso.  A body that leans as it lifts an arm, or as it strides,
shows it in its limbs alone; what those tell of other clips is mostly nothing, so they are asked where a clip that was
left out says that they know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from ..core.errors import InputError
from ..core.subsampling import evenly_spaced_indices
from ..regression.gaussian_process import NEURAL_NETWORK, GaussianProcess, checked_pairs, in_one_order
from ..regression.leave_one_out import leave_groups_out
from ..rotations.rotation_vectors import exp, log
from .pose_regression import SPREAD, PoseRegression

# Of the variance of the turns to be learnt: what of it is taken for noise, at least.  Clips tell it about the same way
# for many frames, and pairs are off by a frame.
_NOISE = 0.3
# How far from the nearest pose that was learnt from, in spreads of those, half of a turn is left.  Beyond, poses are
# of a kind that nobody has shown, and what was learnt goes on wrong: a dance came out farther off than copied.
_FAR = 1.5
# Limbs are asked as well where the squares of what a clip that was left out is missed by fall to this share.
_TELLS = 0.6
# A single clip is left out in so many stretches; and that is asked of so many frames, evenly spaced, at most.
_STRETCHES, _ASKED = 5, 400


@dataclass(frozen=True)
class TorsoTurn:
    """regression: from rows of the source to rotation vectors, radians, in the frame of the target's torso.
    whole: whether from the rows of all its parts; else the torso's."""

    regression: PoseRegression
    whole: bool = False

    @classmethod
    def learn(
        cls, rows: Sequence[np.ndarray], copied: np.ndarray, wanted: np.ndarray, clip: np.ndarray
    ) -> TorsoTurn | None:
        """Of the source's parts (n, D_k), the torso first, of its turn as copied (n, 3, 3) and as the target has it
        (n, 3, 3), world; clip (n,): number of the clip that each is of, in order of time.

        None where the source's torso is stiff, or always the same, and limbs tell nothing.  Turns are told in the
        torso's frame, so a turn of the world, about gravity or any other axis, changes nothing of what is learnt; and
        they are regressed towards none, so what few pairs say, or poses far from theirs ask for, is nearly as copied.
        """
        vectors = log(np.swapaxes(copied, 1, 2) @ wanted)
        groups = clip if clip.any() else np.arange(len(clip)) * _STRETCHES // len(clip)
        torso, torso_missed = _towards_none(rows[0], vectors, groups)
        whole, missed = _towards_none(np.concatenate(rows, axis=1), vectors, groups)
        if whole is not None and missed < _TELLS * torso_missed:
            return cls(whole, True)
        return None if torso is None else cls(torso)

    def turns(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """Rotations (F, 3, 3) in the frame of the target's torso, to follow what is copied, at the source's parts
        (F, D_k)."""
        regression, seen = self.regression, np.concatenate(rows, axis=1) if self.whole else rows[0]
        away = self._known.query((seen - regression.input_mean) / regression.input_scale)[0] / np.sqrt(seen.shape[1])
        return exp(regression.predict(seen) / (1.0 + (away[:, None] / _FAR) ** 4))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All that is needed to build the same again."""
        return self.regression.to_arrays() | {"whole": np.array(int(self.whole))}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TorsoTurn:
        """Of what ``to_arrays`` gave; of earlier versions, that of the torso."""
        return cls(PoseRegression.from_arrays(arrays), bool(arrays.get("whole", False)))

    @cached_property
    def _known(self) -> cKDTree:
        """Of the poses that were learnt from, scaled."""
        return cKDTree(self.regression.process.rows)


def _towards_none(rows: np.ndarray, vectors: np.ndarray, groups: np.ndarray) -> tuple[PoseRegression | None, float]:
    """Like ``PoseRegression.fit``, but of outputs about zero, not about their mean; and the mean square of what it
    misses, radians, where a group at a time is not learnt from.  None, and that of no turn at all, where rows (n, D)
    tell nothing."""
    try:
        if not rows.shape[1]:
            raise InputError("The part is stiff.")
        inputs, outputs = in_one_order(*checked_pairs(rows, vectors))
    except InputError:
        return None, float(np.mean(vectors**2))
    middle = inputs.mean(axis=0)
    scale, size = (float(np.sqrt(np.mean(values**2))) or 1.0 for values in (inputs - middle, outputs))
    process = GaussianProcess.fit((inputs - middle) / scale, outputs / size, NEURAL_NETWORK, _NOISE, spread=SPREAD)
    some = evenly_spaced_indices(len(rows), _ASKED)
    given = (rows[some] - middle) / scale
    covariances = process.kernel.prepared(given)(given) + process.noise * np.eye(len(given))
    missed = leave_groups_out(covariances, vectors[some], groups[some])
    return PoseRegression(middle, scale, np.zeros(vectors.shape[1]), size, process), float(np.mean(missed**2))
