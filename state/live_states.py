"""How something that is live stands: what its track needs, what the panel says of that, and what mends a problem."""

from __future__ import annotations

from enum import StrEnum


class TrackNeed(StrEnum):
    """What the track of a live object still needs for the state of things as it is."""

    NOTHING = "NOTHING"
    TRACK = "TRACK"  # to be solved, of what is known
    SWEEP = "SWEEP"  # the frames stepped through, which only the user starts


class TrackStatus(StrEnum):
    """How far the track of a live object is."""

    READY = "READY"
    WAITING = "WAITING"
    SOLVING = "SOLVING"
    SWEEP = "SWEEP"


class Remedy(StrEnum):
    """The button that mends what a live object does not follow for."""

    BIND = "BIND"
    UPDATE = "UPDATE"
    TRAIN = "TRAIN"
    REFRESH = "REFRESH"
    RESUME = "RESUME"
