"""What workflows share that fit a rig's motion to its surroundings: bound once, then solved where those changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ...scene import binding_store
from ...scene.movers import movers_of
from ...scene.surfaces import expand
from ..core.base import Question, Steps
from ..core.follower import Moment
from ..rig.control_variables import WriteChoices
from ..rig.controls import KnownControls
from ..rig.follower import Reuse
from ..rig.workflow import RigWorkflow
from .bind import bind_steps
from .body import Body, placed_body
from .changes import question_of_bind
from .choices import choices_of
from .keyed_influence import influence_item
from .model import stored_of
from .older_bindings import tell_what_is_unknown
from .older_ranges import is_older_range, settle_older_ranges
from .problem import Problem, gather_now, gather_steps
from .surroundings import BoundSurroundings
from .update import objects_in_list, question_of_update, update_in_words, update_steps
from .upright import settle_older


class EnvironmentWorkflow(RigWorkflow):
    """A workflow of one rig among the objects in its list. Its settings are ``EnvironmentSettings`` too."""

    def why_not_yet(self, context, ob, step: str) -> str | None:
        settings = self.settings_of(ob)
        # The copied command binds a rig that is not bound yet.
        if step == "fit" or (step == "copy_command" and settings.binding is None):
            if not any(item.target for item in settings.surfaces):
                return "Add the objects that the motion deals with."
            data = ob.animation_data
            has_own = data is not None and (data.action is not None or len(data.nla_tracks))
            if not has_own and not movers_of([ob]):
                return f"'{ob.name}' has no action to bind, and nothing else moves it."
        elif settings.binding is None:
            return "Bind the motion to its environment first."
        return None

    factors = ("influence", "upright")

    def keyed_factors(self, ob) -> Sequence[str]:
        return (*self.factors, *(f"surfaces[{k}].influence" for k in range(len(self.settings_of(ob).surfaces))))

    def factor_label(self, ob, name: str) -> str:
        item = influence_item(self.settings_of(ob), name)
        return super().factor_label(ob, name) if item is None else f"Influence of '{item.bound_name or item.name}'"

    def on_load(self) -> None:
        settle_older(self)
        settle_older_ranges(self)
        tell_what_is_unknown(self)

    def fit(self, context) -> Steps:
        ob = context.object
        chosen = self.settings_of(ob)
        objects = expand([item.target for item in chosen.surfaces if item.target is not None])
        start, end = (chosen.start, chosen.end) if chosen.use_range else (None, None)
        return bind_steps(context, ob, self, objects, start, end)

    def update_binding(self, context) -> Steps:
        """Bind what is new or was edited, and keep the rest."""
        ob = context.object
        report = yield from update_steps(context, ob, self, objects_in_list(context, ob, self))
        return update_in_words(report)

    def question(self, context, step: str) -> Question | None:
        ask = {"fit": question_of_bind, "update_binding": question_of_update}.get(step)
        return ask and ask(context, context.object, self)

    def bound_frames(self, ob) -> np.ndarray:
        return stored_of(ob, self).binding.track.frames

    def bound_mark(self, ob) -> tuple:
        return binding_store.mark(self.settings_of(ob).binding)[1:]

    def joints(self, ob) -> Collection[str]:
        return stored_of(ob, self).binding.track.skeleton.names

    def resting_joints(self, ob) -> Sequence[str]:
        stored = stored_of(ob, self)
        pairs = zip(stored.binding.track.skeleton.names, stored.solved.placed, strict=True)
        return [name for name, placed in pairs if not placed]

    def controls_of(self, ob) -> KnownControls | None:
        return None if self.settings_of(ob).binding is None else stored_of(ob, self).controls

    def holds_outside(self, ob) -> bool:
        settings = self.settings_of(ob)
        return settings.holds_outside or is_older_range(settings)

    def heeds_limits(self, ob) -> bool:
        return self.settings_of(ob).limits

    def choices(self, ob, depsgraph) -> Iterable:
        yield from choices_of(ob, self, depsgraph)
        known = self.controls_of(ob)
        if known is not None:
            yield from WriteChoices.of(self.settings_of(ob))
            yield known.locks(ob)

    def relied_on(self, ob) -> Iterable:
        return [pin.target for pin in self.settings_of(ob).pins]

    def surroundings(self) -> BoundSurroundings:
        return BoundSurroundings(self)

    def read_steps(self, context, rigs: Sequence):
        (ob,) = rigs
        return gather_steps(context, ob, self)

    def read_now(self, rigs: Sequence, moment: Moment, known: Problem | None, reuse: Reuse) -> Problem:
        (ob,) = rigs
        return gather_now(ob, self, moment.scene, moment.depsgraph, self.body_of(ob, moment, known, reuse))

    def body_of(self, ob, moment: Moment, known: Problem | None, reuse: Reuse) -> Body | None:
        """The body of a known problem as far as it still holds, None where all is to be read."""
        if reuse is Reuse.NOTHING:
            return None
        return known.body if reuse is Reuse.MOTION else placed_body(ob, self, moment.scene, known.stored, known.source)
