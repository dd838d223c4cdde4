"""Places of an environment that its change has put inside another object: a floor through which a stage has risen."""

from __future__ import annotations

import numpy as np

from ..core.types import MeshTrack
from ..surface.descriptor_frames import descriptor_frames
from ..surface.occlusion import covered
from ..surface.track import SurfaceTrack
from .binding import Binding

# Metres at 1.8 m over its object at which a place is looked for inside others, and by how much it must be.
LIFT, INSIDE = 0.003, 0.002


def covered_contacts(binding: Binding, environment: list[MeshTrack], surfaces: list[SurfaceTrack]) -> np.ndarray:
    """(O, F, J) bool: contacts (``Binding.touched``) whose places, the nearest descriptors, are covered now.

    environment: the changed meshes in the binding's order;  surfaces: of them.
    """
    touching = binding.touched
    out = np.zeros(touching.shape, bool)
    now, axes = descriptor_frames(binding.points, environment)
    lifted = now + LIFT * binding.scale * axes[..., 0]
    for obj in range(len(surfaces)):
        frame, joint = np.nonzero(touching[obj])
        columns = np.flatnonzero(binding.points.object_index == obj)
        if not frame.size or not columns.size:
            continue
        then = binding.origins[np.minimum(frame, len(binding.origins) - 1)[:, None], columns]
        gaps = np.linalg.norm(then - binding.track.positions[frame, joint][:, None], axis=2)
        places = lifted[np.minimum(frame, len(lifted) - 1), columns[gaps.argmin(axis=1)]]
        others = surfaces[:obj] + surfaces[obj + 1 :]
        out[obj, frame, joint] = covered(places, frame, others, INSIDE * binding.scale)
    return out
