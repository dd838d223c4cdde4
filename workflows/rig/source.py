"""The motion that workflows of rigs work on: a rig read as solved joints, and how solved joints go back to the rig."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...scene.deform_tree import noted_parents
from ...scene.frames import frames_inside, require_range
from ...scene.interference import driven_bones
from ...scene.motion import BoneMotion, motion_range, read_motion, turn_motion
from ...scene.radii import bone_radii, carrying_bones
from ...scene.rigs import (
    constrained_bones,
    deform_bones,
    joint_limits,
    require_armature,
    require_editable,
    require_uniform_scale,
)
from ...solvers.core.errors import InputError, StaleBindingError
from ...solvers.core.subsampling import strided
from ...solvers.core.types import JointTrack
from ...solvers.rotations.channels import matrix_to_quaternion, quaternion_to_matrix
from ...solvers.skeleton.body_bones import body_bones
from ...solvers.skeleton.body_size import body_size, extent
from ...solvers.skeleton.hierarchy import carriers, carry_increments
from ...solvers.skeleton.hung_bones import loose_riders
from ...solvers.skeleton.kept_places import props, riding_parents
from ...solvers.skeleton.limbs import straying, uncovered
from ...solvers.skeleton.motion_tree import motion_parents
from ...solvers.skeleton.reversed_chains import reversed_bones
from ...solvers.skeleton.rig import Rig
from ...solvers.skeleton.solved_joints import SolvedJoints, hang_feet, solved_joints
from ...solvers.warp.joint_limits import JointLimits
from ..core.naming import listed

# A bone that points elsewhere than at bind by more than this (chord of unit vectors) plays another action.
_SAME_DIRECTION = 2e-3
# Shorter than this share of the body a bone has no direction to compare.
_SHORT = 0.02
# Of the body: the root of the same action is at the same place.
_SAME_PLACE = 5e-3
# A rig in which this share of the body's bones has no parent has no hierarchy of its own.
_FLAT = 0.5
# A share of the moving body below which it is said what is left out.
_HALF = 0.5
# What the user may choose for a bone.
SOLVE, RIDE = "SOLVE", "RIDE"
# Frames looked at for what hangs on what.
_LOOKED_AT = 64


@dataclass(frozen=True)
class Source:
    """motion: all bones.  whole: heads and leaf tails.  solved: which of them are solved.  track: those, world space.
    motion_parents: (B,) the bone that each bone moves with, see ``skeleton.hung_bones``.  height: of the body, metres.
    notes: what was left out or guessed, for the user, a sentence each."""

    motion: BoneMotion
    whole: JointTrack
    solved: SolvedJoints
    track: JointTrack
    motion_parents: np.ndarray
    height: float
    notes: tuple[str, ...] = ()

    @property
    def bones(self) -> np.ndarray:
        """(K,) rig index of each solved joint's bone, -1 for tails."""
        count = len(self.motion.rig.names)
        return np.where(self.solved.joints < count, self.solved.joints, -1)

    @property
    def solvable(self) -> np.ndarray:
        """(B, 3) bool: which of location, rotation and scale of each bone solving can change."""
        rig, bones = self.motion.rig, self.bones
        out = np.zeros((len(rig.names), 3), bool)
        heads = bones >= 0
        out[bones[heads], 1] = True
        out[~rig.inherit_rotation, 1] = True
        out[bones[heads & self.solved.placed], 0] = True
        out[self.riders[0], 0] = True
        return out

    @property
    def riders(self) -> tuple[np.ndarray, np.ndarray]:
        """Bones (R,) that ride on a solved one which the rig does not carry them with, and those joints (R,)."""
        heads = np.flatnonzero(self.bones >= 0)
        riders, owners = loose_riders(self.motion.rig, self.motion_parents, self.bones[heads])
        return riders, heads[owners]

    @property
    def staying(self) -> np.ndarray:
        """Bones that go with no solved one."""
        heads = self.bones[self.bones >= 0]
        return np.flatnonzero(carriers(self.motion_parents, heads) == len(heads))

    @property
    def placed(self) -> np.ndarray:
        """(P,) bones whose heads are written to their locations."""
        bones = self.bones
        return np.concatenate((bones[(bones >= 0) & self.solved.placed], self.riders[0]))


