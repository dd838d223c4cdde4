"""What is said where a body is bound to an environment that none of its joints deals with."""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError
from ..core.types import JointTrack, MeshTrack


def nothing_near(track: JointTrack, environment: list[MeshTrack], distance: np.ndarray, reach: float) -> InputError:
    """To be raised where no joint lies over faces of the environment.

    distance: (O, F, J) metres, of joints to each object, inf where they are farther than they are measured.
    reach: metres over a face at which a joint still counts.
    """
    away = np.abs(distance)
    if not np.isfinite(away).any():
        names = ", ".join(mesh.name for mesh in environment)
        return InputError(
            f"No joint comes within {reach:.2f} m of the environment ({names}); choose the objects "
            "the motion deals with."
        )
    number, _, joint = np.unravel_index(away.argmin(), away.shape)
    name = track.skeleton.names[joint].removesuffix("/tail")
    return InputError(
        f"No joint lies over faces of the environment: joint '{name}' comes nearest, within "
        f"{away.min():.2f} m of '{environment[number].name}', but beside its faces; choose the objects the motion "
        "deals with, or make them reach below the body."
    )
