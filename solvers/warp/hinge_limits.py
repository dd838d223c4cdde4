"""Knees and elbows that do not bend backward, as a term of the warp."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..rotations import quaternions as quat
from .energy import Keep, SparseTerm, part
from .sparse_residuals import LimitViolations

WEIGHT = 20.0


@dataclass(frozen=True)
class HingeLimits(SparseTerm):
    """Springs that lead L bodies back to the least bend against their parents, about one axis each.

    body, parent: (L,) tree order.  axis: (L, 3, F) unit, world, in the source pose.  least: (L, F) radians by which the
    body may turn about it from there, backward, -inf where it is free.  weight: m^2, of the squared angle.
    """

    body: np.ndarray
    parent: np.ndarray
    axis: np.ndarray
    least: np.ndarray
    weight: float

    def take(self, keep: Keep) -> HingeLimits:
        return replace(self, axis=part(self.axis, keep), least=part(self.least, keep))

    def residual(self, tree, pose, quats) -> LimitViolations:
        above = pose.rotations[self.parent]
        between = quats.conj_mul(above, pose.rotations[self.body])
        # Frames last from here, one where there is no such axis.
        count = len(self.body)
        above, between = (q.reshape(count, 4, -1) for q in (above, between))
        axis, least = self.axis.reshape(count, 3, -1), self.least.reshape(count, -1)
        # The twist about the axis (swing-twist decomposition), between half turns to either side.
        sine, cosine = np.einsum("lkf,lkf->lf", between[:, 1:], axis), between[:, 0]
        angle = 2.0 * np.arctan2(np.where(cosine < 0, -sine, sine), np.abs(cosine))
        limb, frame = np.nonzero(angle < least)
        turned = quat.rotate(above[limb, :, frame].T, axis[limb, :, frame].T).T
        back = (least - angle)[limb, frame, None] * turned
        slope = turned[:, :, None] * turned[:, None, :]
        return LimitViolations(self.body[limb], frame, back, slope, np.full(len(limb), self.weight))
