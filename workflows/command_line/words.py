"""Words: of a command line, quoted for the shell of this system, and of numbers of things."""

from __future__ import annotations

import math
import os
import shlex
import subprocess
from pathlib import Path

from ...solvers.core.errors import InputError, OutputError

_SHELL_LETTERS = frozenset("&|<>^()%!;,=")  # of the Windows shell, beside blanks, which always quote


def given(option: str, value: str) -> list[str]:
    """Two words, or one where the value would be taken for an option."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def quoted(words: list[str]) -> str:
    """One line to paste into a shell."""
    return " ".join(map(_quoted_for_windows, words)) if os.name == "nt" else shlex.join(words)


def line_on_file(context, program: str, words: list[str], done: str) -> str:
    """One line that runs a command of the extension on the file on disk and saves the result beside it.

    words: the command and its options.  done: what it does, in a word, for the new file's name.
    Raises OutputError where the scene has no file.
    """
    path = context.blend_data.filepath
    if not path:
        raise OutputError("The scene has no file yet; save it, the command works on the file on disk.")
    file = Path(path)
    result = str(file.with_name(f"{file.stem}_{done}.blend"))
    return quoted([program, "--background", path, "--command", "motion_loom", *words, "--output", result])


def counted(count: float, thing: str) -> str:
    """As in "1 pair", "2 pairs" and, of means, "2.5 pairs"."""
    number = int(count) if count == int(count) else count
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def millimetres(length: float) -> str:
    """As in "0.89 mm" and "138 mm", two digits at least."""
    return f"{length:.0f} mm" if length >= 10.0 else f"{length:.2g} mm"


def pair_of_frames(text: str) -> tuple[float, float]:
    """Source and target frame of "12=40"; raises InputError for another text."""
    source, equals, target = text.strip().partition("=")
    try:
        frames = float(source), float(target if equals else "")
        if not all(map(math.isfinite, frames)):
            raise ValueError("a frame is endless or not a number")
    except ValueError as error:
        raise InputError(f"'{text.strip()}' is not a pair; write SOURCE=TARGET with two frames, e.g. 12=40.") from error
    return frames


def _quoted_for_windows(word: str) -> str:
    text = subprocess.list2cmdline([word])
    return f'"{text}"' if not text.startswith('"') and _SHELL_LETTERS & set(text) else text
