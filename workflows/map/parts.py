"""What moves with a source or a target and is not looked at: bones in a collection, other meshes of one armature."""

from __future__ import annotations

from ...scene import live_mesh
from ...scene.rig_meshes import meshes_of

_SHOWN = 4  # meshes that are named


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


def other_meshes(scene, ob) -> str | None:
    """That the armature of a target moves other meshes as well, which are not mapped with it; or None."""
    armature = ob.find_armature()
    if armature is None:
        return None
    others = [mesh for mesh in meshes_of(scene, armature) if mesh != ob and not live_mesh.is_live(mesh)]
    if not others:
        return None
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    named = ", ".join(f"'{mesh.name}'" for mesh in others[:_SHOWN]) + more
    return (
        f"'{armature.name}' also moves {named}, which '{ob.name}' does not take along: each mesh is mapped, travels "
        "and stands by itself. For one body, join those that it deforms (or copies of them) and learn that."
    )
