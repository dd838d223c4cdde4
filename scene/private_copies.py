"""Private copies of objects in a scene of their own, in which frames are stepped through while the user's stay as is.

What moves a copy is what moves the original: its own action, drivers, constraints, and objects outside at their true
frames.  What refers to an original that is copied as well refers to the copy.  All of it is marked, so that nothing
else of the extension takes it for the user's, and so that leftovers are found.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from .mesh_copy import forget_settings
from .movers import hung_on, owners_of
from .references import point_to
from .session import PRIVATE_MARK, exists

_HIDDEN = "."  # what a name begins with that Blender's lists leave out
_KINDS = ("scenes", "objects", "armatures", "actions")
_TIME = ("fps", "fps_base", "frame_map_old", "frame_map_new")


@dataclass(frozen=True)
class PrivateCopies:
    """scene: in which they are evaluated.  copies: of each object.  made: all datablocks that go when they go."""

    scene: bpy.types.Scene
    copies: dict[bpy.types.Object, bpy.types.Object]
    made: list[bpy.types.ID]

    @property
    def depsgraph(self) -> bpy.types.Depsgraph:
        """As it was evaluated last."""
        return self.scene.view_layers[0].depsgraph

    def own(self, datablock: bpy.types.ID) -> bpy.types.ID:
        """Have a local datablock go with the copies."""
        return _marked(datablock, self.made)

    def exist(self) -> bool:
        """Whether undo, or opening a file, has not taken them away."""
        return exists(self.scene)


@contextmanager
def private_copies(scene: bpy.types.Scene, ob: bpy.types.Object) -> Iterator[PrivateCopies]:
    """An object of a scene, and what moves it while it hangs on it itself, copied into a scene of their own.

    All is gone when the block ends, whichever way.
    """
    made: list[bpy.types.ID] = []
    try:
        alone = _marked(bpy.data.scenes.new(_HIDDEN + PRIVATE_MARK), made)
        _keep_time(scene, alone)
        copies = {each: _copied(each, made) for each in (ob, *_helpers(ob))}
        for copy in copies.values():
            alone.collection.objects.link(copy)
        pairs: dict[bpy.types.ID, bpy.types.ID] = {scene: alone, **copies}
        pairs |= {each.data: copy.data for each, copy in copies.items() if copy.data != each.data}
        for copy in copies.values():
            _refer_to_copies(copy, pairs)
        yield PrivateCopies(alone, copies, made)
    finally:
        _remove(made)


def sweep() -> None:
    """Remove what is left of private copies by a block that never came to its end."""
    left = {each for kind in _KINDS for each in getattr(bpy.data, kind) if PRIVATE_MARK in each}
    if left:
        bpy.data.batch_remove(left)


def _marked(datablock: bpy.types.ID, made: list) -> bpy.types.ID:
    made.append(datablock)
    datablock[PRIVATE_MARK] = True
    return datablock


def _remove(made: list) -> None:
    left = {each for each in made if exists(each)}
    if left:
        bpy.data.batch_remove(left)


def _keep_time(scene: bpy.types.Scene, alone: bpy.types.Scene) -> None:
    """What animation reads of a scene: how time runs, and its custom properties."""
    for name in _TIME:
        setattr(alone.render, name, getattr(scene.render, name))
    alone.frame_start, alone.frame_end = scene.frame_start, scene.frame_end
    alone.use_gravity, alone.gravity = scene.use_gravity, scene.gravity
    for name, value in scene.items():
        if isinstance(value, (bool, int, float, str)):
            alone[name] = value


def _helpers(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects on which an object hangs and that hang on it in turn: they must go with a copy of it."""
    owners = owners_of([ob])
    on = {owner: set(hung_on(owner)) for owner in owners}
    carried = {ob, ob.data}
    while True:
        more = {owner for owner in owners if owner not in carried and on[owner] & carried}
        if not more:
            break
        carried |= more
    return [owner for owner in owners if owner in carried and owner != ob and isinstance(owner, bpy.types.Object)]


def _copied(ob: bpy.types.Object, made: list) -> bpy.types.Object:
    """A local copy that is evaluated; an armature with an animation of its own is copied too, for it may look at the
    object."""
    copy = _marked(ob.copy(), made)
    copy.make_local(clear_liboverride=True)  # a copy of an override is one too
    copy.name = _HIDDEN + ob.name
    forget_settings(copy)
    copy.hide_viewport = False
    data = ob.data
    if isinstance(data, bpy.types.Armature) and data.animation_data is not None:
        own = _marked(data.copy(), made)
        own.make_local(clear_liboverride=True)
        copy.data = own
    return copy


def _refer_to_copies(copy: bpy.types.Object, pairs: dict[bpy.types.ID, bpy.types.ID]) -> None:
    """Have all that moves a copy look at copies in place of their originals.

    Blender does so for references of an object to itself, not for those of its data, nor among objects.
    """
    for owner in (copy, copy.data):
        animation = getattr(owner, "animation_data", None)
        if animation is not None and owner in pairs.values():
            for driver in animation.drivers:
                for variable in driver.driver.variables:
                    for target in variable.targets:
                        _replace(target, "id", pairs)
    _replace(copy, "parent", pairs)
    bones = copy.pose.bones if copy.pose is not None else ()
    for constraint in (each for owner in (copy, *bones) for each in owner.constraints):
        for name in ("target", "pole_target", "space_object"):
            _replace(constraint, name, pairs)
        for target in getattr(constraint, "targets", ()):
            _replace(target, "target", pairs)
    for modifier in copy.modifiers:
        for prop in modifier.bl_rna.properties:
            if prop.type == "POINTER" and not prop.is_readonly:
                _replace(modifier, prop.identifier, pairs)


def _replace(holder, name: str, pairs: dict[bpy.types.ID, bpy.types.ID]) -> None:
    present = getattr(holder, name, None)
    if isinstance(present, bpy.types.ID) and present in pairs:
        point_to(holder, name, pairs[present])
