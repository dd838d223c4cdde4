"""A walk made from planned footsteps: feet roll from heel to toe without sliding, everything else follows.

Lengths in metres, times in seconds; x ahead, y to the left, z up. F frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from figure import HEEL, skeleton
from scipy.ndimage import gaussian_filter1d, minimum_filter1d

STRIDE, PERIOD, BOTH = 0.66, 0.54, 0.13  # one step's length and time, and how long both feet are down
FOOT_ASIDE = 0.085
STRIKE, PUSH = np.radians(16.0), np.radians(-40.0)  # pitch of the foot at heel strike and at toe-off
ROLL_DOWN, ROLL_UP = 0.12, 0.25  # how long the foot rolls onto its sole, and off over the ball
LEFT, AHEAD, UP = np.eye(3)[1], np.eye(3)[0], np.eye(3)[2]


@dataclass(frozen=True)
class Footstep:
    """A foot's stand: its ankle above place (3,) on the ground, from strike to off."""

    place: np.ndarray
    strike: float
    off: float


@dataclass(frozen=True)
class HandHold:
    """The left hand's stay: the wrist at place (3,), palm down, from start to stop."""

    place: np.ndarray
    start: float
    stop: float
    ramp: float = 0.4


@dataclass(frozen=True)
class Duck:
    """A stoop that is deepest at a time: how far hips sink (metres) and the back bends (radians)."""

    time: float
    sink: float
    bend: float
    width: float = 0.45


@dataclass(frozen=True)
class Walk:
    """hips: (F, 3) place of the hips' head; turns: bone -> (F, 3, 3) rotation away from the rest pose."""

    hips: np.ndarray
    turns: dict[str, np.ndarray]


def footsteps(ground: Callable[[float], float], first: int, last: int) -> dict[str, list[Footstep]]:
    """Steps number first to last: even ones left; step k strikes at k PERIOD. ground: height at x."""
    steps: dict[str, list[Footstep]] = {".L": [], ".R": []}
    for k in range(first, last + 1):
        side, sign = ((".L", 1.0), (".R", -1.0))[k % 2]
        place = np.array([k * STRIDE, sign * FOOT_ASIDE, ground(k * STRIDE)])
        steps[side].append(Footstep(place, k * PERIOD, (k + 1) * PERIOD + BOTH))
    return steps


def walk(steps, ground, times: np.ndarray, hold: HandHold | None = None, ducks: Sequence[Duck] = ()) -> Walk:
    """The pose of every bone at times (F,), evenly spaced; steps must begin before and end after them."""
    fps = 1.0 / (times[1] - times[0])
    bones = skeleton()
    feet = {side: _Foot(bones, side, steps[side], ground, times) for side in steps}
    turns = {}
    stride = _smooth(feet[".L"].ankle[:, 0] - feet[".R"].ankle[:, 0], 0.04, fps)
    load = _smooth(feet[".L"].down - feet[".R"].down, 0.09, fps)  # 1: on the left foot alone
    sink, bend = np.zeros((2, len(times)))
    for duck in ducks:
        stoop = np.exp(-0.5 * ((times - duck.time) / duck.width) ** 2)
        sink, bend = sink + duck.sink * stoop, bend + duck.bend * stoop
    yaw = -0.16 * stride
    turns["hips"] = turn(yaw, 0.04 + 0.25 * bend, -0.05 * load)
    turns["spine"] = turn(0.2 * yaw, 0.05 + 0.7 * bend, -0.01 * load)
    turns["chest"] = turn(-0.8 * yaw, 0.06 + bend, 0.03 * load)
    turns["neck"] = turn(-0.3 * yaw, 0.05 + 0.75 * bend, 0.01 * load)
    turns["head"] = turn(0.0 * yaw, 0.02 + 0.55 * bend, 0.0 * load)
    hips = _hips(bones, feet, turns["hips"], load, fps) - sink[:, None] * UP
    for side, foot in feet.items():
        joint = hips + _apply(turns["hips"], bones["thigh" + side][1] - bones["hips"][1])
        pole = AHEAD + (0.12 if side == ".L" else -0.12) * LEFT
        _leg(turns, bones, side, joint, foot, pole)
        _arm(turns, bones, side, hips, stride, hold if side == ".L" else None, times, fps)
    return Walk(hips, turns)


