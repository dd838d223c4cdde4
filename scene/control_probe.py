"""What the bones of a rig do when its controls are posed at random, measured on a private copy.

C controls, B bones, P switches, S states of them, G groups of controls that are posed together.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.core.errors import SceneError
from ..solvers.skeleton.rig import Rig
from .actions import bone_of_path
from .bone_dependence import bones_reached
from .channels import SIZES, rotation_channel
from .control_candidates import find_candidates
from .control_locks import partly_locked
from .control_remarks import (
    driver_remark,
    idle_remark,
    locked_remark,
    outside_remark,
    partly_locked_remark,
    simulated_remark,
    states_remark,
    unstable_remark,
)
from .deforming import deforming_bones
from .evaluation import evaluated_object
from .frames import show_frame
from .metarig import metarig_parents
from .motion import source_of
from .playback import Before, play, put_back, put_value, value_at
from .private_copies import PrivateCopies, private_copies
from .reaches import BENT, Reaches
from .rigs import matrices, read_rig
from .switches import (
    find_switches,
    foreign_switches,
    in_few_steps,
    need_stepping,
    switch_ends,
    switched_bones,
    values_of_switches,
    weighing_switches,
)
from .switching import animated

_TURN, _WAY = 0.2, 0.02  # by which controls are posed: radians, and a share of the rig's size
_TRIES, _FAR = 12, 4.0  # to find goals within reach, by so many times as large a way
_MOST_STATES = 6
_STILL = 1e-4  # of rotations, and of the rig's size: less is rounding


@dataclass(frozen=True)
class ControlProbe:
    """rig: all bones.  controls: (C,) rising.  free: (C, 6) bool, see `Candidates`.  keyed: (C, 2) bool, whether
        the motion moves and turns each.

    switches: P data paths, from the object, of properties that change what constraints do.  ends: (P, 2) of each.
    switched: (P, B) bool, the bones that the constraints move on which each acts.
    states: (S, P) values in which the rig was posed: those that occur in the motion, the most frequent first, but for
        mixtures of limbs, then all switches of `limb_switches` at either end.  occurring: (N, P) all values that occur.
    limb_switches: (P,) bool, those that act on chains of bones.
    base, other: (S, B, 4, 4) armature space, all controls turned at random, twice.  posed: (S, G, B, 4, 4) as base, but
        with the controls of one group posed otherwise.  groups: (2, C) the group in which each control
        is moved, and in which it is turned, -1 where it cannot be.  reached: (C, B) bool, the bones that a control may
        move; within a group no bone is reached by two.
    deform: (B,) bool, see `deforming_bones`.  plan: (B,) the bone that each hangs on by the rig's metarig, -1 for a
        root of it, -2 for a bone that is not in it; None without a plan.
    remarks: what is wrong or left out, sentences without full stops.
    """

    rig: Rig
    controls: np.ndarray
    free: np.ndarray
    keyed: np.ndarray
    switches: tuple[str, ...]
    ends: np.ndarray
    switched: np.ndarray
    states: np.ndarray
    occurring: np.ndarray
    limb_switches: np.ndarray
    base: np.ndarray
    other: np.ndarray
    posed: np.ndarray
    groups: np.ndarray
    reached: np.ndarray
    deform: np.ndarray
    plan: np.ndarray | None
    remarks: tuple[str, ...]


def probe_rig(
    context: bpy.types.Context, ob: bpy.types.Object, frames: np.ndarray, source: tuple | None = None
) -> ControlProbe:
    """Pose the controls of a rig at random in each state of its switches that occurs at scene frames (F,).

    source: action and slot that it plays, as `control_copy`.
    Nothing that is the user's is touched.
    Raises SceneError where no bone is a control.
    """
    source = source_of(ob) if source is None else source
    rig = read_rig(ob)
    found = find_candidates(ob, *source)
    if not found.bones.size:
        raise SceneError(_none_found(ob, found.locked))
    switches = find_switches(ob, source)
    reached = bones_reached(ob)[found.bones]
    groups = _groups(reached, found.free)
    foreign = foreign_switches(ob, switches)
    deform = deforming_bones(context, ob)
    with private_copies(context.scene, ob) as private:
        stepped = frames if need_stepping(ob, switches) else frames[:1]
        posing = _Posing(stepped, ob, private, rig, found, switches, source, reached)
        values = posing.values
        if len(stepped) < len(frames):
            values = values_of_switches(context.scene, switches, values[0], frames, source)
        values = in_few_steps(switches, values)
        heeded = ~foreign | (np.ptp(values, axis=0) > 0.0)  # what cannot be set and stays is no switch
        switches, values, foreign = posing.heeding(heeded), values[:, heeded], foreign[heeded]
        ends, switched = switch_ends(ob, switches), switched_bones(ob, switches, source)
        limb = _limb_switches(rig, switched, ends, weighing_switches(ob, switches, source)) & ~foreign
        occurring = np.unique(np.round(values, 3), axis=0)
        chosen = _without_mixtures(values, limb)
        states = _with_ends(chosen[:_MOST_STATES], ends, limb)
        base, other, posed, unstable = posing.measure(states, groups)
    used = _move_some(base, posed, groups, reached, deform)
    if not used.any():
        raise SceneError(_none_found(ob, ()))
    names = np.array(rig.names)[found.bones]
    locks = {name: ways for name, ways in partly_locked(ob, *source).items() if name in names[used]}
    remarks = (
        *driver_remark(ob), *simulated_remark(ob), *outside_remark(ob, source), *locked_remark(found.kept),
        *partly_locked_remark(locks),
        *unstable_remark(unstable),
        *idle_remark(tuple(names[found.keyed.any(axis=1) & ~used])), *states_remark(len(chosen[_MOST_STATES:])),
    )  # fmt: skip
    return ControlProbe(
        rig, found.bones[used], found.free[used], found.keyed[used], switches, ends, switched, states, occurring, limb,
        base, other, posed, groups[:, used], reached[used], deform, metarig_parents(ob), remarks,
    )  # fmt: skip


class _Posing:
    """A private copy whose controls are posed directly, all at the first of some frames (n,).

    values: (n, P) of the switches at those.
    """

    def __init__(self, frames, ob, private: PrivateCopies, rig: Rig, found, switches, source, reached):
        self._copy, self._private, self._switches, self._rig = private.copies[ob], private, switches, rig
        self._bones = self._copy.pose.bones
        if source[0] is not None:
            play(self._copy, *source)
        self.values = np.empty((len(frames), len(switches)))
        for row in reversed(range(len(frames))):
            show_frame(private.scene, float(frames[row]))
            evaluated = self._evaluated()
            self.values[row] = [value_at(evaluated, path) for path in switches]
        self._start = {channel: _read(evaluated.pose.bones, channel) for channel in SIZES}
        self._halt(evaluated, source)
        self._order = [self._bones.find(name) for name in rig.names]
        self._rows = np.array([self._order[bone] for bone in found.bones])
        self._modes = [rotation_channel(rig.rotation_modes[bone]) for bone in found.bones]
        self._free, self._moved = found.free, found.keyed[:, 0]
        corners = rig.rest[:, :3, 3]
        self._reaches = Reaches(self._copy, rig, found, reached)
        self._size = float(np.ptp(corners, axis=0).max()) or float(rig.lengths.max())

    def _halt(self, evaluated, source: tuple) -> None:
        """Nothing of its own animates the copy any more; it stays as it was evaluated last, whatever the user sees."""
        data, held = self._copy.animation_data, _animated_values(evaluated, self._copy, source)
        if data is not None:
            data.action, data.use_nla = None, False
            for curve in [curve for curve in data.drivers if curve.data_path in self._switches]:
                data.drivers.remove(curve)  # states set what it drives
        for channel, values in self._start.items():
            self._bones.foreach_set(channel, values.ravel())
        put_back(self._copy, held)
        self._put_switches(self.values[0])

    def heeding(self, heeded: np.ndarray) -> tuple[str, ...]:
        """Have states tell of some switches (P,) alone; the others stay.  Returns those."""
        self._switches = tuple(path for path, is_one in zip(self._switches, heeded, strict=True) if is_one)
        return self._switches

    def _put_switches(self, state) -> None:
        for path, value in zip(self._switches, state, strict=True):
            put_value(self._copy, path, value)

    def measure(self, states: np.ndarray, groups: np.ndarray) -> tuple:
        """base, other, posed and unstable, see `ControlProbe`."""
        rng = np.random.default_rng(7)
        count, bones = int(groups.max()) + 1, len(self._rig.names)
        base, posed = np.empty((len(states), bones, 4, 4)), np.empty((len(states), count, bones, 4, 4), np.float32)
        other, unstable = np.empty_like(base), np.zeros(bones, bool)
        shape = self._free.shape
        for number, state in enumerate(states):
            self._put_switches(state)
            steps = self._within_reach(rng, self._start_steps(rng))
            base[number] = self._posed(steps)
            for group in range(count):
                chosen = np.repeat((groups == group).T, 3, axis=1)
                posed[number, group] = self._posed(np.where(chosen, steps + self._random(rng, shape), steps))
            other[number] = self._posed(self._within_reach(rng, self._start_steps(rng)))
            again = self._posed(steps)
            unstable |= np.abs(again - base[number]).max(axis=(1, 2)) > 1e-3 * max(self._size, 1e-9)
        return base, other, posed, tuple(self._rig.names[bone] for bone in np.flatnonzero(unstable))

    def _within_reach(self, rng, steps: np.ndarray) -> np.ndarray:
        """Steps (C, 6), but with the goals of IK so far drawn in that its chains bend: a stretched one follows none."""
        best = self._reaches.extension(self._posed(steps))
        for _ in range(_TRIES):
            if not (best > BENT).any():
                break
            tried = steps.copy()
            goals = self._reaches.goals[best > BENT]
            tried[goals, :3] = _FAR * self._random(rng, steps.shape)[goals, :3]
            found = self._reaches.extension(self._posed(tried))
            better = (found < best) & (best > BENT)
            steps[self._reaches.goals[better]] = tried[self._reaches.goals[better]]
            best = np.where(better, found, best)
        return steps

    def _start_steps(self, rng) -> np.ndarray:
        """(C, 6) all turned, but moved only where the motion does so: joints of limbs stay together."""
        steps = 0.5 * self._random(rng, self._free.shape)
        steps[~self._moved, :3] = 0.0
        return steps

    def _random(self, rng, shape) -> np.ndarray:
        """(C, 6) steps of the free channels, none of them small."""
        size = rng.uniform(0.5, 1.0, shape) * rng.choice([-1.0, 1.0], shape)
        return np.where(self._free, size * np.repeat([_WAY * self._size, _TURN], 3), 0.0)

    def _posed(self, steps: np.ndarray) -> np.ndarray:
        """Poses (B, 4, 4) with controls moved by steps (C, 6) from where they started."""
        values = {channel: start.copy() for channel, start in self._start.items()}
        values["location"][self._rows] += steps[:, :3]
        for mode in set(self._modes):
            chosen = np.array([each == mode for each in self._modes])
            rows = self._rows[chosen]
            values[mode][rows] = _turned(mode, values[mode][rows], steps[chosen, 3:])
        for channel, rows in values.items():
            self._bones.foreach_set(channel, rows.ravel())
        self._copy.update_tag(refresh={"OBJECT", "DATA"})
        self._private.scene.view_layers[0].update()
        flat = np.empty(16 * len(self._bones), np.float32)
        self._evaluated().pose.bones.foreach_get("matrix", flat)
        return matrices(flat)[self._order]

    def _evaluated(self) -> bpy.types.Object:
        return evaluated_object(self._copy, self._private.depsgraph)


def _animated_values(evaluated, copy, source: tuple) -> list[Before]:
    """What keys and strips make of all properties but the channels of bones, and whether the object is seen."""
    out = []
    for path, index in animated(copy, source):
        bone = bone_of_path(path)
        if (bone is None or bone[1] not in SIZES) and path != "hide_viewport":
            out.append(Before(path, index, value_at(evaluated, path, index)))
    return [each for each in out if each.value is not None]


def _turned(mode: str, start: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Rotation channels (n, size) of a mode, turned by about as much as `turn` (n, 3) tells about each axis."""
    if mode == "rotation_euler":
        return start + turn
    if mode == "rotation_axis_angle":
        return np.column_stack((start[:, 0] + np.linalg.norm(turn, axis=1), start[:, 1:] + turn))
    w, v, half = start[:, :1], start[:, 1:], 0.5 * turn
    out = np.column_stack((w[:, 0] - (v * half).sum(axis=1), w * half + v + np.cross(v, half)))
    return out / np.sqrt(1.0 + (half * half).sum(axis=1, keepdims=True))


