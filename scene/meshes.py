"""Evaluated surfaces as triangles in world space; the only place that reads the environment's geometry.

Lengths are Blender units, taken as metres: the scene's unit scale is a display setting and is left out, as it
is in every matrix Blender hands out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import bpy
import numpy as np

from ..solvers.core.errors import InputError
from ..solvers.core.types import MeshTrack
from .evaluation import evaluated_object
from .frames import frame_kept, step_through
from .instances import MeshSurface, ShownInstances
from .object_motion import sizes_by_curves, worlds_by_curves
from .state_track import ObjectState, Shape, StateTrack
from .stillness import can_deform, can_move
from .surfaces import expand
from .topology import Faces, explain_faces, outward, splits

_FLAT = 1e-6  # smallest over largest scale under which an object counts as flattened (float32 matrices)
_NO_AREA = 1e-12  # doubled area over squared extent under which a triangle counts as a line
_FARTHEST = 1e9  # of a coordinate, beside which the rest of a mesh may seem flat; single precision is 64 m there
_LOOKED_AT_FIRST = 64  # triangles tried for area before all are
_FRAMES_AT_ONCE = 16


def sweep_environment(
    context: bpy.types.Context,
    objects: Iterable[bpy.types.Object | bpy.types.Collection],
    frames: Sequence[float],
    bound: Mapping[str, np.ndarray] | None = None,
) -> Generator[float, None, list[MeshTrack]]:
    """The evaluated environment over a range, one track an object; a generator, so that Esc can end it.

    frames: F scene frames, subframes allowed.
    bound:  triangles (T, 3) of earlier tracks by name. They are kept while the faces are the same, so that a
            quad which is split the other way after an edit does not look like another mesh.

    Yields the share done. Vertices are world space, in metres (one Blender unit each). A track has one state
    when the object does not change over the range, else F. An object that is certain to stand still is read
    at the present frame; for the others the scene steps through the frames, and goes back to the frame and
    subframe where it was, also after an error or when the generator is closed half way.

    Raises SceneError for an object that is deleted, hidden or without a surface; InputError for no or bad
    frames, an object without faces or area, scaled to zero, turned inside out on the way, with coordinates
    that are not numbers, or whose topology changes, naming object and frame.
    """
    found = yield from sweep_states(context, objects, frames, bound)
    return [mesh for mesh, _ in found]


def sweep_states(
    context: bpy.types.Context,
    objects: Iterable[bpy.types.Object | bpy.types.Collection],
    frames: Sequence[float],
    bound: Mapping[str, np.ndarray] | None = None,
) -> Generator[float, None, list[tuple[MeshTrack, StateTrack]]]:
    """As `sweep_environment`, each track with what tells later whether the object is still like that."""
    frames = np.asarray(frames, dtype=float).reshape(-1)
    if not frames.size or not np.isfinite(frames).all():
        raise InputError("The frame range of the environment is empty or not a number; choose frames.")
    readers = [_reader(context.scene, ob, frames) for ob in expand(objects)]
    depsgraph = context.evaluated_depsgraph_get()
    still = [reader for reader in readers if not reader.is_sampled]
    shown = ShownInstances(depsgraph, [reader.ob for reader in still])
    for reader in still:
        reader.read(0, depsgraph, shown, "")
    sampled = [reader for reader in readers if reader.is_sampled]
    if sampled:
        yield from _sweep(context, sampled, frames)
    return [(reader.track(frames, bound or {}), reader.states()) for reader in readers]


def _sweep(context: bpy.types.Context, readers: list[_Reader], frames: np.ndarray) -> Iterator[float]:
    with frame_kept(context.scene):
        for index, depsgraph in enumerate(step_through(context, frames)):
            shown = ShownInstances(depsgraph, [reader.ob for reader in readers])
            for reader in readers:
                reader.read(index, depsgraph, shown, f" at frame {frames[index]:g}")
            yield (index + 1) / len(frames)


def _reader(scene: bpy.types.Scene, ob: bpy.types.Object, frames: np.ndarray) -> _Reader:
    moves, deforms = can_move(ob), can_deform(ob)
    worlds = worlds_by_curves(scene, ob, frames) if moves and not deforms else None
    sizes = None if worlds is None else sizes_by_curves(scene, ob, frames)
    return _Reader(ob, moves, deforms, len(frames), worlds, sizes)


class _Reader:
    """Collects one object over the range: matrices every frame, geometry only where it may deform.

    worlds, sizes: (F, 4, 4) of an object whose curves tell them (see `object_motion`), so that it is read once.
    """

    def __init__(
        self,
        ob: bpy.types.Object,
        moves: bool,
        deforms: bool,
        frame_count: int,
        worlds: np.ndarray | None,
        sizes: np.ndarray | None,
    ):
        self.ob = ob
        self.name = ob.name_full
        self.worlds, self.sizes = worlds, sizes
        self.is_sampled = (moves or deforms) and worlds is None
        self.deforms = deforms
        self.matrices = np.empty((frame_count if self.is_sampled else 1, 4, 4))
        self.shape_count = frame_count if deforms else 1
        self.shapes: np.ndarray | None = None  # (shape_count or 1, V, 3) float32, local space
        self.faces: Faces | None = None
        self.triangles: np.ndarray | None = None

    def read(self, index: int, depsgraph: bpy.types.Depsgraph, shown: ShownInstances, when: str) -> None:
        """Store the state of one frame."""
        if index and not self.deforms:
            self.matrices[index] = _matrix(_evaluated(self.ob, depsgraph, when))
            return
        with _evaluated_surface(self.ob, depsgraph, shown, when) as (matrix, surface):
            self.matrices[index] = matrix
            faces, positions = surface.faces, surface.positions
            if self.faces is None:
                self.faces, self.triangles = faces, surface.triangles
            elif not faces.same_as(self.faces):
                raise InputError(explain_faces(self.name, when, self.faces, faces))
        _check_geometry(self.name, positions, self.triangles, when)
        self._keep(index, positions)

    def _keep(self, index: int, positions: np.ndarray) -> None:
        """One shape as long as it stays the same: much that could deform does not, and may be large."""
        if self.shapes is None:
            self.shapes = positions[None]
        elif len(self.shapes) > 1:
            self.shapes[index] = positions
        elif not np.array_equal(self.shapes[0], positions):
            first = self.shapes
            self.shapes = np.empty((self.shape_count, *positions.shape), np.float32)
            self.shapes[:index], self.shapes[index] = first, positions

    def track(self, frames: np.ndarray, bound: Mapping[str, np.ndarray]) -> MeshTrack:
        """World-space vertices, in one state if nothing changed."""
        frames = frames if self.is_sampled or self.worlds is not None else None
        if self.worlds is not None:
            self.matrices = self.worlds
        mirrored = _is_mirrored(self.name, self.matrices, frames)
        triangles = outward(self.faces, self.triangles, mirrored, bound.get(self.name))
        shapes, matrices = unrepeated(self.shapes), unrepeated(self.matrices)
        return MeshTrack(self.name, _to_world(shapes, matrices), triangles)

    def states(self) -> StateTrack:
        """What tells later whether the object is still like that."""
        shapes = tuple(Shape(shape, self.faces).digest for shape in unrepeated(self.shapes))
        return StateTrack.of(unrepeated(self.matrices), shapes, self.sizes)


def unrepeated(states: np.ndarray) -> np.ndarray:
    """The first of states (S, ...) alone, (1, ...), if all are the same to the bit."""
    return states[:1] if (states == states[0]).all() else states


def _to_world(shapes: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """shapes (S or 1, V, 3) local, matrices (S or 1, 4, 4) to world; returns (S, V, 3) float64."""
    count = max(len(shapes), len(matrices))
    shapes = np.broadcast_to(shapes, (count, *shapes.shape[1:]))
    matrices = np.broadcast_to(matrices, (count, 4, 4))
    turns = np.ascontiguousarray(matrices[:, :3, :3].transpose(0, 2, 1))
    world = np.empty(shapes.shape)
    for start in range(0, count, _FRAMES_AT_ONCE):  # bounds the float64 copy of the shapes
        part = slice(start, start + _FRAMES_AT_ONCE)
        np.matmul(shapes[part].astype(float), turns[part], out=world[part])
        world[part] += matrices[part, None, :3, 3]
    return world


def read_object(
    ob: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    known: ObjectState | None = None,
    shown: ShownInstances | None = None,
) -> ObjectState:
    """One object as this depsgraph evaluated it; raises as `read_surface`, but for what only that looks at.

    known: an earlier state, whose shape is kept with its digest while it is the same.
    shown: the instances of all objects that are read, so that they are looked for once.
    """
    with _evaluated_surface(ob, depsgraph, shown, "") as (matrix, surface):
        state = _state(ob, matrix, surface)
    _is_mirrored(state.name, state.matrix[None], None)
    _require_numbers(state.name, state.positions, "")
    return replace(state, shape=state.shape.kept(known and known.shape))


def require_evaluated(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Raises SceneError where Blender does not update the object: it is hidden, excluded or in another view layer."""
    _evaluated(ob, depsgraph, "")


