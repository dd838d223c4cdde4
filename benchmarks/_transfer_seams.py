"""Whether borders of overlaps show in what is performed: rim excess, see ``seams``, beside blending vertices alone."""

from __future__ import annotations

import numpy as np

from solvers.core.steps import result_of
from solvers.transfer.correspondence import DenseClip
from solvers.transfer.subject import Subject
from solvers.transfer.subject_track import SubjectTrack
from solvers.transfer.surface_transfer import SurfaceTransfer, bodies_of
from solvers.transfer.torso_frame import to_local

from ._transfer_bodies import dance, shown
from .seams import Seams
from .transfer_set import PART_NAMES, transfer_set

# What is done of correction and stitching.
DONE = {
    "ours": (True, True),
    "not corrected": (False, True),
    "corrected, vertices blended": (True, False),
    "vertices blended": (False, False),
}
_EVERY = 6


def of_dancers(backward: bool) -> dict[str, float]:
    """Rim excess by what is done, of the whole dance, against all captured frames."""
    _, target, _, track = dance(backward)
    seams = Seams.of(target.local, target.triangles, target.memberships)
    return {name: seams.rim_excess(shown(target.subject, track, *done)) for name, done in DONE.items()}


def of_set(backward: bool) -> dict[str, float]:
    """The same of every sixth frame of all clips of the set as it is without noise, against its right answers.

    Noise creases all edges alike, and components have less of it than captures: with it the measure would be of that.
    """
    scored = transfer_set()
    ends = [(scored.source, [clip.shown for clip in scored.training]),
            (scored.target, [clip.answers for clip in scored.training])]  # fmt: skip
    ends = ends[::-1] if backward else ends
    source, target = (
        result_of(Subject.learn_steps(clips, body.triangles, body.memberships, PART_NAMES)) for body, clips in ends
    )
    data, right = ends[1]
    clips = []
    for given, wanted in zip(ends[0][1], right, strict=True):
        frames = np.arange(len(given))
        dense = DenseClip(frames, frames.astype(float), np.zeros((1, 1)), np.zeros((0, 2), int), frames, "")
        clips.append((source.read(given), target.read(wanted), dense))
    learnt = result_of(SurfaceTransfer.learn_steps(clips, scored.fps, bodies=bodies_of(source, target)))
    usual = np.concatenate([_local(target, clip[::_EVERY]) for clip in right])
    seams = Seams.of(usual, data.triangles, data.memberships)
    found = dict.fromkeys(DONE, 0.0)
    for clip in scored.training + scored.unseen:
        given, wanted = (clip.answers, clip.shown) if backward else (clip.shown, clip.answers)
        own = np.mean([seams.ratio(mesh) for mesh in _local(target, wanted[::_EVERY])])
        track = _thinned(learnt.track(source.read(given), scored.fps))
        for name, done in DONE.items():
            ratios = [seams.ratio(mesh) for mesh in shown(target, track, *done)]
            found[name] += float(np.mean(ratios) / own) / len(scored.training + scored.unseen)
    return found


def _local(subject: Subject, vertices: np.ndarray) -> np.ndarray:
    return to_local(vertices, *subject.torso.of(vertices))


def _thinned(track: SubjectTrack) -> SubjectTrack:
    rows = tuple(part[::_EVERY] for part in track.rows)
    return SubjectTrack(rows, track.rotations[::_EVERY], track.translations[::_EVERY])
