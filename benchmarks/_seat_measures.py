"""How well pelvis, thighs and feet keep their distances where somebody sits, beside what legs can reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import binary_opening

from solvers.adapt import clearance, findings
from solvers.adapt.binding import Binding, fit
from solvers.adapt.measures import compare
from solvers.adapt.solve import AdaptedMotion, AdaptOptions, adapt
from solvers.core.types import MeshTrack
from solvers.skeleton.solved_joints import effectors
from solvers.surface.track import SurfaceTrack

from ._adapt_looks_measures import capture_pops
from ._seat_cases import Case, environment
from .datasets import Scene

# Metres and m/s of a 1.8 m body: a part that is nearer and slower for so many seconds rests; kept within this.
NEAR, SLOW, LASTS, KEPT = 0.16, 0.25, 0.2, 0.02
# A foot rests within this of its usual distance.
BAND = 0.02


@dataclass(frozen=True)
class Parts:
    """What is measured. points: (F, P, 3).  kinds: (P,) "pelvis", "thigh" or "foot"."""

    points: np.ndarray
    kinds: np.ndarray


def bound(scene: Scene) -> Binding:
    """With hands, feet and heads as effectors, as a rig in the scene is bound."""
    track = scene.track
    return fit(track, list(scene.environment.values()), effectors(track.skeleton.parents), scene.height)


def row(scene: Scene, case: Case, binding: Binding, metres: float) -> tuple[dict, AdaptedMotion, np.ndarray]:
    """The figures of a seat that is raised by some metres, the motion, and (F,) whether the pelvis rests on it."""
    after = environment(scene, case, metres)
    motion = adapt(binding, after, AdaptOptions())
    found, sits = figures(scene, case, binding, motion, after, metres)
    return found, motion, sits


def figures(scene, case, binding, motion, after, metres) -> tuple[dict, np.ndarray]:
    """Shares of frames in percent and lengths in cm; and (F,) whether the pelvis rests on what is raised."""
    scale, before = binding.scale, list(scene.environment.values())
    old, new = (_parts(scene, case, positions) for positions in (scene.track.positions, motion.positions))
    then, now = (_distances(points, around, scale) for points, around in ((old.points, before), (new.points, after)))
    rests, owner = _resting(old, then, scene, before)
    held = np.abs(np.take_along_axis(now - then, owner[None], 0)[0]) <= KEPT * scale
    seat = np.isin([mesh.name for mesh in before], case.raised)
    sits = (rests & seat[owner])[:, old.kinds == "pelvis"].any(axis=1)
    reached = _reached(scene, case, binding, rests, owner, seat, metres)
    asked = sits & reached
    out = {"sits_frames": int(sits.sum()), "out_of_reach_pct": _share(~reached, sits)}
    for kind in ("pelvis", "thigh", "foot"):
        here = asked[:, None] & rests & (old.kinds == kind)
        out[f"{kind}_kept_pct"] = _share(held, here)
    all_kept = (held | ~rests).all(axis=1)
    out["all_kept_pct"] = _share(all_kept, asked)
    pelvis = scene.track.skeleton.names.index(case.joints.pelvis)
    moved = (motion.positions - scene.track.positions)[sits, pelvis, 2]
    out["pelvis_moved_cm"] = 100.0 * float(np.median(moved)) if len(moved) else None
    found = compare(binding, motion.positions, after, 1.0).figures()
    events = findings.find(binding, motion.positions, motion.turns, after, 1.0)
    pops = capture_pops(scene.track, scene.height)[:, None]
    out["jump_cm"] = 100.0 * float(np.nanmax(np.where(pops, np.nan, events.jumps)))
    out["turn_deg"] = float(np.nanmax(np.where(pops, np.nan, events.turns)))
    out["penetration_gain_pct"] = found["penetration_pct"] - found["penetration_original_pct"]
    out["contacts_kept_pct"], out["jerk_mean_ratio"] = found["contacts_kept_pct"], found["jerk_mean_ratio"]
    return out, sits


def _share(of, where):
    """In percent, None of nothing: JSON has no number for it."""
    return 100.0 * float(of[where].mean()) if where.any() else None


def _parts(scene, case, positions):
    """Pelvis, thighs at their upper end and middle, toes and ankles."""
    names, joints = scene.track.skeleton.names, case.joints
    pelvis, hips, knees, ankles, toes = (
        positions[:, [names.index(name) for name in named]]
        for named in ((joints.pelvis,), joints.hips, joints.knees, joints.ankles, joints.toes)
    )
    groups = (("pelvis", pelvis), ("thigh", hips), ("thigh", 0.5 * (hips + knees)), ("foot", toes), ("foot", ankles))
    kinds = np.concatenate([[kind] * places.shape[1] for kind, places in groups])
    return Parts(np.concatenate([places for _, places in groups], axis=1), kinds)


def _distances(points: np.ndarray, around: list[MeshTrack], scale: float) -> np.ndarray:
    """(O, F, P)."""
    surfaces = [SurfaceTrack(mesh) for mesh in around]
    found = clearance.clearances(points, surfaces, clearance.REACH * scale)[0]
    return np.where(np.isfinite(found), found, clearance.REACH * scale)


def _resting(parts, distance, scene, before):
    """(F, P) whether parts rest, and the numbers of the objects that are nearest to them."""
    scale, fps = scene.height / 1.8, scene.track.fps
    owner = distance.argmin(axis=0)
    near = np.take_along_axis(distance, owner[None], 0)[0]
    speed = np.linalg.norm(np.gradient(parts.points, axis=0), axis=2) * fps
    rests = (near < NEAR * scale) & (speed < SLOW * scale)
    rests = binary_opening(rests, np.ones((max(round(LASTS * fps), 1), 1)))
    for part in np.flatnonzero(parts.kinds == "foot"):
        slow = near[rests[:, part], part]
        if len(slow):
            counts, edges = np.histogram(slow, np.arange(-0.08, 0.17, 0.004) * scale)
            rests[:, part] &= np.abs(near[:, part] - edges[counts.argmax()]) < BAND * scale
    return rests, owner


def _reached(scene, case, binding, rests, owner, seat, metres):
    """(F,) whether legs are long enough from hips that go with their seat to feet that go with what they stand on."""
    names, joints = scene.track.skeleton.names, case.joints
    rise = np.array([0.0, 0.0, metres])
    out = np.ones(len(rests), bool)
    for side in range(2):
        hip, knee, ankle = (
            scene.track.positions[:, names.index(pair[side])] for pair in (joints.hips, joints.knees, joints.ankles)
        )
        length = np.median(np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1))
        foot = 5 + side, 7 + side
        stands = rests[:, foot].any(axis=1)
        # An ankle beside a box that is raised does not go along while its toe stands on the ground.
        goes = stands & np.all([~rests[:, f] | seat[owner[:, f]] for f in foot], axis=0)
        way = hip + rise - ankle - goes[:, None] * rise
        bent = np.linalg.norm(hip - ankle, axis=1) / length
        # No leg need stretch more than to 99 %, or than it does.
        out &= ~stands | (np.linalg.norm(way, axis=1) <= np.maximum(0.99, bent) * length)
    return out
