"""The motion that workflows of rigs work on: a rig read as solved joints, at bind and later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...scene.motion import BoneMotion, read_motion
from ...solvers.controls.control_rig import ControlRig
from ...solvers.core.errors import StaleBindingError
from ...solvers.core.types import JointTrack
from ...solvers.core.vectors import lengths, mean_scale
from ...solvers.skeleton.hierarchy import carriers
from ...solvers.skeleton.hung_bones import loose_riders
from ...solvers.skeleton.solved_joints import SolvedJoints

# A bone that points elsewhere than at bind by more than this (chord of unit vectors) plays another action.
_SAME_DIRECTION = 2e-3
# Shorter than this share of the body a bone has no direction to compare.
_SHORT = 0.02
# Of the body: the root of the same action is at the same place.
_SAME_PLACE = 5e-3
_NAMED = 3


@dataclass(frozen=True)
class Source:
    """motion: all bones.  whole: heads and leaf tails.  solved: which of them are solved.  track: those, world space.
    motion_parents: (B,) the bone that each bone moves with, see ``skeleton.hung_bones``.  height: of the body, metres.
    notes: what was left out or guessed, for the user, a sentence each.
    controls: of a rig whose bones are moved by controls; then the motion is of bones apart, see ``read_motion``."""

    motion: BoneMotion
    whole: JointTrack
    solved: SolvedJoints
    track: JointTrack
    motion_parents: np.ndarray
    height: float
    notes: tuple[str, ...] = ()
    controls: ControlRig | None = None

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


def reread_source(
    context,
    ob,
    frames: np.ndarray,
    names: tuple[str, ...],
    solved: SolvedJoints,
    hung: dict[str, str],
    height: float,
    controls: ControlRig | None = None,
) -> Source:
    """Read a bound rig again; see ``bound_source``."""
    motion = read_motion(context, ob, frames, controls is not None)
    return bound_source(ob, motion, names, solved, hung, height, controls)


def bound_source(
    ob,
    motion: BoneMotion,
    names: tuple[str, ...],
    solved: SolvedJoints,
    hung: dict[str, str],
    height: float,
    controls: ControlRig | None = None,
) -> Source:
    """The motion of a bound rig as solved joints. names: of those at bind.  hung: see ``hung_names``.

    controls: as the rig was bound.
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
    return Source(motion, whole, now, now.track(whole), with_solved(tree, now), height, controls=controls)


def hung_names(source: Source) -> dict[str, str]:
    """The bones that move with another one than their parent, and that one."""
    rig = source.motion.rig
    hung = np.flatnonzero(source.motion_parents != rig.parents)
    return {rig.names[bone]: rig.names[source.motion_parents[bone]] for bone in hung}


def with_solved(parents: np.ndarray, solved: SolvedJoints) -> np.ndarray:
    """Motion parents (B,) with what solved joints were found to hang on."""
    out = parents.copy()
    hung = np.flatnonzero(solved.placed & (solved.parents >= 0) & (solved.joints < len(parents)))
    out[solved.joints[hung]] = solved.joints[solved.parents[hung]]
    return out


def object_turns(source: Source, bound_world: np.ndarray) -> np.ndarray:
    """(F, 3, 3) how the rig's object has turned since bind. bound_world: (F or 1, 4, 4)."""
    now, then = rotation_of(source.motion.object_world), rotation_of(bound_world)
    return now @ np.swapaxes(then, -1, -2)


def resized_positions(
    source: Source,
    turns: np.ndarray,
    bound: JointTrack,
    bound_world: np.ndarray,
    name: str,
    outside: Sequence[str] = (),
) -> np.ndarray:
    """The bound pose with the rig's present bone lengths, (F, K, 3): only differences between joints count.

    bound_world: (F or 1, 4, 4) of the rig's object at bind.  outside: names of what the rig depends on beside itself.
    Raises StaleBindingError where bones point elsewhere than at bind, or the roots go elsewhere in the rig's own space:
    the action was edited or swapped.
    """
    now = np.einsum("fba,fkb->fka", turns, source.track.positions)
    parents = source.solved.parents
    child = np.flatnonzero(parents >= 0)
    before = bound.positions[:, child] - bound.positions[:, parents[child]]
    after = now[:, child] - now[:, parents[child]]
    size_before, size_after = lengths(before), lengths(after)
    turn = after / np.maximum(size_after, 1e-12)[..., None] - before / np.maximum(size_before, 1e-12)[..., None]
    apart = np.zeros(bound.positions.shape[:2], bool)
    apart[:, child] = (size_before > _SHORT * source.height) & (lengths(turn) > _SAME_DIRECTION)
    resized = np.abs(size_after - size_before).max()
    strayed = _strayed(source, bound, bound_world)
    apart[:, parents < 0] = strayed > _SAME_PLACE * source.height + resized
    if apart.any():
        frame, joint = np.argwhere(apart)[0]
        culprit = source.track.skeleton.names[parents[joint] if parents[joint] >= 0 else joint]
        because = source.motion.sampled_because
        if source.controls is not None:  # any of them, and not the first that was found
            because = "its keys, constraints and drivers make it"
        moved = f" It also depends on {_listed(outside)}: put back what was moved of that." if outside else ""
        way_out = "assign the bound action" if because is None else f"{because}: undo what changed there,"
        raise StaleBindingError(
            f"The motion of '{name}' is not the one that was bound (bone '{culprit}' at frame "
            f"{source.track.frames[frame]:g}); {way_out} or bind again.{moved}"
        )
    return now


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _strayed(source: Source, bound: JointTrack, bound_world: np.ndarray) -> np.ndarray:
    """(F, R) metres between the ways of the roots now and at bind, from the first frame on, in the rig's own space."""
    roots = source.solved.parents < 0
    paths = []
    for positions, world in ((source.track.positions, source.motion.object_world), (bound.positions, bound_world)):
        away = positions[:, roots] - world[:, None, :3, 3]
        local = np.einsum("fab,frb->fra", np.linalg.inv(world[:, :3, :3]) * np.ones((len(away), 1, 1)), away)
        paths.append(local - local[:1])
    size = float(mean_scale(bound_world[0, :3, :3]))
    return size * np.linalg.norm(paths[0] - paths[1], axis=-1)


def rotation_of(matrices: np.ndarray) -> np.ndarray:
    """Rotation part (..., 3, 3) of (..., 4, 4) without shear."""
    part = matrices[..., :3, :3]
    u, _, vt = np.linalg.svd(part)
    return u @ vt
