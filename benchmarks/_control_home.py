"""A home-made human whose bones have names that tell nothing: legs and arms in FK and in IK with poles.

One custom property on the root drives the influence of every IK constraint.  Variants: without custom shapes; with
bones that twist, a bone that stretches and a bendy belly.
"""

from __future__ import annotations

import bpy
import numpy as np

from ._control_clips import Reach, Roles

SWITCH = 'pose.bones["{root}"]["q"]'
_SIDES = {"l": 1.0, "r": -1.0}
# Part: head, tail, the part that it hangs on.
_TRUNK = {
    "root": ((0.0, 0.0, 0.0), (0.0, 0.3, 0.0), None),
    "cog": ((0.0, 0.0, 0.95), (0.0, 0.2, 0.95), "root"),
    "pelvis": ((0.0, 0.0, 0.95), (0.0, 0.0, 1.08), "cog"),
    "belly": ((0.0, 0.0, 1.08), (0.0, 0.0, 1.25), "pelvis"),
    "chest": ((0.0, 0.0, 1.25), (0.0, 0.0, 1.45), "belly"),
    "neck": ((0.0, 0.0, 1.45), (0.0, 0.0, 1.55), "chest"),
    "head": ((0.0, 0.0, 1.55), (0.0, 0.0, 1.75), "neck"),
}
# The same, x counted away from the middle; parts of the same side are asked for by a dot.
_LIMBS = {
    "collar": ((0.03, 0.0, 1.42), (0.18, 0.0, 1.42), "chest"),
    "arm": ((0.18, 0.0, 1.42), (0.45, 0.03, 1.42), ".collar"),
    "forearm": ((0.45, 0.03, 1.42), (0.7, 0.0, 1.42), ".arm"),
    "hand": ((0.7, 0.0, 1.42), (0.85, 0.0, 1.42), ".forearm"),
    "thigh": ((0.1, 0.0, 0.95), (0.1, -0.03, 0.52), "pelvis"),
    "shin": ((0.1, -0.03, 0.52), (0.1, 0.0, 0.1), ".thigh"),
    "foot": ((0.1, 0.0, 0.1), (0.1, -0.14, 0.03), ".shin"),
    "toe": ((0.1, -0.14, 0.03), (0.1, -0.22, 0.03), ".foot"),
    "step": ((0.1, 0.0, 0.1), (0.1, 0.15, 0.1), "root"),
    "sole": ((0.1, 0.0, 0.1), (0.1, -0.14, 0.03), ".step"),
    "knee": ((0.1, -0.6, 0.52), (0.1, -0.7, 0.52), "root"),
    "grip": ((0.7, 0.0, 1.42), (0.85, 0.0, 1.42), "root"),
    "elbow": ((0.45, 0.6, 1.42), (0.45, 0.7, 1.42), "root"),
}
_EXTRA = {
    "twist": ((0.1, -0.015, 0.31), (0.1, 0.0, 0.1), ".shin"),
    "strap": ((0.12, 0.02, 1.0), (0.15, 0.02, 1.4), "pelvis"),
}
_MECHANISM = ("root", "cog", "step", "sole", "knee", "grip", "elbow")
_NO_SHAPE = ("pelvis", "sole", "twist", "strap")


def build(shapes: bool = True, stretch: bool = False):
    """The armature object, in the open scene."""
    places = dict(_TRUNK) | {key: _on_side(key, _LIMBS) for part in _LIMBS for key in _both(part)}
    if stretch:
        places |= {key: _on_side(key, _EXTRA) for part in _EXTRA for key in _both(part)}
    ob = bpy.data.objects.new("Person", bpy.data.armatures.new("Person"))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for part, (head, tail, parent) in places.items():
        bone = ob.data.edit_bones.new(name_of(part))
        bone.head, bone.tail = head, tail
        bone.parent = ob.data.edit_bones[name_of(parent)] if parent else None
        bone.use_deform = part.split(".")[0] not in _MECHANISM
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.pose.bones[name_of("root")]["q"] = 0.0
    for side in _SIDES:
        _limb(ob, f"thigh.{side}", f"shin.{side}", f"step.{side}", f"knee.{side}", (f"foot.{side}", f"sole.{side}"))
        _limb(ob, f"arm.{side}", f"forearm.{side}", f"grip.{side}", f"elbow.{side}", (f"hand.{side}", f"grip.{side}"))
        if stretch:
            _twist_and_strap(ob, side)
    if stretch:
        ob.data.bones[name_of("belly")].bbone_segments = 4
    if shapes:
        shape = bpy.data.objects.new("Shape", None)
        for part in places:
            if part.split(".")[0] not in _NO_SHAPE:
                ob.pose.bones[name_of(part)].custom_shape = shape
    return ob


