"""Points that move in the scene: joints of an armature, origins of objects, vertices of a mesh."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, replace

import bpy
import numpy as np

from ..solvers.core.errors import InputError, SceneError, StaleBindingError
from . import actions
from .evaluation import evaluated_object, is_updated
from .frames import frame_kept, step_through
from .motion import motion_by_curves
from .names import distinct_names, named
from .points import places_by_curves
from .present import joints_now, shape_now
from .rigs import joint_names, joint_positions, read_rig
from .session import all_objects
from .shape_keys import group_weights

JOINTS, OBJECTS, VERTICES = "JOINTS", "OBJECTS", "VERTICES"


@dataclass(frozen=True)
class PointSource:
    """What gives J points, without references into the file.

    kind: JOINTS, OBJECTS or VERTICES.  names: J, as they were when the source was chosen.
    owners, uids: full name and ``session_uid`` of the armature or mesh object, or of each of the J objects.
    bones, parents: all bones of the armature and the index of each one's parent, -1 for none.
    vertices: J indices.  vertex_count: of the whole mesh.
    """

    kind: str
    names: tuple[str, ...]
    owners: tuple[str, ...]
    uids: tuple[int, ...]
    bones: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    vertices: tuple[int, ...] = ()
    vertex_count: int = 0

    def record(self) -> dict:
        """What JSON can keep; see `from_record`."""
        return {key: value for key, value in asdict(self).items() if key != "uids"}


def from_record(record: dict, objects: Sequence[bpy.types.Object | None] | None = None) -> PointSource:
    """The source that a record describes, in another session or file.

    objects: its owners in their order, where pointers to them were kept: they may have been renamed.  By default they
    are looked for by name.
    Raises StaleBindingError naming an owner that there is not.
    """
    objects = [named(all_objects(), name) for name in record["owners"]] if objects is None else list(objects)
    for name, ob in zip(record["owners"], objects, strict=True):
        if ob is None:
            raise _missing(name)
    parts = {key: tuple(value) if isinstance(value, (list, tuple)) else value for key, value in record.items()}
    return PointSource(**parts | {"owners": _full_names(objects), "uids": _uids(objects)})


def found_again(source: PointSource, among: Sequence[bpy.types.Object]) -> PointSource:
    """The same source where objects that were deleted have come back as others under their names, as streams do.

    among: where those are looked for.  Raises StaleBindingError naming one that is missing still.
    """
    by_uid, by_name = {ob.session_uid: ob for ob in all_objects()}, {ob.name_full: ob for ob in among}
    objects = [by_uid.get(uid) or by_name.get(name) for name, uid in zip(source.owners, source.uids, strict=True)]
    for name, ob in zip(source.owners, objects, strict=True):
        if ob is None:
            raise _missing(name)
    return replace(source, owners=_full_names(objects), uids=_uids(objects))


def joints_source(ob: bpy.types.Object) -> PointSource:
    """Heads of all bones of an armature object, then tails of leaf bones; raises SceneError where it is none."""
    rig = read_rig(ob)
    bones = tuple(ob.pose.bones.keys())
    return PointSource(JOINTS, joint_names(rig), _full_names([ob]), _uids([ob]), bones, _parents(ob))


def objects_source(objects: bpy.types.Collection | Sequence[bpy.types.Object]) -> PointSource:
    """Origins of objects, or of all objects in a collection and those below it; InputError where there are none."""
    if isinstance(objects, bpy.types.Collection):
        found = list(objects.all_objects)
        if not found:
            raise InputError(f"Collection '{objects.name}' has no objects; choose one with a point for each object.")
    else:
        found = list(objects)
    if not found:
        raise InputError("No objects are chosen as points; choose some.")
    return PointSource(OBJECTS, distinct_names(found), _full_names(found), _uids(found))


def vertices_source(ob: bpy.types.Object, group: str = "") -> PointSource:
    """Vertices of a mesh object, all or those with a weight in a vertex group.

    Raises SceneError for an object of another kind, InputError where there is no such group or nothing in it.
    """
    if ob.type != "MESH":
        raise SceneError(f"'{ob.name}' is of type {ob.type}; choose a mesh.")
    count = len(ob.data.vertices)
    if group and group not in ob.vertex_groups:
        raise InputError(f"'{ob.name}' has no vertex group '{group}'; choose one that it has.")
    chosen = np.flatnonzero(group_weights(ob, group)) if group else np.arange(count)
    if not chosen.size:
        where = f"Vertex group '{group}' of '{ob.name}'" if group else f"'{ob.name}'"
        raise InputError(f"{where} has no vertices; choose another.")
    names = tuple(f"vertex {number}" for number in chosen)
    return PointSource(
        VERTICES, names, _full_names([ob]), _uids([ob]), vertices=tuple(chosen.tolist()), vertex_count=count
    )


def point_track_steps(
    context: bpy.types.Context, source: PointSource, frames: Sequence[float]
) -> Generator[float, None, tuple[tuple[str, ...], np.ndarray]]:
    """Names (J,) and world positions (F, J, 3), metres, Z up, at scene frames (F,); yields the share done.

    An object that is hidden at a frame, or has no place that is a number, is NaN there.  Curves are read where they
    tell the whole motion, else the scene steps through the frames and goes back to where it was.
    Raises InputError for no frames, and as `points_now`.
    """
    frames = np.asarray(frames, float).reshape(-1)
    if not frames.size or not np.isfinite(frames).all():
        raise InputError("The frame range of the source is empty or not a number; choose frames.")
    positions = _by_curves(context, source, frames)
    if positions is not None:
        yield 1.0
        return source.names, positions
    positions = np.empty((len(frames), len(source.names), 3))
    with frame_kept(context.scene):
        for index, depsgraph in enumerate(step_through(context, frames)):
            positions[index] = points_now(source, depsgraph)
            yield (index + 1) / len(frames)
    return source.names, positions


def points_now(source: PointSource, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """(J, 3) world positions, metres, Z up, as a depsgraph evaluated them; for handlers, which may look nowhere else.

    Raises StaleBindingError naming an object, bone or vertices that are no more, SceneError where Blender does not
    update the armature or mesh. Of a source of objects those that are hidden are NaN.
    """
    if source.kind == OBJECTS:
        return _finite(np.array([_origin(ob, depsgraph) for ob in owners_of(source)]))
    ob = owners_of(source)[0]
    if not _is_shown(ob, depsgraph):
        evaluated_object(ob, depsgraph)
    if source.kind == JOINTS:
        return _finite(joints_now(depsgraph, ob, _joints_as_named(source, ob)))
    return _finite(_vertices_now(source, ob, depsgraph))


def owners_of(source: PointSource) -> list[bpy.types.Object]:
    """The objects of a source, whatever they are called now; StaleBindingError for one that was deleted."""
    found = [bpy.data.objects.get(name) for name in source.owners]
    if any(ob is None or ob.session_uid != uid for ob, uid in zip(found, source.uids, strict=True)):
        by_uid = {ob.session_uid: ob for ob in all_objects()}
        found = [by_uid.get(uid) for uid in source.uids]
    for name, ob in zip(source.owners, found, strict=True):
        if ob is None:
            raise _missing(name)
    return found


def _origin(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph):
    return ob.evaluated_get(depsgraph).matrix_world.translation if _is_shown(ob, depsgraph) else (np.nan,) * 3


def _is_shown(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether Blender updates an object; StaleBindingError where it is in no scene.

    What a setting still points to outlives its deletion from the scene.
    """
    shown = is_updated(ob, depsgraph)
    if not shown and not ob.users_scene:
        raise _missing(ob.name)
    return shown


