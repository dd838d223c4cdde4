"""The energy of a full-body warp: a sum of terms, each written once for a batch of frames and for a single frame.

Every term is half a weighted sum of squared residuals, and a residual says what is still missing: it falls when the
joints, or the bodies' turns, move along it. Value, gradient and Gauss-Newton curvature of the energy follow from the
residuals, so a term states nothing else; how they act on the unknowns is the business of the two solvers, the sweep
over the tree (``tree_system``) and the dense system of one frame (``frame_warp``).

Layout: joints or bodies in tree order come first, components second and frames last, (J, 3, F); the arrays of a single
frame have no last axis, (J, 3). A formula that counts its axes from the front serves both. Only products of quaternions
stand in two versions, since one frame in the layout of many costs twenty times as much (0.25 ms against 0.01 ms for the
bends of 27 bodies): the solver hands the term the module that fits, ``rotations.quaternions`` or
``rotations.frame_quaternions``, as ``quats``.

To add a term, write a class that extends ``DenseTerm`` or ``SparseTerm`` and add an instance to the tuple that
``adapt.terms.AdaptTerms.goals`` makes. Both solvers, energy, gradient and step follow; ``tests/solvers/warp/
test_energy.py`` does so with a term of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from types import ModuleType

import numpy as np

from ..skeleton.joint_tree import JointTree
from .sparse_residuals import Halfspaces, LimitViolations

Keep = np.ndarray | slice | int


class ActsOn(Enum):
    """What the residuals of a dense term move, and therefore their shape and unit (world space)."""

    JOINTS = "joints"  # (J, 3, F) shifts of the joints, metres
    HINGES = "hinges"  # (B - R, 3, F) turns of the bodies below the roots against their parents, rotation vectors
    BODIES = "bodies"  # (B, 3, F) turns of all bodies against the world, rotation vectors


class Term(ABC):
    """One term of the energy; what it holds per frame has frames last. acts_on: of a ``DenseTerm``."""

    acts_on: ActsOn | None = None

    @abstractmethod
    def residual(self, tree: JointTree, pose, quats: ModuleType) -> np.ndarray | Halfspaces | LimitViolations:
        """What is missing at a pose, world space.

        pose: a ``TreePose`` or a ``FramePose``; tree: of both.  quats: the quaternions of that layout.
        Returns an array of the shape that ``ActsOn`` says, or the sparse residuals.
        """

    @abstractmethod
    def take(self, keep: Keep) -> Term:
        """The term of some frames, or without the axis of frames for the number of a single one."""


class DenseTerm(Term):
    """A residual on every joint or body, weighted alike in all directions: a frozen dataclass of arrays.

    acts_on: which; a shift or turn of it by d takes d from the residual.  weight: (N, F), of the squared residual; m^2
    a squared radian for turns.  Several terms may act on the same.
    """

    acts_on: ActsOn
    weight: np.ndarray

    def take(self, keep: Keep) -> DenseTerm:
        return type(self)(**{field.name: part(getattr(self, field.name), keep) for field in fields(self)})


class SparseTerm(Term):
    """Residuals on some samples of the body or on some joints' turns, only where there are any (``Halfspaces`` or
    ``LimitViolations``)."""


def part(array: np.ndarray, keep: Keep) -> np.ndarray:
    """Some frames of an array, or a single one without its axis; contiguous."""
    if isinstance(keep, np.ndarray):
        # Several times faster than indexing.
        return np.take(array, keep, axis=-1)
    return np.ascontiguousarray(array[..., keep])


@dataclass(frozen=True)
class Goals:
    """What a warp is asked to do.

    offsets: (J, 3, F) source vectors from parents to joints, already scaled, metres.  terms: of the energy.
    """

    offsets: np.ndarray
    terms: tuple[Term, ...]

    @property
    def frames(self) -> int:
        """How many frames the batch has."""
        return self.offsets.shape[-1]

    def take(self, keep: Keep) -> Goals:
        """The same goals for some of the frames; see ``Term.take``."""
        return Goals(part(self.offsets, keep), tuple(term.take(keep) for term in self.terms))


def total_weight(terms: tuple[Term, ...], acts_on: ActsOn, shape: tuple[int, ...]) -> np.ndarray:
    """(N, F) of all dense terms that act on something; zeros of a shape where none does."""
    return _sum((term.weight for term in terms if term.acts_on is acts_on), shape)


@dataclass(frozen=True)
class Residuals:
    """The residuals of all terms at a pose. values: one a term."""

    terms: tuple[Term, ...]
    values: tuple[np.ndarray | Halfspaces | LimitViolations, ...]

    @classmethod
    def at(cls, goals: Goals, tree: JointTree, pose, quats: ModuleType) -> Residuals:
        return cls(goals.terms, tuple(term.residual(tree, pose, quats) for term in goals.terms))

    def take(self, keep: np.ndarray, goals: Goals, count: int) -> Residuals:
        """Of some frames ``keep`` of ``count``, of which ``goals`` are already those."""
        values = (part(v, keep) if isinstance(v, np.ndarray) else v.take(keep, count) for v in self.values)
        return Residuals(goals.terms, tuple(values))

    def energy(self, by_frame: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """(F,), or a number of a single frame. by_frame: sums values (K,) of frames (K,)."""
        total = 0.0
        for term, value in zip(self.terms, self.values, strict=True):
            if isinstance(value, np.ndarray):
                total = total + np.einsum("n...,nk...,nk...->...", term.weight, value, value)
            else:
                total = total + by_frame(value.frame, value.squares())
        return 0.5 * total

    def force(self, acts_on: ActsOn, shape: tuple[int, ...]) -> np.ndarray:
        """(N, 3, F) weighted residuals of the dense terms that act on something, the energy's negative derivative by
        it; zeros of a shape where none does."""
        pairs = zip(self.terms, self.values, strict=True)
        return _sum((term.weight[:, None] * value for term, value in pairs if term.acts_on is acts_on), shape)

    def of(self, kind: type) -> list:
        """The sparse residuals of a kind that are not empty."""
        return [value for value in self.values if isinstance(value, kind) and value.frame.size]


def lever_curvature(arm: np.ndarray, force: np.ndarray, whole: np.ndarray | bool) -> np.ndarray:
    """(N, 3, 3, F) Second-order terms of levers (N, 3, F) with forces on their ends, by the turns of their bodies.

    A force f on the end of a lever r adds (f.r) I - (f r^T + r f^T)/2 to the Hessian of the lever's rotation. Far from
    the minimum only max(f.r, 0)(I - r r^T / r^2) is safe: it makes targets out of reach converge. whole: (F,) bool, the
    frames that take all of it and converge quadratically.
    """
    tension = np.einsum("nk...,nk...->n...", arm, force)
    safe = np.maximum(tension, 0.0)
    stretch = safe / np.maximum(np.einsum("nk...,nk...->n...", arm, arm), 1e-18)
    other = np.where(whole, force, stretch[:, None] * arm)
    tension = np.where(whole, tension, safe)
    half = arm[:, :, None] * (-0.5 * other)[:, None]
    out = half + half.swapaxes(1, 2)
    for k in range(3):
        out[:, k, k] += tension
    return out


def _sum(parts, shape):
    total = None
    for one in parts:
        total = one if total is None else total + one
    return np.zeros(shape) if total is None else total
