"""What new actions are called, and names in messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NAMED = 3


def result_name(source: str, kind: str) -> str:
    """ "Walk (adapted)" for a source "Walk"; of a result or a live action the name is that of its own source again.

    kind: what was done, e.g. "adapted". Blender counts on where the name is taken.
    """
    origin = re.sub(rf" \(({kind}|live)\)(\.\d+)?$", "", source)
    return f"{origin} ({kind})"


def listed(names: Sequence[str]) -> str:
    """The first few names, quoted, and how many more there are."""
    shown = [f"'{name}'" for name in names[:_NAMED]]
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    *most, last = shown + more
    return f"{', '.join(most)} and {last}" if most else last
