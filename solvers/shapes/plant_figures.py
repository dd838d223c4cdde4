"""How well feet stand, in figures: before they are held, after it, and in the target's own clips."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .feet_motion import FeetMotion
from .foot_contacts import grounded
from .foot_habits import FootHabits, levels, off_level, standing_slides
from .foot_plants import PlantTrack
from .plant_fields import PlantFields


@dataclass(frozen=True)
class PlantFigures:
    """feet: how many.  slide: metres a second over the ground, the mean over the vertices of standing soles; own: in
    the target's own clips.  away: how far the lowest point is from where it is to be while anything stands, metres, at
    the worst moment; own: likewise.  stands: share of the frames in which a foot does; own: likewise.  rooted_m: how
    far the body was moved over the ground, at most, and rooted_by: (x, y) metres of that.  asked_m: see ``PlantTrack``.
    short: how many runs were out of reach and are held in part."""

    feet: int
    slide_before: float
    slide_after: float
    slide_own: float
    away_before: float
    away_after: float
    away_own: float
    stands: float
    stands_own: float
    rooted_m: float
    short: int
    rooted_by: tuple[float, float] = (0.0, 0.0)
    asked_m: float = 0.0


def plant_figures(
    motion: FeetMotion, habits: FootHabits, fields: PlantFields, found: PlantTrack, may_climb: bool = True
) -> PlantFigures:
    """Of what feet did, see ``plant_track``, and of what was found for it."""
    after = planted(motion, fields, found)
    slides = [_mean(standing_slides(each, found.stands)) for each in (motion, after)]
    # At the same frames before and after: what is held may seem to land earlier.
    right, _ = levels(motion, found.stands, habits.level, may_climb)
    on_ground = grounded(motion, found.stands, right)
    aways = [off_level(each, on_ground, right) for each in (motion, after)]
    way = found.root[:, :2] if found.is_rooted else np.zeros((1, 2))
    by = tuple(way[np.linalg.norm(way, axis=1).argmax()].tolist())
    stands = float(found.stands.any(axis=1).mean())
    slides, aways = (*slides, habits.mean_slide), (*aways, habits.off)
    farthest, short = float(np.hypot(*by)), len(found.short)
    return PlantFigures(len(motion.feet), *slides, *aways, stands, habits.stands, farthest, short, by, found.asked)


def planted(motion: FeetMotion, fields: PlantFields, found: PlantTrack) -> FeetMotion:
    """The feet as they are held."""
    moved = np.einsum("nh,fhi->fni", fields.fields[motion.feet.vertices], found.offsets)
    return replace(motion, points=motion.points + moved + found.root[:, None], places=motion.places + found.root[:, :2])


def _mean(values: np.ndarray) -> float:
    return 0.0 if np.isnan(values).all() else float(np.nanmean(values))
