"""World positions of objects over a frame range."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..solvers.errors import SceneError
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
    scene = context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        for number, at in enumerate(frames):
            whole = int(np.floor(at))
            scene.frame_set(whole, subframe=float(at - whole))
            depsgraph = context.evaluated_depsgraph_get()
            for k in moving:
                out[k, number] = objects[k].evaluated_get(depsgraph).matrix_world.translation
    finally:
        scene.frame_set(frame, subframe=subframe)
    return out
