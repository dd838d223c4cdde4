"""Keys of controls that are left out: what that does to the body is measured where Blender evaluates it.

How far a control moves tells little of how far it moves bones: a goal pulls a knee by twice as much.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...scene.control_copy import ControlCopy, control_copy
from ...scene.motion import BoneMotion
from ...solvers.controls.deviation import points_apart
from ...solvers.controls.trial import ControlChannels, Trial
from ...solvers.core.vectors import mean_scale
from ..core.result_keys import KeyOptions, Keys
from .action import bound_action, result_in_strip, values_of_source
from .control_report import judged
from .control_result import ControlResult
from .way_back import WayBack

# How often keys are chosen anew with a smaller error on controls, by this share less than the body asks for.
_ROUNDS, _SHARE = 5, 0.9
# Frames that are evaluated at a stretch.
_AT_A_STRETCH = 4


def control_key_steps(
    at, ob, workflow, written: ControlResult, way: WayBack, options: KeyOptions, choose: Callable[[KeyOptions], Keys]
) -> Generator[float, None, tuple[Keys, np.ndarray | None]]:
    """The keys of a result on controls and the poses (F, B, 4, 4) that the rig takes with them, yielding shares done.

    No poses where the rig plays what was fitted: with keys at all frames and the whole influence.
    Where any key is left out their error is of the body, metres, also where the result goes back to its source.

    way: back to the source outside of the frames.
    choose: keys with options, whose error is of controls.  Of the body it is the largest distance of the heads of the
    bones that are judged, and of points as far from these as the bones are long, from where keys at all frames have
    them.  Where an error is asked for, it is held: by keys at all frames where nothing less does.
    """
    keys = choose(options)
    if not keys.is_thinned and written.is_whole.all():
        return keys, None
    with _copied(at, ob, workflow, written, way) as copy:
        body = _Body(copy, written, way)
        yield from body.pose_dense(keys.is_thinned)
        found = yield from body.measured(keys)
        asked = None if options.at_source else options.error
        bound = asked
        for _ in range(_ROUNDS if asked is not None else 0):
            if found[0].error <= asked:
                return found
            bound *= _SHARE * asked / found[0].error
            found = yield from body.measured(choose(replace(options, error=bound)))
        if asked is None or found[0].error <= asked:
            return found
        return (yield from body.measured(choose(replace(options, error=None))))


def _copied(at, ob, workflow, written: ControlResult, way: WayBack):
    controls = written.controls
    names = [controls.rig.names[bone] for bone in controls.controls]
    source, before = bound_action(ob, workflow), values_of_source(ob, workflow)
    return control_copy(
        at, ob, names, way.frames, controls.switches, {}, source, before, result_in_strip(ob, workflow)
    )  # fmt: skip


@dataclass
class _Body:
    """The bones by which a result is judged, on a copy of the E frames of its way back.

    dense: (E, B, 4, 4) with keys at all frames.  switches: (E, P) values where any is keyed to another, else None.
    """

    copy: ControlCopy
    written: ControlResult
    way: WayBack
    dense: np.ndarray | None = None
    switches: np.ndarray | None = None

    @cached_property
    def motion(self) -> BoneMotion:
        return self.way.extended(self.written.motion)

    def pose_dense(self, everywhere: bool) -> Generator[float, None, None]:
        """everywhere: on the way back as well."""
        rows, switched = np.arange(len(self.way.frames)), self.written.switches
        if switched:
            source = yield from self.copy.source_steps()
            self.switches = source.values.copy()
            for number, path in enumerate(self.written.controls.switches):
                self.switches[self.way.bound, number] = switched.get(path, self.switches[self.way.bound, number])
        rows = rows if everywhere else rows[self.way.bound]
        posed = yield from self._posed(rows, self.motion.channels())
        self.dense = np.empty((len(self.way.frames), *posed.shape[1:]))
        self.dense[rows] = posed

    def measured(self, keys: Keys) -> Generator[float, None, tuple[Keys, np.ndarray]]:
        """Keys with the metres by which the curves through them move any of the bones at any frame, and the poses."""
        if not keys.is_thinned:
            return keys, self.dense[self.way.bound]
        motion, controls = self.motion, self.written.controls
        channels, own = keys.played_channels(motion), controls.controls
        both = zip(channels, motion.channels(), strict=True)
        apart = [np.abs(new[:, own] - old[:, own]).max(axis=(1, 2)) for new, old in both]
        rows = np.flatnonzero(np.max(apart, axis=0) > 0.0)
        if not len(rows):
            return replace(keys, error=0.0), self.dense[self.way.bound]
        posed = self.dense.copy()
        posed[rows] = yield from self._posed(rows, channels)
        bones = judged(controls)
        found = points_apart(self.dense[:, bones], posed[:, bones], controls.rig.lengths[bones])
        found *= mean_scale(motion.object_world[:, :3, :3])[:, None]
        return replace(keys, error=float(found.max())), posed[self.way.bound]

    def _posed(self, rows: np.ndarray, channels: tuple) -> Generator[float, None, np.ndarray]:
        """(n, B, 4, 4) poses at some rows of channels of all bones."""
        own, parts = self.written.controls.controls, []
        for some in _stretches(rows):
            trial = Trial(some, ControlChannels(*(part[some][:, own] for part in channels)))
            parts.append(self.copy.evaluate(trial, None if self.switches is None else self.switches[some]))
            yield 0.5  # how often keys are chosen is not known
        return np.concatenate(parts)


def _stretches(rows: np.ndarray) -> Iterator[np.ndarray]:
    for first in range(0, len(rows), _AT_A_STRETCH):
        yield rows[first : first + _AT_A_STRETCH]
