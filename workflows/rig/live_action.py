"""The live action of a rig: a copy of the source that holds the solved track, and what the user keys meanwhile."""

from __future__ import annotations

import json

import numpy as np

from ...scene import actions, playback, session
from ...scene.channels import action_times
from ...scene.discarding import discard
from ...scene.interference import influence_path, switch_off
from ...scene.live_action import curve_keys, keys_digest, restore, restore_curves, rewrite
from ...scene.motion import source_of
from ...scene.motion_changes import changed_channels
from ...scene.motion_writing import written_channels
from ...scene.strips import require_no_tweak
from ...scene.switches import hold_switches
from ...state.live_states import Remedy
from ..core.follower import LiveProblem
from .action import (
    LIVE,
    bound_action,
    live_copy,
    play_source,
    played_action,
    plays_live,
    plays_result,
    remember_values,
    silenced_constraints,
    source_played,
    values_of,
    write_action,
)
from .beyond import way_back
from .live_source import forget_motion
from .problem import RigResult
from .way_back import WayBack, go_back

# Who uses a live action that one rig plays: its animation and its settings.
_USERS = 2
# Of location, rotation and scale, in what is noted of them.
_CHANNEL_BITS = np.array([1, 2, 4])


def live_slot(ob, workflow):
    """The slot of the live action; None before 4.4."""
    settings = workflow.settings_of(ob)
    return None if settings.live_action is None else playback.slot_of(settings.live_action, settings.live_slot)


def notes_of(ob, workflow):
    """What is noted with the live action of a rig that has one."""
    return getattr(workflow.settings_of(ob).live_action, workflow.settings_name)


def require_live_plays(ob, workflow) -> None:
    """Raises LiveProblem where the rig does not play a live action of its own."""
    data, settings = ob.animation_data, workflow.settings_of(ob)
    if data is not None and data.use_tweak_mode:
        raise LiveProblem(f"'{ob.name}' is tweaking an NLA strip; leave tweak mode (Tab in the NLA editor).")
    if settings.source is None and not settings.bound_strips:
        raise LiveProblem(
            f"The action that '{ob.name}' was bound with was deleted. Undo that, or switch Live off: the live one stays"
        )
    if not plays_live(ob, workflow):
        raise LiveProblem(
            f"'{ob.name}' plays {_played(ob, workflow)}, not its live one. Resume, or switch Live off.", Remedy.RESUME
        )
    action = settings.live_action
    if action.library is not None:
        raise LiveProblem(f"The live action of '{ob.name}' is linked. Resume to give it its own.", Remedy.RESUME)
    if action.users > _USERS and _sharers(ob, workflow):
        other = _sharers(ob, workflow)[0].name
        raise LiveProblem(
            f"'{ob.name}' shares its live action with '{other}'. Resume to give it its own.", Remedy.RESUME
        )


def _played(ob, workflow) -> str:
    """What a rig plays, in words."""
    action, _ = played_action(ob)
    if action is None:
        return "no action"
    return "another slot" if action == workflow.settings_of(ob).live_action else f"the action '{action.name}'"


def owns_live(ob, workflow) -> bool:
    """Whether a rig has a live action that is there for it alone; it may play something else."""
    action = workflow.settings_of(ob).live_action
    return action is not None and action.library is None and not _sharers(ob, workflow)


def rewritten_live(ob, workflow) -> tuple:
    """The actions whose curves change where a rig goes on live, or is brought up to date."""
    return (workflow.settings_of(ob).live_action,) if owns_live(ob, workflow) else ()


def live_rigs(workflow) -> list:
    """All live rigs of the file; linked ones only play."""
    objects = session.all_objects()
    return [ob for ob in objects if ob.type == "ARMATURE" and ob.library is None and workflow.settings_of(ob).live]


