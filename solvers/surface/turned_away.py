"""Which objects of an environment turn their faces away from the body, as floors do that face down."""

from __future__ import annotations

import numpy as np

# Metres at 1.8 m by which a body may sink into a surface.
_SUNK = 0.02
# Shares of what is near an object in a frame, and of the frames in which something is.
_MOST = 0.5


def turned_away(distance: np.ndarray) -> np.ndarray:
    """(O,) bool: objects behind whose faces, or inside of which, most of the body is in most of the frames.

    distance: (O, F, P) signed distances of the body's samples for a body of 1.8 m, infinite beyond reach, see
    ``Binding``. A room around a body faces it from all sides; a floor that faces down does not.
    """
    near = np.isfinite(distance)
    count = near.sum(axis=2)
    behind = (near & (distance < -_SUNK)).sum(axis=2) > _MOST * count
    return behind.sum(axis=1) > _MOST * (count > 0).sum(axis=1)