def bound_frames(context, ob, start: float | None, end: float | None) -> np.ndarray:
    """Whole scene frames (F,) of the rig's motion, see ``motion_range``, or of a part of it.

    Raises InputError for a range without frames, SceneError for a rig that plays nothing.
    """
    require_armature(ob)
    require_editable(ob)
    return frames_within(ob, motion_range(context.scene, ob), start, end)


def frames_within(ob, motion: tuple[float, float], start: float | None, end: float | None) -> np.ndarray:
    """Whole scene frames (F,) from the first to the last of a rig's motion, or of a part of it.

    Raises InputError for a range without frames.
    """
    first, last = motion
    start, end = first if start is None else start, last if end is None else end
    require_range(start, end, f"The range of '{ob.name}'")
    begin, finish = frames_inside(start, end)
    if not finish >= begin:
        raise InputError(
            f"The range {begin:g} to {finish:g} is empty; the animation of '{ob.name}' runs from {first:g} to {last:g}."
        )
    return np.arange(begin, finish + 1, dtype=float)


def read_source(context, ob, frames: np.ndarray, choices: Mapping[str, str] | None = None) -> Source:
    """Read a rig and choose the joints to solve.

    choices: SOLVE or RIDE of bones by name; the others are chosen by what they are.
    Raises InputError for a bone that cannot be solved, SceneError for a scale of the object that is not positive and
    even, and what reading raises.
    """
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
    tree = _with_solved(tree, solved)
    heads, size = solved.joints[solved.joints < bones], height / _units(motion)
    tree = riding_parents(rig, tree, pose, heads, ~driven_bones(ob) & ~backward, size)
    source = Source(motion, whole, solved, solved.track(whole), tree, height)
    is_chosen = carriers(rig.parents, np.flatnonzero(ride)) < ride.sum()
    limbs = (body | deform_bones(ob) | ~constrained_bones(ob)) & ~is_chosen
    limbs[rig.ancestry(heads)] = False  # a root at the ground, on which controls hang as well
    return replace(source, notes=(*_left_out(source, pose, body, limbs, size), *_staying(source)))


def _few(motion: BoneMotion) -> BoneMotion:
    """Some of the frames, evenly spaced: what hangs on what shows in them."""
    some = {name: strided(getattr(motion, name), _LOOKED_AT) for name in ("basis", "object_world", "frames")}
    return replace(motion, **some)


def _staying(source: Source) -> tuple[str, ...]:
    """A note of the bones that go with no solved one."""
    names = [source.motion.rig.names[bone] for bone in source.staying]
    if not names:
        return ()
    if len(names) == 1:
        return (f"{listed(names)} stays where the source has it: no solved bone carries it",)
    return (f"{listed(names)} stay where the source has them: no solved bone carries them",)


def _left_out(source: Source, pose: np.ndarray, body: np.ndarray, limbs: np.ndarray, size: float) -> tuple[str, ...]:
    """A note where less than half of the body's motion is solved, else where limbs that move by themselves ride.

    pose: (F, B, 4, 4).  body, limbs: (B,) bool, its bones, and all that may be limbs of it.  size: in the rig's units.
    """
    rig, heads, above = source.motion.rig, source.bones[source.bones >= 0], source.motion_parents
    own, is_solved = carriers(above, heads), np.isin(np.arange(len(body)), heads)
    carrier = np.where(own < len(heads), heads[np.minimum(own, len(heads) - 1)], -1)
    positions, tree = pose[..., :3, 3], above.copy()
    tree[heads] = _solved_parents(source)  # a root goes with what hangs on it: no tree
    limb = straying(positions, pose, tree, limbs, is_solved, carrier, size)
    share, left = uncovered(positions, pose, above, body | (limb >= 0), is_solved, carrier, size)
    if share >= _HALF:
        return _moving_apart(rig.names, np.unique(limb[limb >= 0]), carrier)
    first = [rig.names[bone] for bone in np.flatnonzero(left & ~((above >= 0) & left[above]))]
    return (
        f"Only {100 * share:.0f} % of what moves is solved: {listed(first)} ride on the rest with all below; "
        "choose Solve for them under Joints and bind again",
    )


def _solved_parents(source: Source) -> np.ndarray:
    """(H,) the solved bone that each solved bone hangs on, -1 for none."""
    bones, parents = source.bones, source.solved.parents
    return np.where(parents >= 0, bones[parents], -1)[bones >= 0]


