"""What lay at the place of the open file when it was read or written last. Plain values; nothing of it is saved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class OpenedFile:
    """path: of the file.  identity: see ``scene.whole_file``; None where there was none."""

    path: str = ""
    identity: tuple[int, int, int, int] | None = None


opened_file = OpenedFile()
