"""What a result does worst, frame by frame, beside the means of ``measures``: for reports, warnings and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.ndimage import maximum_filter1d

from ..core.types import MeshTrack
from ..rotations import quaternions as quat
from ..skeleton.hinges import hinges
from ..skeleton.trunk import trunk_ends, trunk_path
from . import worst_events
from .binding import Binding
from .body_contacts import LIMB_BONE
from .contacts import ContactCount
from .measures import Comparison, compare
from .options import SurfaceUse
from .worst_events import DOWN, Event, worst

# An animator rejects what passes these. Beyond the source, in metres at a 1.8 m body and degrees: a joint's jump a
# frame, a bone's turn a frame, the trunk's tilt where it is clear of surfaces, a slide of a contact that is kept; the
# share of a limb's contacts kept.
JUMP, TURN, TILT, SLIDE, CONTACTS = 0.03, 15.0, 6.0, 0.03, 0.9
# Degrees from which on a knee or elbow is straight; and the share of frames in which one may be that the source bends.
STRAIGHT, STRETCHED = 172.0, 0.1
# Percent of frames with a sample inside an object beyond the source's, for a body of its size and for another; times
# the source's jerk, likewise; percent of frames with clearance lost; percent of all contacts kept.
DEEPER, JERK, NEARER, ALL_CONTACTS = (1.0, 2.0), (1.25, 1.35), 10.0, 95.0
# A trunk that is farther than this from everything, metres at 1.8 m, stands or walks and is to stay upright; one that
# leans by more degrees, as that of an animal on four legs, goes with its ground.
CLEAR, LEANING = 0.6, 45.0
# The ground is tilted where what touches it turns by so many degrees, within so many seconds of a frame.
SLOPED, AROUND = 3.0, 1.0


@dataclass(frozen=True)
class Approach:
    """An event, metres, and the name of the object that the body comes too near to, or slides along."""

    event: Event
    obj: str


@dataclass(frozen=True)
class Ride:
    """An event, metres a frame, of a bone that is not solved but rides on one that is, and the names of both."""

    event: Event
    bone: str
    carrier: str


@dataclass(frozen=True)
class Findings:
    """jumps (F - 1, J) metres, turns (F - 1, J) degrees a frame; tilts (F,) degrees, balance (F,) metres: what a result
    adds to its source, see ``worst_events``. NaN where there is nothing to measure.

    frames: (F,) of the scene.  names: of the J joints.  trunk: joints between which it lies.  clear: (F,) bool, whether
    it is away from all surfaces.  erect: (F,) bool, whether it is nearer to vertical than to horizontal in the source.
    sloped: (F,) bool, whether the ground has been tilted about then.  stretched: (F, J) bool, knees and elbows that are
    straight and were not.
    comparison: distances and contacts beside the source's.  sample_joints: (P,) the joint that each of its samples
    leads to.  objects: names of what is there of its objects, of
    what replaces one its own.  scale: body height / 1.8 m.  dt: seconds a frame.  held: see
    ``held_joints``; contacts come before clearance.
    ride: the largest jump of what is not solved, where that is known.
    """

    frames: np.ndarray
    names: tuple[str, ...]
    jumps: np.ndarray
    turns: np.ndarray
    tilts: np.ndarray
    balance: np.ndarray
    trunk: tuple[int, int]
    clear: np.ndarray
    erect: np.ndarray
    sloped: np.ndarray
    stretched: np.ndarray
    comparison: Comparison
    sample_joints: np.ndarray
    objects: tuple[str, ...]
    scale: float
    dt: float
    held: np.ndarray
    ride: Ride | None = None

    @property
    def contacts(self) -> ContactCount:
        return self.comparison.contacts

    @property
    def is_resized(self) -> bool:
        return abs(self.comparison.size - 1.0) > 1e-3

    @cached_property
    def depth(self) -> Approach | None:
        """Where the body is deepest inside an object, beyond what the source is."""
        found = self.comparison
        beyond = np.maximum(-found.after, 0.0) - np.maximum(-found.before, 0.0)
        return self._approach(found.inside, beyond, -found.after)

    @cached_property
    def loss(self) -> Approach | None:
        """Where the body has lost most clearance."""
        return self._approach(self.comparison.nearer, self.comparison.lost, self.comparison.lost)

    def _approach(self, where, beyond, sizes) -> Approach | None:
        """At the largest of ``beyond`` (O, F, P) among samples ``where`` it counts."""
        if not where.any():
            return None
        place = np.unravel_index(np.where(where, beyond, -np.inf).argmax(), where.shape)
        event = Event(float(sizes[place]), float(self.frames[place[1]]), int(self.sample_joints[place[2]]))
        return Approach(event, self.objects[self.comparison.after[(slice(None), *place[1:])].argmin()])

    @cached_property
    def slide(self) -> Approach | None:
        """Where a contact that is kept has slid farthest along its object, beyond the source."""
        partner = np.arange(len(self.objects))[:, None, None] == self.contacts.partner
        slid = np.where(partner & self.contacts.kept, self.comparison.slid, np.nan)
        event = worst(np.fmax.reduce(slid, axis=0), self.frames)
        if event is None:
            return None
        row = int(np.flatnonzero(self.frames == event.frame)[0])
        return Approach(event, self.objects[self.contacts.partner[row, event.joint]])

    @cached_property
    def jerk(self) -> Event | None:
        """Where a joint jerks most, beyond the source, m/s^3; the last of the four frames that tell it."""
        found = self.comparison
        return worst(found.jerk - found.jerk_before, self.frames) if len(self.frames) > 3 else None

    @cached_property
    def jump(self) -> Event | None:
        return worst(self.jumps, self.frames)

    @cached_property
    def turn(self) -> Event | None:
        return worst(self.turns, self.frames)

    @cached_property
    def tilt(self) -> Event | None:
        return worst(self.tilts, self.frames, self.trunk[1])

    @cached_property
    def clear_tilt(self) -> Event | None:
        """Of the frames in which the trunk stands clear of surfaces."""
        return worst(self.clear_tilts, self.frames, self.trunk[1])

    @property
    def clear_tilts(self) -> np.ndarray:
        """(F,) degrees, NaN where the trunk is close to something or lies in the source, as on four legs."""
        return np.where(self.clear & self.erect, self.tilts, np.nan)

    @cached_property
    def stretch(self) -> Event | None:
        """Of the knee or elbow that is stretched most often: its share of frames, and the first of them."""
        if not self.stretched.any():
            return None
        joint = int(self.stretched.sum(axis=0).argmax())
        rows = self.stretched[:, joint]
        return Event(float(rows.mean()), float(self.frames[rows.argmax()]), joint)

    @cached_property
    def shift(self) -> Event | None:
        """Of the centre of mass against the feet."""
        return worst(self.balance, self.frames, self.trunk[0])


def find(
    binding: Binding,
    positions: np.ndarray,
    turns: np.ndarray,
    environment: list[MeshTrack],
    size: float,
    gravity: np.ndarray = DOWN,
    uses: Sequence[SurfaceUse] | None = None,
    clear: float | None = None,
) -> Findings:
    """Compare a result with the bound motion.

    positions: (F, J, 3) and turns: (F, J, 4) unit quaternions that are added to the source's orientations, world.
    environment: the changed meshes in the binding's order.  size: of the character against bind.
    uses: of the objects, None where none of them is replaced.  clear: see ``measures.compare``.
    """
    track, tree, scale = binding.track, binding.tree, binding.scale
    parents, source = track.skeleton.parents, track.positions
    lengths = np.median(np.linalg.norm(source - source[:, np.maximum(parents, 0)], axis=2), axis=0)
    trunk = trunk_ends(parents, lengths, source[0])
    masses = worst_events.bone_masses(lengths, parents, binding.radii)
    centres = tuple(worst_events.mass_centres(joints, parents, masses) for joints in (source, positions))
    stance, root = binding.touched.any(axis=0) * binding.contact.max(axis=0), turns[:, trunk[0]]
    return Findings(
        track.frames,
        track.skeleton.names,
        np.maximum(worst_events.jumps(source, positions, size), 0.0),
        worst_events.turn_steps(turns),
        worst_events.tilts(source, positions, root, trunk, gravity),
        worst_events.balance_shifts(source, positions, centres, stance, root, size, gravity),
        trunk,
        binding.joint_distance[:, :, trunk_path(parents, trunk)].min(axis=(0, 2)) > CLEAR * scale,
        worst_events.leanings(source, trunk, gravity) <= LEANING,
        _sloped(turns, binding.touched.any(axis=0), gravity, binding.dt),
        _stretched(binding, positions, lengths, trunk),
        compare(binding, positions, environment, size, uses, clear),
        tree.order[binding.samples.child],
        _names(binding, environment, uses),
        scale,
        binding.dt,
        held_joints(binding),
    )


def held_joints(binding: Binding) -> np.ndarray:
    """(F, J) bool: joints that touch something in the source, or are of a hand or foot that does."""
    out = binding.touched.any(axis=0)
    for end in binding.limb_ends:
        out[:, end.held] |= out[:, end.held].any(axis=1, keepdims=True)
    return out


def _names(binding, environment, uses):
    """Of the objects as they are there."""
    if uses is None:
        return binding.objects
    parts = zip(binding.objects, environment, uses, strict=True)
    return tuple(mesh.name if use.replaced else name for name, mesh, use in parts)


def _sloped(turns, touched, gravity, dt):
    """(F,) bool."""
    downs = quat.rotate(np.moveaxis(turns, 0, -1), np.asarray(gravity)[:, None])
    level = np.einsum("a,jaf->fj", gravity, downs)
    here = (touched & (level < np.cos(np.radians(SLOPED)))).any(axis=1)
    return maximum_filter1d(here.astype(np.uint8), 2 * round(AROUND / dt) + 1).astype(bool)


def _stretched(binding, positions, lengths, trunk):
    """(F, J) bool."""
    parents = binding.track.skeleton.parents
    found = hinges(parents, lengths, binding.effectors, trunk_path(parents, trunk), LIMB_BONE * binding.scale)
    before, after = (
        worst_events.is_straight(joints, parents, found, STRAIGHT) for joints in (binding.track.positions, positions)
    )
    out = np.zeros(positions.shape[:2], bool)
    out[:, found[:, 0]] = after & ~before
    return out
