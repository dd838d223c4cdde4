"""The pose of a mesh as numbers that blend well: turns of its components, rotations and stretches of its faces, places.

A pose is (K,) float32: rotation vectors of the T faces relative to their component's mean rotation (3, T), their
in-plane stretches 11, 12, 22 (3, T), rotation vectors of the C components (3, C), vertices from the centre of the mesh
at rest over its radius (3, V).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.small import mat_mul, mat_mul_t
from ..rotations import rotation_vectors
from ..rotations.polar import in_plane_polar, polar
from ..surface.cotangent import SurfaceOperators, face_neighbours, surface_operators

# Faces that are worked on at once: enough for NumPy, small enough for the cache.
_BATCH_FACES = 1 << 14
# Frames unwrapped between two looks at Esc.
_BATCH_FRAMES = 16


@dataclass(frozen=True)
class PoseParts:
    """Views of poses (..., K): rotations (..., 3, T), stretches (..., 3, T), turns (..., 3, C), places (..., 3, V)."""

    rotations: np.ndarray
    stretches: np.ndarray
    turns: np.ndarray
    places: np.ndarray


@dataclass(frozen=True)
class ShapeSpace:
    """What poses of one mesh are relative to: its rest (V, 3), operators, centre (3,) and root mean square radius."""

    rest: np.ndarray
    surface: SurfaceOperators
    centre: np.ndarray
    radius: float

    @classmethod
    def build(cls, rest: np.ndarray, triangles: np.ndarray) -> ShapeSpace:
        """Of rest vertices (V, 3) and triangles (T, 3). Raises InputError where no face has an area."""
        surface = surface_operators(rest, triangles)
        share = surface.mass / surface.mass.sum()
        centre = share @ rest
        radius = float(np.sqrt(share @ np.sum((rest - centre) ** 2, axis=1)))
        return cls(rest, surface, centre, radius)

    @property
    def face_length(self) -> int:
        """How many of the K numbers are not places."""
        return 6 * len(self.surface.area) + 3 * self.surface.components

    @property
    def length(self) -> int:
        return self.face_length + 3 * len(self.rest)

    def parts(self, poses: np.ndarray) -> PoseParts:
        """Views of poses (..., K) or of the first ``face_length`` numbers of poses, which have no places."""
        faces = len(self.surface.area)
        ends = np.cumsum((3 * faces, 3 * faces, 3 * self.surface.components))
        pieces = np.split(poses, ends, axis=-1)
        return PoseParts(*(piece.reshape(*piece.shape[:-1], 3, -1) for piece in pieces))

    @cached_property
    def weights(self) -> np.ndarray:
        """(K,) that make squares of pose differences integrals over the surface, free of resolution and size."""
        area = self.surface.area / self.surface.area.sum()
        of_components = np.add.reduceat(area, self.surface.starts)
        mass = self.surface.mass / self.surface.mass.sum()
        # The stretch is a symmetric matrix: its entry 12 is there twice.
        of_stretch = np.concatenate((area, 2.0 * area, area))
        return np.sqrt(np.concatenate((np.tile(area, 3), of_stretch, np.tile(of_components, 3), np.tile(mass, 3))))

    def poses_steps(self, vertices: np.ndarray) -> Generator[float, None, np.ndarray]:
        """Poses (F, K) float32 of vertices (F, V, 3), rotations no longer than pi. Yields shares of the way."""
        out = np.empty((len(vertices), self.length), np.float32)
        step = max(1, _BATCH_FACES // len(self.surface.area))
        for start in range(0, len(vertices), step):
            self._write(self.parts(out[start : start + step]), vertices[start : start + step])
            yield min(1.0, (start + step) / len(vertices))
        return out

    def _write(self, parts: PoseParts, vertices: np.ndarray) -> None:
        surface = self.surface
        vertices = np.ascontiguousarray(np.swapaxes(vertices, 1, 2), float)
        gradients = surface.gradients(vertices)
        frames, stretches, collapsed = in_plane_polar(gradients, surface.frames[None])
        rotations = mat_mul_t(frames, surface.frames[None])
        means = self._mean_rotations(rotations, ~collapsed)
        of_faces = means[..., surface.face_component]
        if collapsed.any():
            # A face without area turns with its component, as far as it shows nothing else.
            carried = mat_mul(of_faces, surface.frames[None])
            frames, stretches, _ = in_plane_polar(gradients, carried)
            rotations = mat_mul_t(frames, surface.frames[None])
        relative = mat_mul(np.swapaxes(of_faces, -3, -2), rotations)
        parts.rotations[:] = _as_rows(rotation_vectors.log(np.moveaxis(relative, -1, -3)))
        parts.stretches[:] = stretches
        parts.turns[:] = _as_rows(rotation_vectors.log(np.moveaxis(means, -1, -3)))
        parts.places[:] = (vertices - self.centre[:, None]) / self.radius

    def _mean_rotations(self, rotations: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """Area-weighted polar means (F, 3, 3, C) of rotations (F, 3, 3, T) where counted (F, T)."""
        weighted = rotations * (self.surface.area * counted)[:, None, None]
        sums = np.moveaxis(np.add.reduceat(weighted, self.surface.starts, axis=-1), -1, 1)
        means, _ = polar(sums.reshape(-1, 3, 3))
        return np.moveaxis(means.reshape(sums.shape), 1, -1)

    def unwrap_steps(self, poses: np.ndarray) -> Generator[float, None, np.ndarray]:
        """Make poses (F, K) that follow each other continuous, in place; returns components (C,) unwrapped by face.

        Turns of components are unwrapped over time.  The rotations of faces relative to them are as well where that
        lowers the share of neighbouring faces more than pi apart: faces unwrapped one by one may tear a surface that
        has turned as a whole, and principal values may tear one that has curled up.
        """
        parts = self.parts(poses)
        parts.turns[:] = _as_rows(rotation_vectors.unwrap(_as_vectors(parts.turns)))
        by_face = np.zeros(self.surface.components, bool)
        # Shorter rotations than a quarter turn are nearest to each other on the principal branch.
        squares = np.einsum("fkt,fkt->ft", parts.rotations, parts.rotations)
        far = np.flatnonzero((squares > (np.pi / 2) ** 2).any(axis=0))
        if not far.size:
            return by_face
        trial = np.ascontiguousarray(_as_vectors(parts.rotations[..., far]))
        for start in range(1, len(poses), _BATCH_FRAMES):
            rows = slice(start, start + _BATCH_FRAMES)
            trial[rows] = rotation_vectors.unwrap(trial[rows], trial[start - 1])
            yield 0.5 * start / len(poses)
        trial = _as_rows(trial)
        if np.abs(trial - parts.rotations[..., far]).max() < 1.0:
            return by_face
        torn = np.zeros((2, self.surface.components))
        for frame, (principal, unwrapped) in enumerate(zip(parts.rotations, trial, strict=True)):
            torn += self._torn(principal, unwrapped, far)
            if frame % _BATCH_FRAMES == 0:
                yield 0.5 + 0.5 * frame / len(poses)
        by_face = torn[1] < torn[0]
        chosen = by_face[self.surface.face_component[far]]
        parts.rotations[..., far[chosen]] = trial[..., chosen]
        return by_face

    @cached_property
    def _neighbours(self) -> np.ndarray:
        return face_neighbours(self.surface.corners)

    def _torn(self, principal, unwrapped, far) -> np.ndarray:
        """Neighbours more than pi apart in each component (2, C): principal, and with far faces unwrapped."""
        first, second = self._neighbours
        found = []
        for changed in (None, unwrapped):
            rotations = principal
            if changed is not None:
                rotations = principal.copy()
                rotations[:, far] = changed
            apart = ((rotations[:, first] - rotations[:, second]) ** 2).sum(axis=0) > np.pi**2
            found.append(np.bincount(self.surface.face_component[first[apart]], minlength=self.surface.components))
        return np.array(found)

    def divergence(self, pose: np.ndarray) -> np.ndarray:
        """(3, V) of the gradients that the first ``face_length`` numbers of one pose stand for."""
        parts, surface = self.parts(pose), self.surface
        gradients = self.gradients(parts.rotations, parts.stretches)
        out = np.empty((3, len(self.rest)))
        for axis in range(3):
            out[axis] = surface.divergence @ gradients[axis].reshape(-1)
        turns = _entries_first(rotation_vectors.exp(parts.turns.T.astype(float)))
        if surface.components == 1:
            return turns[..., 0] @ out
        # Vertices without faces have no divergence, whatever turns it.
        turns = turns[..., surface.vertex_component]
        return turns[:, 0] * out[0] + turns[:, 1] * out[1] + turns[:, 2] * out[2]

    def gradients(self, rotations: np.ndarray, stretches: np.ndarray) -> np.ndarray:
        """(3, 2, T) float64 of rotation vectors (3, T) and stretches (3, T), without their components' turns."""
        first, second = self._axes
        turned = _entries_first(rotation_vectors.exp(rotations.T))
        out = np.empty((3, 2, rotations.shape[1]))
        for column, (along, across) in enumerate(((stretches[0], stretches[1]), (stretches[1], stretches[2]))):
            edge = first * along + second * across
            out[:, column] = turned[:, 0] * edge[0] + turned[:, 1] * edge[1] + turned[:, 2] * edge[2]
        return out

    @cached_property
    def _axes(self) -> tuple[np.ndarray, np.ndarray]:
        """The two in-plane axes (3, T) of each face at rest, in the precision of poses."""
        frames = self.surface.frames.astype(np.float32)
        return np.ascontiguousarray(frames[:, 0]), np.ascontiguousarray(frames[:, 1])


def _as_vectors(rows: np.ndarray) -> np.ndarray:
    """(..., 3, N) seen as (..., N, 3)."""
    return np.swapaxes(rows, -1, -2)


def _as_rows(vectors: np.ndarray) -> np.ndarray:
    """(..., N, 3) seen as (..., 3, N)."""
    return np.swapaxes(vectors, -1, -2)


def _entries_first(matrices: np.ndarray) -> np.ndarray:
    """(N, 3, 3) seen as (3, 3, N)."""
    return np.moveaxis(matrices, 0, -1)
