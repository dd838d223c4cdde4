"""Tells every workflow what becomes of the file and of the extension: each hook of ``Workflow`` once an event.

One that raises is printed in the console, as Blender prints what fails in a handler, and ends none of the others'.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable

from . import registry
from .base import Workflow


def call(hook: Callable[[Workflow], None]) -> None:
    """Call a hook of every workflow, as ``Workflow.on_load``."""
    for workflow in registry.registered():
        try:
            getattr(workflow, hook.__name__)()
        except Exception:  # whatever it is, the others are called as well
            traceback.print_exc()
