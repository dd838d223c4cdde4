"""Contacts of a body with itself, which stand in the list of contacts beside those with objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...solvers.adapt.binding import Binding
from ...solvers.adapt.contact_edits import HELD_WITHIN
from ...solvers.adapt.self_contacts import gaps, nearest_part
from ...solvers.core.errors import InputError

TAIL = "/tail"  # of the joint at the end of a bone that carries none


def found_own(binding: Binding) -> Iterator[tuple[str, str, int, int]]:
    """Bone, the bone that it rests on, first and last frame of what Bind found."""
    names, parents, frames = binding.track.skeleton.names, binding.track.skeleton.parents, binding.track.frames
    for joint, part, first, last in (() if binding.own is None else binding.own.tolist()):
        start = int(np.ceil(frames[first]))
        yield names[joint], names[parents[part]], start, max(int(np.floor(frames[last])), start)


def own_row(binding: Binding, contact) -> tuple[int, int, int, int]:
    """The row of ``Binding.own`` of an entry of the list; InputError, by name, for one that makes no sense."""
    names, frames = binding.track.skeleton.names, binding.track.frames
    end = next((end for end in binding.limb_ends if names[end.joint].removesuffix(TAIL) == contact.bone), None)
    if end is None:
        hands = ", ".join(f"'{names[end.joint]}'" for end in binding.limb_ends) or "none"
        raise InputError(
            f"Bone '{contact.bone}' cannot be held to the body: only solved hands and feet are, and they begin with "
            f"{hands}."
        )
    if contact.end < contact.start:
        raise InputError(f"The contact {contact.words} ends before it starts.")
    rows = np.flatnonzero((frames >= contact.start) & (frames <= contact.end))
    if not rows.size:
        raise InputError(f"The contact {contact.words} lies outside the bound frames {frames[0]:g} to {frames[-1]:g}.")
    first, last = int(rows[0]), int(rows[-1])
    part = nearest_part(binding.track, end, names.index(contact.obj), first, last) if contact.obj in names else None
    if part is None:
        raise InputError(
            f"'{contact.bone}' cannot be held to bone '{contact.obj}': choose a solved bone of another limb."
        )
    away = gaps(binding.track.positions[rows], end.held, np.array([part]), binding.track.skeleton.parents)
    most = HELD_WITHIN * binding.scale + float(binding.radii[part])
    if contact.is_edited and contact.state != "OFF" and away.max() > most:
        raise InputError(
            f"The contact {contact.words} cannot be held: the bones are more than {most:.2f} m apart there; choose "
            "other frames."
        )
    return end.joint, part, first, last


def own_rows(binding: Binding, contacts: Sequence) -> np.ndarray | None:
    """(K, 4) of ``Binding.own`` as the entries of the list are set; None where they are as Bind found them.

    contacts: those that overlap in the order in which the last one counts.
    """
    own, held = [contact for contact in contacts if contact.is_own], {}
    if not any(contact.is_edited for contact in own):
        return None
    for contact in own:
        joint, part, first, last = own_row(binding, contact)
        rows = held.setdefault((joint, part), np.zeros(len(binding.track.frames) + 2, bool))
        rows[first + 1 : last + 2] = contact.state != "OFF"
    edges = {pair: np.flatnonzero(np.diff(rows.astype(np.int8))) for pair, rows in held.items()}
    runs = [(*pair, first, last - 1) for pair, edge in edges.items() for first, last in edge.reshape(-1, 2).tolist()]
    return np.array(sorted(runs), int).reshape(-1, 4)
