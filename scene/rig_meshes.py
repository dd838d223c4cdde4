"""Which meshes an armature moves: those that it deforms, and those that hang on it."""

from __future__ import annotations

import bpy


def meshes_of(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Meshes of a scene that are shown, deformed by an armature or parented to it, in the scene's order."""
    return [
        ob
        for ob in scene.objects
        if ob.type == "MESH" and not ob.hide_viewport and (ob.parent == armature or ob.find_armature() == armature)
    ]
