"""What the user chose for baking a rig's animation as it is; kept with the rig."""

from __future__ import annotations

import bpy


class MotionLoomBakeSettings(bpy.types.PropertyGroup):
    """Range, step and frame rate of the baked action."""

    use_range: bpy.props.BoolProperty(
        name="Custom Range", description="Bake these frames instead of the whole animation"
    )
    start: bpy.props.IntProperty(name="Start", description="First frame to bake", default=1)
    end: bpy.props.IntProperty(name="End", description="Last frame to bake", default=250)
    step: bpy.props.FloatProperty(
        name="Step", description="Frames from one key to the next", default=1.0, min=0.01, soft_min=1.0
    )
    use_fps: bpy.props.BoolProperty(
        name="Change Speed", description="The animation was made for another frame rate than the scene's"
    )
    fps: bpy.props.FloatProperty(
        name="Made For", description="Frames a second that the animation was made for", default=30.0, min=0.01
    )
    assign: bpy.props.BoolProperty(
        name="Play Result", description="Assign the new action to the rig; the present one is kept"
    )
    strip: bpy.props.BoolProperty(
        name="NLA Strip", description="Keep the result as a strip on a new NLA track, mute unless it is to play"
    )
