"""Contacts as they are written on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ...solvers.core.errors import InputError
from ..command_line.settings import whole_frame
from ..command_line.splits import cuts, only_way
from .contacts import AUTO, OFF, Contact, contacts_of, list_contacts, require_sound, write_contacts
from .model import stored_of

_FORM = re.compile(
    r"(?P<names>.+@.+):(?P<start>-?\d+)-(?P<end>-?\d+)=(?P<state>on|off|auto)", re.IGNORECASE | re.DOTALL
)


def set_contact(ob, workflow, text: str) -> None:
    """Set, or add, what ``BONE@OBJECT:FROM-TO=on|off|auto`` says; InputError for what makes no sense. The object may be
    another bone of the rig, where no object that is bound has its name.

    Off lets go whatever Bind found within the frames; auto drops what was set before for contacts within them.
    """
    words = _FORM.fullmatch(text)
    pairs = cuts(words["names"], "@") if words else []
    if not pairs:
        raise InputError(f"'{text}' is no contact; write BONE@OBJECT:FROM-TO=on, off or auto, with whole frames.")
    settings, binding = workflow.settings_of(ob), stored_of(ob, workflow).binding
    if not len(settings.contacts):
        list_contacts(ob, workflow, binding)
    bone, obj, is_own = _meant(ob, settings, binding, text, pairs)
    start, end = (whole_frame(f"A frame of the contact of '{bone}'", words[part]) for part in ("start", "end"))
    state = words["state"].upper()
    contact = Contact(bone, obj, start, end, state if state != AUTO else OFF, None, is_own)
    require_sound(ob, binding, contact)
    contacts = contacts_of(settings)
    if state == AUTO:
        within = [c for c in contacts if _is_within(c, contact)]
        if not within:
            raise InputError(f"There is no contact {contact.words} to set to auto.")
        kept = [c for c in contacts if c not in within]
        contacts = kept + [replace(c, start=c.found[0], end=c.found[1], state=AUTO) for c in within if c.found]
    else:
        same = [c for c in contacts if c.found is None and _is_within(c, contact) and (c.start, c.end) == (start, end)]
        contacts = [c for c in contacts if c not in same] + [contact]
    write_contacts(ob, settings, binding, contacts)


def _meant(ob, settings, binding, text: str, pairs: Sequence[tuple[str, str]]) -> tuple[str, str, bool]:
    """The bone, the object, by its name at bind, that a text means, and whether that is another bone.

    pairs: what stands before and after each "@".
    """
    renamed = {item.target.name: item.bound_name for item in settings.surfaces if item.target and item.bound_name}
    objects = renamed | {name: name for name in binding.objects}
    ways = [pair for pair in pairs if pair[0] in ob.data.bones and pair[1] in objects]
    found = only_way(text, ways, lambda way: f"bone '{way[0]}' on '{way[1]}'")
    if found is None:
        ways = [pair for pair in pairs if pair[0] in ob.data.bones and pair[1] in ob.data.bones]
        own = only_way(text, ways, lambda way: f"bone '{way[0]}' on bone '{way[1]}'")
        if own is not None:
            return *own, True
        # The message is about what is there, as far as anything is.
        found = next((pair for pair in pairs if pair[0] in ob.data.bones or pair[1] in objects), pairs[0])
    return found[0], objects.get(found[1], found[1]), False


def _is_within(contact: Contact, other: Contact) -> bool:
    return contact.pair == other.pair and contact.start >= other.start and contact.end <= other.end
