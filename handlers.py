"""Application handlers; no mathematics here."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from .state import cache, mesh_edits, prepare_overrides
from .state.live_runs import live_runs
from .workflows.core import lifecycle, live, live_render, live_undo, opened, private, registry
from .workflows.core.base import Workflow


@persistent
def _frame_changed(scene, depsgraph) -> None:
    """After the frame's evaluation, for what moves by itself; what is written here is evaluated before it is shown."""
    _follow(scene, depsgraph, is_playback=True)


@persistent
def _updated(scene, depsgraph) -> None:
    """After every edit."""
    _follow(scene, depsgraph)


@persistent
def _undone(*_args) -> None:
    """Undo and redo replace all objects, and bring the live action back as it was along with what it was solved for."""
    private.sweep()
    mesh_edits.note_undo()
    lifecycle.call(Workflow.on_undo)
    live_undo.follow_undone(registry.registered())


@persistent
def _loaded(*_args) -> None:
    private.sweep()
    _forget()
    lifecycle.call(Workflow.on_load)
    _find_live()


def _look_at_opened() -> None:
    """What is open while the extension is enabled may hold what is live; nothing can be read of it until after that."""
    _forget()
    _find_live()


def _find_live() -> None:
    live.look_through(registry.registered())
    live.follow_opened()


def _forget() -> None:
    """A session_uid means another object once another file is open."""
    live.stop_all()
    cache.clear()
    mesh_edits.note_undo()


@persistent
def _saves(*_args) -> None:
    """A file is about to be saved."""
    private.sweep()
    lifecycle.call(Workflow.on_save)
    prepare_overrides()


@persistent
def _opens(path, *_args) -> None:
    """Before a file is read: what another program writes there from now on is not what is open."""
    opened.note_file(path)


@persistent
def _saved(path, *_args) -> None:
    opened.note_saved(path)


@persistent
def _before_render(*_args) -> None:
    """A render shows the track: it must not begin with one that lags behind."""
    live_render.finish_all()


_HANDLERS = (
    (bpy.app.handlers.frame_change_post, _frame_changed),
    (bpy.app.handlers.depsgraph_update_post, _updated),
    (bpy.app.handlers.undo_post, _undone),
    (bpy.app.handlers.redo_post, _undone),
    (bpy.app.handlers.load_pre, _opens),
    (bpy.app.handlers.load_post, _loaded),
    (bpy.app.handlers.save_pre, _saves),
    (bpy.app.handlers.save_post, _saved),
    (bpy.app.handlers.render_init, _before_render),
)


def register() -> None:
    for calls, handler in _HANDLERS:
        if handler not in calls:
            calls.append(handler)
    if not bpy.app.timers.is_registered(_look_at_opened):
        bpy.app.timers.register(_look_at_opened, first_interval=0.0)


def unregister() -> None:
    for calls, handler in _HANDLERS:
        if handler in calls:
            calls.remove(handler)
    if bpy.app.timers.is_registered(_look_at_opened):
        bpy.app.timers.unregister(_look_at_opened)
    private.sweep()
    lifecycle.call(Workflow.on_unregister)
    _forget()


def _came_or_went() -> bool:
    """Whether objects were added or removed: one that was appended or copied may be live."""
    return private.object_count() != live_runs.known


def _follow(scene, depsgraph, is_playback: bool = False) -> None:
    if private.is_private(scene):
        return
    if depsgraph.mode == "RENDER":
        live_render.show_rendered(scene, depsgraph)  # tracks alone: renders have a thread of their own
        return
    mesh_edits.note(depsgraph, is_playback)
    if _came_or_went():
        live.look_through(registry.registered())
        live.follow_all(scene, depsgraph, None)
    elif live_runs.runs:
        updated = {update.id.original.session_uid for update in depsgraph.updates}
        live.follow_all(scene, depsgraph, updated, is_playback)
