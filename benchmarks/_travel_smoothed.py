"""How far smoothed steps go, truly shorter ones, and steps backward: of stumps whose stroke is known and of animals."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from solvers.mapping.global_motion import ALL
from solvers.mapping.source_motion import SourceModel, source_track
from solvers.mapping.strokes import Strokes
from solvers.mapping.track import MotionMap
from solvers.shapes.mesh_feet import find_feet
from tests.stepping_bodies import TRIANGLES, stepper

from ._travel_cases import CYCLES, LEARNT_FPS, PAIRS, clip, gait, learnt, mapped
from ._travel_measures import TEMPOS

FRAMES, CYCLES_OF, DUTIES = (0.5, 1.0, 1.5, 2.0), (8, 12, 16, 25), (0.3, 0.4, 0.5, 0.65)
_FPS, _SHORTER = 24.0, 0.8


def stump_figures() -> dict[int, list[tuple[float, float]]]:
    """By frames a cycle, for each of ``FRAMES`` and then for steps 0.8 x as long: the lowest and the highest percent
    over ``DUTIES`` that two cycles, smoothed with their ends held, are off what they go unsmoothed."""
    return {cycle: [*zip(*_extremes(cycle), strict=True)] for cycle in CYCLES_OF}


def _extremes(cycle: int) -> tuple[np.ndarray, np.ndarray]:
    rows = []
    for duty in DUTIES:
        vertices = stepper(np.arange(2 * cycle + 1) / cycle, duty=duty)
        times, feet = np.arange(len(vertices)) / _FPS, find_feet(vertices, TRIANGLES, 0.0)
        strokes, middle = Strokes.learn(feet, vertices, times), vertices.mean(axis=0)
        smooth = [gaussian_filter1d(vertices, frames, axis=0, mode="nearest") for frames in FRAMES]
        short = middle + (vertices - middle) * [1.0, _SHORTER, 1.0]
        own, *ways, shorter = (
            np.linalg.norm(strokes.velocity(feet.soles(of), feet.centroids(of), times).mean(axis=0))
            for of in (vertices, *smooth, short)
        )
        rows.append([100.0 * (way / own - 1.0) for way in (*ways, shorter / _SHORTER)])
    return np.min(rows, axis=0), np.max(rows, axis=0)


def animal_figures(case: tuple[str, str, str, str], frames: float) -> tuple[float, float]:
    """Cycles by which coefficients at 24 frames a second are smoothed, and percent off what is right."""
    known, motion = learnt(*case[2:]), mapped(case[:2], case[2:], _FPS, 1.0)
    smooth = gaussian_filter1d(motion.coefficients, frames, axis=0, mode="nearest")
    velocity = known.travel.strokes.velocity(*known.readout.of(smooth), motion.times)
    speed = np.linalg.norm(velocity[motion.first :].mean(axis=0))
    seconds = clip(*case[:2]).seconds
    own = known.own * gait(*case[2:]).seconds / seconds
    return frames / (seconds * _FPS), 100.0 * (float(speed) / own - 1.0)


def backward_figures(case: tuple[str, str, str, str], paired_so: bool) -> list[float]:
    """By ``TEMPOS`` at 24 frames a second: how far back of what is right it goes whose source steps backward.

    paired_so: its pairs are of that; else of the source's steps forward.
    """
    of, body, known = clip(*case[:2]), gait(*case[2:]), learnt(*case[2:])
    found = []
    for tempo in TEMPOS:
        times = np.arange(round(CYCLES * of.seconds * _FPS / tempo) + 1) / _FPS
        ahead = of.joints(times * tempo)
        told = ahead[::-1] if paired_so else ahead
        model = SourceModel.fit(tuple(map(str, range(ahead.shape[1]))), told, times, ALL, True)
        picks = np.round((1.0 + np.arange(PAIRS) / PAIRS) * of.seconds / tempo * _FPS).astype(int)
        moments = times[-1] - times[picks] if paired_so else times[picks]
        rows = np.mod(moments * tempo / of.seconds, 1.0) * body.seconds * LEARNT_FPS
        own = known.space.coefficients
        poses = np.stack([np.interp(rows, np.arange(len(own)), column) for column in own.T], axis=1)
        mapping = MotionMap.learn(source_track(model, told, times).features[picks], poses, known.space.box, "soft")
        coefficients = mapping.coefficients(source_track(model, ahead[::-1], times).features)
        strokes = known.travel.strokes
        velocity = strokes.velocity(*known.readout.of(coefficients), times)[round(of.seconds / tempo * _FPS) :]
        right = known.own * body.seconds / of.seconds * tempo
        found.append(-float((velocity @ strokes.forward).mean()) / right)
    return found
