"""Which target mesh a panel or button is about, and whether it still has the vertices that it had."""

from __future__ import annotations

from ...scene import live_mesh
from ...scene.rigs import require_editable
from ...solvers.core.errors import MotionLoomError, StaleBindingError


def target_in(context):
    """The target mesh of the active object: itself, or the original of a live copy; None for anything else."""
    return context.object and target_behind(context.object)


def target_behind(ob):
    """The target mesh that an object shows: itself, or the original of a live copy; None for anything else."""
    if ob.type != "MESH":
        return None
    return live_mesh.original_of(ob) if live_mesh.is_live(ob) else ob


def why_no_target(context) -> str | None:
    """Why nothing can be done with the active object, or None."""
    ob = target_in(context)
    if ob is None:
        return why_none(context.object)
    try:
        require_editable(ob)
    except MotionLoomError as error:
        return str(error)
    return None


def why_none(ob) -> str:
    """Why ``target_behind`` of an object, or of no object, is none."""
    if ob is not None and live_mesh.is_live(ob):
        if live_mesh.lacks_original(ob):
            return (
                f"The mesh that '{ob.name}' stands for is in no scene: it was deleted, or '{ob.name}' came without it "
                f"from another file; undo that, link it, or delete '{ob.name}' as well."
            )
        return f"The mesh that '{ob.name}' stood for was deleted; undo that, or delete '{ob.name}' as well."
    return "Select the mesh that is to move."


def require_same_mesh(
    ob, vertices: int, faces: int, when: str = "when it was learnt", remedy: str = "learn it again"
) -> None:
    """Raises StaleBindingError where the mesh has other numbers of vertices or faces than it had."""
    counts = len(ob.data.vertices), len(ob.data.polygons)
    if counts != (vertices, faces):
        raise StaleBindingError(
            f"'{ob.name}' had {vertices} vertices and {faces} faces {when}, and has "
            f"{counts[0]} and {counts[1]} now; undo that or {remedy}."
        )
