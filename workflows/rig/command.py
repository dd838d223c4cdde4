"""What commands that bake a result on a rig share."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ...solvers.core.errors import InputError
from ..command_line.settings import require_between
from .bake import RigBakeOptions, options_of
from .control_list import choose_controls
from .control_presets import named_preset, read_preset, save_preset, use_preset
from .control_variables import TRUNKS, WRITE_TO


def add_bake_arguments(parser, done: str) -> None:
    """What ``baked_as`` reads. done: what the new action is called after its source, in a word."""
    parser.add_argument("--name", metavar="ACTION", help=f"the new action's (default: '<source> ({done})')")
    parser.add_argument("--no-assign", action="store_true", help="keep the source action on the rig")
    parser.add_argument("--step", type=int, metavar="FRAMES", help="frames from one key to the next")
    parser.add_argument(
        "--reduce", metavar="METRES", help="leave out keys as long as no joint moves farther than this (0: keep all)"
    )
    parser.add_argument(
        "--blend", type=int, metavar="FRAMES",
        help="frames outside of the bound ones in which the result goes back to the source (default: 10)",
    )  # fmt: skip
    parser.add_argument(
        "--only-changed", action=argparse.BooleanOptionalAction, default=True,
        help="channels that do not change keep the curves of the source",
    )  # fmt: skip
    parser.add_argument(
        "--keys-at-source", action="store_true", help="write keys only at the frames where the source has keys"
    )
    parser.add_argument(
        "--write-to", choices=[name.lower().replace("_", "-") for name in WRITE_TO],
        help="which controls get the result, on a rig whose bones are moved by controls (default: as-keyed)",
    )  # fmt: skip
    parser.add_argument(
        "--trunk", choices=[name.lower().replace("_", "-") for name in TRUNKS],
        help="which controls of the trunk get keys there (default: keyed, those that the source keys)",
    )  # fmt: skip
    parser.add_argument(
        "--only-controls", nargs="+", action="extend", metavar="BONE", help="write to these controls alone"
    )
    parser.add_argument(
        "--controls-preset", metavar="NAME|FILE.json",
        help="write as a preset says; what other options say counts more",
    )  # fmt: skip
    parser.add_argument(
        "--save-controls-preset", metavar="NAME|FILE.json", help="keep what is chosen of these as a preset"
    )
    parser.add_argument("--strip", action="store_true", help="push the result to a new NLA track, not assign it")


def apply_bake(settings, args) -> None:
    """Arguments become ``RigResultSettings``.  Raises InputError for what a setting cannot be."""
    beside = [name for name, value in (("--step", args.step), ("--reduce", args.reduce)) if value is not None]
    if args.keys_at_source and beside:
        raise InputError(f"--keys-at-source writes keys where the source has them; leave {' and '.join(beside)} out.")
    if args.step is not None:
        settings.bake_step = int(require_between("--step", args.step, 1, 100_000))
    if args.reduce is not None:
        error = require_between("--reduce", args.reduce, 0.0, 1000.0)
        settings.bake_reduce = error > 0.0
        if error > 0.0:
            settings.bake_error = require_between("--reduce", args.reduce, 1e-5, 1000.0)
    if args.blend is not None:
        settings.range_blend = int(require_between("--blend", args.blend, 0, 100_000))
        settings.holds_outside = False
    settings.bake_at_keys = args.keys_at_source or (settings.bake_at_keys and not beside)  # what is asked for counts
    _apply_controls(settings, args)
    settings.bake_strip = settings.bake_strip or args.strip


def _apply_controls(settings, args) -> None:
    asked = {
        "--write-to": args.write_to, "--trunk": args.trunk, "--only-controls": args.only_controls,
        "--controls-preset": args.controls_preset, "--save-controls-preset": args.save_controls_preset,
    }  # fmt: skip
    given = next((name for name, value in asked.items() if value), None)
    if given and not len(settings.controls):
        raise InputError(f"'{settings.id_data.name}' is not moved by controls, so that {given} has no meaning for it.")
    if args.controls_preset:
        path = str(named_preset(args.controls_preset))
        print(use_preset(settings, path, read_preset(path)))
    for name in ("write_to", "trunk"):
        if getattr(args, name):
            setattr(settings, name, getattr(args, name).upper().replace("-", "_"))
    if args.only_controls:
        choose_controls(settings, args.only_controls)
    if args.save_controls_preset:
        print(save_preset(settings, named_preset(args.save_controls_preset, make_folder=True)))


def baked_as(settings, args) -> RigBakeOptions:
    """How to bake with settings that ``apply_bake`` has set, and what arguments alone say."""
    chosen = options_of(settings)
    keys = replace(chosen.keys, only_changed=args.only_changed)
    return RigBakeOptions(args.name, not args.no_assign, keys, chosen.strip)
