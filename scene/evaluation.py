"""Which objects Blender evaluates; of the others it hands out whatever state they were in last."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import bpy
import numpy as np

from ..solvers.core.errors import SceneError


def is_updated(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether Blender evaluates the object in a depsgraph: it is not hidden, excluded or in another view layer.

    `is_evaluated` alone is not enough: it stays set while an animated hiding switches evaluation off, and for an object
    of an excluded collection that the settings of another refer to.
    """
    evaluated = ob.evaluated_get(depsgraph)
    hidden = evaluated.hide_render if depsgraph.mode == "RENDER" else evaluated.hide_viewport
    return not hidden and evaluated.is_evaluated and _is_enabled(ob, depsgraph)


def evaluated_object(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, when: str = "", instead: str = ""
) -> bpy.types.Object:
    """The object as a depsgraph evaluated it.

    when: " at frame 3" or nothing.  instead: another way out, such as " or remove it".
    Raises SceneError where Blender skips it and so leaves an old state in it.
    """
    if is_updated(ob, depsgraph):
        return ob.evaluated_get(depsgraph)
    if depsgraph.mode == "RENDER":
        way_out = "enable it in renders (it may be invisible to the camera)"
    else:
        way_out = "enable it, and its collections, in viewports"
    raise SceneError(
        f"'{ob.name_full}' is hidden, excluded or not in this view layer{when}, so that Blender does not update it; "
        f"{way_out}{instead}."
    )


_copies = itertools.count(1)
_MARK = ".motion_loom_copy"


def copy_number(block: bpy.types.ID, depsgraph: bpy.types.Depsgraph) -> int:
    """A number that stays while nobody edits a datablock, whatever plays; never the same for one that is not evaluated.

    What Blender evaluates is a copy of the datablock, which it makes anew after each edit; animation and constraints
    are played on the same copy.  A mark on the copy goes with it.
    """
    evaluated = block.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        return next(_copies)  # the user's own, which is not to be marked
    if _MARK not in evaluated:
        evaluated[_MARK] = next(_copies)
    return evaluated[_MARK]


def world_now(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """World matrix (4, 4) of an object at the present frame; of one that Blender does not update as its channels and
    its parents tell."""
    if is_updated(ob, depsgraph):
        return np.array(ob.evaluated_get(depsgraph).matrix_world)
    own = np.array(ob.matrix_basis)
    if ob.parent is None:
        return own
    return world_now(ob.parent, depsgraph) @ np.array(ob.matrix_parent_inverse) @ own


def _is_enabled(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the view layer's collections let an object be evaluated, be it hidden from view or not."""
    layer = depsgraph.view_layer
    return (
        depsgraph.mode == "RENDER"
        or ob.visible_get(view_layer=layer)
        or any(not part.exclude and part.collection in ob.users_collection for part in _enabled(layer.layer_collection))
    )


def _enabled(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.LayerCollection]:
    waiting = [layer]
    while waiting:
        layer = waiting.pop()
        if not layer.collection.hide_viewport:
            yield layer
            waiting += layer.children
