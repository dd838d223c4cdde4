"""Poses that a rig takes with other values of its controls, as Blender evaluates them, on a private copy.

Trials are keyed at the true frames, and the copy's scene steps through those: what moves the rig from outside, and
what the source action says of everything else, counts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import bpy
import numpy as np

from ..solvers.core.errors import StaleBindingError
from ..solvers.core.steps import result_of
from . import actions
from .channels import SIZES, action_times, rotation_channel
from .evaluation import evaluated_object
from .frames import show_frame
from .motion import source_of
from .playback import Before, put_back, value_at
from .private_copies import PrivateCopies, private_copies
from .rigs import matrices
from .sampling import Channels
from .strips import take_off
from .trial_action import TrialAction


class ChannelValues(Protocol):
    """location: (n, C, 3).  rotation: (n, C, 4) in each control's mode, as `bone_channels`.  scale: (n, C, 3)."""

    location: np.ndarray
    rotation: np.ndarray
    scale: np.ndarray


class AskedFor(Protocol):
    """frames: (n,) rows of the copy's frames.  channels: of all controls at those."""

    frames: np.ndarray
    channels: ChannelValues


@dataclass(frozen=True)
class EvaluatedSource:
    """A rig as it moves by its own animation, F frames.

    pose: (F, B, 4, 4) armature space.  object_world: (F, 4, 4).  location, scale: (F, C, 3) and rotation: (F, C, 4)
    of the controls.  values: (F, P) of the switches.
    """

    pose: np.ndarray
    object_world: np.ndarray
    location: np.ndarray
    rotation: np.ndarray
    scale: np.ndarray
    values: np.ndarray


class CopyGoneError(StaleBindingError):
    """Undo or saving has taken a copy away while it was used."""


