"""Map's command, and the command line that does what its panel is set to."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from ..scene.rigs import require_editable
from ..solvers.errors import InputError, OutputError, SceneError
from .base import run_to_end
from .command_words import counted, given, quoted
from .map_learn import learn_steps
from .map_pair_file import load_pairs_of, save_pairs_of
from .map_pairs import contradiction_text
from .map_run import bake_target
from .mesh_bake import ABSOLUTE_KEYS, PC2, PCA_KEYS, accuracy_text, options_of, written_text

_WITHOUT = {"place-and-heading": "FULL", "place": "PLACE", "nothing": "NONE"}
_KINDS = {"pc2": PC2, "pca-keys": PCA_KEYS, "absolute-keys": ABSOLUTE_KEYS}
_UNLIMITED = 2**31 - 1  # the limit of a setting that has no other


def add_arguments(parser) -> None:
    """Of the command ``map``."""
    parser.add_argument("--target", required=True, metavar="NAME", help="the mesh object that is to move")
    parser.add_argument("--source", metavar="NAME", help="an object or a collection whose movement drives it")
    parser.add_argument("--vertex-group", metavar="NAME", help="only these vertices of a source mesh")
    parser.add_argument("--source-without", choices=tuple(_WITHOUT), help="what of the source's movement is no pose")
    parser.add_argument("--target-without", choices=tuple(_WITHOUT), help="what of the target's movement is no pose")
    parser.add_argument("--components", type=int, metavar="COUNT", help="most numbers that a pose is told by")
    parser.add_argument("--learn", action="store_true", help="read source and target again even if they are learnt")
    parser.add_argument("--source-start", type=int, metavar="FRAME", help="first frame of the source")
    parser.add_argument("--source-end", type=int, metavar="FRAME", help="last frame of the source")
    parser.add_argument("--target-start", type=int, metavar="FRAME", help="first frame of the target's own motion")
    parser.add_argument("--target-end", type=int, metavar="FRAME", help="last frame of the target's own motion")
    parser.add_argument("--shape-keys", action="store_true", help="the target's shape keys are its poses")
    pairs = parser.add_mutually_exclusive_group()
    pairs.add_argument(
        "--pair", nargs="+", action="extend", default=[], metavar="SOURCE=TARGET",
        help="frames of poses that belong together; they replace the pairs in the file",
    )  # fmt: skip
    pairs.add_argument("--pairs", metavar="FILE.json", help="load the pairs from a file instead")
    parser.add_argument("--save-pairs", metavar="FILE.json", help="save the pairs to a file")
    parser.add_argument("--travel", choices=("auto", "learnt", "feet", "stride", "source", "none"), help="over ground")
    parser.add_argument("--stride", type=float, metavar="METRES", help="of --travel stride")
    parser.add_argument("--travel-scale", type=float, metavar="FACTOR", help="multiplies how far it goes")
    parser.add_argument(
        "--above-ground", action=argparse.BooleanOptionalAction, default=None, help="lift it where it would sink"
    )
    parser.add_argument("--pose-limits", choices=("soft", "hard", "none"), help="what holds poses to those it knows")
    parser.add_argument("--smoothing", type=float, metavar="SECONDS", help="calms a shaking source")
    parser.add_argument("--turn", type=float, metavar="RATIO", help="how much it turns where the source turns")
    parser.add_argument("--bake", choices=tuple(_KINDS), help="what holds the result (default: as set in the file)")
    parser.add_argument("--keys", type=int, metavar="COUNT", help="most weighted shape keys of --bake pca-keys")
    parser.add_argument("--folder", metavar="FOLDER", help="of the cache file; // is the folder of the .blend")
    parser.add_argument("--start", type=int, metavar="FRAME", help="first frame to bake (default: the source's)")
    parser.add_argument("--end", type=int, metavar="FRAME", help="last frame to bake (default: the source's)")
    parser.add_argument("--step", type=int, metavar="FRAMES", help="from one pose to the next")


def run(context, args) -> dict:
    """Learn where needed, pair, bake; returns the report. Raises MotionLoomError for what cannot be done."""
    ob = _target(context, args.target)
    settings = ob.motion_loom_map
    _apply(context, ob, args)
    _require_saving(settings, args)
    if args.learn or settings.learnt is None or settings.clip is None or _changes_what_is_learnt(args):
        print(run_to_end(learn_steps(context, ob)))
    if args.pairs:
        print(load_pairs_of(ob, args.pairs))
    if args.pair:
        _replace_pairs(settings, [_frames(text) for text in args.pair])
    if args.save_pairs:
        print(save_pairs_of(ob, args.save_pairs))
    report = bake_target(context, ob, options_of(settings))
    print(summary(report))
    if report["contradiction"]:
        print(f"motion_loom map: {contradiction_text(report['contradiction'])}", file=sys.stderr)
    return report


def summary(report: dict) -> str:
    """A line for people."""
    text = (
        f"Mapped '{report['target']}' into '{report['object']}', {counted(report['frames'], 'frame')} from "
        f"{counted(report['pairs'], 'pair')}: {written_text(report)}, "
        f"confidence {report['confidence_mean']:.0%}, travels {report['travel_m']:.2f} m"
    )
    text = ", ".join(filter(None, (text, accuracy_text(report))))
    return f"{text}; {contradiction_text(report['contradiction'])}" if report["contradiction"] else text


def command_of(context, ob, program: str) -> str:
    """The line to paste into a shell: it bakes the target in the file on disk and saves the result beside it.

    Settings and pairs travel in the file. Raises OutputError where the scene has no file.
    """
    path = context.blend_data.filepath
    if not path:
        raise OutputError("The scene has no file yet; save it, the command works on the file on disk.")
    file = Path(path)
    words = [program, "--background", path, "--command", "motion_loom", "map", *given("--target", ob.name)]
    return quoted([*words, "--output", str(file.with_name(f"{file.stem}_mapped.blend"))])


def _target(context, name: str):
    ob = context.scene.objects.get(name)
    if ob is None:
        raise SceneError(f"There is no object '{name}' in the scene; name the mesh that is to move.")
    if ob.type != "MESH":
        raise SceneError(f"'{name}' is of type {ob.type}; the target must be a mesh.")
    require_editable(ob)
    return ob


def _require_saving(settings, args) -> None:
    """Raises OutputError for a cache file that nothing would play."""
    if settings.bake_kind == PC2 and not (args.output or args.save):
        raise OutputError(
            "The cache file would belong to a .blend that is not saved: give --output or --save, or --bake pca-keys."
        )


def _changes_what_is_learnt(args) -> bool:
    """Whether something is given that is learnt anew."""
    ranges = args.source_start, args.source_end, args.target_start, args.target_end
    parts = args.source, args.vertex_group, args.source_without, args.target_without, args.components
    return args.shape_keys or any(value is not None for value in (*ranges, *parts))


def _apply(context, ob, args) -> None:
    """Command-line choices become the target's settings, as if made in the panel."""
    settings = ob.motion_loom_map
    if args.source is not None:
        _apply_source(context, settings, args.source)
    if args.vertex_group:
        _require_group(settings, args.vertex_group)
    for of in ("source", "target"):
        given_range = [getattr(args, f"{of}_{end}") for end in ("start", "end")]
        if any(frame is not None for frame in given_range):
            if None in given_range:
                raise InputError(f"Give both --{of}-start and --{of}-end.")
            setattr(settings, f"use_{of}_range", True)
            setattr(settings, f"{of}_start", given_range[0])
            setattr(settings, f"{of}_end", given_range[1])
    if args.shape_keys:
        settings.target_motion = "SHAPE_KEYS"
    numbers = {
        "stride": args.stride, "turn_ratio": args.turn, "travel_scale": args.travel_scale, "smoothing": args.smoothing,
        "components": args.components, "bake_keys": args.keys, "bake_step": args.step,
    }  # fmt: skip
    choices = {
        "source_group": args.vertex_group, "ground": _WITHOUT.get(args.source_without),
        "target_ground": _WITHOUT.get(args.target_without), "travel": args.travel and args.travel.upper(),
        "edge": args.pose_limits and args.pose_limits.upper(), "hold_ground": args.above_ground,
        "bake_kind": _KINDS.get(args.bake), "bake_folder": args.folder,
    }  # fmt: skip
    for name, value in (numbers | choices).items():
        if value is not None:
            (_set if name in numbers else setattr)(settings, name, value)
    if (args.start is None) != (args.end is None):
        raise InputError("Give both --start and --end.")
    if args.start is not None:
        settings.use_bake_range, settings.bake_start, settings.bake_end = True, args.start, args.end


