"""Places of an environment that its change has put inside another object: a floor through which a stage has risen.

A descriptor there cannot be where a foot goes. It moves out along its normal onto what covers it; ``covered_joints``
says what that does to a body. All lengths are for a 1.8 m body and are multiplied by ``scale``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.subsampling import strided
from ..core.types import MeshTrack
from ..core.vectors import cross
from ..surface.descriptor_frames import DescriptorPoints
from ..surface.occlusion import covered
from ..surface.track import SurfaceTrack
from ..surface.track_list import SurfaceTracks
from ..warp.collision import Surfaces
from .clearance import smoothstep

if TYPE_CHECKING:
    from .binding import Binding

# Metres over its object at which a place is looked for inside others, and by how much it must be.
LIFT, INSIDE = 0.003, 0.002
# The farthest that a place moves, and from where on it moves less: what lies deeper stays with its object.
TRAVEL, FAR = 0.5, 0.4
# A place under less than the first hardly moves; from the second on it moves out all the way.
THIN, THICK = 0.005, 0.015
# Cosine between an axis and the mean normal of an object from which on it looks along the axis, and triangles of which
# that mean is taken.
_FRONT, _LOOKED_AT = 0.9, 4096
# Out of an object whose sides are near a place moves by steps, and the last one is halved a few times.
_STEP, _HALVINGS = 0.025, 5


@dataclass(frozen=True)
class CoveredPlaces:
    """lift: (S, N) metres that each place moves along its normal.  share: (S, N) in [0, 1], how much it is covered.
    by: (S, N) number of the object that covers it, -1 for none.  S = 1 or one state a frame.
    """

    lift: np.ndarray
    share: np.ndarray
    by: np.ndarray

    def part(self, frames: slice) -> CoveredPlaces:
        """Those of some frames."""
        if len(self.share) == 1:
            return self
        return CoveredPlaces(self.lift[frames], self.share[frames], self.by[frames])


def covered_over_time(
    points: DescriptorPoints,
    environment: Sequence[MeshTrack],
    surfaces: Sequence[SurfaceTrack],
    covering: Sequence[int],
    frames: tuple[np.ndarray, np.ndarray],
    asked: np.ndarray,
    scale: float,
) -> CoveredPlaces | None:
    """See ``covered_places``: of an environment over F frames.

    surfaces: of the objects numbered ``covering`` alone.  frames: of the points, see ``descriptor_frames``.
    asked: (S, N) bool.
    """
    states = len(frames[0])
    number = np.full((len(environment), states), -1)
    number[covering] = np.arange(len(covering))[:, None] * states + np.arange(states)
    tracks = SurfaceTracks(surfaces, states)
    lo, hi = np.empty((2, len(environment), states, 3))
    for k, mesh in enumerate(environment):
        below, above = np.moveaxis(margins(mesh.vertices, mesh.triangles, is_closed(mesh.triangles), scale), 1, 0)
        lo[k], hi[k] = mesh.vertices.min(axis=1) - below, mesh.vertices.max(axis=1) + above
    lines = frames[0], frames[1][..., 0], points.object_index
    return covered_places(tracks, number, (lo, hi), *lines, asked, scale)


def margins(vertices: np.ndarray, triangles: np.ndarray, closed: bool, scale: float) -> np.ndarray:
    """(S, 2, 3) metres below and above the bounds of an object, vertices (S, V, 3), within which a place may be inside.

    What is open, as a floor of one sheet, has all that is behind it inside, and nothing that is before it.
    """
    out = np.zeros((len(vertices), 2, 3))
    if not closed:
        corners = vertices[:, strided(triangles, _LOOKED_AT)]
        front = cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0]).sum(axis=1)
        front /= np.maximum(np.linalg.norm(front, axis=1, keepdims=True), 1e-12)
        out[:, 0] = np.where(front > -_FRONT, TRAVEL * scale, 0.0)
        out[:, 1] = np.where(front < _FRONT, TRAVEL * scale, 0.0)
    return out


def is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge belongs to two triangles (T, 3)."""
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1).astype(np.int64)
    key = np.sort(edges[:, 0] * (int(triangles.max()) + 1) + edges[:, 1])
    return len(key) % 2 == 0 and bool((key[::2] == key[1::2]).all() and (np.diff(key[::2]) > 0).all())


