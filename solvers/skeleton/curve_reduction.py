"""Which keys of a baked motion can be left out: the curves through the others keep every joint within an error.

Keys stay on the dense motion and are chosen for curves that run straight between them.
Keys are taken away bottom-up, the cheapest first (Keogh et al. 2001, ICDM, section 2.3), here every second key of all
curves at a time, as long as a bone's own curves move nothing that hangs on it by more than the error.  How the errors
of a chain add up is then seen by forward kinematics, and keys go back in where a joint would leave its place.
F frames, B bones; a bone has three channels, in the order location, rotation, scale.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError
from .bone_channels import channels_to_basis
from .kinematics import pose_matrices
from .rig import Rig

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
) -> np.ndarray:
    """Which keys are needed, (F, B, 3) bool; the first and the last of each keyed channel always are.

    channels: a row a key.  times: (F,) rising.  unit: (F,) metres a unit of the rig.  keyed: (B, 3) bool, channels
    that have keys at all.  error: metres that the head of any bone, and any point as far from it as the bone is long
    (so that directions and twist count as well), may be off at the times and half way between them.
    Raises InputError for an error below zero or times that do not rise.
    """
    if not 0.0 <= error < np.inf:
        raise InputError(f"The error of key reduction is {error:g}; give a length of zero or more.")
    if not (np.diff(times) > 0.0).all():
        raise InputError("Keys can only be left out of frames that rise.")
    channels = tuple(rows.astype(np.float32).astype(float) for rows in channels)  # as curves keep them
    costs = _Costs(rig, channels, unit)
    bound = max(_MARGIN * error, _FLOOR * float(costs.weights[ROTATION].max()))
    keys = np.ones((len(times), *keyed.shape), bool)
    if len(times) > 2:
        for channel, rows in enumerate(channels):
            bones = np.flatnonzero(keyed[:, channel])
            if bones.size:
                keys[:, bones, channel] = _thinned(costs, channel, bones, rows[:, bones], times, bound)
        _refine(rig, channels, times, unit, keys, costs, bound)
    return keys & keyed


def key_error(
    rig: Rig, channels: Channels, times: np.ndarray, unit: np.ndarray, keys: np.ndarray, smooth: bool = False
) -> float:
    """Largest distance, metres, that left-out keys cause, at the times (F,) and half way between them.

    keys: (F, B, 3) bool; a channel without any is taken to play as it is.  smooth: see ``interpolated``.
    The rest as in ``reduce_keys``.
    """
    keys = keys | ~keys.any(axis=0)
    played = tuple(interpolated(rows, keys[..., k], times, smooth) for k, rows in enumerate(channels))
    return float(_gaps(rig, channels, played, unit, np.ones(len(times), bool)).max())


def slopes(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Change a unit of time of rows (F, ...) at times (F,), by central differences; zero for a single one."""
    return np.gradient(rows, times, axis=0) if len(times) > 1 else np.zeros(rows.shape)


def interpolated(rows: np.ndarray, keys: np.ndarray, times: np.ndarray, smooth: bool = False) -> np.ndarray:
    """Rows (F, n, c) where there are keys (F, n), straight between them, held before the first and after the last.

    smooth: cubic between them, with the slopes that the rows have at the keys (Hermite interpolation).
    """
    index = np.arange(len(rows))[:, None]
    first, last = keys.argmax(axis=0), len(rows) - 1 - keys[::-1].argmax(axis=0)
    before = np.maximum(np.maximum.accumulate(np.where(keys, index, 0), axis=0), first)
    after = np.minimum.accumulate(np.where(keys, index, len(rows) - 1)[::-1], axis=0)[::-1]
    before, after = np.minimum(before, last), np.clip(after, first, last)
    span = times[after] - times[before]
    share = np.where(span > 0.0, (times[:, None] - times[before]) / np.where(span > 0.0, span, 1.0), 0.0)
    start, end = (np.take_along_axis(rows, at[..., None], axis=0) for at in (before, after))
    share = share[..., None]
    if not smooth:
        return start + share * (end - start)
    slope = slopes(rows, times)
    leaving, coming = (span[..., None] * np.take_along_axis(slope, at[..., None], axis=0) for at in (before, after))
    bend = (1.0 - share) * (leaving - (end - start)) + share * (end - start - coming)
    return start + share * (end - start) + share * (1.0 - share) * bend


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


