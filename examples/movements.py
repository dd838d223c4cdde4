"""What two people do, each in an own way: a walk, a wave, a crouch, and a walk along a bend while waving.

Lengths in metres, times in seconds; x ahead, y to the left, z up. F frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import gait
import numpy as np
from performer import along_bend, eased, lean

_ARM = ("upper_arm", "forearm", "hand")
_WAVES = 1.5  # a second


@dataclass(frozen=True)
class Style:
    """How somebody moves. bounce: how far the hips sink at each step (metres).  stoop, wide: how far the back leans and
    the arms stand away (radians).  lively: multiplies how far arms and waves go."""

    bounce: float = 0.0
    stoop: float = 0.0
    wide: float = 0.0
    lively: float = 1.0


def walk(times: np.ndarray, style: Style) -> gait.Walk:
    """Five steps."""
    return _styled(_walked(times + 2.0 * gait.PERIOD, style), style)


def wave(times: np.ndarray, style: Style) -> gait.Walk:
    """Standing; the right arm goes up, waves and goes down again within four seconds."""
    motion = _stood(times, style, [])
    return _styled(_waved(motion, times, (0.3, 3.7), style), style)


def crouch(times: np.ndarray, style: Style) -> gait.Walk:
    """Standing; down and up again, twice, the second time deeper, the arms ahead, within four seconds."""
    ducks = [gait.Duck(1.0, 0.22, 0.30, 0.3), gait.Duck(2.7, 0.36, 0.45, 0.4)]
    motion = _stood(times, style, ducks)
    down = sum(duck.sink / 0.36 * np.exp(-0.5 * ((times - duck.time) / duck.width) ** 2) for duck in ducks)
    level = np.zeros(len(times))
    for name in _ARM:
        for side in (".L", ".R"):
            motion.turns[name + side] = gait.turn(level, -0.9 * style.lively * down, level) @ motion.turns[name + side]
    return _styled(motion, style)


def walk_waving(times: np.ndarray, style: Style) -> gait.Walk:
    """Seven steps along a bend to the left, waving."""
    motion = _walked(times + 2.0 * gait.PERIOD, style)
    motion = _waved(motion, times, (0.4, 3.4), style)
    return along_bend(_styled(motion, style), gait.STRIDE * 2.0, gait.STRIDE * 6.0, math.radians(70.0))


def _walked(times, style: Style) -> gait.Walk:
    # Of each step, when the leg that stands is upright.
    ducks = [gait.Duck((k + 0.55) * gait.PERIOD, style.bounce, 0.0, 0.09) for k in range(14)]
    return gait.walk(gait.footsteps(_floor, -1, 14), _floor, times, ducks=ducks)


def _stood(times, style: Style, ducks) -> gait.Walk:
    feet = {side: [gait.Footstep(np.array([0.0, sign * gait.FOOT_ASIDE, 0.0]), -9.0, 99.0)]
            for side, sign in ((".L", 1.0), (".R", -1.0))}  # fmt: skip
    return gait.walk(feet, _floor, times, ducks=ducks)


def _floor(_x: float) -> float:
    return 0.0


def _waved(motion: gait.Walk, times, span: tuple[float, float], style: Style) -> gait.Walk:
    """The same with the right arm up over a span of time, waving instead of swinging with the steps."""
    up = eased((times - span[0]) / 0.7) * eased((span[1] - times) / 0.7)
    to_and_fro = 0.45 * style.lively * up**2 * np.sin(2.0 * math.pi * _WAVES * (times - span[0]))
    level, hanging = np.zeros(len(times)), _stood(times[:2], style, []).turns
    turns = dict(motion.turns)
    for name, raised, waves in (("upper_arm", 1.9, 0.3), ("forearm", 2.9, 1.0), ("hand", 2.9, 1.3)):
        still = _between(turns[name + ".R"], hanging[name + ".R"][0], up)
        turns[name + ".R"] = gait.turn(level, level, waves * to_and_fro - raised * up) @ still
    return gait.Walk(motion.hips, turns)


def _between(turns: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Turns (F, 3, 3) on the way to another one (3, 3), by shares (F,)."""
    left, _, right = np.linalg.svd(turns + share[:, None, None] * (other - turns))
    return left @ right


def _styled(motion: gait.Walk, style: Style) -> gait.Walk:
    turns = dict(motion.turns)
    level = np.zeros(len(motion.hips))
    lean(turns, level, level + style.stoop, level)
    for name, share in (("neck", 0.5), ("head", 1.0)):  # it looks ahead all the same
        turns[name] = gait.turn(level, level - share * style.stoop, level) @ turns[name]
    for side, sign in ((".L", 1.0), (".R", -1.0)):
        for name in _ARM:
            turns[name + side] = gait.turn(level, level, level + sign * style.wide) @ turns[name + side]
    return gait.Walk(motion.hips, turns)
