"""What the user chose for a motion that deals with its surroundings, and where the bound data lie."""

from __future__ import annotations

import bpy

from ...scene.surfaces import SURFACE_TYPES
from ..interface.settings import LIST, OWN, end_frame, kept_data, noted, start_frame

_THRESHOLDS = (
    ("AUTO", "Auto", "In proportion to the body"),
    ("USER", "User", "The length given beside it"),
    ("OFF", "Off", "Not at all"),
)

_MODES = (
    ("ATTACH", "Attach", "Keep the relation: come along, keep contacts, keep clear", "SNAP_ON", 0),
    ("AVOID", "Avoid", "Only give way when the object comes closer than it was", "CON_DISTLIMIT", 1),
    ("IGNORE", "Ignore", "Do not heed this object", "HIDE_ON", 2),
)


_JOINT_MODES = (
    ("AUTO", "Auto", "Solved where it is a part of the body, else it rides", "DOT", 0),
    ("SOLVE", "Solve", "Holds to its surroundings by itself", "BONE_DATA", 1),
    ("RIDE", "Ride", "Goes with the solved bone that carries it", "LINKED", 2),
    ("LEAVE", "Leave Alone", "Keeps its angles of the source against its parent while the rest is solved", "PINNED", 3),
)


_STATES = (
    ("AUTO", "Auto", "As Bind found it", "DOT", 0),
    ("ON", "On", "Held at its distance of each frame", "CHECKMARK", 1),
    ("OFF", "Off", "Let go", "X", 2),
)

# How points go over to what replaces an object.
_WAYS = (
    ("GRAVITY", "Along Gravity", "Onto the surface above or below: a ground under a motion made for another one"),
    ("CLOSEST", "To the Closest Point", "To the nearest place: another chair, another wall, another handle"),
)


def _has_surface(_self, ob) -> bool:
    return ob.type in SURFACE_TYPES


def _named(item, context) -> None:
    if item.target is not None:
        item.name, item.is_left_out = item.target.name, False
    noted(item, context)


class MotionLoomReplacement(bpy.types.PropertyGroup):
    """An object that takes the place of one of the environment; the name is the object's."""

    has_label = True  # nothing is found by its name
    target: bpy.props.PointerProperty(
        name="Object",
        type=bpy.types.Object,
        poll=_has_surface,
        description="An object that is there now in place of the bound one",
        override=OWN,
        update=_named,
    )
    is_left_out: bpy.props.BoolProperty(description="Whether nothing stands for what the library has", override=OWN)


class MotionLoomSurface(bpy.types.PropertyGroup):
    """One object of the environment."""

    has_label = True
    target: bpy.props.PointerProperty(
        name="Object",
        type=bpy.types.Object,
        poll=_has_surface,
        description="An object the motion deals with",
        override=OWN,
        update=noted,
    )
    bound_name: bpy.props.StringProperty(description="Name at bind time; empty where it is not bound", override=OWN)
    mode: bpy.props.EnumProperty(
        name="Mode", items=_MODES, description="How the motion heeds this object", override=OWN, update=noted
    )
    influence: bpy.props.FloatProperty(
        name="Influence", description="How strongly the motion heeds this object",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=OWN, update=noted,
    )  # fmt: skip
    replacements: bpy.props.CollectionProperty(type=MotionLoomReplacement, override=LIST)
    along: bpy.props.EnumProperty(
        name="Points Go", items=_WAYS, override=OWN, update=noted,
        description="How the points of the bound object find their places on what replaces it",
    )  # fmt: skip


class MotionLoomPin(bpy.types.PropertyGroup):
    """A bone held at an object for some frames."""

    bone: bpy.props.StringProperty(name="Bone", description="Its head is held", override=OWN, update=noted)
    target: bpy.props.PointerProperty(
        name="Object", type=bpy.types.Object, description="Where the head is held", override=OWN, update=noted
    )
    start: start_frame("at which it is held", update=noted)
    end: end_frame("at which it is held", update=noted)


class MotionLoomBone(bpy.types.PropertyGroup):
    """How much one bone holds to its surroundings."""

    bone: bpy.props.StringProperty(
        name="Bone", description="Its head holds more or less to its surroundings", override=OWN, update=noted
    )
    factor: bpy.props.FloatProperty(
        name="Hold", description="Multiplies how strongly the bone holds to its place by the environment",
        default=1.0, min=0.0, soft_max=20.0, override=OWN, update=noted,
    )  # fmt: skip


