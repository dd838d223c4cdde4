"""What the user should know of a target beside its result: shown in the panel, and in the command's notes."""

from __future__ import annotations

import numpy as np

from ...solvers.transfer.level import tilt_of
from .model import learnt_of, odd_of, subjects_of


def notes_of_subjects(ob) -> list[str]:
    """Of what was read of both subjects."""
    return ob.motion_loom_transfer.subjects_notes.splitlines()


def notes_of_pairs(ob) -> list[str]:
    """Of the pairs; raises as ``odd_of``."""
    return [f"{text[:1].upper()}{text[1:]}." for text in odd_of(ob)]


def notes_of_learnt(ob) -> list[str]:
    """Of what was learnt; raises as ``learnt_of`` and ``subjects_of``."""
    learnt, settings, notes = learnt_of(ob), ob.motion_loom_transfer, []
    if learnt.turn is None and not _is_stiff(subjects_of(ob).source):
        notes.append(
            "Learnt by an earlier version: the torso leans just as the source's does; Train Again learns what is "
            "other about it"
        )
    if tilt := tilt_of(learnt.level):
        source = settings.source.name if settings.source else "the source"
        notes.append(
            f"The worlds of '{source}' and '{ob.name}' are tilted against each other by {np.degrees(tilt):.0f} "
            f"degrees, and new clips are levelled by that: where '{ob.name}' is the one that is not level, turn it and "
            "all its clips upright, press Read Clips and Train Again"
        )
    return notes


def _is_stiff(subject) -> bool:
    """Whether its torso tells nothing."""
    return subject.parts[0].components == 0
