"""What is kept: settings saved in the .blend (property groups) and the run-time cache of fitted models."""

from __future__ import annotations

import bpy


def register(workflows) -> None:
    """Register each workflow's settings and hang them on the ID type that carries them."""
    for workflow in workflows:
        for cls in workflow.classes:
            bpy.utils.register_class(cls)
        if workflow.settings is not None:
            bpy.utils.register_class(workflow.settings)
            owner = getattr(bpy.types, workflow.settings_owner)
            setattr(owner, workflow.settings_name, bpy.props.PointerProperty(type=workflow.settings))


def unregister(workflows) -> None:
    """The reverse of ``register``."""
    for workflow in reversed(workflows):
        if workflow.settings is not None:
            delattr(getattr(bpy.types, workflow.settings_owner), workflow.settings_name)
            bpy.utils.unregister_class(workflow.settings)
        for cls in reversed(workflow.classes):
            bpy.utils.unregister_class(cls)
