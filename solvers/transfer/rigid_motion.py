"""How a target's torso turns and travels, from how its source's does: learnt from moments that answer to each other.

The turn is copied (``torso_turn`` learns what is other about it), the way is a similarity of the ground, the height a
line: six numbers fitted from frame to frame, as published, drift by a metre (see
``benchmarks.baselines.paper_displacement``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..rotations.polar import nearest_rotation

# What is held likely beforehand: ways and heights are in proportion to the bodies, give or take this share of it;
# bodies face as their parts lie, and local frames are upright, give or take so many radians.  Against that, a clip says
# as much as so many independent moments, and less the worse it fits.
_BELIEF, _FACES, _UPRIGHT, _MOMENTS = 0.3, 0.15, 0.08, 4.0
# Moves of less than this share of the source's size say nothing, nor do tilts of fewer radians of where a body faces.
_SMALL, _TILTS = 0.02, 0.03
# Who stays about one place to this share of the source's size, and comes back there, is on the spot: the torso only
# sways, which says little of steps.  How much more than its spread the way from beginning to end of a clip counts.
_SWAY, _NET = 0.25, 4.0
_ROUNDS = 3000
_STILL = 1e-13
_STARTS = (0.0, 0.5 * np.pi, -0.5 * np.pi)


@dataclass(frozen=True)
class RigidPairs:
    """Torsos at n moments that answer to each other: rotations (n, 3, 3), translations (n, 3), world, metres, Z up.

    clip: (n,) number of the pair of clips, from 0, in which both lie; in order, and in each in order of time.
    """

    source_rotations: np.ndarray
    source_translations: np.ndarray
    target_rotations: np.ndarray
    target_translations: np.ndarray
    clip: np.ndarray


@dataclass(frozen=True)
class Bodies:
    """What two bodies are like: sizes of source and target, metres, and the yaw, radians, that turns the source's local
    frame to where the target faces in its own."""

    source_size: float = 1.0
    target_size: float = 1.0
    yaw: float = 0.0

    @property
    def ratio(self) -> float:
        """How many times larger the target is."""
        return self.target_size / self.source_size


@dataclass(frozen=True)
class RigidTransfer:
    """headings: (clips,) yaw of the target's world against the source's.  offset: (3, 3) from the target's local frame
    to the source's.  way: (2,) the similarity of the ground as a complex number.  height: (2,) factor, and metres.
    source_place, target_place: (2,) ground places of the first pair, metres."""

    headings: np.ndarray
    offset: np.ndarray
    way: np.ndarray
    height: np.ndarray
    source_place: np.ndarray
    target_place: np.ndarray

    @classmethod
    def learn(cls, pairs: RigidPairs, bodies: Bodies) -> RigidTransfer:
        """Least squares over all pairs, each clip with a heading and a ground place of its own.

        R_target ~ Y_clip R_source C in the Frobenius norm; target's way ~ a Rot(theta) Y_clip times the source's, each
        clip's from its mean; height_target ~ alpha height_source + beta.  What the pairs do not tell, or not with one
        voice, is as the bodies are to each other.  Raises InputError where there is no pair.
        """
        if not len(pairs.clip):
            raise InputError("There are no pairs to learn travel from; mark some.")
        headings, offset = _turn(pairs, bodies)
        way = _way(pairs, headings, bodies)
        height = _height(pairs, bodies)
        places = (places[0, :2].copy() for places in (pairs.source_translations, pairs.target_translations))
        return cls(headings, offset, np.array((way.real, way.imag)), height, *places)

    def apply(
        self, rotations: np.ndarray, translations: np.ndarray, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (F, 3, 3) and translations (F, 3) of the target, world, metres, of those of the source.

        Each frame by itself.  The target's world lies to the source's as in the first clip that was learnt from.
        start: (2,) the place on the source's ground that becomes ``target_place``; where not given, that of the first
        frame. ``source_place`` makes of the clips learnt from what they were.
        """
        yaw = yaw_matrices(self.headings[:1])[0]
        start = translations[0, :2] if start is None else np.asarray(start, float)[:2]
        ground = _complex(translations[:, :2] - start) * np.exp(1j * self.headings[0]) * complex(*self.way)
        out = np.empty_like(translations, float)
        out[:, 0], out[:, 1] = ground.real + self.target_place[0], ground.imag + self.target_place[1]
        out[:, 2] = self.height[0] * translations[:, 2] + self.height[1]
        return yaw @ rotations @ self.offset, out

    def copied(self, pairs: RigidPairs) -> np.ndarray:
        """(n, 3, 3) rotations of the target, world, at the pairs that were learnt from, each in its clip's world."""
        return yaw_matrices(self.headings)[pairs.clip] @ pairs.source_rotations @ self.offset

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All that is needed to build the same again."""
        return dict(vars(self))

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> RigidTransfer:
        """Of what ``to_arrays`` gave."""
        return cls(**{name: np.asarray(arrays[name], float) for name in cls.__dataclass_fields__})


def yaw_matrices(angles: np.ndarray) -> np.ndarray:
    """Turns (N, 3, 3) about Z by angles (N,), radians."""
    out = np.zeros((len(angles), 3, 3))
    out[:, 0, 0] = out[:, 1, 1] = np.cos(angles)
    out[:, 1, 0] = np.sin(angles)
    out[:, 0, 1] = -out[:, 1, 0]
    out[:, 2, 2] = 1.0
    return out


def yaw_of(rotation: np.ndarray) -> float:
    """Of a rotation (3, 3) the part about the vertical, of which the rest is about a horizontal axis; radians."""
    return float(np.arctan2(rotation[1, 0] - rotation[0, 1], rotation[0, 0] + rotation[1, 1]))


def _turn(pairs: RigidPairs, bodies: Bodies) -> tuple[np.ndarray, np.ndarray]:
    """Headings (clips,) and the offset (3, 3): Procrustes in turns for one and the other.

    Where nobody tilts, a turn of the local frame is as good as one of the world: how the parts lie decides.
    """
    products = products_of(pairs)
    count = len(products)
    expected = yaw_matrices(np.array([-bodies.yaw]))[0]
    flat, upright = np.diag((1.0, 1.0, 0.0)) @ expected, np.diag((0.0, 0.0, 1.0))
    pull = _TILTS**2 * len(pairs.clip) * flat
    starts = turn_starts(bodies)
    found = [alternated_turn(products, pull, start) for start in starts]
    best = max(range(len(found)), key=lambda number: found[number][0] - 1e-9 * len(pairs.clip) * (number > 0))
    fit, _, offset = found[best]
    # In squared radians, an axis: the trace of a turn is three less the square of its angle, about.
    misfit = max(3.0 * len(pairs.clip) + np.sum(pull * offset) - fit, 0.0) / 3.0
    doubt = misfit / (_MOMENTS * count)
    pull = pull + doubt / _FACES**2 * flat + 2.0 * doubt / _UPRIGHT**2 * upright
    return alternated_turn(products, pull, offset)[1:]


def products_of(pairs: RigidPairs) -> np.ndarray:
    """(clips, 3, 3, 3, 3) sums over each clip of all products of an entry of the target's rotation and one of the
    source's."""
    products = np.zeros((int(pairs.clip.max()) + 1, 3, 3, 3, 3))
    both = np.einsum("nab,ncd->nabcd", pairs.target_rotations, pairs.source_rotations)
    np.add.at(products, pairs.clip, both)
    return products


