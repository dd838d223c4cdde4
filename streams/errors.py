"""Typed errors of the streams. They stand apart from the solvers' so that neither layer needs the other."""


class StreamError(Exception):
    """A stream cannot be received; its text names the culprit and the way out, and is shown as it is."""


class PacketError(ValueError):
    """A message cannot be used; its text says why, as part of a sentence. Listeners count these."""
