"""What the user chose for a result on a rig, whichever workflow makes it: its source, the live action and the bake."""

from __future__ import annotations

import bpy

from ..interface.settings import LIST, OWN, kept_data, noted


class MotionLoomRigBefore(bpy.types.PropertyGroup):
    """A property that the result animates and the source does not, with its value from before."""

    path: bpy.props.StringProperty(description="Data path from the rig's object", override=OWN)
    index: bpy.props.IntProperty(description="Component", override=OWN)
    value: bpy.props.FloatProperty(description="Value while the source played", override=OWN)


class MotionLoomRigNotes(bpy.types.PropertyGroup):
    """What a live action, or a result, holds, kept with it: undo may bring the rig back without it, or the reverse."""

    stamp: bpy.props.StringProperty(description="What it was solved for")
    channels: bpy.props.StringProperty(description="Which channels hold solved keys")
    written: bpy.props.StringProperty(description="Digest of its keys after it was solved")
    keyed: bpy.props.BoolProperty(description="The user has set keys in it")
    lowered: bpy.props.FloatProperty(description="Metres by which hips went down for the legs in a result, at most")
    made_of: bpy.props.StringProperty(description="What a result was made of, by name")


class MotionLoomControl(bpy.types.PropertyGroup):
    """A bone that is keyed to move others; the name is the bone's."""

    carries: bpy.props.StringProperty(description="The bone that it carries", override=OWN)
    keyed: bpy.props.BoolProperty(description="The source keys it", override=OWN)
    use: bpy.props.BoolProperty(
        name="Write", description="Results may be written to this control", default=True, override=OWN, update=noted
    )


_WRITE_TO = (
    ("AS_KEYED", "As Keyed", "The controls that the source keys, limbs by FK or IK as they are keyed there"),
    ("FK", "FK", "Limbs bone by bone; where the source has them by IK their switch is keyed over the bound frames"),
    ("IK", "IK", "Limbs by what they reach for; where the source has them by FK their switch is keyed over the frames"),
    ("BOTH", "FK and IK", "As keyed, and the other controls of each limb as well: switching does not change the pose"),
)
_TRUNK = (
    ("KEYED", "As Keyed", "The controls of the trunk that the source keys"),
    ("MAIN", "Main Controls", "Torso, hips, chest, neck and head, whatever a rig calls them"),
    ("SPINE_FK", "With Spine FK", "The bones of the spine as well, one by one"),
    ("TWEAKS", "With Tweaks", "What corrects single places of the trunk as well: nearest to what was solved"),
)


class RigResultSettings:
    """A base for the settings of such a workflow, not registered by itself: Blender reads the properties of bases.

    A workflow that has them lists ``RIG_CLASSES`` among its classes.
    """

    source: bpy.props.PointerProperty(type=bpy.types.Action, description="The action that is bound", override=OWN)
    source_slot: bpy.props.IntProperty(description="Handle of its slot", override=OWN)
    bound_strips: bpy.props.BoolProperty(description="NLA strips alone are bound, no action", override=OWN)
    result: bpy.props.PointerProperty(
        type=bpy.types.Action, description="The action that was made last and assigned", override=OWN
    )
    before: bpy.props.CollectionProperty(type=MotionLoomRigBefore, override=LIST)
    bound_pose: bpy.props.StringProperty(description="How bones were posed at bind that no key moves", override=OWN)

    influence: bpy.props.FloatProperty(
        name="Influence", description="From the original motion (0) to the adapted one (1); can be keyed",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=OWN, update=noted,
    )  # fmt: skip
    live: bpy.props.BoolProperty(description="The rig plays the live action and follows every change", override=OWN)
    live_action: bpy.props.PointerProperty(
        type=bpy.types.Action, description="What the rig plays while live", override=OWN
    )
    live_slot: bpy.props.IntProperty(description="Handle of its slot", override=OWN)
    live_source: bpy.props.StringProperty(description="Digest of the source's keys", override=OWN)
    live_sampled: kept_data("the source's motion where curves do not tell it")
    live_before: bpy.props.CollectionProperty(type=MotionLoomRigBefore, override=LIST)

    assign: bpy.props.BoolProperty(
        name="Play Result",
        description="Assign the new action to the rig; the source action is kept",
        default=True,
        override=OWN,
    )
    bake_step: bpy.props.IntProperty(
        name="Frame Step", description="Frames from one key of the result to the next", default=1, min=1, override=OWN
    )
    bake_reduce: bpy.props.BoolProperty(
        name="Reduce Keys", description="Leave out the keys that the others tell within the error", override=OWN
    )
    bake_error: bpy.props.FloatProperty(
        name="Error", description="How far any joint may be from its place because of keys that are left out",
        default=0.001, min=1e-5, soft_max=0.05, precision=4, subtype="DISTANCE", override=OWN,
    )  # fmt: skip
    bake_at_keys: bpy.props.BoolProperty(
        name="Keys at Source Keys", override=OWN,
        description="Only at the frames where the source has keys; what lies between follows the curves",
    )  # fmt: skip
    write_to: bpy.props.EnumProperty(
        name="Write To", items=_WRITE_TO, override=OWN, update=noted,
        description="Which controls get the result, on a rig whose bones are moved by controls",
    )  # fmt: skip
    trunk: bpy.props.EnumProperty(
        name="Trunk", items=_TRUNK, override=OWN, update=noted, description="Which controls of the trunk get keys"
    )
    controls: bpy.props.CollectionProperty(type=MotionLoomControl, override=LIST)
    active_control: bpy.props.IntProperty(name="Control", override=OWN)
    range_blend: bpy.props.IntProperty(
        name="Blend", description="Frames before and after the bound ones in which the result goes back to the "
        "source, where that goes on there: the change at the end of the range fades to nothing, and beyond it the "
        "source's keys stay as they are. 0: the source at once, with a jump",
        default=10, min=0, soft_max=100, override=OWN, update=noted,
    )  # fmt: skip
    holds_outside: bpy.props.BoolProperty(
        name="Hold Outside", description="Before and after the bound frames the nearest pose of the result is held, as "
        "older versions did, instead of going back to the source", override=OWN, update=noted,
    )  # fmt: skip
    bake_strip: bpy.props.BoolProperty(
        name="NLA Strip", description="Push the result to a new NLA track instead of assigning it", override=OWN
    )


RIG_CLASSES = (MotionLoomRigBefore, MotionLoomControl)
