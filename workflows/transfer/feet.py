"""The feet of Transfer's target: looked for in its own clips, held in what it performs."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...scene import binding_store
from ...solvers.core.errors import InputError
from ...solvers.shapes.feet_motion import FeetMotion
from ...solvers.shapes.mesh_feet import find_feet, lowest_ground
from ...solvers.shapes.planter import Planter, Plants, reach_of
from ...solvers.surface.followed_ground import Ground
from ...solvers.surface.weld import staying_together
from ...solvers.transfer.subject import Subject, SubjectTrack
from ..mesh.feet_task import NONE_FOUND, OFF_GROUND, FeetTask, feet_inputs, own_frames
from .model import subjects_of
from .store import NewClip, Subjects

# Of its own clips so many frames are looked at together, of each the same share, from its first one on.
_MOST_OWN = 320
_AT_ONCE = 8


@dataclass(frozen=True)
class TransferFeetTask(FeetTask):
    """track: what the target does over the clip.  whole: (correct, stitch), see
    ``Subject.assemble``.  on_the_spot: it does not travel."""

    subjects: Subjects
    track: SubjectTrack
    whole: tuple[bool, bool]
    on_the_spot: bool

    @property
    def poses(self) -> tuple[int, int]:
        faces = len(self.subjects.target.triangles)
        return faces * sum(len(track) for track in self._own_tracks()), faces * len(self.track)

    def own_steps(self) -> Generator[float, None, Planter | str]:
        subject, tracks, found = self.subjects.target, self._own_tracks(), []
        for number, track in enumerate(tracks):
            own = np.empty((len(track), len(subject.reference), 3), np.float32)
            for frame in range(len(track)):
                own[frame] = _posed(subject, track, frame, (True, True))
                if frame % _AT_ONCE == 0:
                    yield (number + frame / len(track)) / len(tracks)
            found.append(own)
        whole, same = np.concatenate(found), staying_together(subject.captured)
        feet = find_feet(whole, subject.triangles, lowest_ground(whole), self.inputs.mask, same)
        if not len(feet):
            return NONE_FOUND
        vertices, fps = np.concatenate([foot.vertices for foot in feet.feet]), self.subjects.fps
        motions = [
            (np.arange(len(own)) / fps, own[:, vertices].astype(float), track.translations[:, :2])
            for own, track in zip(found, tracks, strict=True)
        ]
        return Planter.learn(feet, subject.reference, subject.triangles, same, motions)

    def clip_steps(self, planter: Planter) -> Generator[float, None, Plants]:
        track, vertices = self.track, planter.points.vertices
        points = np.empty((len(track), len(vertices), 3))
        for frame in range(len(track)):
            points[frame] = _posed(self.subjects.target, track, frame, self.whole)[vertices]
            if frame % _AT_ONCE == 0:
                yield frame / len(points)
        times, places = np.arange(len(track)) / self.fps, track.translations[:, :2]
        choices = replace(self.inputs.choices, may_root=not self.on_the_spot)
        if self.inputs.ground is None:
            return planter.plants(times, points, places, None, choices)
        ground = Ground.first_below(self.inputs.ground, places, points[0, :, 2].min() + reach_of(planter))
        if ground is None:
            raise InputError(OFF_GROUND)
        # By so much it is moved up as a whole, so that its lowest points are about on the ground: it goes up and down
        # by itself as its source did, who may have walked there.
        lowest = FeetMotion(planter.points, times, points, places, ground).clearances.min(axis=1)
        up = np.full(len(points), -float(np.median(lowest)))
        return planter.plants(times, points, places, ground, choices, up)

    def _own_tracks(self) -> list[SubjectTrack]:
        clips = [target.track for _, target in self.subjects.clips.values()]
        most = max(own_frames(_MOST_OWN, len(self.subjects.target.reference)) // len(clips), 2)
        return [_first(track, most, self.on_the_spot) for track in clips]


def feet_task(ob, scene, depsgraph, track_key: str, track: SubjectTrack, clip: NewClip) -> TransferFeetTask | None:
    """What is to be solved for an object's feet over a track; None where they are free.

    track_key: tells the track, of a clip, from others.  Raises as ``feet_inputs``.
    """
    settings = ob.motion_loom_transfer
    on_the_spot, whole = settings.travel == "NONE", (settings.correct, settings.stitch)
    own, over = (*binding_store.mark(settings.subjects), on_the_spot), (track_key, *whole, float(clip.frames[0]))
    inputs = feet_inputs(ob, "transfer", settings, scene, depsgraph, own, over, clip.frames)
    if inputs is None:
        return None
    return TransferFeetTask(inputs, float(clip.frames[0]), clip.fps, subjects_of(ob), track, whole, on_the_spot)


def _first(track: SubjectTrack, most: int, on_the_spot: bool) -> SubjectTrack:
    """So many frames of a track at most, from the first one."""
    translations = track.translations[:most].copy()
    if on_the_spot:
        translations[:, :2] = translations[:1, :2]
    return SubjectTrack(tuple(rows[:most] for rows in track.rows), track.rotations[:most], translations)


def _posed(subject: Subject, track: SubjectTrack, frame: int, whole: tuple[bool, bool]) -> np.ndarray:
    """(V, 3) world."""
    local = subject.assemble(tuple(rows[frame] for rows in track.rows), *whole)
    return local @ track.rotations[frame].T + track.translations[frame]