def covered_places(
    surfaces: Surfaces,
    number: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    places: np.ndarray,
    normals: np.ndarray,
    objects: np.ndarray,
    asked: np.ndarray,
    scale: float,
) -> CoveredPlaces | None:
    """Which places are covered, and how far they move out; None where none is.

    number: (O, S) by which the surfaces know each object in each state, -1 for those that cover nothing.
    bounds: least and greatest (O, S, 3) within which places may be inside the objects.
    places, normals: (S, N, 3), world.  objects: (N,) that the places lie on.  asked: (S, N) bool, the others stay.
    """
    state, place = np.nonzero(asked)
    at, normal = places[state, place], normals[state, place]
    at = at + LIFT * scale * normal
    others = np.where(objects[place, None] != np.arange(len(number)), number[:, state].T, -1)
    lo, hi = (np.swapaxes(bound, 0, 1)[state] for bound in bounds)
    near = ((at[:, None] >= lo) & (at[:, None] <= hi)).all(axis=-1)
    distance = _distances(surfaces, at, np.where(near, others, -1), TRAVEL * scale)
    inside = np.flatnonzero(distance.min(axis=1) < -INSIDE * scale)
    if not inside.size:
        return None
    way = _way_out(surfaces, at[inside], normal[inside], others[inside], scale) / scale
    share, lift, by = np.zeros(asked.shape), np.zeros(asked.shape), np.full(asked.shape, -1)
    chosen = state[inside], place[inside]
    share[chosen] = smoothstep((way - THIN) / (THICK - THIN)) * smoothstep((TRAVEL - way) / (TRAVEL - FAR))
    lift[chosen] = scale * (way + LIFT) * share[chosen]
    by[chosen] = distance[inside].argmin(axis=1)
    return CoveredPlaces(lift, share, by)


def _way_out(surfaces, at, normal, others, scale):
    """(M,) metres along normals (M, 3) at which points (M, 3) are outside of others (M, O); TRAVEL where farther."""
    travel, step = TRAVEL * scale, _STEP * scale
    inner, outer = np.zeros(len(at)), np.full(len(at), travel)
    way, left = np.zeros(len(at)), np.arange(len(at))
    exact = np.zeros(len(at), bool)
    while left.size:
        least = _distances(surfaces, at[left] + way[left, None] * normal[left], others[left], travel).min(axis=1)
        out = least >= -INSIDE * scale
        outer[left[out]], exact[left[out]] = way[left[out]], least[out] <= INSIDE * scale
        left, least = left[~out], least[~out]
        inner[left] = way[left]
        way[left] += np.maximum(-least, step)
        left = left[way[left] < travel]
    left = np.flatnonzero(~exact & (outer < travel))
    for _ in range(_HALVINGS if left.size else 0):
        middle = 0.5 * (inner[left] + outer[left])
        points = at[left] + middle[:, None] * normal[left]
        out = _distances(surfaces, points, others[left], travel).min(axis=1) >= 0.0
        outer[left[out]], inner[left[~out]] = middle[out], middle[~out]
    return outer


def _distances(surfaces, points, others, reach):
    """(M, O) signed distances of points (M, 3) from others (M, O), numbers of surfaces; inf where there is none."""
    row, column = np.nonzero(others >= 0)
    out = np.full(others.shape, np.inf)
    if row.size:
        out[row, column] = surfaces.query(points[row], others[row, column], reach).distance
    return out


def covered_contacts(
    binding: Binding, surfaces: Sequence[SurfaceTrack], frames: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """(O, F, J) bool: contacts (``Binding.touched``) whose places, the nearest descriptors, are covered now.

    surfaces: of the changed meshes in the binding's order.  frames: of the descriptors now, see ``descriptor_frames``.
    """
    touching = binding.touched
    out = np.zeros(touching.shape, bool)
    now, axes = frames
    lifted = now + LIFT * binding.scale * axes[..., 0]
    for obj in range(len(surfaces)):
        frame, joint = np.nonzero(touching[obj])
        columns = binding.points.of_object(obj)
        if not frame.size or not columns.size:
            continue
        then = binding.origins[np.minimum(frame, len(binding.origins) - 1)[:, None], columns]
        gaps = np.linalg.norm(then - binding.track.positions[frame, joint][:, None], axis=2)
        places = lifted[np.minimum(frame, len(lifted) - 1), columns[gaps.argmin(axis=1)]]
        others = surfaces[:obj] + surfaces[obj + 1 :]
        out[obj, frame, joint] = covered(places, frame, others, INSIDE * binding.scale)
    return out