def roles(mode: str) -> Roles:
    """How it is posed in "FK" or "IK"."""
    turns = {"cog": 6.0, "belly": 10.0, "chest": 10.0, "neck": 15.0, "head": 15.0}
    turns |= dict.fromkeys(_both("collar"), 6.0)
    moves, poles, reaches = {"cog": 0.015}, {}, {}
    if mode == "FK":
        for part in ("thigh", "shin", "foot", "arm", "forearm", "hand", "toe"):
            turns |= dict.fromkeys(_both(part), 24.0)
    else:
        turns |= dict.fromkeys(_both("toe"), 15.0)
        poles |= dict.fromkeys((*_both("knee"), *_both("elbow")), 0.05)
        for side in _SIDES:
            reaches[f"step.{side}"] = Reach(name_of(f"thigh.{side}"), name_of(f"foot.{side}"))
            reaches[f"grip.{side}"] = Reach(name_of(f"arm.{side}"), name_of(f"hand.{side}"), (0.7, 0.84))
    return Roles(
        {name_of(part): value for part, value in turns.items()},
        {name_of(part): value for part, value in moves.items()},
        {name_of(part): value for part, value in poles.items()},
        {name_of(part): value for part, value in reaches.items()},
        {SWITCH.format(root=name_of("root")): float(mode == "IK")},
    )


def _both(part: str) -> tuple[str, ...]:
    return tuple(f"{part}.{side}" for side in _SIDES)


def _on_side(key: str, table: dict):
    part, side = key.split(".")
    head, tail, parent = table[part]
    mirrored = tuple((_SIDES[side] * place[0], *place[1:]) for place in (head, tail))
    return (*mirrored, f"{parent[1:]}.{side}" if parent.startswith(".") else parent)


def name_of(part: str) -> str:
    """A name that tells nothing, not even which parts belong together."""
    order = list(_TRUNK) + [key for table in (_LIMBS, _EXTRA) for name in table for key in _both(name)]
    return f"b{np.random.default_rng(7).permutation(len(order))[order.index(part)]:02d}"


def _limb(ob, upper: str, lower: str, goal: str, pole: str, end: tuple[str, str]) -> None:
    """IK over two bones, and an end that turns with another bone, all by the switch."""
    bone = ob.pose.bones[name_of(lower)]
    bone.lock_location = (True, True, True)
    settle_pole(ob, add_ik(bone, ob, name_of(goal), name_of(pole)), name_of(upper))
    turned = ob.pose.bones[name_of(end[0])].constraints.new("COPY_ROTATION")
    turned.target, turned.subtarget = ob, name_of(end[1])
    for name, constraint in ((lower, bone.constraints[0]), (end[0], turned)):
        path = f'pose.bones["{name_of(name)}"].constraints["{constraint.name}"].influence'
        driver = ob.driver_add(path).driver
        driver.type = "AVERAGE"
        variable = driver.variables.new()
        variable.targets[0].id = ob
        variable.targets[0].data_path = SWITCH.format(root=name_of("root"))


def add_ik(bone, ob, goal: str, pole: str, count: int = 2):
    """An IK constraint with a pole on a pose bone."""
    ik = bone.constraints.new("IK")
    ik.target = ik.pole_target = ob
    ik.subtarget, ik.pole_subtarget, ik.chain_count = goal, pole, count
    return ik


def settle_pole(ob, ik, upper: str) -> None:
    """The pole angle at which the bones stay where they rest: the pole counts from the chain's own roll."""
    bone, rest = ob.pose.bones[upper], np.array(ob.data.bones[upper].matrix_local)

    def away(angle):
        # Blender clamps it to a half turn.
        ik.pole_angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
        bpy.context.view_layer.update()
        return np.abs(np.array(bone.matrix) - rest).max()

    angles = np.linspace(-np.pi, np.pi, 24, endpoint=False)
    step = angles[1] - angles[0]
    best = min(angles, key=away)
    while step > 1e-7:
        step *= 0.5
        best = min((best - step, best, best + step), key=away)
    away(best)


def _twist_and_strap(ob, side: str) -> None:
    """A bone takes half of the foot's turn about the shin, one reaches from the pelvis to the collar."""
    twist = ob.pose.bones[name_of(f"twist.{side}")].constraints.new("COPY_ROTATION")
    twist.target, twist.subtarget, twist.influence = ob, name_of(f"foot.{side}"), 0.5
    twist.use_x = twist.use_z = False
    twist.target_space = twist.owner_space = "LOCAL"
    strap = ob.pose.bones[name_of(f"strap.{side}")].constraints.new("STRETCH_TO")
    strap.target, strap.subtarget, strap.head_tail = ob, name_of(f"collar.{side}"), 0.5
