"""Skinned bodies of binary glTF files that play their own actions, vertices as importers leave them: split at seams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .datasets import data_file
from .glb import _Z_UP, GlbFile, _matrices


@dataclass(frozen=True)
class Performed:
    """times (F,) seconds.  vertices (F, V, 3) and joints (F, J, 3): world, Z up.  triangles (T, 3)."""

    times: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    joints: np.ndarray

    def looped(self, rounds: int) -> Performed:
        """One cycle, so often; its last frame is its first."""

        def repeated(values: np.ndarray) -> np.ndarray:
            return np.concatenate([values[:-1]] * rounds + [values[-1:]])

        step = self.times[-1] / (len(self.times) - 1)
        times = np.arange(rounds * (len(self.times) - 1) + 1) * step
        return Performed(times, repeated(self.vertices), self.triangles, repeated(self.joints))


def performed(relative: str, action: str, fps: float = 24.0) -> Performed:
    """All skinned meshes of a file as one, over an action by its name, or the end of it."""
    file = GlbFile(data_file(relative))
    name = next(name for name in file.actions if name == action or name.endswith(f"|{action}"))
    world, times = _world_over(file, file.document["animations"][file.actions.index(name)], fps)
    vertices, triangles, count = [], [], 0
    for node in file.nodes:
        if "mesh" not in node or "skin" not in node:
            continue
        skin = file.document["skins"][node["skin"]]
        inverse = file.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        bones = np.stack([world[joint] @ inverse[row] for row, joint in enumerate(skin["joints"])], axis=1)[:, :, :3]
        for part in file.document["meshes"][node["mesh"]]["primitives"]:
            vertices.append(_skinned(file, part["attributes"], bones))
            triangles.append(file.accessor(part["indices"]).reshape(-1, 3).astype(int) + count)
            count += vertices[-1].shape[1]
    joints = np.stack([world[joint][:, :3, 3] for joint in file.joints()], axis=1)
    return Performed(times, np.concatenate(vertices, axis=1) @ _Z_UP.T, np.concatenate(triangles), joints @ _Z_UP.T)


def _world_over(file: GlbFile, animation: dict, fps: float) -> tuple[list[np.ndarray], np.ndarray]:
    """World matrices (F, 4, 4) of each node, and times (F,) from 0."""
    inputs = [file.accessor(sampler["input"]).ravel() for sampler in animation["samplers"]]
    start, end = min(keys[0] for keys in inputs), max(keys[-1] for keys in inputs)
    times = np.arange(int(np.floor((end - start) * fps + 1e-6)) + 1) / fps
    pose = [file._rest(node, len(times)) for node in file.nodes]
    for channel in animation["channels"]:
        path, node = channel["target"]["path"], channel["target"].get("node")
        if node is not None and path in ("translation", "rotation", "scale"):
            pose[node][path] = file._sampled(animation["samplers"][channel["sampler"]], path, start + times)
    return file._world([_matrices(each) for each in pose]), times


def _skinned(file: GlbFile, attributes: dict[str, int], bones: np.ndarray) -> np.ndarray:
    """(F, V, 3) by bones' matrices (F, J, 3, 4)."""

    def all_of(kind: str) -> np.ndarray:
        return np.concatenate([file.accessor(attributes[key]) for key in sorted(attributes) if key.startswith(kind)], 1)

    points = file.accessor(attributes["POSITION"])
    owners, shares = all_of("JOINTS").astype(int), all_of("WEIGHTS")
    shares = shares / shares.sum(axis=1, keepdims=True)
    rest, out = np.c_[points, np.ones(len(points))], np.zeros((len(bones), len(points), 3))
    for owner, share in zip(owners.T, shares.T, strict=True):
        out += np.einsum("fvab,vb->fva", bones[:, owner], share[:, None] * rest)
    return out
