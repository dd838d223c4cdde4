"""How a result that covers some frames of its source goes back to it before and after them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...scene.channels import action_times
from ...scene.curve_splice import splice_curves
from ...scene.motion import BoneMotion, motion_of_channels
from ...solvers.skeleton.range_fade import Channels, RangeFade

BEFORE, AFTER = 0, 1


@dataclass(frozen=True)
class WayBack:
    """The frames of one result, with those on which it goes back to its source.

    sides: whether it does so before and after.  frames: (E,) the bound ones and those.  bound: which of them are bound.
    fades: of each side, None where it holds still.  blend: frames in which the change fades, as it is set.
    """

    sides: tuple[bool, bool]
    frames: np.ndarray
    bound: slice
    fades: tuple[RangeFade | None, RangeFade | None]
    blend: int

    def extended(self, motion: BoneMotion) -> BoneMotion:
        """A result over the bound frames with the way back to its source."""
        own = motion.channels()
        return self._with(motion, [fade and fade.channels(row_of(own, -side)) for side, fade in enumerate(self.fades)])

    def source_of(self, original: BoneMotion) -> BoneMotion:
        """The source over all of these frames. original: over the bound ones."""
        return self._with(original, [fade and fade.source for fade in self.fades])

    def cut(self, motion: BoneMotion) -> BoneMotion:
        """The bound frames of what ``extended`` gave."""
        if not any(self.sides):
            return motion
        channels = tuple(part[self.bound] for part in motion.channels())
        like = replace(motion, frames=motion.frames[self.bound], object_world=motion.object_world[self.bound])
        return motion_of_channels(motion.rig, channels, like)

    def _with(self, motion: BoneMotion, parts: list[Channels | None]) -> BoneMotion:
        if not any(self.sides):
            return motion
        found = [part for part in (parts[BEFORE], motion.channels(), parts[AFTER]) if part is not None]
        channels = tuple(np.concatenate(rows) for rows in zip(*found, strict=True))
        rows = np.clip(np.arange(len(self.frames)) - self.bound.start, 0, len(motion.frames) - 1)
        like = replace(motion, frames=self.frames, object_world=motion.object_world[rows])
        return motion_of_channels(motion.rig, channels, like)

    def is_source(self, frame: float) -> bool:
        """Whether the source alone plays at a scene frame."""
        first, last = self.frames[[0, -1]]
        return (self.sides[BEFORE] and frame <= first) or (self.sides[AFTER] and frame >= last)


def go_back(scene, action, slot, source: tuple, motion: BoneMotion, keyed: np.ndarray, way: WayBack) -> None:
    """Give curves that were written to an action over the frames of a result the source's keys outside of them.

    source: action and slot.  motion: as it was written.  keyed: (B, 3) bool, which of location, rotation and scale of
    each bone were.
    """
    if not any(way.sides):
        return
    edges = zip((way.bound.start - 1, way.bound.stop - 1), way.sides, strict=True)
    times, turned = action_times(scene, motion.frames), motion.channels()[1]
    jumps = {times[row]: _turns_over(turned[row], turned[row + 1]) for row, is_open in edges if is_open}
    seen = tuple(action_times(scene, np.array([scene.frame_start, scene.frame_end], float)).tolist())
    splice_curves((action, slot), source, motion.rig, keyed, way.sides, seen, jumps)


def _turns_over(rotation: np.ndarray, following: np.ndarray) -> np.ndarray:
    """(B,) bool: rotation channels (B, 4) of which the next frame's are others that may turn alike."""
    return np.linalg.norm(following - rotation, axis=-1) > 1.0


def row_of(channels: Channels, row: int) -> Channels:
    return tuple(part[row] for part in channels)
