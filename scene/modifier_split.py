"""Where the modifiers of a mesh stop deforming it over time: those after that point can stay on a copy of the result.

A mesh's motion is read, learnt and written as it leaves the last modifier that depends on more than the mesh it is
given; subdivision, mirroring and the like after it are left out, and stay on the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from . import actions
from .sampling import strip_curves
from .session import object_of
from .stillness import is_timeless

# It compares the mesh it is given with the undeformed one, which a copy of the result does not have.
_NEEDS_REST_SHAPE = frozenset({"CORRECTIVE_SMOOTH"})


def kept_modifiers(ob: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers at the end of the stack that can stay on a copy of the deformed mesh, in the stack's order.

    Modifiers switched off in viewports count as absent; one of them that may deform over time is not kept either.
    """
    kept: list[bpy.types.Modifier] = []
    animated = animated_paths(ob)
    for modifier in reversed(ob.modifiers):
        stays = _stays(modifier, animated)
        if modifier.show_viewport and not stays:
            break
        if stays:
            kept.insert(0, modifier)
    return kept


def deforming_modifiers(ob: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers in use whose effect is part of the motion."""
    kept = {modifier.name for modifier in kept_modifiers(ob)}
    return [modifier for modifier in ob.modifiers if modifier.show_viewport and modifier.name not in kept]


def _stays(modifier: bpy.types.Modifier, animated: list[str]) -> bool:
    own = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"]'
    return (
        is_timeless(modifier)
        and modifier.type not in _NEEDS_REST_SHAPE
        and not any(path.startswith(own) for path in animated)
    )


def animated_paths(ob: bpy.types.Object) -> list[str]:
    """Data paths of an object that its action, NLA strips or drivers move."""
    data = ob.animation_data
    if data is None:
        return []
    plays = actions.plays_action(ob) and not data.use_tweak_mode
    curves = actions.playing_curves(*actions.assigned(ob)) if plays else []
    return [animated.data_path for animated in (*curves, *strip_curves(ob), *data.drivers)]


@contextmanager
def kept_switched_off(scene: bpy.types.Scene, ob: bpy.types.Object) -> Iterator[None]:
    """Leaves the modifiers that `kept_modifiers` names out of the evaluation, so that the mesh is read before them.

    They are found again by name: the user may delete what they like, or undo, while frames are stepped through.
    """
    uid, name = ob.session_uid, ob.name
    shown = [modifier.name for modifier in kept_modifiers(ob) if modifier.show_viewport]
    try:
        _show(ob, shown, False)
        yield
    finally:
        still = object_of(scene, uid, name)
        if still is not None:
            _show(still, shown, True)


def _show(ob: bpy.types.Object, names: list[str], shown: bool) -> None:
    for name in names:
        modifier = ob.modifiers.get(name)
        if modifier is not None:
            modifier.show_viewport = shown
