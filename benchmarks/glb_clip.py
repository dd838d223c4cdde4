"""Skinned meshes of binary glTF files over an action, at any moment: split at seams as importers leave them, Z up."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from solvers.core.errors import InputError

from .glb import _PATHS, _Z_UP, GlbFile, _matrices

# Of the largest step between two frames: a clip whose last pose is farther from its first than this does not close.
_CLOSES, _FPS = 0.1, 24.0


class GlbClip:
    """One action of all skinned meshes of a file, which goes round and round; metres as in the file.

    seconds: of a cycle, as long as the way from the last pose back to the first takes where those are not the same.
    """

    def __init__(self, file: Path, action: str):
        """action: the end of its name. Raises InputError for one that is not there."""
        self._file = GlbFile(file)
        found = [name for name in self._file.actions if name == action or name.endswith(f"_{action}")]
        found += [name for name in self._file.actions if name.endswith(f"|{action}")]
        if not found:
            raise InputError(f"'{file}' has no action '{action}'; it has {', '.join(self._file.actions)}.")
        self._action = self._file.document["animations"][self._file.actions.index(found[0])]
        keys = [self._file.accessor(sampler["input"]).ravel() for sampler in self._action["samplers"]]
        self._start, self._length = min(key[0] for key in keys), max(key[-1] for key in keys)
        self._length -= self._start
        self.seconds = self._length + self._gap

    def vertices(self, times: np.ndarray) -> np.ndarray:
        """(F, V, 3) at times (F,), seconds."""
        return self._round(times, self._vertices)

    def joints(self, times: np.ndarray) -> np.ndarray:
        """(F, J, 3) of the first skin's joints at times (F,), seconds."""
        return self._round(times, self._joints)

    @cached_property
    def triangles(self) -> np.ndarray:
        """(T, 3)."""
        return self._skin[1]

    @cached_property
    def _gap(self) -> float:
        first, second, last = self._vertices(self._start + np.array([0.0, 1.0 / _FPS, self._length]))
        share = np.abs(last - first).max() / np.abs(second - first).max()
        return share / _FPS if share > _CLOSES else 0.0

    def _round(self, times, read):
        """The way back from the last pose to the first is straight."""
        phase = np.mod(np.asarray(times, float), self.seconds)
        out = read(self._start + np.minimum(phase, self._length))
        over = phase > self._length
        if over.any():
            share = ((phase[over] - self._length) / self._gap)[:, None, None]
            first, last = read(self._start + np.array([0.0, self._length]))
            out[over] = (1.0 - share) * last + share * first
        return out

    def _worlds(self, times: np.ndarray) -> list[np.ndarray]:
        """(F, 4, 4) of each node, in the file's axes."""
        file = self._file
        pose = [file._rest(node, len(times)) for node in file.nodes]
        for channel in self._action["channels"]:
            path, node = channel["target"]["path"], channel["target"].get("node")
            if node is not None and path in _PATHS:
                pose[node][path] = file._sampled(self._action["samplers"][channel["sampler"]], path, times)
        return [np.broadcast_to(world, (len(times), 4, 4)) for world in file._world([_matrices(of) for of in pose])]

    def _joints(self, times: np.ndarray) -> np.ndarray:
        worlds = self._worlds(times)
        return np.stack([worlds[joint][:, :3, 3] for joint in self._file.joints()], axis=1) @ _Z_UP.T

    def _vertices(self, times: np.ndarray) -> np.ndarray:
        rest, _, weights, bones = self._skin
        worlds = self._worlds(times)
        rows = np.stack([worlds[joint] @ inverse for joint, inverse in bones], axis=1)[:, :, :3].reshape(
            len(times), -1, 12
        )
        out = np.empty((len(times), len(rest), 3))
        for frame, row in enumerate(rows):
            blended = (weights @ row).reshape(-1, 3, 4)
            out[frame] = np.einsum("vab,vb->va", blended[..., :3], rest) + blended[..., 3]
        return out @ _Z_UP.T

    @cached_property
    def _skin(self):
        """Rest (V, 3), triangles (T, 3), weights (V, B) and B bones: node and inverse bind matrix."""
        file, bones, rest, triangles, parts = self._file, [], [], [], []
        for node in file.nodes:
            if "mesh" not in node or "skin" not in node:
                continue
            skin, first = file.document["skins"][node["skin"]], len(bones)
            inverse = file.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
            bones += zip(skin["joints"], inverse, strict=True)
            for primitive in file.document["meshes"][node["mesh"]]["primitives"]:
                attributes, count = primitive["attributes"], sum(map(len, rest))
                rest.append(file.accessor(attributes["POSITION"]))
                triangles.append(file.accessor(primitive["indices"]).reshape(-1, 3).astype(int) + count)
                owners, shares = (
                    np.concatenate([file.accessor(attributes[key]) for key in sorted(attributes) if key[:4] == of], 1)
                    for of in ("JOIN", "WEIG")
                )
                rows = np.repeat(np.arange(len(rest[-1])) + count, owners.shape[1])
                parts.append(
                    (rows, owners.astype(int).ravel() + first, (shares / shares.sum(1, keepdims=True)).ravel())
                )
        rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        rest = np.concatenate(rest)
        return rest, np.concatenate(triangles), csr_matrix((values, (rows, columns)), (len(rest), len(bones))), bones
