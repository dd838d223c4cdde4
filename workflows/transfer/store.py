"""What Transfer has read of two subjects, learnt of their pairs and read of a new clip, as the .blend can hold it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...solvers.transfer.subject import Subject, SubjectTrack
from ...solvers.transfer.surface_transfer import SurfaceTransfer
from ..core.stored_arrays import (
    StoredKind,
    by_part,
    flattened,
    require_indices,
    require_positive,
    require_rising,
    require_shapes,
    require_texts,
)

# Numbers of a pose that differ by less than this share of the largest are the same: what single precision leaves.
_HELD = 1e-5
_SUBJECTS = StoredKind("transfer subjects", 1, "clips", "press Read Clips")
_LEARNT = StoredKind("transfer learnt", 1, "regressions", "press Train")
_CLIP = StoredKind("transfer clip", 1, "poses of the new clip", "press Refresh")


@dataclass(frozen=True)
class StoredClip:
    """One subject's captured clip: its track, and the scene frames (F,) of it."""

    track: SubjectTrack
    frames: np.ndarray


@dataclass(frozen=True)
class Subjects:
    """Both subjects, and their clips by name: (source, target).

    fps: scene frames a second.  place: (4, 4) world matrix of the target's object at the first frame of its first clip.
    faces, mark: how many the target's mesh had, and ``mesh.faces.faces_mark`` of it, to tell whether it changed.
    """

    source: Subject
    target: Subject
    clips: dict[str, tuple[StoredClip, StoredClip]]
    fps: float
    place: np.ndarray
    faces: int
    mark: str

    @cached_property
    def home(self) -> np.ndarray:
        """(4, 4) takes the torso's frame at the first frame of the target's first clip to the target object's space."""
        first = next(iter(self.clips.values()))[1].track
        return np.linalg.solve(self.place, matrices(first)[0])


@dataclass(frozen=True)
class NewClip:
    """What was read of a clip to be transferred: its track at scene frames (F,).

    samples: (S,) some vertices.  places: (F, S, 3) float32 where they were, world, metres: tells later whether the clip
    is still so.  fps: scene frames a second.  scale: how many times larger it is than the subject; the track is of the
    subject's size.  because: why the scene's range is in the frames, where that was found out now.
    """

    track: SubjectTrack
    frames: np.ndarray
    samples: np.ndarray
    places: np.ndarray
    fps: float
    scale: float
    because: str | None = None

    @property
    def is_held(self) -> bool:
        """Whether it is a single pose, which may be carried about."""
        rows = np.concatenate(self.track.rows, axis=1)
        return bool(np.ptp(rows, axis=0).max() <= _HELD * np.abs(rows).max())


def matrices(track: SubjectTrack) -> np.ndarray:
    """(F, 4, 4) from the torso's frame to the world."""
    out = np.zeros((len(track.translations), 4, 4))
    out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = track.rotations, track.translations, 1.0
    return out


