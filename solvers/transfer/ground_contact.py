"""A target as high above its ground as its source is above its own: feet that stand do not sink or float."""

from __future__ import annotations

from scipy.ndimage import gaussian_filter1d

from ..core.errors import InputError
from .subject import Subject, ground_below
from .subject_track import SubjectTrack

# Seconds, of a Gaussian.  Without it the torso takes every tremble of the feet: heights then shake three times as much
# as in captured clips.
SMOOTHING = 0.05


def with_clearance(
    track: SubjectTrack,
    target: Subject,
    source_track: SubjectTrack,
    source: Subject,
    fps: float,
    source_floor: float | None = None,
) -> SubjectTrack:
    """A target's track, raised or lowered to the clearance of its source's, in proportion to the bodies' sizes.

    Clearance is of the lowest point above the lowest that a body ever was in the clips that it was learnt from, so a
    jump stays one.  What is changed is smoothed over time.  source_floor: metres, where the source's world was levelled
    and its own floor is of the world before, see ``track_floor``.  Raises InputError for tracks of different length.
    """
    if len(track) != len(source_track):
        raise InputError(f"The target's track has {len(track)} frames and the source's {len(source_track)}.")
    floor = source.floor if source_floor is None else source_floor
    clearance = (source.lowest(source_track) - floor) * (target.size / source.size)
    short = target.floor + clearance - target.lowest(track)
    lifted = track.translations.copy()
    lifted[:, 2] += gaussian_filter1d(short, SMOOTHING * fps, mode="nearest")
    return SubjectTrack(track.rows, track.rotations, lifted)


def track_floor(subject: Subject, tracks: list[SubjectTrack]) -> float:
    """Height of the ground under a subject's tracks, metres, as ``ground_of`` tells it of its clips."""
    return ground_below([subject.lowest(track) for track in tracks])
