"""Bind a rig to its environment, and adapt it after the environment or the character has changed."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ..scene import binding_store
from ..scene.interference import refuse_dependent, require_result_plays
from ..scene.meshes import sweep_environment
from ..scene.motion import changed_bones
from ..scene.points import object_positions
from ..scene.rigs import require_armature, require_editable
from ..scene.surfaces import expand
from ..scene.topology import explain_change, fingerprint
from ..solvers import adapt as solver
from ..solvers import measures
from ..solvers.adapt_binding import fit_steps
from ..solvers.clearance import smoothstep
from ..solvers.errors import InputError, OutputError, SceneError, StaleBindingError
from ..solvers.types import JointTrack
from .adapt_action import remember_source, source_played, write_result
from .adapt_source import (
    adapted_motion,
    bound_frames,
    joint_radii,
    object_turns,
    read_source,
    reread_source,
    resized_positions,
    solved_limits,
)
from .adapt_store import Stored, pack, unpack
from .base import Steps, run_to_end

PIN_RAMP = 0.3
# The rig must reproduce the solved joints; metres at a 1.8 m body.
_WRITE_TOLERANCE = 0.05


@dataclass(frozen=True)
class AdaptRigOptions:
    """name: of the new action, else made from the source's.  assign: play it on the rig.  measure: compare contacts,
    clearances and smoothness with the original's.  only: objects heeded, by name at bind; None for all."""

    name: str | None = None
    assign: bool = True
    measure: bool = True
    only: tuple[str, ...] | None = None


def bind_rig(context, ob, environment, start: float | None = None, end: float | None = None) -> dict:
    """Bind an armature object to objects or collections; returns a report that JSON can hold."""
    settings = ob.motion_loom_adapt
    steps = bind_steps(context, ob, expand(environment), start, end)
    run_to_end(steps)
    return {
        "rig": ob.name,
        "source": settings.source.name if settings.source else ob.name,
        "bound": settings.summary,
        "objects": [item.bound_name for item in settings.surfaces],
    }


def bind_steps(context, ob, objects, start=None, end=None) -> Steps:
    """Bind, with progress; the scene is changed after the last step only."""
    require_armature(ob)
    require_editable(ob)
    if not objects:
        raise SceneError("The environment is empty; add the objects that the motion deals with.")
    if ob in objects:
        raise SceneError(f"'{ob.name}' cannot be its own environment.")
    refuse_dependent(objects, ob)
    frames = bound_frames(context, ob, start, end)
    yield 0.0, "Reading the motion"
    source = read_source(context, ob, frames)
    yield 0.1, "Reading the environment"
    environment = yield from _relayed(sweep_environment(context, objects, frames), 0.1, 0.4, "Reading the environment")
    radii = joint_radii(context, ob, source)
    fitting = fit_steps(source.track, environment, source.solved.effectors, source.height, radii)
    binding = yield from _relayed(fitting, 0.4, 0.95, "Binding")
    world = source.motion.object_world
    stored = Stored(
        binding,
        source.solved,
        world[:1] if np.ptp(world, axis=0).max() < 1e-9 else world,
        [mesh.triangles for mesh in environment],
        [fingerprint(mesh) for mesh in environment],
    )
    yield 0.99, "Storing"
    return _store(ob, stored, objects)


def _store(ob, stored: Stored, objects) -> str:
    settings = ob.motion_loom_adapt
    mesh = binding_store.save(ob.name, *pack(stored))
    old, settings.binding = settings.binding, mesh
    binding_store.discard(old)
    remember_source(ob)
    uses = {item.target: (item.mode, item.influence) for item in settings.surfaces if item.target is not None}
    settings.surfaces.clear()
    for target, name in zip(objects, stored.binding.objects, strict=True):
        item = settings.surfaces.add()
        item.name, item.target, item.bound_name = name, target, name
        item.mode, item.influence = uses.get(target, ("ATTACH", 1.0))
    binding = stored.binding
    frames = binding.track.frames
    settings.summary = (
        f"{len(binding.points)} points on {len(binding.objects)} objects, "
        f"{len(binding.track.skeleton.names)} joints, frames {frames[0]:g} to {frames[-1]:g}"
    )
    return f"Bound '{ob.name}': {settings.summary}"


