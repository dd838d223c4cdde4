"""What the user chose for Transfer: subjects, clips with their pairs, body parts; kept with the target's mesh."""

from __future__ import annotations

import json

import bpy

from ..interface.settings import LIST, OWN, end_frame, kept_data, noted, start_frame
from ..mesh.settings import MeshResultSettings

_SIDES, _ENDS = ("source", "target"), ("start", "end")
_KERNELS = (
    ("NEURAL_NETWORK", "Neural Network", "Extrapolates calmly to poses that no clip has; the paper's choice"),
    ("SQUARED_EXPONENTIAL", "Squared Exponential", "Falls back to the mean pose away from the clips"),
)
_DENSIFY = (
    ("GAUSSIAN_PROCESS", "By Pose", "The pairs of all clips tell which poses answer to each other in between"),
    ("LINE", "Straight", "Time runs evenly from one pair to the next"),
)
_TRAVEL = (
    ("SOURCE", "As the Source", "As far as the source goes, in the proportion that the pairs show"),
    ("NONE", "None", "Turns, and goes up and down, but stays in place"),
)
# Choices that older files may have and that are gone: by property what they were called.
_GONE = {"kernel": "Linear", "densify": "Linear Map"}


def choice(settings, name: str) -> str:
    """What is chosen of a list, the first of it where a file chose what is gone."""
    return getattr(settings, name) or _list_of(settings, name).enum_items[0].identifier


def gone_choice(settings, name: str) -> str | None:
    """Says what takes the place of a choice that is gone, None where there is none or another was made since."""
    found, chosen = _list_of(settings, name), getattr(settings, name)
    if chosen and (name not in settings.gone.split() or chosen != found.enum_items[0].identifier):
        return None
    return f"{found.name} '{_GONE[name]}' is gone: '{found.enum_items[0].name}' takes its place"


def gone_choices(settings) -> tuple[str, ...]:
    """Says what takes the place of each choice that is gone."""
    return tuple(filter(None, (gone_choice(settings, name) for name in _GONE)))


def replace_gone(settings) -> tuple[str, ...]:
    """Choose what takes the place of choices that are gone; returns what there is to say."""
    told = gone_choices(settings)
    for name in _GONE if told else ():
        setattr(settings, name, choice(settings, name))
    settings.gone = ""
    return told


def settle_gone(settings) -> None:
    """Choose what takes the place of choices that are gone, and remember which: Blender complains at each look."""
    gone = [name for name in _GONE if not getattr(settings, name)]
    if gone:
        replace_gone(settings)
        settings.gone = " ".join(gone)


def _list_of(settings, name: str):
    return settings.bl_rna.properties[name]


def clip_signature(clip) -> str:
    """What a clip is of: objects and ranges."""
    return " / ".join(_side(getattr(clip, of), *(getattr(clip, f"{of}_{end}") for end in _ENDS)) for of in _SIDES)


def _side(ob, start: int, end: int) -> str:
    # Objects of libraries may have the same name.
    return f"{ob.library.filepath if ob.library else ''}{ob.name} {start} {end}" if ob else ""


def parts_signature(settings) -> str:
    """What poses are described by: groups of the parts, and how many components."""
    groups = [(part.source_group, part.target_group) for part in settings.parts]
    return json.dumps([settings.components, *groups])


def are_parts_as_read(settings) -> bool:
    """Whether parts and components are those of Read Clips; true where a file does not tell."""
    return settings.parts_read in ("", parts_signature(settings))


def _unread(clip, context) -> None:
    """What was read is of another object or range, or of those that are chosen once more."""
    clip.stored = clip.read_as if clip.read_as.partition(": ")[2] == clip_signature(clip) else ""
    noted(clip, context)


def _other_clip(settings, context) -> None:
    """What was read of the new clip was of another object or range."""
    settings.clip_is_other = True
    noted(settings, context)


