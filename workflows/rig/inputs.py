"""What a live track was solved for beside the surroundings: the user's choices and the rig, as digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...scene import actions
from ...scene.evaluation import copy_number
from ...scene.influence import is_driven
from ...scene.rig_state import Animated, bones_state, place_state
from ...state.cache import fingerprint
from .action import played_action
from .factors import mark_of_setting
from .live_keys import held_by_user
from .live_source import is_sampled


@dataclass(frozen=True)
class Inputs:
    """All that a solved track depends on but the surroundings and the source action's keys, as digests.

    bound: tells what the rig is bound to.  bones: of that, and of the rig apart from its pose.  place: of its object.
    choices: the user's.  influence: by its keys, or by its value where it has none, and how
    the result goes back to its source.  fades: a driver says how far, at
    each frame anew.
    """

    bound: tuple
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


def are_alike(inputs: Sequence[Inputs], others: Sequence[Inputs], what: str) -> bool:
    """Whether the inputs of two runs are of the same rigs and alike in one respect, as named in ``Inputs``."""
    return [getattr(each, what) for each in inputs] == [getattr(each, what) for each in others]


class InputsReader:
    """Reads the inputs of one rig again only after something that they depend on was evaluated.

    relied_on: ``session_uid`` of that, beside the rig.
    """

    def __init__(self, workflow):
        self.last: Inputs | None = None
        self._workflow = workflow
        self.relied_on: set[int] = set()
        self._seen: tuple | None = None
        self._is_sampled: bool | None = None
        self._animated: tuple[int, Animated] | None = None
        self._held: tuple | None = None

    def forget(self) -> None:
        """Read all again: something was not looked at, or keys were changed."""
        self.last = self._held = None

    def read(self, ob, scene, depsgraph, updated: set[int] | None) -> Inputs:
        """The inputs of a rig that plays its live action. updated: see ``core.follower.Moment``.

        What the user has keyed is looked at after ``forget`` alone.
        """
        seen = _copies(ob, scene, depsgraph)
        if self.last is None or updated is None or updated & self.relied_on or seen != self._seen:
            self.last = self._is_sampled = None
            self.relied_on, self._seen = _relied_on(ob, self._workflow), seen
            self.last = self._read(ob, scene, depsgraph)
        return self.last

    def is_unedited(self, ob, scene, depsgraph) -> bool:
        """Whether nobody has edited the rig, or what it plays, since it was read."""
        return self.last is not None and self._seen == _copies(ob, scene, depsgraph)

    def is_sampled(self, ob) -> bool:
        """Whether the bound motion has to be stepped through to be read; after ``read``."""
        if self._is_sampled is None:
            self._is_sampled = is_sampled(ob, self._workflow)
        return self._is_sampled

    def _read(self, ob, scene, depsgraph) -> Inputs:
        workflow = self._workflow
        action, slot = played_action(ob)
        count = actions.curve_count(action, slot)
        if self._animated is None or self._animated[0] != count:
            self._animated = count, Animated.by(ob, action, slot)
        animated = self._animated[1]
        if self._held is None:
            self._held = held_by_user(ob, workflow, workflow.joints(ob))
        bound = workflow.bound_mark(ob)
        offsets = _offsets(ob, workflow.resting_joints(ob), animated)
        return Inputs(
            bound,
            fingerprint(*_stretch(scene), *bound, *bones_state(ob, animated), offsets, *self._held),
            fingerprint(*place_state(ob, depsgraph, animated)),
            fingerprint(*workflow.choices(ob, depsgraph)),
            fingerprint(mark_of_setting(ob, workflow, "influence"), *_way_back(ob, workflow)),
            is_driven(ob, workflow.influence_path),
        )


def _copies(ob, scene, depsgraph) -> tuple:
    """What stays while nobody edits a rig, what it plays or how time is stretched."""
    parts = filter(None, (ob, ob.data, played_action(ob)[0]))
    return *_stretch(scene), *(copy_number(part, depsgraph) for part in parts)


def _stretch(scene) -> tuple[int, int]:
    """How time is stretched."""
    return scene.render.frame_map_old, scene.render.frame_map_new


def _relied_on(ob, workflow) -> set[int]:
    """``session_uid`` of all beside the rig whose evaluation may mean other inputs."""
    found = [*workflow.relied_on(ob)]
    parent = ob.parent
    while parent is not None:
        found += [parent, parent.data]
        parent = parent.parent
    return {each.session_uid for each in found if each is not None}


def _way_back(ob, workflow) -> tuple:
    """What is chosen for the frames outside of the bound ones; nothing where that is as it always was."""
    return () if workflow.holds_outside(ob) else (workflow.settings_of(ob).range_blend,)


def _offsets(ob, joints: Sequence[str], animated: Animated) -> np.ndarray:
    """Locations (n, 3) of bones that neither keys nor solving moves: whoever does so makes another body."""
    bones = ob.pose.bones
    resting = [bones[name] for name in joints if name in bones and name not in animated.moved]
    return np.array([bone.location for bone in resting], np.float32).reshape(-1, 3) + np.float32(0.0)
