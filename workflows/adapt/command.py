"""The command line that does what the panel of Adapt is set to."""

from __future__ import annotations

from ..command_line.words import given, line_on_file


def command_of(context, ob, program: str = "blender") -> str:
    """The line to paste into a shell: it adapts the rig in the file on disk and saves the result beside it.

    Settings travel in the file. A rig that is not bound yet is bound to the environment in its list.
    Raises OutputError where the scene has no file.
    """
    chosen = ob.motion_loom_adapt
    words = ["adapt", *given("--rig", ob.name)]
    if chosen.binding is None:
        for item in chosen.surfaces:
            words += given("--environment", item.target.name_full) if item.target else []
        for item in chosen.joints:
            words += given(f"--{item.mode.lower()}", item.name) if item.mode in ("SOLVE", "RIDE") else []
        if chosen.use_range:
            words += [f"--start={chosen.start}", f"--end={chosen.end}"]
    if not chosen.assign:
        words.append("--no-assign")
    return line_on_file(context, program, words, "adapted")
