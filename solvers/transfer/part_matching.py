"""Which limb of one body answers to which of another, by where limbs join the torso and what shape they have."""

from __future__ import annotations

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
    source, target = _Layout(source_vertices, source_memberships), _Layout(target_vertices, target_memberships)
    if len(source.points) != len(target.points):
        raise InputError(
            f"The source has {len(source.points)} parts and the target {len(target.points)}; give both the same parts."
        )
    limbs = np.arange(1, len(source.points))
    found = {}
    for yaw in np.linspace(0.0, 2.0 * np.pi, _TURNS, endpoint=False):
        away = target.marks[None] - turned_about_z(source.marks, yaw)[:, None]
        pairing = tuple(linear_sum_assignment(np.square(away).sum(axis=(2, 3)))[1])
        if pairing not in found:
            found[pairing] = _cost(source, target, pairing)
    order = np.array(min(found, key=lambda pairing: (found[pairing], pairing)), int)
    return np.concatenate(([0], limbs[order]))


class _Layout:
    """Parts about the middle of the torso, in units of the body's size.

    marks (K - 1, 2, 3): of each limb where it joins the torso, and its middle, less far out as it counts less.
    points: of each part, some of its vertices (N_k, 3) about their middle.
    """

    def __init__(self, vertices: np.ndarray, memberships: np.ndarray):
        vertices, memberships = np.asarray(vertices, float), np.asarray(memberships, bool)
        empty = np.flatnonzero(~memberships.any(axis=1))
        if len(empty):
            raise InputError(f"Part {empty[0]} has no vertex; paint it, or remove it from the parts.")
        centre = vertices[memberships[0]].mean(axis=0)
        size = np.sqrt(np.square(vertices - vertices.mean(axis=0)).sum(axis=1).mean())
        scaled = (vertices - centre) / size
        parts = [scaled[row] - scaled[row].mean(axis=0) for row in memberships]
        self.points = [strided(part, _POINTS) for part in parts]
        self.marks = np.array([_marks(scaled, row, memberships[0]) for row in memberships[1:]]).reshape(-1, 2, 3)


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
