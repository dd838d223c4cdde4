"""Which objects the environment is made of: names and collections become objects with a surface."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import bpy

from ..solvers.core.errors import SceneError
from .instances import instances_children
from .names import named
from .reached import collections_of

SURFACE_TYPES = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})


def find(context: bpy.types.Context, names: Iterable[str]) -> list[bpy.types.Object | bpy.types.Collection]:
    """Objects of the scene, else collections of it, by name or full name.

    Raises SceneError for a name that is not there, with the closest names that are, and for one that several share.
    """
    scene = context.scene
    collections = collections_of(scene)
    return [_find_one(name, scene, collections) for name in names]


def _find_one(name, scene, collections):
    found = named(scene.objects, name) or named(collections, name)
    if found:
        return found
    if any(name in (each.name, each.name_full) for each in (*bpy.data.objects, *bpy.data.collections)):
        raise SceneError(f"'{name}' is not in the scene '{scene.name}'; link it to the scene.")
    choices = {each.name_full.casefold(): each.name_full for each in (*collections, *scene.objects)}
    close = [choices[key] for key in difflib.get_close_matches(name.casefold(), choices, cutoff=0.5)]
    hint = " or ".join(f"'{key}'" for key in close)
    raise SceneError(
        f"There is no object or collection '{name}' in the scene; "
        + (f"did you mean {hint}?" if hint else "check the name, it may have been renamed or deleted.")
    )


def expand(objects: Iterable[bpy.types.Object | bpy.types.Collection | None]) -> list[bpy.types.Object]:
    """Objects with a surface: collections give way to theirs, each object comes once, order is kept.

    Objects of a collection that have no surface by nature (cameras, empties, paths) are left out; chosen by
    themselves they are an error.

    Raises SceneError for a deleted object, one without a surface, a collection without any and a collection
    instance.
    """
    found: dict[bpy.types.Object, None] = {}
    for item in objects:
        try:
            found.update(dict.fromkeys(_surfaces_of(item)))
        except ReferenceError as error:
            raise SceneError(
                "An object of the environment was deleted; choose the environment again."
            ) from error
    return list(found)


def _surfaces_of(item: bpy.types.Object | bpy.types.Collection | None) -> list[bpy.types.Object]:
    if item is None:
        raise SceneError(
            "An entry of the environment is empty, its object was deleted; choose another object."
        )
    if isinstance(item, bpy.types.Collection):
        members = list(item.all_objects)
        for member in members:
            _refuse_instance(member)
        surfaces = [member for member in members if _has_surface(member) and not _is_instanced_alone(member)]
        if not surfaces:
            raise SceneError(
                f"The collection '{item.name_full}' holds no object with a surface; add one to it."
            )
        return surfaces
    _refuse_instance(item)
    if item.type not in SURFACE_TYPES:
        raise SceneError(
            f"'{item.name_full}' is of type {item.type} and has no surface; choose a mesh, curve, text, "
            "surface or metaball."
        )
    if _is_instanced_alone(item):
        raise SceneError(f"'{item.name_full}' is shown as instances of '{item.parent.name_full}'; choose that one.")
    return [item]


def _is_instanced_alone(ob: bpy.types.Object) -> bool:
    return ob.parent is not None and instances_children(ob.parent)


def _refuse_instance(ob: bpy.types.Object) -> None:
    if ob.type == "EMPTY" and ob.instance_type == "COLLECTION" and ob.instance_collection:
        raise SceneError(
            f"'{ob.name_full}' is an instance of a collection, which cannot be bound to; make it real "
            "(Object > Apply > Make Instances Real) or choose the objects themselves."
        )


def _has_surface(ob: bpy.types.Object) -> bool:
    if ob.type != "CURVE":
        return ob.type in SURFACE_TYPES
    curve = ob.data
    filled = curve.dimensions == "2D" and curve.fill_mode != "NONE"
    return bool(filled or curve.bevel_depth or curve.extrude or curve.bevel_object or len(ob.modifiers))
