"""Registers everything in one order and unregisters it in the reverse order."""

from __future__ import annotations

import importlib.util
import sys

_cli_commands: list = []


def require_scipy() -> None:
    """Raise ImportError, with the way out, when Blender's Python has no SciPy."""
    if importlib.util.find_spec("scipy") is None:
        raise ImportError(
            "Motion Loom needs SciPy, which this copy does not carry. Install the Motion Loom ZIP made for "
            f'your platform, or add SciPy to this Python: "{sys.executable}" -m pip install scipy'
        )


def register() -> None:
    require_scipy()
    import bpy

    # Imported only now: these load SciPy, and its absence deserves a better message than theirs.
    from . import handlers, jobs, operators, panels, state, workflows

    state.register(workflows.WORKFLOWS)
    operators.register()
    panels.register(workflows.WORKFLOWS)
    handlers.register()
    _cli_commands.append(bpy.utils.register_cli_command("motion_loom", jobs.main))


def unregister() -> None:
    import bpy

    from . import handlers, operators, panels, state, workflows

    while _cli_commands:
        bpy.utils.unregister_cli_command(_cli_commands.pop())
    handlers.unregister()
    panels.unregister()
    operators.unregister()
    state.unregister(workflows.WORKFLOWS)
