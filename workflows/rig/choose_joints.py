"""Which joints of a rig are solved: those of its body, by what moves skin or carries something, and by its motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...scene.deform_tree import noted_parents
from ...scene.interference import driven_bones
from ...scene.motion import BoneMotion, read_motion
from ...scene.radii import bone_radii, carrying_bones
from ...scene.rigs import constrained_bones, deform_bones, require_uniform_scale
from ...solvers.controls.control_rig import ControlRig
from ...solvers.core.errors import InputError
from ...solvers.core.subsampling import strided
from ...solvers.core.types import JointTrack
from ...solvers.core.vectors import mean_scale
from ...solvers.skeleton.body_bones import body_bones
from ...solvers.skeleton.body_size import body_size, extent
from ...solvers.skeleton.hierarchy import carriers
from ...solvers.skeleton.kept_places import props, riding_parents
from ...solvers.skeleton.motion_tree import motion_parents
from ...solvers.skeleton.reversed_chains import reversed_bones
from ...solvers.skeleton.rig import Rig
from ...solvers.skeleton.solved_joints import hang_feet, solved_joints
from .source import Source, with_solved
from .source_notes import control_notes, left_out_notes, staying_notes

# A rig in which this share of the body's bones has no parent has no hierarchy of its own.
_FLAT = 0.5
# What the user may choose for a bone.
SOLVE, RIDE = "SOLVE", "RIDE"
# More carriers than that on one are features of it: five digits and a few bones of a trunk are fewer.
_CROWD = 7
# Frames looked at for what hangs on what.
_LOOKED_AT = 64


def read_source(
    context, ob, frames: np.ndarray, choices: Mapping[str, str] | None = None, controls: ControlRig | None = None
) -> Source:
    """Read a rig and choose the joints to solve.

    choices: SOLVE or RIDE of bones by name; the others are chosen by what they are.  controls: of a rig whose bones are
    moved by controls; the joints are chosen from what carries the others.
    Raises InputError for a bone that cannot be solved, SceneError for a scale of the object that is not positive and
    even, and what reading raises.
    """
    if controls is not None:
        return _read_control_source(context, ob, frames, controls, choices or {})
    motion = read_motion(context, ob, frames)
    whole = motion.joints()
    require_uniform_scale(ob.name, motion.object_world, frames)
    rig, connected = motion.rig, motion.rig.use_connect
    solve, ride = (np.isin(rig.names, [b for b, m in (choices or {}).items() if m == mode]) for mode in (SOLVE, RIDE))
    bones, few = len(rig.names), _few(motion)
    seen, pose = few.joints(), few.pose
    body, tree = _body_and_tree(context, ob, rig, seen, pose, _units(motion))
    height = body_size(seen, tree, body)
    # Solving turns bones about their heads: what hangs by its tail rides, unless it is chosen.
    backward = reversed_bones(rig, tree, pose, height / _units(motion)) & ~solve
    solved = solved_joints(seen, bones, body | solve, connected, height, tree, solve, ride | backward)
    tree = with_solved(tree, solved)
    heads, size = solved.joints[solved.joints < bones], height / _units(motion)
    tree = riding_parents(rig, tree, pose, heads, ~driven_bones(ob) & ~backward, size)
    source = Source(motion, whole, solved, solved.track(whole), tree, height)
    is_chosen = carriers(rig.parents, np.flatnonzero(ride)) < ride.sum()
    limbs = (body | deform_bones(ob) | ~constrained_bones(ob)) & ~is_chosen
    limbs[rig.ancestry(heads)] = False  # a root at the ground, on which controls hang as well
    return replace(source, notes=(*left_out_notes(source, pose, body, limbs, size), *staying_notes(source)))


def _read_control_source(
    context, ob, frames: np.ndarray, controls: ControlRig, choices: Mapping[str, str]
) -> Source:
    motion = read_motion(context, ob, frames, apart=True)
    whole, rig = motion.joints(), motion.rig
    require_uniform_scale(ob.name, motion.object_world, frames)
    solve, ride = (np.isin(rig.names, [b for b, m in choices.items() if m == mode]) for mode in (SOLVE, RIDE))
    _require_carriers(controls, solve)
    seen, body, tree = _few(motion).joints(), _without_crowds(controls), controls.motion_tree
    height = body_size(seen, tree, body)
    solved = solved_joints(seen, len(rig.names), body | solve, rig.use_connect, height, tree, solve, ride)
    source = Source(motion, whole, solved, solved.track(whole), with_solved(tree, solved), height, controls=controls)
    return replace(source, notes=control_notes(source))


def _without_crowds(controls: ControlRig) -> np.ndarray:
    """(B,) bool, the carriers of the body; of those that hang on one in a crowd, as a face does on a head, none."""
    body, above = controls.deforming.copy(), controls.carrier_parents
    counts = np.bincount(above[above >= 0], minlength=len(above))
    in_crowd = np.zeros(len(above), bool)
    for carrier, parent in enumerate(above):
        in_crowd[carrier] = parent >= 0 and (in_crowd[parent] or counts[parent] > _CROWD)
    body[controls.carriers[in_crowd]] = False
    return body


def _require_carriers(controls: ControlRig, solve: np.ndarray) -> None:
    """Raises InputError for a bone that is to be solved and carries nothing of the body. solve: (B,) bool."""
    others = np.setdiff1d(np.flatnonzero(solve), controls.carriers)
    if others.size:
        names = controls.rig.names
        rides = controls.rides[others[0]]
        instead = f"; it rides on '{names[controls.carriers[rides]]}'" if rides >= 0 else ""
        raise InputError(f"Bone '{names[others[0]]}' is moved by others and cannot be solved{instead}.")


def _few(motion: BoneMotion) -> BoneMotion:
    """Some of the frames, evenly spaced: what hangs on what shows in them."""
    some = {name: strided(getattr(motion, name), _LOOKED_AT) for name in ("basis", "object_world", "frames")}
    return replace(motion, **some)


def body_names(context, ob) -> set[str]:
    """The bones that may be solved: those that move skin or carry something, or would."""
    chosen = carrying_bones(context, ob) | deform_bones(ob)
    return {bone.name for bone, is_chosen in zip(ob.data.bones, chosen, strict=True) if is_chosen}


def _body_and_tree(
    context, ob, rig: Rig, seen: JointTrack, pose: np.ndarray, units: float
) -> tuple[np.ndarray, np.ndarray]:
    """(B,) bool, the bones of the body, and (B,) the bone that each bone moves with. seen: all joints, pose:
    (F, B, 4, 4) in armature space, both of the frames looked at.  units: metres in one unit of the rig."""
    carrying, deforming = carrying_bones(context, ob), deform_bones(ob)
    candidates = carrying | deforming
    tree = _motion_parents(ob, rig, seen, pose, candidates)
    body = body_bones(seen, tree, carrying, deforming)
    size = body_size(seen, tree, body) / units
    body = body & ~props(rig, tree, pose, body, carrying, size)
    return body, tree if (body == candidates).all() else _motion_parents(ob, rig, seen, pose, body)


def _motion_parents(ob, rig: Rig, seen: JointTrack, pose: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(B,) the bone that each bone moves with: as the rig has it, as it was noted, or as the motion shows."""
    noted = noted_parents(ob, rig.names)
    parents = np.where((rig.parents < 0) & ~rig.use_connect, noted, rig.parents)
    if (parents[chosen] < 0).mean() < _FLAT:
        # Feet that stand still keep their places by each other as well as by their legs.
        joints = np.concatenate((parents, seen.skeleton.parents[len(parents) :]))
        size = extent(seen.positions[:, : len(parents)][:, chosen])
        parents = hang_feet(joints, seen.positions, chosen, size, parents != rig.parents)[: len(parents)]
    return motion_parents(parents, pose, rig.rest, rig.lengths, chosen, extent(pose[:, chosen][..., :3, 3]))


def _units(motion: BoneMotion) -> float:
    """Metres in one unit of the rig."""
    return float(mean_scale(motion.object_world[0, :3, :3]))


def joint_radii(context, ob, source: Source) -> np.ndarray:
    """(K,) capsule radius of the bone that leads to each solved joint, metres."""
    radii = bone_radii(context, ob, source.motion.rig.names, source.height)
    if source.controls is not None:
        _take_from_riders(radii, source.controls)
    bones = source.bones
    carrier = np.where(source.solved.parents >= 0, source.solved.parents, np.arange(len(bones)))
    return radii[bones[carrier]]


def _take_from_riders(radii: np.ndarray, controls: ControlRig) -> None:
    """Carriers have no skin of their own: as thick as the thickest that deforms it and rides on them, in place."""
    riders = controls.verified[controls.owners[controls.verified] >= 0]
    owners = controls.carriers[controls.owners[riders]]
    radii[np.unique(owners)] = 0.0
    np.maximum.at(radii, owners, radii[riders])
