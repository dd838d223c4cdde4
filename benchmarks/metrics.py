"""How well an adapted motion keeps what the original did with its surroundings.

Lengths are those of a 1.8 m body: every threshold is multiplied by height / 1.8. Shares are percentages.

A *contact* is an effector slower than 0.25 m/s against the surface and nearer an object than its own offset
+ 2 cm. The offset (a joint lies inside the flesh: a standing toe is 3 to 6 cm above the sole) is the mode, in
bins of 4 mm, of its distances to that object over slow frames within 15 cm: what rests farther away does not
touch. A contact is *kept* when the clearance to the same object, in the changed environment, is within 2 cm
of the original's, both ways.

A character of another size keeps contacts and clearances in proportion: the clearance asked of a body scaled
by s is s times the original's (the ankle of a 0.8 body stands at 0.8 of its height); tolerances stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from solvers.closest_point import SurfaceIndex
from solvers.errors import InputError
from solvers.types import JointTrack, MeshTrack, Skeleton

BODY = 1.8
SLOW = 0.25
CONTACT_BAND = 0.02
KEPT_BAND = 0.02
OFFSET_BIN = 0.004
OFFSET_LIMIT = 0.15
DEPTH = 0.01
CAPSULE = 0.05
CLEARANCE_LOSS = 0.01
CAPSULE_SPACING = 0.025
# Deeper than this a point counts as outside; no body is swallowed without crossing the surface.
REACH = 0.3
SKATE_SPEED = 0.5
SKATE_HEIGHT = 0.05
SKATE_DECAY = 0.025


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
class Details:
    """What lies behind the figures, to find the frames that fail.

    depth, depth_original: (F, N) metres below the surface of each centre-line sample named in samples.
    clearance_loss: (F, B) metres lost by the capsule of each bone named in bones.
    jerk, jerk_original: (F - 3, J) m/s^3.  bone_error: (F, B) relative to the rest length.
    """

    figures: dict[str, float]
    pairs: list[ContactPair]
    samples: list[str]
    depth: np.ndarray
    depth_original: np.ndarray
    bones: list[str]
    clearance_loss: np.ndarray
    jerk: np.ndarray
    jerk_original: np.ndarray
    bone_error: np.ndarray


def measure(
    original: JointTrack,
    adapted: JointTrack,
    environment_before: Sequence[MeshTrack],
    environment_after: Sequence[MeshTrack],
    effectors: Mapping[str, Sequence[str]],
    height: float,
    up: Sequence[float] = (0, 0, 1),
    scale: float = 1.0,
) -> dict[str, float]:
    """The measures of an adapted track; see measure_details for the arguments."""
    return measure_details(
        original, adapted, environment_before, environment_after, effectors, height, up, scale
    ).figures


def measure_details(
    original: JointTrack,
    adapted: JointTrack,
    environment_before: Sequence[MeshTrack],
    environment_after: Sequence[MeshTrack],
    effectors: Mapping[str, Sequence[str]],
    height: float,
    up: Sequence[float] = (0, 0, 1),
    scale: float = 1.0,
) -> Details:
    """Compare an adapted track with its original.

    original, adapted: the same joints and frames; leave fingers out (without_joints), they drown the jerk.
    environment_before, _after: the same objects by name, the ground among them.
    effectors: kind ("toe", "ankle", "wrist", "knuckle") to joint names; the toes are also the skate's feet.
    height: the original character's, metres.  up: world up.  scale: adapted body size / original body size.
    Raises InputError when the two sides do not belong together.
    """
    _check(original, adapted, environment_before, environment_after, effectors, height, scale)
    unit = height / BODY
    after = {mesh.name: mesh for mesh in environment_after}
    before = list(environment_before)
    after = [after[mesh.name] for mesh in before]
    pairs = [
        pair
        for mesh, changed in zip(before, after, strict=True)
        for pair in _contact_pairs(original, adapted, mesh, changed, effectors, unit, scale)
    ]
    samples, line = _centre_line(original.skeleton)
    depth_original = np.maximum(-_clearance(line(original.positions), before, REACH * unit), 0)
    depth = np.maximum(-_clearance(line(adapted.positions), after, REACH * unit), 0)
    bones, loss = _clearance_loss(original, adapted, before, after, unit, scale)
    bone_error = _bone_error(original, adapted, scale)
    details = Details(
        {}, pairs, samples, depth, depth_original, bones, loss, _jerk(adapted), _jerk(original), bone_error
    )
    details.figures.update(_figures(details, unit))
    feet = effectors.get("toe", ())
    for suffix, track, meshes, size in (("", adapted, after, scale), ("_original", original, before, 1.0)):
        share, weighted = _skate(track, meshes, feet, pairs, np.asarray(up, float), unit, size)
        details.figures["skate_pct" + suffix] = share
        details.figures["skate_weighted_cm_s" + suffix] = weighted
    return details


def without_joints(track: JointTrack, names: Sequence[str]) -> JointTrack:
    """The track without the joints named; children go to the nearest ancestor that stays."""
    parents = track.skeleton.parents
    dropped = np.isin(track.skeleton.names, list(names))
    kept = np.flatnonzero(~dropped)
    new = np.full(len(parents) + 1, -1)
    new[kept] = np.arange(len(kept))
    up = np.append(parents, -1)
    while (bad := (up >= 0) & np.append(dropped, False)[up]).any():
        up[bad] = up[up[bad]]
    skeleton = Skeleton(tuple(track.skeleton.names[k] for k in kept), new[up[kept]])
    return JointTrack(skeleton, track.positions[:, kept], track.fps, track.frames)


def _check(original, adapted, before, after, effectors, height, scale):
    same_joints = original.skeleton.names == adapted.skeleton.names
    if not same_joints or original.positions.shape != adapted.positions.shape:
        raise InputError("Original and adapted tracks must have the same joints and frames.")
    if len(original.positions) < 4:
        raise InputError(f"Jerk needs at least 4 frames, there are {len(original.positions)}.")
    if not (height > 0 and scale > 0):
        raise InputError(f"Height and scale must be above zero, not {height} and {scale}.")
    for mesh in before:
        if mesh.name not in {m.name for m in after}:
            raise InputError(f"'{mesh.name}' is missing from the changed environment.")
    for name in (name for names in effectors.values() for name in names):
        if name not in original.skeleton.names:
            raise InputError(f"Effector '{name}' is not a joint of the track.")


def _figures(details, unit):
    contact = sum(int(p.contact.sum()) for p in details.pairs)
    kept = sum(int(p.kept.sum()) for p in details.pairs)
    inside = (details.depth > DEPTH * unit).any(axis=1)
    inside_original = (details.depth_original > DEPTH * unit).any(axis=1)
    lost = (details.clearance_loss > CLEARANCE_LOSS * unit).any(axis=1)
    jerk, jerk_original = details.jerk, details.jerk_original
    return {
        "contact_frames": contact,
        "contacts_kept_pct": 100.0 * kept / contact if contact else 100.0,
        "penetration_pct": 100 * float(inside.mean()),
        "penetration_original_pct": 100 * float(inside_original.mean()),
        "penetration_max_cm": 100 * float(details.depth.max()),
        "clearance_lost_pct": 100 * float(lost.mean()),
        "clearance_lost_max_cm": 100 * max(float(details.clearance_loss.max()), 0.0),
        "jerk_mean_ratio": _ratio(jerk.mean(), jerk_original.mean()),
        "jerk_p95_ratio": _ratio(np.percentile(jerk, 95), np.percentile(jerk_original, 95)),
        "bone_error_mean_pct": 100 * float(details.bone_error.mean()),
        "bone_error_max_pct": 100 * float(details.bone_error.max()),
    }


def _ratio(value, reference):
    return 1.0 if value == reference else float(value / reference) if reference else float("inf")


def _surfaces(mesh):
    """One index for a static mesh, else one a state."""
    return [SurfaceIndex(vertices, mesh.triangles, mesh.name) for vertices in mesh.vertices]


def _hits(points, mesh, reach):
    """Distances (F, N), triangles (F, N) and closest points (F, N, 3) of points (F, N, 3)."""
    surfaces = _surfaces(mesh)
    blocks = [points.reshape(-1, 3)] if mesh.is_static else list(points)
    hits = [surface.query(block, reach) for surface, block in zip(surfaces, blocks, strict=True)]
    distance = np.concatenate([h.distance for h in hits]).reshape(points.shape[:2])
    triangle = np.concatenate([h.triangle for h in hits]).reshape(points.shape[:2])
    return distance, triangle, np.concatenate([h.closest for h in hits]).reshape(points.shape)


def _clearance(points, meshes, reach):
    """Least signed distance (F, N) of points (F, N, 3) to any mesh; inf beyond reach."""
    nearest = np.full(points.shape[:2], np.inf)
    for mesh in meshes:
        np.minimum(nearest, _hits(points, mesh, reach)[0], out=nearest)
    return nearest


def _contact_pairs(original, adapted, mesh, changed, effectors, unit, scale):
    names = [name for group in effectors.values() for name in group]
    if not names:
        return
    columns = [original.skeleton.names.index(name) for name in names]
    positions = original.positions[:, columns]
    distance, triangle, closest = _hits(positions, mesh, REACH * unit)
    speed = np.linalg.norm(
        _velocity(positions, original.fps) - _surface_velocity(mesh, triangle, closest, original.fps), axis=2
    )
    slow = speed < SLOW * unit
    distance_after = _hits(adapted.positions[:, columns], changed, REACH * unit * max(scale, 1))[0]
    for i, name in enumerate(names):
        offset = _offset(distance[slow[:, i], i], unit)
        contact = slow[:, i] & (distance[:, i] < offset + CONTACT_BAND * unit)
        shift = np.full(len(contact), np.inf)
        near = np.isfinite(distance[:, i])
        shift[near] = distance_after[near, i] - scale * distance[near, i]
        kept = contact & (np.abs(shift) <= KEPT_BAND * unit)
        yield ContactPair(name, mesh.name, offset, contact, kept, shift)


def _offset(distances, unit):
    """Mode of the distances (metres) of one effector over slow frames; -inf where it never comes close."""
    close = distances[np.abs(distances) < OFFSET_LIMIT * unit]
    if not close.size:
        return -np.inf
    bins = np.floor(close / (OFFSET_BIN * unit)).astype(int)
    values, counts = np.unique(bins, return_counts=True)
    return float((values[np.argmax(counts)] + 0.5) * OFFSET_BIN * unit)


def _velocity(positions, fps):
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


def _bones(skeleton):
    return np.flatnonzero(skeleton.parents >= 0)


def _bone_names(skeleton):
    return [f"{skeleton.names[skeleton.parents[c]]}>{skeleton.names[c]}" for c in _bones(skeleton)]


def _centre_line(skeleton):
    """Sample names and a function from joints (F, J, 3) to joints and points at 1/3 and 2/3 of bones."""
    child = _bones(skeleton)
    parent = skeleton.parents[child]
    names = list(skeleton.names)
    names += [f"{bone} {part}" for part in ("1/3", "2/3") for bone in _bone_names(skeleton)]

    def line(positions):
        head, tail = positions[:, parent], positions[:, child]
        return np.concatenate([positions, (2 * head + tail) / 3, (head + 2 * tail) / 3], axis=1)

    return names, line


def _clearance_loss(original, adapted, before, after, unit, scale):
    """Bone names and metres (F, B) that the capsule of each bone lost; beyond its radius nothing counts."""
    skeleton = original.skeleton
    child = _bones(skeleton)
    parent = skeleton.parents[child]
    length = np.linalg.norm(original.positions[0, child] - original.positions[0, parent], axis=1)
    number = np.ceil(length / (CAPSULE_SPACING * unit)).astype(int) + 1
    bone = np.repeat(np.arange(len(child)), number)
    first = np.cumsum(number) - number
    along = (np.arange(number.sum()) - first[bone]) / np.maximum(number[bone] - 1, 1)

    def capsule(positions, meshes, size):
        head, tail = positions[:, parent[bone]], positions[:, child[bone]]
        points = head + along[:, None] * (tail - head)
        clearance = np.minimum(_clearance(points, meshes, REACH * unit), CAPSULE * unit * size)
        return np.minimum.reduceat(clearance, first, axis=1)

    loss = scale * capsule(original.positions, before, 1.0) - capsule(adapted.positions, after, scale)
    return _bone_names(skeleton), loss


def _jerk(track):
    """Norm (F - 3, J) of the third difference times fps^3."""
    return np.linalg.norm(np.diff(track.positions, 3, axis=0), axis=2) * track.fps**3


def _bone_error(original, adapted, scale):
    """Relative error (F, B) of bone lengths; the rest length is the original's median times the scale."""
    child = _bones(original.skeleton)
    parent = original.skeleton.parents[child]
    rest = scale * np.median(_lengths(original, child, parent), axis=0)
    known = rest > 1e-9
    return np.abs(_lengths(adapted, child[known], parent[known]) / rest[known] - 1)


