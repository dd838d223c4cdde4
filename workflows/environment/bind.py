"""Bind a rig to what surrounds it: the slow part, done once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...scene import actions, binding_store
from ...scene.channels import action_times
from ...scene.discarding import discard
from ...scene.held_as_bound import HeldAsBound
from ...scene.interference import refuse_dependent
from ...scene.meshes import sweep_environment
from ...scene.motion import source_of
from ...scene.other_motions import other_motions
from ...scene.restored import restored_after_error
from ...scene.rigs import require_armature, require_editable
from ...scene.surfaces import expand
from ...scene.topology import fingerprint
from ...solvers.adapt.binding import fit_steps
from ...solvers.adapt.solve import ATTACH
from ...solvers.core.errors import SceneError
from ..command_line.words import counted
from ..core.base import Steps, names_what_is_too_large, relayed, run_to_end
from ..core.list_entries import library_entries, resized
from ..rig.action import to_bind_played
from ..rig.beyond import notes_at_bind
from ..rig.choose_joints import joint_radii, read_source
from ..rig.control_list import list_controls
from ..rig.controls import KnownControls
from ..rig.measured_controls import measured_controls
from ..rig.owner import require_owner
from ..rig.read import bound_frames, note_bound, require_written_plays
from ..rig.source import hung_names
from .body import time_stretch
from .changes import bound_before, bound_triangles_of, changes_of_rig, changes_of_set, counted_anew
from .contacts import contacts_report, list_contacts
from .joints import choices_of, joints_report, list_joints
from .lowered import lowered_notes
from .moved_keys import move_entry_keys
from .older_bindings import note_what_is_known
from .older_ranges import note_known_range
from .renamed_bones import rename_bones, renamed_bones
from .replaced import fill_replacements
from .sanity import require_in_reach, require_set_in_reach
from .store import Stored, kept_surface, not_kept, pack
from .surface_notes import avoided_among, surface_notes
from .upright import note_known

# Of an object that is bound no more.
_UNKEYED = "The keys of the influence of '{}' are gone, as it is not in the list any more"


def bind_rig(context, ob, workflow, environment, start: float | None = None, end: float | None = None) -> dict:
    """Bind an armature object to objects or collections; returns a report that JSON can hold."""
    run_to_end(bind_steps(context, ob, workflow, expand(environment), start, end))
    return bound_report(ob, workflow)


def bound_report(ob, workflow) -> dict:
    """What a rig is bound to, as JSON can hold it."""
    settings = workflow.settings_of(ob)
    return {
        "rig": ob.name,
        "source": settings.source.name if settings.source else ob.name,
        "bound": settings.summary,
        "objects": [item.bound_name for item in settings.surfaces],
        "contact_list": contacts_report(settings),
        **joints_report(ob, workflow),
        "notes": settings.notes.splitlines(),
    }


@names_what_is_too_large("binding")
def bind_steps(context, ob, workflow, objects, start=None, end=None) -> Steps:
    """Bind, with progress; the scene is changed after the last step only."""
    require_armature(ob)
    require_editable(ob)
    if not objects:
        raise SceneError("The environment is empty; add the objects that the motion deals with.")
    if ob in objects:
        raise SceneError(f"'{ob.name}' cannot be its own environment.")
    refuse_dependent(objects, ob)
    require_owner([ob], workflow)
    limits = workflow.settings_of(ob).limits
    with to_bind_played(ob, workflow):
        frames = bound_frames(context, ob, start, end)
    yield 0.0, "Reading the motion"
    with to_bind_played(ob, workflow):
        controls = measured_controls(context, ob, frames, limits)
        source = read_source(context, ob, frames, choices_of(ob, workflow), controls)
        require_written_plays(ob, source.track.skeleton.names, limits, controls)
        bones = source.bones[source.bones >= 0] if controls is None else controls.controls
        held = controls and HeldAsBound.of(context, ob, source.motion)
        played = source_of(ob)
        left_out = notes_at_bind(context.scene, ob, workflow, played, source.motion, bones, controls)
        left_out = (*lowered_notes(ob, played, workflow), *_still(context.scene, played, source.motion), *left_out)
        others = other_motions(ob, played, (workflow.settings_of(ob).result,))
    yield 0.1, "Reading the environment"
    before = bound_before(ob, workflow)
    known = bound_triangles_of(before, ob, workflow)
    sweep = sweep_environment(context, objects, frames, known)
    environment = yield from relayed(sweep, 0.1, 0.4, "Reading the environment")
    require_set_in_reach(environment, frames, source.height)
    require_in_reach(f"A joint of '{ob.name}'", source.track.positions, frames, source.height)
    moved = changes_of_set(ob, workflow, before, objects, environment, frames)
    moved += changes_of_rig(ob, workflow, before, source)
    radii = joint_radii(context, ob, source)
    fitting = fit_steps(source.track, environment, source.solved.effectors, source.height, radii)
    binding = yield from relayed(fitting, 0.4, 0.95, "Binding")
    world = source.motion.object_world
    stored = Stored(
        binding,
        source.solved,
        world[:1] if np.ptp(world, axis=0).max() < 1e-9 else world,
        [mesh.triangles for mesh in environment],
        [fingerprint(mesh) for mesh in environment],
        hung_names(source),
        time_stretch(context.scene),
        tuple(kept_surface(mesh) for mesh in environment),
        controls and KnownControls.of(ob, controls, held),
    )
    yield 0.99, "Storing"
    with restored_after_error(ob):
        called = rename_bones(workflow.settings_of(ob), _renamed(ob, before, source))
        list_joints(ob, workflow, source)
        doubts = surface_notes(binding, environment, avoided_among(ob, workflow, objects))
        beside = _alone(ob, played, others)
        notes = (*called, *source.notes, *doubts, *left_out, *beside, *not_kept(stored), *counted_anew(moved))
        line = store_binding(ob, workflow, stored, objects, notes)
        note_bound(context, ob, workflow, source.motion)
        list_controls(ob, workflow, controls)
    return f"Bound '{ob.name}': {line}"


@dataclass(frozen=True)
class _Use:
    """What a user chose of an entry of the list, which is made anew."""

    mode: str = ATTACH
    influence: float = 1.0
    along: str = "GRAVITY"
    replacements: tuple[tuple, ...] = ()

    @classmethod
    def of(cls, item) -> _Use:
        replacements = tuple((each.name, each.target) for each in item.replacements if not each.is_left_out)
        return cls(item.mode, item.influence, item.along, replacements)

    def give(self, item) -> None:
        item.mode, item.influence, item.along = self.mode, self.influence, self.along
        fill_replacements(item, self.replacements)


def _renamed(ob, before: Stored | None, source) -> dict[str, str]:
    """The new names of bones, by those at the bind before."""
    return {} if before is None else renamed_bones(ob, before.binding.track.skeleton, source.track.skeleton)


def _still(scene, played: tuple, motion) -> tuple[str, ...]:
    """Says that no key is within the frames that are bound, where nothing moves there either."""
    if played[0] is None or not actions.playing_curves(*played) or np.ptp(motion.basis, axis=0).max() > 1e-9:
        return ()
    first, last = actions.frame_range(*played)
    times = action_times(scene, motion.frames)
    if times[-1] >= first and times[0] <= last:
        return ()
    return (
        f"The rig stands still at frames {motion.frames[0]:g} to {motion.frames[-1]:g}: '{played[0].name}' "
        f"runs from {first:g} to {last:g}",
    )


def _alone(ob, source: tuple, others: Sequence[str]) -> tuple[str, ...]:
    """Says what other motions there are on a rig. source: action and slot that it plays."""
    if not others:
        return ()
    bound = "the NLA strips that play" if source[0] is None else f"the action '{source[0].name}'"
    return (f"Bound is {bound}; what else is on '{ob.name}' gets no result: {', '.join(others)}",)


def store_binding(ob, workflow, stored: Stored, objects, notes: Sequence[str]) -> str:
    """Keep a binding with the rig; returns what is bound, in words, with the notes."""
    settings = workflow.settings_of(ob)
    old, settings.binding = settings.binding, binding_store.save(ob.name, *pack(stored))
    discard(old)
    uses = {item.target: _Use.of(item) for item in settings.surfaces if item.target is not None}
    names = {target: name for target, name in zip(objects, stored.binding.objects, strict=True)}
    renamed = {item.bound_name: names.get(item.target) for item in settings.surfaces if item.bound_name}
    known = [(item.name, item.target) for item in settings.surfaces]
    places = {k: objects.index(target) for k, (_, target) in enumerate(known) if target in names}
    unkeyed = [known[k][0] for k in sorted(move_entry_keys(ob, workflow, places))]
    count = max(len(objects), library_entries(settings, "surfaces"))
    entries = resized(settings, "surfaces", count, "Objects")
    # A library's entries stay, as ones that are not bound.
    spare = [(target, "") for _, target in known if target not in names]
    spare = (spare + [(None, "")] * count)[: count - len(objects)]
    for item, (target, name) in zip(entries, [*names.items(), *spare], strict=True):
        item.name, item.target, item.bound_name = name or item.name, target, name
        uses.get(target, _Use()).give(item)
    binding = stored.binding
    frames = binding.track.frames
    note_known(settings)
    note_known_range(settings)
    settings.summary = (
        f"{counted(len(binding.points), 'point')} on {counted(len(binding.objects), 'object')}, "
        f"{counted(len(binding.track.skeleton.names), 'joint')}, frames {frames[0]:g} to {frames[-1]:g}"
    )
    notes = (*notes, *(_UNKEYED.format(name) for name in unkeyed), *list_contacts(ob, workflow, binding, renamed))
    settings.notes = "\n".join(notes)
    note_what_is_known(settings, binding)
    return ". ".join((settings.summary, *notes))
