"""What Adapt shows in the viewport at the present frame: the original pose, descriptors, relations and contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...scene.instances import ShownInstances
from ...scene.present import Shape, joints_now, shape_now
from ...solvers.adapt import clearance
from ...solvers.adapt.binding import CONTACT_WEIGHT, Binding
from ...solvers.adapt.relationship import window_weights
from ...solvers.core.errors import InputError
from ...solvers.core.types import TriangleMesh
from ...solvers.core.vectors import cross
from ...solvers.surface.descriptor_frames import DescriptorPoints, descriptor_frames
from ..core.overlay import Overlay, bones, discs, joined, overlay, ramp
from ..environment.contacts import edited_stored
from ..environment.model import stored_of
from ..environment.replaced import is_replaced
from ..environment.store import Stored
from .overlay_ground import PresentGrounds, present_grounds
from .report import shown_report

_GHOST = np.array([0.35, 0.62, 1.0])
_MISSING = np.array([1.0, 0.35, 0.15])
_HELD, _LOST = np.array([0.10, 0.85, 0.55, 1.0]), np.array([1.0, 0.50, 0.05, 1.0])
# Metres at a 1.8 m body.
_DISC, _LIFT, _LOST_BY = 0.03, 0.004, 0.02
# A ghost that far from the pose is drawn in full, one that coincides with it as a hint.
_GHOST_APART, _GHOST_HINT = 0.05, 0.3
_SPREAD = 0.4
_FLAT = 1e-6  # doubled area over squared length


@dataclass(frozen=True)
class _Around:
    """The environment now. shapes: one an object, None where it is not as it was bound or is not heeded.
    grounds: what has taken the place of objects, None for nothing.
    holds: whether the motion is to keep its contacts with each object.
    rows: (M,) descriptors of the others.  origins (M, 3), axes (M, 3, 3): theirs.  heed: (M,) 0 to 1, of their objects.
    """

    shapes: list[Shape | None]
    grounds: PresentGrounds | None
    holds: list[bool]
    rows: np.ndarray
    origins: np.ndarray
    axes: np.ndarray
    heed: np.ndarray


def overlay_of(context, ob, workflow) -> Overlay | None:
    """The overlay of a bound armature object at the present frame, or None where nothing is to be shown.

    Reads what the view layer's depsgraph has evaluated, and never evaluates: it may be called while drawing.
    Raises StaleBindingError where what is bound cannot be used.
    """
    settings = workflow.settings_of(ob)
    around_shown = settings.show_points or settings.show_relations or settings.show_contacts
    report = shown_report(ob, workflow) if settings.show_missing and settings.controls else None
    missing = report.missing.splitlines() if report else []
    if settings.binding is None or not (settings.show_ghost or around_shown or missing):
        return None
    stored = _stored(ob, workflow)
    binding = stored.binding
    depsgraph = context.view_layer.depsgraph
    joints = joints_now(depsgraph, ob, binding.track.skeleton.names)
    place = _place(binding.track.frames, context.scene.frame_current_final)
    parts = [_ghost(binding, place, joints)] if settings.show_ghost else []
    if missing:
        parts.append(_missing(depsgraph, ob, missing))
    if around_shown:
        row, around = round(place), _around(depsgraph, settings, stored)
        if settings.show_contacts:
            parts.append(_contacts(stored, around, row, joints))
        if settings.show_points or settings.show_relations:
            active = _active_joint(context, ob, binding.track.skeleton.names)
            parts += _descriptors(settings, binding, around, row, joints, active)
    return joined(parts) if parts else None


def _stored(ob, workflow) -> Stored:
    """With the contacts as they are set, or as Bind found them where one makes no sense, which solving says."""
    try:
        return edited_stored(ob, workflow)
    except InputError:
        return stored_of(ob, workflow)


def _place(frames: np.ndarray, frame: float) -> float:
    """Row of a frame among frames (F,), between two rows for what lies between; the first or last outside of them."""
    return float(np.interp(frame, frames, np.arange(len(frames))))


def _active_joint(context, ob, names) -> int | None:
    """The joint of the rig's active bone in Pose Mode, or of the bone it rides on."""
    bone = context.active_pose_bone
    if context.mode != "POSE" or bone is None or bone.id_data != ob:
        return None
    found = next((each.name for each in (bone, *bone.parent_recursive) if each.name in names), None)
    return None if found is None else names.index(found)


def _ghost(binding: Binding, place: float, joints: np.ndarray) -> Overlay:
    positions, parents = binding.track.positions, binding.track.skeleton.parents
    lower = int(place)
    upper = min(lower + 1, len(positions) - 1)
    original = positions[lower] + (place - lower) * (positions[upper] - positions[lower])
    apart = np.linalg.norm(joints - original, axis=1) / (_GHOST_APART * binding.scale)
    child = np.flatnonzero(parents >= 0)
    away = np.clip(np.maximum(apart[child], apart[parents[child]]), _GHOST_HINT, 1.0)[:, None]
    colour = np.broadcast_to(_GHOST, (len(child), 3))
    edge, face = np.hstack((colour, 0.7 * away)), np.hstack((colour, 0.12 * away))
    return bones(original[parents[child]], original[child], edge, face)


