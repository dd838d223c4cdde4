"""What becomes of flat takes on other grounds, beside their sources; and of results that are brought back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.adapt import findings
from solvers.adapt.binding import Binding, fit
from solvers.adapt.footholds import HALF
from solvers.adapt.lost_ground import lost_ground
from solvers.adapt.present_places import present_places
from solvers.adapt.solve import AdaptOptions, SurfaceUse, adapt
from solvers.adapt.swings import swings
from solvers.adapt.worst_events import DOWN, worst
from solvers.core.types import JointTrack, MeshTrack

from ._adapt_looks_measures import JUMP, TURN, capture_pops
from ._grounds_cases import ANIMALS, Case, grounds, source
from .datasets import Scene
from .walks import walk

USES = (SurfaceUse(replaced="GRAVITY"),)
# At least contacts kept, percent; of all others at most so much: slide x the source's, degrees, cm a frame.
BARS = {"contacts_kept_pct": 95.0, "slide_ratio": 1.1, "tilt_mean_deg": 3.0, "jump_cm": JUMP, "turn_deg": TURN}
# Metres a second that standing feet slide at 1.8 m, below which nobody sees it.
STILL = 0.02


@dataclass(frozen=True)
class Result:
    """A case that was solved; for ``_adapt_looks_strip``. row: with the name of the ground as its edit."""

    row: _Row
    scene: Scene
    environment: list[MeshTrack]
    track: JointTrack
    figures: dict
    step: int


@dataclass(frozen=True)
class _Row:
    case: Case

    @property
    def edit(self) -> str:
        return self.case.ground


def bound(scene: Scene) -> Binding:
    """A scene, bound to its ground."""
    held = [joint for group in scene.effectors.values() for joint in group]
    effectors = np.isin(scene.track.skeleton.names, held)
    return fit(scene.track, list(scene.environment.values()), effectors, scene.height)


def results(cases: list[Case]) -> Iterator[Result]:
    """Each of the cases, which come scene by scene: every scene is bound once."""
    scene = binding = others = None
    for case in cases:
        if scene is None or case.scene != scene.name:
            scene = source(case.scene)
            binding, others = bound(scene), grounds(scene)
        yield result(case, scene, binding, others[case.ground])


def result(case: Case, scene: Scene, binding: Binding, ground: MeshTrack) -> Result:
    """Solve and measure a case of a scene that is bound."""
    start = time.process_time()
    motion = adapt(binding, [ground], AdaptOptions(surfaces=USES))
    seconds = time.process_time() - start
    found = findings.find(binding, motion.positions, motion.turns, [ground], 1.0, uses=USES)
    figures = _figures(scene, binding, motion, ground, found)
    figures |= {"frames": len(motion.positions), "fps": len(motion.positions) / seconds}
    worse = "jump" if figures["jump_cm"] / JUMP >= figures["turn_deg"] / TURN else "turn"
    track = JointTrack(scene.track.skeleton, motion.positions, scene.track.fps, scene.track.frames)
    return Result(_Row(case), scene, [ground], track, figures, figures[f"{worse}_index"])


def _figures(scene, binding, motion, ground, found) -> dict:
    names, contacts, plain = scene.track.skeleton.names, found.contacts, found.comparison.figures()
    own, now = slide(binding, scene.track.positions), slide(binding, motion.positions)
    places = present_places(binding, [ground], USES)
    (lost,), standing = lost_ground(binding, places.replaced), places.standing
    counted = int(contacts.counted.sum())
    out = {
        "contacts_kept_pct": 100.0 * float(contacts.kept.sum()) / counted if counted else None,
        "slide_m_s": now,
        "slide_own_m_s": own,
        "slide_ratio": now / max(own, STILL * binding.scale),
        "tilt_mean_deg": float(np.nanmean(found.tilts)),
        "tilt_max_deg": float(np.nanmax(found.tilts)),
        "penetration_gain_pct": plain["penetration_pct"] - plain["penetration_original_pct"],
        "jerk_mean_ratio": plain["jerk_mean_ratio"],
        "unconverged_frames": int((~motion.converged).sum()),
        "points_without_ground_pct": 100.0 * lost.lost / lost.points,
        "stances": len(standing.stances),
        "stances_moved": int((np.abs(standing.moved) > 1e-6).sum()),
        "stances_over_edge": int((standing.found & (standing.borne < HALF)).sum()),
        "stances_without_ground": int((~standing.found).sum()),
        "hips_lowered_cm": 100.0 * float(motion.moves.sinking.max()) / binding.scale,
    }
    out |= _swings(binding, standing, ground)
    pops = capture_pops(scene.track, scene.height)
    for name, unit, sizes in (("jump", "cm", 100.0 * found.jumps / binding.scale), ("turn", "deg", found.turns)):
        sizes = np.where(pops[:, None], np.nan, sizes)
        event = worst(sizes, np.arange(len(found.frames)))
        out |= {f"{name}_{unit}": event.size, f"{name}_bone": names[event.joint], f"{name}_index": int(event.frame)}
        out[f"{name}_frames_over"] = int((np.nan_to_num(sizes) > (JUMP if name == "jump" else TURN)).any(axis=1).sum())
    return out


def _swings(binding, standing, ground) -> dict:
    found = swings(binding, standing, standing.frames([ground])[0], DOWN)
    largest = {name: getattr(found, name).max(initial=0.0) / binding.scale for name in ("least", "alike", "speeds")}
    return {
        "swings": len(found.rises),
        "swings_too_fast": len(found.fast(binding.scale)),
        "swing_m_s": float(largest["speeds"]),
        "swing_least_cm": 100.0 * float(largest["least"]),
        "swing_alike_cm": 100.0 * float(largest["alike"]),
    }


def slide(binding: Binding, positions: np.ndarray) -> float:
    """Metres a second that what touches the ground moves over it, as seen from above, mean."""
    touched = binding.touched.any(axis=0)
    both = touched[1:] & touched[:-1]
    steps = np.linalg.norm(np.diff(positions[..., :2], axis=0), axis=-1)
    return float(steps[both].mean()) * binding.track.fps if both.any() else 0.0


def broken(case: Case, figures: dict) -> list[str]:
    """The bars that a case breaks."""
    out = []
    for name, bar in BARS.items():
        value = figures[name]
        if name == "tilt_mean_deg" and (case.scene in ANIMALS or not case.ground.startswith("ramp")):
            continue  # the others are told without a bar; what goes on four legs goes along a slope as it lies
        if value is not None and (value < bar if name == "contacts_kept_pct" else value > bar):
            out.append(name)
    return out


def there_and_back(name: str, edit: str) -> dict:
    """A walk on its ground as an edit has made it, bound to that, and brought back to the first ground."""
    scene = walk(name)
    before, after = list(scene.environment.values()), list(scene.changed(edit).values())
    first = bound(replace(scene, environment=dict(scene.environment)))
    there = adapt(first, after)
    moved = replace(scene.track, positions=there.positions)
    second = bound(replace(scene, track=moved, environment={mesh.name: mesh for mesh in after}))
    back = adapt(second, before)
    off = np.linalg.norm(back.positions - scene.track.positions, axis=-1)
    names = scene.track.skeleton.names
    root = int(np.flatnonzero(scene.track.skeleton.parents < 0)[0])
    ankles = [names.index(joint) for joint in scene.effectors["ankle"]]
    return {
        "scene": name,
        "edit": edit,
        "mean_mm": 1000.0 * float(off.mean()),
        "max_mm": 1000.0 * float(off.max()),
        "ankles_mm": 1000.0 * float(off[:, ankles].mean()),
        "hips_low_mm": -1000.0 * float((back.positions - scene.track.positions)[:, root, 2].mean()),
        "hips_lowered_there_mm": 1000.0 * float(there.moves.sinking.mean()),
    }
