"""What the user chooses of Adapt, and what of it cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError, StaleBindingError
from ..surface.point_transfer import CLOSEST, GRAVITY
from ..warp.joint_limits import JointLimits
from .binding import Binding

ATTACH, AVOID, IGNORE = "ATTACH", "AVOID", "IGNORE"


@dataclass(frozen=True)
class SurfaceUse:
    """How a motion heeds one object. ATTACH keeps the relation both ways; AVOID only gives way when the object comes
    closer; IGNORE does nothing. influence: 0 to 1, one number or (F,) of the frames; where it is 0 at some frames alone
    the body keeps clear there as well.  replaced: how the points of an object go over to the other one that has taken
    its place, GRAVITY or CLOSEST (``point_transfer``); None where it is the bound one."""

    mode: str = ATTACH
    influence: float | np.ndarray = 1.0
    replaced: str | None = None

    def __post_init__(self):
        if self.mode not in (ATTACH, AVOID, IGNORE):
            raise InputError(f"Unknown mode '{self.mode}'; use {ATTACH}, {AVOID} or {IGNORE}.")
        if not np.all((np.asarray(self.influence) >= 0) & (np.asarray(self.influence) <= 1)):
            raise InputError(f"An influence lies between 0 and 1, not at {self.influence}.")
        if self.replaced not in (None, GRAVITY, CLOSEST):
            raise InputError(f"Unknown way '{self.replaced}' to another surface; use {GRAVITY} or {CLOSEST}.")

    @property
    def is_heeded(self) -> bool:
        """Whether it has any influence, at any frame."""
        return self.mode != IGNORE and bool(np.any(self.influence))

    def in_modes(self, *modes: str) -> float | np.ndarray:
        """The influence, 0 in other modes."""
        return self.influence if self.mode in modes else 0.0


def influences(uses: Sequence[SurfaceUse], *modes: str) -> np.ndarray:
    """(O, 1), or (O, F) where one changes over time: the influence of objects in some modes, 0 in others."""
    each = [np.atleast_1d(np.asarray(use.in_modes(*modes), float)) for use in uses]
    frames = max(map(len, each), default=1)
    return np.stack([np.broadcast_to(values, frames) for values in each])


@dataclass(frozen=True)
class Pin:
    """Holds one joint at given places. joint: index.  positions: (F, 3) world.  weight: (F,) 0 to 1."""

    joint: int
    positions: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class AdaptOptions:
    """What the user sets.

    surfaces: one use an object, in the binding's order; None attaches to all.  scale: of the character against bind.
    collision: keep clear of the environment.  orientation: 0 to 1, how much hands, feet and head turn with it.
    clearance: metres that a body keeps away unless it was closer, or the radius of its bone where that is more; None
    for 5 cm at a 1.8 m body.  contact_reach: metres from where an effector touches within which it begins to be held, 0
    to hold nothing; None for 6 cm at a 1.8 m body.
    upright: 0 to 1, one number or (F,) of the frames: how far what is away from surfaces keeps its tilt against gravity
    where the ground under it is tilted; 0 tilts all of the body with it.  gravity: (3,) its direction, world.
    joint_weight: (J,) factors of the affinities, or None.
    left: (J,) bool, joints whose bones keep their source angles against their parents, or None; what they carry is held
    by nothing.
    resized: (F, J, 3) the source pose of a character whose bones have changed, of which only the differences between
    joints count; None scales the bound one.
    """

    surfaces: tuple[SurfaceUse, ...] | None = None
    scale: float = 1.0
    collision: bool = True
    orientation: float = 1.0
    upright: float | np.ndarray = 1.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -1.0)
    pins: tuple[Pin, ...] = ()
    limits: JointLimits | None = None
    joint_weight: np.ndarray | None = None
    left: np.ndarray | None = None
    resized: np.ndarray | None = None
    clearance: float | None = None
    contact_reach: float | None = None


def checked_uses(binding: Binding, environment: Sequence, options: AdaptOptions) -> tuple[SurfaceUse, ...]:
    """How each object of an environment, given in the binding's order, is heeded.

    Raises StaleBindingError where there are more or fewer objects, InputError for options out of range.
    """
    if len(environment) != len(binding.objects):
        raise StaleBindingError(
            f"The motion is bound to {len(binding.objects)} objects ({', '.join(binding.objects)}), "
            f"{len(environment)} were given; bind again."
        )
    _check_options(binding, options)
    uses = options.surfaces or (SurfaceUse(),) * len(environment)
    if len(uses) != len(environment):
        raise InputError(f"{len(uses)} uses were given for {len(environment)} objects.")
    return uses


def _check_options(binding, options):
    track = binding.track
    names, shape = track.skeleton.names, track.positions.shape
    if not 0 < options.scale < np.inf:
        raise InputError(f"The character's scale must be above zero and finite, not {options.scale}.")
    if not 0 <= options.orientation <= 1:
        raise InputError(f"The orientation lies between 0 and 1, not at {options.orientation}.")
    upright, frames = np.asarray(options.upright, float), len(track.frames)
    if upright.shape not in ((), (frames,)) or not ((upright >= 0) & (upright <= 1)).all():
        raise InputError(f"Upright is one number from 0 to 1, or one for each of the {frames} frames.")
    if np.shape(options.gravity) != (3,) or abs(np.linalg.norm(options.gravity) - 1.0) > 1e-6:
        raise InputError(f"The direction of gravity must be a unit vector, not {options.gravity}.")
    for name, value in (("clearance", options.clearance), ("contact distance", options.contact_reach)):
        if value is not None and not 0 <= value < np.inf:
            raise InputError(f"The {name} must be zero or more metres, not {value}.")
    for use, name in zip(options.surfaces or (), binding.objects, strict=False):
        if np.shape(use.influence) not in ((), (frames,)):
            raise InputError(f"The influence of '{name}' is one number, or one for each of the {frames} frames.")
    for pin in options.pins:
        if not 0 <= pin.joint < len(names):
            raise InputError(f"A pin holds joint {pin.joint} of {len(names)}; pin one that is solved.")
        _check_pin(pin, names[pin.joint], track.frames)
    if options.left is not None and np.shape(options.left) != (len(names),):
        raise InputError(f"{np.size(options.left)} joints are left alone or not; there are {len(names)}.")
    weight, resized = options.joint_weight, options.resized
    if weight is not None:
        if weight.shape != (len(names),) or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
            raise InputError(f"Joint weights must be {len(names)} numbers, none below zero and not all zero.")
    if resized is not None and (resized.shape != shape or not np.isfinite(resized).all()):
        raise InputError(f"The resized pose has shape {resized.shape}; expected finite numbers of shape {shape}.")


def _check_pin(pin, name, frames):
    count = len(frames)
    if pin.positions.shape != (count, 3) or pin.weight.shape != (count,):
        raise InputError(
            f"The pin of '{name}' has {len(pin.positions)} places and {len(pin.weight)} weights for {count} frames."
        )
    bad = np.flatnonzero(~np.isfinite(pin.positions).all(axis=1) | ~((pin.weight >= 0) & (pin.weight <= 1)))
    if bad.size:
        raise InputError(
            f"The pin of '{name}' at frame {frames[bad[0]]:g} needs a place of numbers and a weight from 0 to 1."
        )