def turn_starts(bodies: Bodies) -> np.ndarray:
    """(S, 3, 3) first guesses of the offset: as the parts lie, and a quarter turn to either side."""
    return yaw_matrices(np.array([-bodies.yaw])) @ yaw_matrices(np.array(_STARTS))


def alternated_turn(
    products: np.ndarray, pull: np.ndarray, offset: np.ndarray, rounds: int = _ROUNDS
) -> tuple[float, np.ndarray, np.ndarray]:
    """How well it fits, headings (clips,) and offset (3, 3), by Procrustes in turns from a first guess of the offset.

    products: see ``products_of``.  pull: (3, 3), what is held likely of the offset, as if it were pairs.
    rounds: at most.
    """
    before = -np.inf
    # A row of products for each entry of each clip's heading, a column for each of the offset, transposed.
    table = products.transpose(0, 1, 3, 2, 4).reshape(-1, 9)
    for _ in range(rounds):
        towards = (table @ offset.T.ravel()).reshape(-1, 3, 3)
        along, across = towards[:, 0, 0] + towards[:, 1, 1], towards[:, 1, 0] - towards[:, 0, 1]
        headings = np.arctan2(across, along)
        fit = np.hypot(along, across).sum() + towards[:, 2, 2].sum() + np.sum(pull * offset)
        if fit - before <= _STILL * abs(fit):
            break
        before = fit
        wanted = (yaw_matrices(headings).ravel() @ table).reshape(3, 3).T + pull
        offset = nearest_rotation(wanted)
    return fit, headings, offset


