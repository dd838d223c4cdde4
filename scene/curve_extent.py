"""The times between which a curve changes its value, with what its modifiers and its extrapolation do."""

from __future__ import annotations

import numpy as np

from . import actions

_STILL = 1e-7  # a slope beside the size of the values, in single precision

# Modifiers that make a course of their own, whatever keys there are.
_ENDLESS = frozenset({"NOISE", "FNGENERATOR", "GENERATOR"})


def extent(curve) -> tuple[float, float] | None:
    """First and last action time between which a curve may change, infinite where it goes on; None where it never does.

    Keys that all hold one value count as changing, unless they are repeated.
    """
    ends = _of_keys(curve)
    for modifier in curve.modifiers:
        if not modifier.mute and not (modifier.use_influence and modifier.influence == 0.0):
            ends = _widened(ends, curve, modifier)
    return ends if ends[0] < ends[1] else None


def _of_keys(curve) -> tuple[float, float]:
    """The first time after the last where there are no two keys."""
    if len(curve.keyframe_points) + len(curve.sampled_points) < 2:
        return np.inf, -np.inf
    first, last = curve.range()
    if curve.extrapolation == "LINEAR":
        first = first if _is_level(curve, first - 1.0, first) else -np.inf
        last = last if _is_level(curve, last, last + 1.0) else np.inf
    return first, last


def _is_level(curve, time: float, later: float) -> bool:
    value, after = curve.evaluate(time), curve.evaluate(later)
    return abs(after - value) <= _STILL * max(abs(value), 1.0)


def _widened(ends: tuple[float, float], curve, modifier) -> tuple[float, float]:
    """What a modifier adds to the times between which a curve changes."""
    if modifier.type == "CYCLES":
        return _repeated(ends, curve, modifier)
    if modifier.type in _ENDLESS:
        if modifier.use_restricted_range:
            return min(ends[0], modifier.frame_start), max(ends[1], modifier.frame_end)
        return -np.inf, np.inf
    if modifier.type == "ENVELOPE":
        points = [point.frame for point in modifier.control_points]
        return min(ends[0], *points, np.inf), max(ends[1], *points, -np.inf)
    return ends


def _repeated(ends: tuple[float, float], curve, modifier) -> tuple[float, float]:
    first, last = ends
    if not first < last or not varies(curve, 0.0):
        return ends
    length = last - first
    if modifier.mode_before != "NONE":
        first = first - length * modifier.cycles_before if modifier.cycles_before else -np.inf
    if modifier.mode_after != "NONE":
        last = last + length * modifier.cycles_after if modifier.cycles_after else np.inf
    return first, last


def varies(curve, least: float) -> bool:
    """Whether the keys of a curve differ by more than the least that counts, or something else makes its course."""
    if any(modifier.type != "CYCLES" and not modifier.mute for modifier in curve.modifiers):
        return True
    keys = actions.keys_of(curve)
    return not len(keys) or float(np.ptp(keys[:, [1, 3, 5]])) > least
