"""Tells every workflow what becomes of the file and of the extension: each hook of ``Workflow`` once an event.

One that raises is printed in the console, as Blender prints what fails in a handler, and ends none of the others'.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable

from . import registry
from .base import Workflow


def loaded() -> None:
    """Another file is open."""
    _tell(lambda workflow: workflow.on_load())


def saving() -> None:
    """The file is about to be saved."""
    _tell(lambda workflow: workflow.on_save())


def undone() -> None:
    """Undo or redo has replaced what there was."""
    _tell(lambda workflow: workflow.on_undo())


def unregistered() -> None:
    """The extension is being switched off."""
    _tell(lambda workflow: workflow.on_unregister())


def _tell(hook: Callable[[Workflow], None]) -> None:
    for workflow in registry.registered():
        try:
            hook(workflow)
        except Exception:  # whatever it is, the others are told as well
            traceback.print_exc()
