"""The script of a command that changes the scene between bind and adapt."""

from __future__ import annotations

import os
import runpy

from ...scene.session import exists, object_of
from ...solvers.core.errors import InputError


def run_change(context, ob, workflow, path: str) -> None:
    """Run a script that edits the scene; raises InputError where the rig is not there after it as it has to be."""
    name = ob.name
    _run_script(path)
    if not exists(ob):
        raise InputError(f"The script '{path}' deleted the rig '{name}' or opened another file; let it keep the rig.")
    if not hasattr(ob, workflow.settings_name):
        raise InputError(f"The script '{path}' switched Motion Loom off; let it keep the extension.")
    if object_of(context.scene, ob.session_uid, ob.name) is None:
        raise InputError(
            f"After the script '{path}' the rig '{ob.name}' is not in the scene '{context.scene.name}'; let it keep "
            "the rig in the scene that is open."
        )
    context.view_layer.update()


def _run_script(path: str) -> None:
    if not os.path.isfile(path):  # also where a folder cannot be entered or the name is too long
        raise InputError(f"There is no script '{path}' that can be reached; choose another --change.")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(f"The script '{path}' cannot be read: {error.strerror}; choose another --change.") from error
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise InputError(f"The script '{path}' failed: it ended with {end.code}.") from end
    except Exception as error:
        raise InputError(f"The script '{path}' failed: {type(error).__name__}: {error}") from error
