"""Which controls the trunk is posed by as a whole: the root that places a character, what moves the pelvis, details."""

from __future__ import annotations

import numpy as np

from .control_rig import NO_TRUNK, ControlRig

# A control farther than this share of the body from where the body begins, and that carries all of it, is the rig's
# root: what places the character, which goes on as it is keyed.
_ROOT = 0.25
# Parts of the body's size within which a carrier goes on where another ends.
_GOES_ON = 0.02


def placing_roots(controls: ControlRig, among: np.ndarray) -> np.ndarray:
    """(C,) bool, controls that carry all that some (C,) bool move, far from where the body begins.

    None of them goes itself with what hangs on the body: a bone of a tail, which pulls at those above it, is no root.
    """
    heads = controls.rig.rest[:, :3, 3]
    away = np.linalg.norm(heads[controls.controls] - heads[controls.carriers[first_carrier(controls)]], axis=-1)
    moved = controls.moves[:, among].any(axis=(0, 1))
    hangs = ((controls.riders >= 0) & (controls.carrier_parents[controls.riders] >= 0)).any(axis=0)
    return (controls.moves | ~moved).all(axis=(0, 2)) & (away > _ROOT * controls.size) & ~hangs


def first_carrier(controls: ControlRig) -> int:
    """The carrier that the body begins with, which hangs on none."""
    return int(np.flatnonzero(controls.carrier_parents < 0)[0])


def placing_control(controls: ControlRig) -> int | None:
    """The control of the trunk that moves most of what the body begins with, beside the root; None where none does."""
    if controls.trunk is None:
        return None
    moves_first = controls.moves[:, :, first_carrier(controls)].all(axis=0)
    fit = moves_first & (controls.trunk != NO_TRUNK) & controls.free[:, :3].all(axis=1)
    fit &= ~placing_roots(controls, np.ones(len(fit), bool))
    count = np.where(fit, controls.moves.any(axis=0).sum(axis=1), -1)
    return int(count.argmax()) if fit.any() else None


def only_details(controls: ControlRig) -> np.ndarray:
    """(C,) bool, controls of which all that they move leads neither to limbs nor to the head.

    Such a carrier has nothing on it, hangs on one that carries more, and does not go on where that ends: a breast.
    """
    rig, parents = controls.rig, controls.carrier_parents
    children = np.bincount(parents[parents >= 0], minlength=len(parents))
    heads = rig.rest[controls.carriers, :3, 3]
    tails = heads + rig.rest[controls.carriers, :3, 1] * rig.lengths[controls.carriers, None]
    apart = np.linalg.norm(heads - tails[parents], axis=-1) > _GOES_ON * controls.size
    detail = (parents >= 0) & (children == 0) & (children[parents] > 1) & apart
    return ~(controls.moves & ~detail).any(axis=(0, 2))
