"""How far a rig that was posed by its controls is from what was solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..skeleton.inheritance import orthogonal


@dataclass(frozen=True)
class Deviation:
    """Of D bones over F frames from where they were meant to be.

    bones: (D,) indices in the rig.  away: (F, D) distances of heads, in the unit of the poses.  turned: (F, D) radians.
    """

    bones: np.ndarray
    away: np.ndarray
    turned: np.ndarray

    @property
    def farthest(self) -> tuple[int, int]:
        """Frame and bone, as an index into bones, of the largest distance."""
        return tuple(int(each) for each in np.unravel_index(self.away.argmax(), self.away.shape))

    @property
    def most_turned(self) -> tuple[int, int]:
        """Frame and bone, as an index into bones, of the largest angle."""
        return tuple(int(each) for each in np.unravel_index(self.turned.argmax(), self.turned.shape))


def deviation(meant: np.ndarray, shown: np.ndarray, bones: np.ndarray) -> Deviation:
    """Of some bones (D,) of poses (F, B, 4, 4) in one space; scales do not count."""
    meant, shown = meant[:, bones], shown[:, bones]
    away = np.linalg.norm(shown[..., :3, 3] - meant[..., :3, 3], axis=-1)
    relative = np.swapaxes(orthogonal(meant[..., :3, :3]), -1, -2) @ orthogonal(shown[..., :3, :3])
    # By the sine of half the angle, which the distance of the two rotations tells: small angles keep their digits.
    chord = np.linalg.norm(relative - np.eye(3), axis=(-2, -1))
    return Deviation(bones, away, 2.0 * np.arcsin(np.clip(chord / np.sqrt(8.0), 0.0, 1.0)))


def points_apart(poses: np.ndarray, others: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """(F, D) the largest distance between two poses (F, D, 4, 4) of a bone's head, and of the points on its axes as far
    from the head as it is long, (D,), so that its direction and twist count as well."""
    away = others[..., :3, :] - poses[..., :3, :]
    points = away[..., 3:] + away[..., :3] * lengths[:, None, None]
    return np.maximum(np.linalg.norm(points, axis=-2).max(axis=-1), np.linalg.norm(away[..., 3], axis=-1))
