"""What would act on top of a new action: constraints, drivers and blending; what depends on the rig, and it on."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.core.errors import SceneError
from . import actions
from .channels import SIZES
from .instances import instanced_objects
from .switching import changing_constraints

# How many of what overrides a result are named.
_NAMED = 3
_WAY_OUT = (
    "Copy Deform Bones (copy-deform on the command line) makes a rig that plays the same motion and that nothing "
    "overrides: use that one. Where the motion does not need them, muting them is enough."
)
_LINKS = 6  # that are named one by one


def require_result_plays(ob: bpy.types.Object, bones: set[str], limits_heeded: bool) -> None:
    """Raises SceneError where a new action on the object could not move bones as its keys say."""
    if ob.animation_data is None:
        return  # nothing but constraints moves it, which the result switches off
    require_unblended(ob)
    found = overriding(ob, bones, limits_heeded)
    if found:
        raise refusal(ob, found)


def refusal(ob: bpy.types.Object, found: Overriding, because: str = "") -> SceneError:
    """To be raised where a result would be overridden. because: why the rig's controls cannot be written instead."""
    because = because and f" Its controls cannot be written instead: {because}"
    return SceneError(f"{what_overrides(ob, found)}. {_WAY_OUT}{because}")


def require_unblended(ob: bpy.types.Object) -> None:
    """Raises SceneError where a new action would be mixed with NLA strips."""
    data = ob.animation_data
    if data is None:
        return
    if len(data.nla_tracks) and data.use_nla and (data.action_influence != 1.0 or data.action_blend_type != "REPLACE"):
        raise SceneError(
            f"'{ob.name}' blends its action with its NLA strips, so that the result would not play as it is; set the "
            "action's Blending to Replace and its Influence to 1 in the NLA editor."
        )


@dataclass(frozen=True)
class Overriding:
    """What a new action cannot switch off that would override its keys.

    driven: names of bones whose channels drivers set.  constraints: bone and constraint, by name, of those whose
    influence is driven.
    """

    driven: list[str]
    constraints: list[tuple[str, str]]

    def __bool__(self) -> bool:
        return bool(self.driven or self.constraints)


def overriding(ob: bpy.types.Object, bones: set[str], limits_heeded: bool) -> Overriding:
    """Of the drivers those that set channels of some bones, of the constraints all of the rig that act."""
    data = ob.animation_data
    driven = {driver.data_path for driver in data.drivers if not driver.mute} if data is not None else set()
    if not driven:
        return Overriding([], [])
    channels = [actions.bone_of_path(path) for path in driven]
    moved = {bone[0] for bone in channels if bone is not None and bone[0] in bones and bone[1] in SIZES}
    acting = acting_constraints(ob, limits_heeded)
    return Overriding(
        sorted(moved),
        [(bone.name, each.name) for bone, each in acting if influence_path(bone, each) in driven],
    )


def what_overrides(ob: bpy.types.Object, found: Overriding) -> str:
    """All of it in a sentence: how much there is, and the first names."""
    counts = [(len(found.driven), "driven bone"), (len(found.constraints), "driven constraint")]
    kinds = " and ".join(f"{count} {kind}{'s' * (count > 1)}" for count, kind in counts if count)
    names = [f"'{bone}'" for bone in found.driven] + [f"'{name}' on '{bone}'" for bone, name in found.constraints]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{kinds} of '{ob.name}' would override a result: {', '.join(names[:_NAMED])}{more}"


def driven_bones(ob: bpy.types.Object) -> np.ndarray:
    """(B,) bool: the bones of an armature object that a driver moves."""
    paths = [] if ob.animation_data is None else [d.data_path for d in ob.animation_data.drivers if not d.mute]
    found = {bone[0] for bone in map(actions.bone_of_path, paths) if bone is not None and bone[1] in SIZES}
    return np.array([bone.name in found for bone in ob.data.bones])


def acting_constraints(ob: bpy.types.Object, limits_heeded: bool) -> list[tuple]:
    """(bone, constraint) pairs of an armature object that would change a pose which is keyed already, at any frame.

    limits_heeded: rotation limits in the bone's own space are left out, for the pose keeps them.
    """
    pairs = [(bone, each) for bone in ob.pose.bones for each in bone.constraints]
    changing = set()
    if any(each.mute for _bone, each in pairs):  # at this frame
        changing = changing_constraints(ob, actions.assigned(ob) if actions.plays_action(ob) else (None, None))
    return [
        (bone, each)
        for bone, each in pairs
        if (not each.mute or (bone.name, each.name) in changing) and not (limits_heeded and _is_own_limit(each))
    ]


