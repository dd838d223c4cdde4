"""What was measured at Bind of a rig whose bones are moved by controls, as it is kept with the binding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...scene.control_candidates import unlocked
from ...scene.held_as_bound import HeldAsBound
from ...scene.mechanism import changed_mechanism, mechanism_marks
from ...scene.rigs import read_rig
from ...solvers.controls.control_rig import ControlRig
from ...solvers.core.errors import StaleBindingError
from ..core.stored_arrays import require_indices, require_shapes, require_texts

# C controls, K carriers, B bones, S states, P switches, D verified; see ``stored_arrays.require_shapes``.
_SHAPES = {
    "controls": "i C", "free": "b C 6", "carriers": "i K", "carrier_parents": "i K", "rides": "i B",
    "states": "f S P", "riders": "i S C", "moves": "b S C K", "verified": "i D",
}  # fmt: skip
# What is there where writing to other controls than the source keys was measured; L limbs, N pairs, E ends.
_MORE = {
    "pairs": "i N 2", "carried": "b S N 2", "parted": "b S N 2 C", "limb_switches": "i L", "limb_values": "f L 2",
    "limb_carriers": "b L K", "limb_controls": "b L 2 C", "trunk": "i C",
}  # fmt: skip
_PREFIX = "controls "


@dataclass(frozen=True)
class KnownControls:
    """arrays: of a ``ControlRig``, by their names there.  names: of the bones.  switches: see there.
    marks: of the rig's mechanism, see ``scene.mechanism``.
    held: what constraints hold to outside of the rig, None where nothing is, and in files from before it was kept."""

    arrays: dict[str, np.ndarray]
    names: tuple[str, ...]
    switches: tuple[str, ...]
    marks: dict[str, str]
    held: HeldAsBound | None = None

    @classmethod
    def of(cls, ob, measured: ControlRig, held: HeldAsBound | None = None) -> KnownControls:
        """What was measured of a rig, as it is now."""
        arrays = {name: getattr(measured, name) for name in (*_SHAPES, *_MORE)}
        arrays = {name: array for name, array in arrays.items() if array is not None}
        return cls(arrays, measured.rig.names, measured.switches, mechanism_marks(ob), held)

    def on(self, ob) -> ControlRig:
        """The controls of the rig as it is now; raises StaleBindingError where its mechanism is another by now."""
        changed = changed_mechanism(ob, self.marks, self.names)
        if changed:
            which = "; ".join(f"{what}: {bones}" for what, bones in changed.items() if bones)
            raise StaleBindingError(
                f"The {' and the '.join(changed)} of '{ob.name}' have changed since it was bound"
                f"{which and f' ({which})'}, as when a rig is generated anew; bind again."
            )
        rig, arrays = read_rig(ob), dict(self.arrays)
        # What was locked since is not written either.
        arrays["free"] = arrays["free"] & unlocked(ob, [rig.names[bone] for bone in arrays["controls"]])
        return ControlRig(rig=rig, switches=self.switches, **arrays)

    def locks(self, ob) -> np.ndarray:
        """(C, 6) bool, the channels of controls that are not locked now, of those that the rig still has."""
        present = ob.pose.bones
        return unlocked(ob, [name for bone in self.arrays["controls"] if (name := self.names[bone]) in present])

    def packed(self) -> tuple[dict[str, np.ndarray], dict]:
        """Arrays, and what a header holds of them."""
        header = {"names": list(self.names), "switches": list(self.switches), "marks": self.marks}
        arrays = dict(self.arrays)
        if self.held is not None:
            header["held"] = [list(link) for link in self.held.links]
            arrays |= {"held worlds": self.held.worlds, "held rig": self.held.rig}
        return {_PREFIX + name: array for name, array in arrays.items()}, header


def unpacked_controls(arrays: dict[str, np.ndarray], header: dict | None) -> KnownControls | None:
    """The reverse of ``KnownControls.packed``, None for a rig without; raises ValueError for what is damaged."""
    if header is None:
        return None
    shapes = _SHAPES | {name: shape for name, shape in _MORE.items() if _PREFIX + name in arrays}
    own = {name: arrays[_PREFIX + name] for name in shapes}
    sizes = require_shapes(own, shapes)
    require_texts(header["names"], sizes["B"], "names of bones")
    require_texts(header["switches"], sizes["P"], "switches")
    require_texts([*header["marks"], *header["marks"].values()], 2 * len(header["marks"]), "marks")
    for name in ("controls", "carriers", "verified"):
        require_indices(own[name], 0, sizes["B"], name)
    for name in ("carrier_parents", "rides", "riders"):
        require_indices(own[name], -1, sizes["K"], name)
    return KnownControls(own, tuple(header["names"]), tuple(header["switches"]), header["marks"], _held(arrays, header))


def _held(arrays: dict[str, np.ndarray], header: dict) -> HeldAsBound | None:
    if "held" not in header:
        return None
    links = tuple(map(tuple, header["held"]))
    for link in links:
        require_texts(list(link), 3, "what is held to")
    own = {name: arrays[f"{_PREFIX}held {name}"] for name in ("worlds", "rig")}
    require_shapes(own, {"worlds": f"f W {len(links)} 4 4", "rig": "f R 4 4"})
    return HeldAsBound(links, own["worlds"], own["rig"])
