"""Residuals that only some samples or joints have, as lists over all frames of a batch (see ``energy``)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np


class _Listed:
    """K residuals. frame: (K,) index into the batch, 0 for a frame alone."""

    frame: np.ndarray

    def take(self, keep: np.ndarray, count: int):
        """Those of the frames ``keep`` (indices into ``count`` frames), renumbered."""
        new = np.full(count, -1)
        new[keep] = np.arange(len(keep))
        number = new[self.frame]
        kept = number >= 0
        parts = {field.name: getattr(self, field.name)[kept] for field in fields(self) if field.name != "frame"}
        return replace(self, frame=number[kept], **parts)


@dataclass(frozen=True)
class Halfspaces(_Listed):
    """Distances along a direction that samples of the body have to move.

    body, child, fraction: (K,) the sample lies on the way from joint ``body`` to its child (fraction 0: on a root
    itself).  normal: (K, 3) unit, world.  shortfall: (K,) metres to move along it.  weight: (K,).
    """

    body: np.ndarray
    child: np.ndarray
    fraction: np.ndarray
    frame: np.ndarray
    normal: np.ndarray
    shortfall: np.ndarray
    weight: np.ndarray

    def squares(self) -> np.ndarray:
        """(K,) weighted squared residuals."""
        return self.weight * self.shortfall**2

    def force(self) -> np.ndarray:
        """(K, 3) on the samples."""
        return (self.weight * self.shortfall)[:, None] * self.normal

    @property
    def carrier(self) -> np.ndarray:
        """(K,) the joint nearest above a sample, or at it, whose lever the force acts on."""
        return np.where(self.fraction == 1.0, self.child, self.body)


@dataclass(frozen=True)
class LimitViolations(_Listed):
    """Turns that bodies have to make against their parents (roots: against the world), world space.

    body: (K,), each frame's bodies once.  back: (K, 3) rotation vectors.  slope: (K, 3, 3) how ``back`` falls with a
    turn of the body: not by all of it where the goal follows.  weight: (K,) m^2, of the squared angle.
    """

    body: np.ndarray
    frame: np.ndarray
    back: np.ndarray
    slope: np.ndarray
    weight: np.ndarray

    def squares(self) -> np.ndarray:
        """(K,) weighted squared residuals."""
        return self.weight * np.einsum("vk,vk->v", self.back, self.back)

    def torque(self) -> np.ndarray:
        """(K, 3) on the bodies, world space."""
        return self.weight[:, None] * np.einsum("vka,vk->va", self.slope, self.back)

    def stiffness(self) -> np.ndarray:
        """(K, 3, 3) Gauss-Newton Hessian by the turns of the bodies against their parents."""
        return self.weight[:, None, None] * np.einsum("vka,vkb->vab", self.slope, self.slope)
