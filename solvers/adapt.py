"""Adapt: a bound motion follows its changed environment.

The targets are those of Al-Ashqar, Komura and Choi 2013 (section 7.1); the warp solves every frame to convergence and
keeps clear of the environment in two passes: how far the first pass moves each joint is smoothed over time and handed
to the second; frames that answer their collisions each by itself would jerk.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from . import clearance, collision
from . import quaternions as quat
from .adapt_binding import BETWEEN_REACH, CONTACT_WEIGHT, Binding
from .collision import Colliders, DistanceGoals
from .descriptor_frames import descriptor_frames
from .errors import InputError, StaleBindingError
from .joint_limits import WEIGHT as LIMIT_WEIGHT
from .joint_limits import JointLimits, LimitSprings
from .joint_tree import TreePose
from .rotations import matrix_to_quaternion
from .sides import sided
from .steps import result_of
from .surface_track import SurfaceTrack
from .tree_goals import Goals
from .tree_warp import MAX_ITERATIONS, warp_steps
from .types import MeshTrack

ATTACH, AVOID, IGNORE = "ATTACH", "AVOID", "IGNORE"

# m^2 at 1.8 m: resistance of a joint to leave its source pose, of the root to leave the turn of its surroundings, of
# hands, feet and head to leave the turn of theirs when they are close.
POSE_STIFFNESS, ROOT_STIFFNESS, FACING_STIFFNESS = 0.02, 0.02, 0.05
COLLISION_WEIGHT, LIGHT_COLLISION_WEIGHT, HOLD_WEIGHT, FEEDBACK_WEIGHT = 20.0, 10.0, 20.0, 10.0
# Seconds: what collisions add is smoothed over this.
SMOOTHING = 0.067
# Beyond this distance (metres at 1.8 m) a body of another size keeps the open space as it is.
SCALED_CLEARANCE = 0.12
# Metres at 1.8 m that a target may travel to leave an object by the side it was on.
TARGET_EXIT = 0.4
PIN_WEIGHT = 2000.0
BATCH = 512
DEFORMING_BATCH = 32


@dataclass(frozen=True)
class SurfaceUse:
    """How a motion heeds one object. ATTACH keeps the relation both ways; AVOID only gives way when the object comes
    closer; IGNORE does nothing. influence: 0 to 1."""

    mode: str = ATTACH
    influence: float = 1.0

    def __post_init__(self):
        if self.mode not in (ATTACH, AVOID, IGNORE):
            raise InputError(f"Unknown mode '{self.mode}'; use {ATTACH}, {AVOID} or {IGNORE}.")
        if not 0 <= self.influence <= 1:
            raise InputError(f"An influence lies between 0 and 1, not at {self.influence}.")

    @property
    def heed(self) -> float:
        """Influence, 0 where ignored."""
        return 0.0 if self.mode == IGNORE else self.influence


@dataclass(frozen=True)
class Pin:
    """Holds one joint at given places. joint: index.  positions: (F, 3) world.  weight: (F,) 0 to 1."""

    joint: int
    positions: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class AdaptOptions:
    """What the user sets.

    surfaces: one use an object, in the binding's order; None attaches to all.  scale: of the character against bind.
    collision: keep clear of the environment.  orientation: 0 to 1, how much hands, feet and head turn with it.
    clearance: metres that a body keeps away unless it was closer, or the radius of its bone where that is more; None
    for 5 cm at a 1.8 m body.  contact_reach: metres from where an effector touches within which it begins to be held, 0
    to hold nothing; None for 6 cm at a 1.8 m body.
    joint_weight: (J,) factors of the affinities, or None.
    resized: (F, J, 3) the source pose of a character whose bones have changed, of which only the differences between
    joints count; None scales the bound one.
    """

    surfaces: tuple[SurfaceUse, ...] | None = None
    scale: float = 1.0
    collision: bool = True
    orientation: float = 1.0
    pins: tuple[Pin, ...] = ()
    limits: JointLimits | None = None
    joint_weight: np.ndarray | None = None
    resized: np.ndarray | None = None
    clearance: float | None = None
    contact_reach: float | None = None


@dataclass(frozen=True)
class SmoothedMoves:
    """What the solving of a whole track added to each frame and smoothed over time; tree order, frames last.

    exits: (J, 3, F) from targets inside an object to where they may be, metres; zero without collision.
    displacement: (J, 3, F) by which the pass that answers collisions moved the joints from where the surroundings carry
    them, metres; None where there was none.
    """

    exits: np.ndarray
    displacement: np.ndarray | None


@dataclass(frozen=True)
class AdaptedMotion:
    """positions: (F, J, 3) world.  turns: (F, J, 4) quaternions (w, x, y, z), world, that turn each joint's source
    orientation (a leaf turns with its parent).  iterations: (F,) of the passes together.  converged: (F,) bool.
    moves: what one frame cannot know by itself."""

    positions: np.ndarray
    turns: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    moves: SmoothedMoves


def adapt(binding: Binding, environment: list[MeshTrack], options: AdaptOptions | None = None) -> AdaptedMotion:
    """Adapt all frames of a binding; see ``adapt_steps``."""
    return result_of(adapt_steps(binding, environment, options))


def adapt_steps(
    binding: Binding, environment: list[MeshTrack], options: AdaptOptions | None = None
) -> Generator[float, None, AdaptedMotion]:
    """Adapt, yielding progress from 0 to 1.

    environment: the changed meshes in the binding's order, one state or one a frame, world space, metres.
    Raises StaleBindingError where it does not belong to the binding, InputError for options out of range.
    """
    options = options or AdaptOptions()
    uses = _uses(binding, environment, options)
    problem = _Problem(binding, environment, uses, options)
    slices = _batches(len(binding.track.positions), problem.batch)
    start = problem.start
    free, used = yield from problem.run(slices, start, None, 0.0)
    unconverged = used >= MAX_ITERATIONS
    result, displacement = free, None
    if options.collision and problem.surfaces:
        near = problem.colliders(slices)
        first, used_first = yield from problem.run(slices, free, near, 1 / 3)
        # Against the carried pose, so that a motion that is carried rigidly is not smoothed itself.
        carried = problem.start.joints
        displacement = problem.smoothed(first.joints - carried)
        problem.follow(carried + displacement)
        light = [c.weighted(LIGHT_COLLISION_WEIGHT, HOLD_WEIGHT) for c in near]
        result, used_light = yield from problem.run(slices, free, light, 2 / 3)
        used = used + used_first + used_light
        unconverged = used_light >= MAX_ITERATIONS
    return _motion(binding, result, used, ~unconverged, SmoothedMoves(problem.exits, displacement))


def _uses(binding, environment, options):
    if len(environment) != len(binding.objects):
        raise StaleBindingError(
            f"The motion is bound to {len(binding.objects)} objects ({', '.join(binding.objects)}), "
            f"{len(environment)} were given; bind again."
        )
    frames = len(binding.track.positions)
    for mesh in environment:
        if not mesh.is_static and len(mesh.vertices) != frames:
            raise InputError(f"'{mesh.name}' has {len(mesh.vertices)} states for {frames} frames of motion.")
    _check_options(binding, options)
    uses = options.surfaces or (SurfaceUse(),) * len(environment)
    if len(uses) != len(environment):
        raise InputError(f"{len(uses)} uses were given for {len(environment)} objects.")
    return uses


def _check_options(binding, options):
    track = binding.track
    names, shape = track.skeleton.names, track.positions.shape
    if not 0 < options.scale < np.inf:
        raise InputError(f"The character's scale must be above zero and finite, not {options.scale}.")
    if not 0 <= options.orientation <= 1:
        raise InputError(f"The orientation lies between 0 and 1, not at {options.orientation}.")
    for name, value in (("clearance", options.clearance), ("contact distance", options.contact_reach)):
        if value is not None and not 0 <= value < np.inf:
            raise InputError(f"The {name} must be zero or more metres, not {value}.")
    for pin in options.pins:
        if not 0 <= pin.joint < len(names):
            raise InputError(f"A pin holds joint {pin.joint} of {len(names)}; pin one that is solved.")
        _check_pin(pin, names[pin.joint], track.frames)
    weight, resized = options.joint_weight, options.resized
    if weight is not None:
        if weight.shape != (len(names),) or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
            raise InputError(f"Joint weights must be {len(names)} numbers, none below zero and not all zero.")
    if resized is not None and (resized.shape != shape or not np.isfinite(resized).all()):
        raise InputError(f"The resized pose has shape {resized.shape}; expected finite numbers of shape {shape}.")


def _check_pin(pin, name, frames):
    count = len(frames)
    if pin.positions.shape != (count, 3) or pin.weight.shape != (count,):
        raise InputError(
            f"The pin of '{name}' has {len(pin.positions)} places and {len(pin.weight)} weights for {count} frames."
        )
    bad = np.flatnonzero(~np.isfinite(pin.positions).all(axis=1) | ~((pin.weight >= 0) & (pin.weight <= 1)))
    if bad.size:
        raise InputError(
            f"The pin of '{name}' at frame {frames[bad[0]]:g} needs a place of numbers and a weight from 0 to 1."
        )


def _batches(frames, size):
    return [slice(start, min(start + size, frames)) for start in range(0, frames, size)]


class _Problem:
    """Everything about the whole range that does not depend on the pass; tree order, frames last."""

    def __init__(self, binding: Binding, environment: list[MeshTrack], uses, options: AdaptOptions):
        self.binding, self.options, self.uses = binding, options, uses
        tree, track = binding.tree, binding.track
        heeded = [k for k, use in enumerate(uses) if use.heed > 0]
        self.heeded = heeded
        size = binding.scale * options.scale
        self.clearance = collision.CLEARANCE * size if options.clearance is None else options.clearance
        # Points between joints, which are looked up less far, must see that far too.
        self.reach = max(collision.REACH * binding.scale, self.clearance / collision.BETWEEN_SHARE)
        self.contact = binding.contact if options.contact_reach is None else binding.touching(options.contact_reach)
        self.surfaces = [SurfaceTrack(environment[k]) for k in heeded]
        self.batch = DEFORMING_BATCH if any(s.is_deforming for s in self.surfaces) else BATCH
        source = track.positions
        shift, turn = _shifts(binding, environment, uses, options.scale)
        affinity = _affinities(binding, uses, options, self.contact)
        joints = tree.from_track(source)
        if options.resized is None:
            self.offsets = tree.offsets(joints) * options.scale
        else:
            self.offsets = tree.offsets(tree.from_track(options.resized))
        self.targets = tree.from_track(source + shift)
        self.affinity = tree.from_track(affinity)
        unit = binding.scale**2
        bodies, frames = tree.bodies, len(source)
        self.stiffness = np.full((bodies, frames), POSE_STIFFNESS * unit)
        root_turn = _mean_turn(affinity, turn)
        self.facing = np.repeat(root_turn.T[None], bodies, axis=0)
        self.facing_weight = np.zeros((bodies, frames))
        self.facing_weight[: tree.roots] = ROOT_STIFFNESS * unit
        self._face_surroundings(turn, affinity, unit)
        self.exits = self._exits() if options.collision else np.zeros_like(self.targets)
        self.targets += self.exits
        self.held_affinity = self.affinity.copy()
        self._pin()
        self.limits = None
        if options.limits is not None:
            self.limits = LimitSprings(options.limits, tree.rank, tree.parents, LIMIT_WEIGHT * unit)
        self.start = self._start(source, root_turn, affinity, shift)

    def _start(self, source, root_turn, affinity, shift):
        """All joints turned with the surroundings, placed where the targets' mean is."""
        tree, frames = self.binding.tree, len(source)
        share = (affinity / affinity.sum(axis=1, keepdims=True)).T[tree.order]
        rotations = np.repeat(root_turn.T[None], tree.bodies, axis=0)
        pose = TreePose.forward(tree, self.offsets, rotations, np.zeros((tree.roots, 3, frames)))
        # One shift for all roots keeps their places to each other, turned like everything else.
        roots = quat.rotate(rotations[: tree.roots], tree.from_track(source)[: tree.roots] * self.options.scale)
        joints = pose.joints + roots[_root_of(tree)]
        gap = np.einsum("jf,jkf->kf", share, self.targets - joints)
        return TreePose.forward(tree, self.offsets, rotations, roots + gap)

    def _face_surroundings(self, turn, affinity, unit):
        """Bodies whose children are all leaves (hands, feet, head) turn with what is close to them."""
        tree, binding = self.binding.tree, self.binding
        if self.options.orientation == 0:
            return
        near = np.maximum(binding.joint_distance[self.heeded].min(axis=0, initial=np.inf), 0.0)
        near = 1.0 / (1.0 + (near / (clearance.AFFINITY_RADIUS * binding.scale)) ** 2)
        for body in range(tree.roots, tree.bodies):
            children = np.flatnonzero(tree.parents == body)
            if (children < tree.bodies).any():
                continue
            group = tree.order[np.append(children, body)]
            self.facing[body] = _mean_turn(affinity[:, group], turn[:, group]).T
            weight = FACING_STIFFNESS * unit * self.options.orientation
            self.facing_weight[body] = weight * near[:, group].max(axis=1)

    def _pin(self):
        tree = self.binding.tree
        for pin in self.options.pins:
            joint = tree.rank[pin.joint]
            # So that half a weight pulls half of the way, and a whole one all but holds.
            weight = np.maximum(self.affinity[joint], 1.0) * pin.weight / (1.0 - pin.weight + 1.0 / PIN_WEIGHT)
            total = self.affinity[joint] + weight
            self.targets[joint] = (self.affinity[joint] * self.targets[joint] + weight * pin.positions.T) / total
            self.affinity[joint] = total

    def _exits(self):
        """Moves (J, 3, F) of targets that the change has put inside an object, or too near, out to where they may be.

        They are smoothed over time: where the way out changes sides they would jump.
        """
        targets = self.targets.copy()
        binding, tree = self.binding, self.binding.tree
        size, unit = self.options.scale, binding.scale
        count, _, frames = targets.shape
        frame = np.repeat(np.arange(frames), count)
        for k, surface in zip(self.heeded, self.surfaces, strict=True):
            flat = np.ascontiguousarray(np.moveaxis(targets, -1, 0)).reshape(-1, 3)
            hits = surface.query(flat, frame, self.reach)
            side = binding.side[k][:, binding.samples.at_joints].ravel()
            distance, normal = sided(surface, flat, frame, hits, side, TARGET_EXIT * unit)
            least = np.minimum(binding.joint_distance[k] * size, self.clearance)[:, tree.order]
            short = np.maximum(least.ravel() - distance, 0.0)
            push = (short[:, None] * normal).reshape(frames, count, 3)
            targets += np.moveaxis(push, 0, -1)
        return self.smoothed(targets - self.targets)

    def follow(self, joints):
        """Ask the next pass for joints (J, 3, F) in place of the targets, which are in them already."""
        self.targets = joints.copy()
        self.affinity = self.held_affinity + FEEDBACK_WEIGHT
        self._pin()

    def smoothed(self, values):
        """Over time, the last axis."""
        return gaussian_filter1d(values, SMOOTHING / self.binding.dt, axis=-1, mode="nearest", truncate=3.0)

    def colliders(self, slices):
        """Obstacles of each batch."""
        binding, size, unit = self.binding, self.options.scale, self.binding.scale
        tree, samples = binding.tree, binding.samples
        original = np.moveaxis(binding.distance[self.heeded].astype(float), 1, -1) * (unit * size)
        influence = np.array([self.uses[k].influence for k in self.heeded])[:, None, None]
        radius = np.maximum(binding.radii[tree.order][samples.child] * size, self.clearance)
        # Where nothing was found at bind, no more is known than how far was looked.
        seen = np.full(len(samples.child), BETWEEN_REACH)
        seen[samples.at_joints] = clearance.REACH
        least = np.minimum(original, np.minimum(radius, seen * (unit * size))[:, None])
        attached = np.array([self.uses[k].mode == ATTACH for k in self.heeded])[:, None, None]
        hold = np.zeros(original.shape)
        contact = np.moveaxis(self.contact[self.heeded][:, :, tree.order], 1, -1)
        # A foot that swings past a surface as low as it stands on it is not held there.
        slow = np.moveaxis(binding.slow[self.heeded][:, :, tree.order], 1, -1).astype(float)
        contact = contact * np.minimum(2.0 * self.smoothed(slow), 1.0)
        hold[:, samples.at_joints] = contact * influence * attached
        hold[~np.isfinite(original)] = 0.0
        for pin in self.options.pins:
            # The user's place counts, not the contact's.
            hold[:, samples.at_joints[tree.rank[pin.joint]]] *= 1.0 - pin.weight
        side = np.moveaxis(binding.side[self.heeded], 1, -1)
        goals = DistanceGoals(least, np.where(np.isfinite(original), original, 0.0), hold, side)
        frames = np.arange(original.shape[-1])
        sizes = self.reach, collision.FRESH * unit
        return [
            Colliders(self.surfaces, samples, goals.take(s), frames[s], COLLISION_WEIGHT, HOLD_WEIGHT, *sizes)
            for s in slices
        ]

    def run(self, slices, start, obstacles, progress):
        """One pass over all batches; yields progress, returns the pose and the iterations (F,)."""
        tree, frames = self.binding.tree, self.targets.shape[-1]
        result, used = start.copy(), np.zeros(frames, int)
        for k, part in enumerate(slices):
            goals = Goals(
                *(a[..., part] for a in (self.offsets, self.targets, self.affinity, self.stiffness)),
                self.facing[..., part],
                self.facing_weight[..., part],
                np.arange(frames)[part],
                obstacles[k] if obstacles else None,
                self.limits,
            )
            rotations, roots = start.rotations[..., part], start.roots[..., part]
            steps = warp_steps(tree, goals, rotations, roots, self.binding.scale)
            pose, used[part] = yield from _scaled(steps, progress + k / (3 * len(slices)), 1 / (3 * len(slices)))
            result.put(part, pose)
            yield progress + (k + 1) / (3 * len(slices))
        return result, used