def _moving_apart(names, limbs: np.ndarray, carrier: np.ndarray) -> tuple[str, ...]:
    """A note for each bone that carries limbs which move by themselves. limbs: (L,) first bones.  carrier: (B,)."""
    notes = []
    for bone in np.unique(carrier[limbs]):
        own = [names[first] for first in limbs[carrier[limbs] == bone]]
        notes.append(
            f"The {'limb' if len(own) == 1 else 'limbs'} from {listed(own)} on "
            f"{'moves by itself but rides' if len(own) == 1 else 'move by themselves but ride'} on '{names[bone]}'; "
            "choose Solve for all of it under Joints and bind again"
        )
    return tuple(notes)


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
    return float(np.cbrt(abs(np.linalg.det(motion.object_world[0, :3, :3]))))


def _with_solved(parents: np.ndarray, solved: SolvedJoints) -> np.ndarray:
    """Motion parents (B,) with what solved joints were found to hang on."""
    out = parents.copy()
    hung = np.flatnonzero(solved.placed & (solved.parents >= 0) & (solved.joints < len(parents)))
    out[solved.joints[hung]] = solved.joints[solved.parents[hung]]
    return out


def reread_source(
    context, ob, frames: np.ndarray, names: tuple[str, ...], solved: SolvedJoints, hung: dict[str, str], height: float
) -> Source:
    """Read a bound rig again; see ``bound_source``."""
    return bound_source(ob, read_motion(context, ob, frames), names, solved, hung, height)


def bound_source(
    ob, motion: BoneMotion, names: tuple[str, ...], solved: SolvedJoints, hung: dict[str, str], height: float
) -> Source:
    """The motion of a bound rig as solved joints. names: of those at bind.  hung: see ``hung_names``.

    Raises StaleBindingError where a bone is gone.
    """
    whole = motion.joints()
    index = {name: k for k, name in enumerate(whole.skeleton.names)}
    missing = [name for name in names if name not in index]
    if missing and missing[0].removesuffix("/tail") in motion.rig.names:
        raise StaleBindingError(
            f"Bone '{missing[0].removesuffix('/tail')}' of '{ob.name}' has got children since it was bound; bind again."
        )
    if missing:
        raise StaleBindingError(
            f"'{ob.name}' has no bone '{missing[0].removesuffix('/tail')}' as it was bound; "
            "undo the renaming or bind again."
        )
    joints = np.array([index[name] for name in names])
    now = SolvedJoints(joints, solved.parents, solved.effectors, solved.placed)
    tree = motion.rig.parents.copy()
    for bone, other in hung.items():
        if bone in index and other in index:
            tree[index[bone]] = index[other]
    return Source(motion, whole, now, now.track(whole), _with_solved(tree, now), height)


def hung_names(source: Source) -> dict[str, str]:
    """The bones that move with another one than their parent, and that one."""
    rig = source.motion.rig
    hung = np.flatnonzero(source.motion_parents != rig.parents)
    return {rig.names[bone]: rig.names[source.motion_parents[bone]] for bone in hung}


def joint_radii(context, ob, source: Source) -> np.ndarray:
    """(K,) capsule radius of the bone that leads to each solved joint, metres."""
    radii = bone_radii(context, ob, source.motion.rig.names, source.height)
    bones = source.bones
    carrier = np.where(source.solved.parents >= 0, source.solved.parents, np.arange(len(bones)))
    return radii[bones[carrier]]


def object_turns(source: Source, bound_world: np.ndarray) -> np.ndarray:
    """(F, 3, 3) how the rig's object has turned since bind. bound_world: (F or 1, 4, 4)."""
    now, then = _rotation(source.motion.object_world), _rotation(bound_world)
    return now @ np.swapaxes(then, -1, -2)


