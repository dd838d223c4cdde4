"""What a workflow shows in the 3D viewport: arrays in world space, and shapes to make them of.

Drawing is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from ...solvers.core.vectors import cross

_RING, _THICKNESS = 0.12, 0.07  # of a bone's length: where it is thickest, and how thick
_DISC_CORNERS = 24
_TURN = np.linspace(0.0, 2 * np.pi, _DISC_CORNERS, endpoint=False)[:, None]
_CIRCLE = np.cos(_TURN), np.sin(_TURN)
# Indigo, blue, green, yellow: lightness rises evenly, blue falls, so that it reads alike without red or green vision.
_RAMP = np.array([[0.22, 0.12, 0.42], [0.16, 0.36, 0.62], [0.12, 0.62, 0.58], [0.55, 0.82, 0.30], [1.00, 0.93, 0.20]])
_STOPS = np.linspace(0.0, 1.0, len(_RAMP))


@dataclass(frozen=True)
class TextLine:
    """A line of text over the region that begins at a place (shares, as of an overlay's screen parts).

    words: text and RGBA colour of each part, drawn one after the other.
    """

    x: float
    y: float
    words: tuple[tuple[str, tuple[float, float, float, float]], ...]


@dataclass(frozen=True, eq=False)
class Overlay:
    """Points, lines and filled triangles, metres, world space; colours are display RGBA, 0 to 1.

    points: (N, 3), colours (N, 4).  lines: (L, 2, 3), colours (L, 2, 4).  triangles: (T, 3, 3), colours (T, 3, 4).
    screen_lines, screen_triangles: (S, 2, 2) and (U, 3, 2), drawn over all, colours alike; shares, from the bottom
    left, of the region's height and of the width that its toolbar and sidebar leave, or of the shorter of the two
    along both where is_square.  screen_texts: so as well.
    Never changed once made: what is drawn is kept for as long as it is the same object.
    """

    points: np.ndarray
    point_colours: np.ndarray
    lines: np.ndarray
    line_colours: np.ndarray
    triangles: np.ndarray
    triangle_colours: np.ndarray
    screen_lines: np.ndarray
    screen_line_colours: np.ndarray
    screen_triangles: np.ndarray
    screen_triangle_colours: np.ndarray
    screen_texts: tuple[TextLine, ...] = ()
    is_square: bool = False


def overlay(
    points=None, lines=None, triangles=None, screen_lines=None, screen_triangles=None, screen_texts=(), is_square=False
) -> Overlay:
    """An overlay of (places, colours) pairs; colours are broadcast to the places. Float32, as the GPU takes it."""
    shapes = (
        (points, (3,)), (lines, (2, 3)), (triangles, (3, 3)), (screen_lines, (2, 2)), (screen_triangles, (3, 2))
    )  # fmt: skip
    return Overlay(*(array for pair, shape in shapes for array in _pair(pair, shape)), tuple(screen_texts), is_square)


def _pair(pair, shape):
    places, colours = (np.empty((0, *shape)), np.empty((0, *shape[:-1], 4))) if pair is None else pair
    colours = np.broadcast_to(colours, (*places.shape[:-1], 4))
    return np.ascontiguousarray(places, np.float32), np.ascontiguousarray(colours, np.float32)


def joined(parts: Iterable[Overlay]) -> Overlay:
    """Several overlays as one; those with something over the region agree about ``is_square``."""
    parts = list(parts)
    names = [field.name for field in fields(Overlay) if field.name not in ("screen_texts", "is_square")]
    arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
    texts = tuple(line for part in parts for line in part.screen_texts)
    return Overlay(*arrays, texts, any(part.is_square for part in parts))


def in_pixels(places: np.ndarray, left: float, width: float, height: float) -> np.ndarray:
    """(N, 3) float32 of screen places (..., 2), shares, in the part of a region that begins at left."""
    pixels = np.zeros((places.size // 2, 3), np.float32)
    pixels[:, :2] = places.reshape(-1, 2) * np.float32([width, height]) + np.float32([left, 0.0])
    return pixels


def free_width(area, region) -> tuple[float, float]:
    """Where the part of a region begins that toolbar and sidebar do not cover, and how wide it is, pixels."""
    left, right = region.x, region.x + region.width
    for other in area.regions:
        if other.type == "TOOLS" and other.width > 1:
            left = max(left, other.x + other.width)
        elif other.type == "UI" and other.width > 1:
            right = min(right, other.x)
    return left - region.x, right - left


def screen_sides(width: float, height: float, is_square: bool) -> tuple[float, float]:
    """What screen places are shares of, pixels: the sides of the free part of a region, or its shorter one twice."""
    return (min(width, height),) * 2 if is_square else (width, height)


def ramp(values: np.ndarray) -> np.ndarray:
    """Colours (..., 3) of values from 0 (dark) to 1 (light)."""
    return np.stack([np.interp(values, _STOPS, channel) for channel in _RAMP.T], axis=-1)


def bones(heads: np.ndarray, tails: np.ndarray, edge: np.ndarray, face: np.ndarray) -> Overlay:
    """Bones as octahedra, edges and faces.

    heads, tails: (B, 3); those without length are left out.  edge, face: (B, 4) colours.
    """
    long = np.linalg.norm(tails - heads, axis=1) > 1e-9
    heads, along, edge, face = heads[long], (tails - heads)[long], edge[long], face[long]
    first, second = across(along)
    thickness = _THICKNESS * np.linalg.norm(along, axis=1, keepdims=True)
    middle = heads + _RING * along
    ring = np.stack([middle + thickness * way for way in (first, second, -first, -second)], axis=1)
    following = np.roll(ring, -1, axis=1)
    ends = np.stack((heads, heads + along), axis=1)[:, :, None] * np.ones((1, 1, 4, 1))
    spokes = np.stack((ends, np.broadcast_to(ring[:, None], ends.shape)), axis=3)
    edges = np.concatenate((spokes.reshape(-1, 8, 2, 3), np.stack((ring, following), axis=2)), axis=1)
    pair = np.stack((ring, following), axis=2)[:, None]
    faces = np.concatenate((ends[..., None, :], np.broadcast_to(pair, (len(heads), 2, 4, 2, 3))), axis=3)
    return overlay(
        lines=(edges.reshape(-1, 2, 3), np.repeat(edge, 12, axis=0)[:, None]),
        triangles=(faces.reshape(-1, 3, 3), np.repeat(face, 8, axis=0)[:, None]),
    )


def discs(centres: np.ndarray, normals: np.ndarray, radius: float, colours: np.ndarray) -> Overlay:
    """Filled discs with a rim.

    centres, normals: (D, 3), unit normals.  colours: (D, 4) of the rims; what is filled is half as opaque.
    """
    first, second = across(normals)
    rim = centres[:, None] + radius * (_CIRCLE[0] * first[:, None] + _CIRCLE[1] * second[:, None])
    edges = np.stack((rim, np.roll(rim, -1, axis=1)), axis=2)
    middle = np.broadcast_to(centres[:, None, None], (*rim.shape[:2], 1, 3))
    colours = np.repeat(colours, _DISC_CORNERS, axis=0)[:, None]
    return overlay(
        lines=(edges.reshape(-1, 2, 3), colours),
        triangles=(np.concatenate((middle, edges), axis=2).reshape(-1, 3, 3), colours * [1.0, 1.0, 1.0, 0.5]),
    )


def across(directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors (M, 3) at right angles to each other and to directions (M, 3), none of them zero."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    helper = np.zeros_like(unit)
    helper[np.arange(len(unit)), np.abs(unit).argmin(axis=1)] = 1.0
    first = cross(unit, helper)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, cross(unit, first)
