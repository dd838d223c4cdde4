"""What a rig did when its controls were posed one after the other, as relations between its bones.

C controls, B bones, S states of switches, G groups of controls that were posed together, P switches.  A control is
moved by its location, first of each 2, and turned by its rotation, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol

import numpy as np

from ..skeleton.rig import Rig

_SAME = 1e-3  # radians, and as much of the rig's size: less is rounding and the error of iterated constraints


class Probed(Protocol):
    """What has the fields of ``MeasuredPoses``, whatever else it has."""

    rig: Rig
    controls: np.ndarray


@dataclass(frozen=True)
class MeasuredPoses:
    """rig: all bones.  controls: (C,) bones, rising.  free: (C, 6) bool.  keyed: (C, 2) bool, whether the
    motion moves and turns each.
    switches: P data paths.  switched: (P, B) bool, bones whose constraints each acts on.  limb_switches: (P,) bool.
    ends: (P, 2) their values at either end.  states: (S, P).  occurring: (N, P) values in the motion.
    base, other: (S, B, 4, 4) armature space, in two poses of all controls.  posed: (S, G, B, 4, 4) as base, but with
    the controls of one group posed otherwise.
    groups: (2, C) int, the group in which each is moved and that in which it is turned, -1 where it cannot be.
    reached: (C, B) bool, bones that a control may move; none twice in a group.
    deform: (B,) bool.  plan: (B,) parents of carriers where they are known, -1 for a root, -2 for no carrier, or None.
    """

    rig: Rig
    controls: np.ndarray
    free: np.ndarray
    keyed: np.ndarray
    switches: tuple[str, ...]
    switched: np.ndarray
    limb_switches: np.ndarray
    ends: np.ndarray
    states: np.ndarray
    occurring: np.ndarray
    base: np.ndarray
    other: np.ndarray
    posed: np.ndarray
    groups: np.ndarray
    reached: np.ndarray
    deform: np.ndarray
    plan: np.ndarray | None

    @classmethod
    def of(cls, probe: Probed) -> MeasuredPoses:
        return cls(**{field.name: getattr(probe, field.name) for field in fields(cls)})

    @cached_property
    def size(self) -> float:
        """Length of the longest side of the rest skeleton's box, the rig's unit."""
        return float(np.ptp(self.rig.rest[:, :3, 3], axis=0).max()) or float(self.rig.lengths.max())

    @cached_property
    def _base(self) -> Placed:
        return Placed.of(self.base, self.size)

    @cached_property
    def _other(self) -> Placed:
        return Placed.of(self.other, self.size)

    @cached_property
    def _posed(self) -> Placed:
        return Placed.of(self.posed, self.size)

    @cached_property
    def carries(self) -> np.ndarray:
        """(S, 2, C, B) bool, whether a control moves a bone."""
        turned = np.abs(self._base.axes[:, None] - self._posed.axes).max(axis=(-1, -2))
        moved = np.abs(self._base.heads[:, None] - self._posed.heads).max(axis=-1)
        return (np.maximum(turned, moved) > _SAME)[:, self.groups] & self.reached & (self.groups >= 0)[..., None]

    @cached_property
    def moves(self) -> np.ndarray:
        """(S, C, B) bool, the same in either way."""
        return self.carries.any(axis=1)

    def may_be_rigid(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """(S, n) bool: whether bones first (n,) lie alike in the axes of second (n,) in both poses of all controls."""
        before, after = (placed.relative(first, second) for placed in (self._base, self._other))
        return before.change(after) <= _SAME

    def loosened_by_own(self, way: int, controls: np.ndarray, bones: np.ndarray) -> np.ndarray:
        """(S, n) bool: whether a control, (n,) of C, parts bones (n,) from itself as it is moved (0) or turned (1)."""
        first, groups = self.controls[controls], self.groups[way, controls]
        here, there = (
            Placed(self._posed.axes[:, groups, each], self._posed.heads[:, groups, each]) for each in (bones, first)
        )
        return self._base.relative(bones, first).change(here.seen_from(there)) > _SAME

    def loosened(self, first: np.ndarray, second: np.ndarray, axis_alone: bool = False) -> np.ndarray:
        """(S, n, G) bool: whether posing a group changes how bones first (n,) lie in the axes of second (n,).

        axis_alone: a roll of the first about its length does not count.
        """
        before = self._base.relative(first, second)
        out = np.empty((len(self.states), len(first), self.posed.shape[1]), bool)
        for group in range(self.posed.shape[1]):
            posed = Placed(self._posed.axes[:, group], self._posed.heads[:, group])
            out[..., group] = before.change(posed.relative(first, second), axis_alone) > _SAME
        return out

    def loosened_by(self, first: np.ndarray, second: np.ndarray, axis_alone: bool = False) -> np.ndarray:
        """(S, n, 2, C) bool: as `loosened`, by which control as it is moved or turned."""
        by_group = self.loosened(first, second, axis_alone)[..., self.groups]
        reached = (self.reached[:, first] | self.reached[:, second]).T
        return by_group & reached[:, None] & (self.groups >= 0)


@dataclass(frozen=True)
class Placed:
    """axes: (..., B, 3, 3) of length one.  heads: (..., B, 3) in units of the rig's size."""

    axes: np.ndarray
    heads: np.ndarray

    @classmethod
    def of(cls, matrices: np.ndarray, size: float) -> Placed:
        axes = matrices[..., :3, :3].astype(float)
        lengths = np.linalg.norm(axes, axis=-2, keepdims=True)
        return cls(axes / np.where(lengths > 0.0, lengths, 1.0), matrices[..., :3, 3].astype(float) / size)

    def relative(self, first: np.ndarray, second: np.ndarray) -> Placed:
        """Bones first (n,) in the axes of second (n,)."""
        here, there = (Placed(self.axes[..., bones, :, :], self.heads[..., bones, :]) for bones in (first, second))
        return here.seen_from(there)

    def seen_from(self, other: Placed) -> Placed:
        inverse = np.swapaxes(other.axes, -1, -2)
        return Placed(inverse @ self.axes, (inverse @ (self.heads - other.heads)[..., None])[..., 0])

    def change(self, other: Placed, axis_alone: bool = False) -> np.ndarray:
        """(..., B) the greatest difference, of their second axes and heads where those alone count."""
        columns = slice(1, 2) if axis_alone else slice(None)
        turned = np.abs(self.axes - other.axes)[..., columns].max(axis=(-1, -2))
        return np.maximum(turned, np.abs(self.heads - other.heads).max(axis=-1))
