"""What is said of a rig that is read: what of it is left out, and what rides though it moves by itself."""

from __future__ import annotations

import numpy as np

from ...solvers.skeleton.hierarchy import carriers
from ...solvers.skeleton.limbs import straying, uncovered
from ..core.naming import listed
from .source import Source

# A share of the moving body below which it is said what is left out.
_HALF = 0.5


def staying_notes(source: Source) -> tuple[str, ...]:
    """A note of the bones that go with no solved one."""
    names = [source.motion.rig.names[bone] for bone in source.staying]
    if not names:
        return ()
    if len(names) == 1:
        return (f"{listed(names)} stays where the source has it: no solved bone carries it",)
    return (f"{listed(names)} stay where the source has them: no solved bone carries them",)


def control_notes(source: Source) -> tuple[str, ...]:
    """What is said of a rig that controls move: what was found as they were measured, and what of the deforming bones
    goes with none that is solved."""
    remarks = source.controls.remarks
    staying = np.intersect1d(source.staying, source.controls.verified)
    names = [source.motion.rig.names[bone] for bone in staying]
    if not names:
        return remarks
    return (*remarks, f"{listed(names)} {'go' if len(names) > 1 else 'goes'} with nothing that is solved")


def left_out_notes(
    source: Source, pose: np.ndarray, body: np.ndarray, limbs: np.ndarray, size: float
) -> tuple[str, ...]:
    """A note where less than half of the body's motion is solved, else where limbs that move by themselves ride.

    pose: (F, B, 4, 4).  body, limbs: (B,) bool, its bones, and all that may be limbs of it.  size: in the rig's units.
    """
    rig, heads, above = source.motion.rig, source.bones[source.bones >= 0], source.motion_parents
    own, is_solved = carriers(above, heads), np.isin(np.arange(len(body)), heads)
    carrier = np.where(own < len(heads), heads[np.minimum(own, len(heads) - 1)], -1)
    positions, tree = pose[..., :3, 3], above.copy()
    tree[heads] = _solved_parents(source)  # a root goes with what hangs on it: no tree
    limb = straying(positions, pose, tree, limbs, is_solved, carrier, size)
    share, left = uncovered(positions, pose, above, body | (limb >= 0), is_solved, carrier, size)
    if share >= _HALF:
        return _moving_apart(rig.names, np.unique(limb[limb >= 0]), carrier)
    first = [rig.names[bone] for bone in np.flatnonzero(left & ~((above >= 0) & left[above]))]
    return (
        f"Only {100 * share:.0f} % of what moves is solved: {listed(first)} ride on the rest with all below; "
        "choose Solve for them under Joints and bind again",
    )


def _solved_parents(source: Source) -> np.ndarray:
    """(H,) the solved bone that each solved bone hangs on, -1 for none."""
    bones, parents = source.bones, source.solved.parents
    return np.where(parents >= 0, bones[parents], -1)[bones >= 0]


def _moving_apart(names, limbs: np.ndarray, carrier: np.ndarray) -> tuple[str, ...]:
    """A note for each bone that carries limbs which move by themselves. limbs: (L,) first bones.  carrier: (B,)."""
    notes = []
    for bone in np.unique(carrier[limbs]):
        own = [names[first] for first in limbs[carrier[limbs] == bone]]
        notes.append(
            f"The {'limb' if len(own) == 1 else 'limbs'} from {listed(own)} on "
            f"{'moves by itself but rides' if len(own) == 1 else 'move by themselves but ride'} on '{names[bone]}'; "
            "choose Solve for all of it under Joints and bind again"
        )
    return tuple(notes)
