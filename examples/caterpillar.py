"""A caterpillar of our own making: 700 frames of a soft body that crawls, bends, lifts its head and jumps.

It is one metre long and looks along +X, Z up; the floor is at height 0. A closed skin is wound around a spine: rings
of vertices at fixed places u of the body, 0 at the tail and 1 at the head. The skin stays the same, the spine moves:

- crawling, a wave of steps runs from the tail to the head. Each place of the body is either planted, at rest on the
  floor, or lifted and moving on by a stride; where it is pushed together it becomes thicker: its volume is kept;
- bending and lifting, the front leaves the floor and turns, the rear stays planted;
- jumping, the body is squashed, flies as its weight demands, and is squashed again.

NumPy only; `caterpillar_in_blender` makes an object of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FPS, FRAMES = 24, 700
# Part of the motion: first frame, frame after the last.
PARTS = {
    "crawl": (0, 240),
    "bend": (240, 380),
    "lift": (380, 520),
    "jump": (520, 610),
    "crawl on": (610, 700),
}
PERIOD, STRIDE = 24, 0.08  # frames and metres of one step
_LIFTED, _MOVING, _STEP_HEIGHT = 0.42, 0.32, 0.045  # shares of a period, metres

AROUND = 24  # vertices of a ring
SEGMENTS, _NECK = 11, 0.88  # segments of the body, and where the head begins
_RADIUS, _HEAD_RADIUS, _HEIGHT = 0.068, 0.078, 0.094  # metres; height of the spine above the floor
_LEGGED = (0, 2, 3, 4, 5, 8, 9, 10)  # segments with a pair of legs
_LEG_ANGLE, _LEG_WIDTH, _LEG_LENGTH = 0.75, 0.6, 0.032  # radians from straight down, radians, of the body
_ANTENNA_AROUND, _ANTENNA_RINGS = 6, 6
_HOPS = ((4, 12, 0.22), (46, 16, 0.42))  # of the jump: frame of the crouch, frames in the air, metres forwards
_CROUCH, _LANDING, _SQUASH = 12, 16, 0.28  # frames, frames, share of the height
_GRAVITY = 9.81


@dataclass(frozen=True)
class Caterpillar:
    """vertices: (F, V, 3) float32, world, metres.  quads (Q, 4), triangles (T, 3): the faces, seen from outside.
    colours: (Q + T,) kind of each face, quads first: 0 skin, 1 stripe, 2 head, 3 leg, 4 eye, 5 antenna.
    travel: (F, 3) the middle of the body on the floor.  parts: name to first frame and frame after the last."""

    vertices: np.ndarray
    quads: np.ndarray
    triangles: np.ndarray
    colours: np.ndarray
    travel: np.ndarray
    parts: dict[str, tuple[int, int]]


def make_caterpillar() -> Caterpillar:
    """All frames."""
    u = _ring_places()
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND  # from straight down, to the left
    rings, legs = _rings(u, angle)
    spine = _Spine.moving(u)
    antennae, antenna_quads, antenna_triangles = _antennae()
    skin = spine.place(rings).reshape(FRAMES, -1, 3)
    ends = spine.centres[:, [0, -1]]
    feelers = spine.carry(int(np.abs(u - 0.93).argmin()), antennae)
    vertices = np.concatenate([skin, ends, feelers], axis=1)
    vertices = _squashed(vertices)
    quads, triangles = _tube(len(u) - 2, AROUND)
    first = skin.shape[1] + 2
    colours = np.concatenate([
        _colours(u, angle, legs), np.full(len(antenna_quads), 5),
        np.repeat([0, 2], AROUND), np.full(len(antenna_triangles), 5),
    ])  # fmt: skip
    middle = spine.centres.mean(axis=1) * [1.0, 0.0, 0.0]
    quads = np.concatenate([quads, antenna_quads + first])
    triangles = np.concatenate([triangles, antenna_triangles + first])
    return Caterpillar(vertices.astype(np.float32), quads, triangles, colours, middle, dict(PARTS))


def _ring_places() -> np.ndarray:
    """(M,) places of the rings with both ends, closer together where the ends are round."""
    round_end = 1.0 - np.cos(np.linspace(0.0, np.pi / 2.0, 7))
    tail, head = 0.06 * round_end, 1.0 - 0.07 * round_end[::-1]
    return np.concatenate([tail, np.linspace(tail[-1], head[0], 70)[1:-1], head])


def _rings(u: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left and up (M - 2, A, 2) of each ring's vertices about the spine, and how much of a leg it is (M - 2, A)."""
    u = u[1:-1]
    radius = _radius(u)[:, None]
    left, up = radius * np.sin(angle), -radius * np.cos(angle)
    up = np.where(up < 0.0, 0.92 * up, up)  # the belly is flat
    centres = (np.array(_LEGGED) + 0.5) * _NECK / SEGMENTS
    along = _bump(np.abs(u[:, None] - centres).min(axis=1) / _LEG_LENGTH)[:, None]
    across = _bump((np.abs(_turned(angle)) - _LEG_ANGLE) / _LEG_WIDTH)
    leg = along * across
    up = up + np.minimum(1.3 * leg, 1.0) * (-_HEIGHT - up)  # to the floor, with a flat sole
    left = left * (1.0 + 0.12 * leg)
    return np.stack([left, up], axis=-1), leg