def looked_at(constraints: list[tuple]) -> set[str]:
    """Names of the bones that constraints of their own rig hold to, (bone, constraint) pairs."""
    found = set()
    for bone, constraint in constraints:
        for each in (constraint, *getattr(constraint, "targets", ())):
            if getattr(each, "target", None) == bone.id_data:
                found.add(each.subtarget)
        if getattr(constraint, "pole_target", None) == bone.id_data:
            found.add(constraint.pole_subtarget)
    return found - {""}


def switch_off(action, slot, constraints: list[tuple], time: float) -> None:
    """Key the influence of constraints to zero in an action, from an action time on."""
    if not constraints:
        return
    holder = actions.curve_list(action, slot, create=True)
    for bone, constraint in constraints:
        path = influence_path(bone, constraint)
        for curve in [curve for curve in holder.fcurves if curve.data_path == path]:
            holder.fcurves.remove(curve)
        group = actions.group_named(holder, bone.name)
        actions.write_curve(holder, path, 0, group, [time], [0.0], actions.CONSTANT)


def influence_path(bone, constraint) -> str:
    """Data path of a constraint's influence from the armature object."""
    return actions.bone_path(bone.name, f'constraints["{bpy.utils.escape_identifier(constraint.name)}"].influence')


def _is_own_limit(constraint) -> bool:
    return constraint.type == "LIMIT_ROTATION" and constraint.owner_space == "LOCAL"


def refuse_dependent(objects: list[bpy.types.Object], rig: bpy.types.Object) -> None:
    """Raises SceneError for an object that the rig itself moves or deforms: it would have to follow itself."""
    for ob in objects:
        link = _link_to(ob, rig)
        if link:
            raise SceneError(
                f"'{ob.name}' cannot be in the environment of '{rig.name}', which moves it ({link}); leave it out."
            )


def reaches_out(ob: bpy.types.Object) -> bool:
    """Whether constraints or drivers of a rig's bones depend on what is outside of it, so that its pose would be
    another if its object were elsewhere."""
    constraints = [each for bone in ob.pose.bones for each in bone.constraints if not each.mute]
    return any(map(_looks_outside, constraints)) or any(each not in (ob, ob.data) for each in _read_by_drivers(ob))


def outside_of(ob: bpy.types.Object) -> tuple[str, ...]:
    """Names of what constraints and drivers of a rig depend on beside itself."""
    held = [target for bone in ob.pose.bones for each in bone.constraints for target in targets_of(each)]
    return tuple(dict.fromkeys(each.name for each in (*held, *_read_by_drivers(ob)) if each not in (ob, ob.data)))


def _read_by_drivers(ob) -> list[bpy.types.ID]:
    data = ob.animation_data
    drivers = [each.driver for each in data.drivers if not each.mute] if data is not None else []
    ids = [target.id for driver in drivers for variable in driver.variables for target in variable.targets]
    return [each for each in ids if each is not None]


def targets_of(constraint: bpy.types.Constraint) -> list[bpy.types.Object]:
    """The objects that a constraint holds to."""
    targets = [getattr(constraint, "target", None), getattr(constraint, "pole_target", None)]
    targets += [each.target for each in getattr(constraint, "targets", ())]
    return [target for target in targets if target is not None]


def _looks_outside(constraint) -> bool:
    targets = targets_of(constraint)
    if not targets:
        return constraint.owner_space == "WORLD"
    return any(target != constraint.id_data for target in targets)


def _link_to(ob, rig) -> str | None:
    """How an object hangs on the rig: by parents, modifiers or constraints, directly or through other objects."""
    waiting, seen = [(ob, ())], {ob}
    while waiting:
        owner, way = waiting.pop()
        for target, how in _links(owner):
            if target == rig:
                return _in_short(way, how)
            if target not in seen:
                seen.add(target)
                waiting.append((target, (way, f"{how} '{target.name}'")))
    return None


def _links(ob) -> list[tuple]:
    """The objects that one hangs on, and how."""
    links = [(ob.parent, "parent")] if ob.parent else []
    links += [(shown, "instances") for shown in instanced_objects(ob)]
    for owner in (*ob.modifiers, *ob.constraints):
        links += [(target, f"{owner.bl_rna.name} '{owner.name}'") for target in _objects_of(owner)]
    return links


def _in_short(way: tuple, last: str) -> str:
    """The links of a way, (those before, the latest of them), and the last one; the middle of a long one left out."""
    links = [last]
    while way:
        way, link = way
        links.insert(0, link)
    return ", ".join(links if len(links) <= _LINKS else [*links[:2], "...", *links[-2:]])


def _objects_of(owner) -> list[bpy.types.Object]:
    found = [getattr(owner, p.identifier) for p in owner.bl_rna.properties if p.type == "POINTER"]
    found += [target.target for target in getattr(owner, "targets", ())]
    return [item for item in found if isinstance(item, bpy.types.Object)]
