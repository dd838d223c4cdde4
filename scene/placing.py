"""World matrices as location, rotation and scale, and what those three cannot say: shear, which goes into vertices."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ..solvers.core.errors import OutputError
from ..solvers.skeleton.bone_channels import basis_to_channels, channels_to_basis
from .object_motion import single_bone

_FLAT = 1e-6  # smallest over largest size under which a matrix counts as flat (single precision)
_SHEAR = 1e-5  # difference from the identity that still counts as none (single precision)


@dataclass(frozen=True)
class Placement:
    """Channels of an object over F frames, in its rotation mode.

    location: (F, 3).  rotation: (F, 4).  scale: (F, 3).
    rest: (F, 4, 4) by which vertices are to be transformed before, or None where the channels say all.
    """

    location: np.ndarray
    rotation: np.ndarray
    scale: np.ndarray
    rest: np.ndarray | None


def place_over_time(ob: bpy.types.Object, worlds: np.ndarray, frames: np.ndarray) -> Placement:
    """World matrices (F, 4, 4) as channels of an object without a parent, rotation unwrapped from its present one.

    Raises OutputError naming the frame where a matrix is no number or flat.
    """
    _require_solid(ob.name, worlds, frames)
    bone = single_bone(ob)
    start = np.zeros((1, 4))
    now = {"QUATERNION": ob.rotation_quaternion, "AXIS_ANGLE": ob.rotation_axis_angle}.get(
        ob.rotation_mode, ob.rotation_euler
    )
    start[0, : len(now)] = now
    location, rotation, scale = basis_to_channels(bone, worlds[:, None], start, np.ones((1, 3)))
    told = channels_to_basis(bone, location, rotation, scale)[:, 0]
    rest = np.linalg.solve(told, worlds)
    sheared = np.abs(rest - np.eye(4)).max() > _SHEAR
    return Placement(location[:, 0], rotation[:, 0], scale[:, 0], rest if sheared else None)


def place_now(name: str, world: np.ndarray) -> tuple[Vector, Quaternion, Vector, np.ndarray | None]:
    """One world matrix (4, 4) as location, quaternion, scale and the rest (4, 4) or None; raises likewise."""
    _require_solid(name, world[None], None)
    location, rotation, scale = Matrix(world).decompose()
    told = np.array(Matrix.LocRotScale(location, rotation, scale))
    rest = np.linalg.solve(told, world)
    return location, rotation, scale, rest if np.abs(rest - np.eye(4)).max() > _SHEAR else None


def transformed(vertices: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """vertices (..., V, 3) by matrices (..., 4, 4)."""
    return vertices @ np.swapaxes(matrices[..., :3, :3], -1, -2) + matrices[..., None, :3, 3]


def _require_solid(name: str, worlds: np.ndarray, frames: np.ndarray | None) -> None:
    numbers = np.isfinite(worlds).all(axis=(1, 2))
    size = np.linalg.svd(np.where(numbers[:, None, None], worlds[:, :3, :3], np.eye(3)), compute_uv=False)
    for bad, what in ((~numbers, "is not a number"), (size[:, 2] <= _FLAT * size[:, 0], "has a scale of zero")):
        if bad.any():
            when = "" if frames is None else f" at frame {frames[bad.argmax()]:g}"
            raise OutputError(f"The transform of '{name}' {what}{when}; nothing is written.")
