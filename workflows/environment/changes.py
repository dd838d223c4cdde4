"""What has moved since a rig was bound, and by how much: to bind again takes that for the original."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...scene.environment_state import present_tracks
from ...scene.meshes import read_surface
from ...scene.topology import fingerprint
from ...solvers.core.errors import MotionLoomError, StaleBindingError
from ...solvers.core.types import MeshTrack
from ...solvers.surface.bound_changes import NOTHING, Change, change_of_faces, change_of_points
from ...solvers.surface.descriptor_frames import descriptor_frames
from ..core.base import Question
from ..rig.action import plays_result, to_bind_played
from ..rig.source import Source, reread_source
from .body import scale_since_bind
from .model import stored_of
from .store import Stored
from .surfaces import why_gone

_MEANING = "All this counts as the original from then on, and the motion is no longer fitted to it"
# A character whose size differs by less has the size it had.
_SAME_SIZE = 1e-3
_TOLD = 6  # objects that are named


def bound_before(ob, workflow) -> Stored | None:
    """What a rig is bound to, or None where nothing is or it cannot be read."""
    try:
        return stored_of(ob, workflow)
    except MotionLoomError:
        return None


def number_of(ob, workflow, stored: Stored | None, target) -> int | None:
    """Which of the bound objects an object is, or None."""
    names = stored.binding.objects if stored is not None else ()
    found = [item.bound_name for item in workflow.settings_of(ob).surfaces if item.target == target]
    return next((names.index(name) for name in found if name in names), None)


def bound_triangles_of(stored: Stored | None, ob, workflow) -> dict[str, np.ndarray]:
    """Triangles at bind of each object that is still there, by its present name."""
    items = [item for item in workflow.settings_of(ob).surfaces if item.target is not None]
    numbers = {item.target.name_full: number_of(ob, workflow, stored, item.target) for item in items}
    return {name: stored.triangles[k] for name, k in numbers.items() if k is not None}


def change_of(stored: Stored, number: int, now: MeshTrack, frames: np.ndarray) -> Change | None:
    """How far an object is from where it was bound, or None where that is not known.

    now: it at scene frames (F,), one state where it stands still.
    """
    bound = stored.surface(number)
    is_edited = fingerprint(now) != stored.fingerprints[number]
    if bound is None and is_edited:
        return None
    _, then, here = np.intersect1d(stored.binding.track.frames, frames, return_indices=True)
    if not then.size and not (now.is_static and (bound is None or bound.is_static)):
        return None
    if is_edited:
        return change_of_faces(_at(bound, then), _at(now, here))
    if bound is not None:
        return change_of_points(_at(bound, then).vertices, _at(now, here).vertices)
    one = stored.binding.among(np.array([number]))
    before = one.origins if len(one.origins) == 1 else one.origins[then]
    return change_of_points(before, descriptor_frames(one.points, [_at(now, here)])[0])


def _at(mesh: MeshTrack, rows: np.ndarray) -> MeshTrack:
    return mesh if mesh.is_static else MeshTrack(mesh.name, mesh.vertices[rows], mesh.triangles)


def changes_of_set(ob, workflow, stored: Stored | None, targets, environment: Sequence[MeshTrack], frames) -> list[str]:
    """What has moved of the objects that are bound, a sentence each. environment: each object at frames (F,)."""
    found = []
    for target, mesh in zip(targets, environment, strict=True):
        number = number_of(ob, workflow, stored, target)
        if number is not None:
            found.append((target.name_full, change_of(stored, number, mesh, frames)))
    return worst_in_words(found, stored.binding.scale) if found else []


def worst_in_words(found: Sequence[tuple[str, Change | None]], scale: float) -> list[str]:
    """Sentences of the objects that have moved farthest, and how many more have moved. found: names and changes."""
    found = sorted(found, key=lambda pair: -np.inf if pair[1] is None else -pair[1].distance)
    told = [text for text in (in_words(name, change, scale) for name, change in found) if text]
    more = len(told) - _TOLD
    return told if more <= 0 else [*told[:_TOLD], f"{more} more {'has' if more == 1 else 'have'} moved or changed less"]


def in_words(name: str, change: Change | None, scale: float) -> str | None:
    """A sentence without its full stop, None where nothing has moved. scale: body height / 1.8 m."""
    if change is None:
        return f"'{name}' was edited, and how it was when it was bound is not known"
    if not change.counts(scale):
        return None
    far = length_in_words(change.distance)
    if change.is_edited:
        return f"'{name}' was edited and is up to {far} from where it was"
    return f"'{name}' has moved by {far}" if change.is_rigid else f"'{name}' has changed shape by up to {far}"


def changes_of_rig(ob, workflow, stored: Stored | None, source: Source | None) -> list[str]:
    """How the rig's motion, object and size differ from those at bind, a sentence each. source: of the motion now."""
    if stored is None or source is None:
        return []
    out, binding = [], stored.binding
    if plays_result(ob, workflow):
        result = workflow.settings_of(ob).result.name
        out.append(f"'{ob.name}' plays the result '{result}', not the motion that was bound")
    _, then, here = np.intersect1d(binding.track.frames, source.track.frames, return_indices=True)
    if then.size:
        before = stored.object_world[then[0] if len(stored.object_world) > 1 else 0, :3, 3]
        away = np.linalg.norm(source.motion.object_world[here[0], :3, 3] - before)
        if away > NOTHING * binding.scale:
            out.append(f"'{ob.name}' has moved by {length_in_words(away)}")
    if source.track.skeleton.names == binding.track.skeleton.names:
        size = scale_since_bind(source.track.positions, binding)
        if abs(size - 1.0) > _SAME_SIZE:
            out.append(f"'{ob.name}' is {size:.3g} times as large")
    return out


