"""World positions of objects over a frame range."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from .evaluation import evaluated_object, is_updated
from .frames import frame_kept, step_through
from .object_motion import worlds_by_curves
from .stillness import can_move


def object_positions(
    context: bpy.types.Context,
    objects: Sequence[bpy.types.Object],
    frames: np.ndarray,
    needed: np.ndarray | None = None,
) -> np.ndarray:
    """World origins (N, F, 3) of objects at scene frames (F,); the scene goes back to its frame afterwards.

    needed: (N, F) bool, where a position counts, by default everywhere; elsewhere it may be an old one.
    Raises SceneError for an object that Blender does not update where its position is needed.
    """
    out = np.empty((len(objects), len(frames), 3))
    needed = np.ones(out.shape[:2], bool) if needed is None else needed
    depsgraph = context.evaluated_depsgraph_get()
    moving = [k for k, ob in enumerate(objects) if can_move(ob)]
    for k in sorted(set(range(len(objects))) - set(moving)):
        out[k] = _origin(objects[k], depsgraph, needed[k].any(), "")
    if not moving:
        return out
    with frame_kept(context.scene):
        for number, depsgraph in enumerate(step_through(context, frames)):
            for k in moving:
                out[k, number] = _origin(objects[k], depsgraph, needed[k, number], f" at frame {frames[number]:g}")
    return out


def _origin(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, is_needed: bool, when: str):
    evaluated = evaluated_object(ob, depsgraph, when) if is_needed else ob.evaluated_get(depsgraph)
    return evaluated.matrix_world.translation


def moved_by_curves(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> bool:
    """Whether `places_by_curves` can tell all of them."""
    frame = np.array([float(scene.frame_current)])
    return all(not can_move(ob) or worlds_by_curves(scene, ob, frame) is not None for ob in objects)


def places_by_curves(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, objects: Sequence[bpy.types.Object], frames: np.ndarray
) -> np.ndarray | None:
    """As `object_positions`, without stepping; None where that is needed.

    What Blender does not update is not refused: that is for the caller to look at.
    """
    out = np.empty((len(objects), len(frames), 3))
    for k, ob in enumerate(objects):
        if not can_move(ob):
            out[k] = ob.evaluated_get(depsgraph).matrix_world.translation
            continue
        worlds = worlds_by_curves(scene, ob, frames)
        if worlds is None:
            return None
        out[k] = worlds[:, :3, 3]
    return out


def still_place(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray | None:
    """World origin (3,) of an object, None where it moves by itself or Blender does not update it."""
    if can_move(ob) or not is_updated(ob, depsgraph):
        return None
    return np.array(ob.evaluated_get(depsgraph).matrix_world.translation)
