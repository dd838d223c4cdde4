"""What commands that bake a result on a rig share."""

from __future__ import annotations

import argparse

from ..command_line.settings import require_between
from ..core.result_keys import KeyOptions
from .bake import RigBakeOptions, options_of


def add_bake_arguments(parser, done: str) -> None:
    """What ``baked_as`` reads. done: what the new action is called after its source, in a word."""
    parser.add_argument("--name", metavar="ACTION", help=f"the new action's (default: '<source> ({done})')")
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


def apply_bake(settings, args) -> None:
    """Arguments become ``RigResultSettings``.  Raises InputError for what a setting cannot be."""
    if args.step is not None:
        settings.bake_step = int(require_between("--step", args.step, 1, 100_000))
    if args.reduce is not None:
        error = require_between("--reduce", args.reduce, 0.0, 1000.0)
        settings.bake_reduce = error > 0.0
        if error > 0.0:
            settings.bake_error = require_between("--reduce", args.reduce, 1e-5, 1000.0)
    settings.bake_strip = settings.bake_strip or args.strip


def baked_as(settings, args) -> RigBakeOptions:
    """How to bake with settings that ``apply_bake`` has set, and what arguments alone say."""
    chosen = options_of(settings)
    keys = KeyOptions(chosen.keys.step, chosen.keys.error, args.only_changed)
    return RigBakeOptions(args.name, not args.no_assign, keys, chosen.strip)
