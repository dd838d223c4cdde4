"""Whether a clip is its subject in a mirror: no turn undoes that, so its poses would be read as others."""

from __future__ import annotations

import numpy as np

from ..core.subsampling import evenly_spaced
from .subject import Subject

# Edges, frames and captured meshes, evenly spaced, that are looked at.
_EDGES, _FRAMES, _CAPTURED = 4000, 24, 32
# Cosine between folds that tells one hand from the other; below it, a body such as a sheet folds both ways.
_TOLD = 0.5
_TINY = 1e-12


def is_mirrored(vertices: np.ndarray, subject: Subject) -> bool:
    """Of frames (F, V, 3), any unit, against the subject's captured meshes.

    Folds along edges are compared, ridges against valleys: a mirror turns each into the other, and poses turn few.
    The median over frames decides.  False where it is undetermined, as of what is flat or folds both ways.
    """
    hinges = evenly_spaced(_hinges(subject.triangles), _EDGES)
    own = _folds(evenly_spaced(subject.captured, _CAPTURED), hinges)
    typical = own.mean(axis=0)
    length = np.linalg.norm(typical)
    if not length > _TINY or (own @ typical).min() < _TOLD * length:
        return False
    now = _folds(evenly_spaced(vertices, _FRAMES), hinges) @ typical / length
    return bool(np.median(now) < -_TOLD)


def _hinges(triangles: np.ndarray) -> np.ndarray:
    """(H, 4) of triangles (T, 3): the ends of an edge between two, and the corner of each beyond it."""
    corners = np.concatenate([triangles, np.roll(triangles, 1, axis=1), np.roll(triangles, 2, axis=1)])
    edges, beyond = np.sort(corners[:, :2], axis=1), corners[:, 2]
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    edges, beyond = edges[order], beyond[order]
    shared = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1))
    return np.column_stack([edges[shared], beyond[shared], beyond[shared + 1]])


def _folds(meshes: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """(F, H) sines of the signed angles at hinges (H, 4) of meshes (F, V, 3), each mesh's of length one, or zero."""
    first, second, one, other = (meshes[:, hinges[:, corner]].astype(float) for corner in range(4))
    axis, one, other = second - first, one - first, other - first
    left, right = np.cross(axis, one), np.cross(axis, other)
    size = np.linalg.norm(left, axis=-1) * np.linalg.norm(right, axis=-1)
    span = np.linalg.norm(axis, axis=-1) * np.einsum("fhi,fhi->fh", left, other)
    sines = np.divide(span, size, out=np.zeros_like(span), where=size > _TINY * size.max(initial=0.0))
    length = np.linalg.norm(sines, axis=1, keepdims=True)
    return np.where(length > 1e-6 * np.sqrt(len(hinges)), sines / np.where(length > 0.0, length, 1.0), 0.0)
