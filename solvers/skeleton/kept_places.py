"""Which bones ride on a body without hanging on it: sockets, targets and props that keep a place by one of its bones.

A pose is (F, B, 4, 4) in armature space; sizes are in the rig's units.  What moves with what: see ``hung_bones``.
"""

from __future__ import annotations

import numpy as np

from ..core.subsampling import strided
from .hierarchy import carriers
from .rig import Rig

# Shares of the body's size: how far a kept place may stray, and how near to a bone that stands still it must be.
_STRAY, _NEAR = 0.02, 0.1
# Bones that differ less in how near they are lie in one place.
_SAME = 0.002
# A part with more than this share of the body's bones is no prop.
_PROP = 0.25
# Frames looked at.
_LOOKED_AT = 32


def riding_parents(
    rig: Rig, motion_parents: np.ndarray, pose: np.ndarray, solved: np.ndarray, free: np.ndarray, size: float
) -> np.ndarray:
    """(B,) the bone that each bone moves with, where all that keeps a place by a solved bone rides on that one.

    motion_parents: (B,).  solved: (K,) bones, parents first.  free: (B,) bool, bones that may ride.  What is above
    solved bones stays in one piece: above the one that carries most it goes along with that.
    """
    out, own = motion_parents.copy(), carriers(motion_parents, solved)
    free = free & ~rig.use_connect
    free[rig.ancestry(solved)] = False
    free[np.concatenate([_line(motion_parents, bone) for bone in solved])] = False
    kept = _kept(rig, pose, np.flatnonzero(free), solved, size)
    for bone, row in zip(np.flatnonzero(free), kept, strict=True):  # parents come before their children
        before = own[out[bone]] if out[bone] >= 0 else len(solved)
        own[bone] = before
        if before == len(solved) or not np.isfinite(row[before]):
            if np.isfinite(row).any():
                nearest = np.flatnonzero(row <= row.min() + _SAME * size)[-1]  # of a wrist, the hand
                out[bone], own[bone] = solved[nearest], nearest
    return _masters_along(_masters_along(out, rig.parents, solved), motion_parents, solved)


def props(
    rig: Rig, motion_parents: np.ndarray, pose: np.ndarray, relevant: np.ndarray, carrying: np.ndarray, size: float
) -> np.ndarray:
    """(B,) bool: relevant bones that slide against what they hang on and keep a place by another bone, with all below.

    relevant, carrying: (B,) bool, bones of the body and those that carry skin or objects, which are no props.
    """
    heads = _some(pose)[..., :3, 3]
    parents = np.maximum(motion_parents, 0)
    slides = np.ptp(np.linalg.norm(heads - heads[:, parents], axis=-1), axis=0) > _STRAY * size
    slides &= (motion_parents >= 0) & relevant & ~carrying & ~rig.use_connect
    out = np.zeros(len(relevant), bool)
    for bone in np.flatnonzero(slides):
        part = _below(motion_parents, bone) & relevant
        if np.isfinite(_kept(rig, pose, np.array([bone]), motion_parents[[bone]], size)).all():
            continue  # it slides only because what it hangs on is sheared
        rest = np.flatnonzero(relevant & ~part & ~slides & (_some(pose).std(axis=0).max(axis=(1, 2)) > 0.0))
        if (part & carrying).any() or part.sum() > _PROP * relevant.sum() or not rest.size:
            continue
        out |= part & np.isfinite(_kept(rig, pose, np.array([bone]), rest, size)).any()
    return out


def _some(pose):
    return strided(pose, _LOOKED_AT)


def _below(parents, bone):
    """(B,) bool: a bone and all that moves with it."""
    at, out = np.arange(len(parents)), np.zeros(len(parents), bool)
    for _ in range(len(parents)):
        out |= at == bone
        at = np.where(at >= 0, parents[at], -1)
        if (at < 0).all():
            break
    return out


def _kept(rig: Rig, pose, bones, on, size) -> np.ndarray:
    """(C, K) distance of bones (C,) from others (K,), infinite where their heads keep no place in those frames.

    Beside a bone that stands still everything does that stands still: there only what is near counts.
    """
    pose = _some(pose)
    frames = np.linalg.pinv(pose[:, on][..., :3, :3])
    heads, starts = pose[:, bones][..., :3, 3], pose[:, on][..., :3, 3]
    places = np.einsum("fkab,fckb->fcka", frames, heads[:, :, None] - starts[:, None])
    stray = np.linalg.norm(places - np.median(places, axis=0), axis=-1).max(axis=0)
    axis = pose[:, on][..., :3, 1] * rig.lengths[on, None]
    tails = starts + axis
    moves = np.maximum(np.ptp(starts, axis=0).max(axis=-1), np.ptp(tails, axis=0).max(axis=-1)) > _STRAY * size
    away = heads[:, :, None] - starts[:, None]
    square = np.maximum(np.einsum("fka,fka->fk", axis, axis), 1e-24)
    along = np.clip(np.einsum("fcka,fka->fck", away, axis) / square[:, None], 0.0, 1.0)
    apart = np.median(np.linalg.norm(away - along[..., None] * axis[:, None], axis=-1), axis=0)
    allowed = (stray <= _STRAY * size) & (moves | (apart <= _NEAR * size))
    return np.where(allowed, apart, np.inf)


def _masters_along(out, above, solved) -> np.ndarray:
    """Parents ``out`` (B,), where what is above the solved bones moves with the one of them that carries most.

    above: (B,) parents that tell what is above what: the rig's, or of what moves together, which a rig of bones without
    parents has alone.
    """
    lines = {int(bone): _line(above, bone) for bone in solved}
    tops = [bone for bone, line in lines.items() if not np.isin(line[1:], solved).any()]
    weight = {bone: sum(bone in line for line in lines.values()) for bone in tops}
    out = out.copy()
    for bone in sorted(tops, key=weight.get, reverse=True):
        top = lines[bone][-1]
        if top != bone and out[top] < 0:
            out[top] = bone
    return out


def _line(parents, bone) -> list[int]:
    """A bone and all above it, the nearest first."""
    line = [int(bone)]
    while parents[line[-1]] >= 0:
        line.append(int(parents[line[-1]]))
    return line
