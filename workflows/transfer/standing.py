"""Whether both subjects stand along the same axis: with one brought in with Y up nothing would fit."""

from __future__ import annotations

import numpy as np

from ...solvers.core.errors import InputError
from ...solvers.transfer.part_matching import standing_axis
from .store import matrices

# How a body that stands along an axis is set upright, degrees.
_REMEDY = {
    "Y": "90 degrees about X",
    "-Y": "-90 degrees about X",
    "X": "-90 degrees about Y",
    "-X": "90 degrees about Y",
    "-Z": "180 degrees about X",
}
_SHARES = (0.0, 0.5, 1.0)  # of the first clips, where poses are compared
_KEEPS = 0.6  # of a whole: how far along one axis a torso points on average
_FEWEST = 3  # parts: fewer lie about the torso in too many ways alike


def require_alike(source_name: str, target_name: str, axis: str | None, then: str) -> None:
    """InputError where the source stands along an axis that is not Z; then: what to do after it was turned."""
    if axis is not None:
        raise InputError(
            f"'{source_name}' stands along {axis} where '{target_name}' stands along Z: turn it, and all that perform "
            f"its clips, by {_REMEDY[axis]}, or '{target_name}' the other way, and {then}; where only poses differ, "
            "choose frames in which both stand alike."
        )


def axis_of_shapes(source, target) -> str | None:
    """See ``standing_axis``; each side vertices (V, 3), world, and memberships (K, V)."""
    return standing_axis(*source, *target) if len(source[1]) >= _FEWEST else None


def axis_of_clips(source, target) -> str | None:
    """The same of what both do in their first clips, at all frames that are looked at; each side a subject and a
    track."""
    found = set()
    for share in _SHARES:
        found.add(axis_of_shapes(*(_shape(*side, share) for side in (source, target))))
        if len(found) > 1 or None in found:
            return None
    return found.pop()


def lying_text(track, own: list) -> str:
    """What is to be said of a new clip whose torso keeps along another axis than in the source's own clips, if it does;
    tracks of one and the others."""
    ways = [np.mean(one.rotations[:, :, 2], axis=0) for one in (track, *own)]
    along = int(np.abs(ways[0]).argmax())
    keeps = abs(ways[0][along]) > _KEEPS and all(way[2] > _KEEPS for way in ways[1:])
    if not keeps or (along == 2 and ways[0][2] > 0.0):
        return ""
    axis = f"{'' if ways[0][along] > 0.0 else '-'}{'XYZ'[along]}"
    return f", stands along {axis}, unlike the clips learnt from: turn it by {_REMEDY[axis]}, unless it lies there"


def _shape(subject, track, share: float) -> tuple[np.ndarray, np.ndarray]:
    frame = round(share * (len(track) - 1))
    local = subject.assemble(tuple(rows[frame] for rows in track.rows), correct=False, stitch=False)
    matrix = matrices(track.sampled(np.array([float(frame)])))[0]
    return local @ matrix[:3, :3].T + matrix[:3, 3], subject.memberships
