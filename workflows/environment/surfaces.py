"""The objects that a rig is bound to: which they are, and whether they are still there with the same faces."""

from __future__ import annotations

import numpy as np

from ...scene.meshes import read_surface
from ...scene.names import is_in_scene
from ...scene.topology import explain_change, fingerprint
from ...solvers.core.errors import ChangedSetError
from ...solvers.core.types import MeshTrack, TriangleMesh
from .replaced import is_replaced
from .store import Stored

# The way out where some of the bound objects are no longer as they were bound.
KEEP_THE_REST = "press Update Binding (the command bind --keep), which keeps the others as they were bound"


def bound_triangles(stored: Stored, items) -> dict[str, np.ndarray]:
    """Triangles at bind of each object that is not replaced, by its present name. items: of ``bound_surfaces``."""
    pairs = zip(items, stored.triangles, strict=True)
    return {item.target.name_full: triangles for item, triangles in pairs if not is_replaced(item)}


def bound_surfaces(scene, ob, workflow, objects):
    """The settings' items of the bound objects, in the binding's order; raises ChangedSetError where one is gone."""
    items = {item.bound_name: item for item in workflow.settings_of(ob).surfaces}
    found = []
    for name in objects:
        item = items.get(name)
        # What has been replaced is not asked any more.
        reason = None if item is not None and is_replaced(item) else why_gone(scene, item)
        if reason:
            way_back = "link it to a collection of the scene again" if item and item.target else "undo that"
            raise ChangedSetError(f"'{name}', which '{ob.name}' is bound to, {reason}; {way_back}, or {KEEP_THE_REST}.")
        found.append(item)
    return found


def why_gone(scene, item) -> str | None:
    """What has become of a bound object that is no longer there, or None. item: its entry in the list, or None."""
    if item is None:
        return "was taken off the list after bind"
    if item.target is None:
        return "was deleted"
    return None if is_in_scene(scene, item.target) else "is no longer in the scene"


def require_bound_shape(target, depsgraph, triangles: np.ndarray, bound: str, shown) -> None:
    """Raises ChangedSetError where an object has other faces than at bind, InputError where it has no surface.

    triangles: at bind.  bound: see ``topology.fingerprint``.  shown: ``ShownInstances``.
    """
    state, now = read_surface(target, depsgraph, triangles, shown)
    require_topology(target.name_full, state.surface(now), bound)


def require_topology(name: str, mesh: MeshTrack | TriangleMesh, bound: str) -> None:
    change = explain_change(name, bound, fingerprint(mesh))
    if change:
        raise ChangedSetError(f"{change} Restore its faces, or {KEEP_THE_REST}.")