def _turned(angle: np.ndarray) -> np.ndarray:
    """The same angles from -pi to pi."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def _bump(x: np.ndarray) -> np.ndarray:
    """1 at 0, level there, falling to 0 at 1 and -1."""
    return 1.0 - _smooth(np.abs(x))


def _smooth(x: np.ndarray) -> np.ndarray:
    """From 0 at 0 to 1 at 1, level at both and beyond."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def _radius(u: np.ndarray) -> np.ndarray:
    """Metres, of the body at places (M,): segments with creases between them, a round tail, a round head."""
    crease = np.abs(np.sin(np.pi * u * SEGMENTS / _NECK)) ** 0.7
    body = _RADIUS * (0.86 + 0.14 * crease) * np.sqrt(1.0 - np.clip(1.0 - u / 0.075, 0.0, 1.0) ** 2)
    head = _HEAD_RADIUS * np.sqrt(np.clip(1.0 - ((u - 0.9325) / 0.0675) ** 2, 0.0, 1.0))
    return np.where(u < _NECK, np.maximum(body, head), head)


@dataclass(frozen=True)
class _Spine:
    """centres: (F, M, 3).  forward, left, up: (F, M, 3) unit vectors of the rings.
    thickness: (F, M) of the rings, 1 at rest."""

    centres: np.ndarray
    forward: np.ndarray
    left: np.ndarray
    up: np.ndarray
    thickness: np.ndarray

    @classmethod
    def moving(cls, u: np.ndarray) -> _Spine:
        """The spine at places (M,) in all frames."""
        x, z, stretch = _crawl(u)
        pitch, yaw = _turns(u)
        steps = np.stack([np.diff(x, axis=1), np.diff(z, axis=1)])
        length, slope = np.hypot(*steps), np.arctan2(steps[1], steps[0])
        between = [0.5 * (turn[:, 1:] + turn[:, :-1]) for turn in (pitch, yaw)]
        tail = np.stack([x[:, 0], np.zeros(FRAMES), z[:, 0]], axis=1)[:, None]
        along = np.cumsum(length[..., None] * _direction(slope + between[0], between[1]), axis=1)
        centres = np.concatenate([tail, tail + along], axis=1)
        centres += _flight(centres, _radius(u) ** 2)
        forward = _direction(pitch, yaw)
        left = np.stack([-np.sin(yaw), np.cos(yaw), np.zeros_like(yaw)], axis=-1)
        return cls(centres, forward, left, np.cross(forward, left), 1.0 / np.sqrt(stretch))

    def place(self, rings: np.ndarray) -> np.ndarray:
        """(F, M - 2, A, 3) of left and up (M - 2, A, 2) of the rings between the ends.

        Thickness grows from the sole of the feet, which stays where it is.
        """
        centres, left, up = (part[:, 1:-1, None] for part in (self.centres, self.left, self.up))
        thick = self.thickness[:, 1:-1, None]
        aside, above = rings[..., 0] * thick, (rings[..., 1] + _HEIGHT) * thick - _HEIGHT
        return centres + aside[..., None] * left + above[..., None] * up

    def carry(self, ring: int, points: np.ndarray) -> np.ndarray:
        """(F, N, 3) of points (N, 3), forward, left and up from a ring that they are rigidly fixed to."""
        axes = np.stack([self.forward[:, ring], self.left[:, ring], self.up[:, ring]], axis=1)
        return self.centres[:, ring, None] + points @ axes


