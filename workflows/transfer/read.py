"""Read: the clips of both subjects, as poses of their body parts; and a new clip of the source subject."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ...scene import binding_store, live_mesh
from ...scene.animated_range import range_to_read
from ...scene.discarding import discard
from ...scene.frames import frames_around, require_range
from ...scene.mesh_sequence import MeshSequence, mesh_sequence_steps
from ...scene.motion import frames_per_second
from ...scene.part_groups import part_masks, part_numbers
from ...scene.restored import restored_after_error
from ...scene.rigs import require_editable
from ...scene.session import object_of
from ...scene.topology import read_faces, splits
from ...solvers.core.errors import InputError, SceneError
from ...solvers.core.subsampling import evenly_spaced_indices
from ...solvers.transfer.clip_scale import clip_scale
from ...solvers.transfer.handedness import is_mirrored
from ...solvers.transfer.subject import Subject
from ..command_line.words import counted
from ..core.base import Steps, names_what_is_too_large, relayed, within
from ..mesh.faces import faces_mark, is_split_by
from ..mesh.live import require_copy_if_live
from ..mesh.other_meshes import other_meshes
from ..mesh.plants import note_known
from .model import clip_name, clip_number, subjects_of
from .settings import clip_signature, parts_signature
from .standing import axis_of_clips, lying_text, require_alike
from .store import NewClip, StoredClip, Subjects, pack_clip, pack_subjects

WHOLE = "Body"  # the only part where none are named
_MOST_NUMBERS = 4e8  # of one subject's clips together, single precision
_SAMPLES = 200  # vertices by which a clip is known again: an edit of a hand moves some of them
_FLAT = 1e6  # largest over smallest scale above which an object counts as flat


@dataclass(frozen=True)
class _Side:
    """One subject, what it does in each clip of the list, and the world matrix (4, 4) of its object at the start."""

    subject: Subject
    clips: list[StoredClip]
    place: np.ndarray


@names_what_is_too_large("reading the clips of")
def read_steps(context, ob) -> Steps:
    """Read the clips in use of both subjects, with progress; the scene is changed after the last step only."""
    require_editable(ob)
    settings = ob.motion_loom_transfer
    require_copy_if_live(ob, settings)
    source = source_subject(context, ob)
    _require_mesh(context.scene, ob, "target subject")
    if not len(settings.clips):
        raise InputError(f"'{ob.name}' has no clips to learn from; add a pair of clips.")
    clips = [clip for clip in settings.clips if clip.use]
    if not clips:
        raise InputError(f"No clip of '{ob.name}' is in use; switch one on.")
    for clip in clips:
        for of, subject in (("source", source), ("target", ob)):
            _require_clip(context.scene, clip, of, subject)
    names, masks = masks_of(ob, source)
    sides = []
    with live_mesh.shown(context, ob):
        for number, (of, subject) in enumerate((("source", source), ("target", ob))):
            reading = _side(context, clips, of, subject, names, masks[number])
            sides.append((yield from within(reading, 0.48 * number, 0.48 * (number + 1))))
    yield 0.96, "Comparing how they stand"
    axis = axis_of_clips(*((side.subject, side.clips[0].track) for side in sides))
    require_alike(source.name, ob.name, axis, "press Read Clips")
    yield 0.97, "Storing"
    with restored_after_error(ob):
        return _store(context, ob, clips, *sides)


def source_subject(context, ob):
    """The mesh object of the source subject; SceneError where it is none, or not in the scene."""
    source = ob.motion_loom_transfer.source
    if source is None:
        raise SceneError("Choose the source subject: a mesh whose movements this one is to perform.")
    if source == ob:
        raise SceneError(own_source(ob))
    _require_mesh(context.scene, source, "source subject")
    return source


def own_source(ob) -> str:
    """What is wrong with a source subject that is the target."""
    return f"'{ob.name}' cannot be its own source subject; choose another mesh."


def masks_of(ob, source) -> tuple[tuple[str, ...], tuple[np.ndarray, np.ndarray]]:
    """Names (K,) of the parts, and which vertices (K, V) belong to them: of the source subject, and of the target.

    Without parts the whole body is one.  Raises InputError naming a part without a group.
    """
    parts = ob.motion_loom_transfer.parts
    if not len(parts):
        return (WHOLE,), tuple(np.ones((1, len(subject.data.vertices)), bool) for subject in (source, ob))
    for part in parts:
        for group, subject in ((part.source_group, source), (part.target_group, ob)):
            if not group:
                raise InputError(f"Part '{part.name}' has no vertex group of '{subject.name}'; choose one.")
            with _named_part(part.name):
                part_numbers(subject, [group])
    for of in ("source_group", "target_group"):
        first: dict[str, str] = {}
        for part in parts:
            other = first.setdefault(getattr(part, of), part.name)
            if other != part.name:
                group = getattr(part, of)
                raise InputError(
                    f"Parts '{other}' and '{part.name}' have the same vertex group '{group}'; choose another."
                )
    names = tuple(part.name for part in parts)
    of_source = part_masks(source, [part.source_group for part in parts])
    return names, (of_source, part_masks(ob, [part.target_group for part in parts]))


@contextmanager
def _named_part(name: str) -> Iterator[None]:
    """Says which part names the group that there is not."""
    try:
        yield
    except InputError as error:
        raise InputError(f"Part '{name}': {error}") from error


def _require_clip(scene, clip, of: str, subject) -> None:
    """Raises SceneError or InputError, by the clip's number, for an object or a range that cannot be read."""
    name, owner = f"{clip_name(clip)}, {of}", getattr(clip, of)
    if owner is None:
        raise SceneError(f"{name}: choose a mesh that performs it.")
    _require_mesh(scene, owner, name)
    start, end = getattr(clip, f"{of}_start"), getattr(clip, f"{of}_end")
    require_range(start, end, f"{name}: the range of '{owner.name}'")
    if end < start:
        raise InputError(f"{name}: the range {start} to {end} is empty; let it end after it starts.")
    if end == start:
        raise InputError(f"{name}: frames {start} to {end} are fewer than two; choose more.")
    if len(owner.data.vertices) != len(subject.data.vertices):
        raise InputError(
            f"{name}: '{owner.name}' has {len(owner.data.vertices)} vertices and '{subject.name}' has "
            f"{len(subject.data.vertices)}: one subject has the same mesh in all its clips; choose another object."
        )
    if not read_faces(owner.data).same_as(read_faces(subject.data)):
        raise InputError(
            f"{name}: '{owner.name}' has other faces than '{subject.name}': one subject has the same mesh in all its "
            "clips; choose another object."
        )


