"""What new actions are called."""

from __future__ import annotations

import re


def result_name(source: str, kind: str) -> str:
    """ "Walk (adapted)" for a source "Walk"; of a result or a live action the name is that of its own source again.

    kind: what was done, e.g. "adapted". Blender counts on where the name is taken.
    """
    origin = re.sub(rf" \(({kind}|live)\)(\.\d+)?$", "", source)
    return f"{origin} ({kind})"
