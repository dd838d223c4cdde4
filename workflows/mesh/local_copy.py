"""A local copy of a linked mesh object, with a mesh of its own, which stands in its place for workflows of meshes."""

from __future__ import annotations

from ...scene import live_mesh
from ..core import registry
from .settings import MeshResultSettings


def local_copy(context, ob):
    """The copy of a linked mesh object, in the scene: it moves as that does, and is live in no workflow.

    Its settings are the linked object's, with all that was learnt.  Where they, or those of objects of this file, are
    about the linked object they are about the copy then.
    """
    copy, mesh = ob.copy(), ob.data.copy()
    copy.name = mesh.name = f"{ob.name} (local)"
    copy.data = mesh
    for settings in _settings_of(copy):
        _end_live(copy, settings)
    context.scene.collection.objects.link(copy)
    for other in context.scene.objects:
        if other.library is None and other.type == "MESH":
            for settings in _settings_of(other):
                _point(settings, ob, copy)
    return copy


def _settings_of(ob) -> list[MeshResultSettings]:
    having = (workflow for workflow in registry.registered() if workflow.settings is not None)
    return [each.settings_of(ob) for each in having if issubclass(each.settings, MeshResultSettings)]


def _end_live(copy, settings: MeshResultSettings) -> None:
    """The linked object's live copy is its own: this one is to be seen as the linked one was before."""
    if settings.live:
        mark = settings.live_copy.get(live_mesh.LIVE_MARK, {}) if settings.live_copy is not None else {}
        copy.hide_viewport, copy.hide_render = (bool(mark.get(name)) for name in ("hide_viewport", "hide_render"))
    settings.live, settings.live_copy = False, None


def _point(settings, old, new) -> None:
    """Let settings, and those in their lists, name another object, of the same shape, where they name one."""
    props = [prop for prop in settings.bl_rna.properties if not prop.is_readonly]
    told = {prop.identifier: getattr(settings, prop.identifier) for prop in props if prop.type in {"STRING", "BOOLEAN"}}
    for prop in settings.bl_rna.properties:
        value = getattr(settings, prop.identifier)
        if prop.type == "COLLECTION":
            for item in value:
                _point(item, old, new)
        elif prop.type == "POINTER" and value == old:
            setattr(settings, prop.identifier, new)
    # A choice says that what was read was of another object; this one is the same to read.
    for name, value in told.items():
        if getattr(settings, name) != value:
            setattr(settings, name, value)
