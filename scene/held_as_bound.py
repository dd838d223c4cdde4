"""What constraints of a rig's bones hold to outside of it, as it moved at Bind, and the rig's motion as it was then.

A goal that hangs on a box goes along when the box is moved. The bound motion is nevertheless the one with the box where
it was: stand-ins take its place on a private copy of the rig.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Matrix

from ..solvers.skeleton.kinematics import basis_from_pose
from . import actions
from .bone_dependence import hangs_on
from .channels import SIZES
from .control_copy import control_copy
from .frames import frame_kept, step_through
from .motion import BoneMotion
from .private_copies import PrivateCopies
from .references import point_to
from .stillness import can_move

# Why a motion was read as it was at Bind.
HELD_AS_BOUND = "what its constraints hold to was moved"
# They look at nothing but where their target is. Surfaces, cages and bones of armatures cannot be stood in for.
_PLACES = frozenset(
    """CHILD_OF COPY_LOCATION COPY_ROTATION COPY_SCALE COPY_TRANSFORMS DAMPED_TRACK IK LIMIT_DISTANCE LOCKED_TRACK
    STRETCH_TO TRACK_TO TRANSFORM""".split()
)
_SUBTARGETS = {"target": "subtarget", "pole_target": "pole_subtarget"}
_SAME = 1e-5  # of world matrices in single precision, beside as much relative


@dataclass(frozen=True)
class HeldAsBound:
    """links: bone, constraint and its property, N of them.  worlds: (F or 1, N, 4, 4) of what each held to, or of the
    bone of it.  rig: (F or 1, 4, 4) of the rig's object."""

    links: tuple[tuple[str, str, str], ...]
    worlds: np.ndarray
    rig: np.ndarray

    @classmethod
    def of(cls, context: bpy.types.Context, ob: bpy.types.Object, motion: BoneMotion) -> HeldAsBound | None:
        """As things are over the frames of the rig's motion; None where nothing is held to."""
        links = tuple(_links(ob))
        if not links:
            return None
        worlds = _worlds(context, ob, links, motion.frames)
        rig = motion.object_world
        is_still = len(worlds) == 1 and np.ptp(rig, axis=0).max() < 1e-9
        return cls(links, worlds, rig[:1] if is_still else rig)

    def moved(self, context: bpy.types.Context, ob: bpy.types.Object, motion: BoneMotion) -> tuple[str, ...]:
        """Names of the objects that are elsewhere than at Bind while the rig moves so, the rig's own if it is that."""
        if tuple(_links(ob)) != self.links:
            return ()  # the mechanism is another one
        now = _worlds(context, ob, self.links, motion.frames)
        parts = [(ob.name, self.rig, motion.object_world)]
        names = [getattr(_constraint(ob, link), link[2]).name for link in self.links]
        parts += [(name, self.worlds[:, k], now[:, k]) for k, name in enumerate(names)]
        away = [name for name, then, here in parts if not np.allclose(then, here, rtol=_SAME, atol=_SAME)]
        return tuple(dict.fromkeys(away))

    def stand_in(self, private: PrivateCopies, copy: bpy.types.Object, times: np.ndarray) -> None:
        """Have a private copy of the rig hold to objects that are to it as those were at Bind; times: (F,)."""
        away = np.linalg.inv(self.rig)[:, None] @ self.worlds
        for number, (bone, name, prop) in enumerate(self.links):
            place = private.own(bpy.data.objects.new(".held", None))
            private.scene.collection.objects.link(place)
            place.parent, place.rotation_mode = copy, "QUATERNION"
            _place(private, place, away[:, number], times)
            constraint = copy.pose.bones[bone].constraints[name]
            if getattr(constraint, _SUBTARGETS[prop], ""):
                setattr(constraint, _SUBTARGETS[prop], "")
            point_to(constraint, prop, place)


def motion_as_bound(
    context: bpy.types.Context, ob: bpy.types.Object, held: HeldAsBound, like: BoneMotion, **played
) -> BoneMotion:
    """The motion of bones apart that the rig had at Bind, with its object as it moves in another motion.

    played: what it plays, as of `control_copy`.
    """
    with control_copy(context, ob, (), like.frames, stand_in=held.stand_in, **played) as copy:
        pose = copy.source().pose
    return replace(like, basis=basis_from_pose(like.rig, pose), sampled_because=HELD_AS_BOUND)


def _links(ob) -> Iterator[tuple[str, str, str]]:
    for bone in ob.pose.bones:
        for each in bone.constraints:
            for prop, subtarget in _SUBTARGETS.items():
                target, part = getattr(each, prop, None), getattr(each, subtarget, "")
                if target is not None and not hangs_on(target, ob) and _is_place(each, target, part):
                    yield bone.name, each.name, prop


def _is_place(constraint, target, subtarget: str) -> bool:
    """Whether nothing but where the target, or a bone of it, is counts."""
    if constraint.type not in _PLACES or getattr(constraint, "target_space", "WORLD") != "WORLD":
        return False
    if subtarget:
        return target.pose is not None and subtarget in target.pose.bones and not getattr(constraint, "head_tail", 0.0)
    return True


def _constraint(ob, link: tuple[str, str, str]):
    return ob.pose.bones[link[0]].constraints[link[1]]


def _worlds(context, ob, links, frames: np.ndarray) -> np.ndarray:
    """(F, N, 4, 4) at scene frames (F,), stepping through them, or (1, N, 4, 4) where all stand still."""
    holders = [getattr(_constraint(ob, link), link[2]) for link in links]
    if not any(can_move(each) or each.pose is not None for each in holders):
        return np.array([_worlds_now(ob, links, context.evaluated_depsgraph_get())])
    with frame_kept(context.scene):
        return np.array([_worlds_now(ob, links, depsgraph) for depsgraph in step_through(context, frames)])


def _worlds_now(ob, links, depsgraph) -> list[np.ndarray]:
    out = []
    for link in links:
        constraint = _constraint(ob, link)
        target = getattr(constraint, link[2]).evaluated_get(depsgraph)
        world, bone = np.array(target.matrix_world, float), getattr(constraint, _SUBTARGETS[link[2]], "")
        out.append(world @ np.array(target.pose.bones[bone].matrix, float) if bone else world)
    return out


def _place(private: PrivateCopies, place: bpy.types.Object, matrices: np.ndarray, times: np.ndarray) -> None:
    """An object at matrices (F or 1, 4, 4) at action times (F,)."""
    place.matrix_basis = Matrix(matrices[0])
    if len(matrices) == 1:
        return
    action, slot = actions.create(place, ".held")
    private.own(action)
    holder = actions.curve_list(action, slot, create=True)
    parts = [Matrix(matrix).decompose() for matrix in matrices]
    for channel, values in zip(("location", "rotation_quaternion", "scale"), zip(*parts, strict=True), strict=True):
        for index in range(SIZES[channel]):
            actions.write_curve(holder, channel, index, None, times, [value[index] for value in values])
    actions.assign(place, action, slot)
