"""What a rig did when its controls were posed one after the other, as relations between its bones.

C controls, B bones, S states of switches, G groups of controls that were posed together, P switches.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol

import numpy as np

from ..skeleton.rig import Rig

_TURNED = 2e-3  # radians, and as much of the rig's size: less is rounding and the error of iterated constraints


class Probed(Protocol):
    """What has the fields of ``MeasuredPoses``, whatever else it has."""

    rig: Rig
    controls: np.ndarray


@dataclass(frozen=True)
class MeasuredPoses:
    """rig: all bones.  controls: (C,) bones, rising.  free: (C, 6) bool.  keyed: (C,) bool, by the motion.
    switches: P data paths.  switched: (P, B) bool, bones whose constraints each acts on.  limb_switches: (P,) bool.
    ends: (P, 2) their values at either end.  states: (S, P).
    base: (S, B, 4, 4) armature space.  posed: (S, G, B, 4, 4) with the controls of one group posed otherwise.
    groups: (C,) int.  reached: (C, B) bool, bones that a control may move; none twice in a group.
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
    base: np.ndarray
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
    def _frames(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Axes of length one (..., B, 3, 3) and heads (..., B, 3) in units of the size, of base and of posed."""
        return *_split(self.base, self.size), *_split(self.posed, self.size)

    @cached_property
    def moves(self) -> np.ndarray:
        """(S, C, B) bool, whether a control moves a bone."""
        turn, head, turned, moved = self._frames
        stirred = _apart(turn[:, None], turned).max(axis=(-1, -2)) > _TURNED
        stirred |= np.abs(head[:, None] - moved).max(axis=-1) > _TURNED
        return stirred[:, self.groups] & self.reached

    def loosened(self, first: np.ndarray, second: np.ndarray, axis_alone: bool = False) -> np.ndarray:
        """(S, n, G) bool: whether posing a group changes how bones first (n,) lie in the axes of second (n,).

        axis_alone: a roll of the first about its length does not count.
        """
        turn, head, turned, moved = self._frames
        before = _relative(turn[:, second], head[:, second], turn[:, first], head[:, first])
        out = np.empty((len(self.states), len(first), self.posed.shape[1]), bool)
        for group in range(self.posed.shape[1]):
            here, there = turned[:, group], moved[:, group]
            after = _relative(here[:, second], there[:, second], here[:, first], there[:, first])
            columns = slice(1, 2) if axis_alone else slice(None)
            change = np.abs(after[0][..., columns] - before[0][..., columns]).max(axis=(-1, -2))
            out[..., group] = np.maximum(change, np.abs(after[1] - before[1]).max(axis=-1)) > _TURNED
        return out

    def loosened_by(self, first: np.ndarray, second: np.ndarray, axis_alone: bool = False) -> np.ndarray:
        """(S, n, C) bool: as `loosened`, by which control."""
        by_group = self.loosened(first, second, axis_alone)[..., self.groups]
        return by_group & (self.reached[:, first] | self.reached[:, second]).T


def _split(matrices: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    axes = matrices[..., :3, :3].astype(float)
    lengths = np.linalg.norm(axes, axis=-2, keepdims=True)
    return axes / np.where(lengths > 0.0, lengths, 1.0), matrices[..., :3, 3].astype(float) / size


def _apart(turn: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.abs(turn - other)


def _relative(turn, head, of_turn, of_head) -> tuple[np.ndarray, np.ndarray]:
    inverse = np.swapaxes(turn, -1, -2)
    return inverse @ of_turn, (inverse @ (of_head - head)[..., None])[..., 0]
