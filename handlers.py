"""Application handlers; no mathematics here."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from .state import cache


@persistent
def _forget_fitted_models(*_args) -> None:
    # A session_uid means another object once another file is open.
    cache.clear()


def register() -> None:
    if _forget_fitted_models not in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.append(_forget_fitted_models)


def unregister() -> None:
    if _forget_fitted_models in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_forget_fitted_models)
    cache.clear()