def length_in_words(metres: float) -> str:
    """Of metres, for the user."""
    return f"{metres:.3g} m" if metres >= 10.0 else f"{100 * metres:.3g} cm"


def counted_anew(changes: Sequence[str]) -> tuple[str, ...]:
    """Notes of a new binding, which takes what has moved for the original."""
    return tuple(f"{text}: this counts as the original now" for text in changes)


# ---------------------------------------------------------------------------------------------------- questions


def question_of_bind(context, ob, workflow) -> Question | None:
    """What to bind again would take for the original, as far as the present frame and curves tell; None for nothing."""
    stored = bound_before(ob, workflow)
    if stored is None:
        return None
    found = []
    for item in workflow.settings_of(ob).surfaces:
        number = number_of(ob, workflow, stored, item.target)
        if number is not None and not why_gone(context.scene, item) and not item.target.hide_viewport:
            now = present_object(context, item.target, stored, number)
            found.append((item.target.name_full, change_of(stored, number, *now)))
    of_rig = changes_of_rig(ob, workflow, stored, _first_frame(context, ob, workflow, stored))
    lines = (*worst_in_words(found, stored.binding.scale), *of_rig)
    return Question(lines, _MEANING, "Bind to the Set as It Is Now") if lines else None


def present_object(context, target, stored: Stored, number: int) -> tuple[MeshTrack, np.ndarray]:
    """An object and the frames that it is known at: all bound ones, or the present one where that takes stepping."""
    depsgraph, triangles = context.evaluated_depsgraph_get(), stored.triangles[number]
    frames = stored.binding.track.frames
    found = present_tracks(context.scene, depsgraph, [target], frames, {target.name_full: triangles})
    if found is not None:
        return found[0][0], frames
    state, triangles = read_surface(target, depsgraph, triangles)
    mesh = state.surface(triangles)
    return MeshTrack(mesh.name, mesh.vertices[None], triangles), np.array([context.scene.frame_current_final])


def _first_frame(context, ob, workflow, stored: Stored) -> Source | None:
    """The motion that would be bound, at the first bound frame; None where its bones are others."""
    track = stored.binding.track
    try:
        with to_bind_played(ob, workflow):
            names, height = track.skeleton.names, stored.binding.height
            controls = stored.controls and stored.controls.on(ob)
            return reread_source(context, ob, track.frames[:1], names, stored.solved, stored.hung, height, controls)
    except StaleBindingError:
        return None
