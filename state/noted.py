"""That a setting was changed, told to Blender."""

from __future__ import annotations


def noted(settings, _context) -> None:
    """Blender evaluates nothing where a script changes a setting: what is live would not look at it."""
    settings.id_data.update_tag(refresh={"OBJECT"})
