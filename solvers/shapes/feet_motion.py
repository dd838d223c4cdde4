"""What the feet of a mesh do over time: their vertices in the world, how high above the ground, and how fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.errors import InputError
from ..core.lag import checked_times
from ..core.subsampling import evenly_spaced_indices
from ..surface.followed_ground import FollowedGround, Ground
from .mesh_feet import MeshFeet

# Of the body's height: no sole, nor a body that goes up or down with its feet, is moved farther, which would tear at
# legs; nor does a step go higher or deeper on a ground that was picked.
REACH = 0.2
# Of the way between the low and high heights of a foot's middle, and of the body's height.
_LOW, _LOW_LEAST = 0.5, 0.03
_PROBES = 24  # at most, of a foot


@dataclass(frozen=True)
class FootPoints:
    """Of K feet, one or more: vertices (N,) of the mesh, those of one foot after the other, and which are soles.

    Raises InputError where there are no feet.
    """

    feet: MeshFeet

    def __post_init__(self):
        if not len(self.feet):
            raise InputError("No foot was found: nothing of this mesh comes down to the ground by itself.")

    @cached_property
    def vertices(self) -> np.ndarray:
        """(N,)."""
        return np.concatenate([foot.vertices for foot in self.feet.feet])

    @cached_property
    def counts(self) -> np.ndarray:
        """(K,) how many of them each foot has."""
        return np.array([len(foot.vertices) for foot in self.feet.feet])

    @cached_property
    def starts(self) -> np.ndarray:
        """(K,) where each foot's begin."""
        return np.cumsum(self.counts) - self.counts

    @cached_property
    def probes(self) -> tuple[np.ndarray, ...]:
        """Numbers, among the N, of some of each foot's vertices, by whose heights ways of standing are told apart."""
        return tuple(
            start + evenly_spaced_indices(count, _PROBES)
            for start, count in zip(self.starts.tolist(), self.counts.tolist(), strict=True)
        )

    @cached_property
    def soles(self) -> np.ndarray:
        """(S,) numbers, among the N, of the vertices of all soles, one after the other."""
        pairs = zip(self.starts, self.feet.feet, strict=True)
        return np.concatenate([start + np.searchsorted(foot.vertices, foot.sole) for start, foot in pairs])

    @cached_property
    def sole_counts(self) -> np.ndarray:
        """(K,)."""
        return np.array([len(foot.sole) for foot in self.feet.feet])

    @cached_property
    def sole_starts(self) -> np.ndarray:
        """(K,)."""
        return np.cumsum(self.sole_counts) - self.sole_counts

    @cached_property
    def highest_low(self) -> np.ndarray:
        """(K,) above the ground: a foot whose middle is higher does not stand."""
        low, high = (np.array([getattr(foot, name) for foot in self.feet.feet]) for name in ("low", "high"))
        return low - self.feet.ground + np.maximum(_LOW * (high - low), _LOW_LEAST * self.feet.height)

    def slides(self, steps: np.ndarray) -> np.ndarray:
        """(N, K) lengths of steps (N, S, 2) over the ground, the means over the vertices of each sole."""
        lengths = np.sqrt(np.einsum("fsi,fsi->fs", steps, steps))
        return np.add.reduceat(lengths, self.sole_starts, axis=1) / self.sole_counts

    @property
    def height(self) -> float:
        """Of the body."""
        return self.feet.height

    def __len__(self) -> int:
        return len(self.feet)


