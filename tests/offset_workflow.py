"""Offset: a rig's motion goes along with an empty, as far as that was moved after Fit.

A workflow of rigs as small as they come: what is read, fit and solved, for all frames and for single ones, what that
depends on, its settings, its panel and its command. Live, bake, undo, files and the rest are ``workflows.rig``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene.motion import BoneMotion, read_motion
from bl_ext.devrepo.motion_loom.scene.points import object_positions, places_by_curves
from bl_ext.devrepo.motion_loom.scene.restored import restored_after_error
from bl_ext.devrepo.motion_loom.scene.rigs import find_rig
from bl_ext.devrepo.motion_loom.scene.session import all_objects
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.workflows.command_line.words import line_on_file
from bl_ext.devrepo.motion_loom.workflows.core.base import Command, Steps, run_to_end
from bl_ext.devrepo.motion_loom.workflows.interface.panel_parts import Shown, is_live
from bl_ext.devrepo.motion_loom.workflows.interface.settings import OWN, noted
from bl_ext.devrepo.motion_loom.workflows.rig.action import to_bind_played
from bl_ext.devrepo.motion_loom.workflows.rig.bake import bake_steps
from bl_ext.devrepo.motion_loom.workflows.rig.command import add_bake_arguments, apply_bake, baked_as
from bl_ext.devrepo.motion_loom.workflows.rig.factors import sampled_setting
from bl_ext.devrepo.motion_loom.workflows.rig.frame import Channels, FrameSolver
from bl_ext.devrepo.motion_loom.workflows.rig.live_source import present_motion, untold
from bl_ext.devrepo.motion_loom.workflows.rig.operators import rig_operators
from bl_ext.devrepo.motion_loom.workflows.rig.owner import require_owner
from bl_ext.devrepo.motion_loom.workflows.rig.panel import draw_bake, draw_live, draw_rig, is_baked
from bl_ext.devrepo.motion_loom.workflows.rig.problem import RigResult
from bl_ext.devrepo.motion_loom.workflows.rig.read import bound_frames, note_bound, read_bound_motion
from bl_ext.devrepo.motion_loom.workflows.rig.settings import RIG_CLASSES, MotionLoomRigNotes, RigResultSettings
from bl_ext.devrepo.motion_loom.workflows.rig.workflow import RigWorkflow


class MotionLoomOffsetSettings(RigResultSettings, bpy.types.PropertyGroup):
    """The empty, where it was at Fit, and another rig that goes along."""

    target: bpy.props.PointerProperty(name="Empty", type=bpy.types.Object, override=OWN, update=noted)
    partner: bpy.props.PointerProperty(name="Partner", type=bpy.types.Object, override=OWN, update=noted)
    fitted: bpy.props.BoolProperty(override=OWN)
    first: bpy.props.IntProperty(override=OWN)
    last: bpy.props.IntProperty(override=OWN)
    anchor: bpy.props.FloatVectorProperty(subtype="XYZ", override=OWN)


@dataclass(frozen=True)
class Problem:
    """See ``rig.problem.RigProblem``. shift: (F, 3) by which the empty is away from where it was, world space."""

    frames: np.ndarray
    originals: tuple[BoneMotion, ...]
    shift: np.ndarray
    influences: tuple[np.ndarray, ...] = ()
    states: tuple = ()

    def with_factor(self, _name: str, rows: Sequence[np.ndarray | None]) -> Problem:
        before = self.influences or (None,) * len(rows)
        found = (old if new is None else new for old, new in zip(before, rows, strict=True))
        return replace(self, influences=tuple(found))


@dataclass(frozen=True)
class Solution:
    results: tuple[RigResult, ...]
    notes: tuple[str, ...] = ()


def roots_of(motion: BoneMotion) -> np.ndarray:
    """Bones (R,) without a parent, which carry the others."""
    return np.flatnonzero(motion.rig.parents < 0)


def in_bone_space(motion: BoneMotion, shift: np.ndarray) -> np.ndarray:
    """(F, R, 3) by which the locations of the roots change, for a shift (F, 3) in world space."""
    rest = motion.object_world[:, None, :3, :3] @ motion.rig.rest[None, roots_of(motion), :3, :3]
    return np.linalg.solve(rest, np.broadcast_to(shift[:, None, :, None], (*rest.shape[:2], 3, 1)))[..., 0]


def solvable(motion: BoneMotion) -> np.ndarray:
    """(B, 3) bool: the locations of the roots."""
    out = np.zeros((len(motion.rig.names), 3), bool)
    out[roots_of(motion), 0] = True
    return out


def result_of(motion: BoneMotion, shift: np.ndarray, influence: np.ndarray) -> RigResult:
    basis = motion.basis.copy()
    basis[..., :3, 3][:, roots_of(motion)] += in_bone_space(motion, shift)
    whole = replace(motion, basis=basis)
    return RigResult.of(motion, whole, influence, solvable(motion), np.arange(len(motion.rig.names)))


class OffsetFrames(FrameSolver):
    """Single frames: the channels of the original, and the shift on the roots' locations."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self._away = [in_bone_space(motion, problem.shift) for motion in problem.originals]

    def solvable(self, number: int) -> np.ndarray:
        return solvable(self.problem.originals[number])

    def channels(self, number: int, row: int, influence: float, start: np.ndarray | None = None) -> Channels:
        motion = self.problem.originals[number]
        location, rotation, scale = (part[row].copy() for part in motion.channels())
        location[roots_of(motion)] += influence * self._away[number][row]
        return location, rotation, scale

    def solved_channels(self, solution: Solution, number: int, row: int, influence: float, start=None) -> Channels:
        return self.channels(number, row, influence, start)