def _direction(pitch: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """(..., 3) unit vectors, pitch up from level and yaw left from +X, radians."""
    return np.stack([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)], axis=-1)


def _crawl(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place along the floor, height of the spine, and stretch (F, M) by the waves of steps of both crawls."""
    frame = np.arange(FRAMES)[:, None]
    late, soft = _delay(u)
    x, z, slope = np.broadcast_to(u, (FRAMES, len(u))).copy(), np.full((FRAMES, len(u)), _HEIGHT), 0.0
    for name in ("crawl", "crawl on"):
        start, stop = PARTS[name]
        # The head takes its first step a period after the tail, so that all of it rests before and after.
        steps = (stop - start) // PERIOD - 1
        phase = np.clip((frame - start) / PERIOD - late, 0.0, steps)
        done, share = np.divmod(phase, 1.0)
        begun = (_LIFTED - _MOVING) / 2.0
        moved = (share - begun) / _MOVING
        x += STRIDE * (done + _smooth(moved))
        z += _STEP_HEIGHT * np.sin(np.pi * np.minimum(share / _LIFTED, 1.0)) ** 2
        inside = np.clip(moved, 0.0, 1.0)
        slope = slope + 6.0 * inside * (1.0 - inside) * STRIDE / _MOVING
    return x, z, 1.0 - slope * soft


def _delay(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Periods (M,) that each place steps later than the tail, and the slope of that: none in both ends, which keep
    their shape."""
    fine = np.linspace(0.0, 1.0, 2001)
    soft = _smooth((fine - 0.02) / 0.1) * _smooth((0.92 - fine) / 0.1)
    late = np.append(0.0, np.cumsum(0.5 * (soft[1:] + soft[:-1]) * np.diff(fine)))
    return np.interp(u, fine, late), np.interp(u, fine, soft)


def _turns(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pitch and yaw (F, M) of the rings, radians, in all parts but the crawls."""
    frame = np.arange(FRAMES)[:, None]
    pitch, yaw = np.zeros((2, FRAMES, len(u)))

    start, stop = PARTS["bend"]
    time = (frame - start) / (stop - start)
    pitch += 0.26 * _held(time, 0.16) * (_smooth((u - 0.34) / 0.2) - 0.8 * _smooth((u - 0.6) / 0.3))
    swing = np.sin(4.0 * np.pi * (time - 0.12) / 0.76 - 1.1 * np.clip(u - 0.5, 0.0, 1.0))
    yaw += 1.25 * _held((time - 0.12) / 0.76, 0.2) * swing * _smooth((u - 0.45) / 0.5)

    start, stop = PARTS["lift"]
    time = (frame - start) / (stop - start)
    pitch += 1.2 * _held(time, 0.3) * (_smooth((u - 0.34) / 0.34) - 0.75 * _smooth((u - 0.66) / 0.3))
    look = np.sin(2.0 * np.pi * (time - 0.3) / 0.4)
    yaw += 0.8 * _held((time - 0.3) / 0.4, 0.3) * look * _smooth((u - 0.5) / 0.45)

    for flown, _ in _flights():
        curl = np.where((flown > 0.0) & (flown < 1.0), np.sin(2.0 * np.pi * flown) * np.sin(np.pi * flown), 0.0)
        pitch += 2.2 * curl[:, None] * (u - 0.5)
    return pitch, yaw


def _held(time: np.ndarray, ease: float) -> np.ndarray:
    """From 0 up to 1 and down again over the times 0 to 1, a share of it at each end."""
    return _smooth(time / ease) * _smooth((1.0 - time) / ease)


def _flights():
    """Of each hop: (F,) 0 at take-off to 1 at landing, running on before and after; and the hop itself."""
    for hop in _HOPS:
        yield (np.arange(FRAMES) - PARTS["jump"][0] - hop[0] - _CROUCH) / hop[1], hop


def _flight(centres: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What to add (F, 1, 3) to spines (F, M, 3) so that their weight (M,) moves on, and in the air on parabolas."""
    away = np.zeros((FRAMES, 3))
    for flown, (_, frames, distance) in _flights():
        share = np.clip(flown, 0.0, 1.0)
        away[:, 0] += distance * share
        away[:, 2] += 0.5 * _GRAVITY * (frames / FPS) ** 2 * share * (1.0 - share)
    start, stop = PARTS["jump"]
    heavy = np.einsum("fmi,m->fi", centres, weights / weights.sum())
    away[start:stop] += heavy[start] - heavy[start:stop]
    return away[:, None]


def _squashed(vertices: np.ndarray) -> np.ndarray:
    """Vertices (F, V, 3) pressed to the floor before take-off and after landing."""
    pressed = np.zeros(FRAMES)
    for flown, (_, frames, _) in _flights():
        before, after = 1.0 + flown * frames / _CROUCH, (flown - 1.0) * frames / _LANDING
        pressed += _smooth(before / 0.7) * _smooth((1.0 - before) / 0.3)
        pressed += _smooth(after / 0.25) * _smooth((1.0 - after) / 0.75)
    shape = np.stack([np.ones(FRAMES), 1.0 + 0.25 * _SQUASH * pressed, 1.0 - _SQUASH * pressed], axis=1)
    return vertices * shape[:, None]


def _tube(rings: int, around: int) -> tuple[np.ndarray, np.ndarray]:
    """Quads (Q, 4) and triangles (T, 3) of a closed tube: rings of vertices, then the first end and the last."""
    grid = np.arange(rings * around).reshape(rings, around)
    after = np.roll(grid, -1, axis=1)
    quads = np.stack([grid[:-1], after[:-1], after[1:], grid[1:]], axis=-1).reshape(-1, 4)
    first, last = (np.full(around, rings * around + k) for k in (0, 1))
    return quads, np.concatenate([np.stack([first, after[0], grid[0]], 1), np.stack([last, grid[-1], after[-1]], 1)])


def _antennae() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (N, 3) about a ring of the head, forward, left and up; quads and triangles of both."""
    along = np.linspace(0.0, 1.0, _ANTENNA_RINGS)
    radius = np.array([0.0075, 0.006, 0.0055, 0.006, 0.011, 0.008])
    angle = 2.0 * np.pi * np.arange(_ANTENNA_AROUND) / _ANTENNA_AROUND
    points, faces = [], ([], [])
    for side in (1.0, -1.0):
        root, tip = np.array([0.01, side * 0.03, 0.055]), np.array([0.075, side * 0.075, 0.165])
        middle = root + np.outer(along, tip - root) + np.outer(along * (1.0 - along), [-0.07, 0.0, 0.05])
        axis = (tip - root) / np.linalg.norm(tip - root)
        aside = np.cross(axis, [1.0, 0.0, 0.0])
        aside /= np.linalg.norm(aside)
        circle = np.outer(np.cos(angle), aside) + np.outer(np.sin(angle), np.cross(axis, aside))
        rings = middle[:, None] + radius[:, None, None] * circle
        ends = [middle[0] - 0.004 * axis, middle[-1] + 0.008 * axis]
        quads, triangles = _tube(_ANTENNA_RINGS, _ANTENNA_AROUND)
        faces[0].append(quads + sum(map(len, points)))
        faces[1].append(triangles + sum(map(len, points)))
        points.append(np.concatenate([rings.reshape(-1, 3), ends]))
    return np.concatenate(points), np.concatenate(faces[0]), np.concatenate(faces[1])


def _colours(u: np.ndarray, angle: np.ndarray, legs: np.ndarray) -> np.ndarray:
    """Kind of each quad between the rings, see Caterpillar; legs (M - 2, A): how much of a leg each vertex is."""
    place = 0.5 * (u[1:-2] + u[2:-1])[:, None]
    turn = _turned(angle + np.pi / AROUND)
    kind = np.broadcast_to(((place * SEGMENTS / _NECK) % 1.0 > 0.72).astype(int), (len(place), AROUND)).copy()
    sides = legs + np.roll(legs, -1, axis=1)
    kind[sides[1:] + sides[:-1] > 1.0] = 3
    kind[np.broadcast_to(place > _NECK, kind.shape)] = 2
    kind[(np.abs(place - 0.972) < 0.014) & (np.abs(np.abs(turn) - 2.05) < 0.3)] = 4
    return kind.ravel()
