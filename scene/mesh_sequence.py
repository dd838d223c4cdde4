"""The motion of a mesh over a range of frames, as its vertices in its own space.

Modifiers after the last one that deforms the mesh over time are left out: see `modifier_split`.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.core.errors import InputError, SceneError
from . import shape_keys
from .evaluation import evaluated_object
from .frames import frame_kept, frame_now, step_through
from .instances import ShownInstances
from .modifier_split import kept_switched_off
from .object_motion import worlds_by_curves
from .session import exists
from .stillness import can_move
from .topology import explain_faces, read_faces, read_positions, read_triangles
from .whole_file import may

_BENDING = {"ARMATURE", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE", "NODES", "SURFACE_DEFORM"}
_STILL = 1e-6  # movement over the mesh's extent that still counts as none (single precision)


@dataclass(frozen=True)
class MeshSequence:
    """One mesh object over F frames.

    vertices: (F, V, 3) float32, in the object's own space.  worlds: (F, 4, 4) to world space, metres, Z up.
    triangles: (T, 3) int32, wound as the faces are.  frames: (F,) scene frames, or 1 to F of poses.
    poses: the F names of shape keys that were read as poses, else none.
    sampled_because: why frames had to be stepped through, or None.
    """

    name: str
    vertices: np.ndarray
    worlds: np.ndarray
    triangles: np.ndarray
    frames: np.ndarray
    poses: tuple[str, ...] = ()
    sampled_because: str | None = None


def mesh_sequence_steps(
    context: bpy.types.Context, ob: bpy.types.Object, frames: Sequence[float], instead: str = "", may_rest: bool = False
) -> Generator[float, None, MeshSequence]:
    """The motion of a mesh object at scene frames (F,), subframes allowed; yields the share done.

    instead: another way out for a shape that never changes, as ", or ...".  may_rest: such a shape will do, and so will
    a single frame, but for a cache file that is not there.

    Keyed shape keys are worked out from their curves; anything else is read by stepping through the frames, and the
    scene goes back to its frame, also after an error or where the generator is closed half way.

    Raises SceneError for an object that is no mesh, is being edited or is not updated; InputError for fewer than two
    frames, no faces, coordinates that are not numbers, faces that change on the way and a shape that never changes.
    """
    frames = np.asarray(frames, float).reshape(-1)
    _require_frames(ob, frames, 1 if may_rest else 2)
    require_mesh(ob)
    reason = shape_keys.reason_to_step(ob)
    worlds = _worlds(context, ob, frames) if reason is None else None
    if reason is None and worlds is None:
        reason = "its object moves in a way that only stepping tells"
    if reason is None:
        found = yield from _by_curves(context, ob, frames, worlds)
    else:
        found = yield from _by_stepping(context, ob, frames, reason)
    _require_motion(ob, found, instead, may_rest)
    return found


def key_poses(context: bpy.types.Context, ob: bpy.types.Object) -> MeshSequence:
    """All shape keys as poses, the first included, each a frame of its own, 1 to F.

    A pose is the shape that the key makes alone at a value of one; modifiers, values and muting do not count.
    Raises as `mesh_sequence_steps`, and SceneError for a mesh without shape keys.
    """
    require_mesh(ob)
    keys = ob.data.shape_keys
    if keys is None:
        raise SceneError(f"'{ob.name}' has no shape keys; add some, or read its motion over a range of frames.")
    names = tuple(keys.key_blocks.keys())
    frames = np.arange(1.0, len(names) + 1.0)
    _require_frames(ob, frames)
    vertices = shape_keys.pose_shapes(ob, names)
    bad = ~np.isfinite(vertices).all(axis=(1, 2))
    if bad.any():
        raise InputError(
            f"Shape key '{names[bad.argmax()]}' of '{ob.name}' has vertices that are not numbers; repair or delete it."
        )
    worlds = np.repeat(_world_now(context, ob), len(names), axis=0)
    found = MeshSequence(ob.name, vertices, worlds, _triangles(ob), frames, names)
    _require_motion(ob, found)
    return found


def _by_curves(context, ob, frames, worlds) -> Generator[float, None, MeshSequence]:
    vertices = np.empty((len(frames), len(ob.data.vertices), 3), np.float32)
    for done in shape_keys.shapes_by_curves(context.scene, ob, frames, vertices):
        yield done / len(frames)
    bad = ~np.isfinite(vertices).all(axis=(1, 2))
    if bad.any():
        raise _not_numbers(ob.name, frames[bad.argmax()])
    return MeshSequence(ob.name, vertices, worlds, _triangles(ob), frames)


def _by_stepping(context, ob, frames, reason: str) -> Generator[float, None, MeshSequence]:
    name = ob.name
    worlds, vertices, faces, triangles = np.empty((len(frames), 4, 4)), None, None, None
    with frame_kept(context.scene), kept_switched_off(context.scene, ob):
        for index, depsgraph in enumerate(step_through(context, frames)):
            when = f" at frame {frames[index]:g}"
            if not exists(ob):
                raise SceneError(f"'{name}' was deleted while its motion was read; undo that and start again.")
            with evaluated_mesh(ob, depsgraph, when) as (evaluated, mesh):
                worlds[index] = evaluated.matrix_world
                now = read_faces(mesh)
                if vertices is None:
                    vertices = np.empty((len(frames), now.vertex_count, 3), np.float32)
                    faces, triangles = now, read_triangles(mesh)
                elif not now.same_as(faces):
                    raise InputError(explain_faces(name, when, faces, now))
                vertices[index] = read_positions(mesh)
            if not np.isfinite(vertices[index]).all():
                raise _not_numbers(name, frames[index])
            yield (index + 1) / len(frames)
    return MeshSequence(name, vertices, worlds, triangles, frames, (), reason)


@contextmanager
def evaluated_mesh(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, when: str = ""
) -> Iterator[tuple[bpy.types.Object, bpy.types.Mesh]]:
    """An object as it is evaluated, and its final mesh, for as long as the context lasts.

    Raises SceneError where Blender does not update it, InputError where it has no faces; when: ends the message.
    """
    evaluated = evaluated_object(ob, depsgraph, when)
    try:
        mesh = evaluated.to_mesh()
        if ShownInstances(depsgraph, [ob]).has_faces(ob):
            raise InputError(
                f"'{ob.name}' shows instances{when}, which are no part of its mesh; realize them (Realize Instances) "
                "or switch off in viewports what makes them."
            )
        if mesh is None or not len(mesh.polygons):
            raise InputError(f"'{ob.name}' has no faces{when}; choose a mesh that has a surface.")
        yield evaluated, mesh
    finally:
        evaluated.to_mesh_clear()


def require_mesh(ob: bpy.types.Object) -> None:
    """Raises SceneError unless the object is a mesh outside Edit Mode that shows all its shape keys."""
    if ob.type != "MESH":
        raise SceneError(f"'{ob.name}' is of type {ob.type}; choose a mesh.")
    if ob.data.is_editmode:
        raise SceneError(f"'{ob.name}' is being edited; leave Edit Mode.")
    if ob.show_only_shape_key and ob.data.shape_keys is not None:
        raise SceneError(
            f"'{ob.name}' shows its active shape key alone, so that it does not move; "
            "switch off Solo Active Shape Key (the pin below the list of shape keys)."
        )


def _require_frames(ob: bpy.types.Object, frames: np.ndarray, fewest: int = 2) -> None:
    if len(frames) < fewest or not np.isfinite(frames).all():
        count = "a frame" if fewest == 1 else "two frames"
        raise InputError(f"The motion of '{ob.name}' needs {count} or more; choose a longer range.")


def _require_motion(ob: bpy.types.Object, found: MeshSequence, instead: str = "", may_rest: bool = False) -> None:
    """Raises InputError for a shape that is the same at every frame; where it may rest, only if it should not."""
    first = found.vertices[0]
    extent = float(np.ptp(first, axis=0).max())
    if max(float(np.abs(shape - first).max()) for shape in found.vertices) > _STILL * extent:
        return
    if found.poses:
        raise InputError(f"The shape keys of '{ob.name}' all make the same shape; choose others.")
    missing = _missing_cache(ob)
    if missing:
        raise InputError(f"The shape of '{ob.name}' does not change: its cache file {missing}.")
    if may_rest:
        return
    held = _held_at_rest(ob)
    if held:
        raise InputError(f"The shape of '{ob.name}' does not change: {held}.")
    place = "Only its object moves" if np.ptp(found.worlds, axis=0).max() > _STILL else "It stands still"
    raise InputError(
        f"The shape of '{ob.name}' does not change from frame {found.frames[0]:g} to {found.frames[-1]:g}. {place}; "
        f"choose frames in which it bends{instead}."
    )


def _held_at_rest(ob: bpy.types.Object) -> str | None:
    """What keeps a mesh from bending as it would, and the way out; None where nothing does."""
    off = next((each for each in ob.modifiers if each.type in _BENDING and not each.show_viewport), None)
    if off is not None:
        return f"its modifier '{off.name}' is switched off in viewports; switch it on"
    armature = ob.find_armature()
    if armature is not None and armature.data.pose_position == "REST":
        return f"its armature '{armature.name}' shows its rest position; switch it to Pose Position"
    return None


def _missing_cache(ob: bpy.types.Object) -> str | None:
    """The first file that a modifier which is on should play and cannot, and the way out; None where there is none."""
    for modifier in ob.modifiers:
        owner = modifier if modifier.type == "MESH_CACHE" else getattr(modifier, "cache_file", None)
        if owner is None or not modifier.show_viewport:
            continue
        path = bpy.path.abspath(owner.filepath, library=owner.id_data.library)
        if not os.path.isfile(path):
            return f"'{path}' is not there; find it"
        if not may(os.R_OK, path):
            return f"'{path}' may not be read; change its permissions"
    return None


def _not_numbers(name: str, frame: float) -> InputError:
    return InputError(f"'{name}' has vertices that are not numbers at frame {frame:g}; repair or delete them.")


def _worlds(context, ob, frames) -> np.ndarray | None:
    """World matrices (F, 4, 4), None where only stepping tells them.

    Curves first: they tell where an object is that is hidden and so not up to date.
    """
    worlds = worlds_by_curves(context.scene, ob, frames)
    if worlds is None and not can_move(ob):
        return np.repeat(_evaluated_world(context, ob), len(frames), axis=0)
    return worlds


def _world_now(context, ob) -> np.ndarray:
    """(1, 4, 4) at the present frame."""
    worlds = worlds_by_curves(context.scene, ob, np.array([frame_now(context.scene)]))
    return _evaluated_world(context, ob) if worlds is None else worlds


def _evaluated_world(context, ob) -> np.ndarray:
    return np.array(evaluated_object(ob, context.evaluated_depsgraph_get()).matrix_world, float)[None]


def _triangles(ob: bpy.types.Object) -> np.ndarray:
    if not len(ob.data.polygons):
        raise InputError(f"'{ob.name}' has no faces; choose a mesh that has a surface.")
    return read_triangles(ob.data)
