"""A binding as arrays and a header that the .blend can hold, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.adapt.binding import Binding
from ...solvers.core.types import JointTrack, MeshTrack, Skeleton
from ...solvers.skeleton.solved_joints import SolvedJoints
from ...solvers.surface.bound_surface import BoundSurface
from ...solvers.surface.descriptor_frames import DescriptorPoints
from ..core.naming import listed
from ..core.stored_arrays import (
    StoredKind,
    require_indices,
    require_positive,
    require_rising,
    require_shapes,
    require_texts,
)
from ..rig.controls import KnownControls, unpacked_controls

_BOUND = StoredKind("adapt", 2, "bound data", "bind again")
# Bytes: 300 frames of a cloth of 20 000 vertices.
LARGEST_SURFACE = 72_000_000
_SURFACE = ("vertices", "rotations", "shifts")
# F frames, J joints, N descriptor points, O objects, P points on the body; see ``stored_arrays.require_shapes``.
_SHAPES = {
    "parents": "i J", "positions": "f F J 3", "frames": "fi F", "effectors": "b J", "placed": "b J",
    "object_index": "iu N", "triangle": "iu N", "barycentric": "f N 3", "origins": "f? S N 3", "axes": "f? S N 3 3",
    "effective": "f? F J 3", "distance": "f? O F P", "side": "i O F P", "hidden": "b O F J", "slow": "b O F J",
    "radii": "f J", "object_world": "f W 4 4",
}  # fmt: skip

# What files from before it was looked for lack.
_OPTIONAL = {"covered": "b N", "rests": "b O F J", "own": "i K 4"}


@dataclass(frozen=True)
class Stored:
    """binding: see the solver.  solved: which joints of the rig.  object_world: (F or 1, 4, 4) of the rig at bind.
    triangles: one array (T, 3) an object.  fingerprints: of their topology.
    hung: the bones that move with another one than their parent, and that one.
    stretch: new over old of the scene's Time Stretching at bind, None in files from before it was noted.
    surfaces: the objects at bind, None for each that is too large to keep and in files from before they were kept.
    controls: of a rig whose bones are moved by controls, else None, as in files from before they were measured."""

    binding: Binding
    solved: SolvedJoints
    object_world: np.ndarray
    triangles: list[np.ndarray]
    fingerprints: list[str]
    hung: dict[str, str]
    stretch: float | None = None
    surfaces: tuple[BoundSurface | None, ...] = ()
    controls: KnownControls | None = None

    def surface(self, number: int) -> MeshTrack | None:
        """An object as it was at bind, or None where that is not kept."""
        kept = self.surfaces[number] if self.surfaces else None
        return kept and kept.track(self.binding.objects[number], self.triangles[number])


def kept_surface(mesh: MeshTrack) -> BoundSurface | None:
    """What is stored of an object as it is at bind, None where that would be too much."""
    found = BoundSurface.of(mesh)
    return found if found.size <= LARGEST_SURFACE else None


def not_kept(stored: Stored) -> tuple[str, ...]:
    """Says which objects are too large to be kept as they are at bind."""
    names = [name for name, kept in zip(stored.binding.objects, stored.surfaces, strict=True) if kept is None]
    if not names:
        return ()
    return (f"{listed(names)}: too large to keep over the bound frames; what is added later needs them unmoved",)


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
    optional = {name: getattr(binding, name) for name in _OPTIONAL}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    arrays |= {f"triangles {k}": triangles for k, triangles in enumerate(stored.triangles)}
    parts = {f"{part} {k}": getattr(kept, part, None) for k, kept in enumerate(stored.surfaces) for part in _SURFACE}
    arrays |= {name: array for name, array in parts.items() if array is not None}
    own, controls = stored.controls.packed() if stored.controls else ({}, None)
    return arrays | own, _BOUND.header(
        names=list(binding.track.skeleton.names),
        fps=binding.track.fps,
        height=binding.height,
        rest_rules=binding.rest_rules,
        objects=list(binding.objects),
        fingerprints=stored.fingerprints,
        hung=stored.hung,
        stretch=stored.stretch,
        controls=controls,
    )


def unpack(arrays: dict[str, np.ndarray], header: dict) -> Stored:
    """The reverse of ``pack``; raises StaleBindingError for another format."""
    with _BOUND.checked(header):
        _require_sound(arrays, header)
        stored = _unpacked(arrays, header)
        if len(stored.binding.samples.body) != stored.binding.distance.shape[2]:
            raise ValueError("'distance' is of other points on the body")
        return stored


def _require_sound(arrays: dict[str, np.ndarray], header: dict) -> None:
    sizes = require_shapes(arrays, _SHAPES)
    joints, objects = sizes["J"], sizes["O"]
    for name, axes in _OPTIONAL.items():
        if name in arrays:
            require_shapes(arrays, {name: " ".join(str(sizes.get(axis, axis)) for axis in axes.split())})
    if "own" in arrays:
        require_indices(arrays["own"][:, :2], 0, joints, "own")
        require_indices(arrays["own"][:, 2:], 0, sizes["F"], "own")
    require_rising(arrays["frames"])
    require_positive(header, "fps", "height")
    for name, count in (("names", joints), ("objects", objects), ("fingerprints", objects)):
        require_texts(header[name], count, name)
    if header.get("stretch") is not None:
        require_positive(header, "stretch")
    hung = header.get("hung", {})
    require_texts([*hung.keys(), *hung.values()], 2 * len(hung), "hung")
    for name in ("origins", "object_world"):
        if len(arrays[name]) not in (1, sizes["F"]):
            raise ValueError(f"'{name}' has another number of frames")
    require_indices(arrays["parents"], -1, joints, "parents")
    for number in range(objects):
        require_shapes(arrays, {f"triangles {number}": "iu T 3"})
        _require_surface(arrays, number, sizes["F"])
    counts = np.array([len(arrays[f"triangles {number}"]) for number in range(objects)])
    require_indices(arrays["object_index"], 0, objects, "object_index")
    require_indices(arrays["triangle"], 0, counts[arrays["object_index"]], "triangle")
    require_indices(arrays["side"], -1, counts[:, None, None], "side")


def _require_surface(arrays: dict[str, np.ndarray], number: int, frames: int) -> None:
    vertices, triangles = f"vertices {number}", arrays[f"triangles {number}"]
    if vertices not in arrays:
        require_indices(triangles, 0, np.inf, f"triangles {number}")
        return
    sizes = require_shapes(arrays, {vertices: "f S V 3"})
    if sizes["S"] not in (1, frames):
        raise ValueError(f"'{vertices}' has another number of frames")
    require_indices(triangles, 0, sizes["V"], f"triangles {number}")
    if f"rotations {number}" in arrays:
        moved = {f"rotations {number}": f"f {frames} 3 3", f"shifts {number}": f"f {frames} 3"}
        require_shapes(arrays, moved)


def _unpacked(arrays: dict[str, np.ndarray], header: dict) -> Stored:
    skeleton = Skeleton(tuple(header["names"]), arrays["parents"])
    track = JointTrack(skeleton, arrays["positions"], header["fps"], arrays["frames"])
    points = DescriptorPoints(arrays["object_index"], arrays["triangle"], arrays["barycentric"])
    names = ("origins", "axes", "effective", "distance", "side", "hidden", "slow", "radii")
    parts, optional = (arrays[name] for name in names), {name: arrays.get(name) for name in _OPTIONAL}
    known = track, arrays["effectors"], header["height"], tuple(header["objects"]), points
    binding = Binding(*known, *parts, rest_rules=int(header.get("rest_rules", 0)), **optional)
    solved = SolvedJoints(np.arange(len(skeleton.names)), skeleton.parents, arrays["effectors"], arrays["placed"])
    triangles = [arrays[f"triangles {k}"] for k in range(len(header["objects"]))]
    world, fingerprints = arrays["object_world"], header["fingerprints"]
    surfaces = tuple(_surface(arrays, k) for k in range(len(triangles)))
    hung, stretch = header.get("hung", {}), header.get("stretch")
    controls = unpacked_controls(arrays, header.get("controls"))
    return Stored(binding, solved, world, triangles, fingerprints, hung, stretch, surfaces, controls)


def _surface(arrays: dict[str, np.ndarray], number: int) -> BoundSurface | None:
    parts = [arrays.get(f"{part} {number}") for part in _SURFACE]
    return None if parts[0] is None else BoundSurface(*parts)
