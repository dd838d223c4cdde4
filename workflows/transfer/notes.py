"""What the user should know of a target beside its result: shown in the panel, and in the command's notes."""

from __future__ import annotations

from .model import learnt_of, odd_of, subjects_of


def notes_of_pairs(ob) -> list[str]:
    """Of the pairs; raises as ``odd_of``."""
    return [f"{text[:1].upper()}{text[1:]}." for text in odd_of(ob)]


def notes_of_learnt(ob) -> list[str]:
    """Of what was learnt; raises as ``learnt_of`` and ``subjects_of``."""
    if learnt_of(ob).turn is None and not _is_stiff(subjects_of(ob).source):
        return [
            "Learnt by an earlier version: the torso leans just as the source's does; Train Again learns what is "
            "other about it"
        ]
    return []


def _is_stiff(subject) -> bool:
    """Whether its torso tells nothing."""
    return subject.parts[0].components == 0
