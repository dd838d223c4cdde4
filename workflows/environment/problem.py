"""What Adapt solves, as arrays: a bound rig, its environment as it is now, the user's choices; and the solving."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...scene.environment_state import present_tracks
from ...scene.evaluation import evaluated_object
from ...scene.influence import factor_rows, is_driven, sampled_factor
from ...scene.interference import refuse_dependent, require_result_plays
from ...scene.meshes import read_surface, sweep_states
from ...scene.motion import BoneMotion, changed_channels, placed_by_curves
from ...scene.names import is_in_scene
from ...scene.points import moved_by_curves, object_positions, places_by_curves
from ...scene.rigs import require_armature, require_editable, require_uniform_scale
from ...scene.state_track import StateTrack
from ...scene.stillness import frame_scripts
from ...scene.topology import explain_change, fingerprint
from ...solvers.adapt import solve as solver
from ...solvers.adapt.binding import Binding
from ...solvers.adapt.clearance import smoothstep
from ...solvers.core.errors import ChangedSetError, InputError, StaleBindingError
from ...solvers.core.types import JointTrack, MeshTrack, TriangleMesh
from ...solvers.skeleton.pose_blend import blend_motion
from ...state.live_states import Remedy
from ..command_line.settings import require_all_numbers
from ..core.base import relayed
from ..core.follower import LiveProblem
from ..rig.action import INFLUENCE, bound_action, live_copy, played_action, plays_live, source_played
from ..rig.live_keys import held_by_user
from ..rig.live_source import live_source
from ..rig.source import (
    Source,
    adapted_motion,
    bound_source,
    object_turns,
    reread_source,
    resized_positions,
    solved_limits,
)
from ..rig.write_error import WriteError, write_error
from .model import stored_of
from .sanity import require_in_reach, require_set_in_reach, size_notes, unsettled_note
from .store import Stored

PIN_RAMP = 0.3
# The way out where some of the bound objects are no longer as they were bound.
KEEP_THE_REST = "press Update Binding (the command bind --keep), which keeps the others as they were bound"
_UNTOLD = "What '{}' depends on moves in a way that only stepping through it tells."


@dataclass(frozen=True)
class Problem:
    """stored: what was bound.  source: the rig's motion now.  turned: (F, 3, 3) how its object has turned since bind.
    environment: the objects now, in the binding's order.  options: what the user chose.
    influence: (F,) of the adapted motion, the rest is the original's.
    states: of the objects, to tell later whether they are still like that.  name: of the rig."""

    stored: Stored
    source: Source
    turned: np.ndarray
    environment: list[MeshTrack]
    options: solver.AdaptOptions
    influence: np.ndarray
    states: list[StateTrack]
    name: str

    @property
    def binding(self) -> Binding:
        return self.stored.binding


@dataclass(frozen=True)
class Solution:
    """adapted: the joints.  whole: the rig's adapted motion.  motion: that as far as its influence goes.
    changed: (B, 3) bool, which of location, rotation and scale differ from the original's.
    write_error: of the rig's joints against the solved ones.  seconds: that the solver took.
    notes: what is wrong with it or doubtful, for the user, a sentence each without its full stop."""

    adapted: solver.AdaptedMotion
    whole: BoneMotion
    motion: BoneMotion
    changed: np.ndarray
    write_error: WriteError
    seconds: float
    notes: tuple[str, ...]


def gather_steps(
    context, ob, only: tuple[str, ...] | None = None
) -> Generator[tuple[float, str], None, Problem]:
    """Read everything, stepping through frames where that is needed; yields progress from 0 to 1.

    only: objects heeded, by name at bind; None for all.
    Raises StaleBindingError where what is bound is no longer there, SceneError and InputError for what cannot be read.
    """
    require_armature(ob)
    require_editable(ob)
    settings = ob.motion_loom_adapt
    stored = stored_of(ob)
    binding = stored.binding
    surfaces = bound_surfaces(context.scene, ob, binding.objects)
    refuse_dependent([item.target for item in surfaces], ob)
    if live_copy(ob) is not None:
        held_by_user(ob, binding.track.skeleton.names)  # refuses what would play under the result
    yield 0.0, "Reading the motion"
    frames, names = binding.track.frames, binding.track.skeleton.names
    with source_played(ob):
        source = reread_source(context, ob, frames, names, stored.solved, stored.hung, binding.height)
        require_result_plays(ob, {name for name in names if name in ob.data.bones}, settings.limits)
        pinned = _pin_targets(ob)
        # It may be the rig itself that carries an object.
        holds = _pin_weights(ob, binding.track) > 0.0
        places = object_positions(context, pinned, frames, holds) if pinned else []
    body = fit_body(ob, context.scene, stored, source)
    influence = _sampled_influence(context, ob, frames)
    targets = [item.target for item in surfaces]
    sweep = sweep_states(context, targets, frames, bound_triangles(stored, targets))
    around = yield from relayed(sweep, 0.1, 1.0, "Reading the environment")
    return _in_reach(assemble(ob, stored, body, surfaces, around, places, influence, only))


def gather_now(ob, scene, depsgraph, body: Body | None, influence: np.ndarray | None) -> Problem:
    """As ``gather_steps`` without stepping, for a rig that plays its live action.

    body: None where it is to be read.  influence: (F,), None where the action or the present value tells it.
    Raises LiveProblem, whose remedy is a refresh, where only stepping through the frames would tell.
    """
    require_armature(ob)
    stored = stored_of(ob)
    binding = stored.binding
    frames = binding.track.frames
    surfaces = bound_surfaces(scene, ob, binding.objects)
    targets = [item.target for item in surfaces]
    body = body or body_now(ob, scene, stored)
    around = present_tracks(scene, depsgraph, targets, frames, bound_triangles(stored, targets))
    if around is None:
        raise LiveProblem(_UNTOLD.format(ob.name), Remedy.REFRESH)
    places = _present_pin_places(ob, scene, depsgraph, binding.track)
    if influence is None:
        if is_driven(ob, INFLUENCE):
            raise LiveProblem(_UNTOLD.format(ob.name), Remedy.REFRESH)
        influence = factor_rows(scene, ob, INFLUENCE, *played_action(ob), frames)
    return _in_reach(assemble(ob, stored, body, surfaces, around, places, influence))


def _in_reach(problem: Problem) -> Problem:
    """The same; raises InputError for what lies so far off that its numbers are too coarse."""
    frames, height = problem.binding.track.frames, problem.binding.height
    require_set_in_reach(problem.environment, frames, height)
    require_in_reach(f"A joint of '{problem.name}'", problem.options.resized, frames, height)
    return problem


def problem_of_frame(ob, scene, depsgraph, known: Problem, body: Body | None) -> Problem:
    """The problem with the rig and the user's choices as they are now, around the objects of a known one.

    For single frames, which bring their own surroundings.  body: of the rig, None where it is to be read.
    """
    stored = stored_of(ob)
    binding = stored.binding
    places = _present_pin_places(ob, scene, depsgraph, binding.track)
    around = list(zip(known.environment, known.states, strict=True))
    surfaces = bound_surfaces(scene, ob, binding.objects)
    return assemble(ob, stored, body or body_now(ob, scene, stored), surfaces, around, places, known.influence)


def reason_to_step(ob, scene, stepped: Sequence[str]) -> str | None:
    """Why only stepping tells how the environment or pins move, in a few words, or None; cheap enough for a handler.

    stepped: names of the objects of the environment that need it, see ``environment_state.needs_sweep``.
    """
    pins = [pin.target for pin in ob.motion_loom_adapt.pins if pin.target is not None]
    scripts = frame_scripts()
    if scripts and (stepped or pins):
        return f"The script '{scripts[0]}' acts on frame changes"
    if stepped:
        return f"'{stepped[0]}' deforms, or moves by more than keys"
    return None if moved_by_curves(scene, pins) else "The object of a pin moves by more than keys"


def differs_in_influence(problem: Problem, known: Problem) -> bool:
    """Whether a problem is a known one with another influence at most; both of the same choices."""
    motion, before = problem.source.motion, known.source.motion
    pins = zip(problem.options.pins, known.options.pins, strict=True)
    states = list(zip(problem.states, known.states, strict=True))
    arrays = [(motion.basis, before.basis), (motion.object_world, before.object_world)]
    arrays += [(pin.positions, old.positions) for pin, old in pins]
    arrays += [(now.matrices, old.matrices) for now, old in states]
    same = problem.stored is known.stored and all(now.shapes == old.shapes for now, old in states)
    return same and all(np.array_equal(*pair) for pair in arrays)


@dataclass(frozen=True)
class Body:
    """source: the rig's motion now.  turned: (F, 3, 3) how its object has turned since bind.  resized: (F, K, 3) the
    bound pose with the rig's present bone lengths."""

    source: Source
    turned: np.ndarray
    resized: np.ndarray


