"""A whole mesh from predicted vertices of its parts: corrected by captured meshes, stitched by one Poisson solve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix, diags

from ..core.small import dot
from ..surface.cotangent import SurfaceOperators, surface_operators
from ..surface.poisson import PoissonSystem
from ..surface.weld import staying_together
from .body_parts import BodyParts

# Hold of the predicted places against the gradients: they say where a limb is, the gradients what shape it has.
PULL = 0.01
_TINY = np.float32(1e-30)


@dataclass(frozen=True)
class PartFaces:
    """The faces of all parts one after the other, M; faces of an overlap are there twice.

    corners (3, M): numbers among the vertices of all parts one after the other, n.  slices: of each part, of the M.
    inverse (3, M), area (M,): at rest, as in ``SurfaceOperators``.  weights (M,): how much a part says about a face.
    """

    corners: np.ndarray
    slices: tuple[slice, ...]
    inverse: np.ndarray
    area: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, parts: BodyParts, surface: SurfaceOperators, triangles: np.ndarray) -> tuple[PartFaces, np.ndarray]:
        """The faces that ``surface`` keeps, and (M,) their numbers in it."""
        place = np.full(len(triangles), -1)
        place[surface.faces] = np.arange(len(surface.faces))
        kept = [place[faces] >= 0 for faces in parts.faces]
        faces = [faces[mask] for faces, mask in zip(parts.faces, kept, strict=True)]
        starts = np.cumsum([0, *map(len, faces)])
        first = np.cumsum([0, *map(len, parts.members)])
        corners = [
            first[part] + np.searchsorted(members, triangles[some])
            for part, (members, some) in enumerate(zip(parts.members, faces, strict=True))
        ]
        rows = place[np.concatenate(faces)]
        found = cls(
            np.ascontiguousarray(np.concatenate(corners).T),
            tuple(slice(*ends) for ends in zip(starts[:-1], starts[1:], strict=True)),
            surface.inverse[:, rows].astype(np.float32),
            surface.area[rows],
            np.concatenate([weights[mask] for weights, mask in zip(parts.face_weights, kept, strict=True)]),
        )
        return found, rows

    def edges(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edges 0-1 and 0-2 (3, M) of vertices (3, n)."""
        origin = vertices.take(self.corners[0], axis=1)
        first, second = (vertices.take(corner, axis=1) for corner in self.corners[1:])
        first -= origin
        second -= origin
        return first, second

    @cached_property
    def metric(self) -> np.ndarray:
        """(3, M) entries 11, 12, 22 of what makes hat products of edges."""
        i0, i1, i2 = self.inverse
        return np.stack((i0 * i0 + i1 * i1, i1 * i2, i2 * i2))


