"""What hangs on what, however deep it goes: a function that calls itself ends at a thousand levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import bpy

_T = TypeVar("_T")


def reached(starts: Iterable[_T | None], following: Callable[[_T], Iterable[_T | None]]) -> list[_T]:
    """The starts and all that is reached from them, each once.  following: what comes after one, None for nothing."""
    found: dict[_T, None] = {}
    waiting = list(starts)[::-1]
    while waiting:
        each = waiting.pop()
        if each is not None and each not in found:
            found[each] = None
            waiting += list(following(each))[::-1]
    return list(found)


def collections_of(scene: bpy.types.Scene) -> list[bpy.types.Collection]:
    """The scene's own collection and all below it."""
    return reached([scene.collection], lambda collection: collection.children)


def node_trees(tree: bpy.types.NodeTree) -> list[bpy.types.NodeTree]:
    """A node tree and those of all groups in it."""
    return reached([tree], lambda each: (getattr(node, "node_tree", None) for node in each.nodes))
