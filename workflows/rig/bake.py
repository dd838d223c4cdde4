"""Bake the results of a run of rigs to new actions, whichever workflow made them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ...scene.key_rows import keys_between
from ...scene.motion import BoneMotion
from ...scene.motion_changes import changed_bones
from ...scene.new_names import require_name
from ...scene.strips import require_pushable
from ...solvers.core import steps
from ..command_line.words import counted, millimetres
from ..core import live
from ..core.base import relayed, too_large_named, within
from ..core.result_keys import KeyOptions, Keys, choose_keys
from .action import bound_action, live_copy, source_played, write_result
from .beyond import notes_outside, outside_report, way_back
from .control_fit import FITTING, fitted_steps
from .control_keys import control_key_steps
from .live_action import adopt_copy, leave_live, owns_live, play_live, rewrite_live
from .owner import require_owner
from .problem import RigProblem, RigResult, RigSolution
from .switch import restored_after_error
from .way_back import WayBack

# What progress says.
CHOOSING = "Choosing keys"
_NAMED = 3


@dataclass(frozen=True)
class RigBakeOptions:
    """name: of the new action, else made from the source's.  assign: play it on the rig.  keys: which are written.
    strip: push the action to a new NLA track instead, mute where assign is false."""

    name: str | None = None
    assign: bool = True
    keys: KeyOptions = KeyOptions()
    strip: bool = False


def options_of(settings) -> RigBakeOptions:
    """What ``RigResultSettings`` are set to."""
    return RigBakeOptions(None, settings.assign, _key_options(settings), settings.bake_strip)


def _key_options(settings) -> KeyOptions:
    error = settings.bake_error if settings.bake_reduce else None
    return KeyOptions(settings.bake_step, error, at_source=settings.bake_at_keys)


def bake_steps(
    context, rigs: Sequence, workflow, options: RigBakeOptions
) -> Generator[tuple[float, str], None, list[dict]]:
    """Read, solve and write, with progress; new actions are made after the last step only.

    Returns a report of each rig that JSON can hold.
    """
    require_bakeable(rigs, workflow, options)
    with too_large_named(workflow.doing, rigs[0], rigs[1:]):
        problem = yield from within(workflow.read_steps(context, rigs), 0.0, 0.3)
        solution = yield from relayed(workflow.solve_steps(problem), 0.3, 0.7, workflow.doing.capitalize())
        fit = fitted_steps(context, rigs, workflow, problem, solution)
        solution = yield from relayed(fit, 0.7, 0.94, FITTING)
        chosen = choose_key_steps(context, rigs, workflow, solution, options)
        keys = yield from relayed(chosen, 0.94, 0.97, CHOOSING)
        return (yield from write_steps(context, rigs, workflow, problem, solution, options, keys))


def require_bakeable(rigs: Sequence, workflow, options: RigBakeOptions) -> None:
    """Raises SceneError or InputError for what cannot be written: before the work."""
    require_owner(rigs, workflow)
    require_name(options.name)
    if options.strip:
        for ob in rigs:
            require_pushable(ob)


@dataclass(frozen=True)
class Chosen:
    """What is written of one result. motion: with the frames of the way back to its source.  keys: of that.

    posed: (F, B, 4, 4) armature space, of a rig with controls: what it evaluates to with the keys; None where that is
    what was fitted.
    """

    motion: BoneMotion
    way: WayBack
    keys: Keys
    posed: np.ndarray | None = None

    def played(self, result: RigResult) -> BoneMotion:
        """The bound frames of a result as the keys play them."""
        if self.posed is not None:
            return replace(result.motion, basis=np.linalg.inv(result.motion.rig.rest) @ self.posed)
        return result.motion if result.written else self.way.cut(self.keyed)

    @cached_property
    def keyed(self) -> BoneMotion:
        """What is written as the keys play it, with the way back to its source: of controls where these are."""
        return self.keys.played(self.motion)


def choose_key_steps(
    context, rigs: Sequence, workflow, solution: RigSolution, options: RigBakeOptions
) -> Generator[float, None, list[Chosen]]:
    """What is written of each rig's result, and the keys that it gets, yielding shares done."""
    found = []
    for number, (ob, result) in enumerate(zip(rigs, solution.results, strict=True)):
        way = way_back(context.scene, ob, workflow, result)
        motion = way.extended(result.keyed)
        choose = partial(_keys_of, context, ob, workflow, result, way, motion)
        if result.written:
            chosen = control_key_steps(context, ob, workflow, result.written, way, options.keys, choose)
            keys, posed = yield from steps.within(chosen, number / len(rigs), (number + 1) / len(rigs))
        else:
            yield number / len(rigs)
            keys, posed = choose(options.keys), None
        found.append(Chosen(motion, way, keys, posed))
    return found


