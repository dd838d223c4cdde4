"""The user's choices that a result among surroundings depends on, for comparing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...scene.points import still_place
from ...scene.rigs import joint_limits
from ..rig.factors import mark_of_setting
from .contacts import marks
from .joints import left_bones
from .keyed_influence import marked
from .replaced import is_filled, is_replaced
from .upright import is_older


def choices_of(ob, workflow, depsgraph) -> Iterator:
    """Texts, numbers and arrays: of the settings, of what pins hold to that stands still, and of joint limits."""
    settings = workflow.settings_of(ob)
    yield 0.0 if is_older(settings) else mark_of_setting(ob, workflow, "upright")
    yield from _numbers(settings)
    yield from marked(settings, partial(mark_of_setting, ob, workflow))
    yield from marks(settings)
    yield from left_bones(settings)
    for pin in settings.pins:
        yield from (pin.bone, pin.target.name_full if pin.target else "", pin.start, pin.end)
        yield None if pin.target is None else still_place(pin.target, depsgraph)
    if settings.limits:
        found = joint_limits(ob)
        yield from (found.lower, found.upper, found.limited, "\n".join(found.orders))


def _numbers(settings) -> Iterator:
    yield from (settings.orientation, settings.limits, settings.clearance, settings.contact)
    yield settings.clearance_distance if settings.clearance == "USER" else 0.0
    yield settings.contact_distance if settings.contact == "USER" else 0.0
    for item in settings.surfaces:
        yield from (item.bound_name, item.mode)
        if is_replaced(item):
            yield item.along
            present = filter(is_filled, item.replacements)
            yield from (each.target.name_full if each.target else each.name for each in present)
    for item in settings.bones:
        yield from (item.bone, item.factor)
