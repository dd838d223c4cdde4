"""A made body on four legs that walks: where its feet stand is known."""

import numpy as np

FPS, CYCLE, DUTY, STRIDE, HIPS = 24.0, 1.0, 0.5, 0.6, 0.8
GRID = (5, 7, 6)


def walk(seconds=4.0, fps=FPS, slip=0.0, sink=0.0):
    """times (F,), vertices (F, V, 3), triangles, places (F, 2) and stands (F, 4) of a walk along y over level ground at
    height 0.  slip: of its own speed, by which the feet that stand slide on.  sink: metres, all of it too low."""
    times = np.arange(round(seconds * fps) + 1) / fps
    speed = STRIDE / (DUTY * CYCLE)
    way, parts, stands = speed * (1.0 + slip) * times, [], []
    trunk = np.stack((0 * way, way, HIPS - sink + 0 * way), axis=1)
    parts.append(_lattice_at(trunk, 0 * trunk, (0.5, 1.4, 0.4)))
    for leg in range(4):
        phase = (times / CYCLE + 0.25 * leg) % 1.0
        swing = np.clip((phase - DUTY) / (1.0 - DUTY), 0.0, 1.0)
        ahead = np.where(phase < DUTY, 0.5 - phase / DUTY, -0.5 + swing * swing * (3 - 2 * swing)) * STRIDE
        x, y = (-0.2, 0.2)[leg % 2], (-0.5, 0.5)[leg // 2]
        foot = np.stack((x + 0 * way, way + y + ahead, 0.25 * np.sin(np.pi * swing) - sink), axis=1)
        hip = np.stack((x + 0 * way, way + y, HIPS - sink + 0 * way), axis=1)
        parts.append(_lattice_at(foot, hip - foot, (0.12, 0.2, 0.0)))
        stands.append(phase < DUTY)
    triangles = np.concatenate([FACES + PART * part for part in range(5)])
    return times, np.concatenate(parts, axis=1), triangles, np.stack((0 * way, way), axis=1), np.stack(stands, axis=1)


def _lattice_at(places, up, size):
    """(F, V, 3) of a box whose lower side's middle is at places (F, 3), and that reaches along up (F, 3) and size."""
    flat = (SHARES - [0.5, 0.5, 0.0]) * size
    return places[:, None] + flat + SHARES[:, 2:] * up[:, None]


def _box(grid):
    """Places (V, 3), from 0 to 1, on the outside of a box, and its triangles."""
    numbers, faces = np.arange(np.prod(grid)).reshape(grid), []
    for axis in range(3):
        for end in (0, -1):
            side = numbers.take(end, axis)
            a, b, c, d = side[:-1, :-1], side[1:, :-1], side[1:, 1:], side[:-1, 1:]
            faces += [np.stack((a, b, c), -1).reshape(-1, 3), np.stack((a, c, d), -1).reshape(-1, 3)]
    used, faces = np.unique(np.concatenate(faces), return_inverse=True)
    share = np.stack(np.meshgrid(*(np.linspace(0, 1, count) for count in grid), indexing="ij"), -1).reshape(-1, 3)
    return share[used], faces.reshape(-1, 3)


SHARES, FACES = _box(GRID)
PART = len(SHARES)
