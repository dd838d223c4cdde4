"""Words: of a command line, quoted for the shell of this system, and of numbers of things."""

from __future__ import annotations

import os
import shlex
import subprocess

_SHELL_LETTERS = frozenset("&|<>^()%!;,=")  # of the Windows shell, beside blanks, which always quote


def given(option: str, value: str) -> list[str]:
    """Two words, or one where the value would be taken for an option."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def quoted(words: list[str]) -> str:
    """One line to paste into a shell."""
    return " ".join(map(_quoted_for_windows, words)) if os.name == "nt" else shlex.join(words)


def counted(count: int, thing: str) -> str:
    """As in "1 pair" and "2 pairs"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _quoted_for_windows(word: str) -> str:
    text = subprocess.list2cmdline([word])
    return f'"{text}"' if not text.startswith('"') and _SHELL_LETTERS & set(text) else text
