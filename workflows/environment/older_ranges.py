"""Bindings from before results went back to their source outside of the bound frames."""

from __future__ import annotations

from ...scene.session import all_objects

_KNOWN = "goes back"  # on the datablock that holds a binding
_NOTE = (
    "Bound before results went back to the source outside of the bound frames, so the nearest pose is held there; "
    "switch Hold Outside off to change that"
)


def is_older_range(settings) -> bool:
    """Whether something is bound, by a version whose results held still outside of the bound frames."""
    return settings.binding is not None and _KNOWN not in settings.binding


def note_known_range(settings) -> None:
    """Have a new binding tell that it is no older one."""
    settings.binding[_KNOWN] = True


def settle_older_ranges(workflow) -> None:
    """Bindings that an older version saved keep the result that they had; those of a part of a motion say so."""
    for ob in all_objects():
        if ob.type != "ARMATURE" or ob.library is not None or not is_older_range(workflow.settings_of(ob)):
            continue
        settings = workflow.settings_of(ob)
        settings.holds_outside = True
        note_known_range(settings)
        if settings.use_range:
            settings.notes = "\n".join((*settings.notes.splitlines(), _NOTE))
