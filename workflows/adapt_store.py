"""A binding of Adapt as arrays and a header that the .blend can hold, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..solvers.adapt_binding import Binding
from ..solvers.descriptor_frames import DescriptorPoints
from ..solvers.errors import StaleBindingError
from ..solvers.solved_joints import SolvedJoints
from ..solvers.types import JointTrack, Skeleton

# Raised when what is stored changes its meaning.
FORMAT = 2


@dataclass(frozen=True)
class Stored:
    """binding: see the solver.  solved: which joints of the rig.  object_world: (F or 1, 4, 4) of the rig at bind.
    triangles: one array (T, 3) an object.  fingerprints: of their topology.
    hung: the bones that move with another one than their parent, and that one.
    stretch: new over old of the scene's Time Stretching at bind, None in files from before it was noted."""

    binding: Binding
    solved: SolvedJoints
    object_world: np.ndarray
    triangles: list[np.ndarray]
    fingerprints: list[str]
    hung: dict[str, str]
    stretch: float | None = None


def pack(stored: Stored) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and header for ``scene.binding_store``."""
    binding, solved = stored.binding, stored.solved
    arrays = {
        "parents": binding.track.skeleton.parents,
        "positions": binding.track.positions,
        "frames": binding.track.frames,
        "effectors": binding.effectors,
        "placed": solved.placed,
        "object_index": binding.points.object_index,
        "triangle": binding.points.triangle,
        "barycentric": binding.points.barycentric,
        "origins": binding.origins,
        "axes": binding.axes,
        "effective": binding.effective,
        "distance": binding.distance,
        "side": binding.side,
        "hidden": binding.hidden,
        "slow": binding.slow,
        "radii": binding.radii,
        "object_world": stored.object_world,
    }
    arrays |= {f"triangles {k}": triangles for k, triangles in enumerate(stored.triangles)}
    header = {
        "workflow": "adapt",
        "format": FORMAT,
        "names": list(binding.track.skeleton.names),
        "fps": binding.track.fps,
        "height": binding.height,
        "objects": list(binding.objects),
        "fingerprints": stored.fingerprints,
        "hung": stored.hung,
        "stretch": stored.stretch,
    }
    return arrays, header


def unpack(arrays: dict[str, np.ndarray], header: dict) -> Stored:
    """The reverse of ``pack``; raises StaleBindingError for another format."""
    if header.get("workflow") != "adapt" or header.get("format") != FORMAT:
        raise StaleBindingError("The bound data come from another version of Motion Loom; bind again.")
    skeleton = Skeleton(tuple(header["names"]), arrays["parents"])
    track = JointTrack(skeleton, arrays["positions"], header["fps"], arrays["frames"])
    points = DescriptorPoints(arrays["object_index"], arrays["triangle"], arrays["barycentric"])
    names = ("origins", "axes", "effective", "distance", "side", "hidden", "slow", "radii")
    parts = (arrays[name] for name in names)
    binding = Binding(track, arrays["effectors"], header["height"], tuple(header["objects"]), points, *parts)
    solved = SolvedJoints(np.arange(len(skeleton.names)), skeleton.parents, arrays["effectors"], arrays["placed"])
    triangles = [arrays[f"triangles {k}"] for k in range(len(header["objects"]))]
    world, fingerprints = arrays["object_world"], header["fingerprints"]
    return Stored(binding, solved, world, triangles, fingerprints, header.get("hung", {}), header.get("stretch"))
