"""A factor kept with an object, over time: constant, keyed in the object's action, or driven."""

from __future__ import annotations

import bpy
import numpy as np

from . import actions
from .channels import action_times
from .sampling import sample_paths


def is_driven(ob: bpy.types.Object, path: str) -> bool:
    """Whether a driver that is not muted moves the property at a data path."""
    data = ob.animation_data
    return data is not None and any(driver.data_path == path and not driver.mute for driver in data.drivers)


def factor_rows(
    scene: bpy.types.Scene, ob: bpy.types.Object, path: str, action, slot, frames: np.ndarray
) -> np.ndarray:
    """(F,) the factor at scene frames (F,), from 0 to 1: by its curve in an action, else as it is now."""
    curve = actions.find_curve(action, slot, path)
    if curve is None:
        return np.full(len(frames), float(ob.path_resolve(path)))
    return np.clip(actions.sample(curve, action_times(scene, frames)), 0.0, 1.0)


def sampled_factor(context: bpy.types.Context, ob: bpy.types.Object, path: str, frames: np.ndarray) -> np.ndarray:
    """(F,) the factor at scene frames (F,) as drivers and NLA strips make it, by stepping through them."""
    return np.clip(sample_paths(context, ob, [path], frames)[path][:, 0], 0.0, 1.0)
