"""The command that binds a rig."""

from __future__ import annotations

import argparse

from ...scene.names import names_of_collections, shared_names
from ...scene.rigs import find_rig
from ...scene.surfaces import find
from ...solvers.core.errors import InputError
from ..environment.bind import bind_rig
from ..environment.joints import choose
from ..environment.update import update_rig

HELP = "Store how a rig's motion relates to its environment."


def add_arguments(parser) -> None:
    """The options of the command ``bind``."""
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
    add_joint_arguments(parser)


def add_joint_arguments(parser) -> None:
    """Which bones are solved, whatever they are."""
    for name, text in (("--solve", "are solved"), ("--ride", "go with the solved bone that carries them")):
        text = f"bones that {text}, whatever they are"
        parser.add_argument(name, nargs="+", action="extend", default=[], metavar="BONE", help=text)


def run(workflow, context, args) -> dict:
    """The command ``bind``."""
    ob = find_rig(context, args.rig)
    chosen = find(context, args.environment or [])
    if args.keep:
        if args.start is not None or args.end is not None:
            raise InputError("--keep keeps the frames that are bound; leave out --start and --end.")
        if args.solve or args.ride:
            raise InputError("--keep keeps the joints that are bound; leave out --solve and --ride.")
        report = update_rig(context, ob, workflow, chosen)
    else:
        choose(ob, workflow, args.solve, args.ride)
        report = bind_rig(context, ob, workflow, chosen, args.start, args.end)
    print(f"Bound '{report['rig']}': {report['bound']}")
    return report | {"notes": report["notes"] + notes_of_names(context, ob, chosen)}


def notes_of_names(context, ob, chosen) -> list[str]:
    """Which of several objects of one name were meant."""
    return shared_names(context.scene, [ob, *chosen]) + names_of_collections(context.scene, chosen)


class _Keep(argparse.Action):
    """A switch that makes the environment optional."""

    def __init__(self, option_strings, dest, environment: argparse.Action, **look):
        super().__init__(option_strings, dest, nargs=0, default=False, **look)
        self._environment = environment

    def __call__(self, _parser, namespace, _values, _option=None):
        setattr(namespace, self.dest, True)
        self._environment.required = False
