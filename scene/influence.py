"""A factor kept with an object, over time: constant, keyed in the object's action, or driven."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.core.errors import StaleBindingError
from . import actions
from .channels import action_times
from .sampling import sample_paths

_SAME = 1e-4


@dataclass(frozen=True)
class FactorTrack:
    """A factor that only stepping through the frames tells, as it was read. values: (F,) at scene frames (F,)."""

    frames: np.ndarray
    values: np.ndarray

    def is_at(self, frame: float, value: float) -> bool:
        """Whether that is the value at a frame; between the frames and outside nothing is known of it."""
        row = int(np.searchsorted(self.frames, frame - _SAME))
        if row == len(self.frames) or abs(self.frames[row] - frame) > _SAME:
            return True
        return abs(float(self.values[row]) - value) <= _SAME

    def to_text(self) -> str:
        """Compact, for a property that is saved."""
        rows = np.stack((self.frames, self.values)).astype("<f8")
        return base64.b85encode(zlib.compress(rows.tobytes(), 1)).decode()

    @classmethod
    def from_text(cls, text: str) -> FactorTrack:
        """Raises StaleBindingError where the text is none of ``to_text``."""
        try:
            return cls(*np.frombuffer(zlib.decompress(base64.b85decode(text)), "<f8").reshape(2, -1))
        except (ValueError, zlib.error) as error:
            raise StaleBindingError("The state of the live action is damaged; switch Live off and on.") from error


def is_driven(ob: bpy.types.Object, path: str) -> bool:
    """Whether a driver that is not muted moves the property at a data path."""
    data = ob.animation_data
    return data is not None and any(driver.data_path == path and not driver.mute for driver in data.drivers)


def factor_now(ob: bpy.types.Object, path: str, depsgraph: bpy.types.Depsgraph) -> float:
    """The factor as it is evaluated."""
    return float(ob.evaluated_get(depsgraph).path_resolve(path))


def factor_rows(
    scene: bpy.types.Scene, ob: bpy.types.Object, path: str, action, slot, frames: np.ndarray
) -> np.ndarray:
    """(F,) the factor at scene frames (F,), from 0 to 1: by its curve in an action, else as it is now."""
    curve = actions.find_curve(action, slot, path)
    if curve is None:
        return np.full(len(frames), float(ob.path_resolve(path)))
    return factor_of(curve, scene, frames)


def factor_of(curve, scene: bpy.types.Scene, frames: np.ndarray) -> np.ndarray:
    """(F,) the factor at scene frames (F,), from 0 to 1, by a curve."""
    return np.clip(actions.sample(curve, action_times(scene, frames)), 0.0, 1.0)


def sampled_factor(context: bpy.types.Context, ob: bpy.types.Object, path: str, frames: np.ndarray) -> np.ndarray:
    """(F,) the factor at scene frames (F,) as drivers and NLA strips make it, by stepping through them."""
    return np.clip(sample_paths(context, ob, [path], frames)[path][:, 0], 0.0, 1.0)
