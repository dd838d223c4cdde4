"""A camel that gallops as the captured horse does: synthetic, made by deformation transfer, for tests and benchmarks.

No camel was captured: what each marker's surroundings do on the horse is done to the camel's faces near the same
marker, blended between markers along the surface, and one Poisson solve a frame makes a mesh of it (after Sumner and
Popovic 2004, with 107 markers in the place of a correspondence of all faces). It repeats after 24 frames.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from solvers.rotations.polar import nearest_rotation
from solvers.surface.cotangent import surface_operators
from solvers.surface.edges import edge_lengths, unique_edges
from solvers.surface.poisson import PoissonSystem

from .datasets import data_file, read_obj
from .mesh_sequences import mesh_sequence

FRAMES = 24
_AROUND, _BLENDED, _POWER = 40, 4, 3.0


@functools.cache
def camel_gallop() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (24, V, 3), Z up, and triangles (T, 3); frame by frame the horse's ``horse_gallop``."""
    horse = read_obj(data_file("mesh_seq/ref_horse-gallop.obj"), "Horse").vertices[0]
    camel = read_obj(data_file("mesh_seq/ref_camel.obj"), "Camel")
    rest, triangles, markers = camel.vertices[0], camel.triangles, horse_camel_markers()
    frames = mesh_sequence("horse_gallop")[0][:FRAMES]
    changes, moves = _marker_changes(horse, frames, markers[:, 0])
    shares = _shares(rest, triangles, markers[:, 1])
    surface = surface_operators(rest, triangles)
    radius = float(np.sqrt(((rest - rest.mean(axis=0)) ** 2).sum(axis=1).mean()))
    system = PoissonSystem.build(surface, radius, pull=1e-3)
    corners = triangles[surface.faces]
    size = np.ptp(rest, axis=0).max() / np.ptp(horse, axis=0).max()
    out = np.empty((len(frames), len(rest), 3))
    for frame, (change, move) in enumerate(zip(changes, moves, strict=True)):
        of_faces = shares[corners].mean(axis=1) @ change.reshape(len(change), 9)
        turned = np.einsum("tij,jkt->ikt", of_faces.reshape(-1, 3, 3), surface.frames[:, :2])
        divergence = (surface.divergence @ turned.reshape(3, -1).T).T
        places = rest + size * (shares @ move)
        out[frame] = system.solve(divergence, places.T).T
    return out[..., [0, 2, 1]] * [1, -1, 1], triangles


def horse_camel_markers() -> np.ndarray:
    """(107, 2) vertices of the horse and of the camel that answer to each other."""
    lines = data_file("mesh_seq/horse_camel.cons").read_text().split("\n", 1)[1]
    return np.array([line.split(",") for line in lines.splitlines() if "," in line], int)


def _marker_changes(rest: np.ndarray, frames: np.ndarray, markers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(F, N, 3, 3) how the surroundings of each marker are changed from rest, least squares, and how far it is moved,
    (F, N, 3)."""
    near = cKDTree(rest).query(rest[markers], _AROUND)[1]
    before = rest[near] - rest[near].mean(axis=1, keepdims=True)
    after = frames[:, near] - frames[:, near].mean(axis=2, keepdims=True)
    # A patch that is flat says nothing about its normal: hold it a little to what is the same for all.
    hold = 1e-2 * np.einsum("nki,nki->n", before, before)[:, None, None] * np.eye(3)
    rigid = nearest_rotation(np.einsum("fnki,nkj->fnij", after, before))
    products = np.einsum("fnki,nkj->fnij", after, before) + rigid @ hold
    gram = np.einsum("nki,nkj->nij", before, before) + hold
    return products @ np.linalg.inv(gram), frames[:, markers] - rest[markers]


def _shares(rest: np.ndarray, triangles: np.ndarray, markers: np.ndarray) -> np.ndarray:
    """(V, N) of the few markers nearest along the surface, by a power of their distances."""
    edges, _ = unique_edges(triangles)
    graph = csr_matrix((edge_lengths(rest, edges), edges.T), (len(rest), len(rest)))
    away = dijkstra(graph, directed=False, indices=markers).T
    size = np.ptp(rest, axis=0).max()
    # A piece of the mesh without a marker takes the nearest in space.
    lost = ~np.isfinite(away)
    away[lost] = np.linalg.norm(rest[:, None] - rest[markers], axis=2)[lost] if lost.any() else 0.0
    nearest = np.argpartition(away, _BLENDED, axis=1)[:, : _BLENDED + 1]
    distance = np.take_along_axis(away, nearest, axis=1)
    weights = np.maximum(1.0 / (distance + 1e-3 * size) - 1.0 / (distance.max(axis=1, keepdims=True) + 1e-3 * size), 0)
    out = np.zeros_like(away)
    np.put_along_axis(out, nearest, weights**_POWER, axis=1)
    return out / out.sum(axis=1, keepdims=True)