def _lengths(track, child, parent):
    return np.linalg.norm(track.positions[:, child] - track.positions[:, parent], axis=2)


def _skate(track, meshes, feet, pairs, up, unit, size):
    """Share of frames in % in which a low toe slides, and the mean weighted slide in cm/s.

    A toe is low when it is less than 5 cm above its standing height, and slides at 2.5 cm a twentieth of a
    second. Weighted: sum of v (2 - 2^(h/H)) over toes, H = 2.5 cm (Zhang et al. 2018, section 8).
    """
    if not feet:
        return 0.0, 0.0
    columns = [track.skeleton.names.index(name) for name in feet]
    positions = track.positions[:, columns]
    up = up / np.linalg.norm(up)
    velocity = _velocity(positions, track.fps)
    velocity = velocity - (velocity @ up)[..., None] * up
    speed = np.linalg.norm(velocity, axis=2)
    height = np.full(speed.shape, np.inf)
    for mesh in meshes:
        offsets = {p.effector: p.offset for p in pairs if p.obj == mesh.name}
        offset = np.array([offsets[name] for name in feet])
        standing = np.where(np.isfinite(offset), offset, 0) * size
        height = np.minimum(height, _hits(positions, mesh, REACH * unit)[0] - standing)
    height = np.maximum(height, 0)
    slides = ((height < SKATE_HEIGHT * unit) & (speed > SKATE_SPEED * unit)).any(axis=1)
    decay = SKATE_DECAY * unit
    weight = np.where(height < decay, 2 - 2 ** (np.minimum(height, decay) / decay), 0)
    return 100 * float(slides.mean()), 100 * float((speed * weight).sum(axis=1).mean())
