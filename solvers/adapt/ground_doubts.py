"""What somebody may not expect of an object that takes the place of another one, though it can be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..surface.inside_out import inside_out
from ..surface.point_transfer import GRAVITY, WALL
from .binding import Binding
from .new_ground import DOWN, UP
from .options import SurfaceUse
from .present_places import Replaced
from .sliding_feet import SlidingFoot, sliding_feet
from .standing import moved_at_bind

# Metres at 1.8 m: cells of a way as seen from above, in each of which it has one height, or crosses above itself.
_CELL = 0.5


@dataclass(frozen=True)
class GroundDoubt:
    """Of the object with a number.

    rise: metres that the ground is higher where the motion begins, where that is more than a body goes up or down
    later on; else 0.  is_steep: whether it goes along gravity and nothing of it can, as of a wall.
    has_moved: whether it moved at bind, so that no feet stand on what replaces it.
    inside_out, closed: how many closed pieces of what replaces it look inward, and how many there are.
    crossing: (F,) bool, frames at which the body's way lies above or below another part of itself.
    sliding: feet that slide over it in the source.
    """

    number: int
    rise: float
    is_steep: bool
    has_moved: bool
    inside_out: int
    closed: int
    crossing: np.ndarray
    sliding: Sequence[SlidingFoot]


def ground_doubts(
    binding: Binding, uses: Sequence[SurfaceUse], replaced: Mapping[int, Replaced]
) -> list[GroundDoubt]:
    """Of every object that is replaced, in their order. replaced: of ``PresentPlaces``."""
    out = []
    for number, each in sorted(replaced.items()):
        level = binding.axes[0, binding.points.of_object(number), :, 0] @ each.ground.upright[2] > WALL
        is_steep = uses[number].replaced == GRAVITY and not level.any()
        moved, ground = moved_at_bind(binding, number), each.ground
        turned = inside_out(ground.mesh, ground.positions[:, binding.tree.order[0]])
        crossing = _crossing(ground) if uses[number].replaced == GRAVITY else np.zeros(len(ground.ways), bool)
        sliding = () if moved else sliding_feet(binding, number)
        out.append(
            GroundDoubt(number, _rise(binding, number, each, level), is_steep, moved, *turned, crossing, sliding)
        )
    return out


def _crossing(ground):
    """(F,) bool."""
    out = np.zeros(len(ground.ways), bool)
    if ground.levels is None:
        return out
    cells = np.floor(ground.ways[:, 0] / (_CELL * ground.scale)).astype(int)
    cell = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)
    low, high = np.full(cell.max() + 1, np.inf), np.full(cell.max() + 1, -np.inf)
    np.minimum.at(low, cell, ground.levels[:, 0])
    np.maximum.at(high, cell, ground.levels[:, 0])
    return (high - low)[cell] > UP * ground.scale


def _rise(binding, number, replaced, level):
    """At the level point that is nearest to the body at first, as seen from above."""
    points, ground = replaced.points, replaced.ground
    level = np.flatnonzero(level & points.found)
    if not level.size:
        return 0.0
    before = binding.origins[0, binding.points.of_object(number)[level]] @ ground.upright.T
    root = ground.positions[0, binding.tree.order[: binding.tree.roots]].mean(axis=0)
    nearest = np.linalg.norm((before - root)[:, :2], axis=1).argmin()
    rise = float(points.origins[level[nearest]] @ ground.upright[2] - before[nearest, 2])
    up, down = UP * ground.scale, DOWN * ground.scale
    return rise if rise > up or rise < -down else 0.0
