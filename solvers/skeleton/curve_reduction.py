"""Which keys of a baked motion can be left out: the curves through the others keep every joint within an error.

Keys stay on the dense motion, and cubic curves run between them, see ``smooth_curves``.
Keys are taken away bottom-up, the cheapest first (Keogh et al. 2001, ICDM, section 2.3), here every second key of all
curves at a time, as long as a bone's own curves move nothing that hangs on it by more than the error.  How the errors
of a chain add up is then seen by forward kinematics, and keys go back in where a joint would leave its place.
F frames, B bones; a bone has three channels, in the order location, rotation, scale.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import maximum_filter1d

from ..core.errors import InputError
from . import smooth_curves
from .bone_channels import channels_to_basis
from .kinematics import pose_matrices
from .rig import Rig
from .smooth_curves import Samples, Tangents, sampled

LOCATION, ROTATION, SCALE = range(3)
Channels = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Location (F, B, 3), rotation (F, B, 4) in each bone's mode, scale (F, B, 3); see ``bone_channels``."""

# Shares of the error at which keys are taken away in turn.
_PASSES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
# Of the error: leaves room for the single precision in which curves are kept and played.
_MARGIN = 0.99
# Of the rig's size: less than single precision can tell.
_FLOOR = 1e-7
_BLOCK = 512


def reduce_keys(
    rig: Rig, channels: Channels, times: np.ndarray, unit: np.ndarray, keyed: np.ndarray, error: float
) -> tuple[np.ndarray, list[Tangents]]:
    """Which keys are needed, (F, B, 3) bool, the first and the last of each keyed channel always; and the tangents of
    each channel's curves there.

    channels: a row a key.  times: (F,) rising.  unit: (F,) metres a unit of the rig.  keyed: (B, 3) bool, channels
    that have keys at all.  error: metres that the head of any bone, and any point as far from it as the bone is long
    (so that directions and twist count as well), may be off at the times; half way between them by more, as far as
    smooth and straight curves through all rows differ there.
    Raises InputError for an error below zero or times that do not rise.
    """
    if not 0.0 <= error < np.inf:
        raise InputError(f"The error of key reduction is {error:g}; give a length of zero or more.")
    if not (np.diff(times) > 0.0).all():
        raise InputError("Keys can only be left out of frames that rise.")
    samples = _sampled(channels, times)
    costs = _Costs(rig, tuple(some.rows for some in samples), unit)
    bound = max(_MARGIN * error, _FLOOR * float(costs.weights[ROTATION].max()))
    keys = np.ones((len(times), *keyed.shape), bool)
    if len(times) > 2:
        for channel, some in enumerate(samples):
            bones = np.flatnonzero(keyed[:, channel])
            if bones.size:
                keys[:, bones, channel] = _thinned(costs, channel, bones, some.of(bones), bound)
        _refine(_Gaps(rig, samples, unit), keys, costs, bound)
    return keys & keyed, [smooth_curves.fitted(some, keys[..., k]) for k, some in enumerate(samples)]


def key_tangents(channels: Channels, times: np.ndarray, keys: np.ndarray) -> list[Tangents]:
    """The tangents of each channel's curves at keys (F, B, 3) bool, at which they run nearest to all rows."""
    keys = keys | ~keys.any(axis=0)
    return [smooth_curves.fitted(some, keys[..., k]) for k, some in enumerate(_sampled(channels, times))]


def played(channels: Channels, times: np.ndarray, keys: np.ndarray, tangents: Sequence[Tangents]) -> Channels:
    """What curves through keys (F, B, 3) bool play at times (F,); a channel without any plays as it is."""
    keys = keys | ~keys.any(axis=0)
    return tuple(
        smooth_curves.through(some, keys[..., k], tangents[k]) for k, some in enumerate(_sampled(channels, times))
    )


def key_error(
    rig: Rig, channels: Channels, times: np.ndarray, unit: np.ndarray, keys: np.ndarray, tangents: Sequence[Tangents]
) -> float:
    """Largest distance, metres, that left-out keys cause, as ``reduce_keys`` counts it.

    keys: (F, B, 3) bool; a channel without any is taken to play as it is.
    """
    gaps = _Gaps(rig, _sampled(channels, times), unit)
    runs = [gaps.run(k, keys[..., k], tangents[k]) for k in range(3)]
    return float(gaps.of(runs).max())


def _sampled(channels: Channels, times: np.ndarray) -> list[Samples]:
    """The channels, as precise as curves keep them."""
    return [sampled(rows.astype(np.float32).astype(float), times) for rows in channels]


