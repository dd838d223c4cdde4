"""Where the feet of a target are in a pose, read from its coefficients without making the mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .mesh_feet import MeshFeet
from .target_space import TargetSpace


@dataclass(frozen=True)
class FeetReadout:
    """Means of a target's vertices over the soles of its K feet and over whole feet: 2K points.

    Vertices are the solution of one linear system, so the mean of some is what the faces ask for times one row of the
    inverse, which is made once.  rows: (2K, W), of the W places that ``TargetSpace`` solves for.  mean: (3, 2K) and
    basis: (3, 2K, D), of the part that is linear in coefficients.  place: (4, 4) of the target, to the world.
    """

    space: TargetSpace
    rows: np.ndarray
    mean: np.ndarray
    basis: np.ndarray
    place: np.ndarray

    @classmethod
    def build(cls, space: TargetSpace, feet: MeshFeet, place: np.ndarray) -> FeetReadout:
        """Of the feet of a target, and its world matrix (4, 4)."""
        count = space.place_mean.shape[1]
        groups = [foot.sole for foot in feet.feet] + [foot.vertices for foot in feet.feet]
        shares = np.array([np.bincount(space.welded[group], minlength=count) / len(group) for group in groups])
        basis = np.tensordot(shares, space.place_basis.reshape(3, count, -1), axes=(1, 1)).transpose(1, 0, 2)
        return cls(space, space.system.solve(shares), space.place_mean @ shares.T, basis, place)

    def of(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Soles and whole feet, both (F, K, 3), world, of coefficients (F, D)."""
        coefficients = np.asarray(coefficients, float)
        points = self.mean + np.einsum("ckd,fd->fck", self.basis, coefficients, optimize=True)
        for point, row in zip(points, coefficients, strict=True):
            point += self.space.shape.divergence(self.space.face_pose(row)) @ self.rows.T
        world = points.transpose(0, 2, 1) @ self.place[:3, :3].T + self.place[:3, 3]
        half = world.shape[1] // 2
        return world[:, :half], world[:, half:]
