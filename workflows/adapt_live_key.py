"""What a live track of Adapt was solved for beside the environment: the user's choices and the rig, as a digest."""

from __future__ import annotations

from ..scene import actions, binding_store
from ..scene.influence import is_driven
from ..scene.points import still_place
from ..scene.rig_state import Animated, rig_state
from ..scene.rigs import joint_limits
from ..state.cache import fingerprint
from .adapt_action import INFLUENCE, played_action


def inputs_key(ob, scene, depsgraph, animated: Animated) -> str:
    """Digest of all that the solved track depends on but the environment and the source action's keys.

    Looks at the rig while it plays its live action.  The influence counts by its keys, or by its value where it has
    none.  animated: see ``rig_state``.
    """
    rig = rig_state(ob, depsgraph, animated)
    return fingerprint(*_choices(ob, scene), *_pins(ob, depsgraph), *_limits(ob), *_influence(ob), *rig)


def _choices(ob, scene):
    settings, render = ob.motion_loom_adapt, scene.render
    yield from (settings.orientation, settings.limits, settings.clearance, settings.contact)
    yield settings.clearance_distance if settings.clearance == "USER" else 0.0
    yield settings.contact_distance if settings.contact == "USER" else 0.0
    yield from (render.frame_map_old, render.frame_map_new, *binding_store.mark(settings.binding)[1:])
    for item in settings.surfaces:
        yield from (item.bound_name, item.mode, item.influence)
    for item in settings.bones:
        yield from (item.bone, item.factor)


def _pins(ob, depsgraph):
    for pin in ob.motion_loom_adapt.pins:
        yield from (pin.bone, pin.target.name_full if pin.target else "", pin.start, pin.end)
        yield None if pin.target is None else still_place(pin.target, depsgraph)


def _limits(ob):
    if ob.motion_loom_adapt.limits:
        found = joint_limits(ob)
        yield from (found.lower, found.upper, found.limited, "\n".join(found.orders))


def _influence(ob):
    if is_driven(ob, INFLUENCE):
        yield "driven"
        return
    curve = actions.find_curve(*played_action(ob), INFLUENCE)
    if curve is None:
        yield float(ob.motion_loom_adapt.influence)
    else:
        yield actions.keys_of(curve)
