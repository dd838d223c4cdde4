"""The environment over a range as far as it is known without stepping through frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ..solvers.core.types import MeshTrack
from .instances import ShownInstances
from .meshes import mesh_track, read_surface, unrepeated
from .object_motion import sizes_by_curves, worlds_by_curves
from .state_track import StateTrack
from .stillness import can_deform, can_move


def needs_sweep(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> list[str]:
    """Full names of objects that deform over time, or move in a way that only stepping through the frames tells."""
    frame = np.array([float(scene.frame_current)])
    return [
        ob.name_full
        for ob in objects
        if can_deform(ob) or (can_move(ob) and worlds_by_curves(scene, ob, frame) is None)
    ]


def present_tracks(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    objects: Sequence[bpy.types.Object],
    frames: np.ndarray,
    bound: Mapping[str, np.ndarray],
) -> list[tuple[MeshTrack, StateTrack]] | None:
    """The environment over scene frames (F,) as `meshes.sweep_states` would read it, without stepping.

    None where an object needs that.  bound: as there.
    """
    if needs_sweep(scene, objects):
        return None
    found, shown = [], ShownInstances(depsgraph, objects)
    for ob in objects:
        state, triangles = read_surface(ob, depsgraph, bound.get(ob.name_full), shown)
        moves = can_move(ob)
        worlds = unrepeated(worlds_by_curves(scene, ob, frames)) if moves else state.matrix[None]
        sizes = sizes_by_curves(scene, ob, frames) if moves else None
        found.append((mesh_track(state, triangles, worlds), StateTrack.of(worlds, (state.digest,), sizes)))
    return found
