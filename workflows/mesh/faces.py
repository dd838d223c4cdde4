"""Whether a mesh has its vertices and faces in the order in which they were read, which their numbers do not tell."""

from __future__ import annotations

import numpy as np

from ...scene.topology import Faces, read_corners, read_faces, splits
from ...solvers.core.errors import StaleBindingError
from ...state import cache
from ..core.kept import kept
from .target import require_same_mesh


def faces_mark(ob) -> str:
    """A digest of the faces of a mesh object that is not in Edit Mode, in their order, for comparing."""
    return _faces_of(ob).digest.hex()


def require_read_mesh(
    ob, vertices: int, faces: int, mark: str, when: str = "when it was learnt", remedy: str = "learn it again"
) -> None:
    """Raises StaleBindingError where the mesh has other numbers of vertices or faces, or has them in another order.

    mark: what ``faces_mark`` was; empty where that was not kept yet.
    """
    require_same_mesh(ob, vertices, faces, when, remedy)
    # What is edited is noticed when Edit Mode is left: until then the mesh is what it was.
    if mark and not ob.data.is_editmode and faces_mark(ob) != mark:
        raise StaleBindingError(
            f"The vertices or faces of '{ob.name}' are in another order than {when}; undo that or {remedy}."
        )


def is_split_by(ob, triangles: np.ndarray, mark: tuple) -> bool:
    """Whether triangles (T, 3) split the faces of a mesh object, in their order.

    mark: tells the triangles from others.  In Edit Mode the mesh is not looked at.
    """
    if ob.data.is_editmode:
        return True
    faces = _faces_of(ob)
    inputs = faces.digest.hex(), *mark
    return kept(ob, "faces split", inputs, lambda: bool(len(faces.starts)) and splits(faces, triangles, False))


def _faces_of(ob) -> Faces:
    """Live asks at every frame: the corners are compared to those read last, their digest being known."""
    mesh, last = ob.data, cache.get(ob.session_uid, "faces", "")
    if last is not None and (len(mesh.vertices), len(mesh.polygons)) == (last.vertex_count, len(last.starts)):
        if np.array_equal(read_corners(mesh), last.corners):
            return last
    faces = read_faces(mesh)
    cache.put(ob.session_uid, "faces", "", faces)
    return faces
