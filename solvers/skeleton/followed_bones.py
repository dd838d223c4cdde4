"""Which of some bones of a rig follows which, as far as its hierarchy and its rest pose tell.

Generated rigs hang deform bones on mechanisms that lie where other deform bones lie.
"""

from __future__ import annotations

import numpy as np

from .rig import Rig

# Of the size of a rig: bones so near to each other at rest are one bone on two layers of the rig.
_COINCIDENT = 1e-4
_ALIGNED = 0.999


def followed_bones(rig: Rig, chosen: np.ndarray) -> np.ndarray:
    """(n,) the chosen bone (n,) that each follows in the rig, -1 for none.

    It is the nearest above that is chosen, or lies where a chosen one lies.
    """
    near = _COINCIDENT * rest_size(rig)
    heads, axes = rig.rest[:, :3, 3], rig.rest[:, :3, 1]
    first = _first_segments(rig, chosen, near)
    place = {int(bone): number for number, bone in enumerate(chosen)}
    out = np.full(len(chosen), -1)
    for number, bone in enumerate(chosen):
        at = rig.parents[bone]
        while at >= 0 and out[number] < 0:
            same = np.linalg.norm(heads[chosen] - heads[at], axis=1) < near
            same &= axes[chosen] @ axes[at] > _ALIGNED
            same[number] = False
            out[number] = place.get(int(at), int(same.argmax()) if same.any() else -1)
            at = rig.parents[at]
        # All that hangs on a part of a bone in several parts hangs on that bone.
        if out[number] >= 0 and first[out[number]] != first[number]:
            out[number] = first[out[number]]
    return out


def rest_size(rig: Rig) -> float:
    """The longest side of the box around the bones at rest."""
    tails = rig.rest[:, :3, 3] + rig.rest[:, :3, 1] * rig.lengths[:, None]
    return float(np.ptp(np.concatenate((rig.rest[:, :3, 3], tails)), axis=0).max())


def _first_segments(rig: Rig, chosen: np.ndarray, near: float) -> np.ndarray:
    """(n,) for each chosen bone (n,) the first of the parts of one bone of the rig that it is among, else itself."""
    heads, axes = rig.rest[:, :3, 3], rig.rest[:, :3, 1]
    away = heads[chosen] - heads[:, None]
    start = np.einsum("bnk,bk->bn", away, axes)
    aside = np.linalg.norm(away - start[..., None] * axes[:, None], axis=-1)
    end = start + rig.lengths[chosen]
    inside = (aside < near) & (axes @ axes[chosen].T > _ALIGNED)
    inside &= (start > -near) & (end < rig.lengths[:, None] + near)
    out = np.arange(len(chosen))
    for whole in np.flatnonzero(inside.sum(axis=1) > 1):
        parts = np.flatnonzero(inside[whole])
        if start[whole, parts].min() < near and end[whole, parts].max() > rig.lengths[whole] - near:
            out[parts] = parts[start[whole, parts].argmin()]
    return out