def write_steps(
    context,
    rigs: Sequence,
    workflow,
    problem: RigProblem,
    solution: RigSolution,
    options: RigBakeOptions,
    chosen: Sequence[Chosen],
    keep: Callable[[list[dict]], None] = lambda _reports: None,
) -> Generator[tuple[float, str], None, list[dict]]:
    """Write a solution to new actions, after the last step only; returns a report of each rig that JSON can hold.

    keep: notes with the rigs what else belongs to the results; undone with them where it
    fails.  What is live ends by it where the results are assigned, or is brought up to date.
    """
    yield 0.97, "Writing the action"
    left_out = [
        [
            *notes_outside(context.scene, ob, workflow, result, each.way, each.keyed),
            *_moved(context, ob, workflow, options, each),
        ]
        for ob, result, each in zip(rigs, solution.results, chosen, strict=True)
    ]
    with restored_after_error(rigs, workflow):
        written = [
            _written(context, ob, workflow, options, result, each)
            for ob, result, each in zip(rigs, solution.results, chosen, strict=True)
        ]
        if any(ended for _, ended in written):
            live.end(rigs[0], workflow.id)
        reports = [
            report | {"notes": list(dict.fromkeys((*outside, *solution.notes, *result.notes)))}
            for (report, _), outside, result in zip(written, left_out, solution.results, strict=True)
        ]
        keep(reports)
        # Nothing is done any more once it is written: what failed then would leave it.
        return reports


def summary(report: dict, done: str) -> str:
    """The line that says what was written. done: with it, as in "adapted"."""
    return f"{done.capitalize()} '{report['source']}' into '{report['action']}', {key_summary(report)}"


def key_summary(report: dict) -> str:
    """How many keys were written, and what those left out cost."""
    text = f"{counted(report['keys_per_curve'], 'key')} a curve" if report["curves"] else "no curve had to change"
    if report["keys"] < report["keys_of_all_frames"]:
        text += (
            f" ({report['keys']} of {report['keys_of_all_frames']} keys, which moves joints by "
            f"{millimetres(report['key_error_mm'])} at most)"
        )
    return f"{text}, as NLA strip" if report["strip"] else text


def _moved(context, ob, workflow, options: RigBakeOptions, chosen: Chosen) -> list[str]:
    """A sentence of keys of the source that a result has at other frames, as keys between frames."""
    if not options.keys.at_source:
        return []
    motion = chosen.motion
    found = keys_between(context.scene, bound_action(ob, workflow), motion.rig, motion.frames)
    if not len(found):
        return []
    some = ", ".join(f"{frame:.4g}" for frame in found[:_NAMED]) + (" and others" if len(found) > _NAMED else "")
    return [
        f"The source has keys between frames ({some}); what changes is keyed at the whole frames nearest to them, what "
        "does not change keeps them"
    ]


def _keys_of(
    context, ob, workflow, result: RigResult, way: WayBack, motion: BoneMotion, options: KeyOptions
) -> Keys:
    """motion: of the result, with the way back to its source."""
    with source_played(ob, workflow):
        # What the user has keyed while live, in bones that did not have to change, is not to be written over.
        body = None if live_copy(ob, workflow) or any(way.sides) else result.body
        original = way.source_of(result.keyed_original)
        return choose_keys(context, ob, motion, original, options, body, way.bound)


def _written(context, ob, workflow, options: RigBakeOptions, result: RigResult, chosen: Chosen) -> tuple[dict, bool]:
    """Write one result, and play it or the live one; returns the report, and whether it is live no more."""
    was_live = workflow.settings_of(ob).live
    adopt_copy(ob, workflow)
    if was_live and owns_live(ob, workflow):
        rewrite_live(context.scene, ob, workflow, result)
    elif was_live:
        play_live(context, ob, workflow, result)
    origin, new, silenced = write_result(
        context,
        ob,
        workflow,
        options.name,
        chosen.motion,
        chosen.way,
        options.assign,
        chosen.keys.chosen,
        options.strip,
        chosen.keys.tangents,
        result.switches,
    )
    ended = was_live and (options.assign or options.strip)
    if ended:
        leave_live(ob, workflow)
    report = {
        "rig": ob.name,
        "source": origin,
        "action": new.name,
        "strip": options.strip,
        "frames": len(result.motion.frames),
        **chosen.keys.report(),
        **outside_report(chosen.way, result, chosen.keyed),
        "changed_bones": changed_bones(result.keyed_original, result.keyed),
        "silenced_constraints": silenced,
    }
    return report, ended