def _set(settings, name: str, value: float) -> None:
    """Raises InputError for what the setting cannot be: it would be cut to its range without a word."""
    prop = settings.bl_rna.properties[name]
    if not prop.hard_min <= value <= prop.hard_max:
        raise InputError(f"{prop.name} cannot be {value:g}; use {_range_text(prop.hard_min, prop.hard_max)}.")
    setattr(settings, name, value)


def _range_text(low: float, high: float) -> str:
    """In words; what only the size of a number limits has no limit."""
    if high < _UNLIMITED:
        return f"{low:g} to {high:g}"
    return f"{low:g} or more" if low > -_UNLIMITED else "a number"


def _apply_source(context, settings, name: str) -> None:
    ob, collection = context.scene.objects.get(name), context.blend_data.collections.get(name)
    if ob is None and collection is None:
        raise SceneError(f"There is no object or collection '{name}' to be the source.")
    settings.source, settings.source_collection = ob, None if ob is not None else collection


def _require_group(settings, group: str) -> None:
    """Raises InputError where the source cannot have that vertex group: it would be passed over."""
    source = settings.source or settings.source_collection
    if source is None:
        return  # learning says so
    if settings.source is None or settings.source.type != "MESH":
        raise InputError(f"--vertex-group '{group}' is of a mesh, and the source '{source.name}' is none.")


def _replace_pairs(settings, pairs: list[tuple[float, float]]) -> None:
    settings.pairs.clear()
    for source, target in pairs:
        pair = settings.pairs.add()
        pair.source_frame, pair.target_frame = source, target
    settings.active_pair = len(pairs) - 1


def _frames(text: str) -> tuple[float, float]:
    source, equals, target = text.strip().partition("=")
    try:
        frames = float(source), float(target if equals else "")
        if not all(map(math.isfinite, frames)):
            raise ValueError("a frame is endless or not a number")
    except ValueError as error:
        raise InputError(f"'{text.strip()}' is no pair; write SOURCE=TARGET with two frames, e.g. 12=40.") from error
    return frames
