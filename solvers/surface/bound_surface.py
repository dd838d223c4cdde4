"""A surface as it was at bind, compact enough to be kept in a file: what is bound later is measured beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.types import MeshTrack
from .track import rigid_motion


@dataclass(frozen=True)
class BoundSurface:
    """A ``MeshTrack`` without its triangles: exact where it stands still, else to single precision.

    vertices: (1, V, 3) world metres, the first state of a surface that stands still or moves rigidly, or (F, V, 3)
    float32 of one that deforms.  rotations (F, 3, 3), shifts (F, 3): of one that moves rigidly, else None.
    """

    vertices: np.ndarray
    rotations: np.ndarray | None = None
    shifts: np.ndarray | None = None

    @classmethod
    def of(cls, mesh: MeshTrack) -> BoundSurface:
        """What is to be kept of a surface."""
        if mesh.is_static:
            return cls(mesh.vertices)
        motion = rigid_motion(mesh.vertices)
        return cls(mesh.vertices.astype(np.float32)) if motion is None else cls(mesh.vertices[:1], *motion)

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(part.nbytes for part in (self.vertices, self.rotations, self.shifts) if part is not None)

    def track(self, name: str, triangles: np.ndarray) -> MeshTrack:
        """The surface again. triangles: (T, 3) at bind."""
        vertices = self.vertices.astype(float, copy=False)
        if self.rotations is not None:
            vertices = vertices @ np.swapaxes(self.rotations, -1, -2) + self.shifts[:, None]
        return MeshTrack(name, vertices, triangles)
