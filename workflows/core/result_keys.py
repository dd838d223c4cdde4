"""Which keys a result gets: of which channels, at which frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...scene.key_rows import rows_of_keys
from ...scene.motion import BoneMotion, source_of
from ...scene.motion_writing import channel_sizes, moves_outside, written_channels
from ...solvers.core.errors import InputError
from ...solvers.core.vectors import mean_scale
from ...solvers.skeleton.bone_channels import channels_to_basis
from ...solvers.skeleton.curve_reduction import key_error, key_tangents, played, reduce_keys
from ...solvers.skeleton.smooth_curves import Tangents


@dataclass(frozen=True)
class KeyOptions:
    """step: frames from one key to the next; the last frame always has keys.  error: leave out the keys that the others
    tell within so many metres, see ``skeleton.curve_reduction``; None: keep all.  only_changed: channels that do not
    change keep the curves of the source.  at_source: only where the source has keys, whatever step and error are."""

    step: int = 1
    error: float | None = None
    only_changed: bool = True
    at_source: bool = False


@dataclass(frozen=True)
class Keys:
    """chosen: (F, B, 3) bool, for location, rotation and scale of each bone.  sizes: (B, 3) curves of each.
    error: metres by which what is left out moves any joint, see ``curve_reduction.reduce_keys``; where controls get the
    keys, any bone of the body.
    tangents: of the curves at the keys, where any is left out; without, curves run straight from frame to frame."""

    chosen: np.ndarray
    sizes: np.ndarray
    error: float
    tangents: Sequence[Tangents] | None = None

    @property
    def is_thinned(self) -> bool:
        return self.tangents is not None

    def played(self, motion: BoneMotion) -> BoneMotion:
        """The motion that these keys of one make; a channel without any plays on."""
        if not self.is_thinned:
            return motion
        return replace(motion, basis=channels_to_basis(motion.rig, *self.played_channels(motion)))

    def played_channels(self, motion: BoneMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``played``, location (F, B, 3), rotation (F, B, 4) and scale (F, B, 3) as curves have them."""
        return played(motion.channels(), motion.frames, self.chosen, self.tangents)

    def report(self) -> dict:
        """Numbers that JSON can hold; keys_per_curve is a mean."""
        curves = int(self.sizes[self.chosen.any(axis=0)].sum())
        keys = int((self.chosen.sum(axis=0) * self.sizes).sum())
        return {
            "curves": curves,
            "keys": keys,
            "keys_of_all_frames": curves * len(self.chosen),
            "keys_per_curve": round(keys / max(curves, 1), 1),
            "key_error_mm": 1000 * self.error,
        }


def choose_keys(
    context,
    ob,
    motion: BoneMotion,
    original: BoneMotion,
    options: KeyOptions,
    body: np.ndarray | None = None,
    bound: slice | None = None,
) -> Keys:
    """The keys of a motion that replaces the original, which the object plays.

    body: (K,) bones that hold still together outside of the frames.  Where any channel gets keys, so do those of theirs
    that the source moves there.
    bound: the rows of the bound frames, whose first and last always have keys; all where None.
    Raises InputError for a step below one or an error that is no length.
    """
    if options.step < 1:
        raise InputError(f"The frame step is {options.step}; give a whole number from 1.")
    kept = original if options.only_changed else None
    keyed = written_channels(context, ob, motion, source_of(ob), kept)
    if keyed.any() and body is not None:
        keyed[body] |= moves_outside(context.scene, source_of(ob), motion.rig, motion.frames).any(axis=0)[body]
    channels, frames = motion.channels(), motion.frames
    unit = mean_scale(motion.object_world[:, :3, :3])
    step, error = (1, None) if options.at_source else (options.step, options.error)
    first, last = (0, len(frames) - 1) if bound is None else (bound.start, bound.stop - 1)
    rows = np.unique([*range(first % step, len(frames), step), 0, first, last, len(frames) - 1])
    chosen = np.zeros((len(frames), *keyed.shape), bool)
    chosen[rows] = keyed
    if options.at_source:
        there = rows_of_keys(context.scene, source_of(ob), motion.rig, frames)
        there[[first, last]] = True
        chosen &= there
    if error is not None:
        some = tuple(values[rows] for values in channels)
        chosen[rows], found = reduce_keys(motion.rig, some, frames[rows], unit[rows], keyed, error)
    sizes = channel_sizes(motion.rig)
    if chosen[:, keyed].all():
        return Keys(chosen, sizes, 0.0)
    if error is None:
        tangents = key_tangents(channels, frames, chosen)
    else:
        tangents = [_spread(some, rows, len(frames)) for some in found]
    return Keys(chosen, sizes, key_error(motion.rig, channels, frames, unit, chosen, tangents), tangents)


def _spread(tangents: Tangents, rows: np.ndarray, count: int) -> Tangents:
    """Tangents at some rows, at their places among all."""
    out = np.zeros((2, count, *tangents.coming.shape[1:]))
    out[:, rows] = tangents
    return Tangents(*out)