def _finite(positions: np.ndarray) -> np.ndarray:
    """NaN where one of a point's coordinates is not a number."""
    positions[~np.isfinite(positions).all(axis=-1)] = np.nan
    return positions


def _joints_as_named(source: PointSource, ob: bpy.types.Object) -> tuple[str, ...]:
    """The joints' names as the armature has them now: renamed bones are known by their order."""
    now = tuple(ob.pose.bones.keys())
    if now == source.bones or not set(source.bones) - set(now):
        return source.names
    if len(now) != len(source.bones) or _parents(ob) != source.parents:
        lost = next(bone for bone in source.bones if bone not in set(now))
        raise StaleBindingError(
            f"'{ob.name}' has no bone '{lost}' any more; undo its removal or choose the source again."
        )
    renamed = dict(zip(source.bones, now, strict=True))
    tails = {f"{old}/tail": f"{new}/tail" for old, new in renamed.items()}
    return tuple(renamed.get(name) or tails[name] for name in source.names)


def _parents(ob: bpy.types.Object) -> tuple[int, ...]:
    index = {name: number for number, name in enumerate(ob.pose.bones.keys())}
    return tuple(index[bone.parent.name] if bone.parent else -1 for bone in ob.pose.bones)


def _vertices_now(source: PointSource, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    shape = shape_now(depsgraph, ob)
    if len(ob.data.vertices) != source.vertex_count:
        raise StaleBindingError(
            f"'{ob.name}' had {source.vertex_count} vertices when it was chosen as the source and has "
            f"{len(ob.data.vertices)} now; choose the source again."
        )
    if shape is None or len(shape.positions) != source.vertex_count:
        raise InputError(
            f"The modifiers of '{ob.name}' add or remove vertices; switch those off in viewports, or choose empties "
            "that follow the vertices."
        )
    # A choice of all of them need not be looked up, which takes longer than all the rest.
    chosen = shape.positions if len(source.vertices) == source.vertex_count else shape.positions[list(source.vertices)]
    return chosen @ shape.world[:3, :3].T + shape.world[:3, 3]


def _by_curves(context, source: PointSource, frames: np.ndarray) -> np.ndarray | None:
    """(F, J, 3) as far as curves tell it, else None."""
    objects = owners_of(source)
    depsgraph = context.evaluated_depsgraph_get()
    if source.kind == OBJECTS:
        shown = [_is_shown(ob, depsgraph) for ob in objects]
        places = places_by_curves(context.scene, depsgraph, objects, frames)
        if places is None:
            return None
        positions = _finite(np.moveaxis(places, 0, 1).copy())
        positions[:, np.logical_not(shown)] = np.nan
        return positions
    if source.kind == JOINTS and actions.plays_action(objects[0]) and not objects[0].animation_data.use_tweak_mode:
        return _joints_by_curves(context, source, objects[0], frames)
    return None


def _joints_by_curves(context, source: PointSource, ob: bpy.types.Object, frames: np.ndarray) -> np.ndarray | None:
    wanted = _joints_as_named(source, ob)
    motion = motion_by_curves(context.scene, ob, *actions.assigned(ob), frames, {})
    if motion is None:
        return None
    there = joint_names(motion.rig)
    return joint_positions(motion.rig, motion.pose, motion.object_world)[:, [there.index(name) for name in wanted]]


def _full_names(objects: Sequence[bpy.types.Object]) -> tuple[str, ...]:
    return tuple(ob.name_full for ob in objects)


def _uids(objects: Sequence[bpy.types.Object]) -> tuple[int, ...]:
    return tuple(ob.session_uid for ob in objects)


def _missing(name: str) -> StaleBindingError:
    return StaleBindingError(
        f"'{name}' of the source was deleted or is not in the scene; undo that or choose the source again."
    )
