"""Objects of another file in the scene."""

import bpy


def linked(path, *objects, collection=None):
    """Objects of a file, or one of its collections, linked into the scene."""
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.objects, there.collections = list(objects), [collection] if collection else []
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    for group in there.collections:
        bpy.context.scene.collection.children.link(group)
    bpy.context.view_layer.update()
    return there.collections[0] if collection else there.objects


def linked_instead(ob: bpy.types.Object, path) -> bpy.types.Object:
    """Write an object to a file, remove it, and link it from there into the scene."""
    name = ob.name
    bpy.data.libraries.write(str(path), {ob})
    bpy.data.objects.remove(ob)
    return linked(path, name)[0]
