"""Bind a rig to its environment, and adapt it after the environment or the character has changed."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ...scene import binding_store
from ...scene.discarding import discard
from ...scene.interference import overriding, refuse_dependent, require_result_plays
from ...scene.meshes import sweep_environment
from ...scene.motion import changed_bones, source_of
from ...scene.new_names import require_name
from ...scene.restored import restored_after_error
from ...scene.rigs import require_armature, require_editable
from ...scene.strips import require_pushable
from ...scene.surfaces import expand
from ...scene.topology import fingerprint
from ...solvers.adapt import measures
from ...solvers.adapt.binding import fit_steps
from ...solvers.core.errors import SceneError
from ..command_line.words import counted
from ..core import live
from ..core.base import Steps, names_what_is_too_large, relayed, run_to_end, within
from ..core.outside_frames import outside_notes
from ..core.result_keys import KeyOptions, choose_keys
from ..environment.changes import bound_before, bound_triangles_of, changes_of_rig, changes_of_set, counted_anew
from ..environment.joints import choices_of, joints_report, list_joints
from ..environment.problem import Problem, Solution, gather_steps, solve_steps, time_stretch
from ..environment.sanity import require_in_reach, require_set_in_reach
from ..environment.store import Stored, kept_surface, not_kept, pack
from ..environment.surface_notes import avoided_among, surface_notes
from ..rig.action import bound_action, live_copy, remember_source, source_played, to_bind_played, write_result
from ..rig.live_action import adopt_copy, leave_live, owns_live, play_live, rewrite_live, rewritten_live
from ..rig.live_source import keep_motion
from ..rig.source import body_names, bound_frames, hung_names, joint_radii, read_source

# The workflow's identifier.
ADAPT = "adapt"


@dataclass(frozen=True)
class AdaptRigOptions:
    """name: of the new action, else made from the source's.  assign: play it on the rig.  measure: compare contacts,
    clearances and smoothness with the original's.  only: objects heeded, by name at bind; None for all.  keys: which
    are written.  strip: push the action to a new NLA track instead, mute where assign is false."""

    name: str | None = None
    assign: bool = True
    measure: bool = True
    only: tuple[str, ...] | None = None
    keys: KeyOptions = KeyOptions()
    strip: bool = False


def bind_rig(context, ob, environment, start: float | None = None, end: float | None = None) -> dict:
    """Bind an armature object to objects or collections; returns a report that JSON can hold."""
    run_to_end(bind_steps(context, ob, expand(environment), start, end))
    return bound_report(ob)


def bound_report(ob) -> dict:
    """What a rig is bound to, as JSON can hold it."""
    settings = ob.motion_loom_adapt
    return {
        "rig": ob.name,
        "source": settings.source.name if settings.source else ob.name,
        "bound": settings.summary,
        "objects": [item.bound_name for item in settings.surfaces],
        **joints_report(ob),
        "notes": settings.notes.splitlines(),
    }


@names_what_is_too_large("binding")
def bind_steps(context, ob, objects, start=None, end=None) -> Steps:
    """Bind, with progress; the scene is changed after the last step only."""
    require_armature(ob)
    require_editable(ob)
    if not objects:
        raise SceneError("The environment is empty; add the objects that the motion deals with.")
    if ob in objects:
        raise SceneError(f"'{ob.name}' cannot be its own environment.")
    refuse_dependent(objects, ob)
    limits = ob.motion_loom_adapt.limits
    with to_bind_played(ob):
        frames = bound_frames(context, ob, start, end)
        if overriding(ob, set(), limits):  # before the motion is read, and all at once
            require_result_plays(ob, body_names(context, ob), limits)
        left_out = outside_notes(context.scene, ob, source_of(ob), frames, "bound")
    yield 0.0, "Reading the motion"
    with to_bind_played(ob):
        source = read_source(context, ob, frames, choices_of(ob))
        require_result_plays(ob, {name for name in source.track.skeleton.names if name in ob.data.bones}, limits)
    yield 0.1, "Reading the environment"
    before = bound_before(ob)
    known = bound_triangles_of(before, ob)
    sweep = sweep_environment(context, objects, frames, known)
    environment = yield from relayed(sweep, 0.1, 0.4, "Reading the environment")
    require_set_in_reach(environment, frames, source.height)
    require_in_reach(f"A joint of '{ob.name}'", source.track.positions, frames, source.height)
    moved = changes_of_set(ob, before, objects, environment, frames) + changes_of_rig(ob, before, source)
    radii = joint_radii(context, ob, source)
    fitting = fit_steps(source.track, environment, source.solved.effectors, source.height, radii)
    binding = yield from relayed(fitting, 0.4, 0.95, "Binding")
    world = source.motion.object_world
    stored = Stored(
        binding,
        source.solved,
        world[:1] if np.ptp(world, axis=0).max() < 1e-9 else world,
        [mesh.triangles for mesh in environment],
        [fingerprint(mesh) for mesh in environment],
        hung_names(source),
        time_stretch(context.scene),
        tuple(kept_surface(mesh) for mesh in environment),
    )
    yield 0.99, "Storing"
    with restored_after_error(ob):
        list_joints(ob, source)
        doubts = surface_notes(binding, environment, avoided_among(ob, objects))
        notes = (*source.notes, *doubts, *left_out, *not_kept(stored), *counted_anew(moved))
        line = store_binding(ob, stored, objects, notes)
        if ob.motion_loom_adapt.live:
            keep_motion(ob, source.motion, context.evaluated_depsgraph_get())
        else:
            remember_source(ob)
    return f"Bound '{ob.name}': {line}"


def store_binding(ob, stored: Stored, objects, notes: Sequence[str]) -> str:
    """Keep a binding with the rig; returns what is bound, in words, with the notes."""
    settings = ob.motion_loom_adapt
    old, settings.binding = settings.binding, binding_store.save(ob.name, *pack(stored))
    discard(old)
    uses = {item.target: (item.mode, item.influence) for item in settings.surfaces if item.target is not None}
    settings.surfaces.clear()
    for target, name in zip(objects, stored.binding.objects, strict=True):
        item = settings.surfaces.add()
        item.name, item.target, item.bound_name = name, target, name
        item.mode, item.influence = uses.get(target, ("ATTACH", 1.0))
    binding = stored.binding
    frames = binding.track.frames
    settings.summary = (
        f"{counted(len(binding.points), 'point')} on {counted(len(binding.objects), 'object')}, "
        f"{counted(len(binding.track.skeleton.names), 'joint')}, frames {frames[0]:g} to {frames[-1]:g}"
    )
    settings.notes = "\n".join(notes)
    return ". ".join((settings.summary, *notes))


def adapt_rig(context, ob, options: AdaptRigOptions | None = None) -> dict:
    """Adapt a bound armature object; returns a report that JSON can hold."""
    return run_to_end(adapt_steps(context, ob, options or AdaptRigOptions()))


@names_what_is_too_large("adapting")
def adapt_steps(context, ob, options: AdaptRigOptions) -> Generator[tuple[float, str], None, dict]:
    """Adapt, with progress; the new action is made after the last step only. Returns the report."""
    began = time.perf_counter()
    require_name(options.name)
    if options.strip:
        require_pushable(ob)
    problem = yield from within(gather_steps(context, ob, options.only), 0.0, 0.3)
    solution = yield from relayed(solve_steps(problem), 0.3, 0.85, "Adapting")
    binding = problem.binding
    frames = binding.track.frames
    report = {
        "rig": ob.name,
        "frames": len(frames),
        "joints": len(binding.track.skeleton.names),
        "descriptors": len(binding.points),
        "character_scale": problem.options.scale,
        "solver_fps": len(frames) / solution.seconds,
        "unconverged_frames": int((~solution.adapted.converged).sum()),
        "write_error_mm": 1000 * solution.write_error.metres,
    }
    if options.measure:
        yield 0.9, "Measuring"
        report["measures"] = measures.measure_bound(
            binding, solution.adapted.positions, problem.environment, problem.options.scale
        )
    yield 0.94, "Choosing keys"
    with source_played(ob):
        # What the user has keyed while live, in bones that did not have to change, is not to be written over.
        body = None if live_copy(ob) else np.unique(problem.source.bones[problem.source.bones >= 0])
        keys = choose_keys(context, ob, solution.motion, problem.source.motion, options.keys, body)
    yield 0.97, "Writing the action"
    left_out = outside_notes(context.scene, ob, bound_action(ob), frames, "bound")
    with live.restored_after_error(ob, ADAPT, rewritten_live(ob)):
        origin, new, silenced = _written(context, ob, options, problem, solution, keys.chosen)
        report |= {
            "source": origin,
            "action": new.name,
            "strip": options.strip,
            **keys.report(),
            "changed_bones": changed_bones(problem.source.motion, solution.motion),
            "silenced_constraints": silenced,
            **joints_report(ob),
            # The scene may have come to play longer since.
            "notes": list(dict.fromkeys((*ob.motion_loom_adapt.notes.splitlines(), *left_out, *solution.notes))),
        }
    return report | {"seconds": time.perf_counter() - began}


def _written(context, ob, options: AdaptRigOptions, problem: Problem, solution: Solution, keys: np.ndarray) -> tuple:
    """Write the result, and play it or the live one; returns as ``write_result``."""
    settings = ob.motion_loom_adapt
    heeded, was_live = settings.limits, settings.live
    adopt_copy(ob)
    if was_live and owns_live(ob):
        rewrite_live(context.scene, ob, solution)
    elif was_live:
        play_live(context, ob, problem.source, solution.motion)
    written = write_result(context, ob, options.name, solution.motion, options.assign, heeded, keys, options.strip)
    if was_live and (options.assign or options.strip):
        leave_live(ob)
        live.end(ob, ADAPT)
    return written
