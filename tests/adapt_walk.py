"""A walk onto a step and past it, made from formulas: small, with feet planted exactly, and without Blender."""

from __future__ import annotations

import numpy as np

from solvers.core.types import JointTrack, Skeleton

STRIDE, STEP_HEIGHT = 0.5, 0.15
FRAMES = np.arange(1, 25)
BODY = {
    "hips": None, "spine": "hips", "chest": "spine", "neck": "chest", "head": "neck", "crown": "head",
    "arm.L": "chest", "elbow.L": "arm.L", "wrist.L": "elbow.L", "hand.L": "wrist.L",
    "arm.R": "chest", "elbow.R": "arm.R", "wrist.R": "elbow.R", "hand.R": "wrist.R",
    "thigh.L": "hips", "knee.L": "thigh.L", "ankle.L": "knee.L", "toe.L": "ankle.L", "tip.L": "toe.L",
    "thigh.R": "hips", "knee.R": "thigh.R", "ankle.R": "knee.R", "toe.R": "ankle.R", "tip.R": "toe.R",
}  # fmt: skip


def walk(frames: np.ndarray = FRAMES, fps: float = 24.0) -> JointTrack:
    """One step of each foot: the right one onto a step, the left one past it. Knees bend by the law of cosines."""
    t = np.linspace(0.0, 1.0, len(frames))
    right, left = _foot(np.clip(2 * t, 0, 1), -0.5, STEP_HEIGHT), _foot(np.clip(2 * t - 1, 0, 1), 0.0, STEP_HEIGHT)
    ankles = {"L": left + [0.1, 0, 0.1], "R": right + [-0.1, 0, 0.1]}
    hips = np.stack([0 * t, -0.05 + 0.5 * t, 0.86 + 0.1 * t - 0.03 * np.cos(4 * np.pi * t)], axis=1)
    return _track(frames, fps, hips, ankles, t)


def march(steps: int = 6, stride: float = STRIDE, step_frames: int = 16, fps: float = 30.0) -> JointTrack:
    """Steps ahead along y on a floor at 0, each foot planted exactly while the other one swings."""
    frames = np.arange(steps * step_frames + 1)
    t = frames / step_frames
    feet = {"R": -0.5 * stride + 0 * t, "L": 0.5 * stride + 0 * t}
    lift = {"R": 0 * t, "L": 0 * t}
    for step in range(steps):
        share = np.clip(1.25 * (t - step) - 0.1, 0.0, 1.0)
        side = "RL"[step % 2]
        feet[side] = feet[side] + 2.0 * stride * share * share * (3.0 - 2.0 * share)
        lift[side] = lift[side] + 0.1 * np.sin(np.pi * share)
    ankles = {
        side: np.stack([0 * t + x, feet[side], 0.1 + lift[side]], axis=1) for side, x in (("L", 0.1), ("R", -0.1))
    }
    hips = np.stack([0 * t, stride * t, 0.84 - 0.02 * np.cos(2 * np.pi * t)], axis=1)
    return _track(frames, fps, hips, ankles, 0.5 * t)


def _track(frames, fps, hips, ankles, t):
    """The body on hips (F, 3) and ankles (F, 3) by side. t: (F,) strides done."""
    at = {"hips": hips}
    for name, height in (("spine", 0.1), ("chest", 0.3), ("neck", 0.52), ("head", 0.6), ("crown", 0.8)):
        at[name] = hips + [0, 0.02 * height, height]
    for side, x in (("L", 1.0), ("R", -1.0)):
        swing = 0.4 * x * np.cos(2 * np.pi * t)
        down = np.stack([0 * t + 0.1 * x, np.sin(swing), -np.cos(swing)], axis=1)
        at[f"arm.{side}"] = at["chest"] + [0.18 * x, 0, 0.15]
        for joint, above, length in (("elbow", "arm", 0.28), ("wrist", "elbow", 0.25), ("hand", "wrist", 0.09)):
            at[f"{joint}.{side}"] = at[f"{above}.{side}"] + length * down
        at[f"thigh.{side}"] = hips + [0.1 * x, 0, -0.05]
        at[f"knee.{side}"] = _knee(at[f"thigh.{side}"], ankles[side], 0.43, 0.42)
        at[f"ankle.{side}"] = ankles[side]
        at[f"toe.{side}"] = ankles[side] + [0, 0.14, -0.07]
        at[f"tip.{side}"] = ankles[side] + [0, 0.21, -0.07]
    names = tuple(BODY)
    parents = np.array([names.index(BODY[name]) if BODY[name] else -1 for name in names])
    return JointTrack(Skeleton(names, parents), np.stack([at[name] for name in names], axis=1), fps, frames)


def _foot(share, start, height):
    """(F, 3) a foot that goes one stride and a half ahead and up the step."""
    ease = share * share * (3 - 2 * share)
    lift = np.minimum(share * 3, 1.0) * height + 0.1 * np.sin(np.pi * share)
    return np.stack([0 * share, start + 2 * STRIDE * ease, np.where(share > 0, lift, 0.0)], axis=1)


def _knee(hip, ankle, thigh, shin):
    line = ankle - hip
    reach = np.minimum(np.linalg.norm(line, axis=1), 0.999 * (thigh + shin))
    along = (thigh**2 - shin**2 + reach**2) / (2 * reach)
    ahead = np.cross([1.0, 0, 0], line)
    ahead *= np.sign(ahead[:, 1:2]) / np.linalg.norm(ahead, axis=1)[:, None]
    off = np.sqrt(np.maximum(thigh**2 - along**2, 0.0))
    return hip + line / np.linalg.norm(line, axis=1)[:, None] * along[:, None] + ahead * off[:, None]
