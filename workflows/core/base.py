"""What a workflow offers to panels, operators and the command line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...scene.interrupts import require_none
from ...scene.sizes import sizes_text
from ...solvers.core.errors import TooLargeError
from ...solvers.core.steps import changed, result_of
from .list_entries import EntryList
from .overlay import Overlay

Steps = Generator[tuple[float, str], None, str | None]
"""Yields (progress 0..1, what is being done), returns the line to show at the end.

A generator may be closed at any yield (Esc), so it writes to the scene only after its last one.
"""


@dataclass(frozen=True)
class Question:
    """What the user is asked before a step. lines: what has changed, a sentence each, without full stops.
    meaning: what the step makes of that.  button: that the user wants it."""

    lines: tuple[str, ...]
    meaning: str
    button: str


@dataclass(frozen=True)
class Command:
    """A sub-command of the command line.

    name:          the word typed, e.g. ``adapt``.
    help:          one line for ``--help``.
    add_arguments: adds the command's own arguments to an ``argparse.ArgumentParser``.
    run:           (context, args) -> report, a dict that JSON can hold; raises MotionLoomError.
    """

    name: str
    help: str
    add_arguments: Callable[[Any], None]
    run: Callable[[Any, Any], dict]


class Workflow:
    """One task of the animator. Subclasses live one a file and are listed in ``WORKFLOWS``.

    id:             lower-case identifier, also the suffix of the settings: ``Object.motion_loom_<id>``.
    label:          title of the sub-panel.
    settings:       the PropertyGroup that is saved in the .blend, or None.
    settings_owner: the ID type that carries it: ``"Object"`` or ``"Scene"``.
    action_notes:   the PropertyGroup that its actions carry, or None: ``Action.motion_loom_<id>``.
    classes:        Blender classes the settings need (nested groups), registered before them.
    operators:      operator classes of its own.
    entry_lists:    lists in the settings that generic operators add to and remove from.
    ui_lists:       UIList classes that its panel draws.
    steps:          the steps in order: step -> text of its button; each names a method and ``motion_loom.<step>``.
    tips:           step, "live_on" and "live_refresh" too -> tooltip, where the operator's own does not fit.
    is_live:        whether it has a live mode; then it has the ``live_...`` methods too.

    ``on_load``, ``on_save``, ``on_undo`` and ``on_unregister`` are called once an event, see ``core.lifecycle``; what
    is live is looked after by ``core.live`` and needs none of them.
    """

    id: str
    label: str
    settings: type | None = None
    settings_owner: str = "Object"
    action_notes: type | None = None
    classes: tuple[type, ...] = ()
    operators: tuple[type, ...] = ()
    entry_lists: tuple[EntryList, ...] = ()
    ui_lists: tuple[type, ...] = ()
    steps: dict[str, str] = {"fit": "Bind", "bake": "Bake"}
    tips: dict[str, str] = {}
    is_live: bool = False

    def commands(self) -> tuple[Command, ...]:
        """The sub-commands this workflow adds to the command line."""
        return ()

    def poll(self, context, step: str) -> str | None:
        """Why the step ("fit", "bake", "live_on", "live_refresh") cannot run now, or None; must be cheap, it runs at
        every redraw."""
        return None

    def question(self, context, step: str) -> Question | None:
        """What to ask before a step whose button was pressed, or None; scripts and commands are not asked."""
        return None

    def fit(self, context) -> Steps:
        """Bind: the slow precomputation."""
        raise NotImplementedError

    def bake(self, context) -> Steps:
        """Write the result."""
        raise NotImplementedError

    def command_line(self, context, program: str) -> str:
        """The line for a shell that does what the panel is set to; program: what Blender is called there."""
        raise NotImplementedError

    def live_objects(self) -> list:
        """All objects of the file that are live."""
        return []

    def follower(self, ob):
        """What follows a live object, see ``core.follower``; it knows nothing yet."""
        raise NotImplementedError

    def is_on(self, context) -> bool:
        """Whether what is active is live."""
        return False

    def live_on(self, context) -> Steps:
        """Solve and play the live result."""
        raise NotImplementedError

    def live_off(self, context) -> str | None:
        """Play the source again; returns what there is to say."""
        raise NotImplementedError

    def live_refresh(self, context) -> Steps:
        """Solve again what is live, stepping through the frames where that is needed."""
        raise NotImplementedError

    def on_load(self) -> None:
        """Another file is open, or a new one; what is live in it is found after this."""

    def on_save(self) -> None:
        """The file is about to be saved as it is after this."""

    def on_undo(self) -> None:
        """Undo or redo has replaced the file's data; references to them are void, each ``session_uid`` is as it was."""

    def on_unregister(self) -> None:
        """The extension is being switched off: end timers and threads, close what is open. The scene stays as it is."""

    def overlay(self, context, ob) -> Overlay | None:
        """What to show of an object in the 3D viewport, or None. It is called while that draws: evaluate nothing.

        Called again only after something has changed. A MotionLoomError it raises is kept for the panel.
        """
        return None

    def draw(self, layout, context) -> None:
        """Draw the sub-panel, buttons included."""
        for step in self.steps:
            self.button(layout, step)

    def button(self, layout, step: str, **look) -> None:
        """Draw the button of a step, or of another operator that takes a workflow. look: see ``UILayout.operator``."""
        row = layout.row()
        # Read by the operator's poll, which cannot see the properties of the button it greys out.
        row.context_string_set("motion_loom_workflow", self.id)
        look.setdefault("text", self.steps.get(step, ""))
        row.operator(f"motion_loom.{step}", **look).workflow = self.id

    @property
    def settings_name(self) -> str:
        return f"motion_loom_{self.id}"

    def settings_of(self, owner):
        """The settings stored on ``owner`` (an Object or a Scene, see ``settings_owner``)."""
        return getattr(owner, self.settings_name)


def run_to_end(steps: Generator[tuple[float, str], None, Any]) -> Any:
    """Run a workflow's generator without a user to wait for; returns its result."""
    return result_of(changed(steps, lambda _step: require_none()))


@contextmanager
def too_large_named(doing: str, ob, objects: Iterable = ()) -> Iterator[None]:
    """A block whose MemoryError becomes a TooLargeError that names an object, and others, with their sizes."""
    try:
        yield
    except MemoryError as error:
        raise TooLargeError(f"{doing} {sizes_text(ob, objects)}", error) from error


def names_what_is_too_large(doing: str) -> Callable:
    """Of a function that returns steps for an object ``ob``: where memory does not do, they say for what.

    doing: what they do, as in "binding".  Other ``objects`` among the arguments are named as well, see
    ``too_large_named``.
    """

    def decorate(function: Callable[..., Generator]) -> Callable[..., Generator]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def named(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            with too_large_named(doing, given["ob"], given.get("objects", ())):
                return (yield from function(*args, **kwargs))

        return named

    return decorate


def within(
    steps: Generator[tuple[float, str], None, Any], start: float, end: float
) -> Generator[tuple[float, str], None, Any]:
    """The same steps, their progress lying between start and end; returns what they return."""
    return changed(steps, lambda step: (start + (end - start) * step[0], step[1]))


def relayed(
    steps: Generator[float, None, Any], start: float, end: float, text: str
) -> Generator[tuple[float, str], None, Any]:
    """As ``within``, for a generator that yields shares done alone."""
    return within(changed(steps, lambda share: (share, text)), start, end)