@dataclass(frozen=True)
class _Sheet:
    """A mesh that faces of the parts are solved on together: the whole one, or all parts side by side.

    divergence (rows, 2M): of hat products.  same (rows,): the row that stands for each.
    """

    divergence: csr_matrix
    system: PoissonSystem
    same: np.ndarray

    @classmethod
    def build(cls, faces: PartFaces, corners, weights, same, mass, radius) -> _Sheet:
        """corners (3, M): of the faces among the rows.  weights (M,).  mass (rows,)."""
        count = corners.shape[1]
        first, second = np.arange(count), np.arange(count, 2 * count)
        origin, one, two = same[corners]
        rows = np.concatenate((one, two, origin, origin))
        columns = np.concatenate((first, second, first, second))
        signs = np.repeat([1.0, 1.0, -1.0, -1.0], count)
        incidence = csr_matrix((signs, (rows, columns)), (len(same), 2 * count))
        divergence = incidence @ diags(np.tile(faces.area * weights, 2))
        m11, m12, m22 = faces.metric.astype(float)
        metric = diags((np.concatenate((m11, m22)), m12, m12), (0, count, -count))
        laplacian = (divergence @ metric @ incidence.T).tocsc()
        return cls(divergence, PoissonSystem.of_laplacian(laplacian, mass, radius, PULL), same)

    def solve(self, products: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Vertices (3, rows) of hat products (3, 2, M) and places (3, rows)."""
        divergence = np.stack([self.divergence @ row.reshape(-1) for row in products])
        return self.system.solve(divergence, places).take(self.same, axis=1)


@dataclass(frozen=True)
class Stitcher:
    """Of K parts with M faces in all, and N captured meshes.

    captured (N, 3, M), float32: in-plane gradients of their faces as upper triangular matrices, entries 11, 12, 22, in
    frames whose first axis is the edge 0-1.  members: vertices of each part.  blend (V, n): weights of the vertices of
    all parts.  mass (V,).  radius: root mean square, of the mesh at rest.  same (V,): the vertex that stands for each,
    itself unless others stay together with it in all meshes.
    """

    faces: PartFaces
    captured: np.ndarray
    members: tuple[np.ndarray, ...]
    blend: csr_matrix
    mass: np.ndarray
    radius: float
    same: np.ndarray
    whole: _Sheet

    @classmethod
    def build(cls, vertices: np.ndarray, triangles: np.ndarray, parts: BodyParts, captured: np.ndarray) -> Stitcher:
        """Of a reference (V, 3), triangles (T, 3), the parts, and captured meshes (N, V, 3) in the torso's frame.

        Raises InputError where no face has an area.
        """
        vertices, triangles, captured = np.asarray(vertices, float), np.asarray(triangles), np.asarray(captured)
        surface = surface_operators(vertices, triangles)
        faces, rows = PartFaces.of(parts, surface, triangles)
        numbers = np.concatenate(parts.members)
        same = staying_together([vertices, *captured])
        share = surface.mass / surface.mass.sum()
        radius = float(np.sqrt(share @ np.sum((vertices - share @ vertices) ** 2, axis=1)))
        n = len(numbers)
        blend = csr_matrix((np.concatenate(parts.vertex_weights), (numbers, np.arange(n))), (len(vertices), n))
        whole = _Sheet.build(faces, numbers[faces.corners], faces.weights, same, surface.mass, radius)
        return cls(faces, _factors(captured, surface, rows), parts.members, blend, surface.mass, radius, same, whole)

    def assemble(
        self,
        part_vertices: list[np.ndarray],
        nearest: np.ndarray,
        weights: np.ndarray,
        correct: bool = True,
        stitch: bool = True,
    ) -> np.ndarray:
        """Vertices (V, 3) of predicted ones (n_k, 3) of each part; numbers and weights (K, 3) of its captured meshes.

        correct: every face takes its shape from the captured ones, and only its turn from the prediction (Boukhayma et
        al. 2017, section 6.1: the isometric part of the polar decomposition between them).  stitch: gradients of the
        parts are blended across their overlaps and one mesh is solved for (in place of section 6.2).  Without, each
        part is solved for by itself if it is corrected, and vertices are blended.
        """
        rows = np.concatenate(part_vertices)
        predicted = np.ascontiguousarray(rows.T, np.float32)
        if not (correct or stitch):
            return self.blend @ rows
        products = self._corrected(predicted, nearest, weights) if correct else self._predicted(predicted)
        if not stitch:
            return self.blend @ self._apart.solve(products, predicted).T
        return np.ascontiguousarray(self.whole.solve(products, (self.blend @ rows).T).T)

    @cached_property
    def _apart(self) -> _Sheet:
        numbers = np.concatenate(self.members)
        part = np.repeat(np.arange(len(self.members)), [len(some) for some in self.members])
        _, first, group = np.unique(part * len(self.mass) + self.same[numbers], return_index=True, return_inverse=True)
        corners, ones = self.faces.corners, np.ones(len(self.faces.area))
        return _Sheet.build(self.faces, corners, ones, first[group.reshape(-1)], self.mass[numbers], self.radius)

    def _predicted(self, vertices: np.ndarray) -> np.ndarray:
        """Hat products (3, 2, M) of the gradients of vertices (3, n): with the hats of corners 1 and 2 of each face."""
        first, second = self.faces.edges(vertices)
        m11, m12, m22 = self.faces.metric
        out = np.empty((3, 2, len(m11)))
        np.add(m11 * first, m12 * second, out=out[:, 0])
        np.add(m12 * first, m22 * second, out=out[:, 1])
        return out

    def _corrected(self, vertices: np.ndarray, nearest: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Hat products (3, 2, M) of gradients E sum_m w_m r_m T_m.

        Predicted gradients are E T, captured ones E_m T_m, with E by Gram and Schmidt along the edge 0-1 and T upper
        triangular.  The map from a captured face to the predicted one is E (T T_m^-1) E_m^T, its isometric part
        E r_m E_m^T with the turn r_m of the 2 x 2 matrix.
        """
        i0, i1, i2 = self.faces.inverse
        first, second = self.faces.edges(vertices)
        squared = np.maximum(dot(first, first), _TINY)
        along = dot(first, second) / squared
        across = second
        across -= along * first
        length, height = np.sqrt(squared), np.sqrt(np.maximum(dot(across, across), _TINY))
        b11, b12, b21, b22 = self._turned(i0 * length, (i1 + i2 * along) * length, i2 * height, nearest, weights)
        out = np.empty((3, 2, len(length)))
        np.add((i0 * b11 + i1 * b12) / length * first, (i0 * b21 + i1 * b22) / height * across, out=out[:, 0])
        np.add(i2 * b12 / length * first, i2 * b22 / height * across, out=out[:, 1])
        return out

    def _turned(self, a, b, c, nearest, weights) -> tuple[np.ndarray, ...]:
        """Entries 11, 12, 21, 22 (M,) of sum_m w_m r_m T_m for T of entries a, b, c (M,)."""
        slices = self.faces.slices
        factors = np.empty((nearest.shape[1], 3, len(a)), np.float32)
        for some, numbers in zip(slices, nearest, strict=True):
            factors[..., some] = self.captured[:, :, some][numbers]
        share = np.repeat(weights.T.astype(np.float32), [some.stop - some.start for some in slices], axis=1)
        p, q, s = factors[:, 0], factors[:, 1], factors[:, 2]
        cosine, sine = a * s + c * p, a * q - b * p
        # A face that is collapsed says nothing about its turn.
        share /= np.sqrt(np.maximum(cosine * cosine + sine * sine, _TINY))
        cosine *= share
        sine *= share
        return tuple(
            entry.sum(axis=0) for entry in (p * cosine, q * cosine - s * sine, p * sine, q * sine + s * cosine)
        )


def _factors(captured: np.ndarray, surface: SurfaceOperators, rows: np.ndarray) -> np.ndarray:
    """(N, 3, M) of captured meshes (N, V, 3): entries 11, 12, 22 of the gradients' triangular factors."""
    out = np.empty((len(captured), 3, len(rows)), np.float32)
    for mesh, row in zip(captured, out, strict=True):
        gradients = surface.gradients(np.ascontiguousarray(mesh.T, float))
        first, second = gradients[:, 0], gradients[:, 1]
        length = np.sqrt(dot(first, first))
        along = dot(first, second) / np.maximum(length, 1e-30)
        height = np.sqrt(np.maximum(dot(second, second) - along * along, 0.0))
        row[:] = np.stack((length, along, height))[:, rows]
    return out
