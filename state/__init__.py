"""What is kept: settings saved in the .blend (property groups) and the run-time cache of fitted models."""

from __future__ import annotations

import itertools
import uuid

import bpy


def prepare_overrides() -> None:
    """Let the settings of library overrides be saved; to be called before a file is.

    Since 5.0 settings that either the object or the linked one has never had are saved as a whole, which Blender cannot
    load again.  Reading them makes them exist, and what differs is saved one by one.

    What an override adds to a list is saved by the name of what it stands behind: without names, in the override and
    in the linked file, all but one are lost, and where the override has given an entry of the library another name,
    that one comes back beside it.
    """
    names = [p.identifier for p in bpy.types.Object.bl_rna.properties if p.identifier.startswith("motion_loom_")]
    for ob in bpy.data.objects:
        reference = ob.override_library.reference if ob.override_library is not None else None
        if reference is not None:
            for owner in (ob, reference):
                for name in names:
                    group = getattr(owner, name)
                    for prop in group.bl_rna.properties:
                        getattr(group, prop.identifier)
        if ob.library is None:
            for name in names:
                if ob.is_property_set(name):
                    _name_entries(getattr(ob, name), getattr(reference, name, None))


def _name_entries(group, reference=None) -> None:
    """Give all entries of a group's lists, and of theirs, a name that no other has, where they have none.

    Where names are mere labels, those that several have are made different, too, and entries that come from a library,
    the first ones, are named as there. reference: the same group of the library.
    """
    for prop in group.bl_rna.properties:
        if prop.type == "COLLECTION":
            entries = getattr(group, prop.identifier)
            known = [] if reference is None else list(getattr(reference, prop.identifier))
            for entry, like in zip(entries, known, strict=False):
                if _has_label(entry) and entry.name != like.name:
                    entry.name = like.name
            taken, seen = {entry.name for entry in entries}, set()
            for place, entry in enumerate(entries):
                is_twice = place >= len(known) and entry.name in seen and _has_label(entry)
                if not entry.name:
                    # A list shows it once the object is deleted.
                    target = getattr(entry, "target", None)
                    is_free = target is not None and target.name not in taken
                    entry.name = target.name if is_free else uuid.uuid4().hex
                elif is_twice:
                    numbered = (f"{entry.name} {number}" for number in itertools.count(2))
                    entry.name = next(name for name in numbered if name not in taken)
                taken.add(entry.name)
                seen.add(entry.name)
                _name_entries(entry, known[place] if place < len(known) else None)


def _has_label(entry) -> bool:
    """Whether nothing is found by the name of an entry."""
    return getattr(type(entry), "has_label", False)


def register(workflows) -> None:
    """Register each workflow's settings and notes, and hang them on the ID types that carry them."""
    for cls in _classes_of(workflows):
        bpy.utils.register_class(cls)
    for workflow in workflows:
        if workflow.settings is not None:
            owner = getattr(bpy.types, workflow.settings_owner)
            kept = bpy.props.PointerProperty(type=workflow.settings, override={"LIBRARY_OVERRIDABLE"})
            setattr(owner, workflow.settings_name, kept)
        if workflow.action_notes is not None:
            notes = bpy.props.PointerProperty(type=workflow.action_notes)
            setattr(bpy.types.Action, workflow.settings_name, notes)


def unregister(workflows) -> None:
    """The reverse of ``register``."""
    for workflow in reversed(workflows):
        if workflow.action_notes is not None:
            delattr(bpy.types.Action, workflow.settings_name)
        if workflow.settings is not None:
            delattr(getattr(bpy.types, workflow.settings_owner), workflow.settings_name)
    for cls in reversed(_classes_of(workflows)):
        bpy.utils.unregister_class(cls)


def _classes_of(workflows) -> list[type]:
    """Each class once, though workflows share some, and after those that it is made of."""
    found = [cls for each in workflows for cls in (*each.classes, each.settings, each.action_notes) if cls is not None]
    return list(dict.fromkeys(found))
