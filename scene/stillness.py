"""Which objects are certain to stand still, so that reading them needs no sweep of the frames.

Only certainty counts: whatever this file does not know may move, and is then sampled. An object that is
sampled in vain costs time; one that is missed gives a wrong motion.
"""

from __future__ import annotations

import bpy

from . import actions
from .reached import reached

# Modifiers that depend on nothing but the mesh they are given, their own values and, where an ID pointer is
# set, that ID. Simulations, caches, textures and geometry nodes (which may read the scene's time) stay out.
_TIMELESS_MODIFIERS = frozenset(
    """ARRAY BEVEL BOOLEAN CAST CORRECTIVE_SMOOTH DATA_TRANSFER DECIMATE EDGE_SPLIT LAPLACIANSMOOTH MASK
    MIRROR MULTIRES NORMAL_EDIT REMESH SCREW SIMPLE_DEFORM SKIN SMOOTH SOLIDIFY SUBSURF TRIANGULATE
    UV_PROJECT UV_WARP WEIGHTED_NORMAL WELD WIREFRAME""".split()
)
# Geometry nodes of that kind, such as "Shade Auto Smooth" puts on everything.
_TIMELESS_NODES = frozenset(
    """FunctionNodeBooleanMath FunctionNodeCompare GeometryNodeInputEdgeSmooth GeometryNodeInputMeshEdgeAngle
    GeometryNodeInputShadeSmooth GeometryNodeSetShadeSmooth NodeFrame NodeGroupInput NodeGroupOutput
    NodeReroute""".split()
)
# Beginnings of data paths of an object that do not reach its geometry.
_NO_SHAPE = ("location", "rotation_", "scale", "delta_", "hide_", "color", "constraints[", '["')
_PACKAGE = __package__.rpartition(".")[0]


def can_move(ob: bpy.types.Object) -> bool:
    """Whether the object's world matrix may depend on the frame."""
    if moved_by_scripts():
        return True
    chain = reached([ob], lambda each: [each.parent])
    return any(_is_animated(each) or len(each.constraints) or each.rigid_body for each in chain) or any(
        map(can_deform, chain[1:])
    )


def can_deform(ob: bpy.types.Object) -> bool:
    """Whether the object's evaluated geometry, in its own space, may depend on the frame."""
    data = ob.data
    if data is None:
        return False
    return bool(
        ob.is_instancer  # what it shows may move
        or _is_animated(data)
        or _is_animated(getattr(data, "shape_keys", None))
        or ob.type == "META"  # one family shares one surface: any other ball may change it
        or ob.parent_type in {"ARMATURE", "LATTICE"}  # deforms without a modifier
        or (ob.type in {"CURVE", "SURFACE", "FONT"} and _refers_to_id(data, bpy.types.Object))
        or (ob.pose and any(len(bone.constraints) for bone in ob.pose.bones))
        or _animates_shape(ob)
        or not all(is_timeless(modifier) for modifier in ob.modifiers)
        or moved_by_scripts()
    )


def _is_animated(owner: bpy.types.ID | None) -> bool:
    animation = owner and owner.animation_data
    return bool(animation and (animation.action or len(animation.drivers) or len(animation.nla_tracks)))


def _animates_shape(ob: bpy.types.Object) -> bool:
    """Whether the object's own animation may reach its modifiers or the choice of a shape key."""
    animation = ob.animation_data
    if animation is None or not (len(ob.modifiers) or getattr(ob.data, "shape_keys", None)):
        return False
    curves = actions.playing_curves(*actions.assigned(ob)) if actions.plays_action(ob) else []
    paths = [animated.data_path for animated in (*curves, *animation.drivers)]
    return bool(len(animation.nla_tracks)) or not all(path.startswith(_NO_SHAPE) for path in paths)


def is_timeless(modifier: bpy.types.Modifier) -> bool:
    """Whether what a modifier makes depends on nothing but the mesh it is given and its own values."""
    if modifier.type == "NODES":
        tree = modifier.node_group
        return tree is None or not (_is_animated(tree) or {node.bl_idname for node in tree.nodes} - _TIMELESS_NODES)
    return modifier.type in _TIMELESS_MODIFIERS and not _refers_to_id(modifier, bpy.types.ID)


def _refers_to_id(struct: bpy.types.bpy_struct, kind: type) -> bool:
    """Whether one of the struct's pointers leads to an ID of that kind."""
    return any(
        isinstance(getattr(struct, prop.identifier), kind)
        for prop in struct.bl_rna.properties
        if prop.type == "POINTER"
    )


def moved_by_scripts() -> bool:
    """Whether a script other than this extension acts on frame changes: it may move anything."""
    return bool(frame_scripts())


def frame_scripts() -> list[str]:
    """The modules of such scripts; "__main__" is a text that was run."""
    handlers = bpy.app.handlers
    modules = [
        getattr(handler, "__module__", type(handler).__module__)
        for handler in (*handlers.frame_change_pre, *handlers.frame_change_post)
    ]
    return [module for module in modules if not module.startswith(_PACKAGE)]
