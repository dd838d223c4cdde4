"""Surroundings for clips that were captured without: built from where the motion rests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import RBFInterpolator

from solvers.core.types import JointTrack, MeshTrack
from solvers.surface.closest_point import SurfaceIndex


@dataclass(frozen=True)
class Rest:
    """A joint that stays slow for a while: frames start to stop, mean place (3,)."""

    joint: str
    start: int
    stop: int
    place: np.ndarray


def rests(track: JointTrack, joints: list[str], speed: float = 0.2, seconds: float = 0.25) -> list[Rest]:
    """Where each of the joints is slower than speed (m/s) for at least seconds."""
    out = []
    for name in joints:
        position = track.positions[:, track.skeleton.names.index(name)]
        slow = np.linalg.norm(np.gradient(position, axis=0), axis=1) * track.fps < speed
        edge = np.flatnonzero(np.diff(np.concatenate([[False], slow, [False]])))
        for start, stop in zip(edge[::2], edge[1::2], strict=True):
            if stop - start >= seconds * track.fps:
                out.append(Rest(name, int(start), int(stop), position[start:stop].mean(axis=0)))
    return out


def height_field(name: str, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> MeshTrack:
    """A static grid with heights z (X, Y) at x (X,), y (Y,); normals point up."""
    vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), z], axis=-1).reshape(-1, 3)
    n = len(y)
    corner = (np.arange(len(x) - 1)[:, None] * n + np.arange(n - 1)).ravel()
    offsets = np.array([[0, n, n + 1], [0, n + 1, 1]])
    return MeshTrack(name, vertices[None], (corner[:, None, None] + offsets).reshape(-1, 3))


def flat_ground(
    positions: np.ndarray, height: float = 0.0, margin: float = 2.0, cell: float = 1.0
) -> MeshTrack:
    """A flat grid under positions (F, J, 3)."""
    x, y = _grid(positions, margin, cell)
    return height_field("Ground", x, y, np.full((len(x), len(y)), height))


def terrain(track: JointTrack, soles: dict[str, float], feet: list[str], cell: float = 0.1) -> MeshTrack:
    """A height field through the resting feet, smooth in between, that no sole ever sinks into.

    soles: joint to its height above the sole, metres.  feet: those whose rests carry the ground.
    """
    points = [rest.place - [0, 0, soles[rest.joint]] for rest in rests(track, feet)]
    columns = [track.skeleton.names.index(name) for name in soles]
    reach = (track.positions[:, columns] - np.array([[0, 0, h] for h in soles.values()])).reshape(-1, 3)
    known = np.array(points)
    for _ in range(4):
        field = RBFInterpolator(known[:, :2], known[:, 2], smoothing=1e-3, neighbors=40)
        sunk = field(reach[:, :2]) - reach[:, 2]
        if sunk.max() < 0.005:
            break
        known = np.concatenate([known, _lowest(reach[sunk > 0.005])])
    x, y = _grid(track.positions, 0.5, cell)
    flat = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    near = np.linalg.norm(flat[:, None] - known[None, :, :2], axis=2).min(axis=1)
    fade = np.clip((near - 0.4) / 0.6, 0, 1)[:, None]
    # Far from every foot the spline is a guess: it settles at the mean height.
    z = (1 - fade[:, 0]) * field(flat) + fade[:, 0] * known[:, 2].mean()
    return height_field("Terrain", x, y, z.reshape(len(x), len(y)))


def box(name: str, lo: list[float], hi: list[float]) -> MeshTrack:
    """A static axis-aligned box from corner lo to corner hi."""
    corner = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [[f[0], f[i], f[i + 1]] for f in faces for i in (1, 2)]
    vertices = np.asarray(lo, float) + corner * (np.asarray(hi, float) - lo)
    return MeshTrack(name, vertices[None], np.array(triangles))


def stage_under(positions: np.ndarray, top: float, margin: float = 0.8) -> MeshTrack:
    """A box under positions (F, J, 3) and a margin around them, its top at a height."""
    lo, hi = positions.min(axis=(0, 1)), positions.max(axis=(0, 1))
    return box("Stage", [*(lo[:2] - margin), top - 0.3], [*(hi[:2] + margin), top])


def bar(name: str, centre: np.ndarray, axis: str, length: float, radius: float = 0.02) -> MeshTrack:
    """A horizontal bar of eight sides along the x or y axis."""
    along = np.eye(3)["xy".index(axis)]
    side = np.cross([0, 0, 1], along)
    angle = np.arange(8) * np.pi / 4
    ring = radius * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * [0, 0, 1])
    ends = np.asarray(centre) + np.array([[-0.5], [0.5]]) * length * along
    vertices = np.concatenate([ends[0] + ring, ends[1] + ring, ends])
    i, j = np.arange(8), (np.arange(8) + 1) % 8
    wall = np.concatenate([np.stack([i, j, 8 + j], 1), np.stack([i, 8 + j, 8 + i], 1)])
    caps = np.concatenate([np.stack([np.full(8, 16), j, i], 1), np.stack([np.full(8, 17), 8 + i, 8 + j], 1)])
    return MeshTrack(name, vertices[None], np.concatenate([wall, caps]))


def bars_under(places: np.ndarray, axis: str, drop: float, merge: float = 0.2, overhang: float = 0.2):
    """Bars below resting joints: places (N, 3) less than merge apart across the axis share one."""
    along = "xy".index(axis)
    across = np.delete(np.arange(3), along)
    left, bars = places.copy(), []
    while len(left):
        near = np.linalg.norm((left - left[0])[:, across], axis=1) < merge
        group, left = left[near], left[~near]
        lo, hi = group.min(axis=0)[along] - overhang, group.max(axis=0)[along] + overhang
        centre = group.mean(axis=0) - [0, 0, drop]
        centre[along] = (lo + hi) / 2
        bars.append(bar(f"Bar{len(bars) + 1}", centre, axis, hi - lo))
    return bars


def clear_of(meshes: list[MeshTrack], track: JointTrack, joints: tuple[str, ...], distance: float):
    """Those static meshes to which none of the joints ever comes nearer than distance: a guess that the body
    passes through was wrong."""
    columns = [track.skeleton.names.index(name) for name in joints]
    points = track.positions[:, columns].reshape(-1, 3)
    nearest = [SurfaceIndex(m.vertices[0], m.triangles, m.name).query(points, distance) for m in meshes]
    return [mesh for mesh, hits in zip(meshes, nearest, strict=True) if (hits.triangle < 0).all()]


def carried(mesh: MeshTrack, rotations: np.ndarray, translations: np.ndarray) -> MeshTrack:
    """A static mesh moved rigidly by rotations (F, 3, 3) and translations (F, 3)."""
    vertices = np.einsum("fij,vj->fvi", rotations, mesh.vertices[0]) + translations[:, None]
    return MeshTrack(mesh.name, vertices, mesh.triangles)


def _grid(positions, margin, cell):
    flat = positions.reshape(-1, 3)[:, :2]
    lo, hi = np.floor((flat.min(axis=0) - margin) / cell), np.ceil((flat.max(axis=0) + margin) / cell)
    return tuple(np.arange(a, b + 1) * cell for a, b in zip(lo, hi, strict=True))


def _lowest(points, cell=0.1):
    """The lowest of points (N, 3) in each column of a grid."""
    order = np.argsort(points[:, 2])
    _, first = np.unique(np.floor(points[order, :2] / cell), axis=0, return_index=True)
    return points[order][first]
