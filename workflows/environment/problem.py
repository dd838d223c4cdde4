"""What is solved for a rig among its surroundings, as arrays: both as they are now, and the user's choices."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...scene.environment_state import present_tracks
from ...scene.interference import refuse_dependent
from ...scene.meshes import sweep_states
from ...scene.motion import BoneMotion
from ...scene.points import moved_by_curves, object_positions
from ...scene.rigs import require_armature
from ...scene.state_track import StateTrack
from ...scene.stillness import frame_scripts
from ...solvers.adapt import solve as solver
from ...solvers.adapt.binding import Binding
from ...solvers.core.errors import InputError
from ...solvers.core.types import MeshTrack
from ..command_line.settings import require_all_numbers
from ..core.base import relayed
from ..rig.action import source_played
from ..rig.factors import sampled_setting
from ..rig.live_source import untold
from ..rig.read import read_bound_motion
from ..rig.source import Source, bound_source
from ..rig.write_back import solved_limits
from .body import Body, body_now, fit_body, scale_since_bind
from .contacts import edited_stored
from .joints import left_joints
from .keyed_influence import Influences, influence_of, present_influences, sampled_influences
from .pins import joint_weight, pin_targets, pin_weights, pins, present_pin_places
from .replaced import is_replaced, present_objects, together
from .sanity import require_in_reach, require_set_in_reach
from .store import Stored
from .surfaces import bound_surfaces, bound_triangles, require_topology
from .upright import present_upright, sampled_upright


@dataclass(frozen=True)
class Problem:
    """stored: what was bound.  source: the rig's motion now.  turned: (F, 3, 3) how its object has turned since bind.
    parts: in the binding's order each object as it is now, or all those that replace it.  options: what the user chose.
    influence: (F,) of the adapted motion, the rest is the original's.
    states: of all parts, to tell later whether they are still like that.  name: of the rig."""

    stored: Stored
    source: Source
    turned: np.ndarray
    parts: tuple[tuple[MeshTrack, ...], ...]
    options: solver.AdaptOptions
    influence: np.ndarray
    states: list[StateTrack]
    name: str

    @property
    def binding(self) -> Binding:
        return self.stored.binding

    @cached_property
    def environment(self) -> list[MeshTrack]:
        """What is there now, in the binding's order."""
        return [together(parts) for parts in self.parts]

    @property
    def body(self) -> Body:
        """What it was assembled with."""
        return Body(self.source, self.turned, self.options.resized)

    @property
    def frames(self) -> np.ndarray:
        return self.binding.track.frames

    @property
    def originals(self) -> tuple[BoneMotion, ...]:
        return (self.source.motion,)

    @property
    def influences(self) -> tuple[np.ndarray, ...]:
        return (self.influence,)

    def with_factor(self, name: str, rows: Sequence[np.ndarray | None]) -> Problem:
        (values,) = rows
        if values is None:
            return self
        if name == "influence":
            return replace(self, influence=values)
        return replace(self, options=replace(self.options, **{name: values}))


def gather_steps(
    context, ob, workflow, only: tuple[str, ...] | None = None
) -> Generator[tuple[float, str], None, Problem]:
    """Read everything, stepping through frames where that is needed; yields progress from 0 to 1.

    only: objects heeded, by name at bind; None for all.
    Raises StaleBindingError where what is bound is no longer there, SceneError and InputError for what cannot be read.
    """
    require_armature(ob)
    stored = edited_stored(ob, workflow)
    binding = stored.binding
    surfaces = bound_surfaces(context.scene, ob, workflow, binding.objects)
    groups = [present_objects(context.scene, ob, item) for item in surfaces]
    targets = _each_once(groups)
    refuse_dependent(targets, ob)
    yield 0.0, "Reading the motion"
    frames, names = binding.track.frames, binding.track.skeleton.names
    controls = stored.controls and stored.controls.on(ob)
    motion = read_bound_motion(context, ob, workflow, frames, names, controls)
    source = bound_source(ob, motion, names, stored.solved, stored.hung, binding.height, controls)
    places, pinned = [], pin_targets(ob, workflow)
    if pinned:
        holds = pin_weights(ob, workflow, binding.track) > 0.0
        with source_played(ob, workflow):  # it may be the rig itself that carries an object
            places = object_positions(context, pinned, frames, holds)
    body = fit_body(ob, context.scene, stored, source)
    influence = sampled_setting(context, ob, workflow, "influence", frames)
    upright = sampled_upright(context, ob, workflow, frames)
    heeds = sampled_influences(context, ob, workflow, frames)
    sweep = sweep_states(context, targets, frames, bound_triangles(stored, surfaces))
    found = yield from relayed(sweep, 0.1, 1.0, "Reading the environment")
    around = _grouped(groups, targets, found)
    return _in_reach(assemble(ob, workflow, stored, body, surfaces, around, places, influence, upright, heeds, only))


def gather_now(ob, workflow, scene, depsgraph, body: Body | None) -> Problem:
    """As ``gather_steps`` without stepping, for a rig that plays its live action; the influence is 1.

    body: None where it is to be read.
    Raises LiveProblem, whose remedy is a refresh, where only stepping through the frames would tell.
    """
    require_armature(ob)
    stored = edited_stored(ob, workflow)
    binding = stored.binding
    frames = binding.track.frames
    surfaces = bound_surfaces(scene, ob, workflow, binding.objects)
    groups = [present_objects(scene, ob, item) for item in surfaces]
    targets = _each_once(groups)
    body = body or body_now(ob, workflow, scene, stored)
    found = present_tracks(scene, depsgraph, targets, frames, bound_triangles(stored, surfaces))
    if found is None:
        raise untold(ob)
    around = _grouped(groups, targets, found)
    places = present_pin_places(ob, workflow, scene, depsgraph, binding.track)
    upright = present_upright(ob, workflow, scene, frames)
    heeds = present_influences(ob, workflow, scene, frames)
    influence = np.ones(len(frames))
    return _in_reach(assemble(ob, workflow, stored, body, surfaces, around, places, influence, upright, heeds))


