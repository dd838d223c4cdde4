"""Keyed controls that do what another keyed one does."""

from __future__ import annotations

import numpy as np

from .control_rig import ControlRig

_NAMED = 3


def sharing_remark(controls: ControlRig, keyed: np.ndarray) -> tuple[str, ...]:
    """A sentence, without a full stop, about keyed controls (C, 2) that carry and move the same bones in the state that
    is the most frequent; but for what carries the whole body."""
    moves, top = controls.moves[0], _first_carried(controls)
    is_keyed = keyed.any(axis=1) & ~moves.all(axis=1) & (top >= 0)
    found: dict[tuple, list[int]] = {}
    for control in np.flatnonzero(is_keyed):
        found.setdefault((int(top[control]), moves[control].tobytes()), []).append(control)
    names = [
        " and ".join(f"'{controls.rig.names[controls.controls[each]]}'" for each in some)
        for some in found.values()
        if len(some) > 1
    ]
    if not names:
        return ()
    more = f", and {len(names) - _NAMED} more such" if len(names) > _NAMED else ""
    return (f"{'; '.join(names[:_NAMED])}{more} carry the same bones: what is to change is shared between them",)


def _first_carried(controls: ControlRig) -> np.ndarray:
    """(C,) the first carrier that each control turns rigidly, posed alone, in the first state; -1 for none."""
    out = np.full(len(controls.controls), -1)
    for (control, carrier), carried in zip(controls.pairs, controls.carried[0, :, 1], strict=True):
        if carried and out[control] < 0:
            out[control] = carrier
    return out
