"""What the user chose for Adapt; kept with the rig."""

from __future__ import annotations

import bpy

from ..environment.settings import ENVIRONMENT_CLASSES, EnvironmentSettings
from ..interface.settings import OWN
from ..rig.settings import RIG_CLASSES, RigResultSettings


class MotionLoomAdaptSettings(EnvironmentSettings, RigResultSettings, bpy.types.PropertyGroup):
    """Environment, range, what is live or baked, the binding, and what is shown."""

    show_ghost: bpy.props.BoolProperty(
        name="Original", description="Draw the original pose as a ghost", default=True, override=OWN
    )
    show_points: bpy.props.BoolProperty(
        name="Descriptors", description="Draw the descriptor points, coloured by their weight", override=OWN
    )
    show_relations: bpy.props.BoolProperty(
        name="Relations", description="Draw what the active bone holds to", override=OWN
    )
    show_contacts: bpy.props.BoolProperty(
        name="Contacts", description="Draw where hands and feet touch", default=True, override=OWN
    )


CLASSES = (*ENVIRONMENT_CLASSES, *RIG_CLASSES)
