"""The actions of Adapt: the bound one, read and copied whatever the rig plays, and the result, which plays as it is."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

from ..scene import actions, playback, strips
from ..scene.interference import acting_constraints, switch_off
from ..scene.motion import action_times, source_of, write_motion
from ..solvers.errors import SceneError
from .naming import result_name


def remember_source(ob) -> None:
    """Note what the rig plays as the bound motion."""
    settings = ob.motion_loom_adapt
    action, slot = source_of(ob)
    settings.source, settings.source_slot = action, playback.handle_of(slot)
    settings.bound_strips = action is None
    settings.result = None
    settings.before.clear()


def plays_result(ob) -> bool:
    """Whether the rig plays the last result and its source is there to be played again."""
    settings = ob.motion_loom_adapt
    data = ob.animation_data
    if data is None or settings.result is None or not (data.action == settings.result or _result_is_strip(ob)):
        return False
    return settings.bound_strips or settings.source is not None


def _result_is_strip(ob) -> bool:
    """Whether the last result stands on an NLA track and no action hides it."""
    return ob.animation_data.action is None and bool(strips.strips_of(ob, ob.motion_loom_adapt.result))


def source_played(ob):
    """A block in which the rig plays what is bound even if a result is assigned."""
    settings = ob.motion_loom_adapt
    data = ob.animation_data
    action = None if settings.bound_strips else settings.source
    if plays_result(ob) or (data is not None and action is not None and data.action == action and len(settings.before)):
        return _played_without_result(ob, action, settings)
    return nullcontext()


@contextmanager
def _played_without_result(ob, action, settings):
    strips.require_no_tweak(ob)
    with strips.silenced(ob, settings.result if _result_is_strip(ob) else None):
        with playback.played(ob, action, _source_slot(settings), _before(settings)):
            yield


def play_source(ob) -> None:
    """Leave the result: play what is bound again, with all that only the result animated as it was.

    Raises SceneError where the rig plays no result.
    """
    if not plays_result(ob):
        raise SceneError(f"'{ob.name}' does not play a result of Adapt.")
    strips.require_no_tweak(ob)
    settings = ob.motion_loom_adapt
    settings.result.use_fake_user = True
    if _result_is_strip(ob):
        strips.remove(ob, settings.result)
    playback.play(ob, None if settings.bound_strips else settings.source, _source_slot(settings), _before(settings))


def write_result(
    context, ob, name: str | None, motion, assign: bool, limits_heeded: bool, keys=None, strip: bool = False
):
    """The new action of a motion, and "bone: constraint" for each constraint that it switches off.

    keys: see ``write_motion``; all channels that the source keys at all frames where None.
    strip: an NLA strip of it instead of assigning it, mute where assign is false.
    Returns (name of the source, action, list). After an error nothing is left of it.
    """
    with source_played(ob):
        source, source_slot = source_of(ob)
        origin = source.name if source else ob.name
        name = name or result_name(origin, "adapted")
        new = write_motion(context, ob, name, motion, source=(source, source_slot), keys=keys)
        times = action_times(context.scene, motion.frames[[0, -1]])
        with playback.removed_after_error(new):
            slot = _slot_in(new, source_slot)
            silenced = acting_constraints(ob, limits_heeded)
            switch_off(new, slot, silenced, float(times[0]))
            before = playback.values_before(ob, new, slot, source, source_slot)
    with playback.removed_after_error(new):
        if strip:
            span = _span(new, slot, times)
            strips.push_down(ob, new, slot, *span) if assign else strips.push(ob, new, slot, *span, mute=True)
        elif assign:
            actions.assign(ob, new, slot)
    if assign or strip:
        new.use_fake_user = False
    if assign:
        strips.remove(ob, ob.motion_loom_adapt.result)
        _remember_result(ob.motion_loom_adapt, new, before)
    return origin, new, [f"{bone.name}: {constraint.name}" for bone, constraint in silenced]


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


def _remember_result(settings, action, before) -> None:
    settings.result = action
    settings.before.clear()
    for value in before:
        item = settings.before.add()
        item.path, item.index, item.value = value.path, value.index, value.value


def _before(settings) -> list[playback.Before]:
    return [playback.Before(item.path, item.index, item.value) for item in settings.before]


def _source_slot(settings):
    return None if settings.source is None else playback.slot_of(settings.source, settings.source_slot)