def body_of(problem: Problem) -> Body:
    """What a problem was assembled with."""
    return Body(problem.source, problem.turned, problem.options.resized)


def body_now(ob, scene, stored: Stored) -> Body:
    """The body of a rig that plays its live action; raises LiveProblem where only stepping would tell."""
    motion = live_source(ob, scene, stored.binding.track.frames)
    if motion is None:
        raise LiveProblem(_UNTOLD.format(ob.name), Remedy.REFRESH)
    return _body_of_motion(ob, scene, stored, motion)


def placed_body(ob, scene, known: Problem) -> Body:
    """The body of a rig whose motion curves tell, and whose object alone may have changed."""
    motion = placed_by_curves(scene, ob, *bound_action(ob), known.source.motion)
    return _body_of_motion(ob, scene, known.stored, motion)


def _body_of_motion(ob, scene, stored: Stored, motion: BoneMotion) -> Body:
    names, height = stored.binding.track.skeleton.names, stored.binding.height
    return fit_body(ob, scene, stored, bound_source(ob, motion, names, stored.solved, stored.hung, height))


def fit_body(ob, scene, stored: Stored, source: Source) -> Body:
    """The bound pose as the rig is now; raises StaleBindingError where it plays another motion than was bound,
    SceneError where its scale makes it another."""
    turned = object_turns(source, stored.object_world)
    track = stored.binding.track
    try:
        return Body(source, turned, resized_positions(source, turned, track, stored.object_world, ob.name))
    except StaleBindingError as error:
        require_uniform_scale(ob.name, source.motion.object_world, track.frames)
        if stored.stretch not in (None, time_stretch(scene)):
            raise StaleBindingError(
                f"The motion of '{ob.name}' is not the one that was bound: the scene's Time Stretching was changed. "
                "Set it back, or bind again."
            ) from error
        raise


