"""The contacts of a motion and which of them another one keeps, for ``metrics``.

A *contact* is an effector slower than 0.25 m/s against the nearest object and nearer to it than its own offset
+ 2 cm. The offset (a joint lies inside the flesh: a standing toe is 3 to 6 cm above the sole) is the mode, in
bins of 4 mm, of its distances to the nearest object over slow frames within 15 cm: what rests farther away does
not touch. To each object it is that of the frames in which no other is nearer by more than 1 cm, unless that is
more than 3 cm above the one to all. Of objects as near as each other, to a centimetre, each is touched; it is one
contact all the same. A contact is *kept* when the clearance to an object that was touched, in the changed
environment, is within 2 cm of the original's, both ways. One whose place on the object is inside another object now
does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.surface.closest_point import SurfaceIndex

SLOW = 0.25
CONTACT_BAND = 0.02
KEPT_BAND = 0.02
OFFSET_BIN = 0.004
OFFSET_LIMIT = 0.15
OFFSET_SPREAD = 0.03
AS_NEAR = 0.01
COVER_LIFT = 0.003
COVER_DEPTH = 0.002


@dataclass(frozen=True)
class ContactPair:
    """One effector against one object. contact, kept: (F,) bool. shift: (F,) metres, clearance gained (+)
    or lost (-) beyond what the body's scale asks for. offset: metres."""

    effector: str
    obj: str
    offset: float
    contact: np.ndarray
    kept: np.ndarray
    shift: np.ndarray


@dataclass(frozen=True)
class Probe:
    """One object: signed distances (F, N), inf beyond reach; triangles (F, N), closest points (F, N, 3)."""

    distance: np.ndarray
    triangle: np.ndarray
    closest: np.ndarray

    def on(self, column):
        """Triangles (F,) and closest points (F, 3) of one of the points."""
        return self.triangle[:, column], self.closest[:, column]


def counted(pairs, field):
    """Frames, summed over effectors, in which a field of any pair of the effector is true."""
    of_each = {}
    for pair in pairs:
        of_each.setdefault(pair.effector, []).append(getattr(pair, field))
    return sum(int(np.any(found, axis=0).sum()) for found in of_each.values())


def contact_pairs(original, environments, probes, effectors, unit, scale):
    """A pair an effector and object. environments, probes: before and after the change."""
    names = [name for group in effectors.values() for name in group]
    columns = [original.skeleton.names.index(name) for name in names]
    speeds = velocity(original.positions[:, columns], original.fps)
    slow = np.stack(
        [
            np.linalg.norm(speeds - _surface_velocity(mesh, *at, original.fps), axis=2) < SLOW * unit
            for mesh, at in (
                (m, (p.triangle[:, columns], p.closest[:, columns]))
                for m, p in zip(environments[0], probes[0], strict=True)
            )
        ]
    )
    then, now = (np.stack([p.distance[:, columns] for p in side]) for side in probes)
    pairs = []
    for i, (name, column) in enumerate(zip(names, columns, strict=True)):
        offsets = _offsets(then[..., i], slow[..., i], unit)
        gap = np.where(np.isfinite(offsets), then[..., i].T - offsets, np.inf).T
        contact = slow[..., i] & _as_near(gap, unit) & (gap < CONTACT_BAND * unit)
        contact &= ~_covered(contact, [p.on(column) for p in probes[0]], environments, unit)
        near = np.isfinite(then[..., i])
        shift = np.full(gap.shape, np.inf)
        shift[near] = now[..., i][near] - scale * then[..., i][near]
        kept = contact & (np.abs(shift) <= KEPT_BAND * unit)
        objects = [mesh.name for mesh in environments[0]]
        pairs += map(ContactPair, [name] * len(objects), objects, offsets, contact, kept, shift)
    return pairs