def _scaled(steps, start, share):
    """Progress of a part of the work, as that of the whole."""
    while True:
        try:
            yield start + share * next(steps)
        except StopIteration as end:
            return end.value


def _root_of(tree):
    """(J,) root of each joint, tree order."""
    out = np.arange(len(tree.parents))
    for level in (*tree.levels[1:], tree.leaves):
        out[level] = out[tree.parents[level]]
    return out


def _shifts(binding, environment, uses, size):
    """Displacements (F, J, 3) of the joints and blended turns (F, J, 3, 3) of their surroundings."""
    bind = (binding.origins, binding.axes)
    changed = descriptor_frames(binding.points, environment)
    source = binding.track.positions
    attached = _attached(binding, uses)
    shift, turn = attached.targets(source, bind, changed)
    avoid = np.array([use.influence if use.mode == AVOID else 0.0 for use in uses])
    if avoid.any():
        relations = binding.relations.masked(avoid[binding.points.object_index])
        pushed, _ = relations.targets(source, bind, changed)
        normal = relations.mean_normals(changed)
        # Against where everything else takes the joint: what moves along with it does not come closer.
        closer = np.einsum("fjk,fjk->fj", pushed - relations.sums()[..., None] * shift, normal)
        shift = shift + np.maximum(closer, 0.0)[..., None] * normal
    if size != 1.0:
        heeded = [k for k, use in enumerate(uses) if use.heed > 0]
        near = binding.joint_distance[heeded].min(axis=0, initial=np.inf)
        near = np.clip(near, 0.0, SCALED_CLEARANCE * binding.scale)
        shift = shift + ((size - 1.0) * near)[..., None] * attached.mean_normals(changed)
    return shift, turn


