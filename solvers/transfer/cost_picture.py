"""What it costs to pair each pose of one clip with each of the other, as a picture, with the path and the pairs."""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError

LARGEST = 512
# sRGB. Cheap is dark, so that the path is bright where it should lie.
CHEAP, MIDDLE, DEAR = (0.05, 0.08, 0.16), (0.25, 0.35, 0.48), (0.66, 0.69, 0.73)
PATH, STRAIGHT, PAIR, RIM = (1.0, 0.72, 0.18), (0.95, 0.96, 0.98), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
DASH = 5.0  # pixels, and as many between
STEP = 0.5  # pixels between the points that lines are drawn with


def cost_picture(cost: np.ndarray, nodes: np.ndarray, line: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """RGBA (H, W, 4) float32 in sRGB, source time to the right, target time upward: row 0 is the lowest one.

    cost: (n, m), shown by rank from dark to light.  nodes: (P, 2) source and target rows of the path, drawn bright.
    line: (N,) target rows of the straight line between pairs, at whole source rows from the first pair on, dashed.
    pairs: (L, 2) source and target rows, may be fractions, drawn as dots.
    The longer side has at most 512 pixels: large tables are thinned out, in small ones each cost is a square.
    """
    cost, pairs = np.asarray(cost, float), np.asarray(pairs, float)
    if cost.ndim != 2 or not cost.size or not np.isfinite(cost).all():
        raise InputError("Only a table of finite costs can be shown; densify the clips first.")
    scale = _scale(max(cost.shape))
    columns, rows = (_thinned(count, scale) for count in cost.shape)
    colours = shades(cost[np.ix_(columns, rows)].T)
    thickness = max(1.0, max(colours.shape) / 256.0)
    picture = _Canvas(colours, scale)
    straight = np.stack((np.ceil(pairs[0, 0] - 1e-9) + np.arange(len(line)), line), axis=1)
    picture.stroke(straight, STRAIGHT, 0.5, dashed=True)
    picture.stroke(nodes, RIM, thickness + 1.0)
    picture.stroke(nodes, PATH, thickness)
    picture.dots(pairs, RIM, 2.0 * thickness + 1.5)
    picture.dots(pairs, PAIR, 2.0 * thickness)
    rgba = np.ones((*picture.colours.shape[:2], 4), np.float32)
    rgba[..., :3] = picture.colours
    return rgba


def _scale(longer: int) -> float:
    """Pixels a row: a whole number where tables are magnified."""
    return float(LARGEST // longer) if longer <= LARGEST else LARGEST / longer


def _thinned(count: int, scale: float) -> np.ndarray:
    """Which row of the table each pixel shows."""
    pixels = max(1, round(count * scale))
    return np.minimum(((np.arange(pixels) + 0.5) / scale).astype(int), count - 1)


def shades(values: np.ndarray) -> np.ndarray:
    """(H, W, 3) sRGB of costs (H, W), by what share of them is cheaper."""
    share = np.searchsorted(np.sort(values, axis=None), values, side="left") / values.size
    stops = np.array((CHEAP, MIDDLE, DEAR))
    return np.stack([np.interp(share, (0.0, 0.5, 1.0), stop) for stop in stops.T], axis=-1)


class _Canvas:
    """Colours (H, W, 3) that are drawn over, at rows of the clips."""

    def __init__(self, colours: np.ndarray, scale: float):
        self.colours, self._scale = colours, scale

    def stroke(self, points: np.ndarray, colour, radius: float, dashed: bool = False) -> None:
        """A line along points (N, 2), radius in pixels."""
        points = (np.asarray(points, float) + 0.5) * self._scale
        along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))))
        at = np.arange(0.0, along[-1] + STEP, STEP)
        if dashed:
            at = at[at % (2.0 * DASH) < DASH]
        self._stamp(np.stack([np.interp(at, along, axis) for axis in points.T], axis=1), colour, radius)

    def dots(self, points: np.ndarray, colour, radius: float) -> None:
        """A disc at each of the points (N, 2), radius in pixels."""
        self._stamp((np.asarray(points, float) + 0.5) * self._scale, colour, radius)

    def _stamp(self, places, colour, radius):
        reach = np.arange(-int(radius), int(radius) + 1)
        disc = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
        disc = disc[(disc**2).sum(axis=1) <= radius**2]
        pixels = (places.astype(int)[:, None] + disc).reshape(-1, 2)
        height, width = self.colours.shape[:2]
        pixels = pixels[((pixels >= 0) & (pixels < (width, height))).all(axis=1)]
        self.colours[pixels[:, 1], pixels[:, 0]] = colour
