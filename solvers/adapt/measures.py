"""How well an adapted motion keeps what the bound one did, from what a binding knows.

The same definitions as ``benchmarks/metrics.py``, on the samples of the binding; all thresholds are for a 1.8 m body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.types import MeshTrack
from ..surface.track import SurfaceTrack
from ..warp.collision import CLEARANCE
from . import clearance
from .binding import BETWEEN_REACH, Binding
from .contacts import KEPT, ContactCount, count_contacts
from .covered_places import covered_contacts
from .options import SurfaceUse
from .present_places import present_places
from .slides import slides

DEPTH = 0.01
LOST = 0.01
# Metres at 1.8 m that a capsule may be in an object in any case.
ALLOWED = 0.001
_REACH = 0.3


@dataclass(frozen=True)
class Comparison:
    """A result beside the bound motion. before, after: (O, F, P) distances of the binding's samples then and now, and
    lost (1, F, P) of their clearance to whatever is nearest, metres.  deeper: (F, P) metres by which the capsule around
    a sample is deeper in whatever is nearest than it was then, or than 1 mm, whichever is more.  contacts: which are
    kept.  slid: (O, F, J) metres, see ``slides``.  jerk_before, jerk: (F - 3, J) m/s^3.  unit: body height / 1.8 m.
    size: of the character against bind."""

    before: np.ndarray
    after: np.ndarray
    lost: np.ndarray
    deeper: np.ndarray
    contacts: ContactCount
    slid: np.ndarray
    jerk_before: np.ndarray
    jerk: np.ndarray
    unit: float
    size: float

    @property
    def inside(self) -> np.ndarray:
        """(O, F, P) bool: samples that are inside an object now."""
        return self.after < -DEPTH * self.unit

    @property
    def inside_before(self) -> np.ndarray:
        return self.before < -DEPTH * self.unit

    @property
    def nearer(self) -> np.ndarray:
        """(1, F, P) bool: samples that have lost clearance."""
        return self.lost > LOST * self.unit

    def figures(self) -> dict[str, float | None]:
        """Shares in percent, lengths in cm, jerk as ratios, None against a motion without any.

        Contacts: see ``contacts``; None where nothing touches. Penetration: frames with a sample deeper than 1 cm.
        Clearance lost: frames with a sample that lost more than 1 cm of its first 5. Jerk: third differences against
        the bound motion's.
        """
        contacts, kept = self.contacts.counted.sum(), self.contacts.kept.sum()
        jerk, before = self.jerk, self.jerk_before
        return {
            "contact_frames": int(contacts),
            "contacts_kept_pct": 100.0 * kept / contacts if contacts else None,
            "penetration_pct": _percent_of_frames(self.inside),
            "penetration_original_pct": _percent_of_frames(self.inside_before),
            "clearance_lost_pct": _percent_of_frames(self.nearer),
            "clearance_lost_max_cm": 100.0 * max(float(self.lost.max()), 0.0),
            "jerk_mean_ratio": _ratio(jerk.mean(), before.mean()),
            "jerk_p95_ratio": _ratio(np.percentile(jerk, 95), np.percentile(before, 95)),
        }


def compare(
    binding: Binding,
    positions: np.ndarray,
    environment: list[MeshTrack],
    size: float,
    uses: Sequence[SurfaceUse] | None = None,
    clear: float | None = None,
) -> Comparison:
    """Compare a result with the bound motion.

    positions: (F, J, 3) adapted joints.  environment: the changed meshes.  size: of the character against bind;
    clearances are asked in proportion to it.  uses: of the objects, None where none of them is replaced.
    clear: metres that are kept clear around a bone without a thicker capsule, None for 5 cm in proportion to the body.
    """
    unit, tree = binding.scale, binding.tree
    samples = binding.samples.positions(tree.from_track(positions))
    surfaces = [SurfaceTrack(mesh) for mesh in environment]
    before = binding.distance.astype(float) * unit
    reach = _reach(binding, clear) * max(size, 1.0)
    after, _, closest, faced = clearance.clearances(np.moveaxis(samples, -1, 0), surfaces, reach)
    near = CLEARANCE * unit
    # To whatever is nearest: a floor may lie inside the stage that the feet stand on now.
    asked, left = (distance.min(axis=0, keepdims=True) for distance in (before, after))
    lost = size * np.minimum(asked, near) - np.minimum(left, near * size)
    thick = np.maximum(binding.radii[tree.order][binding.samples.child] * size, near * size if clear is None else clear)
    # Of samples between joints it is not known how much farther than this they were.
    known = np.where(np.isfinite(asked), asked, BETWEEN_REACH * unit)
    deeper = (np.minimum(size * known, thick - ALLOWED * unit) - left)[0]
    now = present_places(binding, environment, uses or [SurfaceUse()] * len(environment))
    hidden, at = covered_contacts(binding, surfaces, (now.origins, now.axes)), binding.samples.at_joints[tree.rank]
    contacts = count_contacts(binding.joint_distance, after[:, :, at], binding.touched, hidden, size, unit)
    slid = slides(binding, positions, surfaces, (closest[:, :, at], faced[:, :, at]), size)
    jerk_before, jerk = (_jerk(joints, binding.track.fps) for joints in (binding.track.positions, positions))
    return Comparison(before, after, lost, deeper, contacts, slid, jerk_before, jerk, unit, size)


def _reach(binding, clear):
    """Metres at bind within which distances are looked at: a thick trunk rests on what is farther than others touch."""
    rests = binding.joint_distance[binding.touched]
    rests = rests[np.isfinite(rests)].max(initial=0.0)
    return max(_REACH * binding.scale, rests + KEPT * binding.scale, binding.radii.max(initial=0.0), clear or 0.0)


def _percent_of_frames(where):
    """Of frames in which any sample of (O, F, P) is so."""
    return 100.0 * float(where.any(axis=(0, 2)).mean())


def _jerk(positions, fps):
    """(F - 3, J) m/s^3; zero where a clip is too short to have any."""
    if len(positions) < 4:
        return np.zeros((1, positions.shape[1]))
    return np.linalg.norm(np.diff(positions, 3, axis=0), axis=2) * fps**3


def _ratio(value, reference) -> float | None:
    """None where there is nothing to compare with: JSON has no endless numbers."""
    return 1.0 if value == reference else float(value / reference) if reference else None
