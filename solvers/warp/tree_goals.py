"""What a full-body warp is asked to do for a batch of frames; tree order, frames last, world space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Halfspaces:
    """K squared shortfalls of a distance along a direction.

    body, child, fraction: the sample lies on the way from joint ``body`` to its child (fraction 0: on a root itself).
    frame: (K,) index into the batch.  normal: (K, 3).  shortfall: (K,) metres to move along it.  weight: (K,).
    """

    body: np.ndarray
    child: np.ndarray
    fraction: np.ndarray
    frame: np.ndarray
    normal: np.ndarray
    shortfall: np.ndarray
    weight: np.ndarray

    def take(self, keep: np.ndarray, count: int) -> Halfspaces:
        """Those of the frames ``keep`` (indices into ``count`` frames), renumbered."""
        new = np.full(count, -1)
        new[keep] = np.arange(len(keep))
        rows = new[self.frame] >= 0
        parts = (self.body, self.child, self.fraction, new[self.frame], self.normal, self.shortfall, self.weight)
        return Halfspaces(*(part[rows] for part in parts))


class Obstacles(Protocol):
    """Half-spaces as a function of the joints (J, 3, F)."""

    def __call__(self, joints: np.ndarray) -> Halfspaces: ...

    def take(self, keep: np.ndarray) -> Obstacles: ...


@dataclass(frozen=True)
class LimitViolations:
    """How far each body's joint is outside its limits, world space, zero inside.

    back: (B, 3, F) rotation vector that would bring the body to where the limits clamp it.
    slope: (B, 3, 3, F) how ``back`` falls with a turn of the body: not by all of it, since the clamped pose follows.
    weight: m^2, of the squared angle.
    """

    back: np.ndarray
    slope: np.ndarray
    weight: float

    def take(self, keep: np.ndarray) -> LimitViolations:
        """Those of some of the frames."""
        return LimitViolations(self.back[..., keep], self.slope[..., keep], self.weight)


@dataclass(frozen=True)
class BodyViolations:
    """``LimitViolations`` of one frame, of the V bodies that are outside: body (V,), back (V, 3), slope (V, 3, 3)."""

    body: np.ndarray
    back: np.ndarray
    slope: np.ndarray
    weight: float


@dataclass(frozen=True)
class Goals:
    """The terms of the energy.

    offsets:   (J, 3, F) source vectors from parents to joints, already scaled, metres.
    targets:   (J, 3, F) metres.  affinity: (J, F) weight of a target's squared distance.
    stiffness: (B, F) m^2, of the squared angle between a body's turn and its parent's.
    facing:    (B, 4, F) quaternions, wanted turns.  facing_weight: (B, F) m^2.
    obstacles: None or half-spaces.  limits: None or a function of rotations (B, 4, F) and the frames' indices.
    frames:    (F,) index of each frame in the whole range, handed to ``limits``.
    """

    offsets: np.ndarray
    targets: np.ndarray
    affinity: np.ndarray
    stiffness: np.ndarray
    facing: np.ndarray
    facing_weight: np.ndarray
    frames: np.ndarray
    obstacles: Obstacles | None = None
    limits: Callable[[np.ndarray, np.ndarray], LimitViolations] | None = None

    def take(self, keep: np.ndarray | slice) -> Goals:
        """The same goals for some of the frames."""
        names = ("offsets", "targets", "affinity", "stiffness", "facing", "facing_weight", "frames")
        parts = {name: getattr(self, name)[..., keep] for name in names}
        if self.obstacles is not None:
            parts["obstacles"] = self.obstacles.take(keep)
        return replace(self, **parts)
