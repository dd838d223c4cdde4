"""What the user should know of a target beside its result: shown in the panel, and in the command's notes."""

from __future__ import annotations

from .model import target_of
from .pairs import odd_one, odd_text
from .shared_frames import shared_notes
from .unmet import told_contradiction, unmet_notes


def notes_of_pairs(ob) -> list[str]:
    """Of the pairs; raises as ``target_of``, and InputError for one that cannot be."""
    odd, contradiction = odd_one(ob), told_contradiction(ob)
    told = [_sentence(text) for text in (contradiction, odd and odd_text(odd)) if text]
    return told + shared_notes(ob) + unmet_notes(ob)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def notes_of_target(ob) -> list[str]:
    """Of what was learnt; raises as ``target_of``."""
    loose, doubts = target_of(ob).loose, target_of(ob).doubts
    if not loose:
        return [*doubts]
    return [
        f"Learnt by an earlier version: of the vertices, {loose:,} lie where others do and move by themselves, so "
        "seams and hard edges may come apart; Learn Again keeps them together",
        *doubts,
    ]
