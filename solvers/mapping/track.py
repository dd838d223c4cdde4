"""From a source's features to what its target does: the map of the pairs, and its result over a clip."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.interpolation import BetweenRows
from ..regression.latent_box import LatentBox
from ..regression.met_pairs import MetPairs, misses
from ..regression.ridge import PoseRidge, posterior_variance
from .source_motion import SourceTrack
from .travel_estimators import FeetAt, TravelChoices, TravelEstimators


@dataclass(frozen=True)
class MotionMap:
    """Poses of a source to poses of a target (Rhodin et al. 2014, sections 5.3 and 6), kept in the latent box.

    missed: (n,) how far from each pair's pose the map is, over that pose's distance from the mean one.
    """

    regression: MetPairs | PoseRidge
    box: LatentBox
    missed: np.ndarray

    @classmethod
    def learn(
        cls, rows: np.ndarray, coefficients: np.ndarray, box: LatentBox, edge: str = "soft", met: float = 1.0
    ) -> MotionMap:
        """rows: (n, P) features and coefficients: (n, D), of the pairs.  edge: of the box, see ``latent_box``.
        met: from 0, pairs are noisy measurements, to 1, where what they have alike is met; see ``met_pairs``.

        Raises InputError for fewer than two pairs.
        """
        coefficients = np.asarray(coefficients, float)
        regression = MetPairs.fit(rows, coefficients, met)
        box = replace(box, edge=edge).reaching(coefficients, met)
        return cls(regression, box, misses(box.keep(regression.predict(rows)), coefficients))

    def coefficients(self, features: np.ndarray) -> np.ndarray:
        """(..., D) of the target at features (..., P)."""
        return self.box.keep(self.regression.predict(features))

    @staticmethod
    def variance_of(rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        """What pairs of features (n, P), one is enough, leave unknown at features (..., P)."""
        return posterior_variance(features, rows)


@dataclass(frozen=True)
class MapTrack:
    """What a target does. times: (F,) seconds.  coefficients: (F, D).  positions: (F, 2) metres on the ground and
    headings: (F,) radians, from 0 at the first frame.  notes: on its steps, in words."""

    times: np.ndarray
    coefficients: np.ndarray
    positions: np.ndarray
    headings: np.ndarray
    notes: tuple[str, ...] = ()

    def sampled(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients (N, D), positions (N, 2) and headings (N,) at times (N,), on the line between frames.

        Before the first frame and after the last one theirs are held.
        """
        between = BetweenRows.at(times, self.times)
        return between.of(self.coefficients), between.of(self.positions), between.of(self.headings)


def map_track(
    mapping: MotionMap,
    travel: TravelEstimators,
    source: SourceTrack,
    choices: TravelChoices,
    feet_at: FeetAt | None = None,
) -> MapTrack:
    """The target's motion over a clip of the source; raises InputError for a way to travel that there is not.

    feet_at: see ``TravelEstimators.track``.
    """
    coefficients = mapping.coefficients(source.features)
    found = travel.track(coefficients, source.times, source.translation, source.yaw, choices, feet_at)
    return MapTrack(source.times, coefficients, *found)


def placed(place: np.ndarray, pivot: np.ndarray, position: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """World matrices (..., 4, 4) of a target that has gone to positions (..., 2) and turned to headings (...).

    place: (4, 4) world matrix that it was learnt at.  pivot: (3,) world, about which it turns.
    """
    position, heading = np.asarray(position, float), np.asarray(heading, float)
    turn = np.zeros((*heading.shape, 4, 4))
    turn[..., 0, 0] = turn[..., 1, 1] = np.cos(heading)
    turn[..., 1, 0] = np.sin(heading)
    turn[..., 0, 1] = -turn[..., 1, 0]
    turn[..., 2, 2] = turn[..., 3, 3] = 1.0
    turn[..., :3, 3] = pivot - np.einsum("...ij,j->...i", turn[..., :3, :3], pivot)
    turn[..., :2, 3] += position
    return turn @ place


def lifted(vertices: np.ndarray, world: np.ndarray, floor: float) -> np.ndarray:
    """A world matrix (4, 4), raised so that no vertex (V, 3), own space, is below a height, metres, Z up."""
    lowest = float((vertices @ world[2, :3]).min() + world[2, 3])
    if lowest >= floor:
        return world
    world = world.copy()
    world[2, 3] += floor - lowest
    return world