def time_stretch(scene) -> float:
    """How much longer the scene plays its animation than it is keyed."""
    return scene.render.frame_map_new / scene.render.frame_map_old


def assemble(ob, stored: Stored, body: Body, surfaces, around, pin_places, influence: np.ndarray, only=None) -> Problem:
    """The problem of what has been read.

    surfaces: see ``bound_surfaces``.  around: (MeshTrack, StateTrack) of each.  pin_places: (pins, F, 3).
    Raises ChangedSetError where the topology of an object has changed, InputError for choices that make no sense.
    """
    require_all_numbers(ob.motion_loom_adapt, leave_out=("before", "live_before"))
    environment = [mesh for mesh, _ in around]
    for item, mesh, bound in zip(surfaces, environment, stored.fingerprints, strict=True):
        _check_topology(item.target.name_full, mesh, bound)
    options = _solver_options(ob, stored.binding, body, surfaces, pin_places, only)
    states = [state for _, state in around]
    return Problem(stored, body.source, body.turned, environment, options, influence, states, ob.name)


def solve_steps(problem: Problem) -> Generator[float, None, Solution]:
    """Solve all frames, yielding progress from 0 to 1: arrays only, so that a thread may do it.

    Raises OutputError where the rig cannot show the result.
    """
    began = time.perf_counter()
    adapted = yield from solver.adapt_steps(problem.binding, problem.environment, problem.options)
    seconds = time.perf_counter() - began
    whole = adapted_motion(problem.source, adapted.positions, adapted.turns, problem.turned)
    error = write_error(whole, problem.source, adapted.positions, problem.binding.scale)
    return _shown(problem, adapted, whole, error, seconds)


