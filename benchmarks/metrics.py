"""How well an adapted motion keeps what the original did with its surroundings.

Lengths are those of a 1.8 m body: every threshold is multiplied by height / 1.8. Shares are percentages.

Contacts: see ``_contact_pairs``.

A character of another size keeps contacts and clearances in proportion: the clearance asked of a body scaled
by s is s times the original's (the ankle of a 0.8 body stands at 0.8 of its height); tolerances stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from solvers.core.errors import InputError
from solvers.core.types import JointTrack, MeshTrack, Skeleton
from solvers.surface.closest_point import SurfaceIndex

from ._contact_pairs import ContactPair, Probe, contact_pairs, counted, velocity

BODY = 1.8
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


def measure(*arguments, **options) -> dict[str, float]:
    """The measures of an adapted track; see ``measure_details`` for the arguments."""
    return measure_details(*arguments, **options).figures


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
    before = list(environment_before)
    by_name = {mesh.name: mesh for mesh in environment_after}
    after = [by_name[mesh.name] for mesh in before]
    body = _Body(original, CAPSULE_SPACING * unit)
    reach = REACH * unit * max(scale, 1)
    probes = _probed(body.points(original.positions), before, reach)
    probes_after = _probed(body.points(adapted.positions), after, reach)
    pairs = contact_pairs(original, (before, after), (probes, probes_after), effectors, unit, scale)
    nearest, nearest_after = (np.minimum.reduce([p.distance for p in ps]) for ps in (probes, probes_after))
    asked, left = (
        np.minimum(body.capsules(distance), CAPSULE * unit * size)
        for distance, size in ((nearest, 1.0), (nearest_after, scale))
    )
    lines = len(body.samples)
    details = Details(
        figures={},
        pairs=pairs,
        samples=body.samples,
        depth=np.maximum(-nearest_after[:, :lines], 0),
        depth_original=np.maximum(-nearest[:, :lines], 0),
        bones=body.bones,
        clearance_loss=scale * asked - left,
        jerk=_jerk(adapted),
        jerk_original=_jerk(original),
        bone_error=_bone_error(original, adapted, scale),
    )
    details.figures.update(_figures(details, unit))
    toes = effectors.get("toe", ())
    for suffix, track, fields, size in (
        ("", adapted, probes_after, scale),
        ("_original", original, probes, 1.0),
    ):
        share, weighted = _skate(track, before, fields, toes, pairs, np.asarray(up, float), unit, size)
        details.figures["skate_pct" + suffix] = share
        details.figures["skate_weighted_cm_s" + suffix] = weighted
    return details


def capsule_depths(
    track: JointTrack, meshes: Sequence[MeshTrack], height: float, spacing: float, scale: float = 1.0
) -> np.ndarray:
    """(F, B) metres by which the 5 cm capsule around each bone is inside any of the meshes, negative outside.

    spacing: metres at 1.8 m between the samples of a bone's axis.  height, scale: see ``measure_details``.
    """
    unit = height / BODY
    body = _Body(track, spacing * unit * scale)
    points = body.points(track.positions)[:, len(body.samples) :]
    nearest = np.minimum.reduce([p.distance for p in _probed(points, meshes, REACH * unit * max(scale, 1))])
    return CAPSULE * unit * scale - np.minimum.reduceat(nearest, body.first, axis=1)


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
    contact, kept = (counted(details.pairs, field) for field in ("contact", "kept"))
    inside = (details.depth > DEPTH * unit).any(axis=1)
    inside_original = (details.depth_original > DEPTH * unit).any(axis=1)
    lost = (details.clearance_loss > CLEARANCE_LOSS * unit).any(axis=1)
    jerk, jerk_original = details.jerk, details.jerk_original
    return {
        "contact_frames": contact,
        "contacts_kept_pct": 100.0 * kept / contact if contact else None,
        "penetration_pct": 100 * float(inside.mean()),
        "penetration_original_pct": 100 * float(inside_original.mean()),
        "penetration_max_cm": 100 * float(details.depth.max()),
        "clearance_lost_pct": 100 * float(lost.mean()),
        "clearance_lost_max_cm": 100 * float(details.clearance_loss.max(initial=0)),
        "jerk_mean_ratio": _ratio(jerk.mean(), jerk_original.mean()),
        "jerk_p95_ratio": _ratio(np.percentile(jerk, 95), np.percentile(jerk_original, 95)),
        "bone_error_mean_pct": 100 * float(details.bone_error.mean()) if details.bone_error.size else 0.0,
        "bone_error_max_pct": 100 * float(details.bone_error.max(initial=0)),
    }


def _ratio(value, reference):
    return 1.0 if value == reference else float(value / reference) if reference else float("inf")


class _Body:
    """Where a skeleton is probed: its joints, the thirds of its bones, and points along their capsules."""

    def __init__(self, track, spacing):
        names, parents = track.skeleton.names, track.skeleton.parents
        self.child = np.flatnonzero(parents >= 0)
        self.parent = parents[self.child]
        self.bones = [f"{names[p]}>{names[c]}" for p, c in zip(self.parent, self.child, strict=True)]
        self.samples = [*names, *(f"{bone} {part}" for part in ("1/3", "2/3") for bone in self.bones)]
        number = np.ceil(_bone_lengths(track).max(axis=0) / spacing).astype(int) + 1
        self.bone = np.repeat(np.arange(len(self.child)), number)
        self.first = np.cumsum(number) - number
        self.along = (np.arange(len(self.bone)) - self.first[self.bone]) / np.maximum(
            number[self.bone] - 1, 1
        )

    def points(self, positions):
        """Probed points (F, N, 3) of joints (F, J, 3): joints, thirds, capsule points in this order."""
        head, tail = positions[:, self.parent], positions[:, self.child]
        capsule = head[:, self.bone] + self.along[:, None] * (tail - head)[:, self.bone]
        return np.concatenate([positions, (2 * head + tail) / 3, (head + 2 * tail) / 3, capsule], axis=1)

    def capsules(self, distance):
        """Least distance (F, B) along each bone of probed distances (F, N)."""
        if not len(self.first):
            return np.zeros((len(distance), 0))
        return np.minimum.reduceat(distance[:, len(self.samples) :], self.first, axis=1)


def _probed(points, meshes, reach):
    """One probe a mesh of points (F, N, 3); an object that moves is indexed anew at each frame."""
    out = []
    for mesh in meshes:
        blocks = [points.reshape(-1, 3)] if mesh.is_static else points
        hits = [
            SurfaceIndex(vertices, mesh.triangles, mesh.name).query(block, reach)
            for vertices, block in zip(mesh.vertices, blocks, strict=True)
        ]
        distance = np.concatenate([h.distance for h in hits]).reshape(points.shape[:2])
        triangle = np.concatenate([h.triangle for h in hits]).reshape(points.shape[:2])
        out.append(
            Probe(distance, triangle, np.concatenate([h.closest for h in hits]).reshape(points.shape))
        )
    return out


def _jerk(track):
    """Norm (F - 3, J) of the third difference times fps^3."""
    return np.linalg.norm(np.diff(track.positions, 3, axis=0), axis=2) * track.fps**3


def _bone_error(original, adapted, scale):
    """Error (F, B) of bone lengths relative to rest, the original's median length times the scale.

    Where the original itself stretches a bone, the frame's own length is what the adapted one is held to.
    """
    asked = scale * _bone_lengths(original)
    rest = np.median(asked, axis=0)
    known = rest > 1e-9
    return np.abs(_bone_lengths(adapted) - asked)[:, known] / rest[known]


def _bone_lengths(track):
    child = np.flatnonzero(track.skeleton.parents >= 0)
    parent = track.skeleton.parents[child]
    return np.linalg.norm(track.positions[:, child] - track.positions[:, parent], axis=2)


def _skate(track, meshes, probes, toes, pairs, up, unit, size):
    """Share of frames in % in which a low toe slides, and the mean weighted slide in cm/s.

    A toe is low when it is less than 5 cm above its standing height, and slides at 2.5 cm a twentieth of a
    second. Weighted: sum of v (2 - 2^(h/H)) over toes, H = 2.5 cm (Zhang et al. 2018, section 8).
    """
    if not toes:
        return 0.0, 0.0
    columns = [track.skeleton.names.index(name) for name in toes]
    up = up / np.linalg.norm(up)
    speeds = velocity(track.positions[:, columns], track.fps)
    speed = np.linalg.norm(speeds - (speeds @ up)[..., None] * up, axis=2)
    height = np.full(speed.shape, np.inf)
    for mesh, probe in zip(meshes, probes, strict=True):
        offsets = {p.effector: p.offset for p in pairs if p.obj == mesh.name}
        offset = np.array([offsets[name] for name in toes])
        standing = np.where(np.isfinite(offset), offset, 0) * size
        height = np.minimum(height, probe.distance[:, columns] - standing)
    height = np.maximum(height, 0)
    slides = ((height < SKATE_HEIGHT * unit) & (speed > SKATE_SPEED * unit)).any(axis=1)
    decay = SKATE_DECAY * unit
    weight = np.where(height < decay, 2 - 2 ** (np.minimum(height, decay) / decay), 0)
    return 100 * float(slides.mean()), 100 * float((speed * weight).sum(axis=1).mean())
