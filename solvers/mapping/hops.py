"""A body that hops: its feet leave the ground together and land together, and meanwhile it goes on as fast as it left.

While it stands it comes to a halt, or nearly so, and takes off: the mean of a stance, by which the flight of a run is
told, is far less than its speed.  Nothing pulls at it in the air, so that it lands as fast as it leaves; the fastest
foot tells that best, since feet that roll over heels and toes look slower than the body is.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..shapes.foot_contacts import runs

# Of their way up: above it feet are in the air.
_IN_AIR = 0.4
# Seconds: a flight lasts at least so long; feet that leave or land together do so within so long at most, in which the
# speed at both ends is looked for, and a Gaussian over that.  Of a flight, within how much of it: so at every tempo.
_FLIES, _TOGETHER, _SMOOTHING, _SHARE = 0.12, 0.1, 0.01, 0.25


def flights(lift: np.ndarray, step: float) -> list[tuple[int, int]]:
    """(start, end) of each flight, the end not in it, of a body whose K feet leave and land together.

    lift (N, K): of its feet, 0 where they are low and 1 where they are high, step seconds apart.  Where a clip that has
    hops begins or ends in the air, the other end tells; feet of a run may leave together, too.
    """
    above = lift > _IN_AIR
    found, is_hop = [], False
    for start, end in runs(above.all(axis=1)):
        near = max(round(min(_TOGETHER / step, _SHARE * (end - start))), 1)
        ends = [part for part in (above[max(start - near, 0) : start], above[end : end + near]) if len(part)]
        together = ends and not any(part.all(axis=0).any() for part in ends)
        if together and (end - start) * step >= _FLIES:
            found.append((start, end))
            is_hop |= len(ends) > 1
    return found if is_hop else []


def carried(
    velocity: np.ndarray,
    of_feet: np.ndarray,
    lift: np.ndarray,
    forward: np.ndarray,
    found: list[tuple[int, int]],
    step: float,
) -> np.ndarray:
    """Velocity (N, 2) of a body, in flights that were found as fast as it leaves or lands, whichever is more.

    of_feet (N, K, 2): velocities of its feet, and lift (N, K); see ``flights``.  forward (2,) unit vector.
    """
    out, near = velocity.copy(), max(round(_TOGETHER / step), 1)
    back = gaussian_filter1d(-of_feet, _SMOOTHING / step, axis=0, mode="nearest") if found else out
    for start, end in found:
        rows = np.concatenate((np.arange(max(start - near, 0), start), np.arange(end, min(end + near, len(out)))))
        ahead = np.where(lift[rows] > _IN_AIR, -np.inf, back[rows] @ forward)
        fastest = ahead.max(axis=1)
        sides = rows < start
        first = rows[sides][np.argmax(fastest[sides])] if sides.any() else 0
        last = rows[~sides][np.argmax(fastest[~sides])] if not sides.all() else len(out) - 1
        row, foot = np.unravel_index(np.argmax(ahead), ahead.shape)
        out[first : last + 1] = back[rows[row], foot]
    return out


class HopStream:
    """The same as it comes: once a body has hopped, it flies as fast as it leaves, or as it landed the last time."""

    def __init__(self):
        self._recent: list[tuple[float, np.ndarray, np.ndarray]] = []  # on the ground: time, what is above, velocity
        self._before = self._recent
        self._left, self._lasted, self._landed = 0.0, 0.0, None
        self._in_air = self._together = self._hops = False
        self._lands = self._flies = np.zeros(2)

    def step(self, of_feet: np.ndarray, lift: np.ndarray, forward: np.ndarray, time: float) -> np.ndarray | None:
        """Velocity (2,) in the flight of a hop, None at all other times; time: seconds.

        of_feet (K, 2): velocities of the feet, and lift (K,); see ``flights``.  forward (2,) unit vector.
        """
        above = lift > _IN_AIR
        if above.all():
            if not self._in_air:
                self._leave(forward, time)
            return self._flies if self._hops and self._together else None
        if self._in_air:
            self._in_air, self._lasted, self._landed, self._recent = False, time - self._left, time, []
        ahead = np.where(above, -np.inf, -of_feet @ forward)
        self._recent.append((time, above, -of_feet[np.argmax(ahead)]))
        if self._landed is not None and time - self._landed >= _TOGETHER:
            self._land(forward)
        if self._landed is None:
            self._recent = [row for row in self._recent if row[0] > time - _TOGETHER]
        return None

    def _land(self, forward: np.ndarray) -> None:
        near = self._landed + min(_TOGETHER, _SHARE * self._lasted)
        lands = [row for row in self._recent if row[0] <= near]
        self._hops = self._lasted >= _FLIES and self._leave_together() and _all_low(lands)
        self._lands, self._landed = _fastest(self._recent, forward) if self._hops else np.zeros(2), None

    def _leave(self, forward: np.ndarray, time: float) -> None:
        if self._landed is not None:
            self._land(forward)
        self._before, self._left, self._in_air = self._recent, time, True
        self._together = self._leave_together()
        self._flies = max(self._lands, _fastest(self._before, forward), key=lambda velocity: float(velocity @ forward))

    def _leave_together(self) -> bool:
        """For the last flight that is known to its end."""
        near = self._left - min(_TOGETHER, _SHARE * self._lasted)
        return _all_low([row for row in self._before if row[0] > near])


def _all_low(rows: list[tuple[float, np.ndarray, np.ndarray]]) -> bool:
    return bool(rows) and not np.all([above for _, above, _ in rows], axis=0).any()


def _fastest(rows: list[tuple[float, np.ndarray, np.ndarray]], forward: np.ndarray) -> np.ndarray:
    velocities = [velocity for *_, velocity in rows] or [np.zeros(2)]
    return max(velocities, key=lambda velocity: float(velocity @ forward))
