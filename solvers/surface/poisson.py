"""Vertices from in-plane gradients and a weak pull to given places, with the system factored once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import SuperLU, splu

from .cotangent import SurfaceOperators

# Weight of the places against the gradients; with the radius of the mesh it does not depend on size or resolution.
POSITION_PULL = 0.1


@dataclass(frozen=True)
class PoissonSystem:
    """(L + (pull / radius^2) M) v = divergence + (pull / radius^2) M p.

    Gradients are matched in the sense of area-weighted least squares (Sumner and Popovic 2004, section 3; Botsch et
    al. 2006, section 3), the places p fix what they leave open: where each component is.
    """

    factor: SuperLU
    pull: np.ndarray

    @classmethod
    def build(cls, surface: SurfaceOperators, radius: float, pull: float = POSITION_PULL) -> PoissonSystem:
        """radius: of the mesh, in its units."""
        return cls.of_laplacian(surface.laplacian, surface.mass, radius, pull)

    @classmethod
    def of_laplacian(
        cls, laplacian: csc_matrix, mass: np.ndarray, radius: float, pull: float = POSITION_PULL
    ) -> PoissonSystem:
        """The same of a Laplacian (V, V) and masses (V,) alone."""
        weight = (pull / radius**2) * mass
        matrix = laplacian + diags(weight)
        factor = splu(
            matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        return cls(factor, weight)

    def solve(self, divergence: np.ndarray | None = None, positions: np.ndarray | None = None) -> np.ndarray:
        """Vertices (..., 3, V) of a divergence and of positions (..., 3, V).

        The solution is linear in the two; one that is not given counts as zero.
        """
        right = 0.0 if divergence is None else divergence
        if positions is not None:
            right = right + self.pull * positions
        shape = right.shape
        columns = right.reshape(-1, shape[-1]).T
        return np.ascontiguousarray(self.factor.solve(columns).T).reshape(shape)
