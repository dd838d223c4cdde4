"""Objects and collections by name. Two may share one where a library holds one of them; Blender's full name, such as
"Step [set.blend]", tells them apart, and is the plain name for those of the file itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy

from ..solvers.core.errors import SceneError
from .reached import collections_of


def named(candidates: Iterable[bpy.types.ID], name: str) -> bpy.types.ID | None:
    """The one with that full name, else the one with that plain name; None where there is none.

    Raises SceneError for a plain name that several share.
    """
    candidates = [each for each in candidates if name in (each.name_full, each.name)]
    found = [each for each in candidates if each.name_full == name] or candidates
    if len(found) > 1:
        choices = " or ".join(f"'{each.name_full}'" for each in found)
        raise SceneError(f"'{name}' is the name of more than one; write the full name of the one you mean: {choices}.")
    return found[0] if found else None


def is_in_scene(scene: bpy.types.Scene, ob: bpy.types.Object) -> bool:
    """Whether it is one of the scene's objects."""
    return scene.objects.get(ob.name) == ob or any(other == ob for other in scene.objects)


def distinct_names(objects: Sequence[bpy.types.Object]) -> tuple[str, ...]:
    """A name each: the plain one, or the full one where others share that."""
    plain = [ob.name for ob in objects]
    return tuple(ob.name_full if plain.count(ob.name) > 1 else ob.name for ob in objects)


def shared_names(scene: bpy.types.Scene, chosen: Iterable[bpy.types.ID]) -> list[str]:
    """A sentence, without a full stop, for each of the chosen objects whose plain name others share."""
    found = []
    for ob in dict.fromkeys(each for each in chosen if isinstance(each, bpy.types.Object) and each.library is None):
        others = [f"'{other.name_full}'" for other in scene.objects if other.name == ob.name and other != ob]
        if others:
            found.append(f"'{ob.name}' is the object of this file, not {' or '.join(others)}")
    return found


def names_of_collections(scene: bpy.types.Scene, chosen: Iterable[bpy.types.ID]) -> list[str]:
    """As `shared_names`, for objects that could have been meant as collections."""
    collections = {collection.name_full for collection in collections_of(scene)[1:]}
    return [
        f"'{ob.name_full}' is the object, not the collection of that name"
        for ob in dict.fromkeys(chosen)
        if isinstance(ob, bpy.types.Object) and ob.name_full in collections
    ]


def other_side(bone: str) -> str:
    """The name that a bone has on the other side, as Blender flips it; the same for one in the middle."""
    return bpy.utils.flip_name(bone)
