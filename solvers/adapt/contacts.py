"""Which contacts a motion has and which of them a result keeps.

An effector touches the object that is nearest to it. It has one rest offset over the whole clip: with one for each
object a toe on the foot of a ramp would count as touching the floor 10 cm below it. All lengths are for a 1.8 m body
and are multiplied by ``scale``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .clearance import contact_offsets

# An effector slower than clearance.SLOW and nearer than this above its rest offset touches.
BAND = 0.02
# A contact is kept while its distance stays within this of what it was, both ways.
KEPT = 0.02
# Objects whose distances differ by less are touched at once: a stage flush with the floor.
COINCIDENT = 0.01


@dataclass(frozen=True)
class ContactCount:
    """Contacts of J effectors over F frames, (F, J) bool each.

    counted: those that can be kept;  kept: those of them that are;  covered: those whose place on the object is inside
    another object now, which are neither kept nor lost.
    """

    counted: np.ndarray
    kept: np.ndarray
    covered: np.ndarray


def nearest_object(distance: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """(F, J) the object that each joint is nearest to, of those that lie behind no other.

    distance: (O, F, J) signed, metres, inf beyond reach.  hidden: (O, F, J) bool.
    """
    return np.where(hidden, np.inf, np.abs(distance)).argmin(axis=0)


def rest_offsets(distance: np.ndarray, slow: np.ndarray, hidden: np.ndarray, scale: float) -> np.ndarray:
    """(J,) metres: how far each joint is from whatever it rests on, the mode over its slow frames.

    NaN where a joint is never slow near an object.  distance, slow, hidden: (O, F, J); scale: body height / 1.8 m.
    """
    nearest = nearest_object(distance, hidden)[None]
    return contact_offsets(*(np.take_along_axis(values, nearest, 0) for values in (distance, slow)), scale)[0]


def touched(
    distance: np.ndarray, slow: np.ndarray, hidden: np.ndarray, effectors: np.ndarray, scale: float
) -> np.ndarray:
    """(O, F, J) bool: which objects each effector touches; several where they coincide.

    distance: (O, F, J) signed, metres.  slow, hidden: (O, F, J) bool.  effectors: (J,) bool.
    """
    offsets = np.nan_to_num(rest_offsets(distance, slow, hidden, scale), nan=-np.inf)
    away = np.where(hidden, np.inf, np.abs(distance))
    nearest = away <= away.min(axis=0) + COINCIDENT * scale
    return nearest & np.isfinite(away) & slow & effectors & (distance < offsets + BAND * scale)


def count_contacts(
    before: np.ndarray, after: np.ndarray, touching: np.ndarray, covered: np.ndarray, size: float, scale: float
) -> ContactCount:
    """Count the contacts that a result keeps.

    before, after: (O, F, J) distances of the joints, metres; of a character of another size they are asked in
    proportion.  touching: (O, F, J) bool, see ``touched``.  covered: (O, F, J) bool, places that are inside another
    object now.  size: of the character against bind.  scale: body height / 1.8 m.
    Of objects that coincide the nearest counts whose place is not covered.
    """
    open_ = touching & ~covered
    owner = np.where(open_, np.abs(before), np.inf).argmin(axis=0)[None]
    then, now = (np.take_along_axis(values, owner, 0)[0] for values in (before, after))
    counted = open_.any(axis=0)
    shift = np.where(counted, now, np.inf) - size * np.where(counted, then, 0.0)
    return ContactCount(counted, np.abs(shift) <= KEPT * scale, touching.any(axis=0) & ~counted)
