"""Live on a mesh, for any workflow: a copy that moves stands in for the target, which is hidden meanwhile."""

from __future__ import annotations

from typing import Any

from ...scene import live_mesh
from ...scene.session import all_objects
from ...solvers.core.errors import SceneError
from ..core import live, registry
from ..core.base import Steps, names_what_is_too_large
from ..core.follower import LiveProblem
from .settings import MeshResultSettings


@names_what_is_too_large("the live copy of")
def live_on_steps(context, ob, workflow) -> Steps:
    """Make the copy that moves, by a ``MeshWorkflow``; the scene is changed after the last step only.

    Raises SceneError where another workflow moves a copy of the mesh, or where the copy could not be seen, and as what
    the workflow prepares.
    """
    elsewhere = why_live_elsewhere(ob, workflow)
    if elsewhere:
        raise SceneError(elsewhere)
    prepared = yield from workflow.prepare_live(context, ob)
    settings, chosen = workflow.settings_of(ob), _chosen(context, ob)
    try:
        with live.restored_after_error(ob, workflow.id):
            _let_go(context, ob, settings)
            live_mesh.release_others(ob)  # nothing is live on it: what looks like its copy is one of a former one
            copy = live_mesh.make(context, ob)
            settings.live_copy, settings.live = copy, True
            _require_visible(context, ob, copy)
            _choose(context, copy, *chosen)
            workflow.keep_prepared(ob, prepared)
            live.begin(ob, workflow, workflow.follower(ob))
    except BaseException:
        context.view_layer.update()
        _choose(context, ob, *chosen)
        raise
    return f"'{ob.name}' is live: '{copy.name}' moves, the original is hidden"


def live_off(context, ob, workflow) -> str | None:
    """Remove the copy and show the target as it was."""
    with live.restored_after_error(ob, workflow.id):
        return _leave(context, ob, workflow)


def _leave(context, ob, workflow) -> str | None:
    settings = workflow.settings_of(ob)
    copy = settings.live_copy
    for other in all_objects():  # while the copy tells whose it is
        if other.type == "MESH" and other.library is None and copy is not None:
            theirs = workflow.settings_of(other)
            if theirs.live_copy == copy:
                _let_go(context, other, theirs)
    settings.live, settings.live_copy = False, None
    live.end(ob, workflow.id)
    live_mesh.release_others(ob, copy)
    if copy is None or not _is_copy_of(ob, copy):
        ob.hide_viewport = ob.hide_render = False  # how it was is gone with the copy
        return f"The live copy of '{ob.name}' was deleted: the original is shown again"
    chosen = _chosen(context, copy)
    live_mesh.restore(copy)
    context.view_layer.update()
    _choose(context, ob, *chosen)
    return None


def live_targets(objects, settings_name: str) -> list:
    """The mesh objects that are live, of those given, by their settings of that name."""
    meshes = (ob for ob in objects if ob.type == "MESH" and ob.library is None)
    return [ob for ob in meshes if is_live(ob, getattr(ob, settings_name))]


def is_live(ob, settings) -> bool:
    """Whether a mesh object is live by its settings: a duplicate of a live one, which has them too, is not."""
    return settings.live and not _is_duplicate(ob, settings)


def is_on(ob, settings_name: str) -> bool:
    """Whether a mesh object, or None, is live by its settings of that name."""
    return ob is not None and bool(live_targets([ob], settings_name))


def why_live_elsewhere(ob, workflow) -> str | None:
    """That another workflow moves a copy of the mesh already, which hides the mesh from this one; or None."""
    for other in registry.registered():
        if other.id != workflow.id and _moves_meshes(other) and is_live(ob, other.settings_of(ob)):
            return f"'{ob.name}' is live in {other.label}; switch that off first."
    return None


def require_copy(ob, settings) -> Any:
    """The live copy; raises LiveProblem where it was deleted, or is in no scene."""
    copy = settings.live_copy
    if copy is None or not _is_copy_of(ob, copy):
        raise LiveProblem(f"The live copy of '{ob.name}' was deleted; undo that, or switch Live off and on.")
    if not copy.users_scene:
        raise LiveProblem(
            f"The live copy of '{ob.name}' is in no scene: it was deleted, or '{ob.name}' came without it from another "
            "file; undo that, link it, or switch Live off and on."
        )
    return copy


def require_copy_if_live(ob, settings) -> None:
    """Raises LiveProblem where the mesh is live and its copy was deleted: it is hidden then, and cannot be read."""
    if is_live(ob, settings):
        require_copy(ob, settings)


def _is_copy_of(ob, copy) -> bool:
    """Whether a live copy is that of this object: a duplicate of a live object names the copy of the other one."""
    return live_mesh.is_live(copy) and live_mesh.original_of(copy) == ob


def _is_duplicate(ob, settings) -> bool:
    """Whether the copy that its settings name is that of another object, which this one was duplicated from."""
    copy = settings.live_copy
    return copy is not None and live_mesh.is_live(copy) and live_mesh.original_of(copy) not in (None, ob)


def _let_go(context, ob, settings) -> None:
    """A duplicate of a live object is to be seen as that was before, and names its copy no more."""
    if _is_duplicate(ob, settings):
        live_mesh.show_as_before(ob, settings.live_copy)
        settings.live, settings.live_copy = False, None
        context.view_layer.update()


def _moves_meshes(workflow) -> bool:
    return workflow.settings is not None and issubclass(workflow.settings, MeshResultSettings)


def _chosen(context, ob) -> tuple[bool, bool]:
    """Whether an object is selected and whether it is active."""
    layer = context.view_layer
    return _is_in(layer, ob) and ob.select_get(view_layer=layer), layer.objects.active == ob


def _choose(context, ob, is_selected: bool, is_active: bool) -> None:
    """Make it so for what takes another object's place; the selection of others stays."""
    layer = context.view_layer
    if not _is_in(layer, ob):
        return
    ob.select_set(is_selected, view_layer=layer)
    if is_active:
        layer.objects.active = ob


def _require_visible(context, ob, copy) -> None:
    """Raises SceneError where a live copy is hidden as its original was; what only H has hidden is shown."""
    if not copy.visible_get(view_layer=context.view_layer):
        raise SceneError(
            f"'{ob.name}' is disabled in viewports, or its collections are hidden or excluded, so that its live copy "
            "would not be seen; show it and switch Live on again, or bake without."
        )


def _is_in(layer, ob) -> bool:
    """Whether a view layer has an object: another one, of a library, may have its name."""
    return ob in layer.objects.values()
