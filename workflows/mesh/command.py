"""What commands that bake a result on a mesh share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator
from typing import Any

from ...scene.names import named
from ...scene.rigs import require_editable
from ...solvers.core.errors import OutputError, SceneError
from ..command_line.settings import set_choices, set_numbers, set_range
from .bake import ABSOLUTE_KEYS, PC2, PCA_KEYS
from .plants import AS_OWN, FREE, FULL
from .target import target_behind, why_none

_FEET = {"as-own": AS_OWN, "held": FULL, "free": FREE}
_KINDS = {"pc2": PC2, "pca-keys": PCA_KEYS, "absolute-keys": ABSOLUTE_KEYS}


def add_bake_arguments(parser) -> None:
    """What ``apply_bake`` reads."""
    parser.add_argument(
        "--above-ground", action=argparse.BooleanOptionalAction, default=None, help="lift it where it would sink"
    )
    parser.add_argument("--feet", choices=tuple(_FEET), help="how feet that stand are held")
    parser.add_argument("--may-stand", metavar="GROUP", help="vertex group of the target: only these may be feet")
    parser.add_argument("--ground", metavar="NAME", help="the mesh object that the feet are to stand on")
    parser.add_argument("--bake", choices=tuple(_KINDS), help="what holds the result (default: as set in the file)")
    parser.add_argument("--keys", type=int, metavar="COUNT", help="most weighted shape keys of --bake pca-keys")
    parser.add_argument("--folder", metavar="FOLDER", help="of the cache file; // is the folder of the .blend")
    parser.add_argument("--start", type=int, metavar="FRAME", help="first frame to bake (default: the source's)")
    parser.add_argument("--end", type=int, metavar="FRAME", help="last frame to bake (default: the source's)")
    parser.add_argument("--step", type=int, metavar="FRAMES", help="from one pose to the next")


def apply_bake(settings, args) -> None:
    """Arguments become ``MeshResultSettings``.  Raises InputError for what a setting cannot be."""
    set_numbers(settings, {"bake_keys": args.keys, "bake_step": args.step})
    kind = args.bake and _KINDS[args.bake]
    set_choices(settings, {"hold_ground": args.above_ground, "bake_kind": kind, "bake_folder": args.folder})
    set_choices(settings, {"feet": args.feet and _FEET[args.feet], "stand_group": args.may_stand})
    set_range(settings, "bake", args.start, args.end, "--")


def apply_ground(context, settings, args) -> None:
    """Raises SceneError where there is no object of that name."""
    if args.ground is None:
        return
    ground = named(context.scene.objects, args.ground)
    if ground is None:
        raise SceneError(f"There is no object '{args.ground}' in the scene; name the mesh that the feet stand on.")
    settings.stands_on = ground


def require_player(settings, args) -> None:
    """Raises OutputError for a cache file that nothing would play."""
    if settings.bake_kind == PC2 and not (args.output or args.save):
        raise OutputError(
            "The cache file would belong to a .blend that is not saved: give --output or --save, or --bake pca-keys."
        )


def played_steps(steps: Generator[tuple[float, str], None, Any], settings, args):
    """The same steps, which end as ``require_player`` where they begin to work: what they miss by then comes first."""
    return (yield from checked_steps(steps, lambda: require_player(settings, args)))


def checked_steps(steps: Generator[tuple[float, str], None, Any], check: Callable[[], None]):
    """The same steps, with a check where they begin to work."""
    while True:
        try:
            share, text = next(steps)
        except StopIteration as end:
            return end.value
        if share > 0.0:
            check()
        yield share, text


def mesh_named(context, name: str):
    """The mesh object that is to move, for a live copy its original.

    Raises SceneError where there is none of that name, several share it or it cannot be changed.
    """
    ob = named(context.scene.objects, name)
    if ob is None:
        raise SceneError(f"There is no object '{name}' in the scene; name the mesh that is to move.")
    if ob.type != "MESH":
        raise SceneError(f"'{name}' is of type {ob.type}; the target must be a mesh.")
    target = target_behind(ob)
    if target is None:
        raise SceneError(why_none(ob))
    require_editable(target)
    return target
