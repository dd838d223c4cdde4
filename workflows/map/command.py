"""Map's command, and the command line that does what its panel is set to."""

from __future__ import annotations

import sys

from ...scene.names import named, names_of_collections, shared_names
from ...solvers.core.errors import InputError, SceneError
from ..command_line.settings import set_choices, set_numbers, set_range
from ..command_line.words import counted, given, line_on_file, pair_of_frames
from ..core.base import run_to_end
from ..core.list_entries import resized
from ..mesh.bake import accuracy_text, options_of, written_text
from ..mesh.command import add_bake_arguments, apply_bake, apply_ground, mesh_named, played_steps, require_player
from ..mesh.feet_task import notes_of_choices
from ..mesh.plants import text_of
from .doubts import source_doubts
from .learn import learn_steps
from .model import require_two_pairs
from .notes import notes_of_pairs, notes_of_target
from .pair_file import pair_file, read_pairs, save_pairs_of, use_pairs
from .pairs import left_unknown, next_pairs, odd_text
from .run import bake_steps
from .unmet import Unmet, contradiction_text
from .weighing import CUSTOM, MARKERS, PREVIEW, WHOLE, range_that_matters

_WITHOUT = {"place-and-heading": "FULL", "place": "PLACE", "nothing": "NONE"}
_WEIGHINGS = {"whole": WHOLE, "preview": PREVIEW, "custom": CUSTOM, "markers": MARKERS}


def add_arguments(parser) -> None:
    """Of the command ``map``."""
    parser.add_argument("--target", required=True, metavar="NAME", help="the mesh object that is to move")
    parser.add_argument("--source", metavar="NAME", help="an object or a collection whose movement drives it")
    parser.add_argument("--vertex-group", metavar="NAME", help="only these vertices of a source mesh")
    parser.add_argument("--source-without", choices=tuple(_WITHOUT), help="what of the source's movement is no pose")
    parser.add_argument("--target-without", choices=tuple(_WITHOUT), help="what of the target's movement is no pose")
    parser.add_argument("--components", type=int, metavar="COUNT", help="most components that describe a pose")
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
    parser.add_argument(
        "--weigh-by", choices=tuple(_WEIGHINGS), help="which frames of the source matter where next pairs are suggested"
    )
    parser.add_argument("--weigh-start", type=int, metavar="FRAME", help="first frame of --weigh-by custom")
    parser.add_argument("--weigh-end", type=int, metavar="FRAME", help="last frame of --weigh-by custom")
    parser.add_argument("--travel", choices=("auto", "learnt", "feet", "stride", "source", "none"), help="over ground")
    parser.add_argument("--stride", type=float, metavar="METRES", help="of --travel stride")
    parser.add_argument("--travel-scale", type=float, metavar="FACTOR", help="multiplies how far it goes")
    parser.add_argument("--pose-limits", choices=("soft", "hard", "none"), help="what holds poses to those it knows")
    parser.add_argument("--meet-pairs", type=float, metavar="SHARE", help="1: exactly, 0: passed by smoothly")
    parser.add_argument("--smoothing", type=float, metavar="SECONDS", help="calms a shaking source")
    parser.add_argument("--turn", type=float, metavar="RATIO", help="how much it turns where the source turns")
    add_bake_arguments(parser)


def run(context, args) -> dict:
    """Learn where needed, pair, bake; returns the report. Raises MotionLoomError for what cannot be done."""
    ob = mesh_named(context, args.target)
    settings = ob.motion_loom_map
    saved_pairs = pair_file(args.save_pairs) if args.save_pairs is not None else None
    pairs = [pair_of_frames(text) for text in args.pair]
    loaded = read_pairs(args.pairs) if args.pairs else None
    _apply(context, ob, args)
    # Before what takes long.
    uses = [pair["use"] for pair in loaded["pairs"]] if loaded else [pair.use for pair in settings.pairs]
    require_two_pairs(ob, len(pairs) or sum(uses))
    if args.learn or settings.learnt is None or settings.clip is None or _changes_what_is_learnt(args):
        print(run_to_end(played_steps(learn_steps(context, ob), settings, args)))
    if loaded:
        print(use_pairs(ob, args.pairs, loaded))
    if pairs:
        _replace_pairs(settings, pairs)
    if saved_pairs is not None:
        require_player(settings, args)
        print(save_pairs_of(ob, saved_pairs))
    report = run_to_end(played_steps(bake_steps(context, ob, options_of(settings)), settings, args))
    print(summary(report))
    if report["contradiction"]:
        print(f"motion_loom map: {_contradiction(report)}", file=sys.stderr)
    suggestions, notes = _next_pairs(context.scene, ob)
    notes += [*filter(None, [report["outgrown"]]), *notes_of_choices(settings), *source_doubts(ob)]
    notes += [*notes_of_target(ob), *notes_of_pairs(ob), *report["travel_notes"]]
    given = [ob, *((settings.source,) if args.source is not None else ())]
    notes += shared_names(context.scene, given) + names_of_collections(context.scene, given[1:])
    read = {"read": settings.clip_summary, "learnt": settings.learnt_summary}
    return report | read | suggestions | {"notes": notes}


