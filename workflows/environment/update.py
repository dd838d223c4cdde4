"""Bring a binding up to date with its list of objects: what stays in it stays bound as it was."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...scene.interference import refuse_dependent
from ...scene.meshes import read_surface, sweep_environment
from ...scene.restored import restored_after_error
from ...scene.rigs import require_armature, require_editable
from ...scene.surfaces import expand
from ...scene.topology import fingerprint
from ...solvers.adapt.binding import fit_steps
from ...solvers.core.errors import SceneError, StaleBindingError
from ...solvers.core.types import MeshTrack
from ...solvers.surface.bound_changes import Change
from ..core.base import Question, relayed, run_to_end
from ..core.naming import listed
from .bind import bound_report, store_binding
from .changes import change_of, counted_anew, in_words, number_of, present_object, worst_in_words
from .model import stored_of
from .replaced import is_replaced
from .store import Stored, kept_surface, not_kept
from .surface_notes import avoided_among, behind_notes, surface_notes
from .surfaces import why_gone


@dataclass(frozen=True)
class _Entry:
    """target: an object to be bound.  number: among what is bound, None where it is new.  is_edited: its faces are
    others than at bind."""

    target: Any
    number: int | None
    is_edited: bool

    @property
    def is_kept(self) -> bool:
        return self.number is not None and not self.is_edited


def objects_in_list(context, ob, workflow) -> list:
    """The objects of a rig's list that are in the scene, in its order."""
    return [item.target for item in workflow.settings_of(ob).surfaces if not why_gone(context.scene, item)]


def _is_hidden_behind(ob, workflow, target) -> bool:
    """Whether an object is hidden, and something has taken its place: it is taken for unchanged."""
    items = [item for item in workflow.settings_of(ob).surfaces if item.target == target]
    return any(is_replaced(item) for item in items) and target.hide_viewport


def update_rig(context, ob, workflow, others=()) -> dict:
    """Bring the binding of a rig up to date, with other objects or collections in it; returns a report for JSON."""
    if workflow.settings_of(ob).binding is None:
        raise SceneError(f"'{ob.name}' is not bound yet, there is nothing to keep: bind it first.")
    return run_to_end(update_steps(context, ob, workflow, expand([*objects_in_list(context, ob, workflow), *others])))


def update_steps(context, ob, workflow, objects) -> Generator[tuple[float, str], None, dict]:
    """Bind a bound rig to objects: those that it is bound to as they were then, the others as they are now.

    With progress; the scene is changed after the last step only. Returns a report that JSON can hold.
    Raises StaleBindingError where what has to be known of the time of bind is not, besides what ``bind_steps`` raises.
    """
    require_armature(ob)
    require_editable(ob)
    stored = stored_of(ob, workflow)
    entries = _entries(context, ob, workflow, stored, objects)
    gone = _gone(context.scene, ob, workflow, stored, entries)
    if all(entry.is_kept for entry in entries) and not gone:
        return bound_report(ob, workflow)
    if not entries:
        raise SceneError(f"None of the objects that '{ob.name}' is bound to is left; add others and bind again.")
    yield 0.0, "Reading the environment"
    environment = yield from relayed(_environment(context, stored, entries), 0.0, 0.3, "Reading the environment")
    if environment is None:
        binding = stored.binding.among(np.array([entry.number for entry in entries]))
        binding = replace(binding, objects=tuple(entry.target.name_full for entry in entries))
    else:
        known = stored.binding
        fitting = fit_steps(known.track, environment, known.effectors, known.height, known.radii)
        binding = yield from relayed(fitting, 0.3, 0.95, "Binding")
        if known.rests is None:
            binding = replace(binding, rests=None)  # what was bound before they were looked for stays as it is
    yield 0.99, "Storing"
    updated = _updated(stored, binding, entries, environment)
    notes = [*_new_note(entries), *_edited_notes(stored, entries, environment)]
    if environment is None:
        notes += behind_notes(binding)
    else:
        notes += surface_notes(binding, environment, avoided_among(ob, workflow, [entry.target for entry in entries]))
        notes += not_kept(updated)
    stale = behind_notes(stored.binding)
    kept_notes = [note for note in workflow.settings_of(ob).notes.splitlines() if note not in stale]
    with restored_after_error(ob):
        targets, said = [entry.target for entry in entries], tuple(dict.fromkeys((*kept_notes, *notes)))
        store_binding(ob, workflow, updated, targets, said)
    report = bound_report(ob, workflow)
    return report | {"notes": [*gone, *report["notes"]]}


def update_in_words(report: dict) -> str:
    """The line that says what an update has led to. report: of ``update_steps``."""
    return ". ".join((f"'{report['rig']}' is bound to {', '.join(report['objects'])}", *report["notes"]))