def _require_mesh(scene, ob, name: str) -> None:
    if ob.type != "MESH":
        raise SceneError(f"{name}: '{ob.name}' is of type {ob.type}; choose a mesh.")
    if live_mesh.is_live(ob):
        raise SceneError(f"{name}: '{ob.name}' is the live copy of another mesh: bake it and choose the result.")
    if object_of(scene, ob.session_uid, ob.name) is None:
        raise SceneError(f"{name}: '{ob.name}' is not in the scene '{scene.name}'; link it, or choose another one.")
    if ob.data.is_editmode:
        raise SceneError(f"{name}: '{ob.name}' is being edited; leave Edit Mode.")
    if not len(ob.data.polygons):
        raise InputError(f"{name}: '{ob.name}' has no faces; choose a mesh that has a surface.")


def _side(context, clips, of: str, subject, names, mask) -> Generator[tuple[float, str], None, _Side]:
    ends = [(getattr(clip, f"{of}_start"), getattr(clip, f"{of}_end")) for clip in clips]
    if 3.0 * len(subject.data.vertices) * sum(end - start + 1 for start, end in ends) > _MOST_NUMBERS:
        raise InputError(f"The clips of the {of} are too long to be learnt from together; shorten or remove some.")
    frames, sequences = [np.arange(start, end + 1.0) for start, end in ends], []
    for number, clip in enumerate(clips):
        steps = mesh_sequence_steps(context, getattr(clip, of), frames[number])
        share = (0.7 * number / len(frames), 0.7 * (number + 1) / len(frames))
        sequence = yield from relayed(steps, *share, f"Reading the {of}'s clips")
        _require_faces(sequence, clip_name(clip), subject)
        _require_solid(sequence)
        sequences.append(sequence)
    worlds = [world_vertices(sequence) for sequence in sequences]
    components = clips[0].id_data.motion_loom_transfer.components
    steps = Subject.learn_steps(worlds, sequences[0].triangles, mask, names, components=components)
    try:
        learnt = yield from relayed(steps, 0.7, 0.95, f"Learning the {of}'s poses")
    except InputError as error:
        raise InputError(f"'{subject.name}': {error}") from error
    stored = [StoredClip(learnt.read(world), rows) for world, rows in zip(worlds, frames, strict=True)]
    return _Side(learnt, stored, sequences[0].worlds[0])


