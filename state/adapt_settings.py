"""What the user chose for Adapt, and where the bound data lie; kept with the rig."""

from __future__ import annotations

import bpy

# Rigs that override a linked one are bound as well: their lists may grow, and all is saved.
_OWN, _LIST = {"LIBRARY_OVERRIDABLE"}, {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}

_MODES = (
    ("ATTACH", "Attach", "Keep the relation: come along, keep contacts, keep clear"),
    ("AVOID", "Avoid", "Only give way when the object comes closer than it was"),
    ("IGNORE", "Ignore", "Do not heed this object"),
)


def _has_surface(_self, ob) -> bool:
    return ob.type in {"MESH", "CURVE", "SURFACE", "FONT", "META"}


class MotionLoomAdaptSurface(bpy.types.PropertyGroup):
    """One object of the environment."""

    target: bpy.props.PointerProperty(
        name="Object",
        type=bpy.types.Object,
        poll=_has_surface,
        description="An object the motion deals with",
        override=_OWN,
    )
    bound_name: bpy.props.StringProperty(description="Name at bind time; empty where it is not bound", override=_OWN)
    mode: bpy.props.EnumProperty(
        name="Mode", items=_MODES, description="How the motion heeds this object", override=_OWN
    )
    influence: bpy.props.FloatProperty(
        name="Influence", description="How strongly the motion heeds this object",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=_OWN,
    )  # fmt: skip


class MotionLoomAdaptPin(bpy.types.PropertyGroup):
    """A bone held at an object for some frames."""

    bone: bpy.props.StringProperty(name="Bone", description="Its head is held", override=_OWN)
    target: bpy.props.PointerProperty(
        name="Object", type=bpy.types.Object, description="Where the head is held", override=_OWN
    )
    start: bpy.props.IntProperty(name="Start", description="First frame at which it is held", default=1, override=_OWN)
    end: bpy.props.IntProperty(name="End", description="Last frame at which it is held", default=250, override=_OWN)


class MotionLoomAdaptBone(bpy.types.PropertyGroup):
    """How much one bone holds to its surroundings."""

    bone: bpy.props.StringProperty(
        name="Bone", description="Its head holds more or less to its surroundings", override=_OWN
    )
    factor: bpy.props.FloatProperty(
        name="Hold", description="Multiplies how strongly the bone holds to its place by the environment",
        default=1.0, min=0.0, soft_max=20.0, override=_OWN,
    )  # fmt: skip


class MotionLoomAdaptBefore(bpy.types.PropertyGroup):
    """A property that the result animates and the source does not, with its value from before."""

    path: bpy.props.StringProperty(description="Data path from the rig's object", override=_OWN)
    index: bpy.props.IntProperty(description="Component", override=_OWN)
    value: bpy.props.FloatProperty(description="Value while the source played", override=_OWN)


class MotionLoomAdaptSettings(bpy.types.PropertyGroup):
    """Environment, range, result and the binding."""

    surfaces: bpy.props.CollectionProperty(type=MotionLoomAdaptSurface, override=_LIST)
    active_surface: bpy.props.IntProperty(name="Object", override=_OWN)
    pins: bpy.props.CollectionProperty(type=MotionLoomAdaptPin, override=_LIST)
    active_pin: bpy.props.IntProperty(name="Pin", override=_OWN)
    bones: bpy.props.CollectionProperty(type=MotionLoomAdaptBone, override=_LIST)
    active_bone: bpy.props.IntProperty(name="Bone", override=_OWN)
    use_range: bpy.props.BoolProperty(
        name="Custom Range", description="Bind these frames instead of the whole action", override=_OWN
    )
    start: bpy.props.IntProperty(name="Start", description="First frame to bind", default=1, override=_OWN)
    end: bpy.props.IntProperty(name="End", description="Last frame to bind", default=250, override=_OWN)
    collision: bpy.props.BoolProperty(
        name="Keep Clear",
        description="Keep the body out of the environment, smoothed over time",
        default=True,
        override=_OWN,
    )
    orientation: bpy.props.FloatProperty(
        name="Orientation", description="How much hands, feet and head turn with what is close to them",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=_OWN,
    )  # fmt: skip
    limits: bpy.props.BoolProperty(
        name="Joint Limits", description="Heed Limit Rotation constraints and IK limits", default=True, override=_OWN
    )
    assign: bpy.props.BoolProperty(
        name="Play Result",
        description="Assign the new action to the rig; the source action is kept",
        default=True,
        override=_OWN,
    )
    binding: bpy.props.PointerProperty(type=bpy.types.Mesh, description="Holds the bound data", override=_OWN)
    summary: bpy.props.StringProperty(description="What is bound, in words", override=_OWN)
    source: bpy.props.PointerProperty(type=bpy.types.Action, description="The action that is bound", override=_OWN)
    source_slot: bpy.props.IntProperty(description="Handle of its slot", override=_OWN)
    bound_strips: bpy.props.BoolProperty(description="NLA strips alone are bound, no action", override=_OWN)
    result: bpy.props.PointerProperty(
        type=bpy.types.Action, description="The action that was made last and assigned", override=_OWN
    )
    before: bpy.props.CollectionProperty(type=MotionLoomAdaptBefore, override=_LIST)


CLASSES = (MotionLoomAdaptSurface, MotionLoomAdaptPin, MotionLoomAdaptBone, MotionLoomAdaptBefore)
