"""What a subject does over a clip: poses of its parts, and where its torso is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.interpolation import BetweenRows
from ..rotations.channels import matrix_to_quaternion, quaternion_to_matrix
from ..rotations.quaternions import conj, exp, log, mul


@dataclass(frozen=True)
class SubjectTrack:
    """rows: of each part (F, D_k).  rotations (F, 3, 3) and translations (F, 3) of the torso, world, metres."""

    rows: tuple[np.ndarray, ...]
    rotations: np.ndarray
    translations: np.ndarray

    def __len__(self) -> int:
        return len(self.translations)

    def sampled(self, places: np.ndarray) -> SubjectTrack:
        """At places (N,) between its frames, which are numbered from 0; outside of them the first or the last.

        Rows and translations go straight from frame to frame, rotations the shortest way (Shoemake 1985).
        """
        between = BetweenRows.at_places(places, len(self))
        rows = tuple(between.of(part) for part in self.rows)
        return SubjectTrack(rows, _turned(self.rotations, between), between.of(self.translations))


def _turned(rotations: np.ndarray, between: BetweenRows) -> np.ndarray:
    # Live asks for one frame at a time: of a long clip no others may cost anything.
    start, end = (matrix_to_quaternion(rotations[rows]).T for rows in (between.before, between.after))
    turned = quaternion_to_matrix(mul(start, exp(between.share * log(mul(conj(start), end)))).T)
    # On a frame it is that frame's to the last bit.
    return np.where((between.share == 0.0)[:, None, None], rotations[between.before], turned)