def _state(ob: bpy.types.Object, matrix: np.ndarray, surface: MeshSurface) -> ObjectState:
    return ObjectState(ob.name_full, matrix, Shape(surface.positions, surface.faces))


def read_surface(
    ob: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    bound: np.ndarray | None,
    shown: ShownInstances | None = None,
) -> tuple[ObjectState, np.ndarray]:
    """One object and its triangles (T, 3), the bound ones while they fit; raises as `sweep_environment`.

    shown: as for `read_object`.
    """
    with _evaluated_surface(ob, depsgraph, shown, "") as (matrix, surface):
        state = _state(ob, matrix, surface)
        mirrored = _is_mirrored(state.name, state.matrix[None], None)
        if bound is not None and splits(state.faces, bound, mirrored):
            triangles = bound
        else:
            triangles = outward(state.faces, surface.triangles, mirrored, None)
    _check_geometry(state.name, state.positions, triangles, "")
    return state, triangles


def mesh_track(state: ObjectState, triangles: np.ndarray, worlds: np.ndarray) -> MeshTrack:
    """The object's surface at world matrices (F or 1, 4, 4); raises InputError where it turns inside out or is flat."""
    _is_mirrored(state.name, worlds, None)
    return MeshTrack(state.name, _to_world(state.positions[None], worlds), triangles)


