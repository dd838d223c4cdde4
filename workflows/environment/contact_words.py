"""Contacts as they are written on the command line."""

from __future__ import annotations

import re

from ...solvers.core.errors import InputError
from .contacts import AUTO, OFF, Contact, contacts_of, list_contacts, require_contact, write_contacts
from .model import stored_of

_FORM = re.compile(r"(?P<bone>.+?)@(?P<obj>.+):(?P<start>-?\d+)-(?P<end>-?\d+)=(?P<state>on|off|auto)", re.IGNORECASE)


def set_contact(ob, workflow, text: str) -> None:
    """Set, or add, what ``BONE@OBJECT:FROM-TO=on|off|auto`` says; InputError for what makes no sense.

    Off lets go whatever Bind found within the frames; auto drops what was set before for contacts within them.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise InputError(f"'{text}' is no contact; write BONE@OBJECT:FROM-TO=on, off or auto, with whole frames.")
    settings, binding = workflow.settings_of(ob), stored_of(ob, workflow).binding
    if not len(settings.contacts):
        list_contacts(ob, workflow, binding)
    item = next((item for item in settings.surfaces if item.target and item.target.name == found["obj"]), None)
    obj = item.bound_name if item is not None and found["obj"] not in binding.objects else found["obj"]
    start, end, state = int(found["start"]), int(found["end"]), found["state"].upper()
    contact = Contact(found["bone"], obj, start, end, state if state != AUTO else OFF, None)
    require_contact(ob, binding, contact)
    contacts = contacts_of(settings)
    if state == AUTO:
        within = [c for c in contacts if _is_within(c, contact)]
        if not within:
            raise InputError(f"There is no contact {contact.words} to set to auto.")
        kept = [c for c in contacts if c not in within]
        contacts = kept + [Contact(c.bone, c.obj, *c.found, AUTO, c.found) for c in within if c.found]
    else:
        same = [c for c in contacts if c.found is None and _is_within(c, contact) and (c.start, c.end) == (start, end)]
        contacts = [c for c in contacts if c not in same] + [contact]
    write_contacts(ob, settings, binding, contacts)


def _is_within(contact: Contact, other: Contact) -> bool:
    is_same = (contact.bone, contact.obj) == (other.bone, other.obj)
    return is_same and contact.start >= other.start and contact.end <= other.end
