"""How a result keeps hands and feet on the body that they rest on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.adapt.binding import Binding
from ...solvers.adapt.self_contacts import gaps
from ..command_line.words import counted, millimetres

# Metres at 1.8 m within which a gap is kept, and the share of frames from which on no note is needed.
_KEPT, _ENOUGH = 0.01, 0.95


@dataclass(frozen=True)
class OwnKept:
    """One contact of a body with itself: count of frames, how many are kept, and metres by which the gap changes at
    most."""

    bone: str
    other: str
    count: int
    kept: int
    metres: float


def own_kept(binding: Binding, positions: np.ndarray, size: float) -> list[OwnKept]:
    """Of all that are held. positions: (F, J, 3) of the result.  size: of the character against bind."""
    names, parents, out = binding.track.skeleton.names, binding.track.skeleton.parents, []
    for each in binding.own_contacts:
        rows, part = slice(each.first, each.last + 1), np.array([each.part])
        before, after = (
            gaps(places[rows], each.end.held, part, parents)[:, 0] for places in (binding.track.positions, positions)
        )
        off = np.abs(after - size * before)
        bones = names[each.end.joint].removesuffix("/tail"), names[parents[each.part]]
        out.append(OwnKept(*bones, len(off), int((off <= _KEPT * binding.scale).sum()), float(off.max())))
    return out


def own_as_json(kept: list[OwnKept]) -> list[dict]:
    return [
        {"bone": each.bone, "on": each.other, "count": each.count, "kept": each.kept, "mm": 1000.0 * each.metres}
        for each in kept
    ]


def note_of_own(kept: list[dict]) -> list[str]:
    """A sentence of what does not keep its place on the body, of ``own_as_json``; empty where all does."""
    lost = [each for each in kept if each["kept"] < _ENOUGH * each["count"]]
    if not lost:
        return []
    some = [
        f"'{each['bone']}' on bone '{each['on']}' by up to {millimetres(each['mm'])}, in "
        f"{each['count'] - each['kept']} of {counted(each['count'], 'frame')}"
        for each in lost
    ]
    return [f"Hands and feet that leave their places on the body: {'; '.join(some)}"]
