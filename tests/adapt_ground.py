"""Grounds that a made walk along y is put on, for tests of Adapt: arrays, Z up."""

from __future__ import annotations

import numpy as np

from benchmarks.props import box, flat_ground
from solvers.adapt.binding import Binding, fit
from solvers.core.types import JointTrack, MeshTrack
from tests.adapt_walk import march

RISE, TREAD = 0.17, 0.30
EFFECTORS = ("toe.L", "toe.R", "ankle.L", "ankle.R")


def bound_march(track: JointTrack | None = None, **kind) -> Binding:
    """A march on a flat floor, bound to it."""
    track = march(**kind) if track is None else track
    return fit(track, [flat_ground(track.positions, 0.0, 1.5)], np.isin(track.skeleton.names, EFFECTORS), 1.7)


def profile(points, width=2.0, name="Profile") -> MeshTrack:
    """Points (N, 2), y and z, drawn out along x."""
    points = np.asarray(points, float)
    sides = [np.column_stack((np.full(len(points), x), points)) for x in (width, -width)]
    first, count = np.arange(len(points) - 1), len(points)
    pairs = np.stack((first, first + 1, first + count), 1), np.stack((first + 1, first + 1 + count, first + count), 1)
    return MeshTrack(name, np.concatenate(sides)[None], np.concatenate(pairs))


def stairs(rise=RISE, tread=TREAD, start=0.6, steps=20) -> MeshTrack:
    edges = start + tread * np.arange(steps)
    y = np.concatenate(([-4.0], np.repeat(edges, 2), [edges[-1] + 4.0]))
    return profile(np.column_stack((y, rise * np.repeat(np.arange(steps + 1), 2))), name="Stairs")


def ramp(slope=0.2) -> MeshTrack:
    return profile([(-4.0, -4.0 * slope), (10.0, 10.0 * slope)], name="Ramp")


def planks(plank=0.45, gap=0.15, start=0.4, count=12) -> MeshTrack:
    """Separate boards, with nothing below the gaps."""
    starts = start + (plank + gap) * np.arange(count)
    boards = [box("Board", [-2.0, low, -0.1], [2.0, low + plank, 0.0]) for low in starts]
    boards.append(box("Board", [-2.0, -4.0, -0.1], [2.0, start - gap, 0.0]))
    size = boards[0].vertices.shape[1]
    triangles = [board.triangles + size * number for number, board in enumerate(boards)]
    return MeshTrack("Planks", np.concatenate([board.vertices for board in boards], axis=1), np.concatenate(triangles))