def _evaluated(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, when: str) -> bpy.types.Object:
    return evaluated_object(ob, depsgraph, when, " or take it out of the environment")


@contextmanager
def _evaluated_surface(
    ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, shown: ShownInstances | None, when: str
):
    """The world matrix (4, 4) of the evaluated object and the surface that it shows, instances included.

    Its final mesh shares its arrays with what is evaluated and so costs microseconds.

    `to_mesh` and not `.data`: the latter is empty in Edit Mode and may be coarse where the GPU subdivides.
    """
    evaluated = _evaluated(ob, depsgraph, when)
    try:
        mesh, matrix = evaluated.to_mesh(), _matrix(evaluated)
        own = MeshSurface(mesh) if mesh is not None and len(mesh.polygons) else None
        surface = (shown or ShownInstances(depsgraph, [ob])).with_own(ob, own, matrix, when)
        if surface is None:
            raise InputError(
                f"'{ob.name_full}' has no faces{when}; give it faces, or leave it out."
            )
        yield matrix, surface
    finally:
        evaluated.to_mesh_clear()


def _matrix(evaluated: bpy.types.Object) -> np.ndarray:
    return np.array(evaluated.matrix_world)


def _is_mirrored(name: str, matrices: np.ndarray, frames: np.ndarray | None) -> bool:
    """Whether the matrices (S, 4, 4) turn the winding over; frames (S,) name the culprit.

    Raises InputError for a matrix that is not a number or flattens the object, and where the sign changes.
    """
    linear = matrices[:, :3, :3]
    bad = ~np.isfinite(matrices).all(axis=(1, 2))
    if bad.any():
        raise InputError(f"The transform of '{name}' is not a number{_at(frames, bad)}; clear or repair it.")
    scales = np.linalg.svd(linear, compute_uv=False)
    flat = scales[:, 2] <= _FLAT * scales[:, 0]
    if flat.any():
        raise InputError(
            f"'{name}' has a scale of zero{_at(frames, flat)}; give it, and its parents, a scale above zero "
            "on every axis."
        )
    mirrored = np.linalg.det(linear) < 0
    turns = mirrored != mirrored[0]
    if turns.any():
        raise InputError(
            f"'{name}' turns inside out{_at(frames, turns)}, where its scale changes sign; keep the sign of "
            "its scale, and of its parents', over the range."
        )
    return bool(mirrored[0])


def _at(frames: np.ndarray | None, culprits: np.ndarray) -> str:
    return "" if frames is None else f" at frame {frames[culprits.argmax()]:g}"


def _check_geometry(name: str, positions: np.ndarray, triangles: np.ndarray, when: str) -> None:
    """Raise InputError for coordinates that are not numbers and for a mesh without any area."""
    _require_numbers(name, positions, when)
    if not (_has_area(positions, triangles[:_LOOKED_AT_FIRST]) or _has_area(positions, triangles)):
        far = np.abs(positions).max(axis=1)
        if far.max() > _FARTHEST:
            place = ", ".join(f"{value:.3g}" for value in positions[far.argmax()])
            raise InputError(
                f"Vertex {far.argmax()} of '{name}' is out of range{when}: it lies at ({place}); bring it back or "
                "delete it."
            )
        raise InputError(
            f"No triangle of '{name}' has any area{when}; give it a surface, or leave it out."
        )


def _require_numbers(name: str, positions: np.ndarray, when: str) -> None:
    if not np.isfinite(positions).all():
        raise InputError(f"'{name}' has vertices that are not numbers{when}; repair or delete them.")


def _has_area(positions: np.ndarray, triangles: np.ndarray) -> bool:
    corners = positions[triangles].astype(float)
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    extent = max(np.abs(first).max(), np.abs(second).max())
    return bool((np.linalg.norm(np.cross(first, second), axis=1) > _NO_AREA * extent**2).any())
