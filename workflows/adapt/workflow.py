"""Adapt: a motion made for one environment follows it when it has changed."""

from __future__ import annotations

import argparse
import os
import runpy

from ...scene.movers import movers_of
from ...scene.names import named, names_of_collections, shared_names
from ...scene.rigs import find_rig, require_armature, require_editable
from ...scene.session import exists, object_of
from ...scene.surfaces import expand, find
from ...solvers.adapt.solve import ATTACH, AVOID, IGNORE
from ...solvers.core.errors import InputError, MotionLoomError, SceneError
from ..command_line.settings import require_between, whole_frame
from ..core.base import Command, Question, Steps, Workflow
from ..core.overlay import Overlay
from ..core.result_keys import KeyOptions
from ..environment.bind import bind_rig, bind_steps
from ..environment.changes import question_of_bind
from ..environment.joints import choose
from ..environment.update import objects_in_list, question_of_update, update_in_words, update_rig, update_steps
from ..rig.live_action import live_rigs
from . import deform_copy, lists, operators, panel
from .command import command_of
from .follower import AdaptFollower
from .live_switch import live_off, live_on_steps, refresh_steps
from .overlay import overlay_of
from .run import ADAPT, AdaptRigOptions, adapt_rig, adapt_steps
from .settings import CLASSES, MotionLoomAdaptNotes, MotionLoomAdaptSettings

_FIGURES = (
    ("contacts_kept_pct", "contacts kept {:.1f} %"),
    ("penetration_pct", "penetration {:.1f} % of frames"),
    ("clearance_lost_pct", "clearance lost {:.1f} % of frames"),
    ("jerk_mean_ratio", "jerk {:.2f} x"),
)
# Percent of frames; a source that is inside its environment for longer usually has faces that point the wrong way.
_SUSPECT_PENETRATION = 50.0
_SCALES = 1e-3, 1e3  # times as large as it is: beyond that single precision tells no motion


class Adapt(Workflow):
    """Bind a rig to what surrounds it, change the surroundings or the rig's size, bake."""

    id = ADAPT
    label = "Adapt to Environment"
    settings = MotionLoomAdaptSettings
    action_notes = MotionLoomAdaptNotes
    classes = CLASSES
    operators = operators.CLASSES
    ui_lists = lists.CLASSES
    steps = {"fit": "Bind", "update_binding": "Update Binding", "bake": "Adapt and Bake"}
    tips = {
        "update_binding": "Bind what is new or was edited as it is now, let go of what is gone, and keep everything "
        "else as it was bound"
    }
    is_live = True

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("bind", "Store how a rig's motion relates to its environment.", _add_bind_arguments, _run_bind),
            Command("copy-deform", deform_copy.HELP, deform_copy.add_arguments, deform_copy.run),
            Command("adapt", "Fit a rig's motion to its changed environment.", _add_adapt_arguments, _run_adapt),
        )

    def poll(self, context, step: str) -> str | None:
        ob = context.object
        if ob is None or ob.type != "ARMATURE":
            return "Select an armature."
        try:
            require_editable(ob)
        except MotionLoomError as error:
            return str(error)
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
        elif step.startswith("live") and ob.animation_data is not None and ob.animation_data.use_tweak_mode:
            return "An NLA strip is being tweaked: leave that first (Tab in the NLA editor)."
        return None

    def fit(self, context) -> Steps:
        ob = context.object
        chosen = self.settings_of(ob)
        objects = expand([item.target for item in chosen.surfaces if item.target is not None])
        start, end = (chosen.start, chosen.end) if chosen.use_range else (None, None)
        return bind_steps(context, ob, objects, start, end)

    def update_binding(self, context) -> Steps:
        """Bind what is new or was edited, and keep the rest."""
        ob = context.object
        report = yield from update_steps(context, ob, objects_in_list(context, ob))
        return update_in_words(report)

    def question(self, context, step: str) -> Question | None:
        ask = {"fit": question_of_bind, "update_binding": question_of_update}.get(step)
        return ask and ask(context, context.object)

    def bake(self, context) -> Steps:
        ob = context.object
        settings = self.settings_of(ob)
        options = AdaptRigOptions(assign=settings.assign, keys=_key_options(settings), strip=settings.bake_strip)
        report = yield from adapt_steps(context, ob, options)
        said = settings.notes.splitlines()
        return ". ".join((_summary(report), *(note for note in report["notes"] if note not in said)))

    def live_objects(self) -> list:
        return live_rigs()

    def follower(self, ob) -> AdaptFollower:
        return AdaptFollower()

    def is_on(self, context) -> bool:
        ob = context.object
        return ob is not None and ob.type == "ARMATURE" and ob.library is None and self.settings_of(ob).live

    def live_on(self, context) -> Steps:
        return live_on_steps(context, context.object, self)

    def live_off(self, context) -> str | None:
        return live_off(context.object, self)

    def live_refresh(self, context) -> Steps:
        return refresh_steps(context, context.object, self)

    def command_line(self, context, program: str) -> str:
        return command_of(context, context.object, program)

    def overlay(self, context, ob) -> Overlay | None:
        return overlay_of(context, ob)

    def draw(self, layout, context) -> None:
        panel.draw(self, layout, context)


