"""What a subject does over a clip: poses of its parts, and where its torso is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .quaternions import conj, exp, log, mul
from .rotations import matrix_to_quaternion, quaternion_to_matrix


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
        places = np.clip(np.asarray(places, float), 0.0, len(self) - 1.0)
        before = places.astype(int)
        after = np.minimum(before + 1, len(self) - 1)
        share = places - before
        rows = tuple(_between(part, before, after, share) for part in self.rows)
        turned = quaternion_to_matrix(_turned(matrix_to_quaternion(self.rotations), before, after, share))
        # On a frame it is that frame's, to the last bit.
        turned = np.where((share == 0.0)[:, None, None], self.rotations[before], turned)
        return SubjectTrack(rows, turned, _between(self.translations, before, after, share))


def _between(values, before, after, share):
    return values[before] + share[:, None] * (values[after] - values[before])


def _turned(quaternions, before, after, share):
    start, end = quaternions[before].T, quaternions[after].T
    return mul(start, exp(share * log(mul(conj(start), end)))).T
