"""A result shown while it is worked out: on a copy of the target, which is hidden meanwhile and never written to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..solvers.core.errors import OutputError, SceneError, StaleBindingError
from .mesh_copy import LIVE_MARK, discard, link_beside, plain_copy
from .modifier_split import animated_paths
from .placing import place_now, transformed
from .restored import restored_after_error
from .rigs import require_editable

_VISIBILITY = ("hide_viewport", "hide_render")


def make(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Object:
    """The live copy of a mesh object, "<name> (live)", beside it in its collections; the original is hidden.

    What the original's visibility was is kept on the copy; see `restore`.
    Raises SceneError for an object that is linked, is live already, is a live copy or whose visibility is animated,
    and as `mesh_copy.plain_copy`.
    """
    require_editable(ob)
    if LIVE_MARK in ob:
        raise SceneError(f"'{ob.name}' is itself a live copy; choose its original.")
    there = live_of(ob)
    if there is not None:
        raise SceneError(f"'{ob.name}' is live already, as '{there.name}'; switch live off first.")
    if any(path in _VISIBILITY for path in animated_paths(ob)):
        raise SceneError(
            f"The visibility of '{ob.name}' is animated, so that it cannot be hidden behind its live copy; "
            "mute or remove the keys and drivers of Disable in Viewports and Disable in Renders."
        )
    with restored_after_error(ob):
        live = plain_copy(context, ob, f"{ob.name} (live)")
        live.rotation_mode = "QUATERNION"  # takes any rotation exactly
        _clear_deltas(live)
        _let_blur(live)
        live[LIVE_MARK] = {"original": ob} | {name: bool(getattr(ob, name)) for name in _VISIBILITY}
        link_beside(context, ob, live)
        for name in _VISIBILITY:
            setattr(ob, name, True)
        context.view_layer.update()
    return live


def _let_blur(live: bpy.types.Object) -> None:
    """Cycles blurs the motion of vertices only where a modifier may move them: one that does nothing, in renders."""
    modifier = live.modifiers.new("Motion Blur", "SMOOTH")
    modifier.iterations, modifier.show_viewport = 0, False
    live.modifiers.move(len(live.modifiers) - 1, 0)


def _clear_deltas(live: bpy.types.Object) -> None:
    live.delta_location, live.delta_rotation_euler = (0, 0, 0), (0, 0, 0)
    live.delta_rotation_quaternion, live.delta_scale = (1, 0, 0, 0), (1, 1, 1)


def is_live(ob: bpy.types.Object) -> bool:
    """Whether an object is a live copy."""
    return LIVE_MARK in ob


def live_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """The live copy of an object, if there is one."""
    return next((other for other in bpy.data.objects if LIVE_MARK in other and original_of(other) == ob), None)


def release_others(ob: bpy.types.Object, live: bpy.types.Object | None = None) -> None:
    """Make ordinary objects of all that bear the mark of an object's live copy and are not it: duplicates of one."""
    for other in bpy.data.objects:
        if other != live and other.library is None and LIVE_MARK in other and original_of(other) == ob:
            del other[LIVE_MARK]


def original_of(live: bpy.types.Object) -> bpy.types.Object | None:
    """What a live copy stands for, whatever it is called now; None where it was deleted, or is in no scene."""
    original = _marked(live)
    return original if original is not None and original.users_scene else None


def lacks_original(live: bpy.types.Object) -> bool:
    """Whether what a live copy stands for is in the file, but in no scene.

    Deleted from its scenes, an object lives on as long as the mark points to it, and comes along where a copy is
    appended.
    """
    original = _marked(live)
    return original is not None and not original.users_scene


def _marked(live: bpy.types.Object) -> bpy.types.Object | None:
    mark = live.get(LIVE_MARK)
    return mark.get("original") if mark is not None else None


def restore(live: bpy.types.Object) -> bpy.types.Object | None:
    """Remove a live copy and show its original as it was before, which is returned.

    Where the original was deleted the copy stays, as an ordinary object, and None is returned.
    Raises SceneError for an object that is no live copy.
    """
    if LIVE_MARK not in live:
        raise SceneError(f"'{live.name}' is not a live copy; nothing is restored.")
    original, mark = original_of(live), live[LIVE_MARK].to_dict()
    if original is None:
        del live[LIVE_MARK]
        return None
    discard(live)
    for name in _VISIBILITY:
        setattr(original, name, bool(mark[name]))
    return original


def show_as_before(ob: bpy.types.Object, live: bpy.types.Object) -> None:
    """Give an object the visibility that the original of a live copy had before, which stays as it is."""
    mark = live[LIVE_MARK].to_dict()
    for name in _VISIBILITY:
        setattr(ob, name, bool(mark[name]))


@contextmanager
def shown(context: bpy.types.Context, ob: bpy.types.Object) -> Iterator[None]:
    """A block in which an original that is hidden behind its live copy is evaluated, as reading it takes."""
    if live_of(ob) is None or not ob.hide_viewport:
        yield
        return
    try:
        ob.hide_viewport = False
        context.view_layer.update()
        yield
    finally:
        ob.hide_viewport = True


def write(
    live: bpy.types.Object, depsgraph: bpy.types.Depsgraph, vertices: np.ndarray, world: np.ndarray
) -> bool:
    """Give a live copy vertices (V, 3), own space, and a world matrix (4, 4); for handlers too.

    depsgraph: where the copy's parent stands, if it has one.  Shear, which an object's channels cannot express, goes
    into the vertices.  Nothing is touched where all is as it was; returns whether something changed.
    Raises StaleBindingError for another number of vertices, SceneError in Edit Mode, OutputError for what is not a
    number or flat.
    """
    mesh = live.data
    if mesh.is_editmode:
        raise SceneError(f"'{live.name}' is being edited; leave Edit Mode.")
    if vertices.shape != (len(mesh.vertices), 3):
        raise StaleBindingError(
            f"'{live.name}' has {len(mesh.vertices)} vertices where {len(vertices)} were learnt; "
            "switch live off and on, or learn the target again."
        )
    local = np.asarray(world, float)
    if live.parent is not None:
        parent = np.array(live.parent.evaluated_get(depsgraph).matrix_world, float)
        local = np.linalg.solve(parent @ np.array(live.matrix_parent_inverse, float), local)
    location, rotation, scale, rest = place_now(live.name, local)
    vertices = np.ascontiguousarray(vertices if rest is None else transformed(vertices, rest), np.float32)
    if not np.isfinite(vertices).all():
        raise OutputError(f"The result for '{live.name}' has vertices that are not numbers; nothing is written.")
    moved = [
        _set(live, "location", location), _set(live, "rotation_quaternion", rotation), _set(live, "scale", scale)
    ]  # fmt: skip
    return write_positions(mesh, vertices) or any(moved)


def _set(live: bpy.types.Object, channel: str, values) -> bool:
    if tuple(getattr(live, channel)) == tuple(values):
        return False
    setattr(live, channel, values)
    return True


def write_positions(mesh: bpy.types.Mesh, vertices: np.ndarray) -> bool:
    """Give a mesh vertices (V, 3) float32, contiguous; returns whether they differ from those it had."""
    data = mesh.attributes["position"].data
    there = np.empty(vertices.size, np.float32)
    data.foreach_get("vector", there)
    if np.array_equal(there, vertices.reshape(-1)):
        return False
    data.foreach_set("vector", vertices.reshape(-1))
    mesh.update()  # tags it, and lets normals be computed again
    return True
