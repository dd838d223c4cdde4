"""Feet of meshes that are held where they stand: what the user chose, the ground, and what there is to say of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...scene.evaluation import evaluated_object
from ...scene.frames import shown_frame
from ...scene.meshes import read_surface
from ...scene.names import is_in_scene
from ...scene.object_motion import worlds_by_curves
from ...scene.session import all_objects
from ...scene.stillness import can_deform, can_move
from ...scene.surfaces import SURFACE_TYPES
from ...solvers.core.errors import InputError, SceneError
from ...solvers.shapes.foot_contacts import runs
from ...solvers.shapes.plant_figures import PlantFigures
from ...solvers.shapes.planter import Plants
from ...solvers.surface.followed_ground import MISSING, UNREACHED
from ...solvers.surface.ground_heights import GroundHeights
from ...state import cache
from ..command_line.words import counted
from ..core.kept import kept
from .settings import FEET_RULES

AS_OWN, FULL, FREE = "AS_OWN", "FULL", "FREE"
# Of runs of frames so many are named.
_MOST_SPANS = 4
# Of the largest element of its matrix: what rounding changes.
_STILL = 1e-6
# Metres: a body that is moved over the ground by more is told in a note as well.
_TOLD = 0.03
_OLDER = "Learnt before feet were held, so they are free: choose how Feet are held to change that"
_OTHER_RULES = (
    "Learnt under earlier rules for feet, which no setting brings back: the target may be up to some 20 cm from where "
    "it was shown. Free leaves feet as poses have them; choose how Feet are held, or learn again, to end this note"
)


@dataclass(frozen=True)
class StandingGround:
    """mark: tells it from others.  heights: of the object that was picked, None where none was."""

    mark: str
    heights: GroundHeights | None


# ------------------------------------------------------------------------------------------------------- what is chosen


def hold_of(settings, is_learnt: bool) -> str:
    """AS_OWN, FULL or FREE.  is_learnt: something is, maybe by a version that did not hold feet."""
    return FREE if is_older(settings, is_learnt) else settings.feet


def is_older(settings, is_learnt: bool) -> bool:
    """Whether something is learnt, by a version that did not know of Feet."""
    return is_learnt and not settings.feet_known


def note_known(settings) -> None:
    """What is learnt now is learnt by a version that holds feet, by its rules."""
    settings.feet_known, settings.feet_rules = True, FEET_RULES


def settle_older(settings_of: Callable, is_learnt: Callable) -> None:
    """What an older version learnt keeps the result that it had; ``older_note`` says so."""
    for ob in all_objects():
        if ob.type == "MESH" and ob.library is None and is_older(settings_of(ob), is_learnt(settings_of(ob))):
            settings_of(ob).feet = FREE
            settings_of(ob).feet_older = True


def older_note(settings, is_learnt: bool) -> list[str]:
    """That feet are free since the file is from before they were held, or held otherwise than when it was saved."""
    if is_older(settings, is_learnt) or (settings.feet == FREE and settings.feet_older):
        return [_OLDER]
    return [_OTHER_RULES] if is_learnt and settings.feet != FREE and settings.feet_rules < FEET_RULES else []


def ground_now(ob, settings, scene, depsgraph, frames: np.ndarray) -> StandingGround:
    """The ground that was picked, as it is at scene frames (F,).

    Raises SceneError or InputError where it cannot be stood on.
    """
    ground = settings.stands_on
    if ground is None:
        return StandingGround("", None)
    _require_ground(ob, ground, scene, frames)
    evaluated_object(ground, depsgraph, instead=", or choose another ground")
    state, triangles = read_surface(ground, depsgraph, None)
    mark = cache.fingerprint(state.digest, *np.round(state.matrix, 6).ravel().tolist())
    surface = state.surface(triangles)

    def make() -> GroundHeights:
        try:
            return GroundHeights(surface.vertices, triangles)
        except InputError as error:
            raise InputError(f"'{ground.name}': {error}") from error

    return StandingGround(mark, kept(ob, "stands on", (mark,), make))


def _require_ground(ob, ground, scene, frames: np.ndarray) -> None:
    if ground == ob:
        raise SceneError(f"'{ob.name}' cannot be its own ground; choose another object.")
    if not is_in_scene(scene, ground):
        raise SceneError(f"The ground '{ground.name}' is not in the scene; link it, or choose another one.")
    if ground.type not in SURFACE_TYPES | {"EMPTY"}:
        raise SceneError(f"The ground '{ground.name}' is no mesh; choose a mesh to stand on.")
    if (can_move(ground) and not _is_kept_still(scene, ground, frames)) or can_deform(ground):
        raise SceneError(
            f"The ground '{ground.name}' may move or change its shape over time, and feet can only stand on one that "
            "does not; clear its animation and apply its modifiers, or choose another object."
        )


def _is_kept_still(scene, ground, frames: np.ndarray) -> bool:
    """Whether its keys leave it in one place at scene frames (F,), as one key of Auto Keying does."""
    worlds = worlds_by_curves(scene, ground, frames)
    return worlds is not None and bool(np.ptp(worlds, axis=0).max() <= _STILL * np.abs(worlds).max())


# -------------------------------------------------------------------------------------------------------- what is said


def report_of(plants: Plants | None, notes: Sequence[str | None], hold: str, frames: np.ndarray | None) -> dict:
    """For JSON.  plants: None where nothing is held.  notes: why, and what else there is to say of a file from before.
    frames: (F,) the scene's, of plants."""
    moved = None if plants is None else _moved_note(plants.figures)
    note = "; ".join(filter(None, (*notes, moved))) or None
    if plants is None:
        return {"feet": {"hold": hold.lower(), "found": 0, "note": note}}
    figures = plants.figures
    return {
        "feet": {
            "hold": hold.lower(),
            "found": figures.feet,
            "note": note,
            "stands_share": figures.stands,
            "stands_share_own": figures.stands_own,
            "slide_before_m_s": figures.slide_before,
            "slide_after_m_s": figures.slide_after,
            "slide_own_m_s": figures.slide_own,
            "off_ground_before_m": figures.away_before,
            "off_ground_after_m": figures.away_after,
            "off_ground_own_m": figures.away_own,
            "moved_m": figures.rooted_m,
            "moved_xy_m": list(figures.rooted_by),
            "feet_ask_m": figures.asked_m,
            "held_in_part": figures.short,
            "held_in_part_from": sorted({float(frames[number]) for number, _ in plants.track.short}),
            "no_ground": _spans(frames, plants.missing),
            "ground_not_followed": _spans(frames, plants.unreached),
        }
    }


