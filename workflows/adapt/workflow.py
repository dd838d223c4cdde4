"""Adapt: a motion made for one environment follows it when it has changed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial

from ..core.base import Command, Steps
from ..core.follower import Moment
from ..core.overlay import Overlay
from ..environment import lists
from ..environment.contacts_operator import contact_operators
from ..environment.operators import environment_operators
from ..environment.problem import Problem, problem_of_frame
from ..environment.workflow import EnvironmentWorkflow
from ..rig.bake import options_of
from ..rig.follower import Reuse
from ..rig.operators import rig_operators
from ..rig.settings import MotionLoomRigNotes
from ..rig.track import Track
from . import adapt_command, bind_command, deform_copy, panel
from .command import command_of
from .deform_copy_operator import MOTION_LOOM_OT_copy_deform_bones
from .overlay import overlay_of
from .picture_operator import MOTION_LOOM_OT_adapt_save_picture
from .run import AdaptRigOptions, adapt_steps
from .settings import CLASSES, MotionLoomAdaptSettings
from .solution import AdaptFrames, Solution, differs_in_influence, fade_again, solve_steps
from .words import summary


class Adapt(EnvironmentWorkflow):
    """Bind a rig to what surrounds it, change the surroundings or the rig's size, bake."""

    id = "adapt"
    label = "Adapt to Environment"
    settings = MotionLoomAdaptSettings
    action_notes = MotionLoomRigNotes
    classes = CLASSES
    operators = (
        *environment_operators("adapt"),
        *contact_operators("adapt"),
        *rig_operators("adapt"),
        MOTION_LOOM_OT_copy_deform_bones,
        MOTION_LOOM_OT_adapt_save_picture,
    )
    ui_lists = lists.CLASSES
    steps = {"fit": "Bind", "update_binding": "Update Binding", "bake": "Adapt and Bake"}
    tips = {
        "update_binding": "Bind what is new or was edited as it is now, let go of what is gone, and keep everything "
        "else as it was bound"
    }
    done = "adapted"
    doing = "adapting"

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("bind", bind_command.HELP, bind_command.add_arguments, partial(bind_command.run, self)),
            Command("copy-deform", deform_copy.HELP, deform_copy.add_arguments, deform_copy.run),
            Command("adapt", adapt_command.HELP, adapt_command.add_arguments, partial(adapt_command.run, self)),
        )

    def bake(self, context) -> Steps:
        ob = context.object
        settings = self.settings_of(ob)
        report = yield from adapt_steps(context, ob, self, AdaptRigOptions(**vars(options_of(settings))))
        said = [*settings.notes.splitlines(), *report["warnings"]]
        return ". ".join((summary(report), *(note for note in report["notes"] if note not in said)))

    def solve_steps(self, problem: Problem) -> Generator[float, None, Solution]:
        return solve_steps(problem)

    def differs_in_influence(self, problem: Problem, known: Problem) -> bool:
        return differs_in_influence(problem, known)

    def faded(self, known: Solution, problem: Problem) -> Solution:
        return fade_again(known, problem)

    def frame_solver(self, problem: Problem, solution: Solution) -> AdaptFrames:
        return AdaptFrames(problem, solution)

    def frame_solver_now(self, rigs: Sequence, moment: Moment, track: Track, reuse: Reuse) -> AdaptFrames:
        (ob,) = rigs
        known = track.problem
        body = self.body_of(ob, moment, known, reuse)
        problem = problem_of_frame(ob, self, moment.scene, moment.depsgraph, known, body)
        return AdaptFrames(problem, track.solution, track.frames.joints if problem.source is known.source else None)

    def command_line(self, context, program: str) -> str:
        return command_of(context, context.object, program)

    def overlay(self, context, ob) -> Overlay | None:
        return overlay_of(context, ob, self)

    def draw(self, layout, context) -> None:
        panel.draw(self, layout, context)
