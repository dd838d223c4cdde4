"""What moves objects, and between which frames: their own animation and all that they hang on.

What may depend on the frame in a way that is not known here counts as moving at all times: frames that are read in vain
cost time, those that are missed give half of a motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from . import actions
from .cache_range import cache_range
from .curve_extent import extent
from .interference import targets_of
from .reached import node_trees
from .sampling import playing_strips

# They play a tracked clip or a cache file, which go by the scene's time.
_TIMED_CONSTRAINTS = frozenset({"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER", "TRANSFORM_CACHE"})
# Simulations, caches and what has a course of its own.
_TIMED_MODIFIERS = frozenset(
    """BUILD CLOTH DYNAMIC_PAINT EXPLODE FLUID MESH_CACHE MESH_SEQUENCE_CACHE PARTICLE_INSTANCE PARTICLE_SYSTEM
    SOFT_BODY WAVE""".split()
)
# A bake node plays what was baked frame by frame, whatever comes in.
_TIMED_NODES = frozenset({"GeometryNodeInputSceneTime", "GeometryNodeSimulationInput", "GeometryNodeBake"})
# What an expression of a driver may name beside its variables without depending on the frame.
_TIMELESS_NAMES = frozenset(dir(math)) | set(
    "abs min max int float round bool len sum pow clamp lerp smoothstep True False None".split()
)

_OWN_SETTINGS = "motion_loom_"


@dataclass(frozen=True)
class Mover:
    """start, end: action times between which it moves the objects, infinite where it goes on.  what: in words.
    is_keyed: whether it is keys or strips of the objects' own.  is_foreign: whether it is none of the objects' own."""

    start: float
    end: float
    what: str
    is_keyed: bool = False
    is_foreign: bool = False

    @property
    def is_endless(self) -> bool:
        return not (math.isfinite(self.start) and math.isfinite(self.end))


def movers_of(objects: Iterable[bpy.types.Object], played: tuple | None = None) -> list[Mover]:
    """All that moves objects, their data and shape keys.

    played: action and slot that the objects play, in place of those that are assigned; None and None for strips alone.
    """
    objects = list(objects)
    found: list[Mover] = []
    owners = owners_of(objects)
    read = {
        (target.id, target.data_path)
        for owner in owners
        for driver in _drivers(owner)
        for variable in driver.driver.variables
        for target in variable.targets
    }
    for owner in owners:
        is_own = owner in objects
        found += _keyed(owner, is_own, played if is_own else None)
        found += (Mover(-math.inf, math.inf, what, is_foreign=True) for what in _endless(owner, read))
        found += (Mover(*ends, what, is_foreign=True) for ends, what in _played(owner))
    return found


def owners_of(objects: Iterable[bpy.types.Object]) -> list[bpy.types.ID]:
    """The objects and all whose animation moves or deforms them: data, shape keys, parents, targets of constraints,
    what modifiers and drivers name, and theirs."""
    found: dict[bpy.types.ID, None] = {}
    waiting = list(objects)
    while waiting:
        owner = waiting.pop()
        if owner is not None and owner not in found:
            found[owner] = None
            waiting += hung_on(owner)
    return list(found)


def hung_on(owner: bpy.types.ID) -> Iterator[bpy.types.ID | None]:
    """What an ID looks at to be moved or deformed, one step far."""
    for driver in _drivers(owner):
        yield from (target.id for variable in driver.driver.variables for target in variable.targets)
    if isinstance(owner, bpy.types.Object):
        yield from (owner.data, getattr(owner.data, "shape_keys", None), owner.parent)
        for constraint in _constraints(owner):
            yield from (*targets_of(constraint), getattr(constraint, "space_object", None))
        for modifier in owner.modifiers:
            pointers = (prop.identifier for prop in modifier.bl_rna.properties if prop.type == "POINTER")
            named = (getattr(modifier, name) for name in pointers)
            yield from (each for each in named if isinstance(each, (bpy.types.Object, bpy.types.NodeTree)))


def _drivers(owner: bpy.types.ID) -> list[bpy.types.FCurve]:
    """Those that are not muted and drive more than this extension's own settings."""
    data = getattr(owner, "animation_data", None)
    curves = data.drivers if data is not None else ()
    return [each for each in curves if not each.mute and not each.data_path.startswith(_OWN_SETTINGS)]


