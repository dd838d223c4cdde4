"""Joints of a skeleton ordered for sweeps between the leaves and the root, and their forward kinematics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..rotations import quaternions as quat


@dataclass(frozen=True)
class JointTree:
    """Bodies (roots and joints with children) sorted by depth, then the leaves; frames lie on the last axis.

    order:   (J,) the skeleton's index of each joint of the tree;  rank: (J,) its inverse.
    parents: (J,) in tree order, -1 for roots.  bodies: how many joints carry others.
    levels:  slices of the bodies of one depth; levels[0] are the roots.  leaves: slice of the childless joints.
    siblings, leaf_siblings: joints of a level (of the leaves) in groups that share no parent, so that sums
             into parents are plain indexed additions.
    """

    order: np.ndarray
    rank: np.ndarray
    parents: np.ndarray
    bodies: int
    levels: tuple[slice, ...]
    siblings: tuple[tuple[np.ndarray, ...], ...]
    leaf_siblings: tuple[np.ndarray, ...]

    @classmethod
    def build(cls, parents: np.ndarray) -> JointTree:
        """From parents (J,) int, -1 for a root, every parent before its children."""
        parents = np.asarray(parents, int)
        depth = np.zeros(len(parents), int)
        for joint, parent in enumerate(parents):
            depth[joint] = 0 if parent < 0 else depth[parent] + 1
        is_body = parents < 0
        is_body[parents[parents >= 0]] = True
        order = np.lexsort((np.arange(len(parents)), depth, ~is_body))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        inner = np.where(parents[order] < 0, -1, rank[parents[order]])
        bodies = int(is_body.sum())
        body_depth = depth[order][:bodies]
        edges = np.searchsorted(body_depth, np.arange(body_depth[-1] + 2))
        levels = tuple(slice(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True))
        siblings = tuple(_sibling_groups(inner, range(level.start, level.stop)) for level in levels)
        return cls(order, rank, inner, bodies, levels, siblings, _sibling_groups(inner, range(bodies, len(parents))))

    @property
    def roots(self) -> int:
        """How many roots there are; they come first."""
        return self.levels[0].stop

    @property
    def leaves(self) -> slice:
        """The childless joints."""
        return slice(self.bodies, len(self.parents))

    def from_track(self, values: np.ndarray) -> np.ndarray:
        """(F, J, ...) in skeleton order to contiguous (J, ..., F) in tree order."""
        return np.ascontiguousarray(np.moveaxis(values[:, self.order], 0, -1))

    def to_track(self, values: np.ndarray) -> np.ndarray:
        """(J, ..., F) in tree order to contiguous (F, J, ...) in skeleton order."""
        return np.ascontiguousarray(np.moveaxis(values[self.rank], -1, 0))

    def offsets(self, joints: np.ndarray) -> np.ndarray:
        """Vectors from parents to joints, (J, 3, F) in tree order; the positions themselves for roots."""
        out = joints.copy()
        out[self.roots :] -= joints[self.parents[self.roots :]]
        return out


def _sibling_groups(parents: np.ndarray, joints: range) -> tuple[np.ndarray, ...]:
    turns: dict[int, int] = {}
    groups: list[list[int]] = []
    for joint in joints:
        turn = turns.get(parents[joint], 0)
        turns[parents[joint]] = turn + 1
        if turn == len(groups):
            groups.append([])
        groups[turn].append(joint)
    return tuple(np.array(group, int) for group in groups)


@dataclass(frozen=True)
class TreePose:
    """A pose relative to the source motion; tree order, frames last, world space.

    rotations: (B, 4, F) quaternions that turn each body from its source orientation.  roots: (R, 3, F) metres.
    joints: (J, 3, F) positions, metres.  arms: (J, 3, F) from the parent to the joint; zero for roots.
    """

    rotations: np.ndarray
    roots: np.ndarray
    joints: np.ndarray
    arms: np.ndarray

    @classmethod
    def forward(cls, tree: JointTree, offsets: np.ndarray, rotations: np.ndarray, roots: np.ndarray) -> TreePose:
        """Forward kinematics: bone lengths are those of ``offsets`` (J, 3, F) to rounding."""
        count = tree.roots
        joints, arms = np.empty(offsets.shape), np.zeros(offsets.shape)
        joints[:count] = roots
        arms[count:] = quat.rotate(rotations[tree.parents[count:]], offsets[count:])
        for level in (*tree.levels[1:], tree.leaves):
            joints[level] = joints[tree.parents[level]] + arms[level]
        return cls(rotations, roots, joints, arms)

    def take(self, keep: np.ndarray) -> TreePose:
        """The poses of some frames, given by their numbers; ``np.take`` is several times faster than indexing."""
        return TreePose(*(np.take(a, keep, axis=-1) for a in (self.rotations, self.roots, self.joints, self.arms)))

    def put(self, frames: np.ndarray, other: TreePose) -> None:
        """Overwrite some frames in place."""
        for name in ("rotations", "roots", "joints", "arms"):
            getattr(self, name)[..., frames] = getattr(other, name)

    def copy(self) -> TreePose:
        return TreePose(*(a.copy() for a in (self.rotations, self.roots, self.joints, self.arms)))
