"""The vertex group of what may stand, found again where it got another name."""

from __future__ import annotations

import numpy as np

from ...scene.part_groups import part_masks
from ...solvers.core.errors import InputError, MotionLoomError
from ...state import cache, mesh_edits
from ..core.kept import kept

_SEEN = "may stand seen"


def vertices_mark(ob, group: str) -> str:
    """Tells the vertices of a group from others; empty where there is none, or in Edit Mode."""
    try:
        return cache.fingerprint(np.packbits(part_masks(ob, [group])[0])) if group in ob.vertex_groups else ""
    except MotionLoomError:
        return ""


def group_now(ob, settings) -> str | None:
    """The name of the group that was chosen: the one of that name, else one with the very vertices that it had, for
    which nothing but a name can have changed; empty where none was chosen, None where it is gone."""
    group = settings.stand_group
    if not group or group in ob.vertex_groups:
        return group
    had = cache.get(ob.session_uid, _SEEN, group) or settings.stand_vertices
    if not had:
        return None
    names = list(ob.vertex_groups.keys())

    def make() -> tuple[str | None]:
        return (next((name for name in names if vertices_mark(ob, name) == had), None),)

    is_edited = ob.data.is_editmode
    return kept(ob, "may stand now", (had, is_edited, *names, *mesh_edits.mark(ob.data)), make)[0]


def group_missing(ob, settings) -> str | None:
    """That the group is gone, with the way out, or None."""
    if group_now(ob, settings) is not None:
        return None
    return f"'{ob.name}' has no vertex group '{settings.stand_group}', for what may stand; choose another, or none."


def group_renamed(ob, settings) -> str | None:
    """That it has another name by now and is followed, or None."""
    now = group_now(ob, settings)
    if not now or now == settings.stand_group:
        return None
    return f"The vertex group '{settings.stand_group}' is called '{now}' now: it has the same vertices, and is followed"


def stand_mask(ob, settings) -> tuple[tuple, np.ndarray | None]:
    """What tells the vertices that may stand from others, and a mask (V,) of them; None where all may.

    Raises InputError for a group that there is not, SceneError in Edit Mode.
    """
    missing = group_missing(ob, settings)
    if missing:
        raise InputError(missing)
    group = group_now(ob, settings)
    if not group:
        return (), None
    mark = (group, *mesh_edits.mark(ob.data))
    mask = kept(ob, "may stand", mark, lambda: part_masks(ob, [group])[0])
    if group == settings.stand_group:
        cache.put(ob.session_uid, _SEEN, group, cache.fingerprint(np.packbits(mask)))
    return mark, mask
