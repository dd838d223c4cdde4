"""What an animator would see in an adapted clip: the figures of ``metrics`` and the worst events, and their bars."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solvers.adapt import findings
from solvers.adapt.binding import Binding, fit
from solvers.adapt.solve import AdaptOptions, adapt
from solvers.adapt.worst_events import worst
from solvers.core.types import JointTrack, MeshTrack

from ._adapt_looks_rows import BUILDERS, HILLS, PLAIN, SLOPE, Row
from .datasets import Scene
from .metrics import measure

JUMP, TURN = 3.0, 15.0  # cm and degrees a frame
STRAIGHT = findings.STRAIGHT  # degrees of a knee
# No limb of a 1.8 m body is accelerated more, m/s^2: where a source is, the capture jumps.
CAPTURE_POP = 250.0


@dataclass(frozen=True)
class Result:
    """A row that was solved: its scene, the environment then, the adapted track and what was measured.

    step: the later frame's index of the worst step, what a strip of pictures is drawn around.
    """

    row: Row
    scene: Scene
    environment: list[MeshTrack]
    track: JointTrack
    figures: dict
    step: int


def results(rows: list[Row]) -> Iterator[Result]:
    """Each of the rows, which come scene by scene: every scene is bound once."""
    scene = binding = None
    for row in rows:
        if scene is None or row.scene != scene.name:
            scene = BUILDERS[row.scene]()
            held = [joint for group in scene.effectors.values() for joint in group]
            environment = list(scene.environment.values())
            binding = fit(scene.track, environment, np.isin(scene.track.skeleton.names, held), scene.height)
        yield result(row, scene, binding)


def result(row: Row, scene: Scene, binding: Binding) -> Result:
    """Solve and measure a row of a scene that is bound."""
    after = list(scene.changed(row.edit).values())
    start = time.perf_counter()
    motion = adapt(binding, after, AdaptOptions(scale=row.size))
    seconds = time.perf_counter() - start
    track = JointTrack(scene.track.skeleton, motion.positions, scene.track.fps, scene.track.frames)
    before = list(scene.environment.values())
    figures = measure(scene.track, track, before, after, scene.effectors, scene.height, scale=row.size)
    figures |= _events(scene, binding, motion, after, row.size)
    figures |= {"frames": len(motion.positions), "seconds": seconds}
    worse = "jump" if figures["jump_cm"] / JUMP >= figures["turn_deg"] / TURN else "turn"
    return Result(row, scene, after, track, figures, figures[f"{worse}_index"])


def bars(row: Row) -> dict[str, float]:
    """What a row must keep: at least contacts_kept_pct, of all others no more."""
    scaled = row.size != 1.0
    found = {
        "jump_cm": JUMP,
        "turn_deg": TURN,
        "contacts_kept_pct": 95.0,
        "penetration_gain_pct": 2.0 if scaled else 1.0,
        "jerk_mean_ratio": 1.35 if scaled else 1.25,
    }
    if row.kind in (SLOPE, HILLS):
        found["tilt_mean_deg"] = 6.0 if row.edit.endswith(("_20", "_30")) or row.kind == HILLS else 3.0
    if row.kind == PLAIN:
        found |= {"bone_error_max_pct": 1e-6, "clearance_lost_pct": 10.0, "jerk_p95_ratio": found["jerk_mean_ratio"]}
    return found


def broken(row: Row, figures: dict) -> dict[str, float]:
    """The bars that a row breaks, and their limits."""
    known = figures | {"penetration_gain_pct": figures["penetration_pct"] - figures["penetration_original_pct"]}
    return {
        key: limit
        for key, limit in bars(row).items()
        if known[key] is not None and (known[key] < limit if key == "contacts_kept_pct" else known[key] > limit)
    }


def capture_pops(track: JointTrack, height: float) -> np.ndarray:
    """(F - 1,) bool: the steps of a source that itself jumps, and one on either side."""
    acceleration = np.linalg.norm(np.diff(track.positions, 2, axis=0), axis=2).max(axis=1) * track.fps**2
    jump = np.flatnonzero(acceleration > CAPTURE_POP * height / 1.8)
    found = np.zeros(len(track.positions) - 1, bool)
    # A second difference spans two steps.
    for offset in (-1, 0, 1, 2):
        found[np.clip(jump + offset, 0, len(found) - 1)] = True
    return found


def _events(scene, binding, motion, environment, size):
    names = scene.track.skeleton.names
    found = findings.find(binding, motion.positions, motion.turns, environment, size)
    pops = capture_pops(scene.track, scene.height)
    out = {"capture_pops": int(pops.sum())}
    steps = (("jump", "cm", 100.0 * found.jumps, JUMP), ("turn", "deg", found.turns, TURN))
    for name, unit, sizes, bar in steps:
        sizes = np.where(pops[:, None], np.nan, sizes)
        event = worst(sizes, np.arange(len(found.frames)))
        out |= {f"{name}_{unit}": event.size, f"{name}_bone": names[event.joint], f"{name}_index": int(event.frame)}
        out[f"{name}_frame"] = float(found.frames[out[f"{name}_index"]])
        out[f"{name}_frames_over"] = int((np.nan_to_num(sizes) > bar).any(axis=1).sum())
    for name, values in (("tilt_{}_deg", found.tilts), ("com_{}_cm", 100.0 * found.balance)):
        known = np.isfinite(values).any()
        out[name.format("mean")] = float(np.nanmean(values)) if known else None
        out[name.format("max")] = float(np.nanmax(values)) if known else None
    parents = scene.track.skeleton.parents
    for name, positions in (("_original", scene.track.positions), ("", motion.positions)):
        out[f"knees_straight{name}_pct"] = _straight_knees(positions, parents, names, scene.effectors)
    return out | {"reported": _reported(found)}


def _reported(found):
    """What the report of Adapt warns of, by its own bounds."""
    clear, stretch, figures, resized = found.clear_tilt, found.stretch, found.comparison.figures(), found.is_resized
    counted, kept = (values.sum(axis=0) for values in (found.contacts.counted, found.contacts.kept))
    gain = figures["penetration_pct"] - figures["penetration_original_pct"]
    few = (figures["contacts_kept_pct"] or 100.0) < findings.ALL_CONTACTS
    warned = {
        "jump": found.jump.size > findings.JUMP * found.scale,
        "turn": found.turn.size > findings.TURN,
        "jerk": (figures["jerk_mean_ratio"] or 1.0) > findings.JERK[resized],
        "tilt": clear is not None and clear.size > findings.TILT,
        "straight": stretch is not None and stretch.size > findings.STRETCHED,
        "penetration": gain > findings.DEEPER[resized],
        "clearance": figures["clearance_lost_pct"] > findings.NEARER,
        "contacts": bool(few or (kept < findings.CONTACTS * counted).any()),
    }
    return [name for name, said in warned.items() if said]


def _straight_knees(positions, parents, names, effectors):
    """Share of frames with a knee that is all but straight, in percent; None where there are no ankles."""
    ankles = [names.index(name) for name in effectors.get("ankle", ())]
    if not ankles:
        return None
    knees = parents[ankles]
    above, below = (positions[:, joints] - positions[:, knees] for joints in (parents[knees], ankles))
    cosine = (above * below).sum(axis=2) / np.linalg.norm(above, axis=2) / np.linalg.norm(below, axis=2)
    return 100.0 * float((cosine < np.cos(np.radians(STRAIGHT))).any(axis=1).mean())