def _missing(depsgraph, ob, names: list[str]) -> Overlay:
    """Bones that the controls did not bring to where they were solved."""
    ends = joints_now(depsgraph, ob, (*names, *(f"{name}/tail" for name in names)))
    edge, face = np.append(_MISSING, 0.9), np.append(_MISSING, 0.25)
    return bones(ends[: len(names)], ends[len(names) :], np.tile(edge, (len(names), 1)), np.tile(face, (len(names), 1)))


def _around(depsgraph, settings, stored: Stored) -> _Around:
    points, items = stored.binding.points, {item.bound_name: item for item in settings.surfaces}
    used = [items.get(name) for name in stored.binding.objects]
    shown = ShownInstances(depsgraph, [item.target for item in used if item is not None and item.target is not None])
    shapes = [_shape(depsgraph, shown, *pair) for pair in zip(used, stored.fingerprints, strict=True)]
    rows, corners = [np.empty(0, int)], [np.empty((0, 3, 3))]
    for index, shape in enumerate(shapes):
        if shape is not None:
            rows.append(points.of_object(index))
            corners.append(shape.corners(stored.triangles[index][points.triangle[rows[-1]]]))
    rows, corners = np.concatenate(rows), np.concatenate(corners)
    sound = _have_area(corners)
    rows, corners = rows[sound], corners[sound]
    number = np.arange(len(rows))
    alone = DescriptorPoints(np.zeros_like(number), number, points.barycentric[rows])
    mesh = TriangleMesh("environment", corners.reshape(-1, 3), np.arange(3 * len(rows)).reshape(-1, 3))
    origins, axes = (part[0] for part in descriptor_frames(alone, [mesh]))
    grounds = present_grounds(depsgraph, stored.binding, used)
    if grounds is not None:
        found = [(rows, origins, axes), *(grounds.points(stored.binding, k) for k in grounds.replaced)]
        rows, origins, axes = (np.concatenate(part) for part in zip(*found, strict=True))
    influence = np.array([0.0 if item is None else item.influence for item in used])
    carries = np.bincount(points.object_index[rows], minlength=len(used)) > 0
    holds = [bool(some) and item.mode == "ATTACH" for some, item in zip(carries, used, strict=True)]
    return _Around(shapes, grounds, holds, rows, origins, axes, influence[points.object_index[rows]])


def _have_area(corners: np.ndarray) -> np.ndarray:
    """(M,) bool: triangles (M, 3, 3) that an object scaled to nothing has not made lines of."""
    edges = corners[:, 1:] - corners[:, :1]
    doubled = np.linalg.norm(cross(edges[:, 0], edges[:, 1]), axis=1)
    return doubled > _FLAT * (edges * edges).sum(axis=2).max(axis=1)


def _shape(depsgraph, shown: ShownInstances, item, fingerprint: str) -> Shape | None:
    if item is None or item.target is None or item.mode == "IGNORE" or item.influence == 0.0 or is_replaced(item):
        return None
    shape = shape_now(depsgraph, item.target, shown)
    same = shape is not None and len(shape.positions) == int(fingerprint.split(":")[0])
    return shape if same else None


def _weights(binding: Binding, row: int) -> np.ndarray:
    """(J, N) weights of the descriptors for each joint at one row, sums of 1 or 0.

    The relations of all frames take seconds for long motions. As long as nobody has needed them, their weights are
    computed for this row alone, without the smoothing over time.
    """
    known = vars(binding).get("relations")
    joints = len(binding.track.skeleton.names)
    if known is not None:
        return known.weights[row * joints : (row + 1) * joints].toarray()
    origins, axes = _bind_frames(binding, row)
    inner, outer = 0.1 * binding.scale, 0.25 * binding.height
    weights = window_weights(binding.effective[row], origins[None], axes[None, ..., 0], inner, outer)
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def _affinities(binding: Binding, row: int) -> np.ndarray:
    """(J,) how strongly each joint holds to its surroundings at one row."""
    reach = int(np.ceil(3 * clearance.AFFINITY_SMOOTHING / binding.dt))
    first = max(row - reach, 0)
    part = slice(first, row + reach + 1)
    heed = np.ones(len(binding.objects))
    distance, contact = binding.joint_distance[:, part], binding.contact[:, part]
    return clearance.affinities(distance, contact, heed, CONTACT_WEIGHT, binding.scale, binding.dt)[row - first]