def _each_once(groups: Sequence[Sequence]) -> list:
    """The objects of all groups; one may take the place of several."""
    return list(dict.fromkeys(target for group in groups for target in group))


def _grouped(groups: Sequence[Sequence], targets: Sequence, found: Sequence) -> list[list]:
    """What was found of targets, by groups of these."""
    known = dict(zip(targets, found, strict=True))
    return [[known[target] for target in group] for group in groups]


def _in_reach(problem: Problem) -> Problem:
    """The same; raises InputError for what lies so far off that its numbers are too coarse."""
    frames, height = problem.binding.track.frames, problem.binding.height
    require_set_in_reach(problem.environment, frames, height)
    require_in_reach(f"A joint of '{problem.name}'", problem.options.resized, frames, height)
    return problem


def problem_of_frame(ob, workflow, scene, depsgraph, known: Problem, body: Body | None) -> Problem:
    """The problem with the rig and the user's choices as they are now, around the objects of a known one.

    For single frames, which bring their own surroundings.  body: of the rig, None where it is to be read.
    """
    stored = edited_stored(ob, workflow)
    binding = stored.binding
    places = present_pin_places(ob, workflow, scene, depsgraph, binding.track)
    states = iter(known.states)
    around = [[(part, next(states)) for part in parts] for parts in known.parts]
    surfaces = bound_surfaces(scene, ob, workflow, binding.objects)
    body = body or body_now(ob, workflow, scene, stored)
    upright = present_upright(ob, workflow, scene, known.frames, known.options.upright)
    heeds = present_influences(ob, workflow, scene, known.frames)
    problem = assemble(ob, workflow, stored, body, surfaces, around, places, known.influence, upright, heeds)
    # Until all frames are solved again it is around the objects that are known.
    pairs = zip(problem.options.surfaces, known.options.surfaces, strict=True)
    uses = tuple(replace(use, replaced=before.replaced) for use, before in pairs)
    return replace(problem, options=replace(problem.options, surfaces=uses))


def reason_to_step(ob, workflow, scene, stepped: Sequence[str]) -> str | None:
    """Why only stepping tells how the environment or pins move, in a few words, or None; cheap enough for a handler.

    stepped: names of the objects of the environment that need it, see ``environment_state.needs_sweep``.
    """
    pins = [pin.target for pin in workflow.settings_of(ob).pins if pin.target is not None]
    scripts = frame_scripts()
    if scripts and (stepped or pins):
        return f"The script '{scripts[0]}' acts on frame changes"
    if stepped:
        return f"'{stepped[0]}' deforms, or moves by more than keys"
    return None if moved_by_curves(scene, pins) else "The object of a pin moves by more than keys"


def assemble(
    ob,
    workflow,
    stored: Stored,
    body: Body,
    surfaces,
    around,
    pin_places,
    influence: np.ndarray,
    upright: np.ndarray,
    heeds: Influences,
    only=None,
) -> Problem:
    """The problem of what has been read.

    surfaces: see ``bound_surfaces``.  around: (MeshTrack, StateTrack) of each, or of all that replace it.
    pin_places: (pins, F, 3).
    influence, upright: (F,).  heeds: influences of objects that are animated.
    Raises ChangedSetError where the topology of an object has changed, InputError for choices that make no sense.
    """
    require_all_numbers(workflow.settings_of(ob), leave_out=("before", "live_before"))
    parts = tuple(tuple(mesh for mesh, _ in group) for group in around)
    for item, group, bound in zip(surfaces, parts, stored.fingerprints, strict=True):
        if not is_replaced(item) and len(group) == 1 and group[0].name == item.target.name_full:
            require_topology(item.target.name_full, group[0], bound)
    options = _solver_options(ob, workflow, stored.binding, body, surfaces, pin_places, upright, heeds, only)
    states = [state for group in around for _, state in group]
    return Problem(stored, body.source, body.turned, parts, options, influence, states, ob.name)


def _solver_options(ob, workflow, binding, body: Body, surfaces, pin_places, upright, heeds, only):
    settings = workflow.settings_of(ob)
    if only is not None:
        unknown = [name for name in only if name not in binding.objects]
        if unknown:
            raise InputError(f"'{ob.name}' is not bound to '{unknown[0]}', but to {', '.join(binding.objects)}.")
    ignored = set(binding.objects) - set(binding.objects if only is None else only)
    uses = tuple(
        solver.SurfaceUse(
            solver.IGNORE if item.bound_name in ignored else item.mode,
            influence_of(settings, item, heeds),
            item.along if is_replaced(item) else None,
        )
        for item in surfaces
    )
    return solver.AdaptOptions(
        surfaces=uses,
        scale=scale_since_bind(body.resized, binding),
        collision=settings.clearance != "OFF",
        clearance=settings.clearance_distance if settings.clearance == "USER" else None,
        contact_reach={"AUTO": None, "USER": settings.contact_distance, "OFF": 0.0}[settings.contact],
        orientation=settings.orientation,
        upright=upright,
        pins=pins(ob, workflow, binding.track, pin_places),
        limits=solved_limits(ob, body.source, body.turned) if settings.limits else None,
        joint_weight=joint_weight(ob, workflow, binding.track),
        left=left_joints(ob, workflow, binding.track.skeleton),
        resized=body.resized,
    )
