"""What a result does before and after the bound frames: where its source goes on it goes back to that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...scene.interference import acting_constraints
from ...scene.motion import BoneMotion, curve_channels, why_unread
from ...scene.motion_writing import moves_outside
from ...scene.sampling import plays_strips
from ...solvers.core.vectors import lengths, mean_scale
from ...solvers.skeleton.kinematics import pose_matrices
from ...solvers.skeleton.range_fade import RangeFade, fade_weights
from ..command_line.words import counted
from ..core.outside_frames import outside_notes
from .action import bound_action, silenced_constraints, values_of_source
from .problem import RigResult
from .way_back import AFTER, BEFORE, WayBack, row_of

# Metres a frame from which a way back is fast for a viewer: the bound of jumps in the report of Adapt.
_FAST = 0.03
# Frames of a source beyond the bound ones that make these a part of it.
_PART = 1.0
_BACK = "results go back to the source there"


def way_back(scene, ob, workflow, result: RigResult) -> WayBack:
    """Of a result as it is written."""
    original = result.keyed_original
    frames, count = original.frames, len(original.frames)
    blend = workflow.settings_of(ob).range_blend
    sides = sides_that_fade(scene, ob, workflow, result)
    weights = fade_weights(blend + 1)
    steps = np.arange(1.0, len(weights) + 1.0)
    outside = (frames[0] - steps[::-1], frames[-1] + steps)
    own, fades = original.channels(), []
    for side, is_open in enumerate(sides):
        if not is_open:
            fades.append(None)
            continue
        played, values = bound_action(ob, workflow), _values(ob, workflow)
        source = curve_channels(scene, ob, original.rig, *played, outside[side], values)
        share = weights if side == AFTER else weights[::-1]
        parents, placed = (None, ()) if result.written else (result.motion_parents, result.placed)
        fades.append(RangeFade(original.rig, source, row_of(own, -side), share, parents, placed))
    parts = [outside[side] if sides[side] else np.empty(0) for side in (BEFORE, AFTER)]
    start = len(parts[BEFORE])
    every = np.concatenate((parts[BEFORE], frames, parts[AFTER]))
    return WayBack(sides, every, slice(start, start + count), tuple(fades), blend)


def sides_that_fade(scene, ob, workflow, result: RigResult) -> tuple[bool, bool]:
    """Whether a result goes back to its source before and after the bound frames: where its keys go on there."""
    if workflow.holds_outside(ob) or why_held(ob, workflow, result) is not None:
        return False, False
    original = result.keyed_original
    return _sides(scene, bound_action(ob, workflow), original, result.body)


def _sides(scene, source: tuple, original: BoneMotion, bones: np.ndarray) -> tuple[bool, bool]:
    """Whether the keys of an action go on before and after some frames, of the bones (K,)."""
    moves = moves_outside(scene, source, original.rig, original.frames, endless=False, least=_PART)[:, bones]
    before, after = moves.any(axis=(1, 2)).tolist()
    return before, after


def why_held(ob, workflow, result: RigResult) -> str | None:
    """Why the source cannot play on outside of the bound frames, in words, or None."""
    silenced = silenced_constraints(ob, workflow)
    return _why_held(ob, bound_action(ob, workflow), result.original, result.written is not None, silenced)


def _why_held(ob, source: tuple, original: BoneMotion, has_controls: bool, silenced: list) -> str | None:
    if source[0] is None:
        return "NLA strips move it"
    if original.sampled_because is None or has_controls:
        return None
    if plays_strips(ob):
        return "NLA strips move it as well"
    return "the result switches off its constraints" if silenced else None


def notes_at_bind(scene, ob, workflow, source: tuple, motion: BoneMotion, bones: np.ndarray, controls) -> tuple:
    """What is said of the frames outside of those that are to be bound.

    source: action and slot that the object plays.  bones: (K,) that may get keys.  controls: of a rig that has them.
    """
    silenced = [] if controls is not None else acting_constraints(ob, workflow.heeds_limits(ob))
    sides = (False, False)
    if not workflow.holds_outside(ob) and _why_held(ob, source, motion, controls is not None, silenced) is None:
        sides = _sides(scene, source, motion, bones)
    held = outside_notes(scene, ob, source, motion.frames, "bound", told=sides)
    closed = tuple(not is_open for is_open in sides)
    back = outside_notes(scene, ob, source, motion.frames, "bound", told=closed, then=_BACK)
    return (*back, *held)


@dataclass(frozen=True)
class Fading:
    """How fast the way back is at its fastest: by so many metres a frame beyond the source, and which bone."""

    metres: float
    bone: str


def fading(way: WayBack, result: RigResult, motion: BoneMotion) -> Fading | None:
    """Of bones' heads, or of controls where these are written; None where nothing goes back.

    motion: with the way back, as the keys that are written play it.
    """
    if not any(way.sides):
        return None
    source = way.source_of(result.keyed_original)
    units, names, found = mean_scale(motion.object_world[:, :3, :3]), motion.rig.names, []
    rows = (slice(0, way.bound.start + 1), slice(way.bound.stop - 1, None))
    for part in (part for part, is_open in zip(rows, way.sides, strict=True) if is_open):
        heads = [pose_matrices(each.rig, each.basis[part])[..., :3, 3] for each in (motion, source)]
        steps = lengths(np.diff((heads[0] - heads[1]) * units[part, None, None], axis=0)).max(axis=0)
        found.append(Fading(float(steps.max()), names[steps.argmax()]))
    return max(found, key=lambda each: each.metres)


def notes_outside(scene, ob, workflow, result: RigResult, way: WayBack, motion: BoneMotion) -> tuple[str, ...]:
    """What is said of the frames before and after the bound ones, a sentence each. motion: as for ``fading``."""
    source, frames = bound_action(ob, workflow), result.original.frames
    held = outside_notes(scene, ob, source, frames, workflow.bound_word, told=way.sides)
    why = why_held(ob, workflow, result)
    if held and why is not None:
        held = (*held, f"The source cannot play on outside of these frames: {why}")
    found = fading(way, result, motion)
    if found is None:
        return held
    ends = (f"before frame {frames[0]:g}", f"after frame {frames[-1]:g}")
    where = " and ".join(end for end, is_open in zip(ends, way.sides, strict=True) if is_open)
    by = f"'{found.bone}' by up to {100.0 * found.metres:.1f} cm a frame"
    over = f"over {counted(way.blend, 'frame')}" if way.blend else "at once, as Blend is 0"
    note = f"'{ob.name}' goes back to its source {where}, {over}, which moves {by} beyond what the source does"
    if found.metres > _FAST and way.blend:
        note += "; more frames of Blend make it slower"
    switched = ("Limbs that are written to other controls than the source's go back to these at once",)
    return (note, *(switched if result.switches else ()), *held)


def outside_report(way: WayBack, result: RigResult, motion: BoneMotion) -> dict:
    """The same as JSON can hold it, nothing where the result does not go back to its source."""
    found = fading(way, result, motion)
    if found is None:
        return {}
    sides = dict(zip(("before", "after"), way.sides, strict=True))
    return {"outside": sides | {"blend": way.blend, "cm_per_frame": 100.0 * found.metres, "bone": found.bone}}


def live_note(scene, ob, workflow, result: RigResult) -> str | None:
    """What a live rig shows outside of the bound frames, where its source goes on there."""
    frames = result.original.frames
    which = f"Frames outside {frames[0]:g} to {frames[-1]:g}"
    if not result.changed.any():
        return None
    if any(sides_that_fade(scene, ob, workflow, result)):
        blend = workflow.settings_of(ob).range_blend
        over = f"over {counted(blend, 'frame')}" if blend else "at once"
        return f"{which} go back to the source {over}"
    if not any(why_unread(scene, ob, bound_action(ob, workflow), frames, least=_PART)):
        return None
    return f"{which} hold the pose of the nearest one"


def _values(ob, workflow) -> dict[tuple[str, int], float]:
    return {(value.path, value.index): value.value for value in values_of_source(ob, workflow)}