def _thinned(costs: _Costs, channel: int, bones, rows: np.ndarray, times: np.ndarray, limit: float) -> np.ndarray:
    """Keys (F, n) bool that keep the cost of each of some bones (n,) within a limit, metres."""
    keys = np.ones(rows.shape[:2], bool)
    active = np.arange(len(bones))  # columns that may still lose keys
    for level in _PASSES:
        while active.size:
            before = keys.sum(axis=0)
            for parity in (0, 1):
                found = keys[:, active]
                cost = _parity_cost(costs, channel, bones[active], rows[:, active], found, times, parity)
                keys[:, active] = found & ~(cost <= level * limit)
            if level < 1.0:
                break  # the next level takes it up
            active = np.flatnonzero(keys.sum(axis=0) < before)
    return keys


def _parity_cost(costs, channel, bones, rows, keys, times, parity) -> np.ndarray:
    """(F, n) cost of leaving out each key of even or odd rank when those beside it stay; infinite elsewhere."""
    rank = np.cumsum(keys, axis=0)
    out = keys & (rank % 2 == parity)
    out[[0, -1]] = False
    rest = keys & ~out
    cost = costs.of(channel, bones, interpolated(rows, rest, times))
    top, segment = _tops(cost, rest)
    return np.where(out, top[segment].reshape(cost.shape[::-1]).T, np.inf)


def _tops(values: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest of values (F, n) from each key (F, n) to the next, and its number for each of values.T.ravel()."""
    flags = keys.T.ravel()
    return np.maximum.reduceat(values.T.ravel(), np.flatnonzero(flags)), np.cumsum(flags) - 1


def _refine(rig, channels, times, unit, keys, costs: _Costs, bound: float) -> None:
    """Put keys (F, B, 3) back in, in place, until no joint is off by more than the bound."""
    played = [interpolated(rows, keys[..., k], times) for k, rows in enumerate(channels)]
    bones = np.arange(len(rig.names))
    cost = np.stack([costs.of(k, bones, rows) for k, rows in enumerate(played)], axis=-1)
    changed = np.ones(len(times), bool)
    gaps = np.zeros(cost.shape[:2])
    while True:
        gaps[changed] = _gaps(rig, channels, played, unit, changed)[changed]
        if not (gaps > bound).any():
            return
        added = _added(rig, cost, keys, np.where(gaps > bound, gaps, 0.0))
        keys |= added
        changed[:] = False
        for channel, rows in enumerate(channels):
            bones = np.flatnonzero(added[..., channel].any(axis=0))
            if bones.size:
                now = interpolated(rows[:, bones], keys[:, bones, channel], times)
                changed |= (now != played[channel][:, bones]).any(axis=(1, 2))
                played[channel][:, bones] = now
                cost[:, bones, channel] = costs.of(channel, bones, now)
        changed[:-1] |= changed[1:].copy()
        changed[1:] |= changed[:-1].copy()


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


def _gaps(rig: Rig, channels, played, unit: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(F, B) metres that bones are off at frames that are wanted (F,), or half way to the frames beside them."""
    out = np.zeros((len(unit), len(rig.names)))
    chosen = np.flatnonzero(wanted)
    for start in range(0, len(chosen), _BLOCK):
        rows = chosen[start : start + _BLOCK]
        out[rows] = _distances(rig, channels, played, unit, rows, rows)
        following = np.minimum(rows + 1, len(unit) - 1)
        half = _distances(rig, channels, played, unit, rows, following)
        np.maximum.at(out, rows, half)
        np.maximum.at(out, following, half)
    return out


def _distances(rig: Rig, channels, played, unit, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n, B) metres that bones are off half way between frames rows (n,) and others (n,).

    Curves run straight between frames, whether there are keys or not, so half way the mean of both is played.
    """
    dense, reduced = (
        _points(rig, tuple(0.5 * (values[rows] + values[others]) for values in run)) for run in (channels, played)
    )
    distance = np.linalg.norm(dense - reduced, axis=-2).max(axis=-1)
    return distance * np.maximum(unit[rows], unit[others])[:, None]


def _points(rig: Rig, channels: Channels) -> np.ndarray:
    """(F, B, 3, 4) of each bone its points a bone's length along its axes, and its head; armature space."""
    pose = pose_matrices(rig, channels_to_basis(rig, *channels))[..., :3, :]
    pose[..., :3] = pose[..., :3] * rig.lengths[:, None, None] + pose[..., 3:]
    return pose
