"""What the feet of a body do over a motion, in a few means, and how far it goes for the way of its feet to and fro.

Small components that are missing, smoothing, and a map through few pairs all round how feet go over time.  Harmonics of
their way are then lessened, the faster the more, as a Gaussian over time does; of steps that are truly shorter all are
lessened alike.  So how sharply feet turn tells how much was rounded off, and by how much that has shortened their way.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

# Standard deviations of a Gaussian, in cycles, by which a body's own gait is rounded: by more, feet go as a sine does,
# which does not tell by how much.
LEVELS = np.array((0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14))
# How sharp feet are is measured so well, and motions are rounded by so much at most as a rule; how many levels between
# those are tried.  What a map of few pairs rounds is no Gaussian, and shortens less: of so much about half counts.
_DOUBT, _LIKELY, _TRIED, _OF_FEW_PAIRS = 0.02, 0.12, 141, 0.03
# Moments between two frames, at which a motion is rounded.
_BETWEEN = 8
# A sine is as sharp as 1; feet that are less so drift, as of who turns, and those that are far more so tremble.
_A_SINE, _NO_GAIT = 0.95, 3.0
# What is pushed is made as long as in the feet's own motion, for the way that they go to and fro, by so much at least
# and at most (and at most while it is not known how sharply feet turn), where they stand for as large a share of the
# time as there, and no more where that is another gait: by so many times as large a share.
_LEAST, _MOST, _MOST_UNTOLD, _SAME_GAIT, _OTHER_GAIT = 0.7, 1.8, 1.4, 1.18, 1.33


class Gait(NamedTuple):
    """Means over a motion.  pushed: speed forward that strokes ask for, and to_and_fro: of feet along that line, metres
    a second.  stands: how much of the time a foot pushes.  often: how many times a second feet go to and fro.
    sharp: their squared speed, over that of feet which go as far, as often, as a sine; 0 where it is not known."""

    pushed: float
    to_and_fro: float
    stands: float
    often: float = 0.0
    sharp: float = 0.0


class Recent:
    """Mean of what comes, the longer ago the less, over so many seconds."""

    def __init__(self, nothing: float | np.ndarray, seconds: float):
        self._sum, self._weight, self.seconds = nothing, 0.0, seconds

    def step(self, value: float | np.ndarray, elapsed: float) -> float | np.ndarray:
        """The mean with one more value, of so many seconds."""
        kept = np.exp(-elapsed / self.seconds)
        self._sum = kept * self._sum + (1.0 - kept) * value
        self._weight = kept * self._weight + (1.0 - kept)
        return self.mean

    @property
    def mean(self) -> float | np.ndarray:
        return self._sum / self._weight


def cycles_and_sharpness(places: np.ndarray, speeds: np.ndarray, seconds: float) -> tuple[float, float]:
    """``Gait.often`` and ``Gait.sharp``, which is not known before feet have gone to and fro once.

    places (N, K) and speeds (N, K): of K feet along a line, metres and metres a second, over so many seconds.
    """
    turned = _turned(places - places.mean(axis=0), speeds)
    # Over whole turns about the middle: the ends of a clip that was smoothed are held.
    whole = np.floor(turned[-1] / (2.0 * np.pi)) * 2.0 * np.pi
    span = np.where(whole > 0.0, whole, turned[-1])
    inside = np.abs(turned - 0.5 * turned[-1]) <= 0.5 * span
    counts = inside.sum(axis=0)
    away = places - (inside * places).sum(axis=0) / counts
    far, fast = (inside * np.stack((away**2, speeds**2))).sum(axis=1) / counts
    # A foot that goes far counts more.
    turning = float((span * len(places) / (counts * seconds)) @ far) / max(float(far.sum()), 1e-300)
    sharp = float(fast.sum()) / max(float(far.sum()) * turning**2, 1e-300)
    return turning / (2.0 * np.pi), sharp if np.median(whole) > 0.0 and _A_SINE < sharp < _NO_GAIT else 0.0


def _turned(away: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """(N, K) radians by which feet have gone round, of ways and speeds (N, K)."""
    scale = np.sqrt((away**2).mean(axis=0) / np.maximum((speeds**2).mean(axis=0), 1e-300))
    phases = np.unwrap(np.arctan2(speeds * scale, away), axis=0)
    turned = phases - phases[0]
    return turned * np.where(turned[-1] < 0.0, -1.0, 1.0)


def rounded(arrays: tuple[np.ndarray, ...], times: np.ndarray, seconds: float, cycles: bool) -> tuple[np.ndarray, ...]:
    """Arrays (F, ...) at times (F,) under a Gaussian of so many seconds.  cycles: they end where they begin."""
    if not seconds > 0.0:
        return arrays
    fine = np.linspace(times[0], times[-1], _BETWEEN * (len(times) - 1) + 1)
    sigma = seconds / (fine[1] - fine[0])

    def one(array: np.ndarray) -> np.ndarray:
        values = CubicSpline(times, array)(fine)
        if not cycles:
            smooth = gaussian_filter1d(values, sigma, axis=0, mode="nearest")
        else:
            smooth = gaussian_filter1d(values[:-1], sigma, axis=0, mode="wrap")
            smooth = np.concatenate((smooth, smooth[:1]))
        return CubicSpline(fine, smooth)(times)

    return tuple(one(array) for array in arrays)


class Length(NamedTuple):
    """by: how much farther than a motion's feet push it goes.  own: 0 to 1, how surely it is the feet's own gait, or
    none; in another one it goes as far as they push."""

    by: float
    own: float


def longer(gait: Gait, gaits: tuple[Gait, ...], asked: float) -> Length:
    """How far a motion goes for what its feet push.

    gaits: the feet's own, rounded by each of ``LEVELS``, or the first alone where that tells nothing, as of what an
    earlier version learnt.  asked: metres a second that they ask for in their own motion, 0 where that is not known.
    """
    told = min(gait.sharp, gaits[0].sharp) > 0.0
    own, most = (_as_rounded(gait.sharp, gaits), _MOST) if told else (gaits[0], _MOST_UNTOLD)
    if not min(*gait[:3], *own[:3]) > 0.0:
        return Length(1.0, 1.0)
    # A map keeps how far feet go better than how fast they are when they stand.
    to_and_fro = gait.to_and_fro / own.to_and_fro
    wanted = (asked or gaits[0].pushed) * to_and_fro / gait.pushed
    if asked > 0.0 and not gaits[0].often > 0.0:
        # Learnt by an earlier version: as it went then.
        wanted *= np.sqrt(max(1.0, gait.pushed / own.pushed / to_and_fro))
    apart = max(gait.stands / own.stands, own.stands / gait.stands)
    share = float(np.clip((_OTHER_GAIT - apart) / (_OTHER_GAIT - _SAME_GAIT), 0.0, 1.0))
    # What was rounded pushes by so much less.
    most *= max(gaits[0].pushed / own.pushed, 1.0)
    return Length(float(np.clip(wanted, _LEAST, most) ** share), share)


@functools.lru_cache(maxsize=64)  # live, it changes a few times a second
def _as_rounded(sharp: float, gaits: tuple[Gait, ...]) -> Gait:
    """Own gait, rounded until it is so sharp; by less, where rounding makes little difference to that."""
    rows = np.array(gaits)
    fine = np.linspace(LEVELS[0], LEVELS[-1], _TRIED)
    off = (np.interp(fine, LEVELS, rows[:, 4]) - sharp) / _DOUBT
    level = float(fine[np.argmin(off**2 + (fine / _LIKELY) ** 2)])
    level = level**2 / max(float(np.hypot(level, _OF_FEW_PAIRS)), 1e-300)
    return Gait(*(float(np.interp(level, LEVELS, column)) for column in rows.T))
