"""Transfer's command, and the command line that does what its panel is set to."""

from __future__ import annotations

import argparse
import re

from ...scene.names import named, shared_names
from ...solvers.core.errors import InputError, SceneError
from ..command_line.settings import require_between, set_choices, set_numbers, set_range, whole_frame
from ..command_line.words import counted, given, line_on_file, pair_of_frames
from ..core.base import run_to_end
from ..core.list_entries import require_removable, resized
from ..mesh.bake import accuracy_text, options_of, written_text
from ..mesh.command import add_bake_arguments, apply_bake, apply_ground, checked_steps, mesh_named, played_steps
from ..mesh.feet_task import notes_of_choices
from ..mesh.plants import text_of
from .model import is_trained
from .notes import notes_of_learnt, notes_of_pairs, notes_of_subjects
from .pairs import replace_pairs, sort_pairs
from .parts import suggest_for
from .read import read_steps
from .run import bake_steps
from .settings import are_parts_as_read, gone_choices
from .train import train_steps

_BETWEEN = {"pose": "GAUSSIAN_PROCESS", "straight": "LINE"}
_KERNELS = {"neural-network": "NEURAL_NETWORK", "squared-exponential": "SQUARED_EXPONENTIAL"}
_RANGE = re.compile(r"(?P<name>.+):(?P<start>-?\d+)\.\.(?P<end>-?\d+)")
_PAIR = re.compile(r"(?:(?P<clip>\d+):)?(?P<frames>[^:]*)")
_PART = re.compile(r"(?P<name>[^=]+)=(?P<groups>.+)")


def add_arguments(parser) -> None:
    """Of the command ``transfer``."""
    switch = {"action": argparse.BooleanOptionalAction, "default": None}
    parser.add_argument("--target", required=True, metavar="NAME", help="a mesh of the subject that is to move")
    parser.add_argument("--source", metavar="NAME", help="a mesh of the subject whose movements are transferred")
    parser.add_argument(
        "--clip", action="append", default=[], metavar="NAME:START..END=NAME:START..END",
        help="a clip of the source and one of the target that show the same; may be repeated; they replace the file's",
    )  # fmt: skip
    parser.add_argument(
        "--pair", nargs="+", action="extend", default=[], metavar="[CLIP:]SOURCE=TARGET",
        help="frames of poses that belong together, of clip 1 where no number is given; they replace that clip's pairs",
    )  # fmt: skip
    parser.add_argument(
        "--part", nargs="+", action="extend", default=[], metavar="NAME=GROUP[,TARGET_GROUP]",
        help="a body part and its vertex group, of both subjects or of each, the torso first; they replace the file's",
    )  # fmt: skip
    parser.add_argument("--suggest-parts", type=int, metavar="COUNT", help="find that many parts of both subjects")
    parser.add_argument("--components", type=int, metavar="COUNT", help="most components that describe a part's pose")
    parser.add_argument("--read", action="store_true", help="read all clips again even if they were read")
    parser.add_argument("--between", choices=tuple(_BETWEEN), help="how frames between two pairs are paired")
    parser.add_argument("--stretch", type=int, metavar="FRAMES", help="how long one clip may wait for the other")
    parser.add_argument("--kernel", choices=tuple(_KERNELS), help="how alike two poses are taken to be")
    parser.add_argument("--noise", type=float, metavar="SHARE", help="least share of the movement that is noise")
    parser.add_argument("--perform", metavar="NAME", help="the new clip: a mesh of the source subject")
    parser.add_argument("--perform-start", type=int, metavar="FRAME", help="first frame of the new clip")
    parser.add_argument("--perform-end", type=int, metavar="FRAME", help="last frame of the new clip")
    parser.add_argument("--correct", help="take sizes of faces from captured poses", **switch)
    parser.add_argument("--stitch", help="join the parts smoothly", **switch)
    parser.add_argument("--clearance", help="keep it as high above the ground as its source", **switch)
    parser.add_argument("--travel", choices=("source", "none"), help="how the target moves over the ground")
    parser.add_argument("--travel-scale", type=float, metavar="FACTOR", help="multiplies how far it goes")
    parser.add_argument("--learn-only", action="store_true", help="read and train, bake nothing")
    add_bake_arguments(parser)


