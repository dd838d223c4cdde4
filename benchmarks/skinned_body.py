"""Skinned bodies of binary glTF files: welded meshes that follow turns of their joints by linear blend skinning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from solvers.core.errors import InputError

from .datasets import data_file
from .glb import GlbFile

_WELD, _BOUND = 1e-5, 1e-4  # metres


@dataclass(frozen=True)
class SkinnedBody:
    """Metres, Y up as in the file.

    vertices (V, 3) at rest.  triangles (T, 3).  weights (V, J), sparse, rows of sum one.  names: J joints, parents
    first, with parents (J,) and places (J, 3) at rest.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    weights: csr_matrix
    names: tuple[str, ...]
    parents: np.ndarray
    places: np.ndarray

    def below(self, joint: str) -> np.ndarray:
        """(J,) the joint and all that hangs on it."""
        inside = np.zeros(len(self.names), bool)
        inside[self.names.index(joint)] = True
        for number, parent in enumerate(self.parents):
            inside[number] |= parent >= 0 and inside[parent]
        return inside

    def posed(self, turns: np.ndarray, root: np.ndarray) -> np.ndarray:
        """(F, V, 3) float32 of turns (F, J, 3, 3) from rest in the world, and places (F, 3) of the first joint."""
        places = np.empty((*turns.shape[:2], 3))
        for joint, parent in enumerate(self.parents):
            if parent < 0:
                places[:, joint] = root + self.places[joint] - self.places[0]
            else:
                away = self.places[joint] - self.places[parent]
                places[:, joint] = places[:, parent] + turns[:, parent] @ away
        shifts = places - np.einsum("fjab,jb->fja", turns, self.places)
        both = np.concatenate((turns, shifts[..., None]), axis=-1).reshape(len(turns), len(self.names), 12)
        out = np.empty((len(turns), len(self.vertices), 3), np.float32)
        for frame, rows in enumerate(both):
            blended = (self.weights @ rows).reshape(-1, 3, 4)
            out[frame] = np.einsum("vab,vb->va", blended[..., :3], self.vertices) + blended[..., 3]
        return out

    def split(self) -> SkinnedBody:
        """Every triangle as four, corners half-way along its edges; shape and skinning stay what they are."""
        sides = np.sort(self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        ends, which = np.unique(sides, axis=0, return_inverse=True)
        count = len(self.vertices)
        a, b, c = self.triangles.T
        ab, bc, ca = count + which.reshape(-1, 3).T
        corners = np.stack((a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca), axis=1).reshape(-1, 3)
        halves = np.full(2 * len(ends), 0.5)
        middle = csr_matrix((halves, (np.repeat(np.arange(len(ends)), 2), ends.reshape(-1))), (len(ends), count))
        vertices = np.concatenate((self.vertices, middle @ self.vertices))
        kept = self.weights.tocoo(), (middle @ self.weights).tocoo()
        data = np.concatenate([part.data for part in kept])
        rows = np.concatenate((kept[0].row, count + kept[1].row))
        columns = np.concatenate([part.col for part in kept])
        weights = csr_matrix((data, (rows, columns)), (len(vertices), len(self.names)))
        return SkinnedBody(vertices, corners, weights, self.names, self.parents, self.places)


def read_skinned_body(relative: str) -> SkinnedBody:
    """The one skinned mesh of a file of the data folder.

    Raises InputError for a file with more or fewer, and for one that is bound in another pose than its rest.
    """
    file = GlbFile(data_file(relative))
    skinned = [node for node in file.nodes if "mesh" in node and "skin" in node]
    primitives = [part for node in skinned for part in file.document["meshes"][node["mesh"]]["primitives"]]
    if len(primitives) != 1:
        raise InputError(f"'{relative}' has {len(primitives)} skinned meshes; choose a file with one.")
    attributes, order, rest = primitives[0]["attributes"], file.joints(), file.rest()
    skin = file.document["skins"][skinned[0]["skin"]]
    _require_bound_at_rest(file, skin, rest, relative)
    points = file.accessor(attributes["POSITION"])
    place, first = _welded(points)
    triangles = place[file.accessor(primitives[0]["indices"]).reshape(-1, 3).astype(int)]
    triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
    column = {joint: number for number, joint in enumerate(order)}
    owners = np.array([column[joint] for joint in skin["joints"]])[_all(file, attributes, "JOINTS").astype(int)]
    shares = _all(file, attributes, "WEIGHTS")[first]
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(first)), shares.shape[1])
    weights = csr_matrix((shares.ravel(), (rows, owners[first].ravel())), (len(first), len(order)))
    parents = np.array([column.get(file.parents[joint], -1) for joint in order])
    names = tuple(file.nodes[joint].get("name", str(joint)) for joint in order)
    return SkinnedBody(points[first], triangles, weights, names, parents, rest[order, :3, 3])


def _all(file: GlbFile, attributes: dict[str, int], kind: str) -> np.ndarray:
    """(V, 4 or more) joints or weights of a skin."""
    keys = sorted(key for key in attributes if key.startswith(kind))
    return np.concatenate([file.accessor(attributes[key]) for key in keys], axis=1)


def _welded(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For points (N, 3) the number (N,) of each one's vertex, and of each vertex (V,) its first point."""
    _, first, place = np.unique(np.round(points / _WELD).astype(int), axis=0, return_index=True, return_inverse=True)
    return place.reshape(-1), first


def _require_bound_at_rest(file: GlbFile, skin: dict, rest: np.ndarray, relative: str) -> None:
    inverse = file.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    if np.abs(rest[skin["joints"]] @ inverse - np.eye(4)).max() > _BOUND:
        raise InputError(f"'{relative}' is bound in another pose than its rest; choose a file that is not.")
