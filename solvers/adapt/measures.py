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

CONTACT_BAND = 0.02
KEPT_BAND = 0.02
DEPTH = 0.01
LOST = 0.01
_REACH = 0.3


def measure_bound(
    binding: Binding, positions: np.ndarray, environment: list[MeshTrack], scale: float
) -> dict[str, float | None]:
    """Shares in percent, lengths in cm, jerk and bones as ratios, None against a motion without any.

    positions: (F, J, 3) adapted joints.  environment: the changed meshes.  scale: of the character against bind;
    clearances are asked in proportion to it.
    A contact is an effector slower than 0.25 m/s and within 2 cm of its usual distance to an object; it is kept when
    its distance stays within 2 cm of what it was; None where nothing touches. Penetration: frames with a sample deeper
    than 1 cm. Clearance lost: frames with a sample that lost more than 1 cm of its first 5. Jerk: third differences
    against the bound motion's.
    """
    unit = binding.scale
    samples = binding.samples.positions(binding.tree.from_track(positions))
    surfaces = [SurfaceTrack(mesh) for mesh in environment]
    before = binding.distance.astype(float) * unit
    after, *_ = clearance.clearances(np.moveaxis(samples, -1, 0), surfaces, _REACH * unit * max(scale, 1.0))
    near = CLEARANCE * unit
    lost = scale * np.minimum(before, near) - np.minimum(after, near * scale)
    deepest, deepest_before = after.min(axis=(0, 2)), before.min(axis=(0, 2))
    contacts, kept = _contacts(binding, before, after, scale)
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


def _contacts(binding, before, after, scale):
    """Contact frames and kept ones, summed over effectors and objects."""
    unit = binding.scale
    joints = binding.samples.at_joints[binding.tree.rank]
    then, now = before[:, :, joints], after[:, :, joints]
    offsets = np.nan_to_num(binding.offsets, nan=-np.inf)[:, None]
    contact = binding.slow & ~binding.hidden & (then < offsets + CONTACT_BAND * unit)
    # What is out of reach has no distance; it is not a contact, so any shift will do.
    shift = np.where(np.isfinite(then), now - scale * np.where(np.isfinite(then), then, 0.0), np.inf)
    return contact.sum(), (contact & (np.abs(shift) <= KEPT_BAND * unit)).sum()


def _jerk(positions, fps):
    """(F - 3, J) m/s^3; zero where a clip is too short to have any."""
    if len(positions) < 4:
        return np.zeros((1, positions.shape[1]))
    return np.linalg.norm(np.diff(positions, 3, axis=0), axis=2) * fps**3


def _ratio(value, reference) -> float | None:
    """None where there is nothing to compare with: JSON has no endless numbers."""
    return 1.0 if value == reference else float(value / reference) if reference else None
