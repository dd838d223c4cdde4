"""Strips of stick figures: an adapted clip around its worst frame and evenly over all of it, the source in grey."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solvers.core.types import MeshTrack
from solvers.surface.edges import unique_edges

from ._adapt_looks_measures import Result
from ._sheet import GREY, Sheet

WIDE, HIGH, FOOT = 140, 200, 18  # pixels of a picture, and below it
SPAN = 2.5  # metres that a picture is high, of a 1.8 m body
AROUND = (-8, -4, -2, -1, 0, 1, 3, 7)  # frames of 60 a second around the worst step, of which -1 and 0 are its ends
_RESULT, _WORST, _GROUND, _EDGE = (0.15, 0.4, 0.8), (0.9, 0.1, 0.1), (0.5, 0.35, 0.2), (0.88, 0.8, 0.7)
# Of a mesh with more triangles only the cut is drawn.
_SIMPLE = 400
# Length of the sum of two unit normals above which faces count as one plane.
_FLAT = 1.98


def draw(result: Result, path: Path) -> None:
    """Two rows of eight pictures, as one PNG: around the worst step, and evenly over the clip."""
    view = _View(result)
    sheet = Sheet(WIDE * len(AROUND), 2 * (HIGH + FOOT))
    for row, frames in enumerate((around(result), evenly(result))):
        for column, frame in enumerate(frames):
            corner = np.array((column * WIDE, row * (HIGH + FOOT)), float)
            _picture(sheet, result, view, int(frame), corner, row == 0)
    sheet.save(path)


def around(result: Result) -> np.ndarray:
    """Indices of the frames around the worst step."""
    rate = max(round(result.track.fps / 60.0), 1)
    offsets = np.array([offset if offset in (-1, 0) else offset * rate for offset in AROUND])
    return np.clip(result.step + offsets, 0, len(result.track.positions) - 1)


def evenly(result: Result) -> np.ndarray:
    """Indices of as many frames over the clip."""
    return np.linspace(0, len(result.track.positions) - 1, len(AROUND)).round().astype(int)


class _View:
    """Where a strip is looked at from: level, from the side of the walk, or from behind on a slope across."""

    def __init__(self, result: Result):
        root = int(np.flatnonzero(result.track.skeleton.parents < 0)[0])
        path = result.scene.track.positions[:, root, :2]
        along = np.linalg.svd(path - path.mean(axis=0), full_matrices=False)[2][0]
        if "across" in result.row.edit or "sideways" in result.row.edit:
            along = np.array((-along[1], along[0]))
        along = along * (1.0 if along[np.abs(along).argmax()] > 0 else -1.0)
        self.across = np.array(((*along, 0.0), (0.0, 0.0, -1.0)))
        self.depth = np.array((along[1], -along[0], 0.0))
        self.scale = HIGH / (SPAN * result.scene.height / 1.8)
        self.roots = result.track.positions[:, root]
        # The source is seen as if it were where the result is: poses are compared, not places.
        self.moved = self.roots - result.scene.track.positions[:, root]
        self.centres = 0.5 * (result.track.positions.min(axis=1) + result.track.positions.max(axis=1))

    def flat(self, points: np.ndarray, frame: int, source: bool = False) -> np.ndarray:
        """Pixels (..., 2) from the middle of the picture of a frame, of points (..., 3) of the result or its source."""
        centre = self.centres[frame] - (self.moved[frame] if source else 0.0)
        return (points - centre) @ self.across.T * self.scale


def _picture(sheet, result, view, frame, corner, close):
    _ground(sheet, result.scene.environment.values(), view, frame, corner, True)
    _ground(sheet, result.environment, view, frame, corner, False)
    parents = result.track.skeleton.parents
    child = np.flatnonzero(parents >= 0)
    bones = np.stack((parents[child], child), axis=1)
    source, adapted = result.scene.track.positions[frame], result.track.positions[frame]
    _lines(sheet, corner, view.flat(source[bones], frame, True), GREY, 2.0)
    _lines(sheet, corner, view.flat(adapted[bones], frame), _RESULT, 2.5)
    if close and frame in (result.step - 1, result.step):
        worst = bones[(bones == _worst_joint(result)).any(axis=1)]
        _lines(sheet, corner, view.flat(adapted[worst], frame), _WORST, 3.5)
    sheet.number(f"{result.track.frames[frame]:.0f}", corner + (WIDE / 2, HIGH + 4))
    sheet.lines([[corner + (WIDE - 1, 0), corner + (WIDE - 1, HIGH)]], GREY, 1.0)


def _ground(sheet, meshes, view, frame, corner, source):
    """Where the upright plane through the hips cuts the meshes, and the edges of simple ones."""
    for mesh in meshes:
        state = mesh.vertices[0 if mesh.is_static else frame]
        if not source and len(mesh.triangles) <= _SIMPLE:
            _lines(sheet, corner, view.flat(state[_edges(mesh, state)], frame), _EDGE, 1.0)
        point = view.roots[frame] - (view.moved[frame] if source else 0.0)
        cut = _cut(mesh, state, point, view.depth)
        _lines(sheet, corner, view.flat(cut, frame, source), GREY if source else _GROUND, 1.5)


def _worst_joint(result):
    figures = result.figures
    bone = figures["jump_bone" if result.step == figures["jump_index"] else "turn_bone"]
    return result.track.skeleton.names.index(bone)


def _lines(sheet, corner, pieces, colour, width):
    """Straight pieces (N, 2, 2) from the middle of a picture, cut off at its border."""
    pieces = _clipped(pieces, 0.5 * np.array((WIDE - 4, HIGH)))
    sheet.lines(pieces + corner + (WIDE / 2, HIGH / 2), colour, width)


def _clipped(pieces, half):
    """What of pieces (N, 2, 2) lies within ``half`` (2,) of the origin."""
    start, way = pieces[:, 0], pieces[:, 1] - pieces[:, 0]
    safe = np.where(np.abs(way) > 1e-9, way, 1e-9)
    ends = np.sort(np.stack(((-half - start) / safe, (half - start) / safe)), axis=0)
    first, last = np.clip(ends[0].max(axis=1), 0, 1), np.clip(ends[1].min(axis=1), 0, 1)
    seen = last > first
    share = np.stack((first, last), axis=1)[seen]
    return start[seen, None] + share[..., None] * way[seen, None]


def _cut(mesh: MeshTrack, vertices, point, normal):
    """Pieces (N, 2, 3) in which the plane through a point cuts a mesh."""
    side = (vertices - point) @ normal
    side = np.where(side == 0, 1e-12, side)[mesh.triangles]
    crossed = np.flatnonzero((side > 0).any(axis=1) & (side < 0).any(axis=1))
    side, corner = side[crossed], vertices[mesh.triangles[crossed]]
    # One corner is alone on its side.
    above = side > 0
    alone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (~above).argmax(axis=1))
    row = np.arange(len(crossed))
    ends = []
    for other in ((alone + 1) % 3, (alone + 2) % 3):
        share = side[row, alone] / (side[row, alone] - side[row, other])
        ends.append(corner[row, alone] + share[:, None] * (corner[row, other] - corner[row, alone]))
    return np.stack(ends, axis=1)


def _edges(mesh: MeshTrack, vertices):
    """Pairs (N, 2) of vertices between faces that are not in one plane, or with a face on one side alone."""
    corner = vertices[mesh.triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    edges, of_sides = unique_edges(mesh.triangles)
    total = np.zeros((len(edges), 3))
    np.add.at(total, of_sides, normal[:, None])
    return edges[np.linalg.norm(total, axis=1) < _FLAT]
