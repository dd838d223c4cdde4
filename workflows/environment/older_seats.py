"""What bindings that an older version saved do not know, which each says in its notes."""

from __future__ import annotations

from ...scene.session import all_objects

_KNOWN = "knows seats"  # on the datablock that holds a binding
_NOTE = (
    "Bound before seats were contacts: only hands, feet and head hold to what they touch. Bind Again to hold trunk, "
    "knees and elbows too"
)


def note_seats_known(settings, is_known: bool) -> None:
    """Of a new binding."""
    settings.binding[_KNOWN] = is_known
    _tell(settings)


def tell_older_seats(workflow) -> None:
    """Bindings that an older version saved keep the result that they had; each says so in its notes."""
    for ob in all_objects():
        if ob.type == "ARMATURE" and ob.library is None:
            settings = workflow.settings_of(ob)
            if settings.binding is not None:
                _tell(settings)


def _tell(settings) -> None:
    lines = settings.notes.splitlines()
    if not settings.binding.get(_KNOWN, False) and _NOTE not in lines:
        settings.notes = "\n".join((*lines, _NOTE))
