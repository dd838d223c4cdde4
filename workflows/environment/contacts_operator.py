"""Buttons of the list of contacts, of any workflow with ``EnvironmentSettings``."""

from __future__ import annotations

from dataclasses import replace

import bpy

from ...solvers.core.errors import InputError
from ..interface.operators import ChangeOperator, OwnedOperator, owned_by
from ..rig.operators import why_no_rig
from .contacts import (
    OFF,
    ON,
    Contact,
    contacts_of,
    list_contacts,
    mirrored,
    require_sound,
    write_contacts,
)
from .model import stored_of


class _ContactOperator(OwnedOperator, ChangeOperator):
    """A base: the rig's settings, its binding and the active entry."""

    needs = why_no_rig

    def _known(self, context):
        workflow = self.owner()
        return context.object, workflow.settings_of(context.object), stored_of(context.object, workflow).binding

    def _active(self, settings) -> tuple[int, Contact]:
        place = settings.active_contact
        if not 0 <= place < len(settings.contacts):
            raise InputError("No contact is chosen; choose one in the list.")
        return place, Contact.of(settings.contacts[place])

    def _add(self, ob, settings, binding, contact: Contact) -> None:
        """Add an entry and make it the active one."""
        require_sound(ob, binding, contact)
        contacts = [each for each in contacts_of(settings) if each != contact]
        write_contacts(ob, settings, binding, [*contacts, contact])
        settings.active_contact = contacts_of(settings).index(contact)


class _AddContact(_ContactOperator):
    """Hold the active bone at the object of the list of objects that is chosen, or at the other bone that is selected,
    from the present frame on"""

    bl_label = "Add Contact"

    def apply(self, context):
        ob, settings, binding = self._known(context)
        bone, place = context.active_pose_bone, settings.active_surface
        if bone is None or bone.id_data != ob:
            raise InputError(f"Choose a bone of '{ob.name}' in Pose Mode; the contact is of that one.")
        others = [other for other in context.selected_pose_bones or () if other != bone and other.id_data == ob]
        if len(others) > 1:
            raise InputError(
                f"'{bone.name}' can be held at one other bone; select that one alone beside it, or none to hold it at "
                "the object that is chosen."
            )
        if not others and not 0 <= place < len(settings.surfaces):
            raise InputError("Choose the object that it touches in the list of the environment.")
        frames, start = binding.track.frames, context.scene.frame_current
        if not frames[0] <= start <= frames[-1]:
            raise InputError(
                f"Frame {start} lies outside the bound frames {frames[0]:g} to {frames[-1]:g}; go to one of them."
            )
        end = int(min(start + round(1.0 / binding.dt), frames[-1]))
        at = others[0].name if others else settings.surfaces[place].bound_name
        contact = Contact(bone.name, at, start, end, ON, None, bool(others))
        self._add(ob, settings, binding, contact)
        return f"Added the contact {contact.words}"


class _RemoveContact(_ContactOperator):
    """Remove the chosen contact where it was added; one that Bind found is switched off"""

    bl_label = "Remove Contact"

    def apply(self, context):
        ob, settings, binding = self._known(context)
        place, contact = self._active(settings)
        if contact.found is not None:
            settings.contacts[place].state = OFF
            return f"The contact {contact.words} is off; Bind found it, so it stays in the list"
        contacts = contacts_of(settings)
        del contacts[place]
        write_contacts(ob, settings, binding, contacts)
        return f"Removed the contact {contact.words}"


class _MirrorContact(_ContactOperator):
    """Add the chosen contact to the bone on the other side"""

    bl_label = "Mirror Contact"

    def apply(self, context):
        ob, settings, binding = self._known(context)
        contact = mirrored(self._active(settings)[1])
        self._add(ob, settings, binding, contact)
        return f"Added the contact {contact.words}"


class _SetContactEnd(_ContactOperator):
    """Have the chosen contact begin or end at the present frame"""

    bl_label = "Set to Present Frame"

    end: bpy.props.EnumProperty(items=(("start", "From", ""), ("end", "To", "")))

    def apply(self, context):
        ob, settings, binding = self._known(context)
        place, contact = self._active(settings)
        contact = replace(contact, **{self.end: context.scene.frame_current})
        require_sound(ob, binding, contact)
        contact.write(settings.contacts[place])


class _ResetContacts(_ContactOperator):
    """List what Bind found, without the edits"""

    bl_label = "Reset to What Bind Found"

    def apply(self, context):
        ob, settings, binding = self._known(context)
        list_contacts(ob, self.owner(), binding)
        return f"{len(settings.contacts)} contacts are as Bind found them"


class _PickContact(_ContactOperator):
    """Choose the contact of the active bone at the present frame, or its next one"""

    bl_label = "Contact of Active Bone"
    index: bpy.props.IntProperty(default=-1, options={"SKIP_SAVE"})

    def apply(self, context):
        settings = self.owner().settings_of(context.object)
        place = self.index if self.index >= 0 else _of_bone(context, contacts_of(settings))
        if place >= len(settings.contacts):
            raise InputError(f"There is no contact {place + 1}; the list has {len(settings.contacts)}.")
        settings.active_contact = place


def _of_bone(context, contacts: list[Contact]) -> int:
    bone, frame = context.active_pose_bone, context.scene.frame_current
    if bone is None:
        raise InputError("No bone is active; choose one in Pose Mode.")
    own = [k for k, contact in enumerate(contacts) if contact.bone == bone.name]
    if not own:
        raise InputError(f"Bone '{bone.name}' has no contact in the list.")
    return next((k for k in own if contacts[k].end >= frame), own[-1])


def contact_operators(workflow_id: str) -> tuple[type, ...]:
    """The buttons of a workflow's list of contacts."""
    bases = {
        "add_contact": _AddContact,
        "remove_contact": _RemoveContact,
        "mirror_contact": _MirrorContact,
        "set_contact_end": _SetContactEnd,
        "reset_contacts": _ResetContacts,
        "pick_contact": _PickContact,
    }
    return tuple(owned_by(workflow_id, name, base) for name, base in bases.items())
