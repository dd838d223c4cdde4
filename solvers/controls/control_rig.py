"""What was measured of a rig whose bones are moved by controls: which bones are keyed, and what each of them carries.

C controls, K carriers, S states of switches, B bones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.errors import InputError
from ..skeleton.rig import Rig

_LIMB_FIRST = 100.0  # switches of limbs count as so many others
# What a control does for the trunk: nothing, a part of it that no other does, again what another does that poses it
# (as the bones of an FK spine do), the same without posing any other control in turn.
TRUNK = NO_TRUNK, MAIN, SPINE_FK, TWEAK = range(4)


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

    What choosing other controls than the motion keys takes, None where it was not measured; N pairs, L limbs:
    pairs: (N, 2) int, a control and a carrier that it carries rigidly.  carried: (S, N, 2) bool, as it is moved or
    turned.  parted: (S, N, 2, C) bool, whether moving or turning a control parts the pair.
    limb_switches: (L,) int, of switches, those that give limbs to one set of controls or to another.
    limb_values: (L, 2) of each at its FK end and at its IK end: at the former controls ride on more of the limb.
    limb_carriers: (L, K) bool.  limb_controls: (L, 2, C) bool, those that pose the limb, and nothing else, at
    either end.
    trunk: (C,) int, of ``TRUNK``: what a control does for what is in no limb.
    remarks: what is wrong with the rig or was left out, sentences without full stops.
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
    pairs: np.ndarray | None = None
    carried: np.ndarray | None = None
    parted: np.ndarray | None = None
    limb_switches: np.ndarray | None = None
    limb_values: np.ndarray | None = None
    limb_carriers: np.ndarray | None = None
    limb_controls: np.ndarray | None = None
    trunk: np.ndarray | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self):
        late = np.flatnonzero(self.carrier_parents >= np.arange(len(self.carriers)))
        if late.size:
            name = self.rig.names[self.carriers[late[0]]]
            raise InputError(f"Bone '{name}' comes before the one that it hangs on; sort the carriers.")

    @cached_property
    def size(self) -> float:
        """The longest way across the carriers at rest, in the rig's units: about the height of a person."""
        return float(np.ptp(self.rig.rest[self.carriers, :3, 3], axis=0).max())

    @cached_property
    def owners(self) -> np.ndarray:
        """(B,) the carrier that each bone goes with, as an index into carriers, -1 where none is known.

        What deforms meshes between two carriers, as twists and spines that bend do, rides on none rigidly: it goes with
        the one that it lies at in the rest pose.
        """
        out = self.rides.copy()
        loose = self.verified[out[self.verified] < 0]
        heads = self.rig.rest[:, :3, 3]
        axes = self.rig.rest[:, :3, 1] * self.rig.lengths[:, None]
        starts, ways = heads[self.carriers], axes[self.carriers]
        away = (heads + 0.5 * axes)[loose, None] - starts
        share = (away * ways).sum(axis=-1) / np.maximum((ways * ways).sum(axis=-1), 1e-12)
        out[loose] = np.linalg.norm(away - np.clip(share, 0.0, 1.0)[..., None] * ways, axis=-1).argmin(axis=1)
        return out

    @cached_property
    def motion_tree(self) -> np.ndarray:
        """(B,) the bone that each bone moves with, -1 for none: of a carrier the one that it hangs on, of others the
        one that they go with, else their parent."""
        out = np.where(self.owners >= 0, self.carriers[np.maximum(self.owners, 0)], self.rig.parents)
        above = self.carrier_parents
        out[self.carriers] = np.where(above >= 0, self.carriers[np.maximum(above, 0)], -1)
        return out

    @cached_property
    def deforming(self) -> np.ndarray:
        """(B,) bool, the carriers with which something goes that is verified, on them or on one that hangs on them."""
        used = np.isin(np.arange(len(self.carriers)), self.owners[self.verified])
        for carrier in range(len(used))[::-1]:
            if used[carrier] and self.carrier_parents[carrier] >= 0:
                used[self.carrier_parents[carrier]] = True
        out = np.zeros(len(self.rig.names), bool)
        out[self.carriers[used]] = True
        return out

    def posed_by(self, active: np.ndarray) -> ControlRig:
        """The same rig with the riders that there are while the location and the rotation of some controls are posed,
        (C, 2) bool, and of no others."""
        if self.pairs is None:
            return self
        own = np.arange(len(active)) == self.pairs[:, :1]
        counts = active.T | (own & ~active.any(axis=1))[:, None]
        rides = (self.carried & counts[np.arange(len(own)), :, self.pairs[:, 0]]).any(axis=2)
        rides &= ~(self.parted & counts).any(axis=(2, 3))
        out = np.full_like(self.riders, -1)
        for state, pair in zip(*np.nonzero(rides), strict=True):
            control, carrier = self.pairs[pair]
            if out[state, control] < 0:
                out[state, control] = carrier  # the first: others hang on it
        return replace(self, riders=out)

    @property
    def modes(self) -> tuple[str, ...]:
        """C rotation modes of the controls."""
        return tuple(self.rig.rotation_modes[bone] for bone in self.controls)

    def state_of(self, values: np.ndarray) -> np.ndarray:
        """(F,) the measured state that is nearest to values (F, P) of the switches: those of limbs come first, since
        not every mixture of the others is measured."""
        if not len(self.switches):
            return np.zeros(len(values), int)
        weight = np.ones(len(self.switches))
        if self.limb_switches is not None:
            weight[self.limb_switches] = _LIMB_FIRST
        return (np.abs(values[:, None] - self.states) * weight).sum(axis=-1).argmin(axis=-1)
