"""Where the descriptors of a binding are now: on their objects, or on what has taken the place of those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.types import MeshTrack, TriangleMesh
from ..surface.descriptor_frames import DescriptorPoints, descriptor_frames
from ..surface.point_transfer import GRAVITY, WALL, TransferredPoints
from .binding import Binding
from .footholds import bound_places, footholds
from .new_ground import NewGround
from .options import SurfaceUse
from .stances import stances
from .standing import Standing, moved_at_bind

# What a point without ground counts beside others: it matters where a joint has no other.
LOST = 1e-3

_Frames = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Replaced:
    """What has taken the place of an object. ground: as it is in its first state.  points: the object's descriptors."""

    ground: NewGround
    points: TransferredPoints


@dataclass(frozen=True)
class PresentPlaces:
    """origins (S, N, 3), axes (S, N, 3, 3): of the descriptors now, S = 1 or F.
    replaced: by the numbers of the objects that are.  standing: the feet on those; None where nothing is replaced."""

    origins: np.ndarray
    axes: np.ndarray
    replaced: Mapping[int, Replaced]
    standing: Standing | None

    def with_feet(self, binding: Binding, environment: Sequence[TriangleMesh | MeshTrack]) -> tuple[_Frames, _Frames]:
        """Origins and axes at bind and now, of the descriptors and, behind these, of where feet stand."""
        bind, now = (binding.origins, binding.axes), (self.origins, self.axes)
        if self.standing is None:
            return bind, now
        feet = self.standing.origins[None], self.standing.axes[None]
        return _joined(bind, feet), _joined(now, self.standing.frames(environment))

    def shares(self, binding: Binding) -> np.ndarray | None:
        """(N,) how much each descriptor counts; None where all count alike."""
        return shares(found_points(binding, self.replaced))


def _joined(first: _Frames, second: _Frames) -> _Frames:
    """Frames (S, N, ...) and (T, M, ...) of which one may be still, as (max, N + M, ...)."""
    states = max(len(first[0]), len(second[0]))
    wide = [[np.broadcast_to(part, (states, *part.shape[1:])) for part in frames] for frames in (first, second)]
    return tuple(np.concatenate(pair, axis=1) for pair in zip(*wide, strict=True))


def shares(found: np.ndarray) -> np.ndarray | None:
    """How much descriptors count, found (N,) bool; None where all count alike."""
    return None if found.all() else np.where(found, 1.0, LOST)


def found_points(binding: Binding, replaced: Mapping[int, Replaced]) -> np.ndarray:
    """(N,) bool: descriptors that are on something now."""
    out = np.ones(len(binding.points), bool)
    for number, each in replaced.items():
        out[binding.points.of_object(number)] = each.points.found
    return out


def present_places(
    binding: Binding,
    environment: Sequence[MeshTrack],
    uses: Sequence[SurfaceUse],
    gravity=(0.0, 0.0, -1.0),
) -> PresentPlaces:
    """Of an environment in the binding's order, in all its states.

    Raises InputError where nothing of a replacement lies where the motion goes, by name.
    """
    first = [mesh.state(0) for mesh in environment]
    replaced = {k: replace_by(binding, k, first[k], use, gravity) for k, use in enumerate(uses) if use.replaced}
    if not replaced:
        return PresentPlaces(*descriptor_frames(binding.points, environment), {}, None)
    parts = [_frames(binding, k, mesh, replaced.get(k)) for k, mesh in enumerate(environment)]
    states = max(len(origins) for _, origins, _ in parts)
    count = len(binding.points)
    out = np.empty((states, count, 3)), np.empty((states, count, 3, 3))
    for columns, origins, axes in parts:
        out[0][:, columns], out[1][:, columns] = origins, axes
    return PresentPlaces(*out, replaced, stood(binding, uses, replaced))


def _frames(binding, number, mesh, replaced):
    """Which descriptors are of an object, and their origins and axes."""
    columns = binding.points.of_object(number)
    if replaced is not None:
        return columns, *replaced.points.frames(mesh)
    points = binding.points
    alone = DescriptorPoints(np.zeros(len(columns), int), points.triangle[columns], points.barycentric[columns])
    return columns, *descriptor_frames(alone, [mesh])


def replace_by(binding: Binding, number: int, mesh: TriangleMesh, use: SurfaceUse, gravity) -> Replaced:
    """An object's descriptors on what takes its place: those of its first state, where it moved at bind.

    Raises InputError where there is no place for any of them.
    """
    columns, ground = binding.points.of_object(number), NewGround.of(binding, number, mesh, gravity)
    return Replaced(ground, ground.over(binding.origins[0, columns], binding.axes[0, columns], use.replaced))


def stood(binding: Binding, uses: Sequence[SurfaceUse], replaced: Mapping[int, Replaced]) -> Standing:
    """The feet on the objects that are replaced, as far as these stood still at bind."""
    numbers = [k for k in replaced if not moved_at_bind(binding, k)]
    found = stances(binding, numbers)
    origins, axes = bound_places(binding, found)
    placed, moved, borne = {}, np.zeros(len(found)), np.ones(len(found))
    for k in numbers:
        rows, ground = np.flatnonzero(found.number == k), replaced[k].ground
        if not rows.size:
            continue
        is_level = (axes[rows, :, 0] @ ground.upright[2]).min() > WALL
        if uses[k].replaced == GRAVITY and is_level and ground.levels is not None:
            before = binding.origins[0, binding.points.of_object(k)]
            holds = footholds(ground, found.take(rows), (origins[rows], axes[rows]), (before, replaced[k].points))
            origins[rows], moved[rows], borne[rows] = holds.origins, holds.moved, holds.borne
            placed[k] = rows, holds.now
        else:
            placed[k] = rows, ground.over(origins[rows], axes[rows], uses[k].replaced)
    return Standing(found, origins, axes, placed, moved, borne, np.isin(binding.points.object_index, numbers))


def known_places(
    binding: Binding, meshes: Mapping[int, TriangleMesh], uses: Sequence[SurfaceUse]
) -> tuple[Mapping[int, Replaced], Standing]:
    """What has taken the place of objects, by their numbers, and the feet on it, along world Z; what was asked for last
    is known. Raises InputError as ``present_places``."""
    last = binding.last_places
    asked = {k: (mesh.vertices, mesh.triangles, uses[k].replaced) for k, mesh in meshes.items()}
    if not last or not _are_alike(last["asked"], asked):
        replaced = {k: replace_by(binding, k, mesh, uses[k], (0.0, 0.0, -1.0)) for k, mesh in meshes.items()}
        last.update(asked=asked, found=(replaced, stood(binding, uses, replaced)))
    return last["found"]


def _are_alike(first, second) -> bool:
    if first.keys() != second.keys():
        return False
    pairs = [(part, second[k][number]) for k, parts in first.items() for number, part in enumerate(parts)]
    return all(np.array_equal(*pair) for pair in pairs)