class MotionLoomTransferPair(bpy.types.PropertyGroup):
    """A pose of the source subject and the pose of the target subject that answers to it."""

    source_frame: bpy.props.FloatProperty(
        name="Source", description="Frame of the source's clip", step=100, precision=1, update=noted, override=OWN
    )
    target_frame: bpy.props.FloatProperty(
        name="Target", description="Frame of the target's clip", step=100, precision=1, update=noted, override=OWN
    )


class MotionLoomTransferClip(bpy.types.PropertyGroup):
    """Two captured clips of the same kind of movement, one of each subject."""

    use: bpy.props.BoolProperty(
        name="Use", description="Learn from this pair of clips", default=True, update=noted, override=OWN
    )
    source: bpy.props.PointerProperty(
        name="Source", type=bpy.types.Object, update=_unread,
        description="A mesh that performs the source subject's clip", override=OWN,
    )  # fmt: skip
    source_start: start_frame("of the source's clip", update=_unread)
    source_end: end_frame("of the source's clip", update=_unread)
    target: bpy.props.PointerProperty(
        name="Target", type=bpy.types.Object, update=_unread,
        description="A mesh that performs the target subject's clip", override=OWN,
    )  # fmt: skip
    target_start: start_frame("of the target's clip", update=_unread)
    target_end: end_frame("of the target's clip", update=_unread)
    pairs: bpy.props.CollectionProperty(type=MotionLoomTransferPair, override=LIST)
    active_pair: bpy.props.IntProperty(name="Pair", default=-1, override=OWN)
    stored: bpy.props.StringProperty(
        description="Under which name the clip is stored; empty: not read as it is", override=OWN
    )
    read_as: bpy.props.StringProperty(description="Under which name the clip was read, and what it was", override=OWN)
    picture: bpy.props.PointerProperty(
        name="Picture", type=bpy.types.Image, override=OWN,
        description="What it costs to pair each pose of the source with each of the target, and the path found",
    )  # fmt: skip


class MotionLoomTransferPart(bpy.types.PropertyGroup):
    """A body part that both subjects have: a vertex group of each. The first part is the torso."""

    source_group: bpy.props.StringProperty(
        name="Source Group", description="Vertices of the source subject that belong to this part", override=OWN
    )
    target_group: bpy.props.StringProperty(
        name="Target Group", description="Vertices of the target subject that belong to this part", override=OWN
    )


