"""What a target's space is compared with: principal components of its vertices alone, or of its faces' gradients alone.

Both are parts of the numbers that ``solvers.shapes.shape_space`` has of a pose; Map learns from all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.steps import result_of
from solvers.regression.gram_pca import gram_pca_steps
from solvers.shapes.shape_space import ShapeSpace
from solvers.shapes.target_space import TargetSpace, learn_target_steps
from solvers.surface.poisson import PoissonSystem

COMBINED, POINTS, GRADIENTS = "combined", "points", "gradients"
# Bare gradients leave the place open; this much of the rest's place makes their system solvable.
_HARDLY = 1e-6


@dataclass(frozen=True)
class PointsSpace:
    """See ``TargetSpace``. mean (3V,), basis (D, 3V): of places from the centre of the mesh at rest over its radius."""

    shape: ShapeSpace
    triangles: np.ndarray
    mean: np.ndarray
    basis: np.ndarray
    coefficients: np.ndarray

    def vertices_of(self, coefficients: np.ndarray) -> np.ndarray:
        """Vertices (V, 3) of coefficients (D,), or (F, V, 3) of (F, D), object space."""
        places = self.mean + np.asarray(coefficients, float) @ self.basis
        places = places.reshape(*places.shape[:-1], 3, -1)
        return np.swapaxes(self.shape.radius * places + self.shape.centre[:, None], -1, -2)


@dataclass(frozen=True)
class GradientsSpace:
    """See ``TargetSpace``. mean (K,), basis (D, K): of the numbers that are no places.  start (3, V): what the system
    makes of the place at rest alone. Each component of the mesh stays where it is at rest."""

    shape: ShapeSpace
    triangles: np.ndarray
    mean: np.ndarray
    basis: np.ndarray
    coefficients: np.ndarray
    system: PoissonSystem
    start: np.ndarray

    def vertices_of(self, coefficients: np.ndarray) -> np.ndarray:
        """Vertices (V, 3) of coefficients (D,), or (F, V, 3) of (F, D), object space."""
        coefficients = np.asarray(coefficients, np.float32)
        if coefficients.ndim == 2:
            return np.array([self.vertices_of(row) for row in coefficients])
        pose = self.mean + coefficients @ self.basis
        vertices = self.start + self.system.solve(self.shape.divergence(pose))
        self._centre(vertices)
        return np.ascontiguousarray(vertices.T)

    def _centre(self, vertices: np.ndarray) -> None:
        """Move each component's centroid to where it is at rest, in place: (3, V)."""
        surface = self.shape.surface
        held = surface.vertex_component >= 0
        label, mass = surface.vertex_component[held], surface.mass[held]
        total = np.bincount(label, mass)
        for axis in range(3):
            away = self.shape.rest[held, axis] - vertices[axis, held]
            vertices[axis, held] += (np.bincount(label, mass * away) / total)[label]


def learn(
    representation: str, vertices: np.ndarray, triangles: np.ndarray, components: int = 50, variance: float = 0.999
) -> TargetSpace | PointsSpace | GradientsSpace:
    """As ``learn_target_steps``, by one of the three representations."""
    if representation == COMBINED:
        return result_of(learn_target_steps(vertices, triangles, components=components, variance=variance))
    shape = ShapeSpace.build(vertices[0].astype(float), triangles)
    poses = result_of(shape.poses_steps(vertices))
    result_of(shape.unwrap_steps(poses))
    part = slice(shape.face_length, None) if representation == POINTS else slice(shape.face_length)
    weights = shape.weights[part].astype(np.float32)
    pca = result_of(gram_pca_steps(poses[:, part] * weights, components, variance))
    learnt = shape, triangles, pca.mean / weights, pca.basis / weights, pca.coefficients
    if representation == POINTS:
        return PointsSpace(*learnt)
    system = PoissonSystem.build(shape.surface, shape.radius, _HARDLY)
    return GradientsSpace(*learnt, system, system.solve(positions=np.ascontiguousarray(shape.rest.T)))
