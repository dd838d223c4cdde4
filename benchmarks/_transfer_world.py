"""How far off unseen clips are in the world, where the torso's tilt and heading count, and not only in its frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.steps import result_of
from solvers.transfer.correspondence import densify
from solvers.transfer.subject_track import SubjectTrack
from solvers.transfer.surface_transfer import SurfaceTransfer, bodies_of
from solvers.transfer.torso_frame import to_local

from ._transfer_cases import Case, Direction

COPIED, LEARNT, LOCAL = "turn copied", "turn learnt", "torso's frame"


def in_the_world(of: Direction) -> dict[str, dict[str, float]]:
    """By way: RMS distance of vertices, mm, of each unseen clip and of all, the torso at its right place.

    Learnt from dense pairs of ours.  ``LOCAL``: in the torso's frame, that is with the turn that the target has.
    Before correction and stitching.
    """
    dense = densify([case.clip for case in of.training])
    clips = [(case.here, case.there, one) for case, one in zip(of.training, dense, strict=True)]
    learnt = result_of(SurfaceTransfer.learn_steps(clips, of.fps, bodies=bodies_of(of.source, of.target)))
    found = {COPIED: {}, LEARNT: {}, LOCAL: {}}
    for case in of.unseen:
        # What is learnt of velocities is of the source's own frames.
        tracks = {
            way: transfer.track(case.here, of.fps).sampled(case.places)
            for way, transfer in ((COPIED, replace(learnt, turn=None)), (LEARNT, learnt))
        }
        tracks[LOCAL] = replace(tracks[LEARNT], rotations=case.answered.rotations)
        for way, track in tracks.items():
            found[way][case.name] = _away(of, case, track)
    for row in found.values():
        row["unseen"] = float(np.sqrt(np.mean(np.square(list(row.values())))))
    return found


def _away(of: Direction, case: Case, track: SubjectTrack) -> float:
    local = to_local(case.answers, case.answered.rotations, case.answered.translations)
    total = 0.0
    for share, part, rows in zip(of.shares, of.target.parts, track.rows, strict=True):
        wanted = np.einsum("fij,fnj->fni", case.answered.rotations, local[:, part.vertices])
        away = np.einsum("fij,fnj->fni", track.rotations, part.vertices_of(rows)) - wanted
        total += share * np.mean(np.square(away).sum(axis=2) @ part.weights)
    return float(np.sqrt(total)) * 1e3
