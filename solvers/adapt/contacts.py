"""Which contacts a motion has and which of them a result keeps.

An effector touches the object that is nearest to it, by how much it is above where it rests on it, see
``clearance.contact_offsets``: else a toe on the foot of a ramp would count as touching the floor 10 cm below it. All
lengths are for a 1.8 m body and are multiplied by ``scale``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .clearance import CLAIMED, claims, contact_offsets

# An effector slower than clearance.SLOW and nearer than this above its rest offset touches.
BAND = 0.02
# A contact is kept while its distance stays within this of what it was, both ways.
KEPT = 0.02


@dataclass(frozen=True)
class ContactCount:
    """Contacts of J effectors over F frames, (F, J) bool each.

    counted: those that can be kept;  kept: those of them that are;  covered: those whose place on the object is inside
    another object now, which are neither kept nor lost.  partner: (F, J) number of the object that each contact is
    with, the nearest where it is with several, of those whose place is not covered if there is any; -1 for none.
    """

    counted: np.ndarray
    kept: np.ndarray
    covered: np.ndarray
    partner: np.ndarray

    @property
    def given_up(self) -> np.ndarray:
        """(F, J) bool: contacts that the motion had and the result has not."""
        return (self.counted & ~self.kept) | self.covered


def touched(
    distance: np.ndarray, slow: np.ndarray, hidden: np.ndarray, effectors: np.ndarray, scale: float
) -> np.ndarray:
    """(O, F, J) bool: which objects each effector touches; several where they are as near as each other.

    distance: (O, F, J) signed, metres.  slow, hidden: (O, F, J) bool.  effectors: (J,) bool.
    """
    offsets = contact_offsets(distance, slow, scale)[:, None]
    gap = np.where(np.isfinite(offsets), distance, np.inf) - np.where(np.isfinite(offsets), offsets, 0.0)
    return (claims(gap, scale) > CLAIMED) & slow & effectors & ~hidden & (gap < BAND * scale)


def count_contacts(
    before: np.ndarray, after: np.ndarray, touching: np.ndarray, covered: np.ndarray, size: float, scale: float
) -> ContactCount:
    """Count the contacts that a result keeps.

    before, after: (O, F, J) distances of the joints, metres; of a character of another size they are asked in
    proportion.  touching: (O, F, J) bool, see ``touched``.  covered: (O, F, J) bool, places that are inside another
    object now.  size: of the character against bind.  scale: body height / 1.8 m.
    Several objects that are touched at once are one contact, kept where that with any of them is whose place is not
    covered.
    """
    open_ = touching & ~covered
    counted = open_.any(axis=0)
    shift = np.where(open_, after, np.inf) - size * np.where(open_, before, 0.0)
    kept = (np.abs(shift) <= KEPT * scale).any(axis=0)
    some = touching.any(axis=0)
    near = np.where(np.where(counted, open_, touching), before, np.inf)
    return ContactCount(counted, kept, some & ~counted, np.where(some, near.argmin(axis=0), -1))