def run(context, args) -> dict:
    """Read and train where needed, bake; returns the report. Raises MotionLoomError for what cannot be done."""
    ob = mesh_named(context, args.target)
    settings = ob.motion_loom_transfer
    _apply(context, ob, args)
    notes = shared_names(context.scene, _given(ob, args))
    if not args.learn_only:
        apply_bake(settings, args)
        apply_ground(context, settings, args)

    def end_of(steps):
        return run_to_end(steps if args.learn_only else played_steps(steps, settings, args))

    if args.suggest_parts is not None:
        print(suggest_for(context, ob))
    if args.read or args.suggest_parts is not None or _changes_what_is_read(args) or not _is_read(settings):
        print(end_of(checked_steps(read_steps(context, ob), lambda: _require_pairs(ob))))
    if settings.learnt is None or not is_trained(ob):
        notes += gone_choices(settings)
        print(end_of(train_steps(ob)))
    notes += [*notes_of_subjects(ob), *notes_of_learnt(ob), *notes_of_pairs(ob)]
    if args.learn_only:
        return {"target": ob.name, "read": settings.subjects_summary, "learnt": settings.learnt_summary, "notes": notes}
    report = end_of(bake_steps(context, ob, options_of(settings)))
    print(summary(report))
    return report | {"notes": [*notes, *notes_of_choices(settings)]}


def _require_pairs(ob) -> None:
    """Raises InputError for a clip whose pairs are too few to train with."""
    for number, clip in enumerate(ob.motion_loom_transfer.clips, start=1):
        if clip.use and len(clip.pairs) < 2:
            raise InputError(f"Clip {number} of '{ob.name}' needs two pairs or more; add some, or switch it off.")


def _given(ob, args) -> list:
    """The objects that the arguments name."""
    settings = ob.motion_loom_transfer
    found = [ob, settings.source if args.source else None, settings.performed if args.perform else None]
    if args.clip:
        found += [owner for clip in settings.clips for owner in (clip.source, clip.target)]
    return found


def summary(report: dict) -> str:
    """A line for people."""
    text = (
        f"'{report['target']}' performs '{report['source']}' as '{report['object']}', "
        f"{counted(report['frames'], 'frame')}, learnt from {report['learnt']}: {written_text(report)}, "
        f"travels {report['travel_m']:.2f} m"
    )
    changed = None if report["trained_as_set"] else "pairs or choices were changed since Train"
    rate = None if report["rate_as_read"] else "the frame rate was changed since the clips were read"
    return "; ".join(filter(None, (text, accuracy_text(report), text_of(report["feet"]), changed, rate)))


def command_of(context, ob, program: str) -> str:
    """The line to paste into a shell: it bakes the target in the file on disk and saves the result beside it.

    Settings, pairs and what was learnt travel in the file. Raises OutputError where the scene has no file.
    """
    return line_on_file(context, program, ["transfer", *given("--target", ob.name)], "transferred")


def _is_read(settings) -> bool:
    if settings.subjects is None or not are_parts_as_read(settings):
        return False
    return all(clip.stored for clip in settings.clips if clip.use)


def _changes_what_is_read(args) -> bool:
    return bool(args.clip or args.part or args.source is not None or args.components is not None)


def _apply(context, ob, args) -> None:
    """Command-line choices become the target's settings, as if made in the panel."""
    settings = ob.motion_loom_transfer
    if args.source is not None:
        settings.source = _object(context, args.source, "--source")
    if args.clip:
        _replace_clips(context, settings, args.clip)
    if args.pair:
        _replace_pairs(settings, args.pair)
    if args.part:
        _replace_parts(ob, args.part)
    if args.perform is not None:
        settings.performed = _object(context, args.perform, "--perform")
    set_range(settings, "performed", args.perform_start, args.perform_end, "--perform-")
    set_numbers(settings, {
        "part_count": args.suggest_parts, "components": args.components, "stretch": args.stretch, "noise": args.noise,
        "travel_scale": args.travel_scale,
    })  # fmt: skip
    set_choices(settings, {
        "densify": _BETWEEN.get(args.between), "kernel": _KERNELS.get(args.kernel), "correct": args.correct,
        "stitch": args.stitch, "keep_clearance": args.clearance, "travel": args.travel and args.travel.upper(),
    })  # fmt: skip


