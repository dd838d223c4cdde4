"""How feet stand in a case: free, held as in own clips, held in full, and live."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from solvers.shapes.feet_motion import FeetMotion
from solvers.shapes.foot_contacts import standing
from solvers.shapes.foot_habits import levels, off_level, standing_slides
from solvers.shapes.foot_plants import DEFAULTS, PlantChoices
from solvers.shapes.planter import Planter, Plants
from solvers.shapes.planter import moved as with_feet_held

from ._feet_cases import FeetCase, Moving
from .mesh_sequences import edge_lengths

clock = time.process_time
_RUNS = 5  # as a performance, for their time


def measured(case: FeetCase) -> dict[str, float]:
    """Metres and seconds of the body's own size; slide_* in metres a second, off_* in centimetres of a body 1.8 m high.

    free, held, full, live: with its feet free, held as in own clips (the default), in full, and as by Live Input.
    jerk_*: mean third difference of all vertices over that of the free ones.  edges_*: 99th percentile of the change of
    edges' lengths.  itself_mm: by how much its own clip is changed, at most, of a body 1.8 m high.
    """
    planter, result = case.planter(), case.result
    begun = clock()
    plants = {"held": planted(planter, result, case.choices)}
    plants["full"] = planted(planter, result, replace(case.choices, in_full=True))
    spent = clock() - begun
    figures, height = plants["held"].figures, planter.points.height
    shown = {name: moved(each, result) for name, each in plants.items()}
    # What else the machine does only takes time: the least of some is the cost.
    shown["live"], live_ms = min((lived(planter, result, case.choices) for _ in range(_RUNS)), key=lambda run: run[1])
    live = feet_motion(planter, result, shown["live"])
    out = {
        "height_m": height, "feet": figures.feet, "stands": figures.stands, "rooted_m": figures.rooted_m,
        "short": figures.short, "slide_own": figures.slide_own, "slide_free": figures.slide_before,
        "slide_held": figures.slide_after, "slide_full": plants["full"].figures.slide_after,
        "slide_live": _slide(live), "off_live_cm": 180.0 / height * _off(planter, live, plants["held"], case.choices),
        "off_own_cm": 180.0 / height * figures.away_own, "off_free_cm": 180.0 / height * figures.away_before,
        "off_held_cm": 180.0 / height * figures.away_after,
    }  # fmt: skip
    for name, vertices in shown.items():
        out[f"jerk_{name}"] = jerk(vertices, result.times) / jerk(result.vertices, result.times)
    out["edges_held"] = _edges(case, result.vertices, shown["held"])
    out["itself_mm"] = max(_changed(planter, clip) for clip in case.own) * 1800.0 / height
    return out | {"track_ms_a_frame": 500.0 * spent / len(result.times), "live_ms": live_ms}


def planted(planter: Planter, clip: Moving, choices: PlantChoices = DEFAULTS) -> Plants:
    """What holds the feet of a clip."""
    points = clip.vertices[:, planter.points.vertices].astype(float)
    return planter.plants(clip.times, points, clip.places, choices=choices)


def moved(plants: Plants, clip: Moving) -> np.ndarray:
    """(F, V, 3) with the feet held."""
    root, offsets = plants.track.root, plants.track.offsets
    return clip.vertices + root[:, None] + np.einsum("vh,fhi->fvi", plants.fields.fields, offsets)


def lived(planter: Planter, clip: Moving, choices: PlantChoices) -> tuple[np.ndarray, float]:
    """The same as it is performed, and milliseconds a frame."""
    live, out, spent = planter.live(False, choices), np.empty_like(clip.vertices), 0.0
    for frame, vertices in enumerate(clip.vertices):
        begun = clock()
        root, offsets = live.step(vertices[planter.points.vertices], clip.places[frame], clip.times[frame])
        held, world = with_feet_held(vertices, np.eye(4), planter.fields, root, offsets)
        spent += clock() - begun
        out[frame] = held + world[:3, 3]
    return out, 1000.0 * spent / len(out)


def jerk(vertices: np.ndarray, times: np.ndarray) -> float:
    """Mean over vertices and frames of the size of the third difference in time."""
    step = (times[-1] - times[0]) / (len(times) - 1)
    return float(np.linalg.norm(np.diff(vertices, 3, axis=0), axis=2).mean() / step**3)


def feet_motion(planter: Planter, clip: Moving, vertices: np.ndarray) -> FeetMotion:
    """Of a clip whose vertices are others (F, V, 3) now."""
    return FeetMotion(planter.points, clip.times, vertices[:, planter.points.vertices], clip.places)


def _slide(motion: FeetMotion) -> float:
    """Of what stands there, from the middle of the clip on: live learns what feet do as they come."""
    stands = standing(motion) & (motion.times > 0.5 * motion.times[-1])[:, None]
    slides = standing_slides(motion, stands)
    return 0.0 if np.isnan(slides).all() else float(np.nanmean(slides))


def _off(planter: Planter, motion: FeetMotion, held: Plants, choices: PlantChoices) -> float:
    """Metres by which the lowest point of what stands in a clip that is held is off its level at the worst moment,
    likewise from the middle of the clip on."""
    stands = held.track.stands & (motion.times > 0.5 * motion.times[-1])[:, None]
    right, _ = levels(motion, stands, planter.habits.level, choices.may_climb)
    return off_level(motion, stands, right)


def _edges(case: FeetCase, before: np.ndarray, after: np.ndarray) -> float:
    """Ignoring edges of no length."""
    lengths = edge_lengths(before, case.triangles), edge_lengths(after, case.triangles)
    some = lengths[0] > 1e-6 * lengths[0].max()
    return float(np.quantile(np.abs(lengths[1][some] / lengths[0][some] - 1.0), 0.99))


def _changed(planter: Planter, clip: Moving) -> float:
    return float(np.abs(moved(planted(planter, clip), clip) - clip.vertices).max())
