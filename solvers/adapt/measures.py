"""How well an adapted motion keeps what the bound one did, from what a binding knows.

The same definitions as ``benchmarks/metrics.py``, on the samples of the binding; all thresholds are for a 1.8 m body.
"""

from __future__ import annotations

import numpy as np

from ..core.types import MeshTrack
from ..surface.track import SurfaceTrack
from ..warp.collision import CLEARANCE
from . import clearance
from .binding import Binding
from .contacts import ContactCount, count_contacts
from .covered_places import covered_contacts

DEPTH = 0.01
LOST = 0.01
_REACH = 0.3


def measure_bound(
    binding: Binding, positions: np.ndarray, environment: list[MeshTrack], scale: float
) -> dict[str, float | None]:
    """Shares in percent, lengths in cm, jerk and bones as ratios, None against a motion without any.

    positions: (F, J, 3) adapted joints.  environment: the changed meshes.  scale: of the character against bind;
    clearances are asked in proportion to it.
    Contacts: see ``contacts``; None where nothing touches. Penetration: frames with a sample deeper than 1 cm.
    Clearance lost: frames with a sample that lost more than 1 cm of its first 5. Jerk: third differences against the
    bound motion's.
    """
    unit = binding.scale
    samples = binding.samples.positions(binding.tree.from_track(positions))
    surfaces = [SurfaceTrack(mesh) for mesh in environment]
    before = binding.distance.astype(float) * unit
    after, *_ = clearance.clearances(np.moveaxis(samples, -1, 0), surfaces, _REACH * unit * max(scale, 1.0))
    near = CLEARANCE * unit
    lost = scale * np.minimum(before, near) - np.minimum(after, near * scale)
    deepest, deepest_before = after.min(axis=(0, 2)), before.min(axis=(0, 2))
    found = contacts_of(binding, positions, environment, scale)
    contacts, kept = found.counted.sum(), found.kept.sum()
    jerk, jerk_before = _jerk(positions, binding.track.fps), _jerk(binding.track.positions, binding.track.fps)
    return {
        "contact_frames": int(contacts),
        "contacts_kept_pct": 100.0 * kept / contacts if contacts else None,
        "penetration_pct": 100.0 * float((deepest < -DEPTH * unit).mean()),
        "penetration_original_pct": 100.0 * float((deepest_before < -DEPTH * unit).mean()),
        "clearance_lost_pct": 100.0 * float((lost.max(axis=(0, 2)) > LOST * unit).mean()),
        "clearance_lost_max_cm": 100.0 * max(float(lost.max()), 0.0),
        "jerk_mean_ratio": _ratio(jerk.mean(), jerk_before.mean()),
        "jerk_p95_ratio": _ratio(np.percentile(jerk, 95), np.percentile(jerk_before, 95)),
    }


def contacts_of(
    binding: Binding, positions: np.ndarray, environment: list[MeshTrack], scale: float
) -> ContactCount:
    """Which contacts of the bound motion a result keeps; see ``measure_bound``."""
    surfaces, unit = [SurfaceTrack(mesh) for mesh in environment], binding.scale
    after, *_ = clearance.clearances(positions, surfaces, _REACH * unit * max(scale, 1.0))
    hidden = covered_contacts(binding, environment, surfaces)
    return count_contacts(binding.joint_distance, after, binding.touched, hidden, scale, unit)


def _jerk(positions, fps):
    """(F - 3, J) m/s^3; zero where a clip is too short to have any."""
    if len(positions) < 4:
        return np.zeros((1, positions.shape[1]))
    return np.linalg.norm(np.diff(positions, 3, axis=0), axis=2) * fps**3


def _ratio(value, reference) -> float | None:
    """None where there is nothing to compare with: JSON has no endless numbers."""
    return 1.0 if value == reference else float(value / reference) if reference else None
