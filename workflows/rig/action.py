"""The actions of a rig in a workflow: the bound one, read and copied whatever the rig plays, the live one, results."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...scene import actions, playback, strips
from ...scene.interference import acting_constraints, switch_off
from ...scene.motion import action_times, source_of
from ...scene.motion_writing import write_motion
from ...scene.restored import restored_after_error
from ...scene.switches import hold_switches
from ...solvers.core.errors import SceneError
from ..core.list_entries import library_entries, resized
from ..core.naming import result_name
from .unkeyed import posed_as_bound
from .way_back import WayBack, go_back


def remember_source(ob, workflow) -> None:
    """Note what the rig plays as the bound motion."""
    settings = workflow.settings_of(ob)
    action, slot = source_of(ob)
    settings.source, settings.source_slot = action, playback.handle_of(slot)
    settings.bound_strips = action is None
    settings.result = None
    remember_values(settings, "before", [])


def plays_result(ob, workflow) -> bool:
    """Whether the rig plays the last result and its source is there to be played again."""
    settings = workflow.settings_of(ob)
    data = ob.animation_data
    if data is None or settings.result is None:
        return False
    if data.action != settings.result and not _result_is_strip(ob, workflow):
        return False
    return settings.bound_strips or settings.source is not None


def _result_is_strip(ob, workflow) -> bool:
    """Whether the last result stands on an NLA track and no action hides it."""
    return ob.animation_data.action is None and bool(strips.strips_of(ob, workflow.settings_of(ob).result))


def result_in_strip(ob, workflow):
    """The last result where it plays from an NLA track, else None."""
    has_one = plays_result(ob, workflow) and _result_is_strip(ob, workflow)
    return workflow.settings_of(ob).result if has_one else None


def plays_live(ob, workflow) -> bool:
    """Whether the rig is live and plays its live action, and the slot of it that was solved."""
    settings, data = workflow.settings_of(ob), ob.animation_data
    if not settings.live or settings.live_action is None or data is None or data.action != settings.live_action:
        return False
    return not actions.HAS_SLOTS or data.action_slot == playback.slot_of(settings.live_action, settings.live_slot)


def live_copy(ob, workflow):
    """The live action of a rig that is live and its slot, else None."""
    settings = workflow.settings_of(ob)
    if not settings.live or settings.live_action is None:
        return None
    return settings.live_action, playback.slot_of(settings.live_action, settings.live_slot)


def played_action(ob):
    """The action that the rig plays and its slot, or None and None."""
    data = ob.animation_data
    if data is None or data.action is None:
        return None, None
    return data.action, data.action_slot if actions.HAS_SLOTS else None


def bound_action(ob, workflow):
    """The bound action and its slot, None and None where strips alone are bound."""
    settings = workflow.settings_of(ob)
    return (None, None) if settings.bound_strips else (settings.source, _source_slot(settings))


@contextmanager
def source_played(ob, workflow):
    """A block in which the rig plays what is bound even if it is live, or a result is assigned.

    Bones of a rig with controls that no key moves are posed as at Bind.
    """
    settings = workflow.settings_of(ob)
    with playback.held(ob, unkeyed_at_bind(ob, workflow)):
        if settings.live:
            played = playback.played(ob, *bound_action(ob, workflow), values_of(settings.live_before))
        else:
            played = _played_without_result(ob, workflow) if _has_result(ob, workflow) else nullcontext()
        with played:
            yield


def unkeyed_at_bind(ob, workflow) -> list[playback.Before]:
    """Values at Bind of what no key of the source moves, where a rig with controls has others now."""
    if workflow.controls_of(ob) is None:
        return []
    return posed_as_bound(ob, workflow.settings_of(ob).bound_pose, bound_action(ob, workflow))


def values_of_source(ob, workflow) -> list[playback.Before]:
    """Values, while what is bound plays, of what the live action or a result animates and that does not, and of bones
    that are posed otherwise than at Bind without keys."""
    settings, unkeyed = workflow.settings_of(ob), unkeyed_at_bind(ob, workflow)
    if settings.live:
        return unkeyed + values_of(settings.live_before)
    return unkeyed + (values_of(settings.before) if _has_result(ob, workflow) else [])


def _has_result(ob, workflow) -> bool:
    """Whether the rig plays a result, or what is bound with values that a result has left."""
    settings, data = workflow.settings_of(ob), ob.animation_data
    action = None if settings.bound_strips else settings.source
    has_before = data is not None and action is not None and data.action == action and len(settings.before)
    return bool(has_before) or plays_result(ob, workflow)


def to_bind_played(ob, workflow):
    """A block in which a rig plays what Bind takes: what it plays, the source of what is live."""
    return source_played(ob, workflow) if workflow.settings_of(ob).live else nullcontext()


@contextmanager
def _played_without_result(ob, workflow):
    settings = workflow.settings_of(ob)
    strips.require_no_tweak(ob)
    with strips.silenced(ob, result_in_strip(ob, workflow)):
        with playback.played(ob, *bound_action(ob, workflow), values_of(settings.before)):
            yield


def play_source(ob, workflow) -> None:
    """Leave the result: play what is bound again, with all that only the result animated as it was.

    Raises SceneError where the rig plays no result.
    """
    if not plays_result(ob, workflow):
        raise SceneError(f"'{ob.name}' does not play a result of {workflow.label}.")
    strips.require_no_tweak(ob)
    settings = workflow.settings_of(ob)
    settings.result.use_fake_user = True
    if _result_is_strip(ob, workflow):
        strips.remove(ob, settings.result)
    playback.play(ob, *bound_action(ob, workflow), values_of(settings.before))


# What a live action is called after its source, in a word.
LIVE = "live"


@dataclass(frozen=True)
class Written:
    """A new action that nothing plays yet. origin: name of its source.  slot: None before 4.4.
    before: values of what it animates and the source does not.  silenced: (bone, constraint) pairs it switches off.
    times: (2,) action times of its first and last bound frame."""

    action: Any
    slot: Any
    origin: str
    before: list[playback.Before]
    silenced: list
    times: np.ndarray


def write_action(
    context, ob, workflow, name: str | None, kind: str, motion, way: WayBack, keys, tangents=None, switches=None
) -> Written:
    """A copy of the source action that moves the rig as a motion says; after an error nothing is left of it.

    name: of the action, made from the source's and the kind where None.  motion: with the frames of the way back to the
    source.  keys, tangents: see ``write_motion``.  switches: values of properties, by path.
    """
    with source_played(ob, workflow):
        source, source_slot = source_of(ob)
        origin = source.name if source else ob.name
        # What the user keyed while live belongs to the result.
        base, base_slot = live_copy(ob, workflow) or (source, source_slot)
        times = action_times(context.scene, motion.frames[way.bound][[0, -1]])
        frame = float(action_times(context.scene, np.ones(1))[0])
        present = {path: playback.value_at(ob, path) for path in switches or {}}
        with restored_after_error(ob):
            name = name or result_name(origin, kind)
            new = write_motion(context, ob, name, motion, source=(base, base_slot), keys=keys, tangents=tangents)
            slot = _slot_in(new, base_slot)
            go_back(context.scene, new, slot, (source, source_slot), motion, keys.any(axis=0), way)
            if kind != LIVE:
                for name in workflow.keyed_factors(ob):
                    # The motion has them in it; muted, they are there for the next bake.
                    actions.mute_curves(new, slot, workflow.setting_path(name))
                new.property_unset(workflow.settings_name)  # notes on a live action
            silenced = silenced_constraints(ob, workflow)
            switch_off(new, slot, silenced, float(times[0]))
            hold_switches(new, slot, switches or {}, times, way.sides, (source, source_slot), present, frame)
            before = playback.values_before(ob, new, slot, source, source_slot)
    return Written(new, slot, origin, before, silenced, times)


def write_result(
    context,
    ob,
    workflow,
    name: str | None,
    motion,
    way: WayBack,
    assign: bool,
    keys,
    strip: bool = False,
    tangents=None,
    switches=None,
):
    """The new action of a motion, and "bone: constraint" for each constraint that it switches off.

    motion, way, keys, tangents, switches: see ``write_action``.
    strip: an NLA strip of it instead of assigning it, mute where assign is false.
    Returns (name of the source, action, list). After an error nothing is left of it.
    """
    with restored_after_error(ob):
        written = write_action(context, ob, workflow, name, workflow.done, motion, way, keys, tangents, switches)
        new, slot = written.action, written.slot
        if strip:
            span = _span(new, slot, written.times)
            strips.push_down(ob, new, slot, *span) if assign else strips.push(ob, new, slot, *span, mute=True)
        elif assign:
            actions.assign(ob, new, slot)
        if assign or strip:
            new.use_fake_user = False
        if assign:
            settings = workflow.settings_of(ob)
            old, settings.result = settings.result, new
            remember_values(settings, "before", written.before)
            strips.remove(ob, old)
    return written.origin, new, [f"{bone.name}: {constraint.name}" for bone, constraint in written.silenced]


def silenced_constraints(ob, workflow) -> list[tuple]:
    """(bone, constraint) pairs that a result switches off: where controls are written, none."""
    return [] if workflow.controls_of(ob) else acting_constraints(ob, workflow.heeds_limits(ob))


def _span(action, slot, times) -> tuple[float, float]:
    """First and last time of an action that was written at times (2,): of all that it animates."""
    first, last = times
    if actions.playing_curves(action, slot):
        start, end = actions.frame_range(action, slot)
        first, last = min(first, start), max(last, end)
    return float(first), float(last)


def _slot_in(action, source_slot):
    if not actions.HAS_SLOTS:
        return None
    return playback.slot_of(action, source_slot.handle) if source_slot is not None else action.slots[0]


def remember_values(settings, entries: str, values: list[playback.Before]) -> None:
    """Keep values in a list of settings. Entries of a library that are too many are left empty."""
    count = max(len(values), library_entries(settings, entries))
    padded = [*values, *[playback.Before("", 0, 0.0)] * (count - len(values))]
    for item, value in zip(resized(settings, entries, count, "Values"), padded, strict=True):
        item.path, item.index, item.value = value.path, value.index, value.value


def values_of(items) -> list[playback.Before]:
    """What ``remember_values`` kept."""
    return [playback.Before(item.path, item.index, item.value) for item in items if item.path]


def _source_slot(settings):
    return None if settings.source is None else playback.slot_of(settings.source, settings.source_slot)