def _key_options(settings, only_changed: bool = True) -> KeyOptions:
    return KeyOptions(settings.bake_step, settings.bake_error if settings.bake_reduce else None, only_changed)


def _summary(report: dict) -> str:
    text = f"Adapted '{report['source']}' into '{report['action']}', {report['frames']} frames, {_key_summary(report)}"
    found = report.get("measures", {})
    figures = [form.format(found[key]) for key, form in _FIGURES if found.get(key) is not None]
    if found and not found["contact_frames"]:
        figures.insert(0, "no contact: no hand or foot rests on anything")
    if found.get("penetration_original_pct", 0.0) > _SUSPECT_PENETRATION:
        figures.append("the source itself is inside the environment: do its faces point outwards?")
    silenced = report["silenced_constraints"]
    if silenced:
        some = ", ".join(silenced[:3] + ["..."] * (len(silenced) > 3))
        figures.append(f"constraints that would override it are switched off in it ({some})")
    return ": ".join(filter(None, (text, ", ".join(figures))))


def _key_summary(report: dict) -> str:
    text = f"{report['keys_per_curve']:g} keys a curve" if report["curves"] else "no curve had to change"
    if report["keys"] < report["keys_of_all_frames"]:
        text += (
            f" ({report['keys']} of {report['keys_of_all_frames']} keys, which moves joints by "
            f"{report['key_error_mm']:.2g} mm at most)"
        )
    return f"{text}, as NLA strip" if report["strip"] else text


class _Keep(argparse.Action):
    """A switch that makes the environment optional."""

    def __init__(self, option_strings, dest, environment: argparse.Action, **look):
        super().__init__(option_strings, dest, nargs=0, default=False, **look)
        self._environment = environment

    def __call__(self, _parser, namespace, _values, _option=None):
        setattr(namespace, self.dest, True)
        self._environment.required = False


def _add_bind_arguments(parser) -> None:
    parser.add_argument("--rig", required=True, metavar="NAME", help="the armature object")
    environment = parser.add_argument(
        "--environment", required=True, nargs="+", action="extend", metavar="NAME",
        help="objects or collections the motion deals with",
    )  # fmt: skip
    parser.add_argument(
        "--keep", action=_Keep, environment=environment,
        help="of a rig that is bound: bind only what is new or was edited, and keep the rest as it was bound; "
        "--environment names what is to be added, if anything",
    )  # fmt: skip
    parser.add_argument("--start", type=float, metavar="FRAME", help="first frame (default: the animation's)")
    parser.add_argument("--end", type=float, metavar="FRAME", help="last frame (default: the animation's)")
    _add_joint_arguments(parser)


def _add_joint_arguments(parser) -> None:
    for name, text in (("--solve", "are solved"), ("--ride", "go with the solved bone that carries them")):
        text = f"bones that {text}, whatever they are"
        parser.add_argument(name, nargs="+", action="extend", default=[], metavar="BONE", help=text)


