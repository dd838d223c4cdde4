"""Small captured bodies: a trunk whose two ends bend as arms do, at any resolution, with any motion."""

import numpy as np
from scipy.spatial.transform import Rotation

NAMES = ("Trunk", "Left", "Right")


def to_world(vertices, rotations, translations):
    """The reverse of ``to_local``."""
    return vertices @ np.swapaxes(rotations, -1, -2) + translations[..., None, :]


def tube(rings: int = 40, around: int = 12, girth: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3) and triangles (T, 3) of a closed tube along X, from -1 to 1, metres."""
    along = np.linspace(-1, 1, rings)
    turn = np.linspace(0, 2 * np.pi, around, endpoint=False)
    x, angle = (values.reshape(-1) for values in np.meshgrid(along, turn, indexing="ij"))
    # Flatter above than below, so that it is not the same all around.
    sides = np.column_stack((x, girth * np.cos(angle), girth * np.sin(angle) * (1 + 0.3 * np.sin(angle))))
    ring, column = np.divmod(np.arange((rings - 1) * around), around)
    corner, beside = ring * around + column, ring * around + (column + 1) % around
    quads = np.concatenate(
        (np.stack((corner, corner + around, beside), 1), np.stack((beside, corner + around, beside + around), 1))
    )
    first, last = np.arange(around), (rings - 1) * around + np.arange(around)
    ends = rings * around, rings * around + 1
    caps = [np.stack((np.full(around, ends[0]), first, np.roll(first, -1)), 1)]
    caps.append(np.stack((np.full(around, ends[1]), np.roll(last, -1), last), 1))
    vertices = np.concatenate((sides, [[-1, 0, 0], [1, 0, 0]]))
    return vertices, np.concatenate((quads, *caps))


def memberships(vertices: np.ndarray) -> np.ndarray:
    """(3, V): the trunk, and both ends, which overlap it."""
    x = vertices[:, 0]
    return np.stack((np.abs(x) < 0.6, x > 0.35, x < -0.35))


def stiff_memberships(vertices: np.ndarray) -> np.ndarray:
    """The same with a trunk that ends before the bends, so that without breath it is stiff."""
    x = vertices[:, 0]
    return np.stack((np.abs(x) < 0.4, x > 0.2, x < -0.2))


def bent(vertices: np.ndarray, angles: np.ndarray, breath: np.ndarray | float = 0.0) -> np.ndarray:
    """(F, V, 3): ends bent upward by angles (F, 2), radians, the trunk wider by breath (F,)."""
    x = vertices[:, 0]
    out = []
    for (left, right), wide in zip(angles, np.broadcast_to(breath, len(angles)), strict=True):
        moved = vertices * (1, 1 + wide, 1 + wide)
        for side, angle in ((1, left), (-1, right)):
            # Bends over a stretch of the tube, none of it sharply.
            share = np.clip((side * x - 0.4) / 0.3, 0, 1)
            turn = Rotation.from_rotvec(np.outer(-side * angle * share**2 * (3 - 2 * share), (0, 1, 0)))
            pivot = np.array((side * 0.55, 0, 0))
            moved = turn.apply(moved - pivot) + pivot
        out.append(moved)
    return np.array(out)


def dance(seed: int, frames: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """angles (F, 2), breath (F,), rotations (F, 3, 3) and translations (F, 3) of a smooth motion."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0, 4, frames)
    waves = rng.uniform(0.7, 1.6, (2, 8)), rng.uniform(0, 6, 8)
    wave = np.sin(np.outer(times, waves[0][0]) * 2 + waves[1])
    angles = 0.9 * wave[:, :2]
    turns = Rotation.from_rotvec(0.15 * wave[:, 3:6] + np.outer(0.4 * times, (0, 0, 1))).as_matrix()
    ground = np.column_stack((0.5 * times, 0.4 * wave[:, 6], 1 + 0.1 * wave[:, 7]))
    return angles, 0.05 * wave[:, 2], turns, ground


def performed(vertices: np.ndarray, motion, size: float = 1.0) -> np.ndarray:
    """(F, V, 3), world, metres: a tube of some size in a motion of ``dance``."""
    angles, breath, turns, ground = motion
    shape = size * bent(vertices, angles, breath)
    return np.einsum("fvj,fij->fvi", shape, turns) + size * ground[:, None]
