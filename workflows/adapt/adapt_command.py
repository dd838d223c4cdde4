"""The command that adapts a rig."""

from __future__ import annotations

from ...scene.names import named, shared_names
from ...scene.rigs import find_rig, require_armature, require_editable
from ...scene.surfaces import expand, find
from ...solvers.adapt.solve import ATTACH, AVOID, IGNORE
from ...solvers.core.errors import InputError, SceneError
from ..command_line.settings import require_between
from ..environment.bind import bind_rig
from ..environment.contact_words import set_contact
from ..environment.joints import choose, leave
from ..environment.replaced import replace_objects
from ..environment.upright import set_upright
from ..rig.command import add_bake_arguments, apply_bake, baked_as
from .adapt_words import add_pin, replaced_by
from .bind_command import add_joint_arguments, notes_of_names
from .change_script import run_change
from .report import picture_file, save_picture
from .run import AdaptRigOptions, adapt_rig
from .words import summary

HELP = "Fit a rig's motion to its changed environment."
_SCALES = 1e-3, 1e3  # times as large as it is: beyond that single precision tells no motion


def add_arguments(parser) -> None:
    """The options of the command ``adapt``."""
    parser.add_argument("--rig", required=True, metavar="NAME", help="the armature object")
    parser.add_argument(
        "--environment", nargs="+", action="extend", metavar="NAME",
        help="objects or collections to heed; a rig that is not bound yet is bound to them first, as they are",
    )  # fmt: skip
    parser.add_argument("--start", type=float, metavar="FRAME", help="first frame to bind")
    parser.add_argument("--end", type=float, metavar="FRAME", help="last frame to bind")
    add_joint_arguments(parser)
    parser.add_argument("--change", metavar="SCRIPT.py", help="a Python script to run after bind: it edits the scene")
    parser.add_argument("--scale", type=float, metavar="FACTOR", help="resize the character: scales the rig's object")
    parser.add_argument(
        "--mode", nargs="+", action="extend", default=[], metavar="OBJECT=MODE",
        help="ATTACH, AVOID or IGNORE, for one object each"
    )
    parser.add_argument(
        "--influence", nargs="+", action="extend", default=[], metavar="OBJECT=VALUE",
        help="0 to 1, for one object each"
    )
    parser.add_argument(
        "--replace", nargs="+", action="extend", default=[], metavar="OBJECT=OTHER[,MORE]",
        help="what takes the place of a bound object: stairs, a ramp, a terrain under a motion made on a flat floor"
    )
    parser.add_argument(
        "--replace-along", choices=("gravity", "closest"),
        help="how the points of what --replace names go over (default: as set in the file, at first gravity)"
    )
    parser.add_argument("--no-collision", action="store_true", help="do not keep clear of the environment")
    parser.add_argument("--no-limits", action="store_true", help="do not heed the rig's joint limits")
    parser.add_argument("--upright", type=float, metavar="VALUE", help="0 to 1, keeping the tilt on sloped ground")
    parser.add_argument("--orientation", type=float, metavar="VALUE", help="0 to 1, turning of hands, feet and head")
    parser.add_argument(
        "--hold", nargs="+", action="extend", default=[], metavar="BONE=FACTOR",
        help="how much bones hold to their places (1: as found)"
    )
    parser.add_argument(
        "--contact", nargs="+", action="extend", default=[], metavar="BONE@OBJECT:FROM-TO=on|off|auto",
        help="hold a bone at its distance to an object for some frames, let it go, or leave it as Bind found it; the "
        "report lists all as contact_list",
    )  # fmt: skip
    parser.add_argument(
        "--leave", nargs="+", action="extend", default=[], metavar="BONE",
        help="bones that keep their angles of the source against their parents while the rest is solved",
    )  # fmt: skip
    parser.add_argument(
        "--pin", nargs="+", action="extend", default=[], metavar="BONE=OBJECT:START:END",
        help="hold a bone's head at an object"
    )
    add_bake_arguments(parser, "adapted")
    parser.add_argument("--picture", metavar="FILE.svg", help="save contacts and worst events over time")
    parser.add_argument("--no-measures", action="store_true", help="do not measure the result")


