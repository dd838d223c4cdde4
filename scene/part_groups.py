"""Body parts as vertex groups of a mesh: read as masks, and written anew."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..solvers.core.errors import InputError, SceneError

# From this weight on a vertex belongs to a part: what a soft brush leaves at its rim does not.
BELONGS = 0.5


def part_masks(ob: bpy.types.Object, groups: Sequence[str]) -> np.ndarray:
    """(K, V) bool: which vertices belong to each of the K vertex groups, that is weigh ``BELONGS`` or more.

    Raises as ``part_numbers``.
    """
    numbers = part_numbers(ob, groups)
    rows = {number: row for row, number in enumerate(numbers)}
    masks = np.zeros((len(groups), len(ob.data.vertices)), bool)
    for vertex in ob.data.vertices:  # there is no bulk reading of weights
        for membership in vertex.groups:
            row = rows.get(membership.group)
            if row is not None and membership.weight >= BELONGS:
                masks[row, vertex.index] = True
    # A group named twice is two parts.
    for row, number in enumerate(numbers):
        masks[row] = masks[rows[number]]
    return masks


def part_numbers(ob: bpy.types.Object, groups: Sequence[str]) -> list[int]:
    """The numbers that weights of these vertex groups have.

    Raises SceneError in Edit Mode, where weights are not up to date, InputError for a group that there is not.
    """
    _require_no_edit(ob)
    for name in groups:
        if name not in ob.vertex_groups:
            raise InputError(f"'{ob.name}' has no vertex group '{name}'; choose one that it has, or suggest again.")
    return [ob.vertex_groups[name].index for name in groups]


def write_parts(ob: bpy.types.Object, groups: Sequence[str], masks: np.ndarray) -> None:
    """Make the K vertex groups, or fill those of these names anew, with the vertices of masks (K, V).

    Raises SceneError in Edit Mode and for a mesh of a library.
    """
    _require_no_edit(ob)
    if ob.library is not None or ob.data.library is not None:
        raise SceneError(f"The mesh of '{ob.name}' is linked and cannot have new vertex groups; make it local first.")
    for name, mask in zip(groups, masks, strict=True):
        group = ob.vertex_groups.get(name) or ob.vertex_groups.new(name=name)
        group.remove(list(range(len(mask))))
        group.add(np.flatnonzero(mask).tolist(), 1.0, "REPLACE")


def remove_parts(ob: bpy.types.Object, groups: Sequence[str]) -> None:
    """Remove vertex groups, those that there are."""
    for name in groups:
        group = ob.vertex_groups.get(name)
        if group is not None:
            ob.vertex_groups.remove(group)


def _require_no_edit(ob: bpy.types.Object) -> None:
    if ob.data.is_editmode:
        raise SceneError(f"'{ob.name}' is being edited; leave Edit Mode.")
