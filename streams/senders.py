"""Several programs that send to one port: which of them a joint is taken from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

SILENCE = 1.0  # seconds without a packet after which a program counts as gone
RETURNS = 4  # times that a program speaks again after another one, until it counts as one that goes on
MAX_SENDERS = 64
MAX_NAMES = 4096


@dataclass(slots=True)
class _Sender:
    """number: in the order heard.  heard: last, in seconds.  returns: how often it spoke again after another one.
    is_refused: whether none of its joints was taken the last time that it sent any."""

    number: int
    heard: float
    returns: int = 0
    is_refused: bool = False


class Senders:
    """Tells programs apart by the address and port that they send from.

    A program that sends from another port each time, or that was started again, is no second one: two are there only
    where both go on, by turns. Then each joint is taken from the one that was heard first, until that is silent.
    """

    def __init__(self) -> None:
        self._senders: dict[str, _Sender] = {}
        self._latest: str | None = None
        self._owners: dict[str, str] = {}
        self._number = 0

    def not_taken(self, sender: str, names: Collection[str], now: float) -> list[str]:
        """Those of the joints in a packet of ``sender`` that are taken from another program."""
        current = self._hear(sender, now)
        refused = []
        if current.returns >= RETURNS:
            refused = [name for name in names if self._is_rival(self._owners.get(name), current, now)]
        if names:
            current.is_refused = len(refused) == len(names)
        if len(self._owners) > MAX_NAMES:
            self._owners.clear()
        taken = [name for name in names if name not in refused] if refused else names
        self._owners.update(dict.fromkeys(taken, sender))
        return refused

    def is_refused(self, sender: str) -> bool:
        """Whether nothing of a program is taken; its marks end no frames of the others then."""
        return self._senders[sender].is_refused

    def _hear(self, sender: str, now: float) -> _Sender:
        current = self._senders.get(sender)
        if current is None or now - current.heard > SILENCE:
            self._forget_silent(now)
            self._number += 1
            current = self._senders[sender] = _Sender(self._number, now)
        elif sender != self._latest:
            current.returns += 1
        current.heard, self._latest = now, sender
        return current

    def _forget_silent(self, now: float) -> None:
        if len(self._senders) >= MAX_SENDERS:
            self._senders = {key: one for key, one in self._senders.items() if now - one.heard <= SILENCE}
        while len(self._senders) >= MAX_SENDERS:
            del self._senders[next(iter(self._senders))]

    def _is_rival(self, owner: str, current: _Sender, now: float) -> bool:
        """Whether the owner of a joint was there before and goes on sending."""
        other = self._senders.get(owner)
        if other is None or other is current:
            return False
        return other.number < current.number and other.returns >= RETURNS and now - other.heard <= SILENCE
