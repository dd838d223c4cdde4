"""Vertices from in-plane gradients and a weak pull to given places, with the system factored once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, diags
from scipy.sparse.linalg import SuperLU, splu

from ..core.errors import InputError
from .cotangent import SurfaceOperators

# Weight of the places against the gradients; with the radius of the mesh it does not depend on size or resolution.
POSITION_PULL = 0.1


@dataclass(frozen=True)
class Pins:
    """Vertices (N,) to be drawn to goals, each as strongly as weight (N,); 1 is about the hold of one edge."""

    vertices: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class PoissonSystem:
    """(L + (pull / radius^2) M + pins) v = divergence + (pull / radius^2) M p + pins goals.

    Gradients are matched in the sense of area-weighted least squares (Sumner and Popovic 2004, section 3; Botsch et
    al. 2006, section 3), the places p fix what they leave open: where each component is.
    """

    factor: SuperLU
    pull: np.ndarray
    pins: Pins | None = None

    @classmethod
    def build(
        cls, surface: SurfaceOperators, radius: float, pull: float = POSITION_PULL, pins: Pins | None = None
    ) -> PoissonSystem:
        """radius: of the mesh, in its units.  Raises InputError for pins on vertices that are not there."""
        return cls.of_laplacian(surface.laplacian, surface.mass, radius, pull, pins)

    @classmethod
    def of_laplacian(
        cls,
        laplacian: csc_matrix,
        mass: np.ndarray,
        radius: float,
        pull: float = POSITION_PULL,
        pins: Pins | None = None,
    ) -> PoissonSystem:
        """The same of a Laplacian (V, V) and masses (V,) alone."""
        weight = (pull / radius**2) * mass
        matrix = laplacian + diags(weight)
        if pins is not None:
            matrix = matrix + _pin_matrix(pins, len(weight))
        factor = splu(
            matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        return cls(factor, weight, pins)

    def solve(
        self,
        divergence: np.ndarray | None = None,
        positions: np.ndarray | None = None,
        goals: np.ndarray | None = None,
    ) -> np.ndarray:
        """Vertices (..., 3, V) of a divergence and of positions (..., 3, V), and of goals (..., 3, N) of the pins.

        The solution is linear in the three; one that is not given counts as zero.
        """
        right = 0.0 if divergence is None else divergence
        if positions is not None:
            right = right + self.pull * positions
        if goals is not None:
            right = right + self._pinned(goals)
        shape = right.shape
        columns = right.reshape(-1, shape[-1]).T
        return np.ascontiguousarray(self.factor.solve(columns).T).reshape(shape)

    def _pinned(self, goals):
        out = np.zeros((len(self.pull), *goals.shape[:-1]))
        np.add.at(out, self.pins.vertices, np.moveaxis(self.pins.weight * goals, -1, 0))
        return np.moveaxis(out, 0, -1)


def _pin_matrix(pins: Pins, count: int):
    if len(pins.vertices) and not (0 <= np.min(pins.vertices) and np.max(pins.vertices) < count):
        raise InputError(f"A pinned vertex is not one of the target's {count} vertices; pin it again.")
    return coo_matrix((pins.weight, (pins.vertices, pins.vertices)), (count, count)).tocsc()
