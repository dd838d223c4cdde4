"""How feet are held over a clip: looked for once, solved in a thread where that takes long, kept by their inputs.

What a workflow adds is where the target's own motion comes from, and what it makes of a clip: a ``FeetTask``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from ...solvers.core.errors import MotionLoomError
from ...solvers.core.steps import result_of, within
from ...solvers.shapes.foot_plants import PlantChoices
from ...solvers.shapes.plant_fields import PlantFields
from ...solvers.shapes.planter import Planter, Plants
from ...solvers.surface.ground_heights import GroundHeights
from ...state import cache
from .may_stand import group_renamed, stand_mask
from .plants import FREE, FULL, ground_now, hold_of, older_note, report_of, say

NONE_FOUND = "No foot was found: nothing that may stand comes down to the ground by itself"
OFF_GROUND = "The target never comes to where its ground is; move the ground below it, or choose another."
# Poses times faces that are worked out while the user waits, in a fraction of the time that a redraw may take.
QUICK = 2e5
# Coordinates of its own motion that are held at once, in single precision.
_MOST_NUMBERS = 6e7
# Fields, a root (3,) and offsets (H, 3), see ``planter.moved``; None where nothing holds the feet.
Plant = tuple[PlantFields, np.ndarray, np.ndarray] | None


@dataclass(frozen=True)
class FeetFound:
    """planter: a text, why there is none, where nothing is held.  plants: over the clip, None there, and where only the
    planter was asked for.  frames: (F,) the scene's, of the clip, where there are plants.  refused: what the user can
    mend, for which nothing is held meanwhile."""

    planter: Planter | str | None
    plants: Plants | None
    frames: np.ndarray | None = None
    refused: str | None = None

    @property
    def why_not(self) -> str | None:
        """In words, why nothing is held."""
        return self.refused or (self.planter if isinstance(self.planter, str) else None)

    def at(self, seconds: np.ndarray) -> list[Plant]:
        """What holds the feet at each of some moments (N,) of the clip."""
        plants = self.plants
        if plants is None:
            return [None] * len(seconds)
        return [(plants.fields, *moment) for moment in zip(*plants.at(seconds), strict=True)]

    def roots(self, seconds: np.ndarray) -> np.ndarray:
        """(N, 2) metres by which the body is moved over the ground at moments (N,) of the clip."""
        return np.zeros((len(seconds), 2)) if self.plants is None else self.plants.at(seconds)[0][:, :2]


@dataclass(frozen=True)
class FeetInputs:
    """workflow: its id.  planter: as it is known, a text where there can be none, None where it is not known yet;
    planter_key and key: of what it and the plants over the clip depend on.
    mask: (V,) what may stand, None for all.  ground: that was picked, or None.  choices: how they are held."""

    workflow: str
    planter_key: str
    planter: Planter | str | None
    key: str
    mask: np.ndarray | None
    ground: GroundHeights | None
    choices: PlantChoices


@dataclass(frozen=True)
class FeetTask(ABC):
    """What a thread needs: arrays alone.  first: frame of the clip, of fps a second."""

    inputs: FeetInputs
    first: float
    fps: float

    @abstractmethod
    def own_steps(self) -> Generator[float, None, Planter | str]:
        """Look for feet in the target's own motion; a text says why there are none."""

    @abstractmethod
    def clip_steps(self, planter: Planter) -> Generator[float, None, Plants | None]:
        """Hold them over the clip."""

    @property
    @abstractmethod
    def poses(self) -> tuple[int, int]:
        """How many are looked at for the one and for the other, times the faces of each."""

    @property
    def key(self) -> str:
        """Of all that the plants depend on."""
        return self.inputs.key

    def steps(self) -> Generator[float, None, FeetFound]:
        """Both, as far as the first is not known; yields shares of the way."""
        planter = self.inputs.planter
        if planter is None:
            planter = yield from within(self.own_steps(), 0.0, 0.4)
        if isinstance(planter, str):
            return FeetFound(planter, None)
        plants = yield from within(self.clip_steps(planter), 0.4, 1.0)
        return FeetFound(planter, plants, None if plants is None else self.first + plants.times * self.fps)

    def live_steps(self) -> Generator[float, None, FeetFound]:
        """The same while live: what cannot be held is free, and told, for the rest goes on following its source."""
        try:
            return (yield from self.steps())
        except MotionLoomError as error:
            return FeetFound(self.inputs.planter, None, refused=_freed(str(error)))