def pack_subjects(subjects: Subjects) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and header for ``scene.binding_store``."""
    parts = {"source": subjects.source.to_arrays(), "target": subjects.target.to_arrays()}
    for number, pair in enumerate(subjects.clips.values()):
        for of, clip in zip(("source", "target"), pair, strict=True):
            parts[f"{of} clip {number}"] = _clip_arrays(clip.track, clip.frames)
    parts["home"] = {"place": subjects.place}
    arrays, texts = flattened(parts, "/")
    clips = list(subjects.clips)
    return arrays, _SUBJECTS.header(fps=subjects.fps, clips=clips, faces=subjects.faces, mark=subjects.mark, **texts)


def unpack_subjects(arrays: dict[str, np.ndarray], header: dict) -> Subjects:
    """The reverse of ``pack_subjects``; raises StaleBindingError for another format."""
    with _SUBJECTS.checked(header):
        found = by_part(arrays, header, "/")
        require_shapes(found["home"], {"place": "f 4 4"})
        require_positive(header, "fps")
        require_texts(header["clips"], len(header["clips"]), "clips")
        for of in ("source", "target"):
            sizes = require_shapes(found[of], {"reference": "f V 3", "triangles": "iu T 3", "memberships": "biu K V"})
            require_indices(found[of]["triangles"], 0, sizes["V"], "triangles")
        subjects = _unpacked_subjects(found, header)
        for pair in subjects.clips.values():
            for subject, clip in zip((subjects.source, subjects.target), pair, strict=True):
                subject.assemble(tuple(rows[0] for rows in clip.track.rows))
        if not subjects.clips or not isinstance(subjects.faces, int) or not isinstance(subjects.mark, str):
            raise ValueError("there are no clips, or no mark of the mesh")
        return subjects


def _unpacked_subjects(found: dict[str, dict[str, np.ndarray]], header: dict) -> Subjects:
    clips = {
        name: tuple(StoredClip(*_clip_of(found[f"{of} clip {number}"])) for of in ("source", "target"))
        for number, name in enumerate(header["clips"])
    }
    source, target = (Subject.from_arrays(found[of]) for of in ("source", "target"))
    return Subjects(source, target, clips, header["fps"], found["home"]["place"], header["faces"], header["mark"])


def pack_learnt(learnt: SurfaceTransfer) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and header for ``scene.binding_store``."""
    arrays, texts = flattened({"transfer": learnt.to_arrays()}, "/")
    return arrays, _LEARNT.header(**texts)


def unpack_learnt(arrays: dict[str, np.ndarray], header: dict) -> SurfaceTransfer:
    """The reverse of ``pack_learnt``; raises StaleBindingError for another format."""
    with _LEARNT.checked(header):
        learnt = SurfaceTransfer.from_arrays(by_part(arrays, header, "/")["transfer"])
        for regression in learnt.regressions:
            if not np.isfinite(regression.predict(regression.input_mean[None])).all():
                raise ValueError("a prediction is not a number")
        turn = learnt.turn and learnt.turn.regression
        if turn is not None and not np.isfinite(turn.predict(turn.input_mean[None])).all():
            raise ValueError("a turn is not a number")
        require_shapes({"level": learnt.level}, {"level": "f 3 3"})
        return learnt


def pack_clip(clip: NewClip) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and header for ``scene.binding_store``."""
    samples = {"samples": clip.samples, "places": clip.places}
    arrays, texts = flattened({"clip": _clip_arrays(clip.track, clip.frames), "seen": samples}, "/")
    return arrays, _CLIP.header(fps=clip.fps, scale=clip.scale, **texts)


def unpack_clip(arrays: dict[str, np.ndarray], header: dict) -> NewClip:
    """The reverse of ``pack_clip``; raises StaleBindingError for another format."""
    with _CLIP.checked(header):
        found = by_part(arrays, header, "/")
        seen = found["seen"]
        sizes = require_shapes(seen, {"samples": "iu S", "places": "f F S 3"})
        require_indices(seen["samples"], 0, np.inf, "samples")
        require_positive(header, "fps", "scale")
        parts = *_clip_of(found["clip"]), seen["samples"], seen["places"]
        clip = NewClip(*parts, header["fps"], header["scale"])
        if len(clip.frames) != sizes["F"]:
            raise ValueError("'places' are of other frames")
        return clip


def _clip_arrays(track: SubjectTrack, frames: np.ndarray) -> dict[str, np.ndarray]:
    rows = {f"rows {part}": values for part, values in enumerate(track.rows)}
    return rows | {"rotations": track.rotations, "translations": track.translations, "frames": frames}


def _clip_of(arrays: dict[str, np.ndarray]) -> tuple[SubjectTrack, np.ndarray]:
    count = sum(name.startswith("rows ") for name in arrays)
    expected = {f"rows {part}": f"f F D{part}" for part in range(count)}
    require_shapes(arrays, expected | {"rotations": "f F 3 3", "translations": "f F 3", "frames": "fi F"})
    require_rising(arrays["frames"])
    rows = tuple(arrays[f"rows {part}"] for part in range(count))
    return SubjectTrack(rows, arrays["rotations"], arrays["translations"]), arrays["frames"]
