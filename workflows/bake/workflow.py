"""Bake: a rig's animation as it is, trimmed, resampled or brought to another frame rate, in a new action."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...scene.frames import MET, MOST_FRAMES, frames_around, frames_stepped, require_range
from ...scene.motion import action_times, frames_per_second, motion_range, source_of
from ...scene.movers import movers_of
from ...scene.names import shared_names
from ...scene.new_names import require_name
from ...scene.resample import only_slot, resample
from ...scene.restored import restored_after_error
from ...scene.rigs import find_rig, require_armature, require_editable, why_not_editable
from ...scene.strips import push, push_down, require_pushable
from ...scene.visual_bake import bake_seen, has_own_motion
from ...solvers.core.errors import InputError, MotionLoomError
from ..command_line.settings import require_between
from ..command_line.words import counted
from ..core.base import Command, Steps, Workflow, too_large_named
from ..core.naming import result_name
from ..core.outside_frames import outside_notes
from ..environment.lowered import carry_lowered
from ..interface.panel_parts import draw_range
from .settings import MotionLoomBakeSettings

_MOST_KEYS = 1_000_000  # a curve, which take no more than reading that one
_STEPS = 1e-4, 1e6  # frames; keys that are closer fall on one another
_RATES = 1e-2, 1e6  # frames a second


@dataclass(frozen=True)
class BakeOptions:
    """What to bake.

    start, end: scene frames, the whole animation's where None.  step: frames between keys.
    fps: frames a second the animation was made for, the scene's where None; the result begins at the same
    frame and lasts as many seconds as at that rate.
    name: of the new action, else made from the old one's.  assign: play it on the rig.  strip: as a strip on a new NLA
    track instead of assigning it, mute where assign is false.
    """

    start: float | None = None
    end: float | None = None
    step: float = 1.0
    fps: float | None = None
    name: str | None = None
    assign: bool = False
    strip: bool = False


def bake_frames(context, ob, options: BakeOptions) -> tuple[np.ndarray, np.ndarray]:
    """Scene frames (F,) to read, and the frames (F,) at which the result has its keys.

    Where the steps do not meet the end, the last pose has a key there, and where that is between frames it is held by
    another one at the next frame: whoever steps through whole frames would never see it.
    Raises InputError for a range that holds no frame, SceneError when the rig plays nothing.
    """
    first, last = motion_range(context.scene, ob)
    whole = frames_around(first, last)
    start = float(whole[0] if options.start is None else options.start)
    end = float(whole[1] if options.end is None else options.end)
    require_between("The step", options.step, *_STEPS)
    if options.fps is not None:
        require_between("The frame rate", options.fps, *_RATES)
    speed = 1.0 if options.fps is None else options.fps / frames_per_second(context.scene)
    of = f"The range of '{ob.name}'"
    most = _MOST_KEYS if has_own_motion(ob) else MOST_FRAMES
    require_range(start, end, of, speed * options.step, most)
    if not start <= end:
        raise InputError(
            f"The range {start:g} to {end:g} is empty; the animation of '{ob.name}' runs from {first:g} to {last:g}."
        )
    new_end = start + (end - start) / speed
    require_range(start, new_end, f"{of} at that rate", options.step, _MOST_KEYS)
    new = frames_stepped(start, new_end, options.step)
    if new_end - new[-1] > MET * options.step:
        new = np.append(new, _at_end(new_end))
    frames = np.minimum(start + (new - start) * speed, end)
    frames[-1] = end
    return frames, new


def _at_end(end: float) -> list[float]:
    """Frames of the keys of the last pose."""
    is_whole = abs(end - round(end)) < MET
    return [float(round(end))] if is_whole else [end, float(math.ceil(end))]


def bake_rig(context, ob, options: BakeOptions) -> dict:
    """Bake one armature object; returns a report that JSON can hold.

    Raises SceneError for a rig without motion or that cannot be changed, InputError for an empty range or a long name.
    """
    require_armature(ob)
    require_editable(ob)
    require_name(options.name)
    if options.strip:
        require_pushable(ob)
    frames, new_frames = bake_frames(context, ob, options)
    source = source_of(ob)
    origin = source[0].name if source[0] else ob.name
    name = options.name or result_name(origin, "baked")
    notes = [*outside_notes(context.scene, ob, source, frames, "baked", new_frames), *_speed_notes(ob, options)]
    is_assigned = options.assign and not options.strip
    with too_large_named("baking", ob), restored_after_error(ob):
        if has_own_motion(ob):
            action, silenced = resample(context, ob, name, frames, new_frames, is_assigned), []
        else:
            action, silenced = bake_seen(context, ob, name, frames, new_frames, is_assigned)
        carry_lowered(ob, source, action)
        if options.strip:
            _keep_as_strip(context, ob, action, new_frames, options.assign)
    if silenced:
        some = ", ".join(silenced[:3]) + (f" and {len(silenced) - 3} more" if len(silenced) > 3 else "")
        notes.append(f"The result holds plain keys and keys the influence of constraints to zero ({some})")
    return {
        "rig": ob.name,
        "source": origin,
        "action": action.name,
        "start": float(new_frames[0]),
        "end": float(new_frames[-1]),
        "keys_per_curve": len(new_frames),
        "strip": options.strip,
        "silenced_constraints": silenced,
        "notes": notes,
    }


def _speed_notes(ob, options: BakeOptions) -> list[str]:
    """A sentence where the rig moves by what another speed does not change, else none."""
    others = dict.fromkeys(mover.what for mover in movers_of([ob]) if mover.is_foreign)
    is_carried = ob.parent is not None or any(not each.mute for each in ob.constraints)
    if options.fps is None or not others or not (has_own_motion(ob) or is_carried):
        return []  # of a rig without keys all is keyed that moves its bones
    return [f"What else moves '{ob.name}' keeps its own speed: {', '.join(list(others)[:3])}"]


def _keep_as_strip(context, ob, action, frames: np.ndarray, play: bool) -> None:
    start, end = map(float, action_times(context.scene, frames[[0, -1]]))
    if play:
        push_down(ob, action, only_slot(action), start, end)
    else:
        push(ob, action, only_slot(action), start, end, mute=True)
    action.use_fake_user = False


class Bake(Workflow):
    """Copies, trims and resamples; the source action is not touched."""

    id = "bake"
    label = "Bake Action"
    settings = MotionLoomBakeSettings
    steps = {"bake": "Bake Action"}

    def commands(self) -> tuple[Command, ...]:
        return (Command("bake", "Copy, trim or resample a rig's action.", _add_arguments, _run),)

    def poll(self, context, step: str) -> str | None:
        reason = why_not_editable(context.object)
        if reason is not None:
            return reason
        try:
            source_of(context.object)
        except MotionLoomError as error:
            return str(error)
        return None

    def bake(self, context) -> Steps:
        chosen = self.settings_of(context.object)
        options = BakeOptions(
            start=chosen.start if chosen.use_range else None,
            end=chosen.end if chosen.use_range else None,
            step=chosen.step,
            fps=chosen.fps if chosen.use_fps else None,
            assign=chosen.assign,
            strip=chosen.strip,
        )
        yield 0.0, "Baking"
        report = bake_rig(context, context.object, options)
        return ". ".join((_summary(report), *report["notes"]))

    def draw(self, layout, context) -> None:
        if context.object is None or context.object.type != "ARMATURE":
            layout.label(text="Select an armature", icon="INFO")
            return
        chosen = self.settings_of(context.object)
        draw_range(layout, chosen)
        layout.prop(chosen, "step")
        layout.prop(chosen, "use_fps")
        if chosen.use_fps:
            layout.prop(chosen, "fps")
        layout.prop(chosen, "assign")
        layout.prop(chosen, "strip")
        self.button(layout, "bake")


def _add_arguments(parser) -> None:
    parser.add_argument("--rig", required=True, metavar="NAME", help="the armature object")
    parser.add_argument("--start", type=float, metavar="FRAME", help="first frame (default: the animation's)")
    parser.add_argument("--end", type=float, metavar="FRAME", help="last frame (default: the animation's)")
    parser.add_argument("--step", type=float, default=1.0, metavar="FRAMES", help="between keys (default: 1)")
    parser.add_argument(
        "--fps", type=float, metavar="RATE", help="the rate the animation was made for (default: the scene's)"
    )
    parser.add_argument("--name", metavar="ACTION", help="the new action's (default: '<source> (baked)')")
    parser.add_argument("--assign", action="store_true", help="play the new action on the rig")
    parser.add_argument(
        "--strip", action="store_true", help="keep it as a strip on a new NLA track, which is mute without --assign"
    )


def _run(context, args) -> dict:
    options = BakeOptions(args.start, args.end, args.step, args.fps, args.name, args.assign, args.strip)
    ob = find_rig(context, args.rig)
    report = bake_rig(context, ob, options)
    print(_summary(report))
    return report | {"notes": [*report["notes"], *shared_names(context.scene, [ob])]}


def _summary(report: dict) -> str:
    keys = counted(report["keys_per_curve"], "key")
    return (
        f"Baked '{report['source']}' into '{report['action']}', frames {report['start']:g} to "
        f"{report['end']:g}, {keys} a curve" + (", as NLA strip" if report["strip"] else "")
    )