def _run_bind(context, args) -> dict:
    ob = find_rig(context, args.rig)
    chosen = find(context, args.environment or [])
    if args.keep:
        if args.start is not None or args.end is not None:
            raise InputError("--keep keeps the frames that are bound; leave out --start and --end.")
        if args.solve or args.ride:
            raise InputError("--keep keeps the joints that are bound; leave out --solve and --ride.")
        report = update_rig(context, ob, chosen)
    else:
        choose(ob, args.solve, args.ride)
        report = bind_rig(context, ob, chosen, args.start, args.end)
    print(f"Bound '{report['rig']}': {report['bound']}")
    return report | {"notes": report["notes"] + _notes_of_names(context, ob, chosen)}


def _add_adapt_arguments(parser) -> None:
    parser.add_argument("--rig", required=True, metavar="NAME", help="the armature object")
    parser.add_argument(
        "--environment", nargs="+", action="extend", metavar="NAME",
        help="objects or collections to heed; a rig that is not bound yet is bound to them first, as they are",
    )  # fmt: skip
    parser.add_argument("--start", type=float, metavar="FRAME", help="first frame to bind")
    parser.add_argument("--end", type=float, metavar="FRAME", help="last frame to bind")
    _add_joint_arguments(parser)
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
    parser.add_argument("--no-collision", action="store_true", help="do not keep clear of the environment")
    parser.add_argument("--no-limits", action="store_true", help="do not heed the rig's joint limits")
    parser.add_argument("--orientation", type=float, metavar="VALUE", help="0 to 1, turning of hands, feet and head")
    parser.add_argument(
        "--hold", nargs="+", action="extend", default=[], metavar="BONE=FACTOR",
        help="how much bones hold to their places (1: as found)"
    )
    parser.add_argument(
        "--pin", nargs="+", action="extend", default=[], metavar="BONE=OBJECT:START:END",
        help="hold a bone's head at an object"
    )
    parser.add_argument("--name", metavar="ACTION", help="the new action's (default: '<source> (adapted)')")
    parser.add_argument("--no-assign", action="store_true", help="keep the source action on the rig")
    parser.add_argument("--step", type=int, metavar="FRAMES", help="frames from one key to the next")
    parser.add_argument(
        "--reduce", metavar="METRES", help="leave out keys as long as no joint moves farther than this (0: keep all)"
    )
    parser.add_argument(
        "--only-changed", action=argparse.BooleanOptionalAction, default=True,
        help="channels that do not change keep the curves of the source",
    )  # fmt: skip
    parser.add_argument("--strip", action="store_true", help="push the result to a new NLA track, not assign it")
    parser.add_argument("--no-measures", action="store_true", help="do not measure the result")


def _run_adapt(context, args) -> dict:
    ob = find_rig(context, args.rig)
    require_armature(ob)
    require_editable(ob)
    settings = ob.motion_loom_adapt
    chosen = find(context, args.environment or [])
    notes = _notes_of_names(context, ob, chosen)
    was_bound = settings.binding is not None
    if not was_bound:
        if not chosen:
            raise SceneError(f"'{ob.name}' is not bound yet: name its --environment, or run the bind command first.")
        choose(ob, args.solve, args.ride)
        bind_rig(context, ob, chosen, args.start, args.end)
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
        _change(context, ob, args.change)
    _apply(context, ob, args)
    if args.pin:
        notes += shared_names(context.scene, [pin.target for pin in settings.pins])
    keys = _key_options(settings, args.only_changed)
    options = AdaptRigOptions(args.name, not args.no_assign, not args.no_measures, only, keys, settings.bake_strip)
    report = adapt_rig(context, ob, options)
    print(_summary(report))
    return report | {"notes": report["notes"] + notes}


def _notes_of_names(context, ob, chosen) -> list[str]:
    return shared_names(context.scene, [ob, *chosen]) + names_of_collections(context.scene, chosen)