def run(workflow, context, args) -> dict:
    """The command ``adapt``."""
    ob = find_rig(context, args.rig)
    require_armature(ob)
    require_editable(ob)
    settings = workflow.settings_of(ob)
    if args.picture is not None and args.no_measures:
        raise InputError("--picture shows the measures; leave out --no-measures.")
    place = picture_file(args.picture) if args.picture is not None else None
    chosen = find(context, args.environment or [])
    notes = notes_of_names(context, ob, chosen)
    was_bound = settings.binding is not None
    if not was_bound:
        if not chosen:
            raise SceneError(f"'{ob.name}' is not bound yet: name its --environment, or run the bind command first.")
        choose(ob, workflow, args.solve, args.ride)
        bind_rig(context, ob, workflow, chosen, args.start, args.end)
    elif args.solve or args.ride:
        raise InputError(f"'{ob.name}' is bound already; to bind other joints give --solve and --ride to bind.")
    elif args.start is not None or args.end is not None:
        raise InputError(f"'{ob.name}' is bound already; to bind other frames give --start and --end to bind.")
    only = None
    if was_bound and chosen:
        wanted = set(expand(chosen))
        only = tuple(item.bound_name for item in settings.surfaces if item.target in wanted)
        strangers = wanted - {item.target for item in settings.surfaces}
        if strangers:
            stranger = min(strangers, key=lambda each: each.name_full)
            not_it = "".join(f" ({note})" for note in shared_names(context.scene, [stranger]))
            raise InputError(
                f"'{ob.name}' was bound without '{stranger.name_full}'{not_it}; bind it beside the others: "
                "run the bind command with --keep."
            )
    if args.change:
        run_change(context, ob, workflow, args.change)
    _apply(context, ob, workflow, args)
    if args.pin:
        notes += shared_names(context.scene, [pin.target for pin in settings.pins])
    baked = vars(baked_as(settings, args))
    options = AdaptRigOptions(**baked, measure=not args.no_measures, only=only)
    report = adapt_rig(context, ob, workflow, options)
    print(summary(report))
    if place is not None:
        print(save_picture(ob, workflow, place))
        report["picture"] = str(place.path)
    return report | {"notes": report["notes"] + notes}


def _apply(context, ob, workflow, args) -> None:
    """Command-line choices become the rig's settings, as if made in the panel."""
    settings = workflow.settings_of(ob)
    for name, mode in map(_pair, args.mode):
        if mode.upper() not in (ATTACH, AVOID, IGNORE):
            raise InputError(f"'{mode}' is not a mode; give '{name}' {ATTACH}, {AVOID} or {IGNORE}.")
        _surface(settings, ob, name).mode = mode.upper()
    for name, value in map(_pair, args.influence):
        _surface(settings, ob, name).influence = require_between(f"The influence of '{name}'", value, 0.0, 1.0)
    for text in args.replace:
        name, targets = replaced_by(context, settings, text)
        along = args.replace_along and args.replace_along.upper()
        replace_objects(ob, _surface(settings, ob, name), expand(targets), along)
    if args.replace_along is not None and not args.replace:
        raise InputError("--replace-along tells how points go over to what --replace names; give that too.")
    for bone, value in map(_pair, args.hold):
        item = next((item for item in settings.bones if item.bone == bone), None) or settings.bones.add()
        item.bone, item.factor = bone, require_between(f"The hold of '{bone}'", value, 0.0, 1e6)
    leave(ob, workflow, args.leave)
    for text in args.contact:
        set_contact(ob, workflow, text)
    for text in args.pin:
        add_pin(context, ob, settings, text)
    if args.upright is not None:
        set_upright(ob, workflow, require_between("--upright", args.upright, 0.0, 1.0))
    if args.orientation is not None:
        settings.orientation = require_between("--orientation", args.orientation, 0.0, 1.0)
    if args.no_collision:
        settings.clearance = "OFF"
    settings.limits = settings.limits and not args.no_limits
    apply_bake(settings, args)
    if args.scale is not None:
        _resize(context, ob, require_between("--scale", args.scale, *_SCALES))


def _resize(context, ob, factor: float) -> None:
    """Scale the rig's object; raises SceneError where animation or a driver sets its scale back."""
    wanted = [value * factor for value in ob.scale]
    ob.scale = wanted
    context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    if max(abs(a - b) for a, b in zip(ob.scale, wanted, strict=True)) > 1e-6 * factor:
        raise SceneError(f"The scale of '{ob.name}' is animated, --scale cannot change it; key the other size instead.")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not (equals and name and value):
        raise InputError(f"'{text}' should read NAME=VALUE.")
    return name, value


def _surface(settings, ob, name: str):
    """The entry of an object by its name now, or that at bind where it was renamed."""
    target = named((item.target for item in settings.surfaces if item.target is not None), name)
    found = [item for item in settings.surfaces if item.bound_name == name or (target and item.target == target)]
    if not found:
        names = ", ".join(item.bound_name for item in settings.surfaces)
        raise InputError(f"'{ob.name}' is not bound to '{name}', but to {names}.")
    if len(found) > 1:
        raise InputError(f"'{name}' is one object's name now and was another's at bind; give the first another name.")
    return found[0]