class MotionLoomContact(bpy.types.PropertyGroup):
    """One bone that touches one object for some frames; the name is both names, to be searched for."""

    has_label = True
    bone: bpy.props.StringProperty(name="Bone", description="What touches", override=OWN, update=noted)
    object: bpy.props.StringProperty(
        name="Object", description="What is touched, by its name at bind", override=OWN, update=noted
    )
    start: start_frame("of the contact", update=noted)
    end: end_frame("of the contact", update=noted)
    state: bpy.props.EnumProperty(
        name="State", items=_STATES, override=OWN, update=noted,
        description="Whether the contact is held. Where several of a bone and an object overlap, the one of fewest "
        "frames counts",
    )  # fmt: skip
    is_found: bpy.props.BoolProperty(description="Whether Bind found it", override=OWN)
    is_own: bpy.props.BoolProperty(
        description="Whether what is touched is another bone of the same body", override=OWN, update=noted
    )
    found_start: start_frame("that Bind found")
    found_end: end_frame("that Bind found")


class MotionLoomJoint(bpy.types.PropertyGroup):
    """What becomes of one bone; the name is the bone's."""

    limb: bpy.props.StringProperty(name="Limb", description="First bone of the limb that it belongs to", override=OWN)
    role: bpy.props.StringProperty(description="SOLVED, RIDES or STAYS as it is bound", override=OWN)
    carrier: bpy.props.StringProperty(description="The solved bone that it rides on", override=OWN)
    mode: bpy.props.EnumProperty(
        name="Mode", items=_JOINT_MODES, override=OWN, update=noted,
        description="What Bind makes of this bone; Leave Alone counts at once",
    )
    bound_mode: bpy.props.StringProperty(description="The mode that is bound", default="AUTO", override=OWN)


class EnvironmentSettings:
    """A base for the settings of such a workflow, not registered by itself: Blender reads the properties of bases.

    A workflow that has them lists ``ENVIRONMENT_CLASSES`` among its classes.
    """

    surfaces: bpy.props.CollectionProperty(type=MotionLoomSurface, override=LIST)
    active_surface: bpy.props.IntProperty(name="Object", override=OWN)
    pins: bpy.props.CollectionProperty(type=MotionLoomPin, override=LIST)
    bones: bpy.props.CollectionProperty(type=MotionLoomBone, override=LIST)
    joints: bpy.props.CollectionProperty(type=MotionLoomJoint, override=LIST)
    active_joint: bpy.props.IntProperty(name="Bone", override=OWN)
    contacts: bpy.props.CollectionProperty(type=MotionLoomContact, override=LIST)
    active_contact: bpy.props.IntProperty(name="Contact", override=OWN)
    use_range: bpy.props.BoolProperty(
        name="Custom Range", description="Bind these frames instead of the whole action", override=OWN
    )
    start: start_frame("to bind")
    end: end_frame("to bind")
    clearance: bpy.props.EnumProperty(
        name="Keep Clear", items=_THRESHOLDS, override=OWN, update=noted,
        description="How far the body keeps out of the environment, unless it was closer before",
    )  # fmt: skip
    clearance_distance: bpy.props.FloatProperty(
        name="Distance", description="The body keeps this far away, unless it was closer before",
        default=0.05, min=0.0, soft_max=0.5, subtype="DISTANCE", override=OWN, update=noted,
    )  # fmt: skip
    contact: bpy.props.EnumProperty(
        name="Hold Contacts", items=_THRESHOLDS, override=OWN, update=noted,
        description="How close a hand or foot counts as touching, so that it is held there",
    )  # fmt: skip
    contact_distance: bpy.props.FloatProperty(
        name="Distance", description="Hands and feet this close to where they touch begin to be held",
        default=0.06, min=0.0, soft_max=0.5, subtype="DISTANCE", override=OWN, update=noted,
    )  # fmt: skip
    orientation: bpy.props.FloatProperty(
        name="Orientation", description="How much hands, feet and head turn with what is close to them",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=OWN, update=noted,
    )  # fmt: skip
    upright: bpy.props.FloatProperty(
        name="Upright", description="How far the body keeps its tilt where the ground under it is tilted; what is "
        "close to a surface turns with it. At 0 the whole body tilts with its ground. Can be keyed",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=OWN, update=noted,
    )  # fmt: skip
    limits: bpy.props.BoolProperty(
        name="Joint Limits",
        description="Heed Limit Rotation constraints and IK limits",
        default=True,
        override=OWN,
        update=noted,
    )

    binding: kept_data("the bound data")
    summary: bpy.props.StringProperty(description="What is bound, in words", override=OWN)
    notes: bpy.props.StringProperty(description="What was left out or guessed at Bind, a line each", override=OWN)


ENVIRONMENT_CLASSES = (
    MotionLoomReplacement,
    MotionLoomSurface,
    MotionLoomPin,
    MotionLoomBone,
    MotionLoomContact,
    MotionLoomJoint,
)