def _way(pairs: RigidPairs, headings: np.ndarray, bodies: Bodies) -> complex:
    """The similarity target = way * source in the complex plane, each clip's places from their mean."""
    source = _complex(pairs.source_translations[:, :2]) * np.exp(1j * headings[pairs.clip])
    target = _complex(pairs.target_translations[:, :2])
    source, target = (values - _clip_means(values, pairs.clip) for values in (source, target))
    sway = (_SWAY * bodies.source_size) ** 2
    spread = np.vdot(source, source).real / len(source)
    # Stronger than what moves while that is sway, and gone where they travel.
    pull = len(source) * sway * (sway / (sway + spread + _NET * _net(source, pairs.clip))) ** 2
    return complex(_factor(source, target, bodies, len(headings), pull))


def _net(places: np.ndarray, clip: np.ndarray) -> float:
    """Mean square, over clips, of how far the last of places (n,) is from the first."""
    numbers = np.arange(clip[-1] + 1)
    first, last = np.searchsorted(clip, numbers), np.searchsorted(clip, numbers, side="right") - 1
    return float(np.mean(np.abs(places[last] - places[first]) ** 2))


def _height(pairs: RigidPairs, bodies: Bodies) -> np.ndarray:
    source, target = pairs.source_translations[:, 2], pairs.target_translations[:, 2]
    pull = (_SMALL * bodies.source_size) ** 2 * len(source)
    factor = _factor(source - source.mean(), target - target.mean(), bodies, int(pairs.clip.max()) + 1, pull).real
    return np.array((factor, target.mean() - factor * source.mean()))


def _factor(source: np.ndarray, target: np.ndarray, bodies: Bodies, clips: int, pull: float):
    """Bayesian linear regression of (n,) on (n,), the prior's mean the ratio of the bodies' sizes.

    pull: how strong that is, before the misfit adds to it, as a sum of squares of the source.
    """

    def fitted(pull):
        return (np.vdot(source, target) + pull * bodies.ratio) / (np.vdot(source, source).real + pull)

    misfit = np.sum(np.abs(target - fitted(pull) * source) ** 2)
    return fitted(pull + misfit / ((_BELIEF * bodies.ratio) ** 2 * _MOMENTS * clips))


def _clip_means(values: np.ndarray, clip: np.ndarray) -> np.ndarray:
    """(n,) the mean over each one's clip."""
    counts = np.bincount(clip)
    means = (np.bincount(clip, values.real) + 1j * np.bincount(clip, values.imag)) / np.maximum(counts, 1)
    return means[clip]


def _complex(ground: np.ndarray) -> np.ndarray:
    return ground[:, 0] + 1j * ground[:, 1]