def _constraints(ob: bpy.types.Object) -> list[bpy.types.Constraint]:
    bones = ob.pose.bones if ob.pose is not None else ()
    return [each for owner in (ob, *bones) for each in owner.constraints if not each.mute]


def _keyed(owner: bpy.types.ID, is_own: bool, played: tuple | None) -> Iterator[Mover]:
    """What actions and strips of an ID do."""
    if getattr(owner, "animation_data", None) is None:
        return
    if played is None:
        played = actions.assigned(owner) if _plays_untweaked(owner) else (None, None)
    curves = actions.playing_curves(*played) if played[0] is not None else []
    ends = np.array([*filter(None, map(extent, curves))]).reshape(-1, 2)
    is_finite = np.isfinite(ends).all(axis=1)
    moves = f"'{owner.name}' moves on"
    for part, what, is_keyed in (
        (ends[is_finite], "its keys go on", is_own),
        (ends[~is_finite], "its curves go on beyond their keys", False),
    ):
        if len(part):
            first, last = float(part[:, 0].min()), float(part[:, 1].max())
            yield Mover(first, last, what if is_own else moves, is_keyed, not is_own)
    for strip in playing_strips(owner):
        yield Mover(*_changes(strip), f"strip '{strip.name}'" if is_own else moves, is_own, not is_own)


def _plays_untweaked(owner: bpy.types.ID) -> bool:
    return actions.plays_action(owner) and not owner.animation_data.use_tweak_mode


def _changes(strip) -> tuple[float, float]:
    """First and last time at which a strip changes what is played: where it does not hold, its end does so too."""
    before = 1.0 if strip.extrapolation != "HOLD" else 0.0
    after = 1.0 if strip.extrapolation == "NOTHING" else 0.0
    return strip.frame_start - before, strip.frame_end + after


def _endless(owner: bpy.types.ID, read: set[tuple[bpy.types.ID, str]]) -> Iterator[str]:
    """What of an ID goes by the frame, without keys. read: IDs and data paths that drivers look at."""
    seen = [each for each in _drivers(owner) if not each.data_path.endswith('"]') or (owner, each.data_path) in read]
    if any(_is_timed(each.driver) for each in seen):
        yield f"a driver of '{owner.name}' goes by the frame"
    if isinstance(owner, bpy.types.NodeTree) and _has_timed_nodes(owner):
        yield f"the nodes '{owner.name}' go by the frame"
    if not isinstance(owner, bpy.types.Object):
        return
    for constraint in _constraints(owner):
        if constraint.type in _TIMED_CONSTRAINTS:
            yield f"constraint '{constraint.name}' of '{owner.name}' goes by the frame"
    for modifier in owner.modifiers:
        if modifier.type in _TIMED_MODIFIERS and cache_range(owner, modifier) is None:
            yield f"modifier '{modifier.name}' of '{owner.name}' goes by the frame"
    body = owner.rigid_body
    if body is not None and body.type == "ACTIVE" and body.enabled and not body.kinematic:
        yield f"'{owner.name}' is a rigid body"


def _played(owner: bpy.types.ID) -> Iterator[tuple[tuple[float, float], str]]:
    """Caches of an ID that have an end, with what they are."""
    for modifier in owner.modifiers if isinstance(owner, bpy.types.Object) else ():
        ends = cache_range(owner, modifier)
        if ends is not None:
            yield ends, f"modifier '{modifier.name}' of '{owner.name}' plays a file"


def _has_timed_nodes(tree: bpy.types.NodeTree) -> bool:
    return any(node.bl_idname in _TIMED_NODES for each in node_trees(tree) for node in each.nodes)


def _is_timed(driver: bpy.types.Driver) -> bool:
    """Whether a driver may give another value at another frame while all that it names stays as it is."""
    if any(_names_the_frame(target) for variable in driver.variables for target in variable.targets):
        return True
    if driver.type != "SCRIPTED":
        return False
    try:
        names = compile(driver.expression, "driver", "eval").co_names
    except (SyntaxError, ValueError):
        return False  # it does not run either
    return bool(set(names) - _TIMELESS_NAMES - {variable.name for variable in driver.variables})


def _names_the_frame(target: bpy.types.DriverTarget) -> bool:
    return "frame_" in target.data_path and not isinstance(target.id, bpy.types.Object)
