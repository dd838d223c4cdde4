"""Objects that show instances."""

import bpy

from tests import adapt_scenes as scenes


def scatter(ob, places, keep=True, scale=(1, 1, 1), realize=False):
    """Geometry nodes that show a box at places in the object's space, beside its own faces or instead of them."""
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    for side in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=side, socket_type="NodeSocketGeometry")
    own, out = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    join = tree.nodes.new("GeometryNodeJoinGeometry")
    box = tree.nodes.new("GeometryNodeMeshCube")
    box.inputs["Size"].default_value = (0.5, 0.4, 0.3)
    made = []
    for place in places:
        points, shown = tree.nodes.new("GeometryNodePoints"), tree.nodes.new("GeometryNodeInstanceOnPoints")
        points.inputs["Position"].default_value = place
        shown.inputs["Scale"].default_value = scale
        tree.links.new(points.outputs[0], shown.inputs["Points"])
        tree.links.new(box.outputs["Mesh"], shown.inputs["Instance"])
        tree.links.new(shown.outputs[0], join.inputs[0])
        made.append(points)
    if keep:
        tree.links.new(own.outputs[0], join.inputs[0])
    last = join
    if realize:
        last = tree.nodes.new("GeometryNodeRealizeInstances")
        tree.links.new(join.outputs[0], last.inputs[0])
    tree.links.new(last.outputs[0], out.inputs[0])
    ob.modifiers.new("Scatter", "NODES").node_group = tree
    bpy.context.view_layer.update()
    return made


def on_each(kind, ob):
    """A child that the vertices or the faces of an object show."""
    child = scenes.add_box("Stone", (0, 0, 0), (0.2, 0.1, 0.3))
    child.parent, ob.instance_type = ob, kind
    bpy.context.view_layer.update()
    return child


def grow(ob):
    """Particles that show an object."""
    stone = scenes.add_box("Stone", (0, 0, 0), (0.2, 0.1, 0.3))
    settings = ob.modifiers.new("Grow", "PARTICLE_SYSTEM").particle_system.settings
    settings.type, settings.count, settings.render_type, settings.instance_object = "HAIR", 7, "OBJECT", stone
    bpy.context.view_layer.update()
    return stone