@dataclass(frozen=True)
class FeetMotion:
    """feet: K of a mesh.  times: (F,) seconds.  points: (F, N, 3) world, metres, Z up, of ``FootPoints.vertices``.
    places: (F, 2) where the body is over the ground, which tells how fast it goes.  ground: that was picked; None for
    the level one that was found with the feet.  carried: (F,) metres by which all of it has been moved up from there to
    stand on a ground; None for nothing."""

    feet: FootPoints
    times: np.ndarray
    points: np.ndarray
    places: np.ndarray
    ground: Ground | None = None
    carried: np.ndarray | None = None

    def __post_init__(self):
        shapes = self.points.shape, self.places.shape
        expected = (len(self.times), len(self.feet.vertices), 3), (len(self.times), 2)
        if shapes != expected:
            raise InputError(f"Points and places of feet have shapes {shapes}, expected {expected}.")
        checked_times(self.times, len(self.points))

    def moved(self, by: np.ndarray) -> FeetMotion:
        """The same, all of it moved by (F, 3)."""
        return replace(self, points=self.points + by[:, None], places=self.places + by[:, :2])

    @cached_property
    def clearances(self) -> np.ndarray:
        """(F, K) of the lowest point of each foot above the ground, negative below it."""
        return np.minimum.reduceat(self._heights, self.feet.starts, axis=1)

    @cached_property
    def nearness(self) -> np.ndarray:
        """(F, K) the same, or above the level ground before it was carried, where that is less: on a slope one of two
        feet that stand is far from the ground below it."""
        return self._nearer(self.clearances, lambda heights: np.minimum.reduceat(heights, self.feet.starts, axis=1))

    @cached_property
    def middles(self) -> np.ndarray:
        """(F, K) heights of the feet's middles, likewise."""

        def means(heights: np.ndarray) -> np.ndarray:
            return np.add.reduceat(heights, self.feet.starts, axis=1) / self.feet.counts

        return self._nearer(means(self._heights), means)

    def _nearer(self, of_ground: np.ndarray, of_heights: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        if self.ground is None:
            return of_ground
        carried = 0.0 if self.carried is None else self.carried[:, None]
        return np.minimum(of_ground, of_heights(self.points[..., 2] - carried - self.feet.feet.ground))

    def probe_heights(self, foot: int) -> np.ndarray:
        """(F, P) of a foot's probes above the ground."""
        return np.take(self._heights, self.feet.probes[foot], axis=1)

    @cached_property
    def ways(self) -> np.ndarray:
        """(F, K, 2) of the middles of the feet over the ground."""
        sums = np.add.reduceat(self.points[..., :2], self.feet.starts, axis=1)
        return sums / self.feet.counts[:, None]

    @cached_property
    def followed(self) -> FollowedGround | None:
        """The ground that was picked, below each foot."""
        return None if self.ground is None else self.ground.along(self.ways, REACH * self.feet.height)

    @cached_property
    def _heights(self) -> np.ndarray:
        """(F, N) above the ground; what has none below it that its foot reaches is above the last that it had."""
        if self.ground is None:
            return self.points[..., 2] - self.feet.feet.ground
        levels, reach = np.repeat(self.followed.levels, self.feet.counts, axis=1), REACH * self.feet.height
        found = self.ground.heights(self.points.reshape(-1, 3), (levels + reach).ravel()).reshape(levels.shape)
        return self.points[..., 2] - np.where(found >= levels - reach, found, levels)

    @cached_property
    def soles(self) -> np.ndarray:
        """(F, S, 3) the vertices of all soles, one sole after the other."""
        return np.take(self.points, self.feet.soles, axis=1)

    @cached_property
    def sole_middles(self) -> np.ndarray:
        """(F, K, 2) over the ground."""
        sums = np.add.reduceat(self.soles[..., :2], self.feet.sole_starts, axis=1)
        return sums / self.feet.sole_counts[:, None]

    @cached_property
    def sole_steps(self) -> np.ndarray:
        """(F - 1, K, 2) by how much the middle of each sole moves over the ground from frame to frame."""
        return np.diff(self.sole_middles, axis=0)

    @cached_property
    def slides(self) -> np.ndarray:
        """(F - 1, K) metres a second over the ground, the mean over the vertices of each sole."""
        return self.feet.slides(np.diff(self.soles[..., :2], axis=0)) / np.diff(self.times)[:, None]
