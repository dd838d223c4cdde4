"""The rest skeleton of one armature object, and what its bones inherit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.errors import InputError
from ..rotations import channels

INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
ROTATION_MODES = ("QUATERNION", "AXIS_ANGLE", *channels.EULER_ORDERS)


@dataclass(frozen=True)
class Rig:
    """The rest skeleton of one armature object, parents first.

    names: B bone names.  parents: (B,) int, -1 for a root.  rest: (B, 4, 4) armature space.  lengths: (B,).
    use_connect, inherit_rotation, use_local_location: (B,) bool.
    inherit_scale: B of INHERIT_SCALE.  rotation_modes: B of ROTATION_MODES.
    name: the armature object's, for messages.
    Raises InputError when a bone comes before its parent, or has an unknown mode.
    """

    names: tuple[str, ...]
    parents: np.ndarray
    rest: np.ndarray
    lengths: np.ndarray
    use_connect: np.ndarray
    inherit_rotation: np.ndarray
    inherit_scale: tuple[str, ...]
    use_local_location: np.ndarray
    rotation_modes: tuple[str, ...]
    name: str = "Armature"

    def __post_init__(self):
        if not len(self.names):
            raise InputError(f"'{self.name}' has no bones.")
        late = np.flatnonzero(self.parents >= np.arange(len(self.parents)))
        if late.size:
            raise InputError(f"Bone '{self.names[late[0]]}' comes before its parent; sort parents first.")
        for bone, scale, mode in zip(self.names, self.inherit_scale, self.rotation_modes, strict=True):
            if scale not in INHERIT_SCALE or mode not in ROTATION_MODES:
                raise InputError(f"Bone '{bone}': unknown inherit scale '{scale}' or rotation mode '{mode}'.")

    @cached_property
    def offsets(self) -> np.ndarray:
        """(B, 4, 4) rest matrix relative to the parent's rest matrix."""
        out = self.rest.copy()
        child = self.parents >= 0
        out[child] = np.linalg.inv(self.rest[self.parents[child]]) @ self.rest[child]
        return out

    @cached_property
    def levels(self) -> tuple[np.ndarray, ...]:
        """Bone indices of depth 0, 1, ...: all bones of a level can be posed together."""
        depth = np.zeros(len(self.parents), int)
        for bone, parent in enumerate(self.parents):
            depth[bone] = depth[parent] + 1 if parent >= 0 else 0
        return tuple(np.flatnonzero(depth == level) for level in range(depth.max() + 1))

    def ancestry(self, bones: np.ndarray) -> np.ndarray:
        """Indices, rising, of bones (n,) and all their ancestors."""
        above = np.zeros(len(self.parents), bool)
        for bone in bones:
            while bone >= 0 and not above[bone]:
                above[bone] = True
                bone = self.parents[bone]
        return np.flatnonzero(above)

    @cached_property
    def is_plain(self) -> np.ndarray:
        """(B,) bool: the bone follows its parent's whole matrix, location included."""
        full = np.array([mode == "FULL" for mode in self.inherit_scale])
        return self.use_local_location & ((self.parents < 0) | (full & self.inherit_rotation))

    @cached_property
    def leaves(self) -> np.ndarray:
        """Indices of bones without children."""
        return np.setdiff1d(np.arange(len(self.parents)), self.parents)


def separate(rig: Rig) -> Rig:
    """The same bones, each by itself: none has a parent, so that a pose is told whatever moves the bones."""
    count = len(rig.names)
    return replace(
        rig,
        parents=np.full(count, -1),
        use_connect=np.zeros(count, bool),
        inherit_rotation=np.ones(count, bool),
        inherit_scale=("FULL",) * count,
        use_local_location=np.ones(count, bool),
    )


def part_of(rig: Rig, bones: np.ndarray) -> Rig:
    """A rig of some bones (n,) alone, rising; all their ancestors are among them."""
    index = np.full(len(rig.parents) + 1, -1)
    index[bones] = np.arange(len(bones))
    return Rig(
        tuple(rig.names[bone] for bone in bones),
        index[rig.parents[bones]],
        rig.rest[bones],
        rig.lengths[bones],
        rig.use_connect[bones],
        rig.inherit_rotation[bones],
        tuple(rig.inherit_scale[bone] for bone in bones),
        rig.use_local_location[bones],
        tuple(rig.rotation_modes[bone] for bone in bones),
        rig.name,
    )
