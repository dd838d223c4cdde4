"""Which joints miss the ground: it has been replaced, and nothing of what took its place is above or below them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .binding import Binding
from .present_places import Replaced

# Of what a joint holds to an object by.
_SHARE = 0.5


@dataclass(frozen=True)
class LostGround:
    """Of an object that is replaced.

    number: of the object.  points, lost: how many descriptors it has, and of these without a place now.
    missing: (F, J) bool, joints of which most descriptors on the object are lost.
    """

    number: int
    points: int
    lost: int
    missing: np.ndarray


def lost_ground(binding: Binding, replaced: Mapping[int, Replaced]) -> list[LostGround]:
    """Of every object that is replaced, in their order. replaced: of ``PresentPlaces``."""
    out, shape = [], binding.track.positions.shape[:2]
    for number, each in sorted(replaced.items()):
        lost = ~each.points.found
        missing = np.zeros(shape, bool)
        if lost.any():
            columns = binding.points.of_object(number)
            weights = binding.relations.weights[:, columns]
            share, whole = weights @ lost.astype(float), np.asarray(weights.sum(axis=1)).ravel()
            missing = (share > np.maximum(_SHARE * whole, 1e-3)).reshape(shape)
        out.append(LostGround(number, len(lost), int(lost.sum()), missing))
    return out
