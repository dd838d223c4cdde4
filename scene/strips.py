"""Results as NLA strips: on top of all tracks, so that they play as if they were assigned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ..solvers.core.errors import OutputError, SceneError


def require_no_tweak(ob: bpy.types.Object) -> None:
    """Raises SceneError while a strip is being tweaked: nothing else can be assigned or pushed then."""
    data = ob.animation_data
    if data is not None and data.use_tweak_mode:
        raise SceneError(f"'{ob.name}' is tweaking an NLA strip; leave tweak mode (Tab in the NLA editor).")


def require_pushable(ob: bpy.types.Object) -> None:
    """Raises SceneError where a strip on a new track could not be added, or would not play."""
    require_no_tweak(ob)
    data = ob.animation_data
    if data is None:
        return
    if not data.use_nla:
        raise SceneError(f"The NLA of '{ob.name}' is switched off; tick its box in the NLA editor.")
    solo = next((track for track in data.nla_tracks if track.is_solo), None)
    if solo is not None:
        raise SceneError(
            f"Track '{solo.name}' of '{ob.name}' plays alone, so that no other would; switch its star off in the NLA "
            "editor."
        )


def push(ob: bpy.types.Object, action, slot, start: float, end: float, mute: bool = False) -> None:
    """A strip of an action on a new track above all others, from one action time to another.

    Outside of them the tracks below play, or where there are none its first and last pose.
    The object's own action, which would hide the strip, stays as it is.  After an error there is no new track.
    Raises SceneError where it would not play, OutputError where the object refuses it.
    """
    require_pushable(ob)
    data = ob.animation_data or ob.animation_data_create()
    if data is None:
        raise OutputError(f"'{ob.name}' cannot hold NLA strips; make a local copy of it.")
    is_first = not any(len(track.strips) for track in data.nla_tracks)
    track = data.nla_tracks.new()
    try:
        track.name = action.name
        track.mute = mute
        strip = track.strips.new(action.name, int(start), action)
        _fill(strip, slot, start, max(end, start + 1.0), "HOLD" if is_first else "NOTHING")
    except (RuntimeError, AttributeError) as error:
        data.nla_tracks.remove(track)
        raise OutputError(f"'{ob.name}' refuses an NLA strip of '{action.name}'; make a local copy of it.") from error
    ob.update_tag(refresh={"TIME"})


def push_down(ob: bpy.types.Object, action, slot, start: float, end: float) -> None:
    """Push an action, and take the object's own one off, which is kept by a fake user, so that the strip plays."""
    push(ob, action, slot, start, end)
    previous = ob.animation_data.action
    if previous is not None:
        if previous.library is None:
            previous.use_fake_user = True
        ob.animation_data.action = None


def _fill(strip, slot, start: float, end: float, extrapolation: str) -> None:
    """Have a strip play an action at its own times."""
    if slot is not None:
        strip.action_slot = slot
    strip.action_frame_start, strip.action_frame_end = start, end
    strip.frame_start, strip.frame_end = start, end
    strip.blend_type, strip.extrapolation = "REPLACE", extrapolation


def strips_of(ob: bpy.types.Object, action) -> list[tuple]:
    """(track, strip) of all strips that play an action."""
    data = ob.animation_data
    if data is None or action is None:
        return []
    return [(track, strip) for track in data.nla_tracks for strip in track.strips if strip.action == action]


def remove(ob: bpy.types.Object, action) -> None:
    """Take an action's strips off, and tracks that held nothing else; the action is kept by a fake user."""
    if take_off(ob, action):
        action.use_fake_user = True
        ob.update_tag(refresh={"TIME"})


def take_off(ob: bpy.types.Object, action) -> bool:
    """As ``remove``, but the action itself stays as it is; returns whether there was any strip."""
    found = strips_of(ob, action)
    for track, strip in found:
        track.strips.remove(strip)
    for track in {track.as_pointer(): track for track, _ in found}.values():
        if not len(track.strips):
            ob.animation_data.nla_tracks.remove(track)
    return bool(found)


@contextmanager
def silenced(ob: bpy.types.Object, action) -> Iterator[None]:
    """Strips of an action do not play until the block ends.

    Their tracks are muted where they hold nothing else: what only a muted strip animates is set to its default, the
    influence of constraints to zero.
    """
    found = strips_of(ob, action)
    alone = [track for track, _ in found if all(strip.action == action for strip in track.strips)]
    heard = [each for each in (*alone, *(strip for _, strip in found)) if not each.mute]
    for each in heard:
        each.mute = True
    try:
        yield
    finally:
        for each in heard:
            each.mute = False
        if heard:
            ob.update_tag(refresh={"TIME"})
