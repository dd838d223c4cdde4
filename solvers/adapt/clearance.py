"""Distances of joints to the environment at bind, and what follows from them: effective joints, contacts, affinity."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..surface.sides import faced_sides
from ..surface.track import SurfaceTrack

# All lengths are for a 1.8 m body and scale with its height.
REACH = 0.9
SUNK, LIFTED = 0.08, 0.03
AFFINITY_FLOOR, AFFINITY_RADIUS = 0.02, 0.06
CONTACT_NEAR, CONTACT_FAR = 0.01, 0.06
SLOW = 0.25
OFFSET_BIN = 0.004
OFFSET_LIMIT = 0.16
# A joint may rest that much farther from one object than it usually does from all: an ankle on a raised heel.
OFFSET_SPREAD = 0.03
# An object claims a joint that comes as near to another one, and no more where the other is that much nearer.
CLAIM_NEAR, CLAIM_FAR = 0.003, 0.017
CLAIMED = 0.5
AFFINITY_SMOOTHING = 0.1


def clearances(
    points: np.ndarray, environment: list[SurfaceTrack], reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nearest places of (F, P, 3) points on each object at their frames.

    Returns distance (O, F, P), metres, positive outside, inf beyond ``reach``; normal and closest place (O, F, P, 3);
    and the triangle faced (O, F, P), -1 beyond reach.
    """
    shape = points.shape[:2]
    flat = np.ascontiguousarray(points).reshape(-1, 3)
    frames = np.repeat(np.arange(shape[0]), shape[1])
    found = [surface.query(flat, frames, reach) for surface in environment]

    faced = [faced_sides(s, flat, frames, hits) for s, hits in zip(environment, found, strict=True)]
    distance, normal, closest = (
        np.stack([getattr(hits, name) for hits in found]) for name in ("distance", "normal", "closest")
    )
    objects = len(environment)
    vectors = (objects, *shape, 3)
    return (
        distance.reshape(objects, *shape),
        normal.reshape(vectors),
        closest.reshape(vectors),
        np.stack(faced).reshape(objects, *shape),
    )


def effective_joints(points: np.ndarray, distance: np.ndarray, normal: np.ndarray, scale: float) -> np.ndarray:
    """Joints from a little inside to a little outside a surface, pushed out to 3 cm (x scale).

    A hand that sinks slightly into a surface would otherwise face only the surfaces turned away from it.
    points (F, P, 3), distance (O, F, P) and normal (O, F, P, 3) from ``clearances``; scale = body height / 1.8 m.
    """
    nearest = np.abs(distance).argmin(axis=0)[None]
    distance = np.take_along_axis(distance, nearest, 0)[0]
    normal = np.take_along_axis(normal, nearest[..., None], 0)[0]
    near = (distance > -SUNK * scale) & (distance < LIFTED * scale)
    lift = np.where(near, LIFTED * scale - np.where(near, distance, 0.0), 0.0)
    return points + lift[..., None] * normal


def speeds_over(
    surface: SurfaceTrack, points: np.ndarray, closest: np.ndarray, triangle: np.ndarray, dt: float
) -> np.ndarray:
    """Speed of points (F, P, 3) against the places of an object that they are nearest to: (F, P), m/s.

    closest (F, P, 3), triangle (F, P): see ``clearances``; beyond reach (-1) the speed is that in the world. Central
    differences; zero for a single frame.
    """
    frames = len(points)
    if frames < 2:
        return np.zeros(points.shape[:2])
    velocity = np.gradient(points, dt, axis=0)
    if not surface.mesh.is_static:
        frame, point = np.nonzero(triangle >= 0)
        before, after = np.maximum(frame - 1, 0), np.minimum(frame + 1, frames - 1)
        corner = surface.mesh.triangles[triangle[frame, point]]
        vertices = surface.mesh.vertices
        share = _barycentric(closest[frame, point], vertices[frame[:, None], corner])
        way = vertices[after[:, None], corner] - vertices[before[:, None], corner]
        velocity[frame, point] -= np.einsum("mk,mkc->mc", share, way) / ((after - before) * dt)[:, None]
    return np.linalg.norm(velocity, axis=-1)


def _barycentric(points, corners):
    """(M, 3) of points (M, 3) on triangles (M, 3, 3)."""
    edges = corners[:, 1:] - corners[:, :1]
    gram = np.einsum("mik,mjk->mij", edges, edges)
    right = np.einsum("mik,mk->mi", edges, points - corners[:, 0])
    rest = np.linalg.solve(gram, right[..., None])[..., 0]
    return np.column_stack((1.0 - rest.sum(axis=1), rest))


