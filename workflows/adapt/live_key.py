"""What a live track of Adapt was solved for beside the environment: the user's choices and the rig, as digests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...scene import actions, binding_store
from ...scene.influence import is_driven
from ...scene.points import still_place
from ...scene.rig_state import Animated, bones_state, place_state
from ...scene.rigs import joint_limits
from ...state.cache import fingerprint
from ..environment.model import stored_of
from ..rig.action import INFLUENCE, played_action
from ..rig.live_keys import held_by_user
from ..rig.live_source import is_sampled


@dataclass(frozen=True)
class Inputs:
    """All that a solved track depends on but the environment and the source action's keys, as digests.

    bones: of the rig apart from their pose, and what is bound of them.  place: of its object.  choices: the user's.
    influence: by its keys, or by its value where it has none.  fades: a driver says how far, at each frame anew.
    """

    bones: str
    place: str
    choices: str
    influence: str
    fades: bool

    @cached_property
    def rig(self) -> str:
        """Of the rig alone."""
        return fingerprint(self.bones, self.place)

    @cached_property
    def solved(self) -> str:
        """Of what the solver is given."""
        return fingerprint(self.rig, self.choices)

    @cached_property
    def key(self) -> str:
        """Of all that the live action depends on."""
        return fingerprint(self.solved, self.influence)


class InputsReader:
    """Reads the inputs of one rig again only after something that they depend on was evaluated."""

    def __init__(self):
        self.last: Inputs | None = None
        self._relied_on: set[int] = set()
        self._is_sampled: bool | None = None
        self._animated: tuple[int, Animated] | None = None
        self._held: tuple | None = None

    def forget(self) -> None:
        """Read all again: something was not looked at, or keys were changed."""
        self.last = self._held = None

    def read(self, ob, scene, depsgraph, updated: set[int] | None) -> Inputs:
        """The inputs of a rig that plays its live action. updated: see ``live.Moment``.

        What the user has keyed is looked at after ``forget`` alone.
        """
        if self.last is None or updated is None or updated & self._relied_on:
            self.last = self._is_sampled = None
            self._relied_on = _relied_on(ob, scene)
            self.last = self._read(ob, scene, depsgraph)
        return self.last

    def is_sampled(self, ob) -> bool:
        """Whether the bound motion has to be stepped through to be read; after ``read``."""
        if self._is_sampled is None:
            self._is_sampled = is_sampled(ob)
        return self._is_sampled

    def _read(self, ob, scene, depsgraph) -> Inputs:
        action, slot = played_action(ob)
        count = actions.curve_count(action, slot)
        if self._animated is None or self._animated[0] != count:
            self._animated = count, Animated.by(ob, action, slot)
        animated = self._animated[1]
        if self._held is None:
            self._held = held_by_user(ob, stored_of(ob).binding.track.skeleton.names)
        return Inputs(
            fingerprint(*_bound(ob, scene), *bones_state(ob, animated), _offsets(ob, animated), *self._held),
            fingerprint(*place_state(ob, depsgraph, animated)),
            fingerprint(*_choices(ob), *_pins(ob, depsgraph), *_limits(ob)),
            fingerprint(*_influence(ob)),
            is_driven(ob, INFLUENCE),
        )


def _relied_on(ob, scene) -> set[int]:
    """``session_uid`` of all whose evaluation may mean other inputs."""
    found = [scene, ob, ob.data, played_action(ob)[0]]
    found += [pin.target for pin in ob.motion_loom_adapt.pins]
    parent = ob.parent
    while parent is not None:
        found += [parent, parent.data]
        parent = parent.parent
    return {each.session_uid for each in found if each is not None}


def _bound(ob, scene):
    render = scene.render
    yield from (render.frame_map_old, render.frame_map_new, *binding_store.mark(ob.motion_loom_adapt.binding)[1:])


def _offsets(ob, animated: Animated) -> np.ndarray:
    """Locations (n, 3) of solved bones that neither keys nor solving moves: whoever does so makes another body."""
    stored, bones = stored_of(ob), ob.pose.bones
    joints = zip(stored.binding.track.skeleton.names, stored.solved.placed, strict=True)
    resting = [bones[name] for name, placed in joints if not placed and name in bones and name not in animated.moved]
    return np.array([bone.location for bone in resting], np.float32).reshape(-1, 3) + np.float32(0.0)


def _choices(ob):
    settings = ob.motion_loom_adapt
    yield from (settings.orientation, settings.limits, settings.clearance, settings.contact)
    yield settings.clearance_distance if settings.clearance == "USER" else 0.0
    yield settings.contact_distance if settings.contact == "USER" else 0.0
    for item in settings.surfaces:
        yield from (item.bound_name, item.mode, item.influence)
    for item in settings.bones:
        yield from (item.bone, item.factor)


def _pins(ob, depsgraph):
    for pin in ob.motion_loom_adapt.pins:
        yield from (pin.bone, pin.target.name_full if pin.target else "", pin.start, pin.end)
        yield None if pin.target is None else still_place(pin.target, depsgraph)


def _limits(ob):
    if ob.motion_loom_adapt.limits:
        found = joint_limits(ob)
        yield from (found.lower, found.upper, found.limited, "\n".join(found.orders))


def _influence(ob):
    if is_driven(ob, INFLUENCE):
        yield "driven"
        return
    curve = actions.find_curve(*played_action(ob), INFLUENCE)
    if curve is None:
        yield float(ob.motion_loom_adapt.influence)
    else:
        yield actions.keys_of(curve)