class Offset(RigWorkflow):
    """Fit a rig to an empty, move the empty, bake."""

    id = "offset"
    label = "Offset"
    settings = MotionLoomOffsetSettings
    action_notes = MotionLoomRigNotes
    classes = RIG_CLASSES
    operators = rig_operators("offset")
    steps = {"fit": "Fit", "bake": "Bake"}
    done = "offset"
    doing = "moving"
    bound_word = "fitted"

    def why_not_yet(self, context, ob, step: str) -> str | None:
        chosen = self.settings_of(self.rigs_of(ob)[0])
        if chosen.target is None:
            return "Choose the empty that the motion goes along with."
        return None if chosen.fitted or step == "fit" else "Fit the motion to the empty first."

    def rigs_of(self, ob) -> list:
        rigs = (each for each in all_objects() if each.type == "ARMATURE")
        lead = next((each for each in rigs if self.settings_of(each).partner == ob), ob)
        partner = self.settings_of(lead).partner
        return [lead] if partner is None else [lead, partner]

    def fit(self, context) -> Steps:
        rigs = self.rigs_of(context.object)
        require_owner(rigs, self)
        chosen, motions = self.settings_of(rigs[0]), []
        with to_bind_played(rigs[0], self):
            frames = bound_frames(context, rigs[0], None, None)
        yield 0.5, "Reading the motion"
        for ob in rigs:
            with to_bind_played(ob, self):
                motions.append(read_motion(context, ob, frames))
        with restored_after_error(rigs[0]):
            chosen.first, chosen.last, chosen.fitted = int(frames[0]), int(frames[-1]), True
            chosen.anchor = object_positions(context, [chosen.target], frames[:1])[0, 0]
            for ob, motion in zip(rigs, motions, strict=True):
                note_bound(context, ob, self, motion)
        return f"Fitted '{rigs[0].name}' to '{chosen.target.name}'"

    # ------------------------------------------------------------------------------------- what a result depends on

    def bound_frames(self, ob) -> np.ndarray:
        chosen = self.settings_of(self.rigs_of(ob)[0])
        return np.arange(chosen.first, chosen.last + 1.0)

    def bound_mark(self, ob) -> tuple:
        chosen = self.settings_of(self.rigs_of(ob)[0])
        return chosen.first, chosen.last, *chosen.anchor

    def joints(self, ob) -> list[str]:
        return [bone.name for bone in ob.data.bones if bone.parent is None]

    def choices(self, ob, depsgraph) -> Iterable:
        target, frames = self.target_of(ob), self.bound_frames(ob)
        yield target.name_full
        yield places_by_curves(depsgraph.scene, depsgraph, [target], frames)

    def relied_on(self, ob) -> Iterable:
        target = self.target_of(ob)
        return [target, target.animation_data and target.animation_data.action]

    def target_of(self, ob):
        """The empty; raises SceneError where it was deleted."""
        target = self.settings_of(self.rigs_of(ob)[0]).target
        if target is None or not target.users_scene:
            raise SceneError(f"The empty that '{ob.name}' goes along with was deleted; undo that, or choose another.")
        return target

    # ----------------------------------------------------------------------------------------------- read and solve

    def read_steps(self, context, rigs: Sequence) -> Generator[tuple[float, str], None, Problem]:
        frames = self.bound_frames(rigs[0])
        yield 0.0, "Reading the motion"
        motions = [read_bound_motion(context, ob, self, frames, self.joints(ob)) for ob in rigs]
        places = object_positions(context, [self.target_of(rigs[0])], frames)[0]
        influences = tuple(sampled_setting(context, ob, self, "influence", frames) for ob in rigs)
        return self.problem(rigs[0], frames, motions, places).with_factor("influence", influences)

    def read_now(self, rigs: Sequence, moment, known: Problem | None, reuse) -> Problem:
        frames = self.bound_frames(rigs[0])
        places = places_by_curves(moment.scene, moment.depsgraph, [self.target_of(rigs[0])], frames)
        if places is None:
            raise untold(rigs[0])
        motions = [present_motion(ob, self, moment.scene, frames) for ob in rigs]
        return self.problem(rigs[0], frames, motions, places[0])

    def problem(self, ob, frames: np.ndarray, motions: list[BoneMotion], places: np.ndarray) -> Problem:
        return Problem(frames, tuple(motions), places - np.array(self.settings_of(ob).anchor))

    def solve_steps(self, problem: Problem) -> Generator[float, None, Solution]:
        yield 0.0
        pairs = zip(problem.originals, problem.influences, strict=True)
        return Solution(tuple(result_of(motion, problem.shift, influence) for motion, influence in pairs))

    def frame_solver(self, problem: Problem, solution: Solution) -> OffsetFrames:
        return OffsetFrames(problem)

    # ---------------------------------------------------------------------------------------------- panel and words

    def commands(self) -> tuple[Command, ...]:
        return (Command("offset", "Move a rig's motion along with an empty.", add_arguments, partial(run, self)),)

    def command_line(self, context, program: str) -> str:
        return line_on_file(context, program, ["offset", "--rig", context.object.name], "offset")

    def draw(self, layout, context) -> None:
        steps = (("Fit", is_fitted, draw_fit), ("Live", is_live, draw_live), ("Bake", is_baked, draw_bake))
        draw_rig(self, layout, context, steps)


def is_fitted(shown: Shown) -> bool:
    return shown.chosen.fitted


def draw_fit(layout, shown: Shown) -> None:
    layout.prop(shown.chosen, "target")
    layout.prop(shown.chosen, "partner")
    shown.workflow.button(layout, "fit")


def add_arguments(parser) -> None:
    parser.add_argument("--rig", required=True, metavar="NAME", help="the armature object")
    parser.add_argument("--fit", action="store_true", help="fit it to the empty as that is now, first")
    add_bake_arguments(parser, "offset")


def run(workflow: Offset, context, args) -> dict:
    ob = find_rig(context, args.rig)
    if args.fit:
        with context.temp_override(object=ob):
            run_to_end(workflow.fit(context))
    settings = workflow.settings_of(ob)
    apply_bake(settings, args)
    (report, *others) = run_to_end(bake_steps(context, workflow.rigs_of(ob), workflow, baked_as(settings, args)))
    return report | {"others": others}
