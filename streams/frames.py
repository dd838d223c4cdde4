"""Packets become frames: which joints belong together, and what was wrong with the rest."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from . import osc, vmc
from .errors import PacketError, UnusableError

MAX_JOINTS = 1024  # of a frame
HELD = 0.5  # seconds that a bone counts as a parent after it was last sent
MARKED = 1.0  # seconds after a mark in which bundles do not end frames
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


@dataclass(slots=True)
class Counts:
    """received: packets.  malformed: packets that break the format.  dropped: packets whose numbers are not finite or
    whose joints are too many.  ignored: messages of unknown addresses.  frames: made of the rest.
    forgotten: frames that made room for newer ones."""

    received: int = 0
    malformed: int = 0
    dropped: int = 0
    ignored: int = 0
    frames: int = 0
    forgotten: int = 0


class FrameBuilder:
    """Collects joints until their frame is whole.

    A frame ends with the packet that holds a mark (/VMC/Ext/T or /VMC/Ext/OK), or with a bundle where the sender marks
    nothing, and in any case before a packet that repeats one of its joints. A frame lists the joints sent for it; a
    bone not sent with it still moves its children for HELD seconds: a frame in several bundles comes out right.
    """

    def __init__(self) -> None:
        self.counts = Counts()
        self._pending: dict[str, vmc.Joint] = {}
        self._bones: dict[str, tuple[float, tuple[float, ...]]] = {}  # name: last sent, values
        self._root = _STANDING
        self._marked = self._closed = -math.inf
        self._names: tuple[str, ...] = ()

    def feed(self, data: bytes, now: float) -> list[Frame]:
        """The frames (at most two) that a packet makes whole; it never raises for what a packet holds."""
        self.counts.received += 1
        try:
            packet = osc.parse(data)
            said = [vmc.read(message) for message in packet.messages]
            joints = {item.name: item for item in said if isinstance(item, vmc.Joint) and item.kind != vmc.ROOT}
            repeats = not self._pending.keys().isdisjoint(joints)
            if (0 if repeats else len(self._pending)) + len(joints) > MAX_JOINTS:
                raise UnusableError(f"more than {MAX_JOINTS} joints")
        except UnusableError:
            self.counts.dropped += 1
            return []
        except PacketError:
            self.counts.malformed += 1
            return []
        self.counts.ignored += said.count(None)
        whole = [self._close(now, None)] if repeats else []
        self._pending.update(joints)
        for item in said:
            if isinstance(item, vmc.Joint) and item.kind == vmc.ROOT:
                self._root = item.values
        marks = [item for item in said if isinstance(item, vmc.Mark)]
        if marks:
            self._marked = now
        if self._pending and (marks or (packet.is_bundle and now - self._marked > MARKED)):
            whole.append(self._close(now, next((mark.time for mark in marks if mark.time is not None), None)))
        return whole

    def _close(self, now: float, sent: float | None) -> Frame:
        """The frame of all pending joints."""
        now = self._closed = now if now > self._closed else math.nextafter(self._closed, math.inf)
        pending, self._pending = self._pending, {}
        names = tuple(pending)
        self._names = self._names if names == self._names else names  # one tuple for all frames alike
        positions = self._place(pending, now)
        positions.flags.writeable = False
        self.counts.frames += 1
        return Frame(self.counts.frames, now, sent, self._names, positions)

    def _place(self, pending: dict[str, vmc.Joint], now: float) -> np.ndarray:
        """(J, 3) world places of the joints."""
        sent = {name: (now, joint.values) for name, joint in pending.items() if joint.kind == vmc.BONE}
        held = {name: bone for name, bone in self._bones.items() if now - bone[0] <= HELD and name not in pending}
        if len(held) + len(sent) > MAX_JOINTS:
            held = {}
        self._bones = bones = held | sent if held else sent
        places = {name: joint.values for name, joint in pending.items() if joint.kind == vmc.POINT}
        if bones:
            values = np.array([values for _, values in bones.values()], float)
            world = vmc.world_points(tuple(bones), values, np.array(self._root, float))
            if not (held or places):
                return world  # the usual case: all are bones, all were sent, in this order
            places |= dict(zip(bones, world, strict=True))
        return np.array([places[name] for name in pending], float).reshape(-1, 3)


def copy(counts: Counts) -> Counts:
    """The counts of this moment."""
    return dataclasses.replace(counts)
