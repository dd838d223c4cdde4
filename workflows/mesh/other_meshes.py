"""Meshes of the same body as one that is chosen, which is looked at alone: their names, and what moves them."""

from __future__ import annotations

from collections.abc import Iterable

from ...scene import live_mesh
from ...scene.rig_meshes import armature_of, meshes_beside, meshes_of, meshes_on

_SHOWN = 4  # meshes that are named


def other_meshes(scene, ob, known: Iterable = ()) -> str | None:
    """In words, which other meshes move with a mesh, "'Rig' also moves 'Hair', 'Eyes'"; None where there are none.

    known: objects that are chosen as well, and not named.
    """
    seen, told, armature = {ob, *known}, [], armature_of(ob)
    common, beside = meshes_beside(scene, ob)
    kinds = (
        (armature, "also moves", [] if armature is None else meshes_of(scene, armature)),
        (ob, "carries", meshes_on(scene, ob)),
        (common, "also carries", beside),
    )
    for owner, verb, meshes in kinds:
        others = [mesh for mesh in meshes if mesh not in seen and not live_mesh.is_live(mesh)]
        seen.update(others)
        if others:
            told.append(f"'{owner.name}' {verb} {_named(others)}")
    return " and ".join(told) or None


def _named(meshes: list) -> str:
    more = f" and {len(meshes) - _SHOWN} more" if len(meshes) > _SHOWN else ""
    return ", ".join(f"'{mesh.name}'" for mesh in meshes[:_SHOWN]) + more
