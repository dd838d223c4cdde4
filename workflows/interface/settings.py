"""What settings are made of: properties that overrides may change and keep, and what notes that one was changed."""

from __future__ import annotations

import bpy

from ...scene.binding_store import DATABLOCK

# Rigs and meshes that override a linked one are worked on as well: their lists may grow, and all is saved.
OWN, LIST = {"LIBRARY_OVERRIDABLE"}, {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}


def start_frame(which: str, update=None):
    """A property of the first frame of a range; which: completes "First frame ..." in the tooltip."""
    return _frame("Start", f"First frame {which}", 1, update)


def end_frame(which: str, update=None):
    """A property of the last frame of a range; which: completes "Last frame ..." in the tooltip."""
    return _frame("End", f"Last frame {which}", 250, update)


def _frame(name: str, description: str, default: int, update):
    return bpy.props.IntProperty(name=name, description=description, default=default, update=update, override=OWN)


def kept_data(what: str):
    """A pointer to what ``scene.binding_store`` keeps; what: completes "Holds ..." in the tooltip."""
    return bpy.props.PointerProperty(type=DATABLOCK, description=f"Holds {what}", override=OWN)


def noted(settings, _context) -> None:
    """Blender evaluates nothing where a script changes a setting: what is live would not look at it."""
    settings.id_data.update_tag(refresh={"OBJECT"})
