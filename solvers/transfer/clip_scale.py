"""How many times larger than its subject a clip is: poses are in metres, and objects are scaled at will."""

from __future__ import annotations

import numpy as np

from ..core.subsampling import evenly_spaced
from ..surface.edges import edge_lengths, unique_edges
from .subject import Subject

# Edges, frames and captured meshes, evenly spaced, that are looked at.
_EDGES, _FRAMES, _CAPTURED = 4000, 24, 32
# By how much more than it did in its own clips a subject may stretch as a whole in another one.
_STRETCH = 1.03


def clip_scale(vertices: np.ndarray, subject: Subject) -> float:
    """Of frames (F, V, 3), world, metres; exactly 1 where the subject had such a size in its own clips, give or take.

    Lengths of edges are compared, which bending hardly changes: the median over edges, which what stretches at joints
    does not sway, then over frames.
    """
    edges = evenly_spaced(unique_edges(subject.triangles)[0], _EDGES)
    lengths = edge_lengths(subject.reference, edges)
    edges = edges[lengths > 1e-9 * lengths.max()]
    lengths = lengths[lengths > 1e-9 * lengths.max()]
    own = [np.median(edge_lengths(mesh, edges) / lengths) for mesh in evenly_spaced(subject.captured, _CAPTURED)]
    now = np.median([np.median(edge_lengths(frame, edges) / lengths) for frame in evenly_spaced(vertices, _FRAMES)])
    if min(own) / _STRETCH <= now <= max(own) * _STRETCH:
        return 1.0
    return float(now / np.median(own))