def _covered(contact, places, environments, unit):
    """(O, F) contacts of an effector whose place on the object has been carried into another object.

    places: triangles (F,) and closest points (F, 3) of each object before the change.
    """
    out = np.zeros(contact.shape, bool)
    for k, (before, after) in enumerate(zip(*environments, strict=True)):
        frame = np.flatnonzero(contact[k])
        triangle, closest = (values[frame] for values in places[k])
        then, now = (
            mesh.vertices[(0 * frame if mesh.is_static else frame)[:, None], mesh.triangles[triangle]]
            for mesh in (before, after)
        )
        at = np.einsum("nk,nki->ni", _barycentric(then[:, None], closest[:, None])[:, 0], now)
        normal = np.cross(now[:, 1] - now[:, 0], now[:, 2] - now[:, 0])
        at += COVER_LIFT * unit * normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
        for other, mesh in enumerate(environments[1]):
            if other != k and frame.size:
                out[k, frame] |= _depth(mesh, at, frame) > COVER_DEPTH * unit
    return out


def _depth(mesh, points, frames):
    """(M,) how deep points (M, 3) at frames (M,) are inside a mesh; below zero outside."""
    out = np.empty(len(points))
    for state in [0] if mesh.is_static else np.unique(frames):
        chosen = np.ones(len(points), bool) if mesh.is_static else frames == state
        index = SurfaceIndex(mesh.vertices[state], mesh.triangles, mesh.name)
        out[chosen] = -index.query(points[chosen], np.inf).distance
    return out


def _as_near(gap, unit):
    """(O, F) which objects are as near as the nearest one, by (O, F) metres above where they are touched."""
    gap = np.maximum(gap, 0)
    return np.isfinite(gap) & (gap <= gap.min(axis=0) + AS_NEAR * unit)


def _offsets(distance, slow, unit):
    """(O,) at which one effector touches each object, of (O, F) distances; -inf where it never does."""
    nearest = (distance.argmin(axis=0), np.arange(distance.shape[1]))
    usual = _mode(distance[nearest][slow[nearest]], unit)
    resting = slow & _as_near(distance - usual, unit)
    out = np.full(len(distance), -np.inf)
    for k in np.flatnonzero(resting.any(axis=1) & np.isfinite(usual)):
        own = _mode(distance[k, resting[k]], unit)
        out[k] = own if -np.inf < own <= usual + OFFSET_SPREAD * unit else usual
    return out


def _mode(distances, unit):
    """Of one effector's distances (metres) over slow frames; -inf where it never comes close."""
    close = distances[np.abs(distances) < OFFSET_LIMIT * unit]
    if not close.size:
        return -np.inf
    bins = np.floor(close / (OFFSET_BIN * unit)).astype(int)
    values, counts = np.unique(bins, return_counts=True)
    return float((values[np.argmax(counts)] + 0.5) * OFFSET_BIN * unit)


def velocity(positions, fps):
    """Central differences (F, ..., 3) in m/s."""
    return np.gradient(positions, axis=0) * fps


def _surface_velocity(mesh, triangle, closest, fps):
    """Velocity (F, N, 3) of the material point of the surface that is closest now."""
    if mesh.is_static:
        return 0.0
    frame = np.arange(len(mesh.vertices))
    corners = mesh.triangles[triangle]
    now = mesh.vertices[frame[:, None, None], corners]
    weights = _barycentric(now, closest)
    later, sooner = np.minimum(frame + 1, frame[-1]), np.maximum(frame - 1, 0)
    step = mesh.vertices[later[:, None, None], corners] - mesh.vertices[sooner[:, None, None], corners]
    return np.einsum("fnk,fnki->fni", weights, step) * (fps / (later - sooner))[:, None, None]


def _barycentric(corners, points):
    """Weights (F, N, 3) of points (F, N, 3) in the planes of corners (F, N, 3, 3)."""
    a, b = corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0]
    p = points - corners[:, :, 0]
    aa, ab, bb = ((x * y).sum(axis=2) for x, y in ((a, a), (a, b), (b, b)))
    ap, bp = (a * p).sum(axis=2), (b * p).sum(axis=2)
    area = np.maximum(aa * bb - ab * ab, 1e-30)
    u, v = (bb * ap - ab * bp) / area, (aa * bp - ab * ap) / area
    return np.stack([1 - u - v, u, v], axis=2)
