"""Where the soles of mapped targets go in the world, from the side."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solvers.core.lag import rates
from solvers.mapping.travel import LAG

from ._sheet import GREY, Sheet
from ._travel_cases import clip, learnt, mapped

_CASES = (("Cow", "Gallop", "Fox", "Gallop"), ("Horse", "Walk", "Husky", "Walk"))
_COLOURS = ((0.85, 0.2, 0.1), (0.1, 0.45, 0.85), (0.95, 0.6, 0.1), (0.1, 0.6, 0.35))
_WIDTH, _ROW, _MARGIN, _FPS, _CYCLES = 1400, 150, 20, 60.0, 2.0


def draw(file: Path) -> None:
    """Two rows a case: before, and now."""
    sheet = Sheet(_WIDTH, 2 * len(_CASES) * _ROW)
    for number, case in enumerate(_CASES):
        known, motion = learnt(*case[2:]), mapped(case[:2], case[2:], _FPS, 1.0)
        soles, whole = known.readout.of(motion.coefficients)
        times, strokes = motion.times, known.travel.strokes
        old = known.before.velocity(rates(motion.coefficients, times, LAG))
        ways = 0.5 * (old[1:] + old[:-1]), strokes.velocity(soles, whole, times)
        shown = slice(motion.first, motion.first + round(_CYCLES * clip(*case[:2]).seconds * _FPS) + 1)
        paths = []
        for velocity in ways:
            place = np.concatenate(([0.0], np.cumsum((velocity @ strokes.forward) * np.diff(times))))
            along = soles[..., :2] @ strokes.forward + place[:, None]
            paths.append(np.stack((along, soles[..., 2]), axis=-1)[shown])
        _rows(sheet, 2 * number, paths, strokes.feet)
    sheet.save(file)


def _rows(sheet: Sheet, row: int, paths: list[np.ndarray], feet) -> None:
    """Paths (F, K, 2) along and up, all in one scale."""
    left = min(path[..., 0].min() for path in paths)
    scale = (_WIDTH - 2 * _MARGIN) / (max(path[..., 0].max() for path in paths) - left)
    scale = min(scale, (_ROW - 2 * _MARGIN) / (paths[0][..., 1].max() - feet.ground))
    for number, path in enumerate(paths):
        floor = (row + number + 1) * _ROW - _MARGIN
        sheet.lines([[(0, floor), (_WIDTH, floor)]], GREY, 1.0)
        x, y = _WIDTH - _MARGIN - scale * (path[..., 0] - left), floor - scale * (path[..., 1] - feet.ground)
        points = np.stack((x, y), axis=-1)
        for foot, colour in zip(range(points.shape[1]), _COLOURS, strict=False):
            sheet.lines(np.stack((points[:-1, foot], points[1:, foot]), axis=1), colour, 1.5)
