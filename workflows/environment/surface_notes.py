"""Notes on the surfaces that a rig is bound to."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...solvers.adapt.binding import Binding
from ...solvers.adapt.coincident_faces import coincident_faces
from ...solvers.core.types import MeshTrack
from ...solvers.surface.turned_away import turned_away
from ..core.naming import listed


def avoided_among(ob, workflow, objects) -> list[int]:
    """Numbers of the objects that the user has set to Avoid."""
    avoided = [item.target for item in workflow.settings_of(ob).surfaces if item.mode == "AVOID"]
    return [number for number, target in enumerate(objects) if target in avoided]


def surface_notes(binding: Binding, environment: list[MeshTrack], avoided: Collection[int] = ()) -> tuple[str, ...]:
    """What spoils results and shows in a binding, a sentence each.

    environment: the bound meshes.  avoided: numbers of the objects that are not stood on.
    """
    return (*behind_notes(binding), *_coincident(binding, environment, avoided))


def behind_notes(binding: Binding) -> tuple[str, ...]:
    """A note of the objects whose faces look away from the body."""
    names = [binding.objects[k] for k in np.flatnonzero(turned_away(binding.distance))]
    if not names:
        return ()
    return (
        f"Most of the body is behind the faces of {listed(names)}, which have to face it; "
        "choose Mesh, Normals, Recalculate Outside or Flip in Edit Mode and bind again",
    )


def _coincident(binding: Binding, environment: list[MeshTrack], avoided: Collection[int]) -> tuple[str, ...]:
    names = binding.track.skeleton.names
    notes = []
    for one, other, joints in coincident_faces(binding, environment):
        if one not in avoided and other not in avoided:
            bones = dict.fromkeys(names[joint].removesuffix("/tail") for joint in joints)
            notes.append(
                f"Faces of '{binding.objects[one]}' and '{binding.objects[other]}' lie in one plane under "
                f"{listed(list(bones))}; set the one that is not stood on to Avoid"
            )
    return tuple(notes)