def _sharers(ob, workflow) -> list:
    """Other live rigs that play the live action of a rig: one is a duplicate of the other."""
    action = workflow.settings_of(ob).live_action
    rigs = (other for other in live_rigs(workflow) if other != ob)
    others = [other for other in rigs if workflow.settings_of(other).live_action == action]
    return [other for other in others if plays_live(other, workflow)]


def adopt_copy(ob, workflow) -> None:
    """Let a duplicated rig that plays a copy of the live action, as Blender makes it, have that as its own."""
    settings = workflow.settings_of(ob)
    action, slot = played_action(ob)
    old = settings.live_action
    if not settings.live or action is None or old in (None, action) or action.library is not None:
        return
    taken = (workflow.settings_of(rig).live_action for rig in live_rigs(workflow))
    if _stem(action.name) != _stem(old.name) or action in taken:
        return
    settings.live_action, settings.live_slot = action, playback.handle_of(slot)
    if old.library is None:
        discard(old)


def _stem(name: str) -> str:
    """A name without the number that Blender gives to a copy."""
    stem, _, number = name.rpartition(".")
    return stem if stem and number.isdigit() else name


def play_live(context, ob, workflow, result: RigResult) -> None:
    """Play a live action that moves the rig as a result says; after an error nothing has changed.

    The one that was kept for the user's keys goes on, else a new one is made.
    """
    motion, original, settings = result.keyed, result.keyed_original, workflow.settings_of(ob)
    if plays_result(ob, workflow):
        play_source(ob, workflow)
    with source_played(ob, workflow):
        way = way_back(context.scene, ob, workflow, result)
        motion, original = way.extended(motion), way.source_of(original)
        keyed = written_channels(context, ob, motion, source_of(ob), original)
        # Whatever solving may come to change, now or later, goes back to where it was.
        idle = playback.values_without_curves(ob, curve_keys(motion.rig, result.solvable), *source_of(ob))
    played, _ = played_action(ob)
    touched = _write_own(context, ob, workflow, motion, way, keyed)
    _switch_limbs(context.scene, ob, workflow, result, way)
    notes_of(ob, workflow).keyed = touched
    if played is not None and not played.users:
        played.use_fake_user = True  # it is the user's
    before = values_of(settings.live_before)
    known = {(value.path, value.index) for value in before}
    new = [value for value in idle if (value.path, value.index) not in known]
    remember_values(settings, "live_before", before + new)
    _put_back_idle(ob, workflow)
    settings.live, settings.live_action.use_fake_user = True, False
    settings.live_source = keys_digest(*bound_action(ob, workflow))
    _note_keys(ob, workflow, motion.rig.names, keyed, keyed & ~changed_channels(original, motion))


def _write_own(context, ob, workflow, motion, way: WayBack, keyed: np.ndarray) -> bool:
    """Write the live action that is there for the rig alone, else a new one, and play it.

    Returns whether there are keys of the user in it.
    """
    settings = workflow.settings_of(ob)
    kept, solved, touched = owns_live(ob, workflow), np.zeros_like(keyed), False
    if kept or live_copy(ob, workflow) is not None:
        # What it holds for a state of things that is over is not to go on.
        solved, _ = _noted_keys(ob, workflow, motion.rig.names)
        touched = notes_of(ob, workflow).keyed or _is_touched(ob, workflow)
    if kept:
        _play_again(context.scene, ob, workflow, motion, way, keyed)
    else:
        _play_new(context, ob, workflow, motion, way, keyed)
    restore(settings.live_action, live_slot(ob, workflow), *bound_action(ob, workflow), motion.rig, solved & ~keyed)
    _switch_off_more(context.scene, ob, workflow, motion)
    return touched


def _play_new(context, ob, workflow, motion, way: WayBack, keyed: np.ndarray) -> None:
    settings = workflow.settings_of(ob)
    keys = np.broadcast_to(keyed, (len(motion.frames), *keyed.shape))
    written = write_action(context, ob, workflow, None, LIVE, motion, way, keys)
    actions.assign(ob, written.action, written.slot)
    settings.live_action, settings.live_slot = written.action, playback.handle_of(written.slot)
    remember_values(settings, "live_before", written.before)


