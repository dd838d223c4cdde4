"""What the user chose for Map, the pairs, and where the learnt data lie; kept with the target mesh."""

from __future__ import annotations

import bpy

from ..interface.settings import LIST, OWN, end_frame, kept_data, noted, start_frame
from ..mesh.settings import MeshResultSettings

_TRAVEL = (
    ("AUTO", "Auto", "As the target's own motion tells: where it travels, else by its standing feet, else not at all"),
    ("LEARNT", "Learnt", "By how fast the pose changes, learnt from the target's own travel"),
    ("FEET", "Feet", "By the parts that stand on the ground"),
    ("STRIDE", "Stride", "By the length that the target covers while its pose goes through one cycle"),
    ("SOURCE", "Source", "As far as the source goes, times Travel Scale"),
    ("NONE", "None", "Stay in place"),
)
_GROUND = (
    ("FULL", "Place and Heading", "A walker: where it is and where it faces are taken off and mapped separately"),
    ("PLACE", "Place", "Only where it is on the ground is taken off, as for a hand that turns"),
    ("NONE", "Nothing", "As for a face: every movement of the points counts as pose"),
)
_EDGES = (
    ("SOFT", "Soft", "Poses come to rest smoothly at the edge of what the target was seen to do"),
    ("HARD", "Hard", "Poses stop at the edge of what the target was seen to do"),
    ("NONE", "Unlimited", "Poses may go beyond what the target was seen to do"),
)
_WEIGHINGS = (
    ("WHOLE", "Whole Range", "All frames of the source matter alike"),
    ("PREVIEW", "Preview Range", "Only the frames of the source that are in the scene's preview range"),
    ("CUSTOM", "Custom Range", "Only the frames of the source that are in a range of their own"),
    ("MARKERS", "Between Markers", "Only the frames of the source from the first to the last selected marker"),
)
_MOTIONS = (
    ("ANIMATION", "Animation", "The target as it is animated over the range"),
    ("SHAPE_KEYS", "Shape Keys", "Each shape key is one pose"),
)


class MotionLoomMapPair(bpy.types.PropertyGroup):
    """A pose of the source and the pose of the target that answers to it."""

    source_frame: bpy.props.FloatProperty(
        name="Source", description="Frame of the source's pose", step=100, precision=1, update=noted, override=OWN
    )
    target_frame: bpy.props.FloatProperty(
        name="Target", description="Frame of the target's pose", step=100, precision=1, update=noted, override=OWN
    )
    use: bpy.props.BoolProperty(
        name="Use", description="Learn from this pair", default=True, update=noted, override=OWN
    )
    performed: bpy.props.StringProperty(
        description="The source's pose itself, where it was performed or loaded from a file: no frame holds it",
        override=OWN,
    )