def question_of_update(context, ob, workflow) -> Question | None:
    """What an edited object's present state, which counts as its original, would do away with; None for nothing."""
    stored = stored_of(ob, workflow)
    edited = [e for e in _entries(context, ob, workflow, stored, objects_in_list(context, ob, workflow)) if e.is_edited]
    changes = [change_of(stored, e.number, *present_object(context, e.target, stored, e.number)) for e in edited]
    found = [(e.target.name_full, change) for e, change in zip(edited, changes, strict=True)]
    lines = tuple(worst_in_words(found, stored.binding.scale))
    meaning = "This counts as the original from then on, and the motion is no longer fitted to it"
    return Question(lines, meaning, "Bind It as It Is Now") if lines else None


def _entries(context, ob, workflow, stored: Stored, objects) -> list[_Entry]:
    depsgraph = context.evaluated_depsgraph_get()
    found = expand(objects)
    if ob in found:
        raise SceneError(f"'{ob.name}' cannot be its own environment.")
    refuse_dependent(found, ob)
    out = []
    for target in found:
        number = number_of(ob, workflow, stored, target)
        looked_at = number is not None and not _is_hidden_behind(ob, workflow, target)
        is_edited = looked_at and _is_edited(target, depsgraph, stored, number)
        out.append(_Entry(target, number, is_edited))
    return out


def _is_edited(target, depsgraph, stored: Stored, number: int) -> bool:
    state, triangles = read_surface(target, depsgraph, stored.triangles[number])
    return fingerprint(state.surface(triangles)) != stored.fingerprints[number]


def _gone(scene, ob, workflow, stored: Stored, entries: list[_Entry]) -> list[str]:
    """What has become of each bound object that is not among the entries, a sentence each."""
    items = {item.bound_name: item for item in workflow.settings_of(ob).surfaces}
    left = {entry.number for entry in entries}
    names = [name for k, name in enumerate(stored.binding.objects) if k not in left]
    return [f"'{name}' {why_gone(scene, items.get(name)) or 'was left out'} and is let go" for name in names]


def _environment(context, stored: Stored, entries: list[_Entry]):
    """The objects to bind to, those that are kept as they were at bind; None where nothing has to be measured.

    Yields the share done. Raises StaleBindingError for an object that is kept, of which is not known how it was.
    """
    known = [stored.surface(entry.number) if entry.is_kept else None for entry in entries]
    unknown = [entry.target.name_full for entry, mesh in zip(entries, known, strict=True) if mesh is None]
    if unknown and all(entry.is_kept for entry in entries):
        return None
    read = [entry.target for entry, mesh in zip(entries, known, strict=True) if mesh is None]
    frames = stored.binding.track.frames
    bound = {e.target.name_full: stored.triangles[e.number] for e in entries if e.is_kept}
    found = iter((yield from sweep_environment(context, read, frames, bound)))
    out = []
    for entry, mesh in zip(entries, known, strict=True):
        if mesh is None:
            mesh = next(found)
            if entry.is_kept:
                _require_unmoved(entry, change_of(stored, entry.number, mesh, frames), stored)
        out.append(replace(mesh, name=entry.target.name_full))
    return out


def _require_unmoved(entry: _Entry, change: Change, stored: Stored) -> None:
    moved = in_words(entry.target.name_full, change, stored.binding.scale)
    if moved:
        raise StaleBindingError(
            f"{moved} since it was bound, and the binding does not hold how it was then: put it back, or bind again."
        )


def _new_note(entries: list[_Entry]) -> list[str]:
    names = [entry.target.name_full for entry in entries if entry.number is None]
    are = "is bound as it is" if len(names) == 1 else "are bound as they are"
    return [f"{listed(names)} {are} now"] if names else []


def _edited_notes(stored: Stored, entries: list[_Entry], environment: list[MeshTrack] | None) -> list[str]:
    found, frames = [], stored.binding.track.frames
    for k, entry in enumerate(entries):
        if entry.is_edited:
            found.append((entry.target.name_full, change_of(stored, entry.number, environment[k], frames)))
    scale = stored.binding.scale
    still = [name for name, change in found if not in_words(name, change, scale)]
    were = "was" if len(still) == 1 else "were"
    edited = [f"{listed(still)} {were} edited"] if still else []
    return list(counted_anew([*worst_in_words(found, scale), *edited]))


def _updated(stored: Stored, binding, entries: list[_Entry], environment: list[MeshTrack] | None) -> Stored:
    """What is to be stored: of each object what was, or what was read."""
    triangles, prints, surfaces = [], [], []
    for k, entry in enumerate(entries):
        if entry.is_kept:
            triangles.append(stored.triangles[entry.number])
            prints.append(stored.fingerprints[entry.number])
        else:
            triangles.append(environment[k].triangles)
            prints.append(fingerprint(environment[k]))
        is_known = entry.is_kept and (environment is None or stored.surfaces[entry.number] is not None)
        surfaces.append(stored.surfaces[entry.number] if is_known else kept_surface(environment[k]))
    return replace(stored, binding=binding, triangles=triangles, fingerprints=prints, surfaces=tuple(surfaces))
