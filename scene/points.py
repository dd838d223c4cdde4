"""World positions of objects over a frame range."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..solvers.errors import SceneError
from .frames import frame_kept, step_through
from .object_motion import worlds_by_curves
from .stillness import can_move


def object_positions(
    context: bpy.types.Context, objects: Sequence[bpy.types.Object], frames: np.ndarray
) -> np.ndarray:
    """World origins (N, F, 3) of objects at scene frames (F,); the scene goes back to its frame afterwards.

    Raises SceneError for an object that Blender does not update.
    """
    out = np.empty((len(objects), len(frames), 3))
    depsgraph = context.evaluated_depsgraph_get()
    for k, ob in enumerate(objects):
        evaluated = ob.evaluated_get(depsgraph)
        if evaluated.hide_viewport or not evaluated.is_evaluated:
            raise SceneError(
                f"'{ob.name}' is hidden, excluded or not in this view layer, so that Blender does not update it; "
                "enable it, and its collections, in viewports."
            )
        out[k] = evaluated.matrix_world.translation
    moving = [k for k, ob in enumerate(objects) if can_move(ob)]
    if not moving:
        return out
    with frame_kept(context.scene):
        for number, depsgraph in enumerate(step_through(context, frames)):
            for k in moving:
                out[k, number] = objects[k].evaluated_get(depsgraph).matrix_world.translation
    return out


def moved_by_curves(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> bool:
    """Whether `places_by_curves` can tell all of them."""
    frame = np.array([float(scene.frame_current)])
    return all(not can_move(ob) or worlds_by_curves(scene, ob, frame) is not None for ob in objects)


def places_by_curves(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, objects: Sequence[bpy.types.Object], frames: np.ndarray
) -> np.ndarray | None:
    """As `object_positions`, without stepping; None where that is needed."""
    out = np.empty((len(objects), len(frames), 3))
    for k, ob in enumerate(objects):
        if not can_move(ob):
            out[k] = still_place(ob, depsgraph)
            continue
        worlds = worlds_by_curves(scene, ob, frames)
        if worlds is None:
            return None
        out[k] = worlds[:, :3, 3]
    return out


def still_place(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray | None:
    """World origin (3,) of an object, None where it moves by itself."""
    return None if can_move(ob) else np.array(ob.evaluated_get(depsgraph).matrix_world.translation)
