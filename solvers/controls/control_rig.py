"""What was measured of a rig whose bones are moved by controls: which bones are keyed, and what each of them carries.

C controls, K carriers, S states of switches, B bones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..skeleton.rig import Rig


@dataclass(frozen=True)
class ControlRig:
    """A rig as an animator keys it.

    rig: all bones.
    controls: (C,) bones that are keyed, rising.
    free: (C, 6) bool, the channels that are not locked: location x, y, z, then rotation x, y, z.  In a bone with an
        Euler mode the latter are its angles, else components of a rotation vector about the bone's own axes.
    carriers: (K,) bones whose transforms say how the body is posed, each after the one that it hangs on.
    carrier_parents: (K,) int, the carrier that each hangs on, as an index into carriers, -1 for a root.
    rides: (B,) int, the carrier that each bone goes with rigidly, as an index into carriers, -1 where none carries it.
    switches: P data paths, from the object, of custom properties that change what a control carries.
    states: (S, P) the values of switches that were measured.
    riders: (S, C) int, the carrier on which each control rides rigidly in a state, -1 where it rides on none.
    moves: (S, C, K) bool, whether a control moves a carrier in a state.
    verified: (D,) bones by which a result is judged: those that deform meshes.
    Raises InputError where a carrier comes before the one that it hangs on.
    """

    rig: Rig
    controls: np.ndarray
    free: np.ndarray
    carriers: np.ndarray
    carrier_parents: np.ndarray
    rides: np.ndarray
    switches: tuple[str, ...]
    states: np.ndarray
    riders: np.ndarray
    moves: np.ndarray
    verified: np.ndarray

    def __post_init__(self):
        late = np.flatnonzero(self.carrier_parents >= np.arange(len(self.carriers)))
        if late.size:
            name = self.rig.names[self.carriers[late[0]]]
            raise InputError(f"Bone '{name}' comes before the one that it hangs on; sort the carriers.")

    def state_of(self, values: np.ndarray) -> np.ndarray:
        """(F,) the measured state that is nearest to values (F, P) of the switches."""
        if not len(self.switches):
            return np.zeros(len(values), int)
        return np.abs(values[:, None] - self.states).max(axis=-1).argmin(axis=-1)
