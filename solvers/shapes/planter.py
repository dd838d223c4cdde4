"""All that holds the feet of one target, learnt of its own clips, and what it makes of a clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..core.interpolation import BetweenRows
from ..surface.followed_ground import MISSING, UNREACHED, Ground
from .feet_motion import REACH, FeetMotion, FootPoints
from .foot_habits import FootHabits, learn_habits
from .foot_plants import DEFAULTS, PlantChoices, PlantTrack, plant_track
from .live_plants import LivePlants
from .mesh_feet import MeshFeet
from .plant_fields import PlantFields, plant_fields
from .plant_figures import PlantFigures, plant_figures

# Seconds, of a Gaussian over how a body goes up and down on a ground.
CARRIED = 0.2


@dataclass(frozen=True)
class Plants:
    """Of a clip: times (F,) seconds, by how much the target is moved then, and what came of it.

    missing, unreached: (F,) bool, where a foot that stands has no ground below it, or has some that no step reaches.
    """

    times: np.ndarray
    track: PlantTrack
    fields: PlantFields
    figures: PlantFigures
    missing: np.ndarray
    unreached: np.ndarray

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Roots (N, 3) and offsets (N, H, 3), see ``PlantTrack``, at times (N,), on the line between frames."""
        between = BetweenRows.at(times, self.times)
        return between.of(self.track.root), between.of(self.track.offsets)


@dataclass(frozen=True)
class Planter:
    """points: of the feet.  fields: how the mesh follows them.  habits: of the target's own clips."""

    points: FootPoints
    fields: PlantFields
    habits: FootHabits

    @classmethod
    def learn(
        cls, feet: MeshFeet, rest: np.ndarray, triangles: np.ndarray, same: np.ndarray, own: Sequence[tuple]
    ) -> Planter:
        """Of vertices (V, 3) at rest with triangles (T, 3); same (V,): see ``weld.staying_together``.

        own: of each own clip times (F,), points (F, N, 3) and places (F, 2), see ``FeetMotion``.  Raises InputError
        where there are no feet.
        """
        points = FootPoints(feet)
        fields = plant_fields(rest, triangles, points, same)
        return cls(points, fields, learn_habits([FeetMotion(points, *clip) for clip in own]))

    def habits_on(self, picked: bool) -> FootHabits:
        """What feet are judged by, on a ground that the user has picked or on none."""
        return self.habits.on_picked_ground() if picked else self.habits

    def plants(
        self,
        times: np.ndarray,
        points: np.ndarray,
        places: np.ndarray,
        ground: Ground | None = None,
        choices: PlantChoices = DEFAULTS,
        carried: np.ndarray | None = None,
    ) -> Plants:
        """Of a clip, see ``FeetMotion``; what climbs in its own clips may do so here as well.

        carried: (F,) metres by which all of it is moved up before, as onto a ground that lies elsewhere.
        """
        habits, lifted = self.habits_on(ground is not None), np.zeros(len(times)) if carried is None else carried
        up = np.outer(lifted, [0.0, 0.0, 1.0])
        motion = FeetMotion(self.points, times, points + up[:, None], places, ground, carried)
        choices = replace(choices, may_climb=choices.may_climb or habits.climbs)
        track = plant_track(motion, habits, self.fields, choices)
        figures = plant_figures(motion, habits, self.fields, track, choices.may_climb)
        off = [_stands_where(motion, track.stands, state) for state in (MISSING, UNREACHED)]
        return Plants(times, replace(track, root=track.root + up), self.fields, figures, *off)

    def live(self, on_ground: bool = False, choices: PlantChoices = DEFAULTS) -> LivePlants:
        """The same for what is performed now.  on_ground: that the user has picked."""
        return LivePlants(self.points, self.habits_on(on_ground), self.fields, choices)


def _stands_where(motion: FeetMotion, stands: np.ndarray, state: int) -> np.ndarray:
    """(F,) whether a foot that stands (F, K) is where the ground is in a state."""
    if motion.followed is None:
        return np.zeros(len(stands), bool)
    return (stands & (motion.followed.states == state)).any(axis=1)


def reach_of(planter: Planter) -> float:
    """Metres: no sole is moved farther, and no step goes higher or deeper."""
    return REACH * planter.points.height


def carried(times: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """(F,) how far a body goes up and down on a ground that is at heights (F,) below it."""
    step = (times[-1] - times[0]) / max(len(times) - 1, 1)
    return gaussian_filter1d(heights, CARRIED / step, mode="nearest") if step > 0.0 else heights


def moved(
    vertices: np.ndarray, world: np.ndarray, fields: PlantFields, root: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3), own space, and world matrix (4, 4), moved by a root (3,) and offsets (H, 3) in the world."""
    world = world.copy()
    world[:3, 3] += root
    if offsets.any():
        vertices = vertices + fields.moved(offsets @ np.linalg.inv(world[:3, :3]).T)
    return vertices, world
