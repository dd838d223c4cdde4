"""Where feet stand on a ground that takes the place of another one: as a whole, on one tread.

The middle of a stance decides. The sole, a little longer than the joints of the foot, is laid onto the ground at its
place and a little before and behind it; where most of it is borne by one plane without another part of the ground
rising through it, there it stands. Half of a sole over an edge is told, not mended by a longer way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..surface.point_transfer import TransferredPoints, highest, transferred_to
from .binding import Binding
from .new_ground import NewGround
from .stances import Stances

# Metres at 1.8 m: the sole beyond its heel's and its toe's joint, and to either side; how far at most an ankle keeps
# from the riser behind it, to which it is no nearer than to its own tread.
_HEEL, _TOE, _HALF_WIDTH, _ANKLE = 0.05, 0.04, 0.03, 0.1
# Metres at 1.8 m: how far it may be moved along itself, and by which steps; what of the ground still bears it or does
# not rise through it.
_MOST, _STEP, _BORNE = 0.18, 0.02, 0.02
# Metres that a sole is rather moved than left without ground, than pierced by a metre, and than put by a metre into a
# hole: below what is before it and behind it, as far as it may be moved.
_UNBORNE, _PIERCED, _SUNK = 1.0, 10.0, 1.0
_ALONG, _ACROSS = 9, 3  # samples
HALF = 0.6  # of a sole: less is half over an edge


@dataclass(frozen=True)
class Footholds:
    """Of M stances. origins: (M, 3) their places at bind.  now: on the other ground.
    moved: (M,) metres along the foot.  borne: (M,) in [0, 1], how much of the sole."""

    origins: np.ndarray
    now: TransferredPoints
    moved: np.ndarray
    borne: np.ndarray


def bound_places(binding: Binding, stances: Stances) -> tuple[np.ndarray, np.ndarray]:
    """Origins (M, 3) and axes (M, 3, 3) of stances at bind: means of the descriptors that hold them half way."""
    weights, joints = binding.relations.weights, binding.track.positions.shape[1]
    states = len(binding.origins) > 1
    out = np.empty((len(stances), 3)), np.empty((len(stances), 3, 3))
    for row, (foot, number, frame) in enumerate(zip(stances.joints, stances.number, stances.middle, strict=True)):
        held = np.asarray(weights[frame * joints + np.flatnonzero(foot)].sum(axis=0)).ravel()
        held = np.where(binding.points.object_index == number, held, 0.0)
        held = held if held.any() else (binding.points.object_index == number) * 1.0
        state = frame if states else 0
        out[0][row] = held @ binding.origins[state] / held.sum()
        normal = held @ binding.axes[state, ..., 0]
        out[1][row] = _frame_of(normal / np.linalg.norm(normal))
    return out


def footholds(
    ground: NewGround,
    stances: Stances,
    places: tuple[np.ndarray, np.ndarray],
    points: tuple[np.ndarray, TransferredPoints],
) -> Footholds:
    """Of stances on one object that was level enough under them.

    places: of ``bound_places``.  points: the object's descriptors at bind (N, 3) and as they are now, both world: a
    stance without ground goes along with them.
    """
    scale, mesh, upright = ground.scale, ground.mesh, ground.upright
    origins, axes = places[0] @ upright.T, upright @ places[1]
    soles, ahead = _soles(ground.positions, scale, stances, origins[:, 2])
    offsets = np.arange(-np.floor(_MOST / _STEP), np.floor(_MOST / _STEP) + 1) * _STEP * scale
    offsets = offsets[np.argsort(np.abs(offsets) - 1e-6 * (offsets > 0), kind="stable")]
    sole = soles.shape[1] - _ACROSS  # samples of it; what is behind the ankle bears nothing
    # (M, C, P, 2): every sole at every place.
    tried = soles[:, None] + (offsets[:, None] * ahead[:, None])[:, :, None]
    level = ground.levels_at(stances.middle, origins)
    level = np.broadcast_to(level[:, None, None], tried.shape[:3]).ravel()
    up = np.broadcast_to([0.0, 0.0, 1.0], (level.size, 3))
    triangle, hit, at = highest(ground.heights, mesh, tried.reshape(-1, 2), up, level, *ground.reach)
    height = np.full(level.size, np.nan)
    height[hit] = at[:, 2]
    normal = np.broadcast_to(up, (level.size, 3)).copy()
    face = np.full(level.size, -1)
    face[hit] = triangle
    normal[hit] = _unit_normals(mesh, triangle)
    height, face = (part.reshape(tried.shape[:3]) for part in (height, face))
    normal = normal.reshape(*tried.shape[:3], 3)
    # (M, C, P, P): how far each sample of the ground is above the plane through each other one.
    way = tried[:, :, None] - tried[:, :, :, None]
    slope = normal[..., :2] / normal[..., 2:]
    over = height[:, :, None] - height[:, :, :, None] + np.einsum("mcik,mcijk->mcij", slope, way)
    borne = (np.abs(over[..., :sole]) <= _BORNE * scale).mean(axis=-1)
    pierced = np.fmax.reduce(np.where(np.isnan(over), 0.0, over), axis=-1)
    pierced = np.maximum(pierced - _BORNE * scale, 0.0)
    sunk = np.maximum(_rims(height, offsets) - height, 0.0)
    cost = _UNBORNE * scale * (1.0 - borne) + _PIERCED * pierced + _SUNK * sunk + np.abs(offsets)[:, None]
    cost[np.isnan(height)] = np.inf
    cost[:, :, sole:] = np.inf
    flat = cost.reshape(len(cost), -1)
    best = np.where(flat <= flat.min(axis=1, keepdims=True) + 1e-9, 0, 1).argmin(axis=1)
    column, sample = np.divmod(best, cost.shape[2])
    row = np.arange(len(cost))
    found = np.isfinite(flat[row, best])
    # The bound ground under that part of the sole.
    under = soles[row, sample]
    tilt = axes[..., :2, 0] / axes[..., 2:, 0]
    depth = origins[:, 2] - np.einsum("mk,mk->m", tilt, under - origins[:, :2])
    anchors = np.column_stack((under, depth))
    chosen = tried[row, column, sample]
    now = np.column_stack((chosen, np.where(found, height[row, column, sample], 0.0)))
    normals = _bearing(normal[row, column, :sole], over[row, column, sample, :sole], scale)
    after = points[1]
    others = points[0] @ upright.T, replace(after, origins=after.origins @ upright.T, axes=upright @ after.axes)
    now = transferred_to(anchors, axes, mesh, face[row, column, sample], now, found, normals, others)
    moved, borne = np.where(found, offsets[column], 0.0), np.where(found, borne[row, column, sample], 0.0)
    return Footholds(anchors @ upright, ground.in_world(now), moved, borne)


def _rims(height, offsets):
    """(M, C, 1) the lower one of the highest ground before and behind each of C places; height: (M, C, P)."""
    order = np.argsort(offsets)
    top = np.fmax.reduce(height[:, order], axis=-1)
    behind, before = np.fmax.accumulate(top, axis=1), np.fmax.accumulate(top[:, ::-1], axis=1)[:, ::-1]
    out = np.empty_like(top)
    out[:, order] = np.fmin(behind, before)
    return out[..., None]


def _bearing(normals, over, scale):
    """(M, 3) mean of the normals (M, P, 3) of the ground that bears soles. over: (M, P) metres."""
    bears = (np.abs(over) <= _BORNE * scale)[..., None]
    mean = np.where(bears, normals, 0.0).sum(axis=1)
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    return np.where(length > 1e-9, mean / np.maximum(length, 1e-9), [0.0, 0.0, 1.0])


def _soles(positions, scale, stances, level):
    """(M, P, 2) samples of soles as seen from above, the last ones behind their ankles, as far as these are high; and
    (M, 2) unit vectors along them, zero where they are short. level: (M,) metres, of the bound ground below."""
    out, ways = [], []
    root = positions[:, 0, :2]
    for foot, frame, ground in zip(stances.joints, stances.middle, level, strict=True):
        joints = positions[frame, foot, :2]
        away = joints - joints[0]
        far = away[np.linalg.norm(away, axis=1).argmax()]
        length = np.linalg.norm(far)
        if length < _HEEL * scale:  # a hoof, or a hand that points down: it goes where the body does
            far = root[min(frame + 1, len(root) - 1)] - root[max(frame - 1, 0)]
            length = np.linalg.norm(far)
        ahead = far / length if length > 1e-6 * scale else np.zeros(2)
        places = away @ ahead
        along = np.linspace(places.min() - _HEEL * scale, places.max() + _TOE * scale, _ALONG)
        height = positions[frame, foot, 2][places.argmin()] - ground
        along = np.append(along, places.min() - np.clip(height, _HEEL * scale, _ANKLE * scale))
        side = np.array((-ahead[1], ahead[0])) if ahead.any() else np.zeros(2)
        across = _HALF_WIDTH * scale * np.linspace(-1.0, 1.0, _ACROSS)
        out.append((joints[0] + along[:, None, None] * ahead + across[:, None] * side).reshape(-1, 2))
        ways.append(ahead)
    return np.array(out).reshape(len(stances), -1, 2), np.array(ways).reshape(-1, 2)


def _unit_normals(mesh, triangle):
    corner = mesh.vertices[mesh.triangles[triangle]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def _frame_of(normal):
    """(3, 3) axes whose first is a unit normal."""
    side = np.eye(3)[np.abs(normal).argmin()]
    first = np.cross(side, normal)
    first /= np.linalg.norm(first)
    return np.stack((normal, first, np.cross(normal, first)), axis=1)
