"""Objects, keys, drivers, handlers and files, as tests of the scene make and use them."""

from contextlib import contextmanager

import bmesh
import bpy

from checkout import PACKAGE


def add_object(name, data=None, parent=None, collection=None):
    ob = bpy.data.objects.new(name, data)
    (collection or bpy.context.scene.collection).objects.link(ob)
    ob.parent = parent
    return ob


def add_shape(name, make, collection=None, **options):
    """The mesh that an operator of bmesh makes."""
    mesh, builder = bpy.data.meshes.new(name), bmesh.new()
    getattr(bmesh.ops, make)(builder, **options)
    builder.to_mesh(mesh)
    builder.free()
    return add_object(name, mesh, collection=collection)


def add_box(name="Box", collection=None):
    """From -1 to 1 on each axis."""
    return add_shape(name, "create_cube", collection, size=2)


def add_grid(name="Grid", x=6, y=4):
    """A flat grid of quads from -1 to 1."""
    return add_shape(name, "create_grid", x_segments=x, y_segments=y, size=1)


def add_line(name="Path", end=(0, 0, 3)):
    """A curve of one straight piece from the origin."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.splines.new("POLY").points.add(1)
    curve.splines[0].points[1].co = (*end, 1)
    return add_object(name, curve)


def key(owner, path, values, index=-1):
    """Key a property, or one component of it, with values by frame."""
    for frame, value in values.items():
        if index < 0:
            setattr(owner, path, value)
        else:
            getattr(owner, path)[index] = value
        owner.keyframe_insert(path, index=index, frame=frame)


def drive(owner, path, expression, index=-1):
    owner.driver_add(path, index).driver.expression = expression


def key_custom(owner, name, values):
    """Key a custom property with values by frame."""
    for frame, value in values.items():
        owner[name] = value
        owner.keyframe_insert(f'["{name}"]', frame=frame)


def drive_by(owner, path, source, name, index=-1):
    """A property becomes what a custom property of an object is."""
    driver = owner.driver_add(path, index).driver
    variable = driver.variables.new()
    variable.name = driver.expression = "told"
    variable.targets[0].id, variable.targets[0].data_path = source, f'["{name}"]'
    return driver


def add_nodes(ob, *kinds):
    """Geometry nodes that show what comes in; nodes of other kinds beside them, which are returned, and the tree."""
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    for side in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=side, socket_type="NodeSocketGeometry")
    source, *others, sink = (tree.nodes.new(kind) for kind in ("NodeGroupInput", *kinds, "NodeGroupOutput"))
    tree.links.new(source.outputs[0], sink.inputs[0])
    ob.modifiers.new("Nodes", "NODES").node_group = tree
    return tree, source, others, sink


def evaluate():
    return bpy.context.evaluated_depsgraph_get()


def edit(ob, mode="EDIT"):
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode=mode)


def into_collection(ob, name="Props"):
    """Move an object into a new collection of the scene: its layer collection."""
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for former in ob.users_collection:
        former.objects.unlink(ob)
    collection.objects.link(ob)
    bpy.context.view_layer.update()
    return bpy.context.view_layer.layer_collection.children[name]


@contextmanager
def handled(function, *names):
    """A block in which a function is among the handlers of these names."""
    for name in names:
        getattr(bpy.app.handlers, name).append(function)
    try:
        yield function
    finally:
        for name in names:
            getattr(bpy.app.handlers, name).remove(function)


@contextmanager
def frames_set():
    """The frames that a block sets, noted by a handler of the extension: others make everything uncertain."""
    seen = []

    def note(scene, depsgraph=None):
        seen.append(scene.frame_current)

    note.__module__ = f"{PACKAGE}.tests"
    with handled(note, "frame_change_post"):
        yield seen


def reopen(folder, name="scene.blend"):
    """Save the scene, open it again and return its path."""
    path = str(folder / name)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return path