def _require_faces(sequence: MeshSequence, name: str, subject) -> None:
    """Raises InputError where modifiers make another mesh than the subject's."""
    is_same = sequence.vertices.shape[1] == len(subject.data.vertices)
    # The same faces may be split otherwise in another pose.
    if not is_same or not splits(read_faces(subject.data), sequence.triangles, False):
        raise InputError(
            f"{name}: the modifiers of '{sequence.name}' add or remove vertices or faces before it is deformed; move "
            "those to the end of the stack, or switch them off in viewports."
        )


def _require_solid(sequence: MeshSequence) -> None:
    """Raises InputError where the object was flat."""
    flat = np.linalg.cond(sequence.worlds[:, :3, :3]) >= _FLAT
    if flat.any():
        raise InputError(
            f"'{sequence.name}' has a scale of zero at frame {sequence.frames[flat.argmax()]:g}; give it another one."
        )


def world_vertices(sequence: MeshSequence) -> np.ndarray:
    """(F, V, 3) float32, metres."""
    turned = np.einsum("fvj,fij->fvi", sequence.vertices, sequence.worlds[:, :3, :3].astype(np.float32), optimize=True)
    return turned + sequence.worlds[:, None, :3, 3].astype(np.float32)


def _store(context, ob, used: list, source: _Side, target: _Side) -> str:
    settings = ob.motion_loom_transfer
    # Unlike all others, also where two clips are of the same.
    names = [f"{clip_number(clip)}: {clip_signature(clip)}" for clip in used]
    clips = dict(zip(names, zip(source.clips, target.clips, strict=True), strict=True))
    fps = frames_per_second(context.scene)
    mark = faces_mark(ob)
    subjects = Subjects(source.subject, target.subject, clips, fps, target.place, len(ob.data.polygons), mark)
    replaced = settings.subjects, settings.learnt, settings.clip
    settings.subjects = binding_store.save(ob.name, *pack_subjects(subjects))
    for clip in settings.clips:
        clip.stored = clip.read_as = ""
    for clip, name in zip(used, names, strict=True):
        clip.stored = clip.read_as = name
    note_known(settings)
    # Poses have other components now.
    settings.learnt = settings.clip = None
    settings.learnt_summary = settings.learnt_of = settings.clip_summary = ""
    frames = sum(len(clip.frames) for clip in target.clips)
    parts = counted(len(settings.parts) or 1, "part")
    settings.parts_read = parts_signature(settings)
    settings.subjects_summary = f"{counted(len(names), 'clip')}, {frames} frames of the target, {parts}"
    notes = _unseen_meshes(context.scene, ob)
    settings.subjects_notes = "\n".join(notes)
    for mesh in replaced:
        discard(mesh)
    read = f"Read '{settings.source.name}' and '{ob.name}': {settings.subjects_summary}"
    return ". ".join((read, *(note.removesuffix(".") for note in notes)))


def _unseen_meshes(scene, ob) -> list[str]:
    """Sentences on other meshes of either body, each with the way out."""
    settings = ob.motion_loom_transfer
    performing = [owner for clip in settings.clips for owner in (clip.source, clip.target)]
    known, told = (ob, settings.source, settings.performed, *performing), []
    if others := other_meshes(scene, settings.source, known):
        told.append(
            f"{others}, of which nothing is learnt: '{settings.source.name}' alone is looked at. Where they tell how "
            "it moves, join them (or copies of them), in all that perform it, and press Read Clips."
        )
    if others := other_meshes(scene, ob, known):
        told.append(
            f"{others}, which '{ob.name}' does not take along: it moves and stands by itself. For one body, join those "
            "that it deforms (or copies of them), in all of its clips, and press Read Clips."
        )
    return told


# ------------------------------------------------------------------------------------------------------ new clip


