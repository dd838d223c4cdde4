"""What a run of rigs solves and what comes of it, as far as every workflow of rigs has to know it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ...scene.motion import BoneMotion
from ...scene.motion_changes import changed_channels
from ...scene.state_track import StateTrack
from ...solvers.skeleton.pose_blend import blend_basis, blend_motion
from .control_result import ControlResult


class RigProblem(Protocol):
    """frames: (F,) scene frames.  originals: of each rig the motion that its source makes.  influences: of each rig
    (F,) how much of the result is shown, the rest is the original's.  states: of the objects around, to tell later
    whether they are still like that."""

    @property
    def frames(self) -> np.ndarray: ...

    @property
    def originals(self) -> tuple[BoneMotion, ...]: ...

    @property
    def influences(self) -> tuple[np.ndarray, ...]: ...

    @property
    def states(self) -> Sequence[StateTrack]: ...

    def with_factor(self, name: str, rows: Sequence[np.ndarray | None]) -> RigProblem:
        """The same with another value of a factor of the settings, see ``RigWorkflow.factors``.

        rows: of each rig (F,), None where it stays.
        """


@dataclass(frozen=True)
class RigResult:
    """What comes of one rig.

    original: its source motion.  whole: the new one.  motion: that as far as the influence goes.
    solvable: (B, 3) bool, which of location, rotation and scale of each bone solving may change.
    changed: (B, 3) bool, which of them differ from the original's.
    body: (K,) bones that hold still together outside of the frames, or go back to the source there.
    motion_parents (B,), placed (P,): see ``skeleton.pose_blend.blend_motion``.
    written: to the controls of a rig whose bones are moved by them; solvable, changed and body are theirs then.
    """

    original: BoneMotion
    whole: BoneMotion
    motion: BoneMotion
    solvable: np.ndarray
    changed: np.ndarray
    body: np.ndarray
    motion_parents: np.ndarray
    placed: np.ndarray
    written: ControlResult | None = None

    @property
    def keyed_original(self) -> BoneMotion:
        """The source's channels: the original itself, but where controls move the bones."""
        return self.written.original if self.written else self.original

    @property
    def keyed(self) -> BoneMotion:
        """What is written to the channels: the motion itself, but where controls move the bones."""
        return self.written.motion if self.written else self.motion

    @classmethod
    def of(
        cls,
        original: BoneMotion,
        whole: BoneMotion,
        influence: np.ndarray,
        solvable: np.ndarray,
        body: np.ndarray,
        motion_parents: np.ndarray | None = None,
        placed: Sequence[int] = (),
    ) -> RigResult:
        """influence: (F,).  motion_parents (B,), placed (P,): see ``skeleton.pose_blend.blend_motion``."""
        motion, parents = whole, whole.rig.parents if motion_parents is None else motion_parents
        places = np.asarray(placed, int)
        if (influence != 1.0).any():
            motion = replace(
                whole, basis=blend_motion(whole.rig, original.basis, whole.basis, influence, parents, places)
            )
        return cls(original, whole, motion, solvable, changed_channels(original, motion), body, parents, places)


    @property
    def switches(self) -> dict[str, float]:
        """Values of properties by path, to which they are keyed."""
        return self.written.switches if self.written else {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the controls that are written, a sentence each without its full stop."""
        return self.written.notes if self.written else ()

    def written_as(self, written: ControlResult, influence: np.ndarray) -> RigResult:
        """The same of a rig with controls, once these are fitted. influence: (F,).

        The motion is then what the rig evaluates to; where influence leaves it between that and the original, it lies
        between the two poses.
        """
        original = self.original
        pose = replace(original, basis=np.linalg.inv(original.rig.rest) @ written.fit.pose)
        motion = replace(pose, basis=blend_basis(original.basis, pose.basis, influence))
        written = written.faded(influence)
        changed = changed_channels(written.original, written.motion)
        body = np.flatnonzero(written.solvable.any(axis=1))
        return replace(self, motion=motion, solvable=written.solvable, changed=changed, body=body, written=written)


class RigSolution(Protocol):
    """results: one a rig.  notes: what is wrong with it or doubtful, for the user, a sentence each without its full
    stop."""

    @property
    def results(self) -> tuple[RigResult, ...]: ...

    @property
    def notes(self) -> tuple[str, ...]: ...
