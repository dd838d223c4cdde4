"""Which limb of one body answers to which of another, by where limbs join the torso and what shape they have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from ..core.errors import InputError
from ..core.subsampling import strided
from ..rotations.rigid import ground_yaw, turned_about_z

# Turns that are tried.
_TURNS = 72
# Vertices of a part that are compared.
_POINTS = 500
# What facing the other way costs, as a share of the squared size: it must be supported by more than noise.
_TURN_COST = 0.0003
# How much squared distances of a limb's middle count against those of where it joins, which poses hardly move.
_MIDDLE = 0.02
# How much the shape of a limb counts against that of the torso: it bends.
_SHAPE = 0.3

# An axis of the source's world answers to Z where bodies lie so much nearer on each other then, and as near as bodies
# of one kind do: a man on all fours is like a horse that rears up.
_CLEARLY, _OF_A_KIND = 0.5, 0.3
# Turns that set an axis upright.
_UPRIGHT = {
    "Z": np.eye(3),
    "Y": np.array(((1.0, 0, 0), (0, 0, -1), (0, 1, 0))),
    "-Y": np.array(((1.0, 0, 0), (0, 0, 1), (0, -1, 0))),
    "X": np.array(((0.0, 0, -1), (0, 1, 0), (1, 0, 0))),
    "-X": np.array(((0.0, 0, 1), (0, 1, 0), (-1, 0, 0))),
    "-Z": np.diag((1.0, -1.0, -1.0)),
}


def match_parts(
    source_vertices: np.ndarray,
    source_memberships: np.ndarray,
    target_vertices: np.ndarray,
    target_memberships: np.ndarray,
) -> np.ndarray:
    """(K,) numbers of the target's parts, in the order of the source's; the torso, part 0, stays.

    vertices (V, 3) world, Z up, of both upright, better in like poses, whatever their places, sizes and headings;
    memberships (K, V) bool.  Limbs are paired by where they join the torso and where their middles are, under all turns
    about Z; of the pairings so found the one with which these places lie nearest and the parts, each about its own
    middle, lie best on each other, turned and never mirrored, so that left stays left.  Where facing one way fits as
    well as the other, the smaller turn is taken.

    Raises InputError for different numbers of parts and for empty ones.
    """
    source, target = _layouts(source_vertices, source_memberships, target_vertices, target_memberships)
    found = _pairings(source, target)
    order = np.array(min(found, key=lambda pairing: (found[pairing], pairing)), int)
    return np.concatenate(([0], np.arange(1, len(source.points))[order]))


def standing_axis(
    source_vertices: np.ndarray,
    source_memberships: np.ndarray,
    target_vertices: np.ndarray,
    target_memberships: np.ndarray,
) -> str | None:
    """The axis of the source's world, "X", "-X", "Y", "-Y" or "-Z", that answers to Z in the target's, where that is
    clear; None where the two stand alike, or nothing fits much better.

    As for ``match_parts``, whatever the order of the limbs: the bodies are laid on each other with each of the axes
    upright.  A turn about Z is free, so poses that are alike tell; one that lies while the other stands does not.
    """
    source, target = _layouts(source_vertices, source_memberships, target_vertices, target_memberships)
    costs = {axis: min(_pairings(source.turned(turn), target).values()) for axis, turn in _UPRIGHT.items()}
    best = min(costs, key=costs.get)
    return best if costs[best] < min(_CLEARLY * costs["Z"], _OF_A_KIND) else None


def _layouts(source_vertices, source_memberships, target_vertices, target_memberships):
    source, target = _Layout.of(source_vertices, source_memberships), _Layout.of(target_vertices, target_memberships)
    if len(source.points) != len(target.points):
        raise InputError(
            f"The source has {len(source.points)} parts and the target {len(target.points)}; give both the same parts."
        )
    return source, target


def _pairings(source: _Layout, target: _Layout) -> dict[tuple[int, ...], float]:
    """What each pairing of limbs costs that is best under some turn about Z."""
    found = {}
    for yaw in np.linspace(0.0, 2.0 * np.pi, _TURNS, endpoint=False):
        away = target.marks[None] - turned_about_z(source.marks, yaw)[:, None]
        pairing = tuple(linear_sum_assignment(np.square(away).sum(axis=(2, 3)))[1])
        if pairing not in found:
            found[pairing] = _cost(source, target, pairing)
    return found


@dataclass(frozen=True)
class _Layout:
    """Parts about the middle of the torso, in units of the body's size.

    marks (K - 1, 2, 3): of each limb where it joins the torso, and its middle, less far out as it counts less.
    points: of each part, some of its vertices (N_k, 3) about their middle.
    """

    marks: np.ndarray
    points: list[np.ndarray]

    @classmethod
    def of(cls, vertices: np.ndarray, memberships: np.ndarray) -> _Layout:
        vertices, memberships = np.asarray(vertices, float), np.asarray(memberships, bool)
        empty = np.flatnonzero(~memberships.any(axis=1))
        if len(empty):
            raise InputError(f"Part {empty[0]} has no vertex; paint it, or remove it from the parts.")
        centre = vertices[memberships[0]].mean(axis=0)
        size = np.sqrt(np.square(vertices - vertices.mean(axis=0)).sum(axis=1).mean())
        scaled = (vertices - centre) / size
        parts = [scaled[row] - scaled[row].mean(axis=0) for row in memberships]
        marks = np.array([_marks(scaled, row, memberships[0]) for row in memberships[1:]]).reshape(-1, 2, 3)
        return cls(marks, [strided(part, _POINTS) for part in parts])

    def turned(self, turn: np.ndarray) -> _Layout:
        """By a rotation (3, 3)."""
        return _Layout(self.marks @ turn.T, [part @ turn.T for part in self.points])


def _marks(vertices: np.ndarray, limb: np.ndarray, torso: np.ndarray) -> np.ndarray:
    """(2, 3) see ``_Layout``; a limb that is loose joins where its middle is."""
    joint = limb & torso if (limb & torso).any() else limb
    return np.stack((vertices[joint].mean(axis=0), np.sqrt(_MIDDLE) * vertices[limb].mean(axis=0)))


def _cost(source: _Layout, target: _Layout, order: tuple[int, ...]) -> float:
    """Of a pairing of limbs, with the turn about the torso's middle that is best for it."""
    there, here = target.marks[list(order)].reshape(-1, 3), source.marks.reshape(-1, 3)
    # Each with its opposite, so that the middle stays.
    yaw = ground_yaw(np.concatenate((there, -there)), np.concatenate((here, -here)))
    yaw = float(np.where(np.isfinite(yaw), yaw, 0.0))
    away = np.square(there - turned_about_z(here, yaw)).sum() / len(source.points)
    return away + _misfit(source, target, order, yaw) + _TURN_COST * (1.0 - np.cos(yaw))


def _misfit(source: _Layout, target: _Layout, order: tuple[int, ...], yaw: float) -> float:
    """Mean squared distance from points of a part to the nearest of the other's, both ways, weighted sum over parts."""
    others, total = [target.points[0], *(target.points[1 + k] for k in order)], 0.0
    for part, (mine, other) in enumerate(zip(source.points, others, strict=True)):
        mine = turned_about_z(mine, yaw)
        there, back = cKDTree(other).query(mine)[0], cKDTree(mine).query(other)[0]
        total += (_SHAPE if part else 1.0) * (np.square(there).mean() + np.square(back).mean())
    return total / len(source.points)