class _Foot:
    """One foot over all frames: ankle (F, 3), pitch (F,) of the foot and of the toes, down (F,) 0..1."""

    def __init__(self, bones, side, steps: list[Footstep], ground, times):
        rest = bones["foot" + side][1] * [1.0, 0.0, 1.0]
        self.ball = bones["toe" + side][1] * [1.0, 0.0, 1.0] - rest
        self.tip = bones["toe" + side][2] * [1.0, 0.0, 1.0] - rest
        self.heel = np.array([HEEL, 0.0, 0.0]) - rest
        self.rest = rest
        self.ankle, self.pitch, self.toes = (np.zeros((len(times), n)) for n in (3, 1, 1))
        self.down = np.zeros(len(times))
        for step in steps:
            on = (times >= step.strike) & (times < step.off)
            self.ankle[on], self.pitch[on, 0], self.toes[on, 0] = self._stance(step, times[on])
            self.down[on] = 1.0
        for step, after in zip(steps, steps[1:], strict=False):
            on = (times >= step.off) & (times < after.strike)
            self.ankle[on], self.pitch[on, 0], self.toes[on, 0] = self._swing(step, after, ground, times[on])
        self.pitch, self.toes = self.pitch[:, 0], self.toes[:, 0]

    def _stance(self, step: Footstep, times):
        """Ankle, foot pitch and toe pitch while the heel, the sole or the ball stays where it is."""
        down = np.clip((times - step.strike) / ROLL_DOWN, 0.0, 1.0)
        up = np.clip((times - step.off + ROLL_UP) / ROLL_UP, 0.0, 1.0)
        onto, over = STRIKE * (1.0 - down) ** 2, PUSH * up**2 * (1.0 + up) / 2.0
        ankle = step.place + self.rest
        ankle = ankle + self.heel - _pitched(self.heel, onto) + self.ball - _pitched(self.ball, over)
        return ankle, onto + over, onto

    def _swing(self, step: Footstep, after: Footstep, ground, times):
        """A quintic between two stands, raised until nothing scrapes."""
        s = (times - step.off) / (after.strike - step.off)
        span = after.strike - step.off
        ends = []
        for stand, time in ((step, step.off), (after, after.strike)):
            inward = -1e-3 if stand is step else 1e-3
            near = np.concatenate([_columns(self._stance(stand, np.array([time + k * inward]))) for k in (0, 1)])
            ends.append((near[0], (near[1] - near[0]) / inward * span))
        path = _quintic(s, *ends[0], *ends[1])
        ankle, pitch, toes = path[:, :3], path[:, 3], path[:, 4]
        lift = 64.0 * (s * (1.0 - s)) ** 3
        for _ in range(40):
            if self._clearance(ankle, pitch, ground, s) > 0.025:
                break
            ankle = ankle + 0.01 * lift[:, None] * UP
        return ankle, pitch, toes

    def _clearance(self, ankle, pitch, ground, s):
        """Least height above the ground of heel, ball and tip in the middle of the swing."""
        middle = (s > 0.25) & (s < 0.85)
        points = np.stack([ankle + _pitched(part, pitch) for part in (self.heel, self.ball, self.tip)])
        above = points[..., 2] - np.vectorize(ground, otypes=[float])(points[..., 0])
        return above[:, middle].min(initial=np.inf)


def _hips(bones, feet, turn, load, fps):
    """Where the hips are: between the feet, swaying to the loaded one, as high as both legs allow."""
    middle = (feet[".L"].ankle + feet[".R"].ankle) / 2.0
    place = _smooth(middle, 0.18, fps)
    place[:, 0] += 0.02
    place[:, 1] = 0.028 * load
    bound = np.full(len(place), np.inf)
    for side, foot in feet.items():
        offset = _apply(turn, bones["thigh" + side][1] - bones["hips"][1])
        leg = 0.99 * (_length(bones, "thigh" + side) + _length(bones, "shin" + side))
        across = np.linalg.norm((place + offset - foot.ankle)[:, :2], axis=1)
        height = foot.ankle[:, 2] + np.sqrt(np.maximum(leg**2 - across**2, 0.0)) - offset[:, 2]
        bound = np.minimum(bound, height)
    reach = int(0.05 * fps)
    place[:, 2] = _smooth(minimum_filter1d(bound, 2 * reach + 1), 0.055, fps)
    return place


def _leg(turns, bones, side, hip, foot: _Foot, pole):
    """Thigh and shin reach the ankle by the law of cosines; foot and toes have their pitch already."""
    knee = _bend(hip, foot.ankle, _length(bones, "thigh" + side), _length(bones, "shin" + side), pole)
    hinge = np.cross(pole, UP)
    for name, head, tail in (("thigh", hip, knee), ("shin", knee, foot.ankle)):
        turns[name + side] = _aim(bones[name + side], -LEFT, tail - head, hinge)
    # Bones point at their tails, the pitch is the sole's: turning the rest pose by it is all.
    turns["foot" + side] = turn(0.0 * foot.pitch, -foot.pitch, 0.0 * foot.pitch)
    turns["toe" + side] = turn(0.0 * foot.toes, -foot.toes, 0.0 * foot.toes)


