"""The list of contacts: what Bind found of each bone and object, and what the user makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...scene.names import other_side
from ...solvers.adapt.binding import Binding
from ...solvers.adapt.body_contacts import THICK
from ...solvers.adapt.contact_edits import HELD_WITHIN, ContactEdit, found_spans
from ...solvers.core.errors import InputError
from ..core.list_entries import resized
from .model import stored_of
from .own_contacts import TAIL, found_own, own_row, own_rows
from .store import Stored

AUTO, ON, OFF = "AUTO", "ON", "OFF"


@dataclass(frozen=True)
class Contact:
    """One entry as it is set. found: first and last frame that Bind found, None where the user added it.
    is_own: the object is another bone of the same body."""

    bone: str
    obj: str
    start: int
    end: int
    state: str
    found: tuple[int, int] | None
    is_own: bool = False

    @classmethod
    def of(cls, item) -> Contact:
        found = (item.found_start, item.found_end) if item.is_found else None
        return cls(item.bone, item.object, item.start, item.end, item.state, found, item.is_own)

    @property
    def is_edited(self) -> bool:
        """Whether it differs from what Bind found."""
        return self.state != AUTO or self.found != (self.start, self.end)

    @property
    def words(self) -> str:
        bone = "bone " if self.is_own else ""
        return f"of '{self.bone}' with {bone}'{self.obj}' at frames {self.start} to {self.end}"

    @property
    def pair(self) -> tuple[str, str, bool]:
        """What touches what."""
        return self.bone, self.obj, self.is_own

    def rank(self) -> tuple:
        """Sorts entries so that of those that overlap the last one counts: the one of fewest frames, with those that
        were found; of as many the one that begins later, then the one that is off."""
        first, last = self.found or (self.start, self.end)
        first, last = min(first, self.start), max(last, self.end)
        return first - last, first, self.state == OFF

    def write(self, item) -> None:
        item.name, item.bone, item.object = f"{self.bone} {self.obj}", self.bone, self.obj
        item.start, item.end, item.state = self.start, self.end, self.state
        item.is_found, item.is_own = self.found is not None, self.is_own
        item.found_start, item.found_end = self.found or (0, 0)

    def ranges(self) -> Iterator[tuple[int, int, bool]]:
        """First and last frame of what is held, or let go, against what was found."""
        first, last = self.found or (self.start, self.start - 1)
        if self.state == OFF:
            yield min(self.start, first) if self.found else self.start, max(self.end, last), False
            return
        if first <= last:
            yield first, min(self.start - 1, last), False
            yield max(self.end + 1, first), last, False
        if self.state == ON or self.found is None:
            yield self.start, self.end, True
        else:
            yield self.start, min(self.end, first - 1), True
            yield max(self.start, last + 1), self.end, True


def bone_joints(binding: Binding, bone: str) -> list[int]:
    """The solved joints of a bone: its head, and its end where it carries no other."""
    names = binding.track.skeleton.names
    return [names.index(name) for name in (bone, bone + TAIL) if name in names]


def contacts_of(settings) -> list[Contact]:
    """All entries, as they are set."""
    return [Contact.of(item) for item in settings.contacts]


def found_contacts(binding: Binding) -> list[Contact]:
    """What a binding knows of, by bone and then by time; both ends of a bone are one contact."""
    names, frames = binding.track.skeleton.names, binding.track.frames
    bones = list(dict.fromkeys(name.removesuffix(TAIL) for name in names))
    touched = binding.edited(()).touched
    joined = np.stack([touched[:, :, bone_joints(binding, bone)].any(axis=2) for bone in bones], axis=2)
    spans = found_spans(joined, binding.dt)
    spans = spans[np.lexsort((spans[:, 2], spans[:, 0]))]
    out = []
    for joint, obj, *rows in spans:
        first = int(np.ceil(frames[rows[0]]))
        span = first, max(int(np.floor(frames[rows[1]])), first)
        out.append(Contact(bones[joint], binding.objects[obj], *span, AUTO, span))
    for bone, other, *span in found_own(binding):
        span = tuple(span)
        out.append(Contact(bone.removesuffix(TAIL), other, *span, AUTO, span, True))
    return out


def list_contacts(ob, workflow, binding: Binding, renamed: dict[str, str] | None = None) -> list[str]:
    """Write the list of a rig that is bound, with the user's edits as far as they still fit; says which do not.

    renamed: names of the objects now, by those at the bind before; None to drop the edits.
    """
    settings = workflow.settings_of(ob)
    edits = [] if renamed is None else [contact for contact in contacts_of(settings) if contact.is_edited]
    contacts, notes = found_contacts(binding), []
    frames = binding.track.frames
    for edit in edits:
        obj = edit.obj if edit.is_own else renamed.get(edit.obj)
        is_there = bone_joints(binding, obj) if edit.is_own else obj in binding.objects
        if not is_there or not bone_joints(binding, edit.bone):
            notes.append(f"The contact {edit.words} was edited and is left out: one of them is not bound any more")
            continue
        if edit.start > frames[-1] or edit.end < frames[0]:
            notes.append(f"The contact {edit.words} was edited and is left out: these frames are not bound any more")
            continue
        span = max(edit.start, int(frames[0])), min(edit.end, int(frames[-1]))
        now = Contact(edit.bone, obj, *span, edit.state, None, edit.is_own)
        place = _overlapping(contacts, now, edit)
        if edit.found is None or (place is None and edit.state == ON):
            contacts.append(now)
        elif place is None:
            notes.append(f"The contact {edit.words} was edited and is left out: nothing is found there any more")
        else:
            contacts[place] = _taken_over(contacts[place], now, edit)
    write_contacts(ob, settings, binding, contacts)
    return notes


def _overlapping(contacts: Sequence[Contact], now: Contact, edit: Contact) -> int | None:
    """The found contact that has most frames of those that were found of an edited one."""
    first, last = edit.found or (edit.start, edit.end)
    shared = [
        min(c.found[1], last) - max(c.found[0], first) + 1 if c.found and c.pair == now.pair else 0
        for c in contacts
    ]
    return int(np.argmax(shared)) if shared and max(shared) > 0 else None


def _taken_over(found: Contact, now: Contact, edit: Contact) -> Contact:
    is_moved = edit.found != (edit.start, edit.end)
    start, end = (now.start, now.end) if is_moved else (found.start, found.end)
    return replace(found, start=start, end=end, state=edit.state)


def write_contacts(ob, settings, binding: Binding, contacts: Sequence[Contact]) -> None:
    """Fill the list, by bone in the order of the joints and then by time."""
    names = list(binding.track.skeleton.names)
    order = {name: k for k, name in reversed(list(enumerate(names)))}
    ordered = sorted(contacts, key=lambda c: (order.get(c.bone, order.get(c.bone + TAIL, len(names))), c.start))
    for item, contact in zip(resized(settings, "contacts", len(ordered), "Contacts"), ordered, strict=True):
        contact.write(item)
    settings.active_contact = min(max(settings.active_contact, 0), max(len(ordered) - 1, 0))
    ob.update_tag(refresh={"OBJECT"})


def edited(ob, workflow, stored: Stored) -> Binding:
    """The binding with the contacts as they are set. Raises InputError, by name, for one that makes no sense."""
    binding, edits = stored.binding, []
    contacts = sorted(contacts_of(workflow.settings_of(ob)), key=Contact.rank)
    for contact in contacts:
        if contact.is_edited and not contact.is_own:
            joints, obj = require_contact(ob, binding, contact)
            for first, last, is_on in contact.ranges():
                rows = np.flatnonzero((binding.track.frames >= first) & (binding.track.frames <= last))
                if rows.size:
                    edits += [ContactEdit(joint, obj, int(rows[0]), int(rows[-1]), is_on) for joint in joints]
    return binding.edited(tuple(edits), own_rows(binding, contacts))


def edited_stored(ob, workflow) -> Stored:
    """What is bound to a rig, with the contacts as they are set."""
    stored = stored_of(ob, workflow)
    binding = edited(ob, workflow, stored)
    return stored if binding is stored.binding else replace(stored, binding=binding)


def require_sound(ob, binding: Binding, contact: Contact) -> None:
    """Raises InputError for a contact that makes no sense."""
    if contact.is_own:
        own_row(binding, contact)
    else:
        require_contact(ob, binding, contact)


def require_contact(ob, binding: Binding, contact: Contact) -> tuple[list[int], int]:
    """The joints and the object of a contact with one; raises InputError for one that makes no sense."""
    joints, frames = bone_joints(binding, contact.bone), binding.track.frames
    if not joints:
        if contact.bone in ob.data.bones:
            raise InputError(f"Bone '{contact.bone}' of '{ob.name}' is not solved and touches nothing; choose another.")
        raise InputError(f"'{ob.name}' has no bone '{contact.bone}'.")
    if contact.obj not in binding.objects:
        names = ", ".join(binding.objects)
        raise InputError(f"'{ob.name}' is not bound to '{contact.obj}', so nothing touches it, but to {names}.")
    if contact.end < contact.start:
        raise InputError(
            f"The contact of '{contact.bone}' with '{contact.obj}' ends at frame {contact.end}, before it starts at "
            f"{contact.start}."
        )
    if contact.start > frames[-1] or contact.end < frames[0]:
        raise InputError(f"The contact {contact.words} lies outside the bound frames {frames[0]:g} to {frames[-1]:g}.")
    obj = binding.objects.index(contact.obj)
    inside = (frames >= contact.start) & (frames <= contact.end)
    far = binding.joint_distance[obj, inside][:, joints].max(initial=0.0)
    # A thick trunk rests farther away.
    most = max(HELD_WITHIN * binding.scale, THICK * float(binding.radii.max(initial=0.0)))
    if contact.state != OFF and contact.is_edited and far > most:
        raise InputError(
            f"The contact {contact.words} cannot be held: the bone is more than {most:.2f} m from the object there; "
            "choose other frames."
        )
    return joints, obj


def mirrored(contact: Contact) -> Contact:
    """The same of the bone on the other side, as one that the user adds; raises InputError for one without a side."""
    name = other_side(contact.bone)
    if name == contact.bone:
        raise InputError(f"Bone '{contact.bone}' has no other side by its name, as '.L' and '.R' have.")
    state, obj = ON if contact.state == AUTO else contact.state, contact.obj
    return Contact(
        name, other_side(obj) if contact.is_own else obj, contact.start, contact.end, state, None, contact.is_own
    )


def contacts_report(settings) -> list[dict]:
    """The list as JSON can hold it."""
    return [
        {
            "bone": contact.bone,
            "object": contact.obj,
            "from": contact.start,
            "to": contact.end,
            "state": contact.state.lower(),
            "found": contact.found is not None,
            "own": contact.is_own,
        }
        for contact in contacts_of(settings)
    ]


def marks(settings) -> Iterator:
    """Texts and numbers of what is edited, for comparing."""
    for contact in contacts_of(settings):
        if contact.is_edited:
            yield from (*contact.pair, contact.start, contact.end, contact.state, str(contact.found))