def _read(bones, channel: str) -> np.ndarray:
    out = np.empty((len(bones), SIZES[channel]), np.float32)
    bones.foreach_get(channel, out.reshape(-1))
    return out


def _groups(reached: np.ndarray, free: np.ndarray) -> np.ndarray:
    """(2, C) group in which each control is moved, and turned, as few as a greedy choice finds: in none two reach
    (C, B) the same bone; -1 where no channel is free (C, 6)."""
    out, first = np.full((2, len(reached)), -1), 0
    for way, usable in enumerate((free[:, :3].any(axis=1), free[:, 3:].any(axis=1))):
        taken: list[np.ndarray] = []
        for control in np.argsort(-reached.sum(axis=1), kind="stable"):
            if not usable[control]:
                continue
            fitting = [group for group, bones in enumerate(taken) if not (bones & reached[control]).any()]
            if not fitting:
                taken.append(np.zeros(reached.shape[1], bool))
            group = fitting[0] if fitting else len(taken) - 1
            taken[group] |= reached[control]
            out[way, control] = first + group
        first += len(taken)
    return out


def _without_mixtures(values: np.ndarray, limb: np.ndarray) -> np.ndarray:
    """(S, P) values (F, P) that occur, the most frequent first: of those that differ in switches of limbs (P,) alone,
    which are measured at their ends, the most frequent one."""
    found, counts = np.unique(np.round(values, 3), axis=0, return_counts=True)
    found = found[np.argsort(-counts, kind="stable")]
    first = np.unique(np.where(limb, 0.0, found), axis=0, return_index=True)[1]
    return found[np.sort(first)]