def contact_offsets(distance: np.ndarray, slow: np.ndarray, scale: float) -> np.ndarray:
    """How far a joint sits above what its body part touches: (O, P) metres, NaN where it never touches an object.

    A toe joint stands 3-6 cm above the sole: its usual distance is the mode over slow frames of that to the nearest
    object. An object has a mode of its own, of frames in which no other one is nearer. Where that is much above the
    usual one, the usual one counts: a foot that hangs over a floor does not touch it, however long it does so.
    distance, slow (O, F, P).
    """
    nearest = distance.argmin(axis=0)[None]
    least, rests = (np.take_along_axis(a, nearest, 0)[0] for a in (distance, slow))
    usual = np.array([_usual(least[rests[:, joint], joint], scale) for joint in range(least.shape[1])])
    offsets = np.full((distance.shape[0], distance.shape[2]), np.nan)
    resting = slow & (claims(distance - usual, scale) > CLAIMED)
    for obj, joint in np.argwhere(resting.any(axis=1)):
        own = _usual(distance[obj, resting[obj, :, joint], joint], scale)
        offsets[obj, joint] = own if own < usual[joint] + OFFSET_SPREAD * scale else usual[joint]
    return offsets


def claims(gap: np.ndarray, scale: float) -> np.ndarray:
    """(O, F, P) in [0, 1]: how much each object is the one that a joint rests on rather than a nearer one.

    gap: (O, F, P) metres above where the joint touches. All that is touched is equally near: a toe before a wall
    stands on the floor. Of objects that lie as near as each other all claim the joint, a step in a floor and the floor.
    """
    gap = np.where(np.isfinite(gap), np.maximum(gap, 0.0), np.inf)
    least = gap.min(axis=0)
    beyond = gap - np.where(np.isfinite(least), least, 0.0)
    return smoothstep((CLAIM_FAR * scale - beyond) / ((CLAIM_FAR - CLAIM_NEAR) * scale))


def _usual(distances, scale):
    """The mode of distances (K,), NaN where none is near; by a histogram of 4 mm (x scale).

    Each value is shared between the two bins beside it: counted whole, one on the border of two bins would move the
    mode by rounding.
    """
    values = distances / scale
    values = values[(values > -SUNK) & (values < OFFSET_LIMIT)]
    if not values.size:
        return np.nan
    place = (values + SUNK) / OFFSET_BIN
    lower = np.floor(place).astype(int)
    count = np.bincount(lower, lower + 1 - place, minlength=lower.max() + 2)
    count[1:] += np.bincount(lower, place - lower, minlength=len(count) - 1)[: len(count) - 1]
    weight = np.maximum(1.0 - np.abs(place - count.argmax()), 0.0)
    return scale * float(weight @ values / weight.sum())


def smoothstep(x: np.ndarray) -> np.ndarray:
    """3 x^2 - 2 x^3 clamped to [0, 1]."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def contact_strength(
    distance: np.ndarray, offsets: np.ndarray, scale: float, reach: float | None = None
) -> np.ndarray:
    """(O, F, P) in [0, 1]: 1 within 1 cm (x scale) of the joint's own offset to an object, 0 beyond ``reach`` and where
    another object is nearer (see ``claims``).

    reach: metres, None for 6 cm x scale; of a small one the strength is 1 within a sixth. Nothing touches within 0.
    """
    reach = CONTACT_FAR * scale if reach is None else reach
    if reach == 0:
        return np.zeros(distance.shape)
    near = min(CONTACT_NEAR * scale, reach / 6)
    gap = np.where(np.isfinite(distance), distance, np.nan) - offsets[:, None]
    strength = smoothstep((reach - gap) / (reach - near))
    return np.where(np.isfinite(gap), strength * claims(gap, scale), 0.0)


def affinities(
    distance: np.ndarray,
    contact: np.ndarray,
    heed: np.ndarray,
    contact_weight: float,
    scale: float,
    dt: float,
) -> np.ndarray:
    """How strongly each joint holds to its target: (F, P).

    The paper's eq. 8 grows with distance in practice, since its window starts at the nearest descriptor. This one falls
    off with clearance and is raised where an effector is in contact. Smoothed over 100 ms.
    distance (O, F, P), contact (O, F, P) from ``contact_strength``; heed (O,) or (O, F): 0 to 1, of objects.
    """
    near = 1.0 / (1.0 + (np.maximum(distance, 0.0) / (AFFINITY_RADIUS * scale)) ** 2)
    raw = AFFINITY_FLOOR + (heed.reshape(len(heed), -1, 1) * near).max(axis=0)
    raw += contact_weight * contact.max(axis=0)
    return gaussian_filter1d(raw, AFFINITY_SMOOTHING / dt, axis=0, mode="nearest", truncate=3.0)
