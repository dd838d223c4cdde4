"""How a mesh gives way where its soles are moved: smooth fields over all vertices, solved once, added up a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, diags
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ..surface.cotangent import lumped_mass, surface_operators, vertex_components
from ..surface.weld import weld
from .feet_motion import FootPoints

# Vertices of a sole from which it is held by two halves: held by one, a foot that slides also pivots.
_SPLIT = 8
# Of the mesh's size: what lies so close together moves as one.
_TOGETHER = 1e-5
# Of the mesh's RMS radius: pieces are sprung together where they are farther apart by so much than at the nearest.
_GAP = 0.05
_SPRING = 20.0  # the Laplacian's own weights are cotangents, about one: as good as stiff
_OPTIONS = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


@dataclass(frozen=True)
class PlantFields:
    """fields: (V, H) float32, by how much each vertex follows each of H handles.  foot: (H,) number of the foot that
    a handle is of.  handles: (H, S) weights, of sum one, of the S vertices of all soles one after the other."""

    fields: np.ndarray
    foot: np.ndarray
    handles: np.ndarray

    def moved(self, offsets: np.ndarray) -> np.ndarray:
        """(V, 3) float32 by how much the vertices move where the means over handles are to move by offsets (H, 3)."""
        return self.fields @ np.asarray(offsets, np.float32)


def plant_fields(
    rest: np.ndarray, triangles: np.ndarray, feet: FootPoints, classes: np.ndarray | None = None
) -> PlantFields:
    """Of vertices (V, 3) at rest with triangles (T, 3).

    A sole of 8 vertices or more is halved along its longest side, a smaller one is one handle; the handle is the mean
    over its vertices.  Of all moves v with given means d = C' v the one is taken that is smoothest, least v' A v with
    A = B M^-1 B, B = L + M / r^2 and r the mesh's RMS radius: v = Phi d with Phi = A^-1 C (C' A^-1 C)^-1.  So a frame
    costs one product (the constraints of Rhodin et al. 2015, section 2.5, solved beforehand).  The other handles stay
    where they are.

    classes: (V,) for each vertex the first of those that it stays together with; None for those that lie together at
    rest.  Pieces that no face joins to the rest, a boot or a claw, follow what they are nearest to.
    """
    rest = np.asarray(rest, float)
    size = max(float(np.ptp(rest, axis=0).max()), 1e-30)
    first, number = np.unique(weld(rest, _TOGETHER * size) if classes is None else classes, return_inverse=True)
    number, places = number.reshape(-1), rest[first]
    corners = number[np.asarray(triangles, int)]
    corners = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
    soles = [foot.sole for foot in feet.feet.feet]
    means, handles, foot = _handles(places, number, soles)
    fields = _smooth_fields(places, corners, means)
    # One column after the other: products with few columns are made faster so.
    return PlantFields(np.asfortranarray(fields[number], np.float32), foot, handles)


def _handles(places, number, soles):
    """Means (V', H) over the welded vertices of each handle, the same (H, S) of the soles' vertices, and feet (H,)."""
    columns, rows, foot, start = [], [], [], 0
    total = sum(len(sole) for sole in soles)
    for index, sole in enumerate(soles):
        welded, which, count = np.unique(number[sole], return_inverse=True, return_counts=True)
        for part in _halves(places[welded]):
            column = np.zeros(len(places))
            column[welded[part]] = 1.0 / part.sum()
            row = np.zeros(total)
            # Each place counts once, by however many vertices it is there.
            row[start : start + len(sole)] = (part / (count * part.sum()))[which.reshape(-1)]
            columns.append(column)
            rows.append(row)
            foot.append(index)
        start += len(sole)
    return np.stack(columns, axis=1), np.stack(rows), np.array(foot)


def _halves(places: np.ndarray) -> list[np.ndarray]:
    """Masks (N,) of the two halves of places (N, 3) along their longest side, or of all where they are few."""
    if len(places) < _SPLIT:
        return [np.ones(len(places), bool)]
    away = places - places.mean(axis=0)
    along = away @ np.linalg.svd(away, full_matrices=False)[2][0]
    front = along > np.median(along)
    return [front, ~front] if front.any() and not front.all() else [np.ones(len(places), bool)]


def _smooth_fields(places: np.ndarray, corners: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(V', H) the smoothest fields of which each has a mean of one over its handle and of zero over the others."""
    radius = float(np.sqrt(((places - places.mean(axis=0)) ** 2).sum(axis=1).mean()))
    mass = lumped_mass(places, corners)
    laplacian = surface_operators(places, corners).laplacian + _links(places, corners, _GAP * radius)
    factor = splu((laplacian + diags(mass / radius**2)).tocsc(), **_OPTIONS)
    # A^-1 C = B^-1 M B^-1 C
    spread = factor.solve(mass[:, None] * factor.solve(means))
    return spread @ np.linalg.inv(means.T @ spread)


def _links(places: np.ndarray, corners: np.ndarray, reach: float) -> csr_matrix:
    """(V', V') a Laplacian of springs from each piece that faces join to the nearest other, until all hang together."""
    labels = vertex_components(corners, len(places))
    ends = [np.empty((0, 2), int)]
    while labels.max() > 0:
        found = [_nearest_outside(places, labels == number, reach) for number in _smaller(labels)]
        ends += found
        joined = np.concatenate(found)
        graph = csr_matrix((np.ones(len(joined), np.int8), labels[joined].T), (labels.max() + 1,) * 2)
        labels = connected_components(graph, directed=False)[1][labels]
    first, second = np.concatenate(ends).T
    weights = np.full(len(first), _SPRING)
    links = coo_matrix((weights, (first, second)), (len(places),) * 2).tocsr()
    links = links + links.T
    return diags(np.asarray(links.sum(axis=1)).reshape(-1)) - links


def _smaller(labels: np.ndarray) -> np.ndarray:
    """All pieces but the largest."""
    counts = np.bincount(labels)
    return np.flatnonzero(np.arange(len(counts)) != counts.argmax())


def _nearest_outside(places: np.ndarray, inside: np.ndarray, reach: float) -> np.ndarray:
    """Pairs (P, 2) of vertices of a piece, and the nearest of others, hardly farther than the nearest of them all."""
    mine, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    away, nearest = cKDTree(places[others]).query(places[mine])
    near = away <= away.min() + reach
    return np.stack((mine[near], others[nearest[near]]), axis=1)
