"""Binary glTF 2.0 files as joint tracks and meshes, in NumPy, Z up and metres.

Read here: node hierarchies, node animations with STEP, LINEAR and CUBICSPLINE samplers (glTF 2.0
specification, appendix C) and triangle primitives. Skins tell joints from other nodes; ``skinned_body``
poses their surfaces.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from solvers.core.errors import InputError
from solvers.core.types import JointTrack, MeshTrack, Skeleton

_COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_PATHS = {"translation": 3, "rotation": 4, "scale": 3}
_Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


class GlbFile:
    """One .glb file: raises InputError when it is not a binary glTF 2.0 file."""

    def __init__(self, file: Path):
        raw = Path(file).read_bytes()
        if raw[:4] != b"glTF" or int.from_bytes(raw[4:8], "little") != 2:
            raise InputError(f"'{Path(file).name}' is not a binary glTF 2.0 file.")
        size = int.from_bytes(raw[12:16], "little")
        self.name = Path(file).stem
        self.document = json.loads(raw[20 : 20 + size])
        self._binary = raw[28 + size :]
        self.nodes = self.document["nodes"]
        self.parents = np.full(len(self.nodes), -1)
        for i, node in enumerate(self.nodes):
            self.parents[node.get("children", [])] = i

    @property
    def actions(self) -> list[str]:
        return [animation.get("name", str(i)) for i, animation in enumerate(self.document.get("animations", []))]

    def track(self, action: str, fps: float, scale: float = 1.0) -> JointTrack:
        """World positions of the skin's joints over an action, sampled at fps; scale multiplies lengths."""
        if action not in self.actions:
            raise InputError(f"'{self.name}' has no action '{action}'; it has {', '.join(self.actions)}.")
        animation = self.document["animations"][self.actions.index(action)]
        inputs = [self.accessor(sampler["input"]).ravel() for sampler in animation["samplers"]]
        start, end = min(t[0] for t in inputs), max(t[-1] for t in inputs)
        times = start + np.arange(int(np.floor((end - start) * fps + 1e-6)) + 1) / fps
        pose = [self._rest(node, len(times)) for node in self.nodes]
        for channel in animation["channels"]:
            path, node = channel["target"]["path"], channel["target"].get("node")
            if node is not None and path in _PATHS:
                pose[node][path] = self._sampled(animation["samplers"][channel["sampler"]], path, times)
        world = self._world([_matrices(p) for p in pose])
        joints = self.joints()
        parents = [joints.index(self.parents[j]) if self.parents[j] in joints else -1 for j in joints]
        names = tuple(self.nodes[j].get("name", str(j)) for j in joints)
        positions = np.stack([world[j][:, :3, 3] for j in joints], axis=1) @ _Z_UP.T * scale
        return JointTrack(Skeleton(names, np.array(parents)), positions, fps, np.arange(len(times)))

    def mesh(self, name: str, scale: float = 1.0) -> MeshTrack:
        """All triangles of all unskinned nodes in their rest place, as one static mesh."""
        world = self.rest()
        vertices, triangles, count = [], [], 0
        for i, node in enumerate(self.nodes):
            if "mesh" not in node or "skin" in node:
                continue
            for primitive in self.document["meshes"][node["mesh"]]["primitives"]:
                corners = self.accessor(primitive["attributes"]["POSITION"])
                vertices.append(corners @ world[i, :3, :3].T + world[i, :3, 3])
                triangles.append(self.accessor(primitive["indices"]).reshape(-1, 3).astype(int) + count)
                count += len(corners)
        return MeshTrack(name, np.concatenate(vertices)[None] @ _Z_UP.T * scale, np.concatenate(triangles))

    def rest(self) -> np.ndarray:
        """World matrices (nodes, 4, 4) of all nodes at rest, in the file's axes and units."""
        return np.concatenate(self._world([_matrices(self._rest(node, 1)) for node in self.nodes]))

    def joints(self) -> list[int]:
        """Nodes of the first skin's joints, parents first."""
        depth = {}
        for joint in self.document["skins"][0]["joints"]:
            depth[joint], at = 0, joint
            while self.parents[at] >= 0:
                depth[joint], at = depth[joint] + 1, self.parents[at]
        return sorted(depth, key=lambda joint: (depth[joint], joint))

    def accessor(self, index: int) -> np.ndarray:
        """Values (N, width) of an accessor, or (N, 1)."""
        accessor = self.document["accessors"][index]
        view = self.document["bufferViews"][accessor["bufferView"]]
        dtype = np.dtype(_COMPONENTS[accessor["componentType"]])
        width, count = _WIDTHS[accessor["type"]], accessor["count"]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        stride = view.get("byteStride", dtype.itemsize * width)
        shape, strides = (count, width), (stride, dtype.itemsize)
        values = np.ndarray(shape, dtype, self._binary, start, strides).astype(float)
        return values / np.iinfo(dtype).max if accessor.get("normalized") else values

    def _rest(self, node, frames):
        if "matrix" in node:
            return {
                "matrix": np.repeat(np.array(node["matrix"], float).reshape(1, 4, 4).transpose(0, 2, 1), frames, axis=0)
            }
        defaults = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
        return {path: np.tile(np.array(node.get(path, defaults[path]), float), (frames, 1)) for path in _PATHS}

    def _sampled(self, sampler, path, times):
        keys, values = self.accessor(sampler["input"]).ravel(), self.accessor(sampler["output"])
        return sample(keys, values, sampler.get("interpolation", "LINEAR"), times, path == "rotation")

    def _world(self, local):
        world = [None] * len(self.nodes)
        pending = [i for i, parent in enumerate(self.parents) if parent < 0]
        while pending:
            node = pending.pop()
            parent = self.parents[node]
            world[node] = local[node] if parent < 0 else world[parent] @ local[node]
            pending += self.nodes[node].get("children", [])
        return world