def fade_again(known: Solution, problem: Problem) -> Solution:
    """The solution of a problem that differs from the solved one in influence alone."""
    return _shown(problem, known.adapted, known.whole, known.write_error, 0.0)


def _shown(problem: Problem, adapted, whole: BoneMotion, missed: WriteError, seconds: float) -> Solution:
    """With the motion as far as its influence goes, the original's for the rest."""
    original, motion = problem.source.motion, whole
    unsettled = unsettled_note(adapted, problem.binding.track.frames)
    sizes = size_notes(problem.name, problem.options.scale, problem.binding, problem.environment)
    notes = *sizes, *filter(None, (unsettled, missed.note))
    if (problem.influence != 1.0).any():
        source, share = problem.source, problem.influence
        basis = blend_motion(whole.rig, original.basis, whole.basis, share, source.motion_parents, source.placed)
        motion = replace(whole, basis=basis)
    return Solution(adapted, whole, motion, changed_channels(original, motion), missed, seconds, notes)


def bound_triangles(stored: Stored, targets) -> dict[str, np.ndarray]:
    """Triangles at bind of each object, by its present name."""
    return {target.name_full: triangles for target, triangles in zip(targets, stored.triangles, strict=True)}


def bound_surfaces(scene, ob, objects):
    """The settings' items of the bound objects, in the binding's order; raises ChangedSetError where one is gone."""
    items = {item.bound_name: item for item in ob.motion_loom_adapt.surfaces}
    found = []
    for name in objects:
        item = items.get(name)
        reason = why_gone(scene, item)
        if reason:
            way_back = "link it to a collection of the scene again" if item and item.target else "undo that"
            raise ChangedSetError(
                f"'{name}', which '{ob.name}' is bound to, {reason}; {way_back}, or {KEEP_THE_REST}."
            )
        found.append(item)
    return found


def why_gone(scene, item) -> str | None:
    """What has become of a bound object that is no longer there, or None. item: its entry in the list, or None."""
    if item is None:
        return "was taken off the list after bind"
    if item.target is None:
        return "was deleted"
    return None if is_in_scene(scene, item.target) else "is no longer in the scene"


def require_bound_shape(target, depsgraph, triangles: np.ndarray, bound: str, shown) -> None:
    """Raises ChangedSetError where an object has other faces than at bind, InputError where it has no surface.

    triangles: at bind.  bound: see ``topology.fingerprint``.  shown: ``ShownInstances``.
    """
    state, now = read_surface(target, depsgraph, triangles, shown)
    _check_topology(target.name_full, state.surface(now), bound)


def _check_topology(name: str, mesh: MeshTrack | TriangleMesh, bound: str) -> None:
    change = explain_change(name, bound, fingerprint(mesh))
    if change:
        raise ChangedSetError(f"{change} Restore its faces, or {KEEP_THE_REST}.")


def _solver_options(ob, binding, body: Body, surfaces, pin_places, only):
    settings = ob.motion_loom_adapt
    if only is not None:
        unknown = [name for name in only if name not in binding.objects]
        if unknown:
            raise InputError(f"'{ob.name}' is not bound to '{unknown[0]}', but to {', '.join(binding.objects)}.")
    ignored = set(binding.objects) - set(binding.objects if only is None else only)
    uses = tuple(
        solver.SurfaceUse(solver.IGNORE if item.bound_name in ignored else item.mode, item.influence)
        for item in surfaces
    )
    return solver.AdaptOptions(
        surfaces=uses,
        scale=scale_since_bind(body.resized, binding),
        collision=settings.clearance != "OFF",
        clearance=settings.clearance_distance if settings.clearance == "USER" else None,
        contact_reach={"AUTO": None, "USER": settings.contact_distance, "OFF": 0.0}[settings.contact],
        orientation=settings.orientation,
        pins=_pins(ob, binding.track, pin_places),
        limits=solved_limits(ob, body.source, body.turned) if settings.limits else None,
        joint_weight=_joint_weight(ob, binding.track),
        resized=body.resized,
    )


