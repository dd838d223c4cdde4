"""What the user chose for Adapt; kept with the rig."""

from __future__ import annotations

import bpy

from ..environment.settings import ENVIRONMENT_CLASSES, EnvironmentSettings
from ..interface.settings import OWN
from ..rig.settings import RIG_CLASSES, RigResultSettings


class MotionLoomAdaptReport(bpy.types.PropertyGroup):
    """What was measured of the last result; it holds while the rig is bound as it was then."""

    action: bpy.props.PointerProperty(type=bpy.types.Action, description="The result", override=OWN)
    played: bpy.props.BoolProperty(description="The rig was to play it", override=OWN)
    mark: bpy.props.StringProperty(description="Tells the binding from any other", override=OWN)
    figures: bpy.props.StringProperty(description="What it is like on the whole, a line each", override=OWN)
    # A text: where a linked rig is overridden a list could not lose the entries that come from the library.
    remarks: bpy.props.StringProperty(description="What to look at, as JSON; see findings.Remark", override=OWN)
    missing: bpy.props.StringProperty(description="Bones that miss what was solved for them, a line each", override=OWN)
    picture: bpy.props.StringProperty(description="Contacts and worst events over time, as SVG", override=OWN)


class MotionLoomAdaptSettings(EnvironmentSettings, RigResultSettings, bpy.types.PropertyGroup):
    """Environment, range, what is live or baked, the binding, and what is shown."""

    last_report: bpy.props.PointerProperty(type=MotionLoomAdaptReport, override=OWN)
    show_ghost: bpy.props.BoolProperty(
        name="Original", description="Draw the original pose as a ghost", default=True, override=OWN
    )
    show_points: bpy.props.BoolProperty(
        name="Descriptors", description="Draw the descriptor points, coloured by their weight", override=OWN
    )
    show_relations: bpy.props.BoolProperty(
        name="Relations", description="Draw what the active bone holds to", override=OWN
    )
    show_missing: bpy.props.BoolProperty(
        name="Missing", default=True, override=OWN,
        description="Draw the bones that the controls did not bring to where they were solved, of the last result",
    )  # fmt: skip
    show_contacts: bpy.props.BoolProperty(
        name="Contacts", description="Draw where hands and feet touch", default=True, override=OWN
    )


CLASSES = (*ENVIRONMENT_CLASSES, *RIG_CLASSES, MotionLoomAdaptReport)
