"""Typed errors of the streams. They stand apart from the solvers' so that neither layer needs the other."""


class StreamError(Exception):
    """A stream cannot be received; its text names the culprit and the way out, and is shown as it is."""


class PacketError(ValueError):
    """A packet breaks the format. Listeners count these, they never reach a user."""


class UnusableError(PacketError):
    """A packet of the right format whose numbers or amount cannot be used."""