def adapt_rig(context, ob, options: AdaptRigOptions | None = None) -> dict:
    """Adapt a bound armature object; returns a report that JSON can hold."""
    steps = adapt_steps(context, ob, options or AdaptRigOptions())
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def adapt_steps(context, ob, options: AdaptRigOptions) -> Generator[tuple[float, str], None, dict]:
    """Adapt, with progress; the new action is made after the last step only. Returns the report."""
    require_armature(ob)
    require_editable(ob)
    settings = ob.motion_loom_adapt
    stored = unpack(*binding_store.load(settings.binding))
    binding = stored.binding
    surfaces = _surfaces(context.scene, ob, settings, binding.objects)
    began = time.perf_counter()
    yield 0.0, "Reading the motion"
    frames = binding.track.frames
    names = binding.track.skeleton.names
    bones = {name for name in names if name in ob.data.bones}
    with source_played(ob):
        source = reread_source(context, ob, frames, names, stored.solved, binding.height)
        require_result_plays(ob, bones, settings.limits)
    turned = object_turns(source, stored.object_world)
    resized = resized_positions(source, turned, binding.track, stored.object_world, ob.name)
    targets = [item.target for item in surfaces]
    bound = {target.name_full: triangles for target, triangles in zip(targets, stored.triangles, strict=True)}
    sweep = sweep_environment(context, targets, frames, bound)
    environment = yield from _relayed(sweep, 0.05, 0.3, "Reading the environment")
    _check_topology(targets, environment, stored.fingerprints)
    chosen = _solver_options(context, ob, source, binding, resized, turned, surfaces, options)
    solved_at = time.perf_counter()
    adapted = yield from _relayed(solver.adapt_steps(binding, environment, chosen), 0.3, 0.85, "Adapting")
    solve_seconds = time.perf_counter() - solved_at
    motion = adapted_motion(source, adapted.positions, adapted.turns, turned)
    error = _write_error(motion, source, adapted.positions, binding)
    report = {
        "rig": ob.name,
        "frames": len(frames),
        "joints": len(names),
        "descriptors": len(binding.points),
        "character_scale": chosen.scale,
        "solver_fps": len(frames) / solve_seconds,
        "unconverged_frames": int((~adapted.converged).sum()),
        "write_error_mm": 1000 * error,
    }
    if options.measure:
        yield 0.9, "Measuring"
        report["measures"] = measures.measure_bound(
            binding, adapted.positions, environment, chosen.scale
        )
    yield 0.97, "Writing the action"
    origin, new, silenced = write_result(context, ob, options.name, motion, options.assign, settings.limits)
    report |= {
        "source": origin,
        "action": new.name,
        "changed_bones": changed_bones(source.motion, motion),
        "silenced_constraints": silenced,
    }
    return report | {"seconds": time.perf_counter() - began}


def _relayed(steps, start, end, text):
    """Drive a generator of shares done, as progress between start and end; returns its result."""
    while True:
        try:
            share = next(steps)
        except StopIteration as finish:
            return finish.value
        yield start + (end - start) * share, text


def _surfaces(scene, ob, settings, objects):
    """The settings' items of the bound objects, in the binding's order."""
    items = {item.bound_name: item for item in settings.surfaces}
    found = []
    for name in objects:
        if name not in items:
            raise StaleBindingError(f"'{name}' was taken off the environment of '{ob.name}' after bind; bind again.")
        if items[name].target is None:
            raise StaleBindingError(f"'{name}', which '{ob.name}' is bound to, was deleted; undo that or bind again.")
        if scene.objects.get(items[name].target.name) != items[name].target:
            raise StaleBindingError(
                f"'{name}', which '{ob.name}' is bound to, is no longer in the scene; link it again or bind again."
            )
        found.append(items[name])
    return found


def _check_topology(targets, environment, fingerprints):
    for target, mesh, bound in zip(targets, environment, fingerprints, strict=True):
        change = explain_change(target.name, bound, fingerprint(mesh))
        if change:
            raise StaleBindingError(f"{change} Restore its faces or bind again.")


def _solver_options(context, ob, source, binding, resized, turned, surfaces, options):
    settings = ob.motion_loom_adapt
    only = options.only
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
        scale=_scale(resized, binding),
        collision=settings.clearance != "OFF",
        orientation=settings.orientation,
        pins=_pins(context, ob, binding.track),
        limits=solved_limits(ob, source, turned) if settings.limits else None,
        joint_weight=_joint_weight(ob, binding.track),
        resized=resized,
    )


def _scale(resized, binding) -> float:
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


def _pins(context, ob, track: JointTrack) -> tuple[solver.Pin, ...]:
    pins = list(ob.motion_loom_adapt.pins)
    for pin in pins:
        if pin.target is None:
            raise InputError(f"The pin of bone '{pin.bone}' has no object; choose one or remove the pin.")
        if pin.end < pin.start:
            raise InputError(f"The pin of bone '{pin.bone}' ends at frame {pin.end}, before it starts at {pin.start}.")
    joints = [_joint(ob, track, pin.bone) for pin in pins]
    with source_played(ob):  # it may be the rig itself that carries an object
        places = object_positions(context, [pin.target for pin in pins], track.frames)
    seconds = track.frames / track.fps * _rows_a_frame(track)
    rate = _rows_a_frame(track) / track.fps
    out = []
    for pin, joint, place in zip(pins, joints, places, strict=True):
        outside = np.maximum(np.maximum(pin.start * rate - seconds, seconds - pin.end * rate), 0.0)
        out.append(solver.Pin(joint, place, smoothstep(1.0 - outside / PIN_RAMP)))
    return tuple(out)


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


def _write_error(motion, source, positions, binding) -> float:
    """Largest distance, metres, of the rig's joints from the solved ones.

    Raises OutputError where the rig cannot show the result: shear from bones that are scaled unevenly.
    """
    joints = motion.joints().positions[:, source.solved.joints]
    gap = np.linalg.norm(joints - positions, axis=-1)
    frame, joint = np.unravel_index(gap.argmax(), gap.shape)
    worst = float(gap[frame, joint])
    if worst > _WRITE_TOLERANCE * binding.scale:
        name = source.track.skeleton.names[joint]
        raise OutputError(
            f"Bone '{name}' would miss its place by {100 * worst:.1f} cm at frame {source.track.frames[frame]:g}: "
            "the rig scales bones unevenly; remove the uneven scale and bind again."
        )
    return worst

