"""What is solved for a rig among its surroundings, as arrays: both as they are now, and the user's choices."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

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
from .model import stored_of
from .pins import joint_weight, pin_targets, pin_weights, pins, present_pin_places
from .sanity import require_in_reach, require_set_in_reach
from .store import Stored
from .surfaces import bound_surfaces, bound_triangles, require_topology
from .upright import present_upright, sampled_upright


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
    stored = stored_of(ob, workflow)
    binding = stored.binding
    surfaces = bound_surfaces(context.scene, ob, workflow, binding.objects)
    refuse_dependent([item.target for item in surfaces], ob)
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
    targets = [item.target for item in surfaces]
    sweep = sweep_states(context, targets, frames, bound_triangles(stored, targets))
    around = yield from relayed(sweep, 0.1, 1.0, "Reading the environment")
    return _in_reach(assemble(ob, workflow, stored, body, surfaces, around, places, influence, upright, only))


def gather_now(ob, workflow, scene, depsgraph, body: Body | None) -> Problem:
    """As ``gather_steps`` without stepping, for a rig that plays its live action; the influence is 1.

    body: None where it is to be read.
    Raises LiveProblem, whose remedy is a refresh, where only stepping through the frames would tell.
    """
    require_armature(ob)
    stored = stored_of(ob, workflow)
    binding = stored.binding
    frames = binding.track.frames
    surfaces = bound_surfaces(scene, ob, workflow, binding.objects)
    targets = [item.target for item in surfaces]
    body = body or body_now(ob, workflow, scene, stored)
    around = present_tracks(scene, depsgraph, targets, frames, bound_triangles(stored, targets))
    if around is None:
        raise untold(ob)
    places = present_pin_places(ob, workflow, scene, depsgraph, binding.track)
    upright = present_upright(ob, workflow, scene, frames)
    return _in_reach(assemble(ob, workflow, stored, body, surfaces, around, places, np.ones(len(frames)), upright))


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
    stored = stored_of(ob, workflow)
    binding = stored.binding
    places = present_pin_places(ob, workflow, scene, depsgraph, binding.track)
    around = list(zip(known.environment, known.states, strict=True))
    surfaces = bound_surfaces(scene, ob, workflow, binding.objects)
    body = body or body_now(ob, workflow, scene, stored)
    upright = present_upright(ob, workflow, scene, known.frames, known.options.upright)
    return assemble(ob, workflow, stored, body, surfaces, around, places, known.influence, upright)


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
    only=None,
) -> Problem:
    """The problem of what has been read.

    surfaces: see ``bound_surfaces``.  around: (MeshTrack, StateTrack) of each.  pin_places: (pins, F, 3).
    influence, upright: (F,).
    Raises ChangedSetError where the topology of an object has changed, InputError for choices that make no sense.
    """
    require_all_numbers(workflow.settings_of(ob), leave_out=("before", "live_before"))
    environment = [mesh for mesh, _ in around]
    for item, mesh, bound in zip(surfaces, environment, stored.fingerprints, strict=True):
        require_topology(item.target.name_full, mesh, bound)
    options = _solver_options(ob, workflow, stored.binding, body, surfaces, pin_places, upright, only)
    states = [state for _, state in around]
    return Problem(stored, body.source, body.turned, environment, options, influence, states, ob.name)


def _solver_options(ob, workflow, binding, body: Body, surfaces, pin_places, upright, only):
    settings = workflow.settings_of(ob)
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
        upright=upright,
        pins=pins(ob, workflow, binding.track, pin_places),
        limits=solved_limits(ob, body.source, body.turned) if settings.limits else None,
        joint_weight=joint_weight(ob, workflow, binding.track),
        resized=body.resized,
    )