class MotionLoomMapSettings(MeshResultSettings, bpy.types.PropertyGroup):
    """Source, ranges, pairs, how the target moves over the ground, and what is live or baked."""

    source: bpy.props.PointerProperty(
        name="Source", type=bpy.types.Object, update=noted,
        description="An armature or a mesh whose movement drives this one", override=OWN,
    )  # fmt: skip
    source_collection: bpy.props.PointerProperty(
        name="Collection", type=bpy.types.Collection, update=noted,
        description="Objects, such as empties, whose movement drives this mesh", override=OWN,
    )  # fmt: skip
    source_group: bpy.props.StringProperty(
        name="Vertex Group",
        description="Only these vertices of the source mesh; empty: all",
        update=noted,
        override=OWN,
    )
    ground: bpy.props.EnumProperty(
        name="Source Without",
        items=_GROUND,
        description="What of the source's movement is no pose",
        update=noted,
        override=OWN,
    )
    use_source_range: bpy.props.BoolProperty(
        name="Source Range", description="Read these frames of the source instead of its whole animation", override=OWN
    )
    source_start: start_frame("of the source to read")
    source_end: end_frame("of the source to read")

    target_motion: bpy.props.EnumProperty(
        name="Target Motion", items=_MOTIONS, description="Where the poses of the target come from", override=OWN
    )
    use_target_range: bpy.props.BoolProperty(
        name="Target Range",
        description="Learn these frames of the target instead of its whole animation",
        override=OWN,
    )
    target_start: start_frame("of the target to learn")
    target_end: end_frame("of the target to learn")
    target_ground: bpy.props.EnumProperty(
        name="Target Without", items=_GROUND, description="What of the target's movement is no pose", override=OWN
    )
    components: bpy.props.IntProperty(
        name="Components",
        description="Most components that describe a pose of the target",
        default=50,
        min=1,
        max=200,
        override=OWN,
    )

    learnt: kept_data("what was learnt of the target")
    learnt_summary: bpy.props.StringProperty(description="What was learnt of the target, in words", override=OWN)
    clip: kept_data("the source's points over its range")
    clip_summary: bpy.props.StringProperty(description="What was read of the source, in words", override=OWN)

    pairs: bpy.props.CollectionProperty(type=MotionLoomMapPair, override=LIST)
    active_pair: bpy.props.IntProperty(name="Pair", default=-1, override=OWN)
    target_frame: bpy.props.FloatProperty(
        name="Target Frame", description="Frame of the target's motion to pair with the source as it is now",
        default=1.0, step=100, precision=1, update=noted, override=OWN,
    )  # fmt: skip
    suggestions: bpy.props.StringProperty(
        description="Frames of the source that are worth a pair, best first", override=OWN
    )
    suggestion: bpy.props.IntProperty(name="Suggestion", description="Which one is looked at", default=-1, override=OWN)

    weigh_by: bpy.props.EnumProperty(
        name="Weigh By", items=_WEIGHINGS, override=OWN,
        description="Which frames of the source matter: Suggest looks for pairs that make the map surest over these",
    )  # fmt: skip
    weigh_start: start_frame("of the source that matters")
    weigh_end: end_frame("of the source that matters")

    edge: bpy.props.EnumProperty(
        name="Pose Limits", items=_EDGES, update=noted,
        description="What holds poses to those that the target knows", override=OWN,
    )  # fmt: skip
    meet_pairs: bpy.props.FloatProperty(
        name="Meet Pairs", description="1: the target takes the poses of the pairs exactly. 0: pairs count as noisy, "
        "the target passes by them smoothly. Lower it where pairs were made loosely and the motion is uneven",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", update=noted, override=OWN,
    )  # fmt: skip
    smoothing: bpy.props.FloatProperty(
        name="Smoothing", description="Standard deviation of the filter against a shaking source; it looks back only",
        default=0.0, min=0.0, soft_max=0.3, precision=3, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE", update=noted,
        override=OWN,
    )  # fmt: skip
    travel: bpy.props.EnumProperty(
        name="Travel", items=_TRAVEL, description="How the target moves over the ground", update=noted, override=OWN
    )
    travel_scale: bpy.props.FloatProperty(
        name="Travel Scale", description="Multiplies how far the target goes", default=1.0, soft_min=0.0, soft_max=4.0,
        update=noted, override=OWN,
    )  # fmt: skip
    stride: bpy.props.FloatProperty(
        name="Stride", description="How far the target goes while its pose goes through one cycle",
        default=1.0, min=0.0, soft_max=10.0, subtype="DISTANCE", update=noted, override=OWN,
    )  # fmt: skip
    turn_ratio: bpy.props.FloatProperty(
        name="Turning", description="How much the target turns where the source turns", default=1.0,
        soft_min=-2.0, soft_max=2.0, update=noted, override=OWN,
    )  # fmt: skip

    show_pair: bpy.props.BoolProperty(
        name="Pair",
        description="Draw both poses of the active pair, and the target pose to be paired",
        default=True,
        override=OWN,
    )
    show_scores: bpy.props.BoolProperty(
        name="Worth of Pairs",
        description="Draw how much a pair at each frame of the source would tell",
        default=True,
        override=OWN,
    )

    live_input: bpy.props.BoolProperty(
        name="Live Input", update=noted,
        description="Follow the source as it moves now, as a stream does, instead of its animation on the timeline",
        override=OWN,
    )  # fmt: skip


CLASSES = (MotionLoomMapPair,)