def _bind_frames(binding: Binding, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Origins (N, 3) and axes (N, 3, 3) of the descriptors at bind."""
    state = row if len(binding.origins) > 1 else 0
    return binding.origins[state], binding.axes[state]


def _shares(values: np.ndarray) -> np.ndarray:
    """Values of the largest one, 0 to 1, small ones raised: a joint's weight is spread over many descriptors."""
    return (values / max(values.max(initial=0.0), 1e-12)) ** _SPREAD


def _descriptors(settings, binding, around, row, joints, active) -> list[Overlay]:
    """Points and relations. active: the joint whose weights are shown, None for those of all joints."""
    weights, out = _weights(binding, row)[:, around.rows] * around.heed, []
    if settings.show_relations and active is not None:
        out.append(_relations(around, joints[active], weights[active]))
    if settings.show_points:
        values = _affinities(binding, row) @ weights if active is None else weights[active]
        out.append(_points(around, values, _LIFT * binding.scale))
    return out


def _points(around: _Around, weights: np.ndarray, lift: float) -> Overlay:
    share = _shares(weights)
    colours = np.column_stack((ramp(share), 0.45 + 0.55 * share))
    return overlay(points=(around.origins + lift * around.axes[:, :, 0], colours))


def _relations(around: _Around, joint: np.ndarray, weights: np.ndarray) -> Overlay:
    used = weights > 0
    share = _shares(weights[used])
    lines = np.stack((np.broadcast_to(joint, (len(share), 3)), around.origins[used]), axis=1)
    return overlay(lines=(lines, np.column_stack((ramp(share), 0.1 + 0.8 * share))[:, None]))


def _contacts(stored: Stored, around: _Around, row: int, joints: np.ndarray) -> Overlay:
    binding = stored.binding
    size = _length(joints, binding) / _length(binding.track.positions[row], binding)
    found = []
    for index, holds in enumerate(around.holds):
        touching = np.flatnonzero(binding.contact[index, row] > 0.5)
        if holds and len(touching):
            found.append(_contacts_of(stored, around, index, row, touching, joints, size))
    found = [contacts for contacts in found if len(contacts[0])]
    if not found:
        return overlay()
    centres, normals, held = (np.concatenate(part) for part in zip(*found, strict=True))
    lifted = centres + _LIFT * binding.scale * normals
    return discs(lifted, normals, _DISC * binding.scale * size, np.where(held[:, None], _HELD, _LOST))


def _contacts_of(stored, around, index, row, touching, joints, size):
    """Where contacts of joints (D,) with one object have gone, on the planes of the triangles that they were on.

    Returns places and normals (D, 3), and whether the joints are there (D,). size: of the character, 1 as at bind.
    """
    binding = stored.binding
    if around.shapes[index] is None:
        return _contacts_on_ground(binding, around, index, row, touching, joints, size)
    sides = binding.side[index, row, binding.samples.at_joints[binding.tree.rank[touching]]]
    corners = around.shapes[index].corners(stored.triangles[index][sides])
    normals = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    carried, _ = _carried(binding, around, index, row, touching)
    return _on_planes(binding, index, row, touching, joints, size, (carried, corners[:, 0], normals))


def _contacts_on_ground(binding, around, index, row, touching, joints, size):
    """As ``_contacts_of`` on what has taken the place of an object; none where it has no ground."""
    stands, *feet = around.grounds.carried(binding, index, row, touching)
    carried, nearest = _carried(binding, around, index, row, touching)
    others = carried, around.origins[nearest], around.axes[nearest, :, 0]
    planes = [np.where(stands[:, None], *pair) for pair in zip(feet, others, strict=True)]
    there = np.isfinite(planes[0]).all(axis=1)
    return _on_planes(binding, index, row, touching[there], joints, size, [part[there] for part in planes])


def _on_planes(binding, index, row, touching, joints, size, planes):
    """As ``_contacts_of``. planes: places where joints were carried to, a point and the normal of each plane (D, 3)."""
    carried, origins, normals = planes
    distance = binding.joint_distance[index, row, touching][:, None]
    gap = joints[touching] - carried - (size - 1.0) * distance * normals
    held = np.linalg.norm(gap, axis=1) <= _LOST_BY * binding.scale * size
    height = np.einsum("da,da->d", normals, carried - origins)
    return carried - height[:, None] * normals, normals, held


def _carried(binding, around, index, row, touching) -> tuple[np.ndarray, np.ndarray]:
    """Places (D, 3) of joints at bind, each carried along by the nearest descriptor of an object that faces it, and
    the rows (D,) of these among those around."""
    origins, axes = _bind_frames(binding, row)
    mine = np.flatnonzero(binding.points.object_index[around.rows] == index)
    then = around.rows[mine]
    away = binding.effective[row, touching][:, None] - origins[then]
    distance = np.linalg.norm(away, axis=2)
    behind = np.einsum("dna,na->dn", away, axes[then, :, 0]) < 0.5 * distance
    best = (distance + behind * distance.max()).argmin(axis=1)
    then, now = then[best], mine[best]
    local = np.einsum("dba,db->da", axes[then], binding.track.positions[row, touching] - origins[then])
    return around.origins[now] + np.einsum("dab,db->da", around.axes[now], local), now


def _length(joints: np.ndarray, binding: Binding) -> float:
    """Of all bones together."""
    parents = binding.track.skeleton.parents
    child = np.flatnonzero(parents >= 0)
    return float(np.linalg.norm(joints[child] - joints[parents[child]], axis=1).sum())
