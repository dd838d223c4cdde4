"""Adapt: a bound motion follows its changed environment.

The targets are those of Al-Ashqar, Komura and Choi 2013 (section 7.1); the warp solves every frame to convergence and
keeps clear of the environment in two passes: what the first pass pushes each joint by is spread over time, and the
second follows that alone; frames that answer their collisions each by itself would jump from side to side.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.errors import InputError
from ..core.steps import result_of, within
from ..core.types import MeshTrack
from ..rotations import quaternions as quat
from ..skeleton.joint_tree import TreePose
from ..surface.track import SurfaceTrack
from ..surface.track_list import SurfaceTracks
from ..warp import collision
from ..warp.collision import Colliders
from ..warp.levenberg import MAX_ITERATIONS
from ..warp.tree_warp import warp_steps
from .binding import Binding
from .covered_places import covered_over_time
from .hold_together import HeldTogether
from .keep_clear import KeptClear
from .left_alone import kept
from .leg_reach import sinking
from .no_jumps import NoJumps
from .options import ATTACH, AVOID, IGNORE, AdaptOptions, Pin, SurfaceUse, checked_uses
from .present_places import PresentPlaces, present_places
from .swing_leads import swing_leads
from .terms import COLLISION_WEIGHT, HOLD_WEIGHT, AdaptTerms

__all__ = [
    "ATTACH",
    "AVOID",
    "IGNORE",
    "AdaptOptions",
    "AdaptedMotion",
    "Pin",
    "SmoothedMoves",
    "SurfaceUse",
    "adapt",
    "adapt_steps",
]

BATCH = 512
DEFORMING_BATCH = 32


@dataclass(frozen=True)
class SmoothedMoves:
    """What solving a whole track told of each frame that the frame cannot know by itself; tree order, frames last.

    exits: (J, 3, F) metres that targets were moved out of objects.
    lack, sinking: (G, F) metres by which each frame's hips are too high for each of G pairs of legs, and by which they
    went down.
    start: (B, 4, F) turns of the pass that answers each frame's collisions, against the mean turn of the surroundings.
    bends: (B, 4, F) what the last pass, which follows the smoothed moves, added to them.
    shifts: (R, 3, F) and to the roots, metres, in the roots' own frames.
    places: what holds to objects that are replaced by others which move; None where none is.
    """

    exits: np.ndarray
    lack: np.ndarray
    sinking: np.ndarray
    start: np.ndarray
    bends: np.ndarray
    shifts: np.ndarray
    places: PresentPlaces | None

    @classmethod
    def between(cls, problem: _Problem, first: TreePose, last: TreePose) -> SmoothedMoves:
        """Of the carried pose, the first pass and the last."""
        start, back = problem.start, quat.conj(first.rotations)
        return cls(
            problem.exits,
            problem.lack,
            problem.sinking,
            quat.mul(quat.conj(start.rotations), first.rotations),
            quat.mul(back, last.rotations),
            quat.rotate(back[: len(last.roots)], last.roots - first.roots),
            problem.moving,
        )


@dataclass(frozen=True)
class AdaptedMotion:
    """positions: (F, J, 3) world.  turns: (F, J, 4) quaternions (w, x, y, z), world, that turn each joint's source
    orientation (a leaf turns with its parent).  iterations: (F,) of the passes together.  converged: (F,) bool.
    moves: what one frame cannot know by itself.  unclear, let_go: (F,) bool, frames at which the body would jump if it
    were clearer of its surroundings, and if it held to itself."""

    positions: np.ndarray
    turns: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    moves: SmoothedMoves
    unclear: np.ndarray
    let_go: np.ndarray


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
    uses = _uses_over_time(binding, environment, options)
    problem = _Problem(binding, environment, uses, options)
    free, used = yield from problem.run(problem.batches(), problem.start, None, (0.0, 0.3))
    first = result = free
    unconverged, clear = used >= MAX_ITERATIONS, None
    unclear, let_go = np.zeros((2, len(used)), bool)
    if problem.surfaces:
        clear = KeptClear(problem, free)
        yield from clear.steps()
        first, result, used, unconverged = clear.first, clear.result, used + clear.used, clear.unsettled
        unclear = clear.refused
    if binding.own_contacts:
        asked = problem.following(clear.asked) if clear else (problem.targets, problem.affinity)
        together = HeldTogether(problem, result, asked)
        yield from together.steps()
        result, used, let_go = together.result, used + together.used, together.refused
        unconverged = np.where(together.used > 0, together.unsettled, unconverged)
    left = problem.terms.posture.left
    if left.any():
        turns = kept(problem.tree, result.rotations, left)
        result = TreePose.forward(problem.tree, problem.terms.offsets, turns, result.roots)
    moves = SmoothedMoves.between(problem, first, result)
    return _motion(binding, result, used, ~unconverged, moves, (unclear, let_go))


def _uses_over_time(binding, environment, options):
    uses = checked_uses(binding, environment, options)
    frames = len(binding.track.positions)
    for mesh in environment:
        if not mesh.is_static and len(mesh.vertices) != frames:
            raise InputError(f"'{mesh.name}' has {len(mesh.vertices)} states for {frames} frames of motion.")
    return uses


class _Problem:
    """Everything about the whole range that does not depend on the pass; tree order, frames last."""

    def __init__(self, binding: Binding, environment: list[MeshTrack], uses, options: AdaptOptions):
        self.terms = terms = AdaptTerms(binding, uses, options)
        self.tree = binding.tree
        # Only what keeps clear of surfaces asks them.
        self.surfaces = [SurfaceTrack(environment[k]) for k in terms.heeded] if options.collision else []
        self.batch = DEFORMING_BATCH if any(s.is_deforming for s in self.surfaces) else BATCH
        everything = slice(None)
        now = present_places(binding, environment, uses, options.gravity)
        self.moving = now if any(not environment[k].is_static for k in now.replaced) else None
        places = self._covered_places(environment, (now.origins, now.axes)) if self.surfaces else None
        self.covered = terms.covered(everything, places, now.axes[..., 0], self._face_normals)
        terms.stand(now.standing)
        for k, each in now.replaced.items():
            terms.face(k, everything, each.ground.faced(binding, k, everything))
        bind, changed = now.with_feet(binding, environment)
        carry, normals = terms.carries(bind, changed), changed[1][..., 0]
        shift, turn = terms.shifts(everything, carry, normals, now.shares(binding), now.standing)
        if now.standing is not None:
            feet = changed[0][:, len(binding.points) :]
            shift += swing_leads(now.standing, feet, everything, terms.posture.gravity, binding.scale)
        if self.covered is not None:
            shift = shift + self.covered.shift
        turns = terms.turns(everything, turn)
        self.facing = terms.facing(turns)
        self.targets = terms.targets(everything, shift)
        self.exits = np.zeros_like(self.targets)
        if options.collision:
            # Smoothed: where the way out changes sides they would jump.
            self.exits = terms.smoothed(terms.exits(self.targets, self.surfaces, self.covered))
        targets, posture = self.targets + self.exits, terms.posture
        self.lack = posture.lack(everything, targets, now.standing)
        self.sinking = sinking(self.lack, binding.dt, now.standing is not None)
        targets += posture.lowered(everything, self.sinking)
        self.targets, self.affinity = terms.pinned(everything, targets, terms.affinity)
        self.start = terms.start(everything, turns[:, 0], self.targets)
        # Of feet on a new ground the way from stance to stance is smooth already: smoothed again they would slide.
        self.carried = self.start.joints
        if now.standing is not None:
            share = self.tree.from_track(now.standing.share)[:, None]
            self.carried = self.carried + share * (self.targets - self.carried)

    def _covered_places(self, environment, changed):
        """What the change has put inside something."""
        binding, states = self.terms.binding, len(changed[0])
        asked = np.repeat(self.terms.coverable[None], states, axis=0)
        if states > 1:
            asked &= binding.relations.used()
        covering = self.terms.heeded
        return covered_over_time(binding.points, environment, self.surfaces, covering, changed, asked, binding.scale)

    def _face_normals(self, number, triangle, frames):
        """See ``terms.FaceNormals``."""
        frame, joint = np.nonzero(triangle >= 0)
        out = np.zeros((*triangle.shape, 3))
        surface = self.surfaces[self.terms.heeded.index(number)]
        out[frame, joint] = surface.face_normals(triangle[frame, joint], frame + frames.start)
        return out

    def batches(self, chosen=None):
        """Numbers of all frames, or of those that are chosen (F,), in portions."""
        frames = np.arange(self.targets.shape[-1]) if chosen is None else np.flatnonzero(chosen)
        return [frames[k : k + self.batch] for k in range(0, len(frames), self.batch)]

    def following(self, joints):
        """Targets and affinity of a pass that follows joints (J, 3, F), which the targets are in already."""
        return self.terms.following(slice(None), joints, self._distance_goals.hold)

    @cached_property
    def no_jumps(self) -> NoJumps:
        """What a pass must not do to the steps of the source."""
        binding = self.terms.binding
        return NoJumps(self.tree.from_track(binding.track.positions), self.terms.options.scale, binding.scale)

    @cached_property
    def _distance_goals(self):
        return self.terms.let_go(self.terms.distance_goals(slice(None)), self.covered)

    def colliders(self, batches):
        """Obstacles of each batch."""
        terms, frames, goals = self.terms, self.targets.shape[-1], self._distance_goals
        unit, samples = terms.binding.scale, terms.binding.samples
        sizes = COLLISION_WEIGHT, HOLD_WEIGHT, terms.reach, collision.FRESH * unit
        tracks = SurfaceTracks(self.surfaces, frames)
        number = np.arange(len(self.surfaces) * frames).reshape(-1, frames)
        return [Colliders(tracks, number[:, part], samples, goals.take(part), *sizes) for part in batches]

    def run(self, batches, start, obstacles, span, asked=None):
        """One pass over batches of frames, the others stay as they start.

        span: of its progress.  asked: targets and affinity in place of the problem's own.
        Yields progress, returns the pose and the iterations (F,).
        """
        terms, tree, frames = self.terms, self.tree, self.targets.shape[-1]
        targets, affinity = asked or (self.targets, self.affinity)
        result, used = start.copy(), np.zeros(frames, int)
        marks = np.linspace(*span, len(batches) + 1)
        for k, part in enumerate(batches):
            parts = (a[..., part] for a in (targets, affinity, self.facing))
            goals = terms.goals(part, *parts, obstacles[k] if obstacles else None)
            rotations, roots = start.rotations[..., part], start.roots[..., part]
            steps = warp_steps(tree, goals, rotations, roots, terms.binding.scale)
            pose, used[part] = yield from within(steps, marks[k], marks[k + 1])
            result.put(part, pose)
            yield marks[k + 1]
        return result, used


def _motion(binding, pose, used, converged, moves, refused):
    tree = binding.tree
    carrier = np.arange(len(tree.parents))
    carrier[tree.leaves] = tree.parents[tree.leaves]
    turns = tree.to_track(pose.rotations[carrier])
    return AdaptedMotion(tree.to_track(pose.joints), turns, used, converged, moves, *refused)
