"""What a workflow keeps of one live object, as the live engine (see ``core.live``) sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from ...scene.state_track import ObjectState
from ...solvers.core.errors import MotionLoomError
from ...state.live_states import Remedy, TrackNeed


class LiveProblem(MotionLoomError):
    """Why a live object does not follow. remedy: the button that mends it, or None."""

    def __init__(self, text: str, remedy: Remedy | None = None):
        super().__init__(text)
        self.remedy = remedy


class Again(Exception):
    """What was under way was disturbed and has to start anew: it is no fault of anybody."""


@dataclass
class Readings:
    """What followers have read at one moment, by ``session_uid`` of the object, for the others that need it as well.

    states: objects as they are evaluated.  stepped: full names of what of an object only stepping through frames tells.
    """

    states: dict[int, ObjectState] = field(default_factory=dict)
    stepped: dict[int, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Moment:
    """What a handler was called for. updated: ``session_uid`` of all that was evaluated, None where anything may have
    changed.  is_playback: another frame, which by itself is no edit."""

    scene: Any
    depsgraph: Any
    updated: set[int] | None
    is_playback: bool = False
    shared: Readings = field(default_factory=Readings)


class Follower(ABC):
    """What a workflow keeps of one live object: arrays and fingerprints, no Blender references.

    It looks at the moment's depsgraph and nowhere else, and never changes the frame.

    plays_by_itself: Blender plays the track, by an action, so that a render needs nothing from here.
    note: what is worth knowing of how things are, in few words, without a full stop.
    source_untouched: the source is as it was when live began.
    goes_on_later: whether what it knows is of use when a run that has ended comes back by undo: it looks whether that
    is still so.
    """

    plays_by_itself: bool
    goes_on_later: bool = False
    note: str | None = None
    source_untouched: bool = True

    def sees(self, ob, depsgraph) -> bool:
        """Whether all that it depends on is evaluated there: another window's view layer may leave it out."""
        return True

    @abstractmethod
    def check(self, ob, moment: Moment) -> tuple[TrackNeed, str]:
        """What the track still needs, and a key of the state that it is to be solved for.

        Raises MotionLoomError where nothing can be followed.
        """

    @abstractmethod
    def pose(self, ob, moment: Moment) -> None:
        """Solve the present frame by itself and show it, until there is a track; then that again."""

    @abstractmethod
    def show(self, ob, moment: Moment, was_posed: bool) -> None:
        """Show the present frame of the track, where nothing plays it: was_posed, because ``pose`` stands over it."""

    def play_again(self, ob) -> None:
        """Have Blender evaluate what it plays: undo may bring back a part of it only."""
        return

    def job(self, ob, moment: Moment) -> Generator[float, None, Any]:
        """A generator that solves the track as things are now, with arrays alone, and yields shares done.

        To be had where ``check`` may answer ``TrackNeed.TRACK``, and so is ``put``.
        """
        raise NotImplementedError

    def rest(self, ob, moment: Moment, result: Any) -> Generator[float, None, Any]:
        """A generator that does what a job cannot, in the main thread and a little at a time: it yields shares done and
        returns what is written.

        It writes nothing that is seen, and may be closed at any step.  Raises ``Again`` where it has to start anew.
        """
        yield from ()
        return result

    def put(self, ob, scene, result) -> None:
        """Write what the rest of a job has returned."""
        raise NotImplementedError
