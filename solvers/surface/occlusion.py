"""What is hidden from a joint by another object: a floor under the stone that a foot stands on is not touched by it."""

from __future__ import annotations

import numpy as np

from .track import SurfaceTrack

# Places on the way from a joint to a surface at which another object is looked for.
# The last one is the place itself: a floor may lie right under a rug.
_PROBES = (0.25, 0.5, 0.75, 0.95, 1.0)


def hidden_surfaces(
    points: np.ndarray,
    distance: np.ndarray,
    closest: np.ndarray,
    surfaces: list[SurfaceTrack],
    reach: float,
    touch: float,
) -> np.ndarray:
    """(O, F, J) bool: where the way from a joint to its closest place on an object leads through another object.

    points: (F, J, 3).  distance (O, F, J), closest (O, F, J, 3): see ``clearance.clearances``.  reach: metres, what is
    farther is not looked at.  touch: metres by which objects that merely touch may overlap.
    """
    hidden = np.zeros(distance.shape, bool)
    for obj in range(len(surfaces)):
        for other, surface in enumerate(surfaces):
            nearer = (distance[other] < distance[obj]) & (distance[obj] > 0) & (distance[obj] < reach)
            if other == obj or not nearer.any():
                continue
            frame, joint = np.nonzero(nearer)
            start, end = points[frame, joint], closest[obj, frame, joint]
            for share in _PROBES:
                inside = surface.query(start + share * (end - start), frame, reach).distance < -touch
                hidden[obj, frame[inside], joint[inside]] = True
    return hidden


def covered(points: np.ndarray, frames: np.ndarray, others: list[SurfaceTrack], touch: float) -> np.ndarray:
    """(M,) bool: which points (M, 3), at frames (M,), are more than ``touch`` metres inside another object."""
    out = np.zeros(len(points), bool)
    for surface in others:
        # Deeper inside than the object is thick cannot be: its own size is reach enough.
        extent = float(np.ptp(surface.mesh.vertices[0], axis=0).max())
        out |= surface.query(points, frames, extent).distance < -touch
    return out
