"""The objects that a rig is bound to, as a follower of it watches them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...scene.deforming_keys import DeformingKeys
from ...scene.environment_state import needs_sweep
from ...scene.evaluation import is_updated
from ...scene.instances import ShownInstances, instance_sources
from ...scene.interference import refuse_dependent
from ...scene.meshes import read_object, require_evaluated
from ...scene.object_motion import worlds_by_curves
from ...scene.state_track import ObjectState, StateTrack
from ...scene.stillness import can_move
from ..core import live
from ..core.follower import Moment
from ..rig.surroundings import Surroundings
from .model import stored_of
from .problem import reason_to_step
from .replaced import is_replaced, known_objects, present_objects
from .surfaces import bound_surfaces, require_bound_shape


class BoundSurroundings(Surroundings):
    """Those that the leading rig is bound to, in the binding's order."""

    def __init__(self, workflow):
        super().__init__()
        self._workflow = workflow
        self._deforming: DeformingKeys | None = None

    def sees(self, rigs: Sequence, depsgraph) -> bool:
        items = self._workflow.settings_of(rigs[0]).surfaces
        targets = [target for item in items if item.bound_name for target in known_objects(item)]
        return all(is_updated(target, depsgraph) for target in targets)

    def look(self, rigs: Sequence, moment: Moment) -> None:
        numbers, targets = self._numbered(rigs, moment)
        # After an error all is read again: what was read before it tells nothing about what is there now.
        known, self.states = self.states, []
        known = known if len(known) == len(targets) else [None] * len(targets)
        shown = ShownInstances(moment.depsgraph, targets)
        found = zip(numbers, targets, known, strict=True)
        self.states = [self._state(rigs[0], k, target, moment, shown, old) for k, target, old in found]
        self.relied_on = {uid for target in targets for uid in _read_from(target)}

    def deforming(self, rigs: Sequence, moment: Moment) -> str:
        """Playback evaluates the keys as well, and changes none."""
        known, updated = self._deforming, moment.updated
        plays = moment.is_playback and not live.at_once()
        if known is None or updated is None or (not plays and updated & known.owners):
            targets = self._targets(rigs, moment)
            self._deforming = DeformingKeys.of(targets, _stepped(targets, moment))
        return self._deforming.digest

    def fit(self, states: Sequence[StateTrack], row: int | None) -> bool:
        if len(states) != len(self.states):
            return False
        return all(known.matches(row, state) for known, state in zip(states, self.states, strict=True))

    def go_along(self, rigs: Sequence, moment: Moment, states: Sequence[StateTrack], frames: np.ndarray) -> bool:
        worlds = self._worlds(rigs, moment, frames)
        return all(world is None or known.goes_along(world) for known, world in zip(states, worlds, strict=True))

    def digests(self, rigs: Sequence, moment: Moment, frames: np.ndarray) -> tuple:
        pairs = zip(self.states, self._worlds(rigs, moment, frames), strict=True)
        places = [np.ascontiguousarray(state.matrix if world is None else world) for state, world in pairs]
        return *(state.digest for state in self.states), *places

    def why_stepping(self, rigs: Sequence, moment: Moment) -> str | None:
        stepped = _stepped(self._targets(rigs, moment), moment)
        return reason_to_step(rigs[0], self._workflow, moment.scene, stepped)

    def _targets(self, rigs: Sequence, moment: Moment) -> list:
        return self._numbered(rigs, moment)[1]

    def _numbered(self, rigs: Sequence, moment: Moment) -> tuple[list[int | None], list]:
        """The objects that are there now, and which of the bound ones each is, None for one that replaces another."""
        names = stored_of(rigs[0], self._workflow).binding.objects
        items = bound_surfaces(moment.scene, rigs[0], self._workflow, names)
        found = [
            (None if is_replaced(item) else number, target)
            for number, item in enumerate(items)
            for target in present_objects(moment.scene, rigs[0], item)
        ]
        return [number for number, _ in found], [target for _, target in found]

    def _worlds(self, rigs: Sequence, moment: Moment, frames: np.ndarray) -> list[np.ndarray | None]:
        """World matrices (F, 4, 4) of each object that moves by its curves, None of others."""
        targets = self._targets(rigs, moment)
        return [worlds_by_curves(moment.scene, target, frames) if can_move(target) else None for target in targets]

    def _state(
        self, ob, index: int | None, target, moment: Moment, shown: ShownInstances, old: ObjectState | None
    ) -> ObjectState:
        """An object as it is now, read only where it may have changed since the last time. index: of the bound one that
        it is, None for one that replaces another, whose faces may be any."""
        require_evaluated(target, moment.depsgraph)
        uid = target.session_uid
        unchanged = moment.updated is not None and not moment.updated & _read_from(target)
        if unchanged and old is not None and old.name == target.name_full:
            return old
        refuse_dependent([target], ob)
        states = moment.shared.states
        if uid not in states:
            states[uid] = read_object(target, moment.depsgraph, old, shown)
        state = states[uid]
        if index is not None and (old is None or not state.faces.same_as(old.faces)):
            stored = stored_of(ob, self._workflow)
            require_bound_shape(target, moment.depsgraph, stored.triangles[index], stored.fingerprints[index], shown)
        return state


def _read_from(target) -> set[int]:
    """``session_uid`` of all that the state of an object is read from."""
    sources = instance_sources(target) if target.is_instancer else set()
    return {target.session_uid, target.data.session_uid} | sources


def _stepped(targets: list, moment: Moment) -> list[str]:
    """Full names of the objects that only stepping through the frames tells, looked at once a moment for all."""
    stepped = moment.shared.stepped
    for target in targets:
        if target.session_uid not in stepped:
            stepped[target.session_uid] = needs_sweep(moment.scene, [target])
    return [name for target in targets for name in stepped[target.session_uid]]