def scale_since_bind(resized: np.ndarray, binding: Binding) -> float:
    """How much larger the character is than at bind: total bone length, 1 exactly where nothing has changed."""
    parents = binding.track.skeleton.parents
    child = np.flatnonzero(parents >= 0)

    def total(positions):
        return np.linalg.norm(positions[0, child] - positions[0, parents[child]], axis=-1).sum()

    scale = total(resized) / total(binding.track.positions)
    return 1.0 if abs(scale - 1.0) < 1e-5 else float(scale)


def _joint(ob, track: JointTrack, bone: str) -> int:
    if bone in track.skeleton.names:
        return track.skeleton.names.index(bone)
    if bone in ob.data.bones:
        raise InputError(f"Bone '{bone}' of '{ob.name}' is not solved by itself, it rides on another; choose that one.")
    raise InputError(f"'{ob.name}' has no bone '{bone}'.")


def _sampled_influence(context, ob, frames: np.ndarray) -> np.ndarray:
    """(F,) of the action that the rig plays while live, else of the bound one; drivers need stepping through."""
    if is_driven(ob, INFLUENCE):
        return sampled_factor(context, ob, INFLUENCE, frames)
    if plays_live(ob):
        return factor_rows(context.scene, ob, INFLUENCE, *played_action(ob), frames)
    with source_played(ob):
        return factor_rows(context.scene, ob, INFLUENCE, *played_action(ob), frames)


def _pin_targets(ob) -> list:
    """The objects of the pins; raises InputError for a pin that makes no sense."""
    for pin in ob.motion_loom_adapt.pins:
        if pin.target is None:
            raise InputError(f"The pin of bone '{pin.bone}' has no object; choose one or remove the pin.")
        if pin.end < pin.start:
            raise InputError(f"The pin of bone '{pin.bone}' ends at frame {pin.end}, before it starts at {pin.start}.")
    return [pin.target for pin in ob.motion_loom_adapt.pins]


def _present_pin_places(ob, scene, depsgraph, track: JointTrack) -> np.ndarray:
    """(pins, F, 3) where the pins hold, without stepping.

    Raises LiveProblem where only that would tell, SceneError for an object that Blender does not update.
    """
    targets = _pin_targets(ob)
    places = places_by_curves(scene, depsgraph, targets, track.frames)
    if places is None:
        raise LiveProblem(_UNTOLD.format(ob.name), Remedy.REFRESH)
    for target, weight in zip(targets, _pin_weights(ob, track), strict=True):
        if weight.any():
            evaluated_object(target, depsgraph)
    return places


def _pins(ob, track: JointTrack, places) -> tuple[solver.Pin, ...]:
    pins = zip(ob.motion_loom_adapt.pins, places, _pin_weights(ob, track), strict=True)
    return tuple(solver.Pin(_joint(ob, track, pin.bone), place, weight) for pin, place, weight in pins)


def _pin_weights(ob, track: JointTrack) -> np.ndarray:
    """(pins, F) how much each pin holds: fully within its frames, less and less beside them."""
    rate = _rows_a_frame(track) / track.fps
    seconds = track.frames * rate
    out = np.empty((len(ob.motion_loom_adapt.pins), len(seconds)))
    for k, pin in enumerate(ob.motion_loom_adapt.pins):
        outside = np.maximum(np.maximum(pin.start * rate - seconds, seconds - pin.end * rate), 0.0)
        out[k] = smoothstep(1.0 - outside / PIN_RAMP)
    return out


def _rows_a_frame(track: JointTrack) -> float:
    """Rows of the track in one scene frame."""
    return 1.0 / float(np.median(np.diff(track.frames))) if len(track.frames) > 1 else 1.0


def _joint_weight(ob, track: JointTrack) -> np.ndarray | None:
    bones = ob.motion_loom_adapt.bones
    if not len(bones):
        return None
    weight = np.ones(len(track.skeleton.names))
    for item in bones:
        weight[_joint(ob, track, item.bone)] = item.factor
    return weight
