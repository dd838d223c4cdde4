"""Notes on the surfaces that a rig is bound to."""

from __future__ import annotations

import numpy as np

from ..solvers.adapt_binding import Binding
from ..solvers.turned_away import turned_away
from .naming import listed


def surface_notes(binding: Binding) -> tuple[str, ...]:
    """What spoils results and shows in a binding, a sentence each."""
    return _behind(binding)


def _behind(binding: Binding) -> tuple[str, ...]:
    names = [binding.objects[k] for k in np.flatnonzero(turned_away(binding.distance))]
    if not names:
        return ()
    return (
        f"Most of the body is behind the faces of {listed(names)}, which have to face it; "
        "choose Mesh, Normals, Recalculate Outside or Flip in Edit Mode and bind again",
    )
