"""Properties that overrides of linked objects may change and keep, and first and last frames among them."""

from __future__ import annotations

import bpy

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
