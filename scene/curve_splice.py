"""Curves whose keys over some time are new, and that are the source's before and after it.

The source's keys outside stay as they are. Where one end of the new keys lies between two of the source's, the cubic
curve between these is divided there (de Casteljau), so that it runs as before.
"""

from __future__ import annotations

import numpy as np

from ..solvers.skeleton.rig import Rig
from . import actions
from .channels import SIZES, channels_of

_APART = 1e-3  # frames by which keys differ in time
_FREE = 0  # of the handle types
_STILL = 1e-6  # of handles, beside the size of what they hold


def splice(curve, source, sides: tuple[bool, bool], within: tuple[float, float]) -> None:
    """Let a curve be as its source is before its first key and after its last one.

    The values at these keys have to be the source's.  source: a curve, or None for what holds still there.
    sides: whether before, and after; where not, the curve holds still.
    within: action times over which curves are sampled that modifiers or samples make, frame by frame.
    """
    if source is None or not any(sides):
        return
    own = _read(curve)
    parts = [_outside(source, own, side, within) if sides[side] else None for side in (0, 1)]
    before, after = (_none(own) if part is None else part.keys for part in parts)
    keys = {name: np.concatenate((before[name], own[name], after[name])) for name in own}
    first, last = len(before["co"]), len(before["co"]) + len(own["co"]) - 1
    for side, at in ((0, first), (1, last)):
        if parts[side] is not None:
            _join(keys, at, parts[side], side)
    if source.extrapolation == "LINEAR" and _is_plain(source):
        keys = _held(keys, sides)
        curve.extrapolation = "LINEAR"
    _write(curve, keys)


class _Part:
    """Keys of the source on one side, and what its segment at the end of the new keys looks like.

    handles: of the key at that end and of the source's next to it, towards each other, or None where it is not cubic.
    interpolation: of that segment."""

    def __init__(self, keys: dict, interpolation: int, handles: tuple | None):
        self.keys, self.interpolation, self.handles = keys, interpolation, handles


def _outside(source, own: dict, side: int, within: tuple[float, float]) -> _Part:
    end = float(own["co"][-side, 0])
    if not _is_plain(source):
        return _sampled(source, own, end, side, within)
    keys = _read(source)
    times = keys["co"][:, 0]
    beyond = times > end + _APART if side else times < end - _APART
    part = {name: values[beyond].copy() for name, values in keys.items()}
    if not beyond.any():
        ends = (end + 1.0, end + 2.0) if side else (end - 2.0, end - 1.0)
        if source.extrapolation == "LINEAR":
            return _Part(_linear(source, own, np.array(ends)), actions.LINEAR, None)
        return _Part(part, actions.LINEAR, None)
    left = np.flatnonzero(times < end + _APART if side else beyond)
    # Before the source's first key and after its last one it holds, or goes straight.
    beyond_keys = actions.LINEAR if source.extrapolation == "LINEAR" else actions.CONSTANT
    if not left.size:
        return _Part(part, beyond_keys, None)
    left = left[-1]
    if left == len(times) - 1:
        part["interpolation"][-1] = beyond_keys
        return _Part(part, beyond_keys, None)
    kind = int(keys["interpolation"][left])
    if kind == actions.BEZIER:
        return _Part(part, kind, _divided(keys, left, end, side))
    if kind in (actions.CONSTANT, actions.LINEAR):
        return _Part(part, kind, None)
    near = times[left + 1] if side else times[left]
    steps = np.arange(np.floor(end) + 1.0, near) if side else np.arange(np.floor(near) + 1.0, end)
    more = _linear(source, own, steps[np.abs(steps - near) > _APART])
    pair = (more, part) if side else (part, more)
    if not side:
        part["interpolation"][-1] = actions.LINEAR
    return _Part({name: np.concatenate([each[name] for each in pair]) for name in part}, actions.LINEAR, None)


def _is_plain(source) -> bool:
    """Whether keys alone tell a curve."""
    return not any(not modifier.mute for modifier in source.modifiers) and len(source.keyframe_points) > 0


def _sampled(source, own: dict, end: float, side: int, within: tuple[float, float]) -> _Part:
    first, last = source.range() if len(source.keyframe_points) or len(source.sampled_points) else within
    if side:
        times = np.arange(np.floor(end + _APART) + 1.0, max(within[1], last) + 0.5)
    else:
        times = np.arange(np.ceil(min(within[0], first) - 0.5), end - _APART)
    return _Part(_linear(source, own, times), actions.LINEAR, None)


def _linear(source, like: dict, times: np.ndarray) -> dict:
    """Keys of the source's values at times (K,), with straight lines between them."""
    out = {name: np.zeros((len(times), *values.shape[1:]), values.dtype) for name, values in like.items()}
    values = np.array([source.evaluate(time) for time in times.tolist()])
    out["co"] = np.column_stack((times, values)).astype(np.float32).reshape(-1, 2)
    out["handle_left"], out["handle_right"] = out["co"] - (1 / 3, 0), out["co"] + (1 / 3, 0)
    out["interpolation"][:] = actions.LINEAR
    return out


