"""Channels of controls between those of the source and those that were fitted."""

from __future__ import annotations

import numpy as np

from ..rotations import channels as turns
from .trial import ControlChannels

_ANGLES = frozenset(turns.EULER_ORDERS)


def blended(
    source: ControlChannels, fitted: ControlChannels, share: np.ndarray, modes: tuple[str, ...]
) -> ControlChannels:
    """Channels by the share (F,) of the fitted ones: 0 and 1 give source and fitted exactly.

    modes: C rotation modes.  Angles, locations and scales go straight, quaternions and axes as well and keep the
    lengths that they go between: what animators see of curves that are blended channel by channel.
    """
    t = share[:, None, None]
    rotation = (1.0 - t) * source.rotation + t * fitted.rotation
    for mode in set(modes) - _ANGLES:
        own = np.flatnonzero(np.array(modes) == mode)
        rotation[:, own] = _vectors(source.rotation[:, own], fitted.rotation[:, own], share, mode)
    found = ControlChannels(
        (1.0 - t) * source.location + t * fitted.location, rotation, (1.0 - t) * source.scale + t * fitted.scale
    )
    for rows, other in ((share == 0.0, source), (share == 1.0, fitted)):
        for part in ("location", "rotation", "scale"):
            getattr(found, part)[rows] = getattr(other, part)[rows]
    return found


def _vectors(start: np.ndarray, end: np.ndarray, share: np.ndarray, mode: str) -> np.ndarray:
    """Between quaternions, or angles with their axes, (F, n, 4), the shorter way round."""
    own = slice(0, 4) if mode == "QUATERNION" else slice(1, 4)
    t = share[:, None, None]
    facing = np.where((start[..., own] * end[..., own]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    out = (1.0 - t) * start + t * facing * end
    sizes = [np.linalg.norm(each[..., own], axis=-1, keepdims=True) for each in (start, end, out)]
    size = (1.0 - t) * sizes[0] + t * sizes[1]
    out[..., own] *= size / np.where(sizes[2] > 0.0, sizes[2], 1.0)
    return out
