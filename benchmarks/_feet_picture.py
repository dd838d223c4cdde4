"""Close-ups of feet over a step or two, from the side, where they are in the world: what stands leaves one print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from solvers.shapes.planter import Planter
from solvers.surface.edges import unique_edges

from ._feet_cases import FeetCase
from ._feet_measures import moved, planted
from ._sheet import GREY, Sheet

# Cases that have a strip, and the seconds of it.
SHOWN = {
    "Map, cow to alpaca, walk": (1.5, 2.9),
    "Map, cow to husky, gallop": (0.55, 1.5),
    "Map, horse to fox, gallop": (0.55, 1.5),
}
_COLOURS = ((0.75, 0.15, 0.1), (0.1, 0.35, 0.75), (0.95, 0.6, 0.1), (0.15, 0.6, 0.3))
_WIDTH, _ROW, _EDGE = 1240, 190, 12
# Of the body's height: how much of it is seen above the ground.
_HIGH = 0.3


def name_of(case: str) -> str:
    """Of the file."""
    return "feet_" + case.lower().removeprefix("map, ").replace(",", "").replace(" ", "_") + ".png"


def draw(case: FeetCase, folder: Path) -> None:
    """Three rows: free, held as in own clips, held in full; the same stretch of the way."""
    if case.name not in SHOWN:
        return
    planter, result = case.planter(), case.result
    rows = [result.vertices]
    for choices in (case.choices, replace(case.choices, in_full=True)):
        rows.append(moved(planted(planter, result, choices), result))
    start, end = SHOWN[case.name]
    frames = np.flatnonzero((result.times >= start) & (result.times <= end))
    sheet = Sheet(_WIDTH, len(rows) * _ROW)
    along = result.places[frames[-1]] - result.places[frames[0]]
    view = _View(planter, along / np.linalg.norm(along), result.vertices[frames])
    for row, vertices in enumerate(rows):
        _draw_row(sheet, case, planter, view, vertices[frames], row * _ROW)
    sheet.save(folder / name_of(case.name))


class _View:
    """Pixels of world places, seen from the side of a way (2,)."""

    def __init__(self, planter: Planter, along: np.ndarray, vertices: np.ndarray):
        self._along = along
        ahead = vertices[:, planter.points.vertices, :2] @ along
        self._start, self._scale = ahead.min(), (_WIDTH - 2 * _EDGE) / np.ptp(ahead)
        self.ground = planter.points.feet.ground
        self.high = (_ROW - 2 * _EDGE) / self._scale

    def of(self, points: np.ndarray, top: int) -> np.ndarray:
        """(..., 2) of points (..., 3), in a row that begins at a height of the sheet."""
        across = _EDGE + (points[..., :2] @ self._along - self._start) * self._scale
        down = top + _ROW - _EDGE - (points[..., 2] - self.ground) * self._scale
        return np.stack((across, down), axis=-1)


def _draw_row(sheet: Sheet, case: FeetCase, planter: Planter, view: _View, vertices: np.ndarray, top: int) -> None:
    floor = np.array([[_EDGE, top + _ROW - _EDGE], [_WIDTH - _EDGE, top + _ROW - _EDGE]], float)
    sheet.lines(floor[None], GREY, 1.0)
    edges = unique_edges(case.same[case.triangles])[0]
    for number, foot in enumerate(planter.points.feet.feet):
        inside = np.zeros(vertices.shape[1], bool)
        inside[foot.vertices] = True
        own = edges[inside[edges].all(axis=1)]
        for shown in vertices:
            ends = view.of(shown[own], top)
            seen = ends[(ends[..., 1] > top + 2).all(axis=1)]
            sheet.lines(seen, _COLOURS[number % len(_COLOURS)], 1.0)
