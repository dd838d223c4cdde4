"""What moves with a source or a target and is not looked at: bones in a collection, other meshes of one body."""

from __future__ import annotations

from ...scene.rig_meshes import armature_of
from ..mesh.other_meshes import other_meshes


def unseen_bones(settings) -> str | None:
    """That objects are followed by their origins, though there is an armature among or below them; or None."""
    source = settings.source or settings.source_collection
    if settings.source is None:
        among = [] if source is None else list(source.all_objects)
    elif source.type in ("ARMATURE", "MESH"):
        return None
    else:
        among = list(source.children_recursive)
    armature = next((ob for ob in among if ob.type == "ARMATURE"), None)
    if armature is None:
        return None
    return (
        f"'{source.name}' is followed by the origins of its objects, and the bones of '{armature.name}' are not looked "
        f"at: choose '{armature.name}' itself as the source where it is meant"
    )


def unseen_meshes(scene, ob) -> tuple[str, ...]:
    """Sentences on other meshes of the body of a target, which are not mapped with it, and of a source that is a mesh,
    of which it tells nothing."""
    source, told = ob.motion_loom_map.source, []
    if others := other_meshes(scene, ob, (source,)):
        told.append(
            f"{others}, which '{ob.name}' does not take along: each mesh is mapped, travels and stands by itself. For "
            "one body, join those that it deforms (or copies of them) and learn that."
        )
    if source is not None and source.type == "MESH" and (others := other_meshes(scene, source, (ob,))):
        armature = armature_of(source)
        instead = "join them" if armature is None else f"join them, or choose '{armature.name}' itself as the source"
        told.append(f"{others}, which tells nothing of how '{ob.name}' moves: where it is meant to, {instead}.")
    return tuple(told)
