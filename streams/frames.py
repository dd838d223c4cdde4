"""Packets become frames: which joints belong together, and what was wrong with the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from . import osc, standard_body, vmc
from .counts import Counts, tally
from .errors import PacketError
from .senders import Senders

MAX_JOINTS = 1024  # of a frame
HELD = 5.0  # seconds that a bone counts as a parent after it was last sent
CARRIED = 0.1  # seconds after which a bone that is not sent again moves along with its parents
MARKED = 1.0  # seconds after a mark in which bundles do not end frames
_ROOT = ""  # among the names of joints, none of which is empty
_STANDING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """number: counts up by one.  time: when it was whole, seconds of the receiver's clock, always growing.
    sent: the sender's clock in seconds, or None.  names: J joints.  positions: (J, 3) world, metres, Z up, read-only.
    """

    number: int
    time: float
    sent: float | None
    names: tuple[str, ...]
    positions: np.ndarray


class FrameBuilder:
    """Collects joints until their frame is whole.

    A frame ends with the packet that holds a mark (/VMC/Ext/T or /VMC/Ext/OK), or with a bundle where the sender marks
    nothing, and in any case before a packet that repeats one of its joints. A frame lists the joints sent for it; a
    bone not sent with it still moves its children for HELD seconds, so a frame in several bundles comes out right, and
    is carried along by its parents, and listed, once it has not been sent for CARRIED seconds.

    A message that cannot be used is left out and counted; what else is in its packet counts.
    """

    def __init__(self) -> None:
        self.counts = Counts()
        self._senders = Senders()
        self._pending: dict[str, vmc.Joint] = {}
        self._bones: dict[str, tuple[float, ...]] = {}  # in the order first sent: their hierarchy is looked up
        self._sent_at: dict[str, float] = {}  # of the bones
        self._spelled: dict[str, str] = {}  # humanoid bones in lower case, as they were first written
        self._root, self._root_moved, self._is_raised = _STANDING, False, False
        self._marked = self._closed = -math.inf
        self._names: tuple[str, ...] = ()

    def feed(self, data: bytes, now: float, sender: str | None = None) -> list[Frame]:
        """The frames (at most two) that a packet makes whole; it never raises for what a packet holds.

        now: seconds, never less than before.  sender: where the packet came from, None where that is not known.
        """
        self.counts.received += 1
        packet = osc.parse(data)
        if packet.is_garbage:
            self.counts.malformed += 1
            return []
        joints, marks = self._read(packet)
        if sender is not None and not self._admit(sender, joints, now):
            return []
        root = joints.pop(_ROOT, None)
        repeats = not self._pending.keys().isdisjoint(joints)
        whole = [self._close(now, None)] if repeats else []
        self._take(joints)
        if root is not None:
            self._move_root(root.values)
        if marks:
            self._marked = now
        if self._pending and (marks or (packet.is_bundle and now - self._marked > MARKED)):
            whole.append(self._close(now, next((time for time in marks if time is not None), None)))
        return whole

    def _read(self, packet: osc.Packet) -> tuple[dict[str, vmc.Joint], list[float | None]]:
        """Joints by name, the root by _ROOT, and the times of marks; what cannot be used is counted."""
        joints, marks = {}, []
        for message in packet.messages:
            try:
                said = vmc.read(message)
            except PacketError as error:
                self._leave_out(message.address, str(error), marks)
                continue
            if isinstance(said, vmc.Joint):
                self._add(said, joints)
            elif said is None:
                self.counts.ignore(message.address)
            else:
                marks.append(said.time)
        for fault in packet.faults:
            self._leave_out(fault.address, fault.reason, marks)
        return joints, marks

    def _add(self, joint: vmc.Joint, joints: dict[str, vmc.Joint]) -> None:
        name = joint.name
        if joint.kind == vmc.ROOT:
            name = _ROOT
        elif name not in self._bones:
            name = self._spelling(joint)
        if joint.is_untracked:
            tally(self.counts.untracked, joint.name)
        if name in joints:
            self.counts.drop(joint.kind, f"'{joint.name}' is sent twice in a packet, and the last one used")
        joints[name] = joint

    def _spelling(self, joint: vmc.Joint) -> str:
        """The name of a joint; versions of the format differ in the case of humanoid bones."""
        lower = joint.name.lower()
        is_humanoid = joint.kind == vmc.BONE and lower in standard_body.REST
        return self._spelled.setdefault(lower, joint.name) if is_humanoid else joint.name

    def _leave_out(self, address: str | None, reason: str, marks: list[float | None]) -> None:
        """Count a message that cannot be used; a broken mark still ends its frame."""
        if address is not None and address not in vmc.ADDRESSES:
            self.counts.ignore(address)
            return
        self.counts.drop(address, reason)
        if address in (vmc.TIME, vmc.OK):
            marks.append(None)

    def _admit(self, sender: str, joints: dict[str, vmc.Joint], now: float) -> bool:
        """Take out the joints that are taken from another program; whether the packet counts without them."""
        refused = self._senders.not_taken(sender, joints, now)
        if refused:
            tally(self.counts.rivals, sender, len(refused))
            for name in refused:
                del joints[name]
        return not self._senders.is_refused(sender)

    def _take(self, joints: dict[str, vmc.Joint]) -> None:
        """Add joints to those of the frame, as many as it may have."""
        if len(self._pending) + len(joints) <= MAX_JOINTS:
            self._pending.update(joints)
            return
        for name, joint in joints.items():
            if len(self._pending) < MAX_JOINTS:
                self._pending[name] = joint
            else:
                self.counts.drop(joint.kind, f"more than {MAX_JOINTS} joints")

    def _move_root(self, values: tuple[float, ...]) -> None:
        self._root_moved |= values != self._root
        self._is_raised |= values[1] > 0.5 * standard_body.HIPS_HEIGHT
        self._root = values

    def _close(self, now: float, sent: float | None) -> Frame:
        """The frame of all pending joints."""
        now = self._closed = now if now > self._closed else math.nextafter(self._closed, math.inf)
        pending, self._pending = self._pending, {}
        names, positions = self._place(pending, now)
        self._root_moved = False
        self._names = self._names if names == self._names else names  # one tuple for all frames alike
        positions.flags.writeable = False
        self.counts.frames += 1
        return Frame(self.counts.frames, now, sent, self._names, positions)

    def _place(self, pending: dict[str, vmc.Joint], now: float) -> tuple[tuple[str, ...], np.ndarray]:
        """Names of J joints and their positions (J, 3) in the world."""
        sent = {name: joint.values for name, joint in pending.items() if joint.kind == vmc.BONE}
        if not self._bones.keys() <= sent.keys():
            self._forget(pending, len(sent), now)
        self._bones.update(sent)
        self._sent_at.update(dict.fromkeys(sent, now))
        names = tuple(pending)
        if not self._bones:
            self.counts.laid = self.counts.unsent = ()
            return names, np.array([joint.values for joint in pending.values()], float).reshape(-1, 3)
        bones = tuple(self._bones)
        world = self._world(bones)
        if bones == names:
            return names, world  # the usual case: all are bones, and all were sent
        if len(bones) > len(sent):
            names += self._carried(pending, sent, now)[: MAX_JOINTS - len(names)]
        places = {name: joint.values for name, joint in pending.items() if joint.kind == vmc.POINT}
        places |= dict(zip(bones, world, strict=True))
        return names, np.array([places[name] for name in names], float).reshape(-1, 3)

    def _forget(self, pending: dict[str, vmc.Joint], count: int, now: float) -> None:
        """Let bones go that were not sent for long, that are something else now, or that are too many."""
        others = [name for name in self._bones if name not in pending or pending[name].kind != vmc.BONE]
        is_full = len(others) + count > MAX_JOINTS
        for name in others:
            if is_full or name in pending or now - self._sent_at[name] > HELD:
                del self._bones[name], self._sent_at[name]

    def _world(self, bones: tuple[str, ...]) -> np.ndarray:
        """(J, 3) positions of all bones that count, laid on the standard body where they have none."""
        values = np.array(list(self._bones.values()), float)
        laid = standard_body.lay(bones, values, self._is_raised)
        counts = self.counts
        counts.laid, counts.all_laid, counts.unsent = _remarks(bones, laid.tobytes())
        return vmc.world_points(bones, values, np.array(self._root, float))

    def _carried(self, pending: dict[str, vmc.Joint], sent: dict[str, tuple], now: float) -> tuple[str, ...]:
        """Bones that are not sent with this frame, nor have been lately, below those that are."""
        old = [name for name in self._bones if name not in pending and now - self._sent_at[name] > CARRIED]
        if not old or self._root_moved:
            return tuple(old)
        moved = {name.lower() for name in sent}
        return tuple(name for name in old if not moved.isdisjoint(vmc.ancestors(name)))


@lru_cache(maxsize=16)
def _remarks(names: tuple[str, ...], laid: bytes) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """See ``Counts.laid``, ``all_laid`` and ``unsent``; laid: (J,) bool."""
    is_laid = np.frombuffer(laid, bool)
    without = tuple(name for name, one in zip(names, is_laid, strict=True) if one)
    humanoid = {name.lower() for name in names if name.lower() in standard_body.REST}
    rest = humanoid - {name.lower() for name in without} - {"hips"}
    unsent: dict[str, None] = {}
    for name, one in zip(names, is_laid, strict=True):
        for above in () if one else vmc.ancestors(name):
            if above in humanoid:
                break
            if above in vmc.REQUIRED:
                unsent[vmc.REQUIRED[above]] = None
    return without, bool(without) and not rest, tuple(unsent)
