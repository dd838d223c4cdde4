"""Feet that slide over the ground in the take itself, as those of a walk in place that was given another speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .binding import Binding
from .stances import feet

# How much a foot touches the ground in the frames that are looked at; the share of these in which it slides; metres at
# 1.8 m that it slides in one go, below which nobody sees it.
_DOWN, _MOST, _FAR = 0.98, 0.5, 0.25


@dataclass(frozen=True)
class SlidingFoot:
    """joint: the first of the foot.  share: of the frames in which it is on the ground that it slides in.
    metres: how far at most before it is lifted."""

    joint: int
    share: float
    metres: float


def sliding_feet(binding: Binding, number: int) -> list[SlidingFoot]:
    """Of the feet that are on an object, which did not move, those that slide most of the time."""
    out = []
    for foot in feet(binding):
        joints = np.flatnonzero(foot & binding.effectors)
        down = binding.contact[number][:, joints] > _DOWN
        on = down.any(axis=1)
        if not on.any():
            continue
        share = 1.0 - float((down & binding.slow[number][:, joints]).any(axis=1)[on].mean())
        steps = np.linalg.norm(np.diff(binding.track.positions[:, joints], axis=0), axis=-1)
        # A foot that rolls rests on one of its joints.
        steps = np.where(down[1:] & down[:-1], steps, np.inf).min(axis=1)
        way = np.concatenate(([0.0], np.cumsum(np.where(np.isfinite(steps), steps, 0.0))))
        ends = np.flatnonzero(np.diff(on, prepend=False, append=False)).reshape(-1, 2)
        metres = float((way[ends[:, 1] - 1] - way[ends[:, 0]]).max())
        if share > _MOST and metres > _FAR * binding.scale:
            out.append(SlidingFoot(int(joints[0]), share, metres))
    return out