def performed_frames(scene, settings) -> tuple[np.ndarray, str | None]:
    """Scene frames (F,) of the new clip, and why the scene's range is in them, None where it is not.

    Raises InputError for an empty range.
    """
    if settings.use_performed_range:
        start, end, because = settings.performed_start, settings.performed_end, None
    else:
        start, end, because = range_to_read(scene, [settings.performed])
    require_range(start, end, "The range of the new clip")
    start, end = frames_around(start, end)
    if end < start:
        raise InputError(f"The range of the new clip, {start} to {end}, is empty; let it end after it starts.")
    return np.arange(start, end + 1.0), because


def performed_object(context, ob):
    """The mesh object whose motion is to be transferred; SceneError or InputError where it cannot be."""
    settings = ob.motion_loom_transfer
    performed, subject = settings.performed, subjects_of(ob).source
    if performed is None:
        raise SceneError("Choose the new clip: a mesh with the source subject's vertices.")
    if performed == ob:
        raise SceneError(f"'{ob.name}' cannot be its own new clip; choose a mesh of the source subject.")
    _require_mesh(context.scene, performed, "New clip")
    count = len(subject.reference)
    if len(performed.data.vertices) != count:
        raise InputError(
            f"'{performed.name}' has {len(performed.data.vertices)} vertices and the source subject has {count}; "
            "choose a mesh of that subject."
        )
    if not is_split_by(performed, subject.triangles, binding_store.mark(settings.subjects)):
        raise InputError(other_faces(performed, "choose a mesh of that subject"))
    return performed


def other_faces(performed, remedy: str) -> str:
    """What is wrong with a new clip of as many vertices whose faces are others."""
    return f"'{performed.name}' has other faces than the source subject, so that its vertices are others; {remedy}."


def read_clip_steps(context, ob) -> Generator[tuple[float, str], None, NewClip]:
    """Read the new clip as it is now; nothing is changed, see ``store_clip``."""
    performed, subjects = performed_object(context, ob), subjects_of(ob)
    frames, because = performed_frames(context.scene, ob.motion_loom_transfer)
    count = len(subjects.source.reference)
    if 3.0 * len(frames) * count > _MOST_NUMBERS:
        raise InputError(
            f"The new clip '{performed.name}' has {len(frames):,} frames of {count:,} vertices, which are too many to "
            "be read together; choose a part of its range."
        )
    steps = mesh_sequence_steps(context, performed, frames, may_rest=True)
    sequence = yield from relayed(steps, 0.0, 0.9, "Reading the new clip")
    if sequence.vertices.shape[1] != count:
        raise InputError(
            f"The modifiers of '{performed.name}' add or remove vertices before it is deformed; move those to the end "
            "of the stack, or switch them off in viewports."
        )
    _require_solid(sequence)
    vertices = world_vertices(sequence)
    if is_mirrored(vertices, subjects.source):
        raise InputError(
            f"'{performed.name}' is mirrored, unlike the clips that the source subject was read from; remove the "
            "negative scale of it or of its parents, or give those clips the same."
        )
    samples = evenly_spaced_indices(vertices.shape[1], _SAMPLES)
    places = np.ascontiguousarray(vertices[:, samples])
    fps, scale = frames_per_second(context.scene), clip_scale(vertices, subjects.source)
    if scale != 1.0:  # else exactly as the subject's own clips were read
        vertices = vertices / np.float32(scale)
    return NewClip(subjects.source.read(vertices), frames, samples, places, fps, scale, because)


def store_clip(ob, clip: NewClip) -> None:
    """Keep a reading of the new clip in place of the one before."""
    with restored_after_error(ob):
        _keep_clip(ob.motion_loom_transfer, clip)


def _keep_clip(settings, clip: NewClip) -> None:
    settings.clip_is_other = False
    old, settings.clip = settings.clip, binding_store.save(settings.id_data.name, *pack_clip(clip))
    size = "" if clip.scale == 1.0 else f", {clip.scale:.3g} times the subject's size"
    held = ", one pose that is held" if clip.is_held else ""
    because = f" ({clip.because})" if clip.because else ""
    frames = f"frames {clip.frames[0]:g} to {clip.frames[-1]:g}{because}"
    lying = lying_text(clip.track, [source.track for source, _ in subjects_of(settings.id_data).clips.values()])
    settings.clip_summary = f"'{settings.performed.name}', {frames}{size}{held}{lying}"
    discard(old)
