"""What is wrong, or left out, with the controls of a rig, in words: sentences without full stops."""

from __future__ import annotations

import bpy

from .movers import owners_of
from .outside_goals import pulled_ends

_NAMED = 3
_SIMULATIONS = frozenset({"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM"})


def locked_remark(locked: tuple[str, ...]) -> tuple[str, ...]:
    """Of bones that are keyed, and whose channels are all locked."""
    if not locked:
        return ()
    are = "are keyed, but their" if len(locked) > 1 else "is keyed, but its"
    return (f"{_named(locked)} {are} channels are locked, so that nothing is written there",)


def partly_locked_remark(locked: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Of controls some of whose channels move by keys and are locked: names, and of what."""
    if not locked:
        return ()
    ways = " and ".join(sorted({way for found in locked.values() for way in found}))
    move = "move by their" if len(locked) > 1 else "moves by its"
    return (f"{_named(tuple(locked))} {move} {ways}, of which channels are locked: nothing is written to these",)


def idle_remark(idle: tuple[str, ...]) -> tuple[str, ...]:
    """Of bones that are keyed and move nothing of the body."""
    if not idle:
        return ()
    are = "are keyed, but move" if len(idle) > 1 else "is keyed, but moves"
    return (f"{_named(idle)} {are} no bone that deforms a mesh, so that nothing is written there",)


def unstable_remark(unstable: tuple[str, ...]) -> tuple[str, ...]:
    """Of bones that come out otherwise each time that the same pose is evaluated."""
    if not unstable:
        return ()
    return (
        f"{_named(unstable)} {_come(unstable)} out otherwise each time that the same pose is evaluated: constraints or "
        "drivers of the rig depend on each other in a circle, so that a result may differ from what is seen",
    )


def states_remark(left: int) -> tuple[str, ...]:
    """Of combinations of switches that were not measured."""
    if not left:
        return ()
    return (f"{left} more combinations of the rig's switches occur than are measured; the nearest stand for them",)


def simulated_remark(ob: bpy.types.Object) -> tuple[str, ...]:
    """Of what is simulated and moves the rig by constraints, drivers or parents."""
    found = tuple(each.name for each in owners_of([ob]) if isinstance(each, bpy.types.Object) and _is_simulated(each))
    if not found:
        return ()
    are, they, it = ("are", "they move", "them") if len(found) > 1 else ("is", "it moves", "it")
    return (
        f"{_named(found)} {are} simulated, but not while controls are measured and fitted, so that what {they} "
        f"of the rig is elsewhere then: bake {it} to keyframes and bind again",
    )


def outside_remark(ob: bpy.types.Object, source: tuple) -> tuple[str, ...]:
    """Of goals of IK that are no bones of the rig. source: action and slot, None and None for strips."""
    ends = pulled_ends(ob, source)
    if not ends:
        return ()
    goals = tuple(dict.fromkeys(ends.values()))
    are, they = ("are no bones", "them") if len(goals) > 1 else ("is no bone", "it")
    return (
        f"{_named(goals)}, to which IK pulls {_named(tuple(ends))}, {are} of the rig: nothing is written to {they}, so "
        f"that these limbs stay there; have bones of the rig as goals, and let {they} follow those",
    )


def _is_simulated(ob: bpy.types.Object) -> bool:
    body = ob.rigid_body
    if body is not None and body.type == "ACTIVE" and body.enabled and not body.kinematic:
        return True
    return any(each.type in _SIMULATIONS and each.show_viewport for each in ob.modifiers)


def driver_remark(ob: bpy.types.Object) -> tuple[str, ...]:
    """Of drivers that give no value."""
    owners = [owner.animation_data for owner in (ob, ob.data) if owner.animation_data is not None]
    drivers = [curve for data in owners for curve in data.drivers if not curve.mute]
    broken = tuple(dict.fromkeys(curve.data_path for curve in drivers if not curve.driver.is_valid))
    scripted = tuple(dict.fromkeys(curve.data_path for curve in drivers if _needs_scripts(curve.driver)))
    found = ()
    if scripted and bpy.app.autoexec_fail:
        found += (f"Scripts are disabled, so that {_drivers(scripted)} not run: allow execution and bind again",)
    if broken:
        found += (f"{_drivers(broken)} not work: {_named(broken)}",)
    return found


def _needs_scripts(driver: bpy.types.Driver) -> bool:
    return driver.type == "SCRIPTED" and not driver.is_simple_expression


def _drivers(paths: tuple[str, ...]) -> str:
    return f"{len(paths)} drivers do" if len(paths) > 1 else "1 driver does"


def _come(names: tuple[str, ...]) -> str:
    return "come" if len(names) > 1 else "comes"


def _named(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