def sample(keys: np.ndarray, values: np.ndarray, kind: str, times: np.ndarray, rotation: bool) -> np.ndarray:
    """Values (F, k) of one glTF sampler at times (F,); rotations (x, y, z, w) come back with unit length."""
    times = np.clip(times, keys[0], keys[-1])
    left = np.clip(np.searchsorted(keys, times, "right") - 1, 0, max(len(keys) - 2, 0))
    right = np.minimum(left + 1, len(keys) - 1)
    span = keys[right] - keys[left]
    u = (np.where(span > 0, times - keys[left], 0) / np.where(span > 0, span, 1))[:, None]
    if kind == "STEP":
        out = np.where(u >= 1, values[right], values[left])
    elif kind == "CUBICSPLINE":
        tangent_in, point, tangent_out = values.reshape(len(keys), 3, -1).transpose(1, 0, 2)
        d = span[:, None]
        out = (2 * u**3 - 3 * u**2 + 1) * point[left] + d * (u**3 - 2 * u**2 + u) * tangent_out[left]
        out += (3 * u**2 - 2 * u**3) * point[right] + d * (u**3 - u**2) * tangent_in[right]
    elif rotation:
        out = _slerp(values[left], values[right], u)
    else:
        out = (1 - u) * values[left] + u * values[right]
    return out / np.linalg.norm(out, axis=1, keepdims=True) if rotation else out


def _slerp(a, b, u):
    cosine = np.einsum("fi,fi->f", a, b)[:, None]
    b = np.where(cosine < 0, -b, b)
    angle = np.arccos(np.clip(np.abs(cosine), 0, 1))
    sine = np.sin(angle)
    small = sine < 1e-6
    safe = np.where(small, 1, sine)
    wa = np.where(small, 1 - u, np.sin((1 - u) * angle) / safe)
    return wa * a + np.where(small, u, np.sin(u * angle) / safe) * b


def _matrices(pose):
    """Local matrices (F, 4, 4) of translation, rotation and scale, or of a fixed matrix."""
    if "matrix" in pose:
        return pose["matrix"]
    x, y, z, w = pose["rotation"].T
    out = np.zeros((len(x), 4, 4))
    out[:, 0, 0], out[:, 0, 1], out[:, 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - z * w),
        2 * (x * z + y * w),
    )
    out[:, 1, 0], out[:, 1, 1], out[:, 1, 2] = (
        2 * (x * y + z * w),
        1 - 2 * (x * x + z * z),
        2 * (y * z - x * w),
    )
    out[:, 2, 0], out[:, 2, 1], out[:, 2, 2] = (
        2 * (x * z - y * w),
        2 * (y * z + x * w),
        1 - 2 * (x * x + y * y),
    )
    out[:, :3, :3] *= pose["scale"][:, None]
    out[:, :3, 3], out[:, 3, 3] = pose["translation"], 1
    return out