def resized_positions(
    source: Source, turns: np.ndarray, bound: JointTrack, bound_world: np.ndarray, name: str
) -> np.ndarray:
    """The bound pose with the rig's present bone lengths, (F, K, 3): only differences between joints count.

    bound_world: (F or 1, 4, 4) of the rig's object at bind.
    Raises StaleBindingError where bones point elsewhere than at bind, or the roots go elsewhere in the rig's own space:
    the action was edited or swapped.
    """
    now = np.einsum("fba,fkb->fka", turns, source.track.positions)
    parents = source.solved.parents
    child = np.flatnonzero(parents >= 0)
    before = bound.positions[:, child] - bound.positions[:, parents[child]]
    after = now[:, child] - now[:, parents[child]]
    size_before, size_after = _length(before), _length(after)
    turn = after / np.maximum(size_after, 1e-12)[..., None] - before / np.maximum(size_before, 1e-12)[..., None]
    apart = np.zeros(bound.positions.shape[:2], bool)
    apart[:, child] = (size_before > _SHORT * source.height) & (_length(turn) > _SAME_DIRECTION)
    resized = np.abs(size_after - size_before).max()
    strayed = _strayed(source, bound, bound_world)
    apart[:, parents < 0] = strayed > _SAME_PLACE * source.height + resized
    if apart.any():
        frame, joint = np.argwhere(apart)[0]
        culprit = source.track.skeleton.names[parents[joint] if parents[joint] >= 0 else joint]
        because = source.motion.sampled_because
        way_out = "assign the bound action" if because is None else f"{because}: undo what changed there,"
        raise StaleBindingError(
            f"The motion of '{name}' is not the one that was bound (bone '{culprit}' at frame "
            f"{source.track.frames[frame]:g}); {way_out} or bind again."
        )
    return now


def _strayed(source: Source, bound: JointTrack, bound_world: np.ndarray) -> np.ndarray:
    """(F, R) metres between the ways of the roots now and at bind, from the first frame on, in the rig's own space."""
    roots = source.solved.parents < 0
    paths = []
    for positions, world in ((source.track.positions, source.motion.object_world), (bound.positions, bound_world)):
        away = positions[:, roots] - world[:, None, :3, 3]
        local = np.einsum("fab,frb->fra", np.linalg.inv(world[:, :3, :3]) * np.ones((len(away), 1, 1)), away)
        paths.append(local - local[:1])
    size = np.cbrt(abs(np.linalg.det(bound_world[0, :3, :3])))
    return size * np.linalg.norm(paths[0] - paths[1], axis=-1)


def solved_limits(ob, source: Source, turns: np.ndarray) -> JointLimits | None:
    """The rig's joint limits for the solved joints, or None where it has none. turns: see ``object_turns``."""
    found = joint_limits(ob)
    bones = source.bones
    hung = np.array([b >= 0 and source.solved.placed[k] and source.solved.parents[k] >= 0 for k, b in enumerate(bones)])
    chosen = np.flatnonzero((bones >= 0) & ~hung & found.limited[bones].any(axis=1))
    if not chosen.size:
        return None
    bone = bones[chosen]
    local = _rotation(source.motion.basis[:, bone])
    world = _rotation(source.motion.object_world)[:, None] @ _rotation(source.motion.pose[:, bone])
    frame = np.swapaxes(turns, -1, -2)[:, None] @ world @ np.swapaxes(local, -1, -2)
    free = ~found.limited[bone]
    return JointLimits(
        chosen,
        np.where(free, -np.inf, found.lower[bone]),
        np.where(free, np.inf, found.upper[bone]),
        tuple(found.orders[b] for b in bone),
        matrix_to_quaternion(frame),
        matrix_to_quaternion(local),
    )


def adapted_motion(source: Source, positions: np.ndarray, turns: np.ndarray, object_turns: np.ndarray) -> BoneMotion:
    """The rig's motion with the solved joints at positions (F, K, 3), turned by quaternions (F, K, 4) since bind."""
    bones = source.bones
    heads = np.flatnonzero(bones >= 0)
    matrices = quaternion_to_matrix(turns[:, heads]) @ np.swapaxes(object_turns, -1, -2)[:, None]
    spread = carry_increments(source.motion_parents, bones[heads], matrices)
    placed = {int(bones[k]): positions[:, k] for k in heads if source.solved.placed[k]}
    riders, owners = source.riders
    away = source.whole.positions[:, riders] - source.track.positions[:, owners]
    carried = positions[:, owners] + np.einsum("frab,frb->fra", spread[:, riders], away)
    placed |= {int(bone): carried[:, k] for k, bone in enumerate(riders)}
    return turn_motion(source.motion, spread, placed)


def _rotation(matrices: np.ndarray) -> np.ndarray:
    """Rotation part (..., 3, 3) of (..., 4, 4) without shear."""
    part = matrices[..., :3, :3]
    u, _, vt = np.linalg.svd(part)
    return u @ vt


def _length(vectors: np.ndarray) -> np.ndarray:
    """Of vectors (..., 3); several times faster than np.linalg.norm over so short an axis."""
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
