"""The running program: what is shown, whether anyone watches, and calls for later."""

from __future__ import annotations

from collections.abc import Callable

import bpy

PRIVATE_MARK = "motion_loom_private"  # on what is made to be evaluated beside the user's scene; see `private_copies`


def in_background() -> bool:
    """Whether there is no window, so that no timer fires."""
    return bpy.app.background


def is_rendering() -> bool:
    return bpy.app.is_job_running("RENDER")


def object_count() -> int:
    """Objects in the file, but for private copies."""
    private = sum(len(scene.objects) for scene in bpy.data.scenes if is_private(scene))
    return len(bpy.data.objects) - private


def is_private(datablock: bpy.types.ID) -> bool:
    """Whether a scene or an object was made to be evaluated beside the user's."""
    return PRIVATE_MARK in datablock


def object_of(scene: bpy.types.Scene, uid: int, name: str) -> bpy.types.Object | None:
    """The object of a scene with that ``session_uid``; name: where to look first."""
    ob = scene.objects.get(name)
    if ob is not None and ob.session_uid == uid:
        return ob
    return next((other for other in scene.objects if other.session_uid == uid), None)


def scene_of(uid: int, name: str) -> bpy.types.Scene | None:
    """The scene with that ``session_uid``; name: where to look first."""
    scene = bpy.data.scenes.get(name)
    if scene is not None and scene.session_uid == uid:
        return scene
    return next((other for other in bpy.data.scenes if other.session_uid == uid), None)


def exists(datablock: bpy.types.ID) -> bool:
    """Whether an object or another datablock that was held on to has not been deleted or undone since."""
    try:
        return bool(datablock.session_uid)
    except ReferenceError:
        return False


def shown() -> list[tuple[bpy.types.Scene, bpy.types.Depsgraph]]:
    """Scene and depsgraph of each window, each once; of the context where there is no window."""
    manager = bpy.context.window_manager
    found = {}
    for window in (manager and manager.windows) or [bpy.context]:
        depsgraph = window.view_layer.depsgraph
        if depsgraph is not None:
            found.setdefault((window.scene.session_uid, window.view_layer.name), (window.scene, depsgraph))
    return list(found.values())


def redraw_sidebars() -> None:
    """Draw the sidebars of 3D viewports again."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == "UI":
                    region.tag_redraw()


def call_later(call: Callable[[], float | None], seconds: float) -> None:
    """Call it after a while, again after as many seconds as it returns; nothing happens where it waits already."""
    if not bpy.app.timers.is_registered(call):
        bpy.app.timers.register(call, first_interval=seconds, persistent=True)


def call_off(call: Callable[[], float | None]) -> None:
    """Do not call it any more."""
    if bpy.app.timers.is_registered(call):
        bpy.app.timers.unregister(call)


def all_objects() -> list[bpy.types.Object]:
    """The objects of the file, but for private copies."""
    return [ob for ob in bpy.data.objects if not is_private(ob)]