def own_frames(most: int, vertices: int) -> int:
    """How many frames of a target's own motion are looked at, two at least: at most so many, of large meshes fewer."""
    return max(min(most, int(_MOST_NUMBERS / (3 * vertices))), 2)


def feet_inputs(
    ob, workflow: str, settings, scene, depsgraph, own: tuple, clip: tuple, frames: np.ndarray
) -> FeetInputs | None:
    """What is to be solved for an object's feet; None where they are free.

    own, clip: what the planter depends on, and what the plants do besides; for comparing.  frames: (F,) the scene's, of
    the clip.  Raises as ``stand_mask`` and ``ground_now``.
    """
    hold = hold_of(settings, True)
    if hold == FREE:
        return None
    ground, (mark, mask) = ground_now(ob, settings, scene, depsgraph, frames), stand_mask(ob, settings)
    planter_key = cache.fingerprint(*own, *mark)
    key = cache.fingerprint(planter_key, *clip, ground.mark, hold)
    known = cache.get(ob.session_uid, f"{workflow} planter", planter_key)
    return FeetInputs(workflow, planter_key, known, key, mask, ground.heights, PlantChoices(hold == FULL))


def found_of(ob, task: FeetTask | None) -> FeetFound | None:
    """What was found for a task before; None where it was not solved yet, or feet are free."""
    return None if task is None else cache.get(ob.session_uid, f"{task.inputs.workflow} feet", task.key)


def keep(ob, settings, task: FeetTask, found: FeetFound) -> None:
    """What the steps of a task returned."""
    workflow = task.inputs.workflow
    if found.planter is not None:
        cache.put(ob.session_uid, f"{workflow} planter", task.inputs.planter_key, found.planter)
    cache.put(ob.session_uid, f"{workflow} feet", task.key, found)
    if found.plants is not None or found.why_not is not None:
        say(ob, workflow, feet_report(settings, found))


def is_known(ob, settings, task: FeetTask | None) -> bool:
    """Whether a task is solved, or there is none; it is solved and kept now where that is quick."""
    if task is None or found_of(ob, task) is not None:
        return True
    own, clip = task.poses
    if clip + (own if task.inputs.planter is None else 0) > QUICK:
        return False
    keep(ob, settings, task, result_of(task.live_steps()))
    return True


def live_task(make: Callable[[], FeetTask | None]) -> tuple[FeetTask | None, str | None]:
    """A task that make() returns, and None; or no task, and in words what is wrong with what was picked.

    What is live goes on with free feet then: a ground that gets keys, or is deleted, is no reason to stand still.
    """
    try:
        return make(), None
    except MotionLoomError as error:
        return None, _freed(str(error))


def _freed(reason: str) -> str:
    return f"Feet are free until this is mended, and Bake refuses it. {reason.removesuffix('.')}"


def feet_report(settings, found: FeetFound | None) -> dict:
    """For JSON; found: None where the feet are free."""
    hold, notes = hold_of(settings, True), notes_of_choices(settings)
    if found is None:
        return report_of(None, notes, hold, None)
    return report_of(found.plants, [found.why_not, *notes], hold, found.frames)


def note_of_feet(settings, found: FeetFound | None) -> str | None:
    """In words, why no feet are held though they are to be, or what is said of the choices; or None."""
    if found is not None and found.why_not:
        return found.why_not
    return ". ".join(notes_of_choices(settings)) or None


def notes_of_choices(settings) -> list[str]:
    """That the file is from before, or that the group of what may stand has another name now."""
    renamed = None if hold_of(settings, True) == FREE else group_renamed(settings.id_data, settings)
    return [*older_note(settings, True), *filter(None, [renamed])]


def way_length(places: np.ndarray, found: FeetFound | None, seconds: np.ndarray) -> float:
    """Metres over the ground of a body at places (N, 2) at moments (N,) of the clip, as its feet are held."""
    places = places if found is None else places + found.roots(seconds)
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
