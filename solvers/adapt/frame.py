"""Adapt for a single frame of a bound motion, while its environment is being changed.

A frame cannot know what ``adapt.solve`` smooths over time. It answers its collisions by itself; what the smoothing of a
track that was solved before has added to the frame is added again. In that track's environment this is the track's
frame, in another one it is near what solving the track again will give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.types import TriangleMesh
from ..rotations import frame_quaternions as quat
from ..surface.descriptor_frames import DescriptorPoints, descriptor_frames
from ..surface.present import PresentSurfaces
from ..warp import collision
from ..warp.collision import Colliders
from ..warp.frame_warp import FramePose, FrameTree, warp_frame
from .binding import Binding
from .covered_places import TRAVEL, CoveredPlaces, covered_places, is_closed, margins
from .left_alone import kept
from .options import AdaptOptions, checked_uses
from .present_places import Replaced, replace_by, shares, stood
from .solve import SmoothedMoves
from .swing_leads import swing_leads
from .terms import COLLISION_WEIGHT, HOLD_WEIGHT, AdaptTerms

# Frames that are caught between obstacles find no rest, and nobody sees the difference; a drag must not wait for them.
MOST_ITERATIONS = 12
# Surfaces can be asked from that much farther than needed, so that they do for a character that grows.
_ROOM = 1.25


@dataclass(frozen=True)
class FrameResult:
    """One row of an ``AdaptedMotion``: positions (J, 3), turns (J, 4)."""

    positions: np.ndarray
    turns: np.ndarray
    converged: bool


class FrameAdapter:
    """Solves rows of a bound motion one at a time, in the environment as it was last told.

    A result depends on the row and the environment, not on what was solved before.
    """

    def __init__(self, binding: Binding, options: AdaptOptions, moves: SmoothedMoves):
        """moves: of a track that was solved of the same binding with the same options.

        Raises InputError for options out of range.
        """
        self._binding, self._options, self._moves = binding, options, moves
        self._uses = checked_uses(binding, binding.objects, options)
        self._terms = AdaptTerms(binding, self._uses, options)
        self._frame = FrameTree(binding.tree)
        points = binding.points
        self._columns = [points.of_object(k) for k in range(len(binding.objects))]
        self._points = [
            DescriptorPoints(np.zeros(len(columns), int), points.triangle[columns], points.barycentric[columns])
            for columns in self._columns
        ]
        self._origins, self._axes = np.empty((1, len(points), 3)), np.empty((1, len(points), 3, 3))
        self._found = np.ones(len(points), bool)
        self._replaced: dict[int, Replaced] = {}
        self._feet: tuple[np.ndarray, np.ndarray] | None = None
        self._carry = np.empty((1, len(points), self._terms.carry_width)) if len(binding.origins) == 1 else None
        self._surfaces: PresentSurfaces | None = None
        self._covered: CoveredPlaces | None = None
        self._closed: list[bool] | None = None
        self._margins = np.zeros((len(binding.objects), 2, 3))
        self._is_placed = False
        tree = binding.tree
        self._carrier = np.arange(len(tree.parents))
        self._carrier[tree.leaves] = tree.parents[tree.leaves]

    def update(self, environment: Sequence[TriangleMesh]) -> None:
        """Take over the present state of the objects, world space, metres, in the binding's order.

        Raises StaleBindingError where there are more or fewer objects than were bound, InputError where one cannot be
        used, by name.
        """
        checked_uses(self._binding, environment, self._options)
        surfaces, self._surfaces = self._surfaces, None
        if surfaces is None:
            surfaces, changed = PresentSurfaces(environment, _ROOM * self._farthest), ()
            self._is_placed = False
        else:
            changed = surfaces.update(environment)
        if not self._is_placed:
            changed = range(len(environment))
        self._place_points(environment, changed)
        if any(self._uses[k].replaced for k in changed):
            self._stand(environment)
        if len(changed) and self._options.collision:
            self._cover(surfaces, environment, changed)
        # After an error nothing is known, so that the next update reads everything again.
        self._surfaces, self._is_placed = surfaces, True

    def take_over(self, other: FrameAdapter) -> None:
        """Go on with what another adapter of the same binding has made of the surfaces; that one starts anew."""
        if other._surfaces is not None and other._surfaces.reach >= self._farthest:
            self._surfaces, other._surfaces = other._surfaces, None
            self._is_placed = False

    @property
    def _farthest(self) -> float:
        """Metres within which the surfaces are asked."""
        return max((1.0 + collision.MARGIN) * self._terms.reach, TRAVEL * self._binding.scale)

    def solve(self, row: int) -> FrameResult:
        """Solve one row of the binding's track; ``update`` comes first."""
        if self._surfaces is None or not self._is_placed:
            raise InputError("The environment is not known yet; update it before a row is solved.")
        count = len(self._binding.track.positions)
        if not 0 <= row < count:
            raise InputError(f"Row {row} is not one of the {count} that were bound.")
        terms, rows = self._terms, slice(row, row + 1)
        for k, each in self._replaced.items():
            terms.face(k, rows, each.ground.faced(self._binding, k, rows))
        covered = terms.covered(rows, self._covered, self._axes[..., 0], self._face_normals)
        shift, turn = terms.shifts(rows, self._carry_at(row), self._normals, shares(self._found), terms.standing)
        if self._feet is not None:
            shift += swing_leads(terms.standing, self._feet[0], rows, terms.posture.gravity, self._binding.scale)
        if covered is not None:
            shift = shift + covered.shift
        turns = terms.turns(rows, turn)
        targets = terms.targets(rows, shift)
        targets, affinity = terms.pinned(rows, self._cleared(rows, targets), terms.affinity[:, rows])
        start = terms.start(rows, turns[:, 0], targets)
        obstacles = self._obstacles(row, covered) if self._options.collision and terms.heeded else None
        goals = terms.goals(row, *(a[..., 0] for a in (targets, affinity, terms.facing(turns))), obstacles)
        rotations, roots = self._resumed(row, start.rotations[..., 0], goals.offsets, targets[..., 0], affinity[..., 0])
        pose, used = warp_frame(self._frame, goals, rotations, roots, self._binding.scale, MOST_ITERATIONS)
        pose = self._moved(row, pose, goals.offsets)
        return self._result(pose, used < MOST_ITERATIONS)

    def _cleared(self, rows, targets):
        """Targets (J, 3, 1) out of objects as the track's were, and as low as legs need them now."""
        moves, posture = self._moves, self._terms.posture
        targets = targets + moves.exits[..., rows]
        lack = posture.lack(rows, targets, self._terms.standing)
        sinking = moves.sinking[:, rows] + lack - moves.lack[:, rows]
        return targets + posture.lowered(rows, np.maximum(sinking, 0.0))

    def _place_points(self, environment, changed):
        """Descriptors of the objects that have changed."""
        binding = self._binding
        for k in changed:
            columns = self._columns[k]
            now = self._frames_on(k, environment[k])
            self._origins[:, columns], self._axes[:, columns] = now
            if self._carry is not None:
                bind = binding.origins[:, columns], binding.axes[:, columns]
                self._carry[:, columns] = self._terms.carries(bind, now)

    def _frames_on(self, number, mesh):
        """Origins and axes of the descriptors of an object, or of what has taken its place."""
        if not self._uses[number].replaced:
            return descriptor_frames(self._points[number], [mesh])
        known = self._moves.places
        found = known and known.replaced[number]
        if found is None:
            found = replace_by(self._binding, number, mesh, self._uses[number], self._options.gravity)
        self._replaced[number] = found
        self._found[self._columns[number]] = found.points.found
        return found.points.frames(mesh)

    def _stand(self, environment):
        """Feet on what has taken the place of objects."""
        known = self._moves.places
        standing = known.standing if known else stood(self._binding, self._uses, self._replaced)
        self._terms.stand(standing)
        self._feet = standing.frames(environment)

    @property
    def _normals(self):
        """(1, N + M, 3) of the descriptors now and, behind them, of where feet stand."""
        if self._feet is None:
            return self._axes[..., 0]
        return np.concatenate((self._axes[..., 0], self._feet[1][..., 0]), axis=1)

    def _cover(self, surfaces, environment, changed):
        """What is inside something now."""
        binding, count = self._binding, len(self._binding.objects)
        if self._closed is None:
            self._closed = [is_closed(mesh.triangles) for mesh in environment]
        for k in changed:
            mesh = environment[k]
            self._margins[k] = margins(mesh.vertices[None], mesh.triangles, self._closed[k], binding.scale)[0]
        number = np.full((count, 1), -1)
        number[self._terms.heeded, 0] = self._terms.heeded
        below, above = np.moveaxis(self._margins, 1, 0)
        bounds = (surfaces.lo - below)[:, None], (surfaces.hi + above)[:, None]
        places = self._origins, self._axes[..., 0], binding.points.object_index, self._terms.coverable[None]
        self._covered = covered_places(surfaces, number, bounds, *places, binding.scale)

    def _face_normals(self, number, triangle, frames):
        """See ``terms.FaceNormals``; of the present state at all frames."""
        frame, joint = np.nonzero(triangle >= 0)
        out = np.zeros((*triangle.shape, 3))
        out[frame, joint] = self._surfaces.face_normals(triangle[frame, joint], np.full(len(frame), number))
        return out

    def _carry_at(self, row):
        """(1, N, 12 or 24) of a row, see ``AdaptTerms.carries``."""
        carry = self._carry
        if carry is None:
            origins, axes = (part[row : row + 1] for part in (self._binding.origins, self._binding.axes))
            carry = self._terms.carries((origins, axes), (self._origins, self._axes))
        if self._feet is None:
            return carry
        standing = self._terms.standing
        feet = self._terms.carries((standing.origins[None], standing.axes[None]), self._feet)
        return np.concatenate((carry, feet), axis=1)

    def _obstacles(self, row, covered):
        terms, samples = self._terms, self._binding.samples
        number, rows = np.array(terms.heeded)[:, None], slice(row, row + 1)
        goals = terms.let_go(terms.distance_goals(rows), covered)
        sizes = COLLISION_WEIGHT, HOLD_WEIGHT, terms.reach, collision.FRESH * self._binding.scale
        return Colliders(self._surfaces, number, samples, goals, *sizes)

    def _resumed(self, row, rotations, offsets, targets, affinity):
        """A start bent like the track's frame and placed where the targets' mean is."""
        rotations = quat.normalised(quat.mul(rotations, self._moves.start[..., row]))
        roots = targets[: self._binding.tree.roots]
        pose = self._frame.forward(offsets, rotations, roots)
        return rotations, roots + affinity @ (targets - pose.joints) / affinity.sum()

    def _moved(self, row, pose, offsets):
        """With what the track's last pass added to the frame."""
        roots = quat.rotate(pose.rotations[: len(pose.roots)], self._moves.shifts[..., row])
        rotations = quat.normalised(quat.mul(pose.rotations, self._moves.bends[..., row]))
        rotations = kept(self._binding.tree, rotations, self._terms.posture.left)
        return self._frame.forward(offsets, rotations, pose.roots + roots)

    def _result(self, pose: FramePose, converged):
        rank = self._binding.tree.rank
        return FrameResult(pose.joints[rank], pose.rotations[self._carrier][rank], converged)
