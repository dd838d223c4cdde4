"""The command line that does what the panel of Adapt is set to."""

from __future__ import annotations

from pathlib import Path

from ..solvers.errors import OutputError
from .command_words import given, quoted


def command_of(context, ob, program: str = "blender") -> str:
    """The line to paste into a shell: it adapts the rig in the file on disk and saves the result beside it.

    Settings travel in the file. A rig that is not bound yet is bound to the environment in its list.
    Raises OutputError where the scene has no file.
    """
    return quoted([program, *_words(context, ob)])


def _words(context, ob) -> list[str]:
    path = context.blend_data.filepath
    if not path:
        raise OutputError("The scene has no file yet; save it, the command works on the file on disk.")
    chosen = ob.motion_loom_adapt
    words = ["--background", path, "--command", "motion_loom", "adapt", *given("--rig", ob.name)]
    if chosen.binding is None:
        for item in chosen.surfaces:
            words += given("--environment", item.target.name) if item.target else []
        if chosen.use_range:
            words += [f"--start={chosen.start}", f"--end={chosen.end}"]
    if not chosen.assign:
        words.append("--no-assign")
    file = Path(path)
    return [*words, "--output", str(file.with_name(f"{file.stem}_adapted.blend"))]