def _change(context, ob, path: str) -> None:
    """Run a script that edits the scene; raises InputError where the rig is not there after it as it has to be."""
    name = ob.name
    _run_script(path)
    if not exists(ob):
        raise InputError(f"The script '{path}' deleted the rig '{name}' or opened another file; let it keep the rig.")
    if not hasattr(ob, "motion_loom_adapt"):
        raise InputError(f"The script '{path}' switched Motion Loom off; let it keep the extension.")
    if object_of(context.scene, ob.session_uid, ob.name) is None:
        raise InputError(
            f"After the script '{path}' the rig '{ob.name}' is not in the scene '{context.scene.name}'; let it keep "
            "the rig in the scene that is open."
        )
    context.view_layer.update()


def _run_script(path: str) -> None:
    if not os.path.isfile(path):  # also where a folder cannot be entered or the name is too long
        raise InputError(f"There is no script '{path}' that can be reached; choose another --change.")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(f"The script '{path}' cannot be read: {error.strerror}; choose another --change.") from error
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise InputError(f"The script '{path}' failed: it ended with {end.code}.") from end
    except Exception as error:
        raise InputError(f"The script '{path}' failed: {type(error).__name__}: {error}") from error


def _apply(context, ob, args) -> None:
    """Command-line choices become the rig's settings, as if made in the panel."""
    settings = ob.motion_loom_adapt
    for name, mode in map(_pair, args.mode):
        if mode.upper() not in (ATTACH, AVOID, IGNORE):
            raise InputError(f"'{mode}' is not a mode; give '{name}' {ATTACH}, {AVOID} or {IGNORE}.")
        _surface(settings, ob, name).mode = mode.upper()
    for name, value in map(_pair, args.influence):
        _surface(settings, ob, name).influence = require_between(f"The influence of '{name}'", value, 0.0, 1.0)
    for bone, value in map(_pair, args.hold):
        item = next((item for item in settings.bones if item.bone == bone), None) or settings.bones.add()
        item.bone, item.factor = bone, require_between(f"The hold of '{bone}'", value, 0.0, 1e6)
    for bone, rest in map(_pair, args.pin):
        _add_pin(context, settings, bone, rest)
    if args.orientation is not None:
        settings.orientation = require_between("--orientation", args.orientation, 0.0, 1.0)
    if args.no_collision:
        settings.clearance = "OFF"
    settings.limits = settings.limits and not args.no_limits
    _apply_keys(settings, args)
    if args.scale is not None:
        _resize(context, ob, require_between("--scale", args.scale, *_SCALES))


def _apply_keys(settings, args) -> None:
    if args.step is not None:
        settings.bake_step = int(require_between("--step", args.step, 1, 100_000))
    if args.reduce is not None:
        error = require_between("--reduce", args.reduce, 0.0, 1000.0)
        settings.bake_reduce = error > 0.0
        if error > 0.0:
            settings.bake_error = require_between("--reduce", args.reduce, 1e-5, 1000.0)
    settings.bake_strip = settings.bake_strip or args.strip


def _resize(context, ob, factor: float) -> None:
    """Scale the rig's object; raises SceneError where animation or a driver sets its scale back."""
    wanted = [value * factor for value in ob.scale]
    ob.scale = wanted
    context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    if max(abs(a - b) for a, b in zip(ob.scale, wanted, strict=True)) > 1e-6 * factor:
        raise SceneError(f"The scale of '{ob.name}' is animated, --scale cannot change it; key the other size instead.")


def _add_pin(context, settings, bone: str, rest: str) -> None:
    parts = rest.rsplit(":", 2)
    if len(parts) != 3 or not all(part.lstrip("-").isdigit() for part in parts[1:]):
        raise InputError(f"'{bone}={rest}' is no pin; write BONE=OBJECT:START:END with whole frames.")
    start, end = (whole_frame(f"A frame of the pin of '{bone}'", part) for part in parts[1:])
    target = named(context.scene.objects, parts[0])
    if target is None:
        raise SceneError(f"There is no object '{parts[0]}' in the scene to pin '{bone}' to.")
    same = (pin for pin in settings.pins if (pin.bone, pin.target) == (bone, target))
    pin = next(same, None) or settings.pins.add()
    pin.bone, pin.target, pin.start, pin.end = bone, target, start, end


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
