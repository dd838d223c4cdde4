"""Results whose hips were lowered for the legs: bound again and brought back to their first ground they stay low.

Nothing in a result says that its knees were ever straighter, so that its action keeps what was done to it; so do
results and plain copies that are made of such an action.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...scene.sampling import playing_strips
from ..core import registry

# Metres at 1.8 m: less is not told.
_LEAST = 0.01


def keep_lowered(action, workflow, source, metres: float, scale: float) -> None:
    """Note on a result by how much its hips went down at most, and the name of what it was made of.

    source: what was bound, an action, or the name of the rig whose strips were.  scale: body height / 1.8 m.
    """
    notes, before = _notes(action, workflow), _notes(source, workflow)
    notes.lowered, notes.made_of = 0.0, ""
    if metres > _LEAST * scale:
        notes.lowered, notes.made_of = metres, getattr(source, "name", source)
    if before is not None and before.lowered:
        notes.lowered, notes.made_of = notes.lowered + before.lowered, before.made_of


def carry_lowered(ob, source: tuple, action) -> None:
    """Note on a plain copy of what a rig plays what is known of that."""
    for workflow in registry.registered():
        notes = _notes(action, workflow)
        for each in _played(ob, source) if notes is not None else ():
            before = _notes(each, workflow)
            if before.lowered > notes.lowered:
                notes.lowered, notes.made_of = before.lowered, before.made_of


def lowered_notes(ob, played: tuple, workflow) -> tuple[str, ...]:
    """A sentence at bind for each action that plays and is such a result, strips among them.

    played: action and slot, None for a rig without one.
    """
    known = [(action, _notes(action, workflow)) for action in _played(ob, played)]
    return tuple(
        f"'{action.name}' is a result in which the hips went down by up to {100.0 * notes.lowered:.0f} cm for the "
        f"legs; back on its first ground they stay that low: for the first motion bind '{notes.made_of}'"
        for action, notes in known
        if notes is not None and notes.lowered
    )


def _played(ob, source: tuple) -> Sequence:
    """The actions that play, each once."""
    if source[0] is not None:
        return (source[0],)
    return tuple(dict.fromkeys(strip.action for strip in playing_strips(ob) if strip.action is not None))


def _notes(action, workflow):
    """None where there are none."""
    notes = getattr(action, f"motion_loom_{workflow.id}", None)
    return notes if hasattr(notes, "made_of") else None
