"""How carriers answer to steps of single variables, by finite differences: different ones at different frames.

One evaluation of a clip measures as many columns as it has frames.  V variables, n frames, K carriers.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from .channels import Stepper, taken
from .closed_form import rigid
from .trial import ControlChannels, Trial

# Large against the rounding of single precision, small against what bends.
STEP = 0.01


@dataclass(frozen=True)
class Samples:
    """Rising frames (m,) at which a group (m,) of variables was stepped, and bones (m, K, 4, 4) then, rigid."""

    frames: np.ndarray
    groups: np.ndarray
    carried: np.ndarray


def measured(
    stepper: Stepper,
    channels: ControlChannels,
    frames: np.ndarray,
    bones: np.ndarray,
    groups: np.ndarray,
    repeats: int,
) -> Generator[Trial, np.ndarray, Samples]:
    """Steps each group of variables at `repeats` frames that are spread over the clip.

    channels: of n frames, whose indices in the whole clip are frames (n,).  groups: (G, 6 C) bool.
    """
    found = []
    for at, group in schedule(len(frames), len(groups), repeats):
        step = STEP * groups[group].reshape(len(at), -1, 6)
        pose = yield Trial(frames[at], stepper.step(taken(channels, at), step))
        found.append((at, group, rigid(pose[:, bones])))
    at, group, carried = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Samples(at, group, carried)


def schedule(frames: int, groups: int, repeats: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Passes over n frames: rising frames (m,) and the group (m,) stepped at each, every group at `repeats` frames.

    Where there are not so many frames every group is stepped at every one.
    """
    repeats = min(repeats, frames)
    slots = np.arange(groups * repeats)
    group, passes = slots % groups, -(-len(slots) // frames)
    if passes <= 1:
        return [(slots * frames // len(slots), group)] if len(slots) else []
    # Slot s at frame s mod n would meet the same frames again where n and the number of groups share a factor.
    at = (group * frames // groups + (slots // groups) * frames // repeats) % frames
    order = np.lexsort((group, at))
    at, group = at[order], group[order]
    turn = np.arange(len(at)) - np.searchsorted(at, at)
    return [(at[turn == k], group[turn == k]) for k in range(turn.max() + 1)]