def _next_pairs(scene, ob) -> tuple[dict, list[str]]:
    """What is most worth another pair, and what is left unknown, for JSON; and why there is none where the range to
    weigh by cannot be."""
    try:
        pairs = [{"frame": frame, "gain": gain} for frame, gain in next_pairs(scene, ob)]
        return {"next_pairs": pairs, "left_unknown": left_unknown(scene, ob)}, []
    except InputError as error:
        return {"next_pairs": [], "left_unknown": None}, [f"No next pairs are suggested. {error}"]


def summary(report: dict) -> str:
    """A line for people."""
    text = (
        f"Mapped '{report['target']}' into '{report['object']}', {counted(report['frames'], 'frame')} from "
        f"{counted(report['pairs'], 'pair')}: {written_text(report)}, "
        f"confidence {report['confidence_mean']:.0%}, travels {report['travel_m']:.2f} m"
    )
    text = ", ".join(filter(None, (text, accuracy_text(report))))
    odd, unmet = report["odd_pair"], Unmet(**report["pairs_missed"])
    told = _contradiction(report), odd and odd_text(tuple(odd.values())), unmet.numbers and f"misses {unmet.text}"
    return "; ".join(filter(None, (text, text_of(report["feet"]), *told, report["outgrown"])))


def _contradiction(report: dict) -> str | None:
    return report["contradiction"] and contradiction_text(report["contradiction"], report["contradiction_frames"])


def command_of(context, ob, program: str) -> str:
    """The line to paste into a shell: it bakes the target in the file on disk and saves the result beside it.

    Settings and pairs travel in the file. Raises OutputError where the scene has no file.
    """
    return line_on_file(context, program, ["map", *given("--target", ob.name)], "mapped")


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
        set_range(settings, of, *(getattr(args, f"{of}_{end}") for end in ("start", "end")), f"--{of}-")
    if args.shape_keys:
        settings.target_motion = "SHAPE_KEYS"
    set_numbers(settings, {
        "stride": args.stride, "turn_ratio": args.turn, "travel_scale": args.travel_scale, "smoothing": args.smoothing,
        "components": args.components, "meet_pairs": args.meet_pairs,
    })  # fmt: skip
    set_choices(settings, {
        "source_group": args.vertex_group, "ground": _WITHOUT.get(args.source_without),
        "target_ground": _WITHOUT.get(args.target_without), "travel": args.travel and args.travel.upper(),
        "edge": args.pose_limits and args.pose_limits.upper(),
    })  # fmt: skip
    _apply_weighing(context.scene, settings, args)
    apply_bake(settings, args)
    apply_ground(context, settings, args)


def _apply_weighing(scene, settings, args) -> None:
    ends = {"weigh_start": args.weigh_start, "weigh_end": args.weigh_end}
    if (args.weigh_start is None) != (args.weigh_end is None):
        raise InputError("Give both --weigh-start and --weigh-end.")
    if args.weigh_start is not None and args.weigh_by not in (None, "custom"):
        raise InputError(f"--weigh-start and --weigh-end are not of --weigh-by {args.weigh_by}; give custom, or none.")
    set_numbers(settings, ends)
    set_choices(settings, {"weigh_by": CUSTOM if args.weigh_start is not None else _WEIGHINGS.get(args.weigh_by)})
    if args.weigh_by or args.weigh_start is not None:
        range_that_matters(scene, settings)


def _apply_source(context, settings, name: str) -> None:
    ob = named(context.scene.objects, name)
    collection = named(context.blend_data.collections, name) if ob is None else None
    if ob is None and collection is None:
        raise SceneError(f"There is no object or collection '{name}' to be the source.")
    settings.source, settings.source_collection = ob, collection


def _require_group(settings, group: str) -> None:
    """Raises InputError where the source cannot have that vertex group: it would be passed over."""
    source = settings.source or settings.source_collection
    if source is None:
        return  # learning says so
    if settings.source is None or settings.source.type != "MESH":
        raise InputError(f"--vertex-group '{group}' needs a mesh, and the source '{source.name}' is not one.")


def _replace_pairs(settings, pairs: list[tuple[float, float]]) -> None:
    for pair, frames in zip(resized(settings, "pairs", len(pairs), "pairs"), pairs, strict=True):
        pair.source_frame, pair.target_frame = frames
        pair.use, pair.performed = True, ""
    settings.active_pair = len(pairs) - 1
