"""Registers everything in one order and unregisters it in the reverse order."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .workflows.core.base import Workflow

_cli_commands: list = []


def require_scipy() -> None:
    """Raise ImportError, with the way out, when Blender's Python has no SciPy."""
    if importlib.util.find_spec("scipy") is None:
        raise ImportError(
            "Motion Loom needs SciPy, which this copy does not carry. Install the Motion Loom ZIP made for "
            f'your platform, or add SciPy to this Python: "{sys.executable}" -m pip install scipy'
        )


def register(workflows: Sequence[Workflow] | None = None) -> None:
    """Register with the workflows given, by default all of Motion Loom's."""
    require_scipy()
    import bpy

    # Imported only now: these load SciPy, and its absence deserves a better message than theirs.
    from . import handlers, jobs, operators, panels, state
    from .workflows import WORKFLOWS
    from .workflows.core import registry

    registry.use(WORKFLOWS if workflows is None else workflows)
    state.register(registry.registered())
    operators.register(registry.registered())
    panels.register(registry.registered())
    handlers.register()
    _cli_commands.append(bpy.utils.register_cli_command("motion_loom", jobs.main))


def unregister() -> None:
    import bpy

    from . import handlers, operators, panels, state
    from .workflows.core import registry

    while _cli_commands:
        bpy.utils.unregister_cli_command(_cli_commands.pop())
    handlers.unregister()
    panels.unregister()
    operators.unregister()
    state.unregister(registry.registered())
    registry.use(())
