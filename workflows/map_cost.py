"""What each kind of bake takes, told before it is done."""

from __future__ import annotations

from ..solvers.errors import MotionLoomError
from .command_words import counted
from .map_model import target_of
from .map_run import ABSOLUTE_KEYS, PC2, PCA_KEYS, MapBakeOptions, bake_frames

_COORDINATE = 4  # bytes, single precision
_KEY = 72  # bytes of a key of a curve, as Blender keeps it
_MEGABYTE = 1e6


def options_of(settings) -> MapBakeOptions:
    """What the panel is set to."""
    start, end = (settings.bake_start, settings.bake_end) if settings.use_bake_range else (None, None)
    return MapBakeOptions(
        settings.bake_kind, start, end, settings.bake_step, settings.bake_keys, settings.bake_folder
    )


def costs_of(ob) -> dict[str, str]:
    """In words, by kind of bake; nothing while the target is not learnt or the range is empty."""
    try:
        frames = len(bake_frames(ob, options_of(ob.motion_loom_map)))
        shape = 3 * _COORDINATE * len(target_of(ob).space.rest)
    except MotionLoomError:
        return {}
    keys = min(ob.motion_loom_map.bake_keys, frames)
    return {
        PC2: f"{_size(shape * frames)} in a file, {counted(frames, 'frame')}",
        PCA_KEYS: f"at most {_size(shape * (keys + 1) + _KEY * keys * frames)} in the .blend",
        ABSOLUTE_KEYS: f"{_size((shape + _KEY) * frames)} in the .blend, {counted(frames, 'key')}",
    }


def _size(count: float) -> str:
    return f"{count / _MEGABYTE:.1f} MB"
