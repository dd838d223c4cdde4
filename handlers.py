"""Application handlers; no mathematics here."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from .state import cache, prepare_overrides


@persistent
def _forget_fitted_models(*_args) -> None:
    # A session_uid means another object once another file is open.
    cache.clear()


@persistent
def _keep_settings_of_overrides(*_args) -> None:
    prepare_overrides()


_HANDLERS = (
    (bpy.app.handlers.load_post, _forget_fitted_models),
    (bpy.app.handlers.save_pre, _keep_settings_of_overrides),
)


def register() -> None:
    for calls, handler in _HANDLERS:
        if handler not in calls:
            calls.append(handler)


def unregister() -> None:
    for calls, handler in _HANDLERS:
        if handler in calls:
            calls.remove(handler)
    cache.clear()
