"""What the user chose for a result on a mesh, whichever workflow makes it: the live copy and the bake."""

from __future__ import annotations

import bpy

from ..interface.settings import OWN, end_frame, noted, start_frame
from .may_stand import vertices_mark

# Since 4.5 a path says whether it may begin with //.
_RELATIVE = {"ANIMATABLE", "PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else {"ANIMATABLE"}
_BAKES = (
    ("PC2", "Cache File", "A PC2 file that a Mesh Cache modifier plays: exact, for long or heavy results"),
    ("PCA_KEYS", "Weighted Keys", "Few shape keys with keyed weights: small, editable, close"),
    ("ABSOLUTE_KEYS", "Absolute Keys", "One shape key a frame: exact, all in the .blend"),
)
# Of the rules by which feet are held: one more whenever they come to show what is saved otherwise.
FEET_RULES = 2
_FEET = (
    ("AS_OWN", "As Own Clips", "Standing feet slide, sink and float no more than they do in the target's own clips"),
    ("FULL", "Held", "Standing feet stay where they are, also where they slide in the target's own clips"),
    ("FREE", "Free", "Feet go wherever their pose takes them"),
)


def _feet_chosen(settings, context) -> None:
    """Chosen by somebody who knows of it, not by a file from before."""
    settings.feet_known, settings.feet_older, settings.feet_rules = True, False, FEET_RULES
    noted(settings, context)


def _stand_chosen(settings, context) -> None:
    """Its vertices tell it from others once it has another name."""
    settings.stand_vertices = vertices_mark(settings.id_data, settings.stand_group)
    noted(settings, context)


class MeshResultSettings:
    """A base for the settings of such a workflow, not registered by itself: Blender reads the properties of bases."""

    hold_ground: bpy.props.BoolProperty(
        name="Stay Above Ground", default=True, override=OWN, update=noted,
        description="Lift the target where it would sink below the lowest point that its own motion has",
    )  # fmt: skip
    feet: bpy.props.EnumProperty(
        name="Feet", items=_FEET, override=OWN, update=_feet_chosen,
        description="How feet that stand are held: the body goes along, and the rest of the mesh gives way smoothly",
    )  # fmt: skip
    # Not whether Feet is set: an override keeps no value that is the default.
    feet_known: bpy.props.BoolProperty(description="Learnt, or chosen, since feet are held", override=OWN)
    feet_rules: bpy.props.IntProperty(description="Rules of feet when it was learnt or chosen", override=OWN)
    feet_older: bpy.props.BoolProperty(description="Feet are free since the file is from before", override=OWN)
    stand_group: bpy.props.StringProperty(
        name="May Stand", override=OWN, update=_stand_chosen,
        description="Vertex group: only these vertices are taken for feet; empty: whatever comes down to the ground",
    )  # fmt: skip
    stand_vertices: bpy.props.StringProperty(description="Tells the vertices of May Stand from others", override=OWN)
    stands_on: bpy.props.PointerProperty(
        name="Ground", type=bpy.types.Object, override=OWN, update=noted,
        description="A mesh that stands still, on which the feet are to stand, at any height and slope; none: at the "
        "height at which they stand in the target's own clips",
    )  # fmt: skip

    live: bpy.props.BoolProperty(description="A copy of the target moves with the source", override=OWN)
    live_copy: bpy.props.PointerProperty(
        type=bpy.types.Object, description="The copy that moves while live", override=OWN
    )
    result: bpy.props.PointerProperty(type=bpy.types.Object, description="The object that was baked last", override=OWN)

    bake_kind: bpy.props.EnumProperty(name="Bake To", items=_BAKES, description="What holds the result", override=OWN)
    bake_folder: bpy.props.StringProperty(
        name="Folder", subtype="DIR_PATH", default="//motion_loom_cache",
        description="Where the cache file is written; // is the folder of the .blend", override=OWN, options=_RELATIVE,
    )  # fmt: skip
    bake_step: bpy.props.IntProperty(
        name="Frame Step", description="Frames from one stored pose to the next", default=1, min=1, override=OWN
    )
    bake_keys: bpy.props.IntProperty(
        name="Keys", description="How many weighted shape keys are made", default=24, min=1, max=200, override=OWN
    )
    use_bake_range: bpy.props.BoolProperty(
        name="Custom Range", description="Bake these frames instead of the source's range", override=OWN
    )
    bake_start: start_frame("to bake")
    bake_end: end_frame("to bake")
