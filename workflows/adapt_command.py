"""The command line that does what the panel of Adapt is set to."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from ..solvers.errors import OutputError

_SHELL_LETTERS = frozenset("&|<>^()%!;,=")  # of the Windows shell, beside blanks, which always quote


def command_of(context, ob, program: str = "blender") -> str:
    """The line to paste into a shell: it adapts the rig in the file on disk and saves the result beside it.

    Settings travel in the file. A rig that is not bound yet is bound to the environment in its list.
    Raises OutputError where the scene has no file.
    """
    return _quoted([program, *_words(context, ob)])


def _words(context, ob) -> list[str]:
    path = context.blend_data.filepath
    if not path:
        raise OutputError("The scene has no file yet; save it, the command works on the file on disk.")
    chosen = ob.motion_loom_adapt
    words = ["--background", path, "--command", "motion_loom", "adapt", *_given("--rig", ob.name)]
    if chosen.binding is None:
        for item in chosen.surfaces:
            words += _given("--environment", item.target.name) if item.target else []
        if chosen.use_range:
            words += [f"--start={chosen.start}", f"--end={chosen.end}"]
    if not chosen.assign:
        words.append("--no-assign")
    file = Path(path)
    return [*words, "--output", str(file.with_name(f"{file.stem}_adapted.blend"))]


def _given(option: str, value: str) -> list[str]:
    """Two words, or one where the value would be taken for an option."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def _quoted(words: list[str]) -> str:
    return " ".join(map(_quoted_for_windows, words)) if os.name == "nt" else shlex.join(words)


def _quoted_for_windows(word: str) -> str:
    text = subprocess.list2cmdline([word])
    return f'"{text}"' if not text.startswith('"') and _SHELL_LETTERS & set(text) else text
