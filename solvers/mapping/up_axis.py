"""Whether a body stands along another axis than Z, as captures with Y up do that were brought in as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.missing_samples import known_points
from ..core.subsampling import evenly_spaced_indices
from ..rotations.rigid import procrustes
from ..rotations.rotation_vectors import log

_FRAMES, _POINTS = 200, 300  # at most looked at
_RISE = 1.2  # of the body's radius (RMS): less is a step, a jump or a fall
_LEVEL = 0.35  # of the rise: how far it may go along an axis that it stands along
_STEADY = 0.35  # of the radius: by how much its lowest or highest point along that axis may vary
_TURNED, _OFTEN = np.radians(100.0), 0.1  # a fall turns a body by 90 degrees; share of the frames
_ABOUT, _BESIDE = 0.85, 0.1  # shares of the squared turn about Y, and about Z
# Of the radius, against a height that the lowest point is above in seven tenths of the frames: what is on the floor,
# what is off it, and within what the lowest point of a body that stands stays.
_ON, _OFF, _LEVEL_FLOOR = 0.05, 0.12, 0.04
# Shares of the frames: that feet take turns in being down, one of them is down, and so is what stands along Z; and
# of the radius, how far what a body stands on spreads.
_TURNS, _HELD, _STANDS, _WIDE = 0.25, 0.92, 0.8, 0.25
_THIN = 0.02  # of the body's largest variance: without a second one as large, turns about the longest axis mean nothing


@dataclass(frozen=True)
class UpDoubt:
    """axis: "X" or "Y", along which the body seems to stand; Y where it may be either, as for what goes straight on.
    rise: metres that it goes along Z.  turn: radians that it turns about the axis, at most.  Either is zero where it
    tells nothing; both are where its feet do."""

    axis: str
    rise: float
    turn: float

    @property
    def text(self) -> str:
        """Why, after the name of the body."""
        if self.rise:
            return (
                f"goes {self.rise:.3g} m along Z and keeps its place along {self.axis}: it seems to stand along "
                f"{self.axis} instead of Z"
            )
        if not self.turn:
            return (
                f"has feet that take turns in being down along {self.axis}, while it stands on nothing along Z: it "
                f"seems to stand along {self.axis} instead of Z"
            )
        return (
            f"turns by up to {np.degrees(self.turn):.0f} degrees about {self.axis} and hardly about Z: it seems to "
            f"stand along {self.axis} instead of Z"
        )


def up_axis_doubt(points: np.ndarray) -> UpDoubt | None:
    """Of a body's points (F, N, 3), world, metres, NaN where missing; None where nothing speaks against Z.

    A body that travels goes far over the ground and hardly up, its lowest point stays near one height, and what turns
    far, turns about the vertical. So one that goes along Z alone, or turns about Y alone, lies or stands otherwise;
    turns about X alone are somersaults of what faces along Y, as most do. Poses tell nothing: a horse is longest along
    the ground. What steps on the spot tells by its feet, which come down to one height in turns, so that one of them is
    always there; who stands on the spot, or flies between steps, may stand anyhow.
    """
    points = np.asarray(points, float)
    points = points[evenly_spaced_indices(len(points), _FRAMES)]
    points = points[:, evenly_spaced_indices(points.shape[1], _POINTS)]
    seen = known_points(points).sum(axis=0)
    points = points[:, 2 * seen > len(points)]
    points = points[known_points(points).all(axis=1)]
    if len(points) < 3 or points.shape[1] < 3:
        return None
    centre = points.mean(axis=1)
    away = points - centre[:, None]
    radius = float(np.sqrt((away**2).sum(axis=2).mean()))
    if not radius > 0.0:
        return None
    return _by_travel(points, centre, radius) or _by_turning(points, away) or _by_steps(away / radius, centre / radius)


def _by_travel(points: np.ndarray, centre: np.ndarray, radius: float) -> UpDoubt | None:
    going = _spread(centre)
    steady = np.minimum(_spread(points.min(axis=1)), _spread(points.max(axis=1)))
    rise = float(going[2])
    level = [axis for axis in (1, 0) if going[axis] < _LEVEL * rise and steady[axis] < _STEADY * radius]
    if rise < _RISE * radius or not level:
        return None
    return UpDoubt("XY"[level[0]], rise, 0.0)


def _by_turning(points: np.ndarray, away: np.ndarray) -> UpDoubt | None:
    sizes = np.linalg.eigvalsh(np.einsum("fni,fnj->fij", away, away)).mean(axis=0)
    if sizes[1] < _THIN * sizes[2]:
        return None
    vectors = log(procrustes(points, points[0])[0])
    angle = np.linalg.norm(vectors, axis=1)
    far = angle > _TURNED
    if far.mean() < _OFTEN:
        return None
    shares = ((vectors[far] / angle[far, None]) ** 2).mean(axis=0)
    if shares[1] < _ABOUT or shares[2] > _BESIDE:
        return None
    return UpDoubt("Y", 0.0, float(angle.max()))


def _by_steps(away: np.ndarray, centre: np.ndarray) -> UpDoubt | None:
    """Of points (F, N, 3) about their centres (F, 3), both in radii."""
    down, _, level = _floor(away, centre, 2)
    if level > _STANDS and _width(away[..., :2], down) > _WIDE:
        return None
    down, up, level = _floor(away, centre, 1)
    feet = (down.mean(axis=0) > _OFTEN) & (up.mean(axis=0) > _OFTEN)
    if level < _HELD or down[:, feet].any(axis=1).mean() < _HELD:
        return None
    one_is_up = down[:, feet].T.astype(float) @ up[:, feet] / len(down)
    return UpDoubt("Y", 0.0, 0.0) if np.minimum(one_is_up, one_is_up.T).max() > _TURNS else None


def _floor(away: np.ndarray, centre: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Which points are on the floor (F, N), which off it (F, N), and in which share of the frames the lowest one is."""
    height = away[..., axis] + centre[:, None, axis]
    lowest = height.min(axis=1)
    floor = np.quantile(lowest, 0.3)
    return height < floor + _ON, height > floor + _OFF, float((np.abs(lowest - floor) < _LEVEL_FLOOR).mean())


def _width(points: np.ndarray, down: np.ndarray) -> float:
    """RMS distance of points (F, N, 2) that are down (F, N) from their mean in each frame."""
    share = down / np.maximum(down.sum(axis=1, keepdims=True), 1)
    mean = np.einsum("fn,fni->fi", share, points)
    away = ((points - mean[:, None]) ** 2).sum(axis=2)
    return float(np.sqrt((away * down).sum() / max(down.sum(), 1)))


def _spread(values: np.ndarray) -> np.ndarray:
    """(3,) between the first and the last tenth of values (F, 3): what is there for a moment does not count."""
    return np.percentile(values, 90.0, axis=0) - np.percentile(values, 10.0, axis=0)