def _play_again(scene, ob, workflow, motion, way: WayBack, keyed: np.ndarray) -> None:
    settings = workflow.settings_of(ob)
    action, slot = settings.live_action, live_slot(ob, workflow)
    with source_played(ob, workflow):
        before = playback.values_before(ob, action, slot, *source_of(ob))
    actions.assign(ob, action, slot)
    _rewrite(scene, ob, workflow, motion, way, keyed)
    remember_values(settings, "live_before", before)


def _rewrite(scene, ob, workflow, motion, way: WayBack, keyed: np.ndarray) -> None:
    """Write a motion, with the way back to its source, into the live action."""
    action, slot = workflow.settings_of(ob).live_action, live_slot(ob, workflow)
    rewrite(scene, action, slot, motion, keyed)
    go_back(scene, action, slot, bound_action(ob, workflow), motion, keyed, way)


def _note_keys(ob, workflow, names: tuple[str, ...], keyed: np.ndarray, always: np.ndarray) -> None:
    """keyed: (B, 3) bool, the channels that hold solved keys.  always: those that do even where nothing changes."""
    bits = np.stack([keyed, always], axis=1) @ _CHANNEL_BITS
    notes = notes_of(ob, workflow)
    notes.channels = json.dumps({names[bone]: bits[bone].tolist() for bone in np.flatnonzero(bits.any(axis=1))})
    notes.written = keys_digest(workflow.settings_of(ob).live_action, live_slot(ob, workflow))