def text_of(found: dict) -> str:
    """A line for people of the part "feet" of a report."""
    if "slide_after_m_s" not in found:
        return found["note"] or "feet are free"
    if not found["stands_share"]:
        asked = f": they slide all the time, {_let_slide(found['feet_ask_m'])}" if found["feet_ask_m"] else ""
        own = f" (in own clips in {found['stands_share_own']:.0%} of the frames)"
        return f"{_feet(found['found'])}, none of which ever stands{own}{asked}"
    before, after, own = (found[f"slide_{name}_m_s"] for name in ("before", "after", "own"))
    off = [100.0 * found[f"off_ground_{name}_m"] for name in ("before", "after", "own")]
    parts = [
        f"{_feet(found['found'])}: stand in {found['stands_share']:.0%} of the frames (in own clips "
        f"{found['stands_share_own']:.0%})",
        f"standing soles slide {after:.2f} m/s (free {before:.2f}, own clips {own:.2f})",
        f"are at most {off[1]:.1f} cm off the ground (free {off[0]:.1f}, own clips {off[2]:.1f})",
    ]
    if found["moved_m"]:
        moved = _moved(found["moved_m"], found["moved_xy_m"])
        parts.append(f"{moved}, as its feet slide all the time: they {_let_slide(found['feet_ask_m'])}")
    if found["held_in_part"]:
        parts.append(f"{counted(found['held_in_part'], 'stance')} out of reach, held in part")
        parts[-1] += f" (from {_frames([[frame, frame] for frame in found['held_in_part_from']])})"
    if found["no_ground"]:
        parts.append(f"no ground is below standing feet at {_frames(found['no_ground'])}: they stay as high as before")
    if found["ground_not_followed"]:
        parts.append(
            "the ground goes up or down by more than a fifth of the body's height and is not followed at "
            + _frames(found["ground_not_followed"])
        )
    return ", ".join(parts)


def _moved_note(figures: PlantFigures) -> str | None:
    """That the body leaves the way that was chosen, and where to; None where that is little."""
    if max(figures.rooted_m, figures.asked_m) <= _TOLD:
        return None
    moved = "it keeps to its way"
    if figures.rooted_m:
        moved = _moved(figures.rooted_m, figures.rooted_by)
    return f"Feet slide all the time, {_let_slide(figures.asked_m)}; {moved}"


def _moved(metres: float, by: Sequence[float]) -> str:
    return f"the body is moved by up to {metres:.2f} m (X {by[0]:+.2f}, Y {by[1]:+.2f})"


def _let_slide(asked: float) -> str:
    return f"would carry the body {asked:.2f} m, and are let slide beyond a tenth of its height"


def missing_now(of_body: np.ndarray, of_feet: np.ndarray) -> str | None:
    """That a body, or a foot that stands, has no ground below it now, of states (N,) of ``followed_ground``."""
    states = np.concatenate((of_body, of_feet))
    if (states == MISSING).any():
        return "No ground is below the target now: it stays as high as before"
    if (states == UNREACHED).any():
        return "The ground goes up or down by more than a fifth of the body's height here and is not followed"
    return None


def _spans(frames: np.ndarray, is_on: np.ndarray) -> list[list[float]]:
    """First and last frame of each run of true in (F,)."""
    return [[float(frames[start]), float(frames[end - 1])] for start, end in runs(is_on)]


def _frames(spans: list[list[float]]) -> str:
    """In words."""
    texts = [shown_frame(first) + ("" if first == last else f" to {shown_frame(last)}") for first, last in spans]
    more = [f"{len(texts) - _MOST_SPANS} more"] if len(texts) > _MOST_SPANS else []
    whole = [*texts[:_MOST_SPANS], *more]
    listed = whole[0] if len(whole) == 1 else f"{', '.join(whole[:-1])} and {whole[-1]}"
    return f"frame{'s' if len(texts) > 1 or ' to ' in texts[0] else ''} {listed}"


def said_of(ob, workflow_id: str) -> dict | None:
    """The part "feet" of the last report, in this session."""
    return cache.get(ob.session_uid, f"{workflow_id} feet said", "")


def say(ob, workflow_id: str, report: dict) -> None:
    """Keep it for the panel."""
    cache.put(ob.session_uid, f"{workflow_id} feet said", "", report["feet"])


def _feet(count: int) -> str:
    return "1 foot" if count == 1 else f"{count} feet"
