"""Limbs that a switch gives to one set of controls or to another, and which set is which.

No name tells: where controls ride on more of a limb's bones it is posed bone by bone (FK), at the other end by what it
reaches for (IK).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .measured_poses import MeasuredPoses


@dataclass(frozen=True)
class Limbs:
    """See ``ControlRig``: switches (L,), values (L, 2), carriers (L, K), controls (L, 2, C)."""

    switches: np.ndarray
    values: np.ndarray
    carriers: np.ndarray
    controls: np.ndarray


def find_limbs(poses: MeasuredPoses, carriers: np.ndarray, parents: np.ndarray) -> Limbs:
    """carriers: (K,), parents: (K,) indices among them, -1 for roots."""
    carries = poses.carries[..., carriers]
    found = []
    for switch in np.flatnonzero(poses.limb_switches):
        limb = _with_descendants(poses.switched[switch, carriers], parents)
        states = [_state_at(poses, switch, value) for value in poses.ends[switch]]
        if not limb.any() or None in states:
            continue
        sets = _own_controls(carries[states], limb)
        if (sets[0] == sets[1]).all():
            continue
        ridden = [_ridden(poses, carriers, state, limb, own) for state, own in zip(states, sets, strict=True)]
        order = (0, 1) if ridden[0] >= ridden[1] else (1, 0)
        sets = sets[list(order)]
        sets[1] &= ~poses.switched[switch, poses.controls]  # they are placed by what the switch turns on
        found.append((switch, poses.ends[switch][list(order)], limb, sets))
    count = len(found)
    switches, values, limbs, controls = zip(*found, strict=True) if found else ((), (), (), ())
    return Limbs(
        np.array(switches, int),
        np.array(values, float).reshape(count, 2),
        np.array(limbs, bool).reshape(count, len(carriers)),
        np.array(controls, bool).reshape(count, 2, len(poses.controls)),
    )


def _with_descendants(chosen: np.ndarray, parents: np.ndarray) -> np.ndarray:
    out = chosen.copy()
    for number, parent in enumerate(parents):
        out[number] |= parent >= 0 and out[parent]
    return out


def _state_at(poses: MeasuredPoses, switch: int, value: float) -> int | None:
    """A state in which a switch has a value, the last such: there all limbs are alike."""
    found = np.flatnonzero(np.abs(poses.states[:, switch] - value) < 1e-6)
    return int(found[-1]) if found.size else None


def _own_controls(carries: np.ndarray, limb: np.ndarray) -> np.ndarray:
    """(2, C) bool, the controls that move carriers of a limb (K,) and no others at either end; carries (2, 2, C, K).

    One that turns some at an end counts as it turns: most can also be moved away from where they hang.
    """
    turns = carries[:, 1, :, limb].any(axis=(0, 1))
    moved = np.where(turns[None, :, None], carries[:, 1], carries.any(axis=1))
    return moved[..., limb].any(axis=-1) & ~moved[..., ~limb].any(axis=-1)


def _ridden(
    poses: MeasuredPoses, carriers: np.ndarray, state: int, limb: np.ndarray, own: np.ndarray
) -> tuple[int, int]:
    """How many of a limb's own controls turn a carrier of it rigidly whatever the others do, and how many carriers.

    A bone of its own for each is what tells FK: an arm's IK, whose hand turns by itself, carries as many bones.
    """
    controls, which = np.nonzero(poses.carries[state, 1][:, carriers] & own[:, None] & limb)
    if not controls.size:
        return 0, 0
    parted = poses.loosened_by(poses.controls[controls], carriers[which])[state, :, 1]
    alone = ~(parted & own).any(axis=1)
    return len(np.unique(controls[alone])), len(np.unique(which[alone]))
