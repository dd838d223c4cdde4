"""What workflows share whose result is a mesh that moves: when they can begin, and how they go live on a copy."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from ...scene.session import all_objects
from ..core.base import Steps, Workflow
from ..core.overlay import Overlay
from . import live
from .bake import MeshBakeOptions, options_of, why_no_bake
from .target import target_in, why_no_target


@dataclass(frozen=True)
class MeshTask:
    """What a workflow does to its target, by the functions of its package.

    bake: (context, ob, options) with progress; returns the report, a dict that JSON can hold.  summary: (report) -> a
    line for people.  refresh: (context, ob, workflow), see ``Workflow.live_refresh``.  command_line: (context, ob,
    program) -> the line for a shell.  overlay: (context, ob).  draw: (workflow, layout, context).
    """

    bake: Callable[[Any, Any, MeshBakeOptions], Generator[tuple[float, str], None, dict]]
    summary: Callable[[dict], str]
    refresh: Callable[[Any, Any, Workflow], Steps]
    command_line: Callable[[Any, Any, str], str]
    overlay: Callable[[Any, Any], Overlay | None]
    draw: Callable[[Workflow, Any, Any], None]


class MeshWorkflow(Workflow):
    """A workflow of the active mesh, or of the one that an active live copy stands for; see ``mesh.live``.

    Its settings are ``MeshResultSettings``.  task: what it does.
    """

    task: MeshTask
    is_live = True

    def why_not_yet(self, ob, step: str) -> str | None:
        """What a step, see ``poll``, still lacks of what belongs to this workflow alone, or None."""
        raise NotImplementedError

    def poll(self, context, step: str) -> str | None:
        reason = why_no_target(context)
        if reason is not None:
            return reason
        ob = target_in(context)
        reason = self.why_not_yet(ob, step)
        if reason is None and step == "bake":
            return why_no_bake(context, self.settings_of(ob))
        if reason is None and step == "live_on":
            return live.why_live_elsewhere(ob, self)
        return reason

    def prepare_live(self, context, ob) -> Generator[tuple[float, str], None, Any]:
        """Compute what the follower of a mesh object needs, before there is a copy; raises where that cannot be.

        Returns what is to be kept once there is one.
        """
        raise NotImplementedError

    def keep_prepared(self, ob, prepared) -> None:
        """Store with the object what was prepared."""

    def live_objects(self) -> list:
        return live.live_targets(all_objects(), self.settings_name)

    def is_on(self, context) -> bool:
        return live.is_on(target_in(context), self.settings_name)

    def live_on(self, context) -> Steps:
        return live.live_on_steps(context, target_in(context), self)

    def live_off(self, context) -> str | None:
        return live.live_off(context, target_in(context), self)

    def live_refresh(self, context) -> Steps:
        return self.task.refresh(context, target_in(context), self)

    def bake(self, context) -> Steps:
        ob = target_in(context)
        report = yield from self.task.bake(context, ob, options_of(self.settings_of(ob)))
        return self.task.summary(report)

    def command_line(self, context, program: str) -> str:
        return self.task.command_line(context, target_in(context), program)

    def overlay(self, context, ob) -> Overlay | None:
        return self.task.overlay(context, ob)

    def draw(self, layout, context) -> None:
        self.task.draw(self, layout, context)
