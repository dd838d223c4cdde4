"""Results whose hips were lowered for the legs: bound again and brought back to their first ground they stay low.

Nothing in a result says that its knees were ever straighter, so that its action keeps what was done to it.
"""

from __future__ import annotations

# Metres at 1.8 m: less is not told.
_LEAST = 0.01


def keep_lowered(action, workflow, source: str, metres: float, scale: float) -> None:
    """Note on a result by how much its hips went down at most, and the name of what it was made of.

    scale: body height / 1.8 m.
    """
    notes = getattr(action, f"motion_loom_{workflow.id}")
    notes.lowered, notes.made_of = (metres, source) if metres > _LEAST * scale else (0.0, "")


def lowered_notes(action, workflow) -> tuple[str, ...]:
    """A sentence at bind where the action that is bound is such a result. action: None for a rig without one."""
    notes = None if action is None else getattr(action, f"motion_loom_{workflow.id}", None)
    if not notes or not notes.lowered:
        return ()
    return (
        f"'{action.name}' is a result in which the hips went down by up to {100.0 * notes.lowered:.0f} cm for the "
        f"legs; back on its first ground they stay that low: for the first motion bind '{notes.made_of}'",
    )
