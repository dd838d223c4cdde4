"""How far contacts slide along what they touch: a foot that glides over a tread is as near to it as before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..surface.track import SurfaceTrack
from .binding import Binding
from .standing import moved_at_bind


def slides(
    binding: Binding,
    positions: np.ndarray,
    surfaces: Sequence[SurfaceTrack],
    nearest: tuple[np.ndarray, np.ndarray],
    size: float,
) -> np.ndarray:
    """(O, F, J) metres that each contact has gone along its object since it began, beyond what it does in the source.

    positions: (F, J, 3) of the result.  surfaces: the changed objects.  nearest: their places (O, F, J, 3) nearest to
    the joints, and the triangles (O, F, J) of these, -1 beyond reach.  size: of the character against bind.
    NaN where a joint does not touch, and of objects that moved at bind: how they did is not known.
    """
    out = np.full(binding.touched.shape, np.nan)
    steps = np.diff(positions, axis=0)
    before = np.diff(binding.track.positions, axis=0)
    for number, (surface, closest, triangle) in enumerate(zip(surfaces, *nearest, strict=True)):
        if moved_at_bind(binding, number):
            continue
        touched = binding.touched[number]
        own, now = (_away(each, touched) for each in (before, steps - _carried(surface, closest, triangle)))
        out[number] = np.where(touched, np.maximum(now - size * own, 0.0), np.nan)
    return out


def _carried(surface: SurfaceTrack, closest: np.ndarray, triangle: np.ndarray) -> np.ndarray | float:
    """(F - 1, J, 3) steps of an object's places (F, J, 3) on triangles (F, J); 0 of one that stands still."""
    mesh = surface.mesh
    if mesh.is_static:
        return 0.0
    out = np.zeros((len(closest) - 1, *closest.shape[1:]))
    frame, joint = np.nonzero(triangle[:-1] >= 0)
    corners = mesh.triangles[triangle[frame, joint]]
    here, there = mesh.vertices[frame[:, None], corners], mesh.vertices[frame[:, None] + 1, corners]
    edges = here[:, 1:] - here[:, :1]
    gram = np.einsum("mik,mjk->mij", edges, edges)
    right = np.einsum("mik,mk->mi", edges, closest[frame, joint] - here[:, 0])
    share = np.einsum("mij,mj->mi", np.linalg.pinv(gram), right)
    share = np.column_stack((1.0 - share.sum(axis=1), share))
    out[frame, joint] = np.einsum("mk,mkc->mc", share, there - here)
    return out


def _away(steps: np.ndarray, touched: np.ndarray) -> np.ndarray:
    """(F, J) metres from where each run of contacts (F, J) bool began, of steps (F - 1, J, 3)."""
    way = np.concatenate((np.zeros((1, *steps.shape[1:])), np.cumsum(steps, axis=0)))
    rows = np.arange(len(touched))[:, None]
    begins = touched & ~np.concatenate((np.zeros((1, touched.shape[1]), bool), touched[:-1]))
    first = np.maximum.accumulate(np.where(begins, rows, 0), axis=0)
    return np.linalg.norm(way - np.take_along_axis(way, first[..., None], axis=0), axis=-1)
