"""What bindings that an older version saved do not know, which each says in its notes."""

from __future__ import annotations

from ...scene.session import all_objects
from ...solvers.adapt.binding import Binding
from ...solvers.adapt.body_contacts import RULES

# Marks on the datablock that holds a binding, and what is said where they are missing.
_SEATS, _ITSELF = "knows seats", "knows contacts with itself"
_NOTES = {
    _SEATS: "Bound before seats were contacts: only hands, feet and head hold to what they touch. Bind Again to hold "
    "trunk, knees and elbows too",
    _ITSELF: "Bound before contacts of a body with itself were found: hands on hips and knees are not held there. Bind "
    "Again to hold them",
}
# The number of the rules by which what rests was found, likewise.
_RULES = "rules of seats"
_OLDER_RULES = (
    "Bound by older rules of what a body rests on: a trunk that lies or leans may not be held, and one that legs carry "
    "may be. Bind Again to have those of now"
)


def note_what_is_known(settings, binding: Binding) -> None:
    """Of a new binding."""
    settings.binding[_SEATS] = binding.rests is not None
    settings.binding[_ITSELF] = binding.own is not None
    settings.binding[_RULES] = binding.rest_rules
    _tell(settings)


def tell_what_is_unknown(workflow) -> None:
    """Bindings that an older version saved keep the result that they had; each says so in its notes."""
    for ob in all_objects():
        if ob.type == "ARMATURE" and ob.library is None:
            settings = workflow.settings_of(ob)
            if settings.binding is not None:
                _tell(settings)


def _tell(settings) -> None:
    before, known = settings.notes.splitlines(), settings.binding
    lines = [line for line in before if line != _OLDER_RULES]
    lines += [note for mark, note in _NOTES.items() if not known.get(mark, False) and note not in lines]
    if known.get(_SEATS, False) and known.get(_RULES, 0) < RULES:
        lines.append(_OLDER_RULES)
    if lines != before:
        settings.notes = "\n".join(lines)