class MotionLoomTransferSettings(MeshResultSettings, bpy.types.PropertyGroup):
    """Subjects, clips, parts, how is learnt, and what is live or baked."""

    source: bpy.props.PointerProperty(
        name="Source Subject", type=bpy.types.Object, update=noted,
        description="A mesh of the subject whose movements are to be performed by this one", override=OWN,
    )  # fmt: skip
    clips: bpy.props.CollectionProperty(type=MotionLoomTransferClip, override=LIST)
    active_clip: bpy.props.IntProperty(name="Clips", default=-1, override=OWN)
    parts: bpy.props.CollectionProperty(type=MotionLoomTransferPart, override=LIST)
    active_part: bpy.props.IntProperty(name="Part", default=-1, override=OWN)
    part_count: bpy.props.IntProperty(
        name="Parts", description="How many parts are suggested: the torso, and limbs", default=5, min=2, max=12,
        override=OWN,
    )  # fmt: skip
    components: bpy.props.IntProperty(
        name="Components", description="Most components that describe the pose of a part", default=20, min=1, max=60,
        override=OWN,
    )  # fmt: skip

    subjects: kept_data("what was read of both subjects and their clips")
    parts_read: bpy.props.StringProperty(description="Parts and components as they were when read", override=OWN)
    subjects_summary: bpy.props.StringProperty(description="What was read, in words", override=OWN)
    subjects_notes: bpy.props.StringProperty(
        description="What was not read of both bodies, in words, a line each", override=OWN
    )
    learnt: kept_data("how poses of the source become poses of the target")
    learnt_summary: bpy.props.StringProperty(description="What was learnt, in words", override=OWN)
    learnt_of: bpy.props.StringProperty(description="What it was learnt of: tells whether that changed", override=OWN)

    target_frame: bpy.props.FloatProperty(
        name="Target Frame", description="Frame of the target's clip to pair with the source as it is now",
        default=1.0, step=100, precision=1, update=noted, override=OWN,
    )  # fmt: skip
    densify: bpy.props.EnumProperty(
        name="Between Pairs", items=_DENSIFY, update=noted,
        description="How the frames between two pairs are paired", override=OWN,
    )  # fmt: skip
    stretch: bpy.props.IntProperty(
        name="Stretch", default=2, min=1, max=10, update=noted, override=OWN,
        description="How many frames one clip may wait for the other at a time between pairs",
    )  # fmt: skip
    gone: bpy.props.StringProperty(description="Lists of which an older file chose what is gone", override=OWN)
    kernel: bpy.props.EnumProperty(
        name="Kernel", items=_KERNELS, update=noted, override=OWN,
        description="How alike two poses are taken to be",
    )  # fmt: skip
    noise: bpy.props.FloatProperty(
        name="Noise", default=0.01, min=1e-6, soft_min=0.001, max=10.0, precision=3, update=noted, override=OWN,
        description="Least share of the target's movement that is taken for noise: more is calmer, with less detail",
    )  # fmt: skip

    performed: bpy.props.PointerProperty(
        name="New Clip", type=bpy.types.Object, update=_other_clip, override=OWN,
        description="A mesh with the source subject's vertices, whose motion is performed by the target",
    )  # fmt: skip
    use_performed_range: bpy.props.BoolProperty(
        name="Clip Range", description="Read these frames of the new clip instead of its whole animation",
        update=_other_clip, override=OWN,
    )  # fmt: skip
    performed_start: start_frame("of the new clip", update=_other_clip)
    performed_end: end_frame("of the new clip", update=_other_clip)
    clip: kept_data("the poses of the new clip")
    clip_is_other: bpy.props.BoolProperty(description="The new clip was chosen anew since it was read", override=OWN)
    clip_summary: bpy.props.StringProperty(description="What was read of the new clip, in words", override=OWN)
    correct: bpy.props.BoolProperty(
        name="Correct Shape", default=True, update=noted, override=OWN,
        description="Take sizes of faces from captured poses that are near, so that nothing shrinks or bulges",
    )  # fmt: skip
    stitch: bpy.props.BoolProperty(
        name="Stitch Parts", default=True, update=noted, override=OWN,
        description="Join the parts smoothly where they overlap",
    )  # fmt: skip
    keep_clearance: bpy.props.BoolProperty(
        name="Keep Clearance", default=True, update=noted, override=OWN,
        description="Keep the lowest point as high above the ground as the source's is, in proportion to their sizes",
    )  # fmt: skip
    travel: bpy.props.EnumProperty(
        name="Travel", items=_TRAVEL, update=noted, description="How the target moves over the ground", override=OWN
    )
    travel_scale: bpy.props.FloatProperty(
        name="Travel Scale", description="Multiplies how far the target goes", default=1.0, soft_min=0.0, soft_max=4.0,
        update=noted, override=OWN,
    )  # fmt: skip

    show_parts: bpy.props.BoolProperty(
        name="Show Parts", description="Draw the parts on both subjects in their colours, overlaps in white",
        default=False, override=OWN,
    )  # fmt: skip
    show_pair: bpy.props.BoolProperty(
        name="Pair", description="Draw the target's pose of the active pair, and the one to be paired", default=True,
        override=OWN,
    )  # fmt: skip
    show_path: bpy.props.BoolProperty(
        name="Path", description="Draw which frames of the active clips are paired, over what pairing them costs",
        default=True, override=OWN,
    )  # fmt: skip


CLASSES = (MotionLoomTransferPair, MotionLoomTransferClip, MotionLoomTransferPart)