def _attached(binding, uses):
    """The joints' relations to the objects that they are attached to.

    What an object of less influence leaves of a joint follows the objects of full influence.
    """
    influence = np.array([use.influence if use.mode == ATTACH else 0.0 for use in uses])
    relations = binding.relations_to(influence > 0).weighted(influence[binding.points.object_index])
    whole = influence == 1.0
    if whole.all() or not whole.any():
        return relations
    return relations.completed(binding.relations_to(whole))


def _affinities(binding, uses, options, contact):
    influence = np.array([use.influence if use.mode == ATTACH else 0.0 for use in uses])
    heed = np.array([use.heed for use in uses])
    contact = contact * influence[:, None, None]
    out = clearance.affinities(binding.joint_distance, contact, heed, CONTACT_WEIGHT, binding.scale, binding.dt)
    return out if options.joint_weight is None else out * options.joint_weight


def _mean_turn(weight, turn):
    """Rotation (F, 4) nearest to the weighted mean of I + turn; weight (F, J), turn (F, J, 3, 3)."""
    total = weight.sum(axis=1, keepdims=True)
    share = np.where(total > 0, weight, 1.0) / np.where(total > 0, total, weight.shape[1])
    u, _, vt = np.linalg.svd(np.einsum("fj,fjab->fab", share, turn) + np.eye(3))
    # Surroundings that were mirrored or turned against each other have a mean that is no rotation.
    u[..., 2] *= np.linalg.det(u @ vt)[:, None]
    return matrix_to_quaternion(u @ vt)


def _motion(binding, pose, used, converged, moves):
    tree = binding.tree
    carrier = np.arange(len(tree.parents))
    carrier[tree.leaves] = tree.parents[tree.leaves]
    turns = tree.to_track(pose.rotations[carrier])
    return AdaptedMotion(tree.to_track(pose.joints), turns, used, converged, moves)