def _noted_keys(ob, workflow, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """What ``_note_keys`` noted, for the bones that there are now."""
    noted = json.loads(notes_of(ob, workflow).channels or "{}")
    bits = np.array([noted.get(name, (0, 0)) for name in names])
    keyed, always = (bits.T[..., None] & _CHANNEL_BITS).astype(bool)
    return keyed, always


def noted_channels(ob, workflow) -> np.ndarray:
    """(B, 3) bool: the channels of the live action that hold solved keys."""
    return _noted_keys(ob, workflow, tuple(bone.name for bone in ob.data.bones))[0]


def _switch_off_more(scene, ob, workflow, motion) -> None:
    """Switch off the constraints that have come to act since the live action was made."""
    settings = workflow.settings_of(ob)
    action, slot = settings.live_action, live_slot(ob, workflow)
    acting = silenced_constraints(ob, workflow)
    more = [pair for pair in acting if _is_left_on(ob, workflow, influence_path(*pair))]
    before = [
        playback.Before(influence_path(*pair), 0, pair[1].influence)
        for pair in more
        if actions.find_curve(action, slot, influence_path(*pair)) is None
    ]
    switch_off(action, slot, more, float(action_times(scene, motion.frames[:1])[0]))
    remember_values(settings, "live_before", values_of(settings.live_before) + before)


def _switch_limbs(scene, ob, workflow, result: RigResult, way: WayBack) -> None:
    """Key the switches of limbs that are written to other controls, and have the others as the source has them."""
    known = workflow.controls_of(ob)
    if known is None:
        return
    switches = result.switches
    action, slot = workflow.settings_of(ob).live_action, live_slot(ob, workflow)
    _remember(ob, workflow, [(path, 0) for path in switches])
    left = [(path, 0) for path in known.switches if path not in switches]
    restore_curves(action, slot, *bound_action(ob, workflow), left)
    times = action_times(scene, result.keyed.frames[[0, -1]])
    frame = float(action_times(scene, np.ones(1))[0])
    present = {value.path: value.value for value in values_of(workflow.settings_of(ob).live_before)}
    hold_switches(action, slot, switches, times, way.sides, bound_action(ob, workflow), present, frame)


def _remember(ob, workflow, keys: list[tuple[str, int]]) -> None:
    """Note the values that properties have, by path and index, before the live action is the first to animate them."""
    settings = workflow.settings_of(ob)
    before = values_of(settings.live_before)
    noted = {(value.path, value.index) for value in before}
    new = playback.values_without_curves(ob, keys, *bound_action(ob, workflow))
    new = playback.without_curves(new, settings.live_action, live_slot(ob, workflow))
    new = [value for value in new if (value.path, value.index) not in noted]
    if new:
        remember_values(settings, "live_before", before + new)


def _is_left_on(ob, workflow, path: str) -> bool:
    """Whether the live action does to an influence what the source does: nothing, or the same keys."""
    live_curve = actions.find_curve(workflow.settings_of(ob).live_action, live_slot(ob, workflow), path)
    source_curve = actions.find_curve(*bound_action(ob, workflow), path)
    if live_curve is None or source_curve is None:
        return live_curve is None
    return np.array_equal(actions.keys_of(live_curve), actions.keys_of(source_curve))


def _is_touched(ob, workflow) -> bool:
    """Whether the live action is not as it was written last: the user has keyed it."""
    return keys_digest(workflow.settings_of(ob).live_action, live_slot(ob, workflow)) != notes_of(ob, workflow).written


def rewrite_live(scene, ob, workflow, result: RigResult) -> np.ndarray:
    """Write the motion of another result into the live action, noticing whether the user has keyed it meanwhile.

    Channels that are no longer changed get the source's curves again, or are where they were.
    Returns the channels written, (B, 3) bool.
    """
    action, slot = workflow.settings_of(ob).live_action, live_slot(ob, workflow)
    if _is_touched(ob, workflow):
        notes_of(ob, workflow).keyed = True
    way = way_back(scene, ob, workflow, result)
    motion = way.extended(result.keyed)
    before, always = _noted_keys(ob, workflow, motion.rig.names)
    keyed = result.changed | always
    # Where it is written to other controls than when it went live.
    _remember(ob, workflow, curve_keys(motion.rig, keyed & ~before))
    restore(action, slot, *bound_action(ob, workflow), motion.rig, before & ~keyed)
    _rewrite(scene, ob, workflow, motion, way, keyed)
    _switch_off_more(scene, ob, workflow, motion)
    _switch_limbs(scene, ob, workflow, result, way)
    _put_back_idle(ob, workflow)
    _note_keys(ob, workflow, motion.rig.names, keyed, always)
    return keyed


def replay_live(ob, workflow) -> None:
    """Have Blender evaluate the live action as if it were new, where it plays; what it leaves alone goes back to where
    it was before live."""
    if plays_live(ob, workflow):
        _put_back_idle(ob, workflow)
        playback.evaluate_again(ob)


def _put_back_idle(ob, workflow) -> None:
    settings = workflow.settings_of(ob)
    left = playback.without_curves(values_of(settings.live_before), settings.live_action, live_slot(ob, workflow))
    playback.put_back(ob, left)


def leave_live(ob, workflow) -> str | None:
    """Play the bound action again, everything as it was; the live one is kept if the user has keyed it, or if the bound
    one is gone.

    A rig that plays something else by now goes on playing it.  Returns the name of what was kept.
    Raises SceneError while an NLA strip is tweaked.
    """
    require_no_tweak(ob)
    adopt_copy(ob, workflow)
    settings = workflow.settings_of(ob)
    action, own = settings.live_action, owns_live(ob, workflow)
    is_last = settings.source is None and not settings.bound_strips
    keyed = own and (is_last or notes_of(ob, workflow).keyed or _is_touched(ob, workflow))
    if played_action(ob)[0] == action and not is_last:  # both None where the live one was deleted
        playback.play(ob, *bound_action(ob, workflow), values_of(settings.live_before))
    settings.live = False
    remember_values(settings, "live_before", [])
    forget_motion(ob, workflow)
    if keyed:
        action.use_fake_user = True
        notes_of(ob, workflow).stamp, notes_of(ob, workflow).keyed = "", True
        return action.name
    settings.live_action = None
    if own:
        action.use_fake_user = False
        discard(action)
    return None
