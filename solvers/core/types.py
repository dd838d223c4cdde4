"""Frozen arrays that travel from scene to solvers: world space, metres, seconds, radians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import InputError


@dataclass(frozen=True)
class Skeleton:
    """A forest of joints; a parent precedes its children.

    names:   J joint names (bone heads first, then the tails of leaf bones as ``"<bone>/tail"``).
    parents: (J,) int, -1 for a root.
    """

    names: tuple[str, ...]
    parents: np.ndarray

    def __post_init__(self):
        if len(self.names) != len(self.parents):
            raise InputError(f"{len(self.names)} joint names for {len(self.parents)} parents.")
        late = np.flatnonzero(self.parents >= np.arange(len(self.parents)))
        if late.size:
            raise InputError(f"Joint '{self.names[late[0]]}' comes before its parent; sort parents first.")


@dataclass(frozen=True)
class JointTrack:
    """Joint positions over time.

    positions: (F, J, 3) world, metres.  fps: frames a second.  frames: (F,) scene frames.
    """

    skeleton: Skeleton
    positions: np.ndarray
    fps: float
    frames: np.ndarray

    def __post_init__(self):
        if self.positions.ndim != 3 or self.positions.shape[1:] != (len(self.skeleton.names), 3):
            expected = f"(F, {len(self.skeleton.names)}, 3)"
            raise InputError(f"Joint positions have shape {self.positions.shape}, expected {expected}.")
        if not len(self.positions):
            raise InputError("The frame range is empty; choose at least one frame.")
        bad = np.argwhere(~np.isfinite(self.positions).all(axis=2))
        if bad.size:
            frame, joint = bad[0]
            raise InputError(
                f"Joint '{self.skeleton.names[joint]}' is not a number at frame {self.frames[frame]:g}."
            )


@dataclass(frozen=True)
class TriangleMesh:
    """One state of one object: vertices (V, 3) world metres, triangles (T, 3) int."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray


@dataclass(frozen=True)
class MeshTrack:
    """One object over a frame range; topology does not change.

    vertices:   (S, V, 3) world metres; S = 1 for a static object, else one state a frame.
    triangles:  (T, 3) int.
    """

    name: str
    vertices: np.ndarray
    triangles: np.ndarray

    def __post_init__(self):
        if self.vertices.ndim != 3 or self.vertices.shape[2] != 3:
            raise InputError(f"'{self.name}': vertices have shape {self.vertices.shape}, expected (S, V, 3).")
        if not len(self.triangles):
            raise InputError(f"'{self.name}' has no faces; give it faces or leave it out of the environment.")
        if not np.isfinite(self.vertices).all():
            raise InputError(f"'{self.name}' has vertices that are not numbers; repair the mesh.")

    @property
    def is_static(self) -> bool:
        return len(self.vertices) == 1

    def state(self, frame_index: int) -> TriangleMesh:
        """The mesh at one frame of the range (frame_index counts from 0)."""
        return TriangleMesh(self.name, self.vertices[0 if self.is_static else frame_index], self.triangles)
