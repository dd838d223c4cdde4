"""What has come over a stream, and what was left out of it, by address and reason."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

MAX_KINDS = 64  # of entries in a table; a flood of addresses must not fill the memory
OTHERS = "others"


@dataclass(slots=True)
class Counts:
    """received: packets.  malformed: packets in which nothing can be recognised.  dropped: messages that are left out
    though their address is read, or cannot be.  ignored: messages of other addresses.  frames: made of the rest.
    forgotten: frames that made room for newer ones.

    ignored_by, dropped_by: these messages by address, and by address and reason.  untracked: messages by the bone whose
    quaternion 0 0 0 0 was taken as no rotation.  rivals: joints by the program they were not taken from, because
    another one sends them.  Tables have at most MAX_KINDS entries and one for OTHERS.
    laid: bones of the latest frame without a position, laid on a standard body.  all_laid: whether these are all of
    them (but for the hips).  unsent: bones that the positions of others in that frame are relative to, but which do not
    come.
    """

    received: int = 0
    malformed: int = 0
    dropped: int = 0
    ignored: int = 0
    frames: int = 0
    forgotten: int = 0
    ignored_by: dict[str, int] = field(default_factory=dict)
    dropped_by: dict[str, int] = field(default_factory=dict)
    untracked: dict[str, int] = field(default_factory=dict)
    rivals: dict[str, int] = field(default_factory=dict)
    laid: tuple[str, ...] = ()
    all_laid: bool = False
    unsent: tuple[str, ...] = ()

    def ignore(self, address: str) -> None:
        """Count a message of another address."""
        self.ignored += 1
        tally(self.ignored_by, address)

    def drop(self, address: str | None, reason: str, times: int = 1) -> None:
        """Count messages that are left out; None where the address cannot be read."""
        self.dropped += times
        tally(self.dropped_by, f"{address}: {reason}" if address else reason, times)

    def copy(self) -> Counts:
        """The counts of this moment."""
        return replace(
            self,
            ignored_by=self.ignored_by.copy(),
            dropped_by=self.dropped_by.copy(),
            untracked=self.untracked.copy(),
            rivals=self.rivals.copy(),
        )


def tally(table: dict[str, int], key: str, times: int = 1) -> None:
    """Add to an entry of a table, or to that of OTHERS where the table is full."""
    if key not in table and len(table) >= MAX_KINDS:
        key = OTHERS
    table[key] = table.get(key, 0) + times
