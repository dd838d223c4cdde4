"""Objects of another file in the scene."""

import bpy


def linked_instead(ob: bpy.types.Object, path) -> bpy.types.Object:
    """Write an object to a file, remove it, and link it from there into the scene."""
    name = ob.name
    bpy.data.libraries.write(str(path), {ob})
    bpy.data.objects.remove(ob)
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.objects = [name]
    bpy.context.scene.collection.objects.link(there.objects[0])
    bpy.context.view_layer.update()
    return there.objects[0]
