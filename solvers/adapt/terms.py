"""What Adapt asks of each frame: its targets, turns, weights and distances.

``AdaptTerms`` holds what a binding and the user's options say, whatever has become of the environment. Its methods add
the environment for some rows (frames) of the range: all at once for a track, one for a frame that is solved by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..rotations import frame_quaternions
from ..rotations import quaternions as quat
from ..rotations.channels import matrix_to_quaternion
from ..rotations.polar import nearest_rotation, polar
from ..skeleton.joint_tree import TreePose
from ..surface.sides import SidedSurface, sided
from ..warp import collision
from ..warp.collision import DistanceGoals
from ..warp.energy import Goals, SparseTerm, part
from ..warp.hinge_limits import WEIGHT as HINGE_WEIGHT
from ..warp.hinge_limits import HingeLimits
from ..warp.joint_limits import WEIGHT as LIMIT_WEIGHT
from ..warp.joint_limits import LimitSprings
from ..warp.terms import Bend, Facing, Targets
from . import clearance
from .attachment import Attachment, owned
from .binding import BETWEEN_REACH, CONTACT_WEIGHT, Binding
from .covered_joints import CoveredJoints, covered_joints, lowered, window
from .covered_places import CoveredPlaces
from .left_alone import carried
from .options import ATTACH, AVOID, AdaptOptions, SurfaceUse, influences
from .posture import Posture
from .pushes import smoothed
from .relationship import Relations, carries, displaced
from .standing import Standing
from .upright import headings

COLLISION_WEIGHT, HOLD_WEIGHT, FEEDBACK_WEIGHT, STAND_WEIGHT = 20.0, 20.0, 10.0, 30.0
# Beyond this distance (metres at 1.8 m) a body of another size keeps the open space as it is.
SCALED_CLEARANCE = 0.12
# Metres at 1.8 m that a target may travel to leave an object by the side it was on.
TARGET_EXIT = 0.4
PIN_WEIGHT = 2000.0
# Up to so many frames one singular value decomposition after the other costs less than the closed form of all.
_FEW = 8

# Normals now (f, J, 3) of triangles (f, J), -1 for none, of the object of a number at some frames.
FaceNormals = Callable[[int, np.ndarray, slice], np.ndarray]


class AdaptTerms:
    """Terms of the energy for F frames, J joints in tree order, B bodies; frames last.

    heeded: indices of the objects that count.  clearance: metres to keep clear;  reach: metres within which objects
    are looked for.  offsets (J, 3, F): of ``energy.Goals``.  affinity: (J, F) weights of the targets, pins not in them.
    shares: (F, 1 + B - R, J) of the track's joints in the turns: of all of them, then of each body below the roots.
    """

    def __init__(self, binding: Binding, uses: Sequence[SurfaceUse], options: AdaptOptions):
        self.binding, self.options, self.uses = binding, options, uses
        tree, track = binding.tree, binding.track
        self.heeded = [k for k, use in enumerate(uses) if use.is_heeded]
        size, unit = binding.scale * options.scale, binding.scale**2
        self.clearance = collision.CLEARANCE * size if options.clearance is None else options.clearance
        # Points between joints, which are looked up less far, must see that far too.
        seen = max(self.clearance, binding.radii.max(initial=0.0) * options.scale)
        self.reach = max(collision.REACH * binding.scale, seen / collision.BETWEEN_SHARE)
        self.contact = binding.contact if options.contact_reach is None else binding.touching(options.contact_reach)
        left = None if options.left is None else options.left.tobytes()
        if options.left is not None:
            self.contact = np.where(carried(tree, options.left), 0.0, self.contact)
        weight = _affinities(binding, uses, options, self.contact)
        self.affinity = tree.from_track(weight)
        if options.resized is None:
            self.offsets = tree.offsets(tree.from_track(track.positions)) * options.scale
        else:
            self.offsets = tree.offsets(tree.from_track(options.resized))
        self.posture = Posture(binding, options, self.heeded, weight)
        self.shares, self._level = self.posture.shares, self.posture.level
        self._facing_weight, self._stiffness = self.posture.facing_weight(), self.posture.stiffness()
        self.affinity = self.posture.affinity(self.affinity)
        self._hinges = self._limits = None
        limbs = self.posture.straight_limbs
        if len(limbs.middle):
            self._hinges = HingeLimits(limbs.middle, limbs.upper, limbs.axis, limbs.least, HINGE_WEIGHT * unit)
        if options.limits is not None:
            self._limits = LimitSprings(options.limits, tree.rank, tree.parents, LIMIT_WEIGHT * unit)
        self.standing: Standing | None = None
        # The triangles that were faced are of what was bound, not of what has taken its place.
        replaced = np.array([use.replaced is not None for use in uses])
        self._side = np.where(replaced[:, None, None], -1, binding.side) if replaced.any() else binding.side
        self._attached = owned(binding, uses, (options.contact_reach, left), self.contact)
        self._avoided = influences(uses, AVOID)
        # All joints in one piece with the source's turns; roots where they are.
        still = quat.identity(tree.bodies, len(weight))
        roots = tree.from_track(track.positions)[: tree.roots] * options.scale
        self._rest = TreePose.forward(tree, self.offsets, still, roots).joints

    def stand(self, standing: Standing | None) -> None:
        """Feet stand there now, on what has taken the place of objects."""
        self.standing = standing

    def face(self, number: int, rows: slice, triangles: np.ndarray) -> None:
        """The body's samples face these triangles (f, P) of what has taken the place of an object."""
        self._side[number, rows] = triangles

    @property
    def carry_width(self) -> int:
        """Of ``carries``."""
        return 12 if self._level is None else 24

    def carries(self, bind: tuple[np.ndarray, np.ndarray], changed: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """(S, N, 12) of ``relationship.carries`` or, where something stays upright, (S, N, 24) with those of the
        headings beside them. bind, changed: origins (S, N, 3) and axes (S, N, 3, 3)."""
        turn = changed[1] @ np.swapaxes(bind[1], -1, -2)
        whole = carries(bind[0], changed[0], turn)
        if self._level is None:
            return whole
        return np.concatenate((whole, carries(bind[0], changed[0], headings(turn, self.posture.gravity))), axis=-1)

    def goals(
        self,
        rows: slice | int,
        targets: np.ndarray,
        affinity: np.ndarray,
        facing: np.ndarray,
        obstacles: SparseTerm | None,
    ) -> Goals:
        """All terms of the energy for some frames, or for the number of a single one without the axis of frames.

        targets (J, 3, f), affinity (J, f), facing (B, 4, f) and obstacles: of these frames.
        """
        tree = self.binding.tree
        quats = frame_quaternions if facing.ndim == 2 else quat
        parents = facing[tree.parents[tree.roots : tree.bodies]]
        between = quats.conj_mul(parents, facing[tree.roots :])
        between = self.posture.unbent(self._bent(rows, between, targets))
        terms = (
            Targets(targets, affinity),
            Bend(between, part(self._stiffness, rows)),
            Facing(facing, part(self._facing_weight, rows)),
            obstacles,
            None if self._hinges is None else self._hinges.take(rows),
            None if self._limits is None else self._limits.take(rows),
        )
        return Goals(part(self.offsets, rows), tuple(term for term in terms if term is not None))

    def _bent(self, rows: slice | int, between: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """See ``StraightLimbs.bent``; for some frames or a single one without the axis of frames."""
        limbs, roots = self.posture.straight_limbs, self.binding.tree.roots
        if isinstance(rows, slice | np.ndarray):
            return limbs.bent(rows, between, targets, roots)
        return limbs.bent(slice(rows, rows + 1), between[..., None], targets[..., None], roots)[..., 0]

    def shifts(
        self,
        rows: slice,
        carry: np.ndarray,
        normals: np.ndarray,
        share: np.ndarray | None = None,
        standing: Standing | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Displacements (f, J, 3) of the track's joints and turns of their surroundings, less the identity (f, 1 + J,
        3, 3): of all of them as the root follows them, then blended for each joint.

        carry: of ``carries``, normals: (S, N, 3) of the descriptors now; S = 1 or one state a row.
        share: (N,) how much each descriptor counts, None where all count alike.  standing: feet whose places come after
        the descriptors in carry and normals.
        """
        size, attached = self.options.scale, self._attached.over(rows, share, standing)
        if self._level is not None and np.array_equal(carry[..., :12], carry[..., 12:]):
            carry = carry[..., :12]  # nothing is tilted
        shift, turn = self._displaced(rows, attached.blended(slice(None), carry))
        if self._avoided.any():
            relations, count = self._pushing.part(rows), len(self.binding.points)
            pushed, _ = self._displaced(rows, relations.blended(carry[:, :count]))
            normal = relations.mean_normals(normals[:, :count])
            # Against where everything else takes the joint: what moves along with it does not come closer.
            closer = np.einsum("fjk,fjk->fj", pushed - relations.sums()[..., None] * shift, normal)
            shift = shift + np.maximum(closer, 0.0)[..., None] * normal
        if size != 1.0:
            shift = shift + (size - 1.0) * self._grown(rows, self._mean_normals(attached, rows, carry, normals))
        return shift, turn

    def _mean_normals(self, attached: Attachment, rows: slice, carry: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Blended normals (f, J, 3) of what is around each joint, as upright as the joint is."""
        relations = attached.relations
        mean = relations.mean_normals(normals)
        if carry.shape[-1] == 12:
            return mean
        whole, heading = ((carry[..., k : k + 9]).reshape(*carry.shape[:2], 3, 3) + np.eye(3) for k in (3, 15))
        level = relations.mean_normals(np.einsum("snab,sncb,snc->sna", heading, whole, normals))
        return mean + self._level[rows][..., None] * (level - mean)

    def _displaced(self, rows: slice, blended: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Displacements (f, J, 3) by carries blended for each joint (f, J, 12 or 24), and turns (f, 1 + J, 3, 3) as
        ``shifts`` returns them."""
        source, share = self.binding.track.positions[rows], self.shares[rows, 0]
        shift, turn = displaced(source, blended[..., :12])
        mean = np.einsum("fj,fjab->fab", share, turn)
        if blended.shape[-1] > 12:
            level = self._level[rows]
            level_shift, level_turn = displaced(source, blended[..., 12:])
            # Not the mean of the blended turns: the feet that touch a slope would tilt the root.
            root = self.posture.root_level[rows].mean(axis=1)
            mean = mean + root[:, None, None] * (np.einsum("fj,fjab->fab", share, level_turn) - mean)
            shift = shift + level[..., None] * (level_shift - shift)
            turn = turn + level[..., None, None] * (level_turn - turn)
        return shift, np.concatenate((mean[:, None], turn), axis=1)

    def _grown(self, rows: slice, normals: np.ndarray) -> np.ndarray:
        """Displacements (f, J, 3) of joints where the body grows to twice its size.

        normals: (f, J, 3) blended ones of what is around each joint. What is near, or rests, as a thick trunk does far
        away, keeps its clearance in proportion; all else goes with the body, which grows away from what bears it.
        """
        binding, source, share = self.binding, self.binding.track.positions[rows], self.shares[rows, 0, :, None]
        near = binding.joint_distance[self.heeded, rows].min(axis=0, initial=np.inf)
        rests = self.contact[self.heeded, rows].max(axis=0, initial=0.0) * np.minimum(near, binding.height)
        out = np.clip(near, 0.0, np.maximum(SCALED_CLEARANCE * binding.scale, rests))[..., None] * normals
        support, axis = (share * source).sum(axis=1, keepdims=True), (share * normals).sum(axis=1, keepdims=True)
        height = np.einsum("fjk,fjk->fj", source - support, axis) - np.einsum("fjk,fjk->fj", out, axis)
        far = 1.0 - self.posture.nearness[rows]
        return out + (far * np.maximum(height, 0.0))[..., None] * axis

    @cached_property
    def _pushing(self) -> Relations:
        """To the objects that are avoided."""
        return self.binding.relations.masked(self._avoided[self.binding.points.object_index])

    def turns(self, rows: slice, turn: np.ndarray) -> np.ndarray:
        """Rotations (f, 1 + B - R, 4): of all surroundings and of those of each body below the roots.

        turn: of ``shifts``.  Each is nearest to its weighted mean: surroundings that were mirrored or turned against
        each other have a mean that is no rotation.
        """
        share, each = self.shares[rows, 1:], turn[:, 1:]
        mean = (share @ each.reshape(*each.shape[:2], 9)).reshape(*share.shape[:2], 3, 3)
        mean = np.concatenate((turn[:, :1], mean), axis=1) + np.eye(3)
        if len(mean) > _FEW:
            return matrix_to_quaternion(polar(mean.reshape(-1, 3, 3))[0].reshape(mean.shape))
        return matrix_to_quaternion(nearest_rotation(mean))

    def facing(self, turns: np.ndarray) -> np.ndarray:
        """(B, 4, f) of ``turns`` (f, 1 + B - R, 4): roots face as all joints do."""
        roots = np.zeros(self.binding.tree.roots, int)
        inner = np.arange(1, turns.shape[1])
        return np.moveaxis(turns[:, np.append(roots, inner)], 0, -1)

    def targets(self, rows: slice, shift: np.ndarray) -> np.ndarray:
        """(J, 3, f) of displacements (f, J, 3)."""
        return self.binding.tree.from_track(self.binding.track.positions[rows] + shift)

    def exits(self, targets: np.ndarray, surfaces: Sequence[SidedSurface], covered: CoveredJoints | None) -> np.ndarray:
        """Moves (J, 3, F) of all frames' targets that the change has put inside an object, or too near, out to where
        they may be. surfaces: of the heeded objects.  covered: of all frames."""
        moved = targets.copy()
        count, _, frames = targets.shape
        frame = np.repeat(np.arange(frames), count)
        least = np.moveaxis(self._joint_least[self.heeded], 1, -1)
        least = np.moveaxis(lowered(least, self._shares(covered), slice(None)), -1, 1)
        joint_side = self._side[:, :, self.binding.samples.at_joints]
        for k, surface, near in zip(self.heeded, surfaces, least, strict=True):
            flat = np.ascontiguousarray(np.moveaxis(moved, -1, 0)).reshape(-1, 3)
            hits = surface.query(flat, frame, self.reach)
            side = joint_side[k].ravel()
            distance, normal = sided(surface, flat, frame, hits, side, TARGET_EXIT * self.binding.scale)
            short = np.maximum(near.ravel() - distance, 0.0)
            push = (short[:, None] * normal).reshape(frames, count, 3)
            moved += np.moveaxis(push, 0, -1)
        return moved - targets

    @cached_property
    def _joint_least(self) -> np.ndarray:
        """(O, F, J) distances that joints keep, tree order."""
        distance = self.binding.joint_distance * self.options.scale
        return np.minimum(distance, self.clearance)[:, :, self.binding.tree.order]

    def start(self, rows: slice, turn: np.ndarray, targets: np.ndarray) -> TreePose:
        """All joints in one piece, turned by (f, 4) and placed where the targets' mean is."""
        rest, turn = self._rest[..., rows], turn.T
        joints = quat.rotate(turn, rest)
        gap = np.einsum("fj,jkf->kf", self.shares[rows, 0, :][:, self.binding.tree.order], targets - joints)
        joints += gap
        tree = self.binding.tree
        arms = joints.copy()
        arms[tree.roots :] -= joints[tree.parents[tree.roots :]]
        arms[: tree.roots] = 0.0
        rotations = np.repeat(turn[None], tree.bodies, axis=0)
        return TreePose(rotations, joints[: tree.roots].copy(), joints, arms)

    def pinned(self, rows: slice, targets: np.ndarray, affinity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Targets (J, 3, f) and affinity (J, f) with the user's pins among them."""
        if not self.options.pins:
            return targets, affinity
        targets, affinity = targets.copy(), affinity.copy()
        for pin in self.options.pins:
            joint, share = self.binding.tree.rank[pin.joint], pin.weight[rows]
            # So that half a weight pulls half of the way, and a whole one all but holds.
            weight = np.maximum(affinity[joint], 1.0) * share / (1.0 - share + 1.0 / PIN_WEIGHT)
            total = affinity[joint] + weight
            targets[joint] = (affinity[joint] * targets[joint] + weight * pin.positions[rows].T) / total
            affinity[joint] = total
        return targets, affinity

    def following(self, rows: slice, joints: np.ndarray, hold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Targets and affinity of a pass that follows joints (J, 3, f), which the targets are in already.

        hold: (O, P, f) of ``DistanceGoals``.
        """
        # What touches stays where it was held: an object asked again would pull it by another side from frame to frame.
        held = hold[:, self.binding.samples.at_joints].max(axis=0, initial=0.0)
        weight = self.affinity[:, rows] + FEEDBACK_WEIGHT + HOLD_WEIGHT * held
        if self.standing is not None and self.posture.is_erect:
            # Hips that are smoothed over time would drag feet along which they are too high for.
            weight += STAND_WEIGHT * self.binding.tree.from_track(self.standing.stands(rows)[..., None])[:, 0]
        return self.pinned(rows, joints, weight)

    def smoothed(self, values: np.ndarray) -> np.ndarray:
        """Over time, the last axis."""
        return smoothed(values, self.binding.dt)

    def distance_goals(self, rows: slice) -> DistanceGoals:
        """Of the heeded objects, some frames."""
        binding, size, unit = self.binding, self.options.scale, self.binding.scale
        tree, samples = binding.tree, binding.samples
        original = np.moveaxis(binding.distance[self.heeded, rows].astype(float), 1, -1) * (unit * size)
        influence = influences([self.uses[k] for k in self.heeded], ATTACH, AVOID)[:, None] if self.heeded else 1.0
        if np.ndim(influence) and influence.shape[-1] > 1:
            influence = influence[..., rows]
        radius = np.maximum(binding.radii[tree.order][samples.child] * size, self.clearance)
        # Where nothing was found at bind, no more is known than how far was looked.
        seen = np.full(len(samples.child), BETWEEN_REACH)
        seen[samples.at_joints] = clearance.REACH
        least = np.minimum(original, np.minimum(radius, seen * (unit * size))[:, None])
        attached = np.array([self.uses[k].mode == ATTACH for k in self.heeded])[:, None, None]
        hold = np.zeros(original.shape)
        touching = self.contact[self.heeded, rows] * binding.resting[self.heeded, rows] * binding.load
        touching = touching[:, :, tree.order]
        hold[:, samples.at_joints] = np.moveaxis(touching, 1, -1) * influence * attached
        hold[~np.isfinite(original)] = 0.0
        for pin in self.options.pins:
            # The user's place counts, not the contact's.
            hold[:, samples.at_joints[tree.rank[pin.joint]]] *= 1.0 - pin.weight[rows]
        if self.standing is not None:
            unheld = np.moveaxis(self.standing.unheld(rows)[:, tree.order], 1, 0)
            hold[:, samples.at_joints] *= 1.0 - unheld
        side = np.moveaxis(self._side[self.heeded, rows], 1, -1)
        return DistanceGoals(least, np.where(np.isfinite(original), original, 0.0), hold, side)

    @cached_property
    def coverable(self) -> np.ndarray:
        """(N,) bool, descriptors that the change may cover: of the heeded objects."""
        return self.binding.open & np.isin(self.binding.points.object_index, self.heeded)

    def covered(
        self, rows: slice, places: CoveredPlaces | None, normals: np.ndarray, facing: FaceNormals
    ) -> CoveredJoints | None:
        """What places that are covered now do to some frames; None for nothing.

        normals: (S, N, 3) of the descriptors now, S = 1 or one state a frame.
        """
        if places is None:
            return None
        binding, frames = self.binding, len(self.binding.track.positions)
        around = window(rows, frames, binding.dt)
        sides = self._side[:, around][:, :, binding.samples.at_joints[binding.tree.rank]]
        normals = normals if len(normals) == 1 else normals[around]
        known = places.part(around), self._attached.part(around), normals
        objects = binding.points.object_index, len(binding.objects)
        found = covered_joints(*known, *objects, lambda k: facing(k, sides[k], around), binding.dt)
        start, stop, _ = rows.indices(frames)
        return found.part(slice(start - around.start, stop - around.start))

    def let_go(self, goals: DistanceGoals, covered: CoveredJoints | None) -> DistanceGoals:
        """Goals of some frames whose contacts are held less as far as their places are covered."""
        if covered is None:
            return goals
        hold, shares = goals.hold.copy(), self._shares(covered)
        for share in shares.values():
            hold[:, self.binding.samples.at_joints] *= 1.0 - share
        return replace(goals, hold=hold, least=lowered(goals.least, shares, self.binding.samples.child))

    def _shares(self, covered):
        """Of ``CoveredJoints``: the heeded objects by their place among them, joints in tree order."""
        if covered is None:
            return {}
        order = self.binding.tree.order
        return {self.heeded.index(k): share[self.heeded][:, order] for k, share in covered.shares.items()}


def _affinities(binding, uses, options, contact):
    heed = influences(uses, ATTACH, AVOID)
    contact = contact * influences(uses, ATTACH)[..., None] * binding.load
    out = clearance.affinities(binding.joint_distance, contact, heed, CONTACT_WEIGHT, binding.scale, binding.dt)
    return out if options.joint_weight is None else out * options.joint_weight
