"""A performance for a puppet to follow: the figure walks, leans, raises its arms, hops and walks on along a bend.

Lengths in metres, times in seconds; x ahead, y to the left, z up. F frames.
"""

from __future__ import annotations

import math

import bpy
import gait
import numpy as np
from figure import make_figure
from walker import TO_LOCAL, key_poses

FPS = 24
WALK_STEPS, PAUSE, LATER_STEPS = 8, 9.2, 8  # steps, seconds on the spot, steps
LEANS = {"left": 6.2, "right": 7.5}  # seconds of the deepest
RAISED = (8.7, 10.7)  # seconds: arms go up, and are down again
HOPS, AIRBORNE = (11.7, 13.1), 0.5  # seconds of take-off, and how long both feet are in the air
BEND = math.radians(80.0)  # how far the way turns to the left while it walks on
LEAN, TWIST, RAISE, FLING = (math.radians(angle) for angle in (30.0, 20.0, 170.0, 110.0))

_PERIOD = gait.PERIOD
_START, _END = 0.0, (WALK_STEPS + 1 + LATER_STEPS) * _PERIOD + PAUSE
_UPPER = {"spine": 0.35, "chest": 0.8, "neck": 1.0, "head": 1.1}
_ARM = ("clavicle", "upper_arm", "forearm", "hand")
_GRAVITY = 9.81


def make_performer() -> bpy.types.Object:
    """The figure with its performance keyed on every frame from 1 on; the scene's range and rate are set to it."""
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    rig = make_figure("Performer", TO_LOCAL)
    rig.rotation_euler.z = math.pi / 2.0
    times = np.arange(_START, _END, 1.0 / FPS)
    motion = _performed(times)
    key_poses(rig, motion.hips, motion.turns)
    scene.frame_start, scene.frame_end = 1, len(times)
    return rig


def frame_at(seconds: float) -> int:
    """The scene frame nearest to a time of the performance."""
    return 1 + round((seconds - _START) * FPS)


def _performed(times: np.ndarray) -> gait.Walk:
    ducks = [gait.Duck(hop + side, 0.26, 0.4, 0.13) for hop in HOPS for side in (-0.16, AIRBORNE + 0.14)]
    motion = gait.walk(_stands(), lambda _: 0.0, times, ducks=ducks)
    turns = motion.turns
    level = np.zeros(len(times))
    for deepest, sign in ((LEANS["left"], 1.0), (LEANS["right"], -1.0)):
        amount = sign * np.exp(-0.5 * ((times - deepest) / 0.3) ** 2)
        lean(turns, TWIST * amount, level, -LEAN * amount)
    up = eased((times - RAISED[0]) / 0.7) * eased((RAISED[1] - times) / 0.7)
    flung = sum(eased((times - hop + 0.1) / 0.25) * eased((hop + AIRBORNE + 0.3 - times) / 0.45) for hop in HOPS)
    for side, sign in ((".L", 1.0), (".R", -1.0)):
        for name in _ARM[1:]:
            turns[name + side] = gait.turn(level, -FLING * flung, sign * RAISE * up) @ turns[name + side]
    begin, length = (WALK_STEPS - 1) * gait.STRIDE, (LATER_STEPS - 1) * gait.STRIDE
    return along_bend(gait.Walk(motion.hips + _flight(times)[:, None] * gait.UP, turns), begin, length, BEND)


def _stands() -> dict[str, list[gait.Footstep]]:
    """A few steps that end with the feet beside each other, a stay, and a few steps more."""
    count = WALK_STEPS + LATER_STEPS + 1
    numbers = np.arange(-2, count + 4)
    strikes = numbers * _PERIOD + PAUSE * (numbers > WALK_STEPS)
    places = np.clip(numbers, 0, WALK_STEPS - 1) + np.clip(numbers - WALK_STEPS, 0, LATER_STEPS - 1)
    strikes[numbers > count] += 100.0  # it stays where it has come to
    steps: dict[str, list[gait.Footstep]] = {".L": [], ".R": []}
    for k in range(len(numbers) - 2):
        side, sign = ((".L", 1.0), (".R", -1.0))[numbers[k] % 2]
        place = np.array([places[k] * gait.STRIDE, sign * gait.FOOT_ASIDE, 0.0])
        steps[side].append(gait.Footstep(place, strikes[k], strikes[k + 2] - _PERIOD + gait.BOTH))
    return steps


def lean(turns: dict[str, np.ndarray], yaw, pitch, roll) -> None:
    """Turn all that is above the hips by angles (F,), of which each bone takes its share."""
    arms = [(name + side, _UPPER["chest"]) for name in _ARM for side in (".L", ".R")]
    for name, share in (*_UPPER.items(), *arms):
        turns[name] = gait.turn(share * yaw, share * pitch, share * roll) @ turns[name]


def _flight(times: np.ndarray) -> np.ndarray:
    """(F,) how high the body flies."""
    share = np.stack([np.clip((times - hop) / AIRBORNE, 0.0, 1.0) for hop in HOPS])
    return (0.5 * _GRAVITY * AIRBORNE**2 * share * (1.0 - share)).sum(axis=0)


def along_bend(motion: gait.Walk, begin: float, length: float, bend: float) -> gait.Walk:
    """The same, its way turned by so much to the left along an arc: from begin on, over a length of it."""
    radius = length / bend
    angle = np.clip((motion.hips[:, 0] - begin) / length, 0.0, 1.0) * bend
    beyond = motion.hips[:, 0] - begin - radius * angle
    aside = np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    hips = motion.hips.copy()
    hips[:, :2] = [begin, radius] - (radius - motion.hips[:, 1])[:, None] * aside
    hips[:, :2] += beyond[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    turn = gait.turn(angle, 0.0 * angle, 0.0 * angle)
    return gait.Walk(hips, {name: turn @ matrix for name, matrix in motion.turns.items()})


def eased(x: np.ndarray) -> np.ndarray:
    """From 0 to 1 and at rest at both."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)