class _Costs:
    """How far the difference between two runs of one channel alone moves anything that hangs on the bone, metres.

    weights: (3, F, B) metres a unit of location, a radian, a unit of scale.
    """

    def __init__(self, rig: Rig, channels: Channels, unit: np.ndarray):
        self.rig, self.channels = rig, channels
        pose = pose_matrices(rig, channels_to_basis(rig, *channels))
        reach = _reach(rig, pose) * unit[:, None]
        size = np.linalg.norm(pose[..., :3, :3], axis=-2).max(axis=-1)
        carried = np.where(rig.parents >= 0, size[:, rig.parents], 1.0) * unit[:, None]
        self.weights = np.stack((np.where(rig.use_connect, 0.0, carried), reach, reach))
        self.turns = _turns(rig, channels[ROTATION])

    def of(self, channel: int, bones: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(F, n) metres, for rows (F, n, c) of some bones (n,)."""
        if channel == ROTATION:
            # The Frobenius norm of the difference of two rotations is sqrt(8) times the sine of half their angle.
            difference = _turns(self._only(bones), rows) - self.turns[:, bones]
            distance = np.sqrt(0.5 * np.einsum("fnij,fnij->fn", difference, difference))
        else:
            difference = rows - self.channels[channel][:, bones]
            distance = np.sqrt(np.einsum("fni,fni->fn", difference, difference))
        return distance * self.weights[channel][:, bones]

    def _only(self, bones: np.ndarray) -> Rig:
        """Some of the bones, without their parents: only their rotation modes count here."""
        rig = self.rig
        return Rig(
            names=tuple(rig.names[b] for b in bones), parents=np.full(len(bones), -1), rest=rig.rest[bones],
            lengths=rig.lengths[bones], use_connect=rig.use_connect[bones],
            inherit_rotation=rig.inherit_rotation[bones], inherit_scale=tuple(rig.inherit_scale[b] for b in bones),
            use_local_location=rig.use_local_location[bones],
            rotation_modes=tuple(rig.rotation_modes[b] for b in bones), name=rig.name,
        )  # fmt: skip


def _turns(rig: Rig, rotation: np.ndarray) -> np.ndarray:
    """Rotation channels (F, n, 4) as matrices (F, n, 3, 3)."""
    zero = np.zeros((*rotation.shape[:2], 3))
    return channels_to_basis(rig, zero, rotation, zero + 1.0)[..., :3, :3]


def _reach(rig: Rig, pose: np.ndarray) -> np.ndarray:
    """(F, B) how far what hangs on each bone reaches from its head, in units of the rig."""
    heads = pose[..., :3, 3]
    ends = rig.lengths * np.linalg.norm(pose[..., :3, :3], axis=-2).max(axis=-1)
    out = ends.copy()
    for bone, below in enumerate(_subtrees(rig)):
        if len(below):
            apart = np.linalg.norm(heads[:, below] - heads[:, bone, None], axis=-1) + ends[:, below]
            out[:, bone] = np.maximum(out[:, bone], apart.max(axis=1))
    return out


def _subtrees(rig: Rig) -> list[list[int]]:
    """The descendants of each bone."""
    below: list[list[int]] = [[] for _ in rig.parents]
    for bone in range(len(rig.parents) - 1, -1, -1):
        if rig.parents[bone] >= 0:
            below[rig.parents[bone]] += [bone, *below[bone]]
    return below


def _thinned(costs: _Costs, channel: int, bones: np.ndarray, samples: Samples, limit: float) -> np.ndarray:
    """Keys (F, n) bool that keep the cost of each of some bones (n,) about within a limit, metres."""
    keys = np.ones(samples.rows.shape[:2], bool)
    active = np.arange(len(bones))  # columns that may still lose keys
    for level in _PASSES:
        while active.size:
            before = keys.sum(axis=0)
            some = samples.of(active)
            for parity in (0, 1):
                found = keys[:, active]
                cost = _parity_cost(costs, channel, bones[active], some, found, parity)
                keys[:, active] = found & ~(cost <= level * limit)
            if level < 1.0:
                break  # the next level takes it up
            active = np.flatnonzero(keys.sum(axis=0) < before)
    return keys


def _parity_cost(costs: _Costs, channel: int, bones, samples: Samples, keys: np.ndarray, parity: int) -> np.ndarray:
    """(F, n) cost of leaving out each key of even or odd rank when those beside it stay; infinite elsewhere."""
    rank = np.cumsum(keys, axis=0)
    out = keys & (rank % 2 == parity)
    out[[0, -1]] = False
    rest = keys & ~out
    tangents = smooth_curves.fitted(samples, rest)
    cost = costs.of(channel, bones, smooth_curves.through(samples, rest, tangents))
    top, segment = _tops(cost, rest)
    return np.where(out, top[segment].reshape(cost.shape[::-1]).T, np.inf)


def _tops(values: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest of values (F, n) from each key (F, n) to the next, and its number for each of values.T.ravel()."""
    flags = keys.T.ravel()
    return np.maximum.reduceat(values.T.ravel(), np.flatnonzero(flags)), np.cumsum(flags) - 1


def _refine(gaps: _Gaps, keys: np.ndarray, costs: _Costs, bound: float) -> None:
    """Put keys (F, B, 3) back in, in place, until no joint is off by more than the bound."""
    every = np.arange(len(gaps.rig.names))
    runs = [gaps.fitted_run(k, keys[..., k], every) for k in range(3)]
    cost = np.stack([costs.of(k, every, run[0]) for k, run in enumerate(runs)], axis=-1)
    while True:
        found = gaps.of(runs)
        found[found <= bound] = 0.0
        if not found.any():
            return
        added = _added(gaps.rig, cost, keys, found)
        while not added.any():
            # Between two keys it is their tangents that are off, for what is fitted beside them.
            found = maximum_filter1d(found, 3, axis=0)
            added = _added(gaps.rig, cost, keys, found)
        keys |= added
        for channel, run in enumerate(runs):
            bones = np.flatnonzero(added[..., channel].any(axis=0))
            if bones.size:
                for old, new in zip(run, gaps.fitted_run(channel, keys[:, bones, channel], bones), strict=True):
                    old[:, bones] = new
                cost[:, bones, channel] = costs.of(channel, bones, run[0][:, bones])


def _added(rig: Rig, cost: np.ndarray, keys: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """New keys (F, B, 3): for each joint that is off, in the channel above it that costs most, where it is worst.

    cost: (F, B, 3).  gaps: (F, B), zero where a joint is in its place.
    """
    frames, count = gaps.shape
    flat = cost.reshape(frames, -1)
    culprit = cost.argmax(axis=-1) + 3 * np.arange(count)
    for bones in rig.levels[1:]:
        above = culprit[:, rig.parents[bones]]
        own = culprit[:, bones]
        more = np.take_along_axis(flat, above, axis=1) > np.take_along_axis(flat, own, axis=1)
        culprit[:, bones] = np.where(more, above, own)
    score = np.zeros(flat.shape)
    frame, bone = np.nonzero(gaps)
    np.maximum.at(score, (frame, culprit[frame, bone]), gaps[frame, bone])
    flags = keys.reshape(frames, -1)
    score[flags] = 0.0
    top, segment = _tops(score, flags)
    worst = np.flatnonzero((score.T.ravel() == top[segment]) & (top[segment] > 0.0))
    _, first = np.unique(segment[worst], return_index=True)
    added = np.zeros(score.size, bool)
    added[worst[first]] = True
    return added.reshape(flat.shape[::-1]).T.reshape(keys.shape)


Run = tuple[np.ndarray, np.ndarray]
"""What a channel plays at the frames, (F, B, c), and half way between them, (F - 1, B, c)."""


class _Gaps:
    """How far bones are off their places where curves run through fewer keys.

    dense: the run of each channel with keys at all frames.  places: of the bones then, at the frames and half way.
    unknown: (F - 1, B) how far smooth curves through all frames are off straight ones half way.
    """

    def __init__(self, rig: Rig, samples: Sequence[Samples], unit: np.ndarray):
        self.rig, self.samples = rig, samples
        self.units = unit, np.maximum(unit[1:], unit[:-1])
        every = np.arange(len(rig.names))
        self.dense = [self.fitted_run(k, np.ones(some.rows.shape[:2], bool), every) for k, some in enumerate(samples)]
        self.places = [self._points([run[side] for run in self.dense]) for side in (0, 1)]
        straight = [0.5 * (some.rows[1:] + some.rows[:-1]) for some in samples]
        self.unknown = self._apart(straight, 1)

    def fitted_run(self, channel: int, keys: np.ndarray, bones: np.ndarray) -> Run:
        """Of some bones (n,), with the best curves through keys (F, n) bool."""
        samples = self.samples[channel].of(bones)
        tangents = smooth_curves.fitted(samples, keys)
        return smooth_curves.through(samples, keys, tangents), smooth_curves.half_way(samples, keys, tangents)

    def run(self, channel: int, keys: np.ndarray, tangents: Tangents) -> Run:
        """Of all bones, through keys (F, B) bool; without any they play as they are."""
        samples, without = self.samples[channel], ~keys.any(axis=0)
        keys = keys | without
        found = smooth_curves.through(samples, keys, tangents), smooth_curves.half_way(samples, keys, tangents)
        for rows, dense in zip(found, self.dense[channel], strict=True):
            rows[:, without] = dense[:, without]
        return found

    def of(self, runs: Sequence[Run]) -> np.ndarray:
        """(F, B) metres that bones are off at the frames, or half way to those beside them beyond what is unknown."""
        out, halves = (self._apart([run[side] for run in runs], side) for side in (0, 1))
        halves = np.maximum(halves - self.unknown, 0.0)
        for beside in (out[1:], out[:-1]):
            np.maximum(beside, halves, out=beside)
        return out

    def _apart(self, channels: Sequence[np.ndarray], side: int) -> np.ndarray:
        """(n, B) metres from the places at the frames, or with side 1 half way."""
        apart = np.linalg.norm(self._points(channels) - self.places[side], axis=-2).max(axis=-1)
        return apart * self.units[side][:, None]

    def _points(self, channels: Sequence[np.ndarray]) -> np.ndarray:
        """(n, B, 3, 4) of each bone its points a bone's length along its axes, and its head; armature space."""
        out = np.empty((*channels[0].shape[:2], 3, 4))
        for start in range(0, len(out), _BLOCK):
            rows = slice(start, start + _BLOCK)
            pose = pose_matrices(self.rig, channels_to_basis(self.rig, *(part[rows] for part in channels)))
            out[rows] = pose[..., :3, :]
        out[..., :3] = out[..., :3] * self.rig.lengths[:, None, None] + out[..., 3:]
        return out