def _arm(turns, bones, side, hips, stride, hold, times, fps):
    """The arm swings against the leg of its side; a held hand draws the wrist to its place."""
    sign = 1.0 if side == ".L" else -1.0
    swing = -0.5 * sign * _smooth(stride, 0.05, fps) + 0.05
    flex = 0.38 + 0.35 * np.clip(swing + 0.2, 0.0, None)
    aside = 0.14 * sign
    chest = turns["chest"]
    turns["clavicle" + side] = chest
    shoulder = hips + _chain(turns, bones, ("hips", "spine", "chest", "clavicle" + side))
    upper = np.stack([np.sin(swing) * np.cos(aside), np.sin(aside) + 0 * swing, -np.cos(swing)], axis=1)
    fore = np.stack([np.sin(swing + flex), 0.3 * np.sin(aside) + 0 * swing, -np.cos(swing + flex)], axis=1)
    above, below = _length(bones, "upper_arm" + side), _length(bones, "forearm" + side)
    elbow = shoulder + above * _unit(upper)
    wrist = elbow + below * _unit(fore)
    point, palm = _unit(fore) - 0.15 * sign * LEFT, -LEFT + 0.0 * fore
    if hold is not None:
        inside = np.minimum(times - hold.start + hold.ramp, hold.stop + hold.ramp - times) / hold.ramp
        weight = _ease(np.clip(inside, 0.0, 1.0))[:, None]
        behind = _unit(elbow - (shoulder + wrist) / 2.0)
        wrist = wrist + weight * (hold.place - wrist)
        # The hand comes and goes over the edge, never through it.
        wrist = wrist + 0.12 * (4.0 * weight * (1.0 - weight)) ** 2 * UP
        pole = (1.0 - weight) * behind + weight * _unit(np.array([-0.5, 0.55 * sign, -0.4]))
        elbow = _bend(shoulder, wrist, above, below, pole)
        point = (1.0 - weight) * point + weight * _unit(np.array([1.0, -0.1, -0.12]))
        palm = (1.0 - weight) * palm - weight * UP
    hinge = np.cross(elbow - shoulder, wrist - elbow)
    hinge = np.where((hinge @ -LEFT)[:, None] < 0, -hinge, hinge) + 1e-4 * -LEFT
    for name, tail, head, ref in (
        ("upper_arm", elbow, shoulder, hinge), ("forearm", wrist, elbow, hinge), ("hand", point, 0.0, palm),
    ):  # fmt: skip
        turns[name + side] = _aim(bones[name + side], -LEFT, tail - head, ref)


def _bend(root, end, above, below, pole):
    """The middle joint (F, 3) of two bones from root to end, on the side of pole."""
    line = end - root
    far = np.linalg.norm(line, axis=-1, keepdims=True)
    reach = np.minimum(far, 0.9999 * (above + below))
    along = line / far
    side = pole - along * (along * pole).sum(axis=-1, keepdims=True)
    x = (above**2 - below**2 + reach**2) / (2.0 * reach)
    return root + x * along + np.sqrt(np.maximum(above**2 - x**2, 0.0)) * _unit(side)


def _aim(bone, rest_ref, direction, ref):
    """Rotation (F, 3, 3) that brings a bone's rest direction and a reference to new ones."""
    rest = _frame((bone[2] - bone[1])[None], rest_ref)
    return _frame(direction, ref) @ np.swapaxes(rest, -1, -2)


def _frame(direction, ref):
    """Frames (F, 3, 3) whose first axis is direction and whose second is nearest to ref."""
    first = _unit(direction)
    second = _unit(ref - first * (first * ref).sum(axis=-1, keepdims=True))
    return np.stack([first, second, np.cross(first, second)], axis=-1)


def turn(yaw, pitch, roll):
    """Rotations (F, 3, 3): roll about ahead, then pitch about left (forward lean), then yaw about up."""
    yaw, pitch, roll = np.broadcast_arrays(yaw, pitch, roll)
    return _about(yaw, 2) @ _about(pitch, 1) @ _about(roll, 0)


def _about(angle, axis):
    a, b = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., axis, axis] = 1.0
    matrix[..., a, a] = matrix[..., b, b] = np.cos(angle)
    matrix[..., b, a] = np.sin(angle)
    matrix[..., a, b] = -matrix[..., b, a]
    return matrix


def _chain(turns, bones, names):
    """From the first bone's head to the last one's tail (F, 3), through the bones' heads."""
    heads = [bones[name][1] for name in names] + [bones[names[-1]][2]]
    return sum(_apply(turns[name], heads[k + 1] - heads[k]) for k, name in enumerate(names))


def _quintic(s, start, start_speed, end, end_speed):
    """Polynomial (F, n) with given values and slopes (n,) at s = 0 and 1, and no curvature there."""
    s = s[:, None]
    ease, out = _ease(s), s - 6 * s**3 + 8 * s**4 - 3 * s**5
    into = -4 * s**3 + 7 * s**4 - 3 * s**5
    return start + (end - start) * ease + start_speed * out + end_speed * into


def _columns(stance):
    ankle, pitch, toes = stance
    return np.concatenate([ankle, pitch[:, None], toes[:, None]], axis=1)


def _pitched(offset, pitch):
    """offset (3,) turned by pitch (F,), toes up positive: (F, 3)."""
    return _apply(_about(-np.asarray(pitch), 1), offset)


def _apply(turns, offset):
    return np.einsum("...ij,j->...i", turns, offset)


def _ease(s):
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def _smooth(values, seconds, fps):
    return gaussian_filter1d(values, seconds * fps, axis=0, mode="nearest")


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _length(bones, name):
    return np.linalg.norm(bones[name][2] - bones[name][1])