def _move_some(base, posed, groups, reached, chosen: np.ndarray) -> np.ndarray:
    """(C,) bool: controls that move some of the chosen bones (B,) in some state."""
    size = np.abs(base[..., :3, 3]).max()
    changed = np.abs(posed[:, :, chosen] - base[:, None, chosen])
    changed[..., :3, 3] /= max(size, 1e-9)
    by_group = (changed > _STILL).any(axis=(3, 4))[:, groups] & reached[:, chosen] & (groups >= 0)[..., None]
    return by_group.any(axis=(0, 1, 3))


def _limb_switches(rig: Rig, switched: np.ndarray, ends: np.ndarray, weighing: np.ndarray) -> np.ndarray:
    """(P,) bool: switches from one end to another that act on a bone and its parent, as those of limbs do.

    weighing: (P,) bool, those that set influences: what only mutes constraints chooses among ways of IK, if there are
    any that weigh.
    """
    parents = rig.parents
    chained = switched[:, np.flatnonzero(parents >= 0)] & switched[:, parents[parents >= 0]]
    limb = (ends[:, 1] - ends[:, 0] == 1.0) & chained.any(axis=1)
    return limb & weighing if (limb & weighing).any() else limb


def _with_ends(states: np.ndarray, ends: np.ndarray, limb: np.ndarray) -> np.ndarray:
    """States, and the first with all switches of limbs at either end, unless it is among them."""
    for end in range(2) if limb.any() else ():
        new = np.where(limb, ends[:, end], states[0])
        if not (np.abs(states - new).max(axis=1) < 1e-6).any():
            states = np.concatenate((states, new[None]))
    return states


def _none_found(ob: bpy.types.Object, locked: tuple[str, ...]) -> str:
    if locked:
        names = ", ".join(f"'{name}'" for name in locked[:3]) + (", ..." if len(locked) > 3 else "")
        return f"All channels of the controls of '{ob.name}' are locked ({names}); unlock what is to be keyed."
    return (
        f"'{ob.name}' has no bone that could be keyed: constraints or drivers move them all. "
        "Copy Deform Bones (copy-deform on the command line) makes a rig that plays the same motion; use that one."
    )