def _object(context, name: str, option: str):
    ob = named(context.scene.objects, name)
    if ob is None:
        raise SceneError(f"{option}: there is no object '{name}' in the scene; name a mesh of the source subject.")
    return ob


def _replace_clips(context, settings, texts: list[str]) -> None:
    found = []
    for text in texts:
        sides = _clip_sides(context.scene, text)
        found.append([_clip_side(context, side) for side in sides])
    require_removable(settings, "clips", "The clips")
    settings.clips.clear()
    for sides in found:
        clip = settings.clips.add()
        for of, (owner, start, end) in zip(("source", "target"), sides, strict=True):
            set_choices(clip, {of: owner})
            set_numbers(clip, {f"{of}_start": start, f"{of}_end": end})
    settings.active_clip = len(found) - 1


def _clip_side(context, side: re.Match) -> tuple:
    """The object of one side of a clip, and its first and last frame."""
    ends = (whole_frame(f"A frame of '{side['name']}' in --clip", side[end]) for end in ("start", "end"))
    return _object(context, side["name"], "--clip"), *ends


def _clip_sides(scene, text: str) -> tuple[re.Match, re.Match]:
    """Both sides of a clip: names may have "=" in them, those of objects that there are count first."""
    ways, names = [], {name for ob in scene.objects for name in (ob.name, ob.name_full)}
    for cut in re.finditer("=", text):
        sides = _RANGE.fullmatch(text[: cut.start()]), _RANGE.fullmatch(text[cut.end() :])
        if all(sides):
            ways.append(sides)
    if not ways:
        raise InputError(f"'{text}' is not a clip; write NAME:START..END=NAME:START..END, e.g. Ann:1..40=Bob:1..36.")
    return next((sides for sides in ways if all(side["name"] in names for side in sides)), ways[0])


def _replace_pairs(settings, texts: list[str]) -> None:
    found: dict[int, list[tuple[float, float]]] = {}
    for text in texts:
        match = _PAIR.fullmatch(text.strip())
        if match is None:
            raise InputError(f"'{text}' is not a pair; write SOURCE=TARGET or CLIP:SOURCE=TARGET, e.g. 2:12=40.")
        number = int(require_between(f"The clip of '{text}'", match["clip"] or 1, 0, 1e6))
        if not 1 <= number <= len(settings.clips):
            raise InputError(f"'{text}': there is no clip {number}; there are {len(settings.clips)}.")
        found.setdefault(number, []).append(pair_of_frames(match["frames"]))
    for number, pairs in found.items():
        clip = settings.clips[number - 1]
        replace_pairs(clip, pairs)
        sort_pairs(clip)
        clip.active_pair = len(pairs) - 1


def _replace_parts(ob, texts: list[str]) -> None:
    settings, found = ob.motion_loom_transfer, []
    for text in texts:
        match = _PART.fullmatch(text)
        if match is None:
            raise InputError(f"'{text}' is not a part; write NAME=GROUP or NAME=GROUP,TARGET_GROUP, the torso first.")
        found.append((match["name"], *_groups_of(ob, match["groups"])))
    for part, values in zip(resized(settings, "parts", len(found), "parts"), found, strict=True):
        part.name, part.source_group, part.target_group = values
    settings.active_part = 0


def _groups_of(ob, text: str) -> tuple[str, str]:
    """The group of each subject: names may have commas in them, those of groups that there are count first."""
    source = ob.motion_loom_transfer.source
    ways = [(text, text), *((text[: cut.start()], text[cut.end() :]) for cut in re.finditer(",", text))]
    there = (way for way in ways if source and way[0] in source.vertex_groups and way[1] in ob.vertex_groups)
    return next(there, ways[min(1, len(ways) - 1)])