def _divided(keys: dict, left: int, time: float, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Handles of a new key at a time between two keys and of the outer one of these, towards each other."""
    points = np.array([keys["co"][left], keys["handle_right"][left], keys["handle_left"][left + 1],
                       keys["co"][left + 1]], float)  # fmt: skip
    span = points[3, 0] - points[0, 0]
    reach = abs(points[1, 0] - points[0, 0]) + abs(points[3, 0] - points[2, 0])
    if reach > span:  # as the program does it: handles that overlap are shortened together
        points[1] = points[0] + (points[1] - points[0]) * span / reach
        points[2] = points[3] + (points[2] - points[3]) * span / reach
    u = _parameter(points[:, 0], time)
    first = points[:-1] + u * np.diff(points, axis=0)
    second = first[:-1] + u * np.diff(first, axis=0)
    return (second[1], first[2]) if side else (second[0], first[0])


def _parameter(x: np.ndarray, time: float) -> float:
    """Where a cubic of control points (4,), which rises, has a value."""
    roots = np.roots([x[3] - 3 * x[2] + 3 * x[1] - x[0], 3 * (x[2] - 2 * x[1] + x[0]), 3 * (x[1] - x[0]), x[0] - time])
    real = roots[np.abs(roots.imag) < 1e-6].real
    return float(np.clip(real[np.abs(real - 0.5).argmin()], 0.0, 1.0))


def _join(keys: dict, at: int, part: _Part, side: int) -> None:
    """Let the new key at one end meet the source's next to it."""
    if side:
        keys["interpolation"][at] = part.interpolation
    if part.handles is None:
        return
    inner, outer = ("handle_right", "handle_left") if side else ("handle_left", "handle_right")
    next_to = at + 1 if side else at - 1
    keys[inner][at], keys[outer][next_to] = part.handles
    for index in (at, next_to):
        keys["handle_left_type"][index] = keys["handle_right_type"][index] = _FREE


def _held(keys: dict, sides: tuple[bool, bool]) -> dict:
    """With one more key on each side that is to hold still, for a curve that goes on straight beyond its keys."""
    out = keys
    for side in (0, 1):
        if not sides[side]:
            more = {name: values[[-side]].copy() for name, values in out.items()}
            more["co"][:, 0] += 1.0 if side else -1.0
            more["interpolation"][:] = actions.LINEAR
            if side:
                out["interpolation"][-1] = actions.LINEAR
            pair = (out, more) if side else (more, out)
            out = {name: np.concatenate([each[name] for each in pair]) for name in out}
    return out


def _none(like: dict) -> dict:
    return {name: values[:0] for name, values in like.items()}


def _read(curve) -> dict[str, np.ndarray]:
    """All that makes the keys of a curve, (K,) or (K, 2)."""
    out, count = {}, len(curve.keyframe_points)
    for name, (kind, size) in actions.KEY_PROPERTIES.items():
        flat = np.empty(count * size, kind)
        curve.keyframe_points.foreach_get(name, flat)
        out[name] = flat.reshape(-1, size) if size > 1 else flat
    return out


def _write(curve, keys: dict[str, np.ndarray]) -> None:
    """Make these the keys of a curve. Handles that the program would set otherwise, because of other neighbours, are
    kept where they are as free ones."""
    points = curve.keyframe_points
    points.add(len(keys["co"]) - len(points))
    _set(points, keys)
    curve.update()
    now = _read(curve)
    counts = _cubic(keys["interpolation"])
    moved = np.zeros(len(counts), bool)
    for name in ("handle_left", "handle_right"):
        size = np.maximum(np.abs(keys[name][:, 1]), 1.0)
        moved |= (np.abs(now[name] - keys[name]).max(axis=1) > _STILL * size) & counts
    if moved.any():
        for name in ("handle_left_type", "handle_right_type"):
            keys[name] = np.where(moved, _FREE, keys[name]).astype(keys[name].dtype)
        _set(points, keys)
        curve.update()


def _cubic(interpolations: np.ndarray) -> np.ndarray:
    """Which keys have a cubic curve on either side: their handles count."""
    cubic = interpolations == actions.BEZIER
    return cubic | np.concatenate(([False], cubic[:-1]))


def _set(points, keys: dict[str, np.ndarray]) -> None:
    for name, values in keys.items():
        points.foreach_set(name, np.ascontiguousarray(values).ravel())


def splice_curves(
    written: tuple,
    source: tuple,
    rig: Rig,
    keyed: np.ndarray,
    sides: tuple[bool, bool],
    within: tuple[float, float],
    jumps: dict[float, np.ndarray],
) -> None:
    """Splice the curves of channels (B, 3) bool of one action and slot with those of another.

    sides, within: see ``splice``.  jumps: by the action time of a key the bones (B,) bool whose rotation channels are
    others at the next key, although they turn alike: they change at once, for what lies between would spin.
    """
    holder = actions.curve_list(*written)
    for bone in np.flatnonzero(keyed.any(axis=1)):
        for column, channel in enumerate(channels_of(rig, bone)):
            path = actions.bone_path(rig.names[bone], channel)
            for index in range(SIZES[channel]) if keyed[bone, column] else ():
                curve = holder.fcurves.find(path, index=index)
                if curve is None:
                    continue
                splice(curve, actions.find_curve(*source, path, index), sides, within)
                if column == 1:
                    _change_at_once(curve, [time for time, bones in jumps.items() if bones[bone]])


def _change_at_once(curve, times: list[float]) -> None:
    for time in times:
        for key in curve.keyframe_points:
            if abs(key.co[0] - time) < _APART:
                key.interpolation = "CONSTANT"