class ControlCopy:
    """A private copy of a rig; made by `control_copy`."""

    def __init__(self, scene, ob, private: PrivateCopies, controls, switches, frames, held, source):
        self._private, self._copy = private, private.copies[ob]
        self._name = ob.name
        self.names = tuple(bone.name for bone in ob.data.bones)
        self.controls, self.switches = tuple(controls), tuple(switches)
        self.frames = np.asarray(frames, float).reshape(-1)
        bones = self._copy.pose.bones
        self._order = [bones.find(name) for name in self.names]
        self._rows = [bones.find(name) for name in self.controls]
        self._modes = [rotation_channel(bones[row].rotation_mode) for row in self._rows]
        self._times = action_times(scene, self.frames)
        self._before = Channels.now(self._copy)
        self._own, self._held = source, dict(held)
        self._start: np.ndarray | None = None  # of the channels, as the source makes them
        self._trial: TrialAction | None = None
        self._plays_trial: bool | None = None

    def source(self) -> EvaluatedSource:
        """What the rig does by its own animation at all frames."""
        return result_of(self.source_steps())

    def source_steps(self) -> Generator[float, None, EvaluatedSource]:
        """As `source`, yielding shares done after each frame; nothing else is to be asked of the copy meanwhile."""
        self._require()
        self._play(*self._own, trial=False)
        count = len(self.frames)
        pose, world = np.empty((count, len(self.names), 4, 4)), np.empty((count, 4, 4))
        channels = {name: np.empty((count, len(self._rows), size)) for name, size in SIZES.items()}
        values = np.empty((count, len(self.switches)))
        for number, evaluated in enumerate(self._evaluated(range(count))):
            bones = evaluated.pose.bones
            pose[number], world[number] = self._pose(bones), evaluated.matrix_world
            for name, size in SIZES.items():
                flat = np.empty(size * len(bones), np.float32)
                bones.foreach_get(name, flat)
                channels[name][number] = flat.reshape(-1, size)[self._rows]
            values[number] = [value_at(evaluated, path) for path in self.switches]
            yield (number + 1) / count
            self._require()
        rotation = np.zeros((count, len(self._rows), 4))
        for number, mode in enumerate(self._modes):
            rotation[:, number, : SIZES[mode]] = channels[mode][:, number]
        self._start = self._columns((channels["location"], rotation, channels["scale"]))
        return EvaluatedSource(pose, world, channels["location"], rotation, channels["scale"], values)

    def evaluate(self, trial: AskedFor, values: np.ndarray | None = None) -> np.ndarray:
        """Poses (n, B, 4, 4) in armature space that the rig takes with the channels of a trial of n frames.

        values: (n, P) of the switches, which the copy must have been made with; those that the trial before had, or
        else those of the source, where it is None.
        Raises CopyGoneError where undo or saving has taken the copy away.
        """
        self._require()
        rows = np.asarray(trial.frames, int)
        parts = (trial.channels.location, trial.channels.rotation, trial.channels.scale)
        columns = self._columns(parts)
        if self._trial is None:
            unknown = np.full((len(self.frames), columns.shape[1]), np.nan)
            self._trial = self._make_trial(unknown if self._start is None else self._start)
        self._trial.write(rows, columns, values)
        self._play(self._trial.action, self._trial.slot, trial=True)
        pose = np.empty((len(rows), len(self.names), 4, 4))
        for number, evaluated in enumerate(self._evaluated(rows)):
            pose[number] = self._pose(evaluated.pose.bones)
        return pose

    def _pose(self, bones) -> np.ndarray:
        """(B, 4, 4)."""
        flat = np.empty(16 * len(bones), np.float32)
        bones.foreach_get("matrix", flat)
        return matrices(flat)[self._order]

    def _evaluated(self, rows) -> Iterator[bpy.types.Object]:
        """The evaluated copy at each of some rows of the frames; to be fetched anew each time."""
        for row in rows:
            show_frame(self._private.scene, self.frames[row])
            yield evaluated_object(self._copy, self._private.depsgraph)

    def _make_trial(self, start: np.ndarray) -> TrialAction:
        properties = [
            (actions.bone_path(name, channel), SIZES[channel])
            for name, mode in zip(self.controls, self._modes, strict=True)
            for channel in ("location", mode, "scale")
        ]
        made = TrialAction(self._copy, self._own, properties, start, self.switches, self._held, self._times)
        self._private.own(made.action)
        return made

    def _columns(self, parts) -> np.ndarray:
        """(n, N) values of the properties, control by control, of channels (n, C, size)."""
        location, rotation, scale = parts
        every = np.concatenate((location, rotation, scale), axis=-1)
        used = np.ones((len(self.controls), 10), bool)
        used[:, 6] = [SIZES[mode] == 4 for mode in self._modes]
        return every[:, used]

    def _play(self, action, slot, trial: bool) -> None:
        """Have the copy play the source, from the channel values that it had before, or trials."""
        if self._plays_trial == trial:
            return
        if self._plays_trial:
            self._before.put_back(self._copy)
        data = self._copy.animation_data_create()
        data.action = action
        if slot is not None:
            data.action_slot = slot
        self._copy.update_tag(refresh={"OBJECT", "DATA", "TIME"})
        self._plays_trial = trial

    def _require(self) -> None:
        if not self._private.exist():
            raise CopyGoneError(f"'{self._name}' was undone or saved while it was being solved; do it again.")


@contextmanager
def control_copy(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    controls: Sequence[str],
    frames: np.ndarray,
    switches: Sequence[str] = (),
    held: Mapping[str, float] | None = None,
    source: tuple | None = None,
    before: Iterable[Before] = (),
    silent: bpy.types.Action | None = None,
    stand_in: Callable[[PrivateCopies, bpy.types.Object, np.ndarray], None] | None = None,
) -> Iterator[ControlCopy]:
    """A private copy of a rig, whose controls take the channels of trials at scene frames (F,); gone after the block.

    controls: names of bones.  switches: data paths, from the object, of properties that trials may set.  held: values
    that properties have at all frames of all trials.  source: action and slot that the rig moves by, None and None for
    NLA strips alone; what it plays, where it is not given.  before: values of what something else animates meanwhile.
    silent: an action whose strips do not play.  stand_in: is given the copies, that of the rig and the action times
    (F,), to put something else in the place of what it depends on.
    The user's scene, its frame, and the rig itself stay as they are.
    Raises SceneError for a rig whose source cannot be read.
    """
    source = source_of(ob) if source is None else source
    with private_copies(context.scene, ob) as private:
        take_off(private.copies[ob], silent)
        put_back(private.copies[ob], before)
        if stand_in is not None:
            stand_in(private, private.copies[ob], action_times(context.scene, np.asarray(frames, float)))
        yield ControlCopy(context.scene, ob, private, controls, switches, frames, held or {}, source)
