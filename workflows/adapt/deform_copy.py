"""A copy of a rig's deform bones that plain keys move: for rigs whose own mechanics would override a result."""

from __future__ import annotations

import numpy as np

from ...scene.deform_copy import DeformMotion, copy_deform_bones, move_skin, read_deform_bones, undone_after_error
from ...scene.motion import motion_range, source_of
from ...scene.new_names import require_name
from ...scene.rigs import find_rig, require_armature
from ...solvers.core.errors import SceneError
from ...solvers.skeleton.followed_bones import followed_bones, rest_size
from ...solvers.skeleton.motion_tree import motion_parents
from ..command_line.words import counted
from ..core import live
from ..core.outside_frames import outside_notes
from ..rig.owner import owner_of, owner_source_played
from ..rig.read import frames_within

HELP = "Make a rig of a rig's deform bones alone that plays the same motion from plain keys."
_EXACT = 1e-4  # metres
_NAMED = 3


def why_no_copy(context) -> str | None:
    """Why the active object has no deform bones to copy, or None."""
    ob = context.object
    if ob is None or ob.type != "ARMATURE":
        return "Select an armature."
    return f"'{ob.name}' is being edited: leave Edit Mode." if ob.mode == "EDIT" else None


def copy_rig(
    context, ob, name: str | None = None, start: float | None = None, end: float | None = None, skin: bool = False
) -> dict:
    """Copy the deform bones of a rig over its motion, or a part of it; returns a report that JSON can hold.

    name: of the copy, made from the rig's where None.  skin: what the rig deforms and carries follows the copy then.
    The objects of the rig's environment are the copy's as well. Of a rig that is live in Adapt the source motion is
    copied, as Bind takes it.
    Raises SceneError and InputError as reading does; then nothing has changed.
    """
    require_armature(ob)
    require_name(name)
    scene = context.scene
    live_words = _live_words(ob)
    with live.paused():
        with owner_source_played(ob):
            try:
                ends, source = motion_range(scene, ob), source_of(ob)
            except SceneError:
                ends, source = (scene.frame_start, scene.frame_end), (None, None)  # nothing is known to move it
            frames = frames_within(ob, ends, start, end)
            left_out = outside_notes(scene, ob, source, frames, "copied")
            motion = read_deform_bones(context, ob, frames)
        with undone_after_error(context, ob):
            made = copy_deform_bones(context, ob, motion, _moves_with(motion), name or f"{ob.name} deform")
            moved, left = move_skin(scene, ob, made.ob) if skin else ([], [])
            _copy_choices(ob.motion_loom_adapt, made.ob.motion_loom_adapt)
    return {
        "rig": ob.name,
        "copy": made.ob.name,
        "action": made.action.name,
        "bones": len(made.ob.data.bones),
        "frames": len(frames),
        "error_mm": 1000.0 * made.error,
        "moved_skin": moved,
        "notes": [*live_words, *_notes(ob, made, skin, left), *left_out],
    }


def summary(report: dict) -> str:
    """The line that says what was done."""
    size = f"{counted(report['bones'], 'deform bone')} and {counted(report['frames'], 'frame')}"
    skin = f", which moves {named(report['moved_skin'])} now" if report["moved_skin"] else ""
    return ". ".join((f"'{report['copy']}' is a copy of '{report['rig']}', {size}{skin}", *report["notes"]))


def named(names) -> str:
    """The first few of some names, and how many more there are."""
    some = ", ".join(f"'{name}'" for name in names[:_NAMED])
    return some + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _moves_with(motion: DeformMotion) -> np.ndarray:
    """(B,) which of the deform bones each moves with, -1 for none."""
    rig, chosen = motion.rig, motion.chosen
    alone, every = np.full(len(chosen), -1), np.ones(len(chosen), bool)
    followed = followed_bones(rig, chosen)
    return motion_parents(alone, motion.pose, rig.rest[chosen], rig.lengths[chosen], every, rest_size(rig), followed)


def _copy_choices(chosen, copied) -> None:
    """Environment and range of one rig for another one."""
    for item in chosen.surfaces:
        new = copied.surfaces.add()
        new.name, new.target, new.mode, new.influence = item.name, item.target, item.mode, item.influence
    copied.use_range, copied.start, copied.end = chosen.use_range, chosen.start, chosen.end


def _live_words(ob) -> tuple[str, ...]:
    """What is said where another motion is copied than is seen."""
    owner = owner_of(ob)
    if owner is None:
        return ()
    return (f"'{ob.name}' is live in {owner.label}: the copy has its source motion, not the {owner.done} one",)


def _notes(ob, made, skin: bool, left: list[str]) -> list[str]:
    notes = []
    if made.error > _EXACT:
        notes.append(f"Bones of '{ob.name}' are sheared, so that the copy is off by up to {1000 * made.error:.1f} mm")
    if made.bendy:
        notes.append(
            f"{len(made.bendy)} B-Bones are straight in the copy, so that skin between their ends bends less: "
            f"{named(made.bendy)}"
        )
    if left:
        notes.append(f"{named(left)} stay with '{ob.name}': linked, or carried by a bone that is not copied")
    if not skin:
        notes.append(f"The skin stays with '{ob.name}'; Move Skin lets it follow the copy")
    return notes


def add_arguments(parser) -> None:
    """The options of the command ``copy-deform``."""
    parser.add_argument("--rig", required=True, metavar="NAME", help="the armature object")
    parser.add_argument("--name", metavar="COPY", help="the new armature object's (default: '<rig> deform')")
    parser.add_argument("--start", type=float, metavar="FRAME", help="first frame (default: the animation's)")
    parser.add_argument("--end", type=float, metavar="FRAME", help="last frame (default: the animation's)")
    parser.add_argument("--move-skin", action="store_true", help="what the rig deforms or carries follows the copy")


def run(context, args) -> dict:
    """The command ``copy-deform``."""
    report = copy_rig(context, find_rig(context, args.rig), args.name, args.start, args.end, args.move_skin)
    print(summary({**report, "notes": []}))
    return report
