"""Ctrl+C while a command runs: it is not lost where Blender swallows the error, and ends nothing that is done."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from contextvars import ContextVar


class _CtrlC:
    """A handler of SIGINT.  noted: whether one came.  raises: whether each raises KeyboardInterrupt at once."""

    def __init__(self, noted: bool):
        self.noted, self.raises = noted, True

    def __call__(self, _number, _frame) -> None:
        self.noted = True
        if self.raises:
            raise KeyboardInterrupt


_heeded: ContextVar[_CtrlC | None] = ContextVar("heeded", default=None)


@contextlib.contextmanager
def heeded() -> Iterator[None]:
    """A block that Ctrl+C ends by KeyboardInterrupt, also one that the handler before has ``noted``.

    Blender itself only takes the first one for a wish and goes on; and what is raised inside its handlers and drivers
    it prints and forgets, so ``require_none`` raises it again.
    """
    before = signal.getsignal(signal.SIGINT)
    ours = _CtrlC(getattr(before, "noted", False))
    mark = _heeded.set(ours)
    try:
        signal.signal(signal.SIGINT, ours)
        require_none()
        yield
    finally:
        _heeded.reset(mark)
        if before is not None:  # None: a handler that Python cannot put back
            signal.signal(signal.SIGINT, before)


def require_none() -> None:
    """Raises KeyboardInterrupt where there was a Ctrl+C in the block that heeds it, if there is one around."""
    ours = _heeded.get()
    if ours is not None and ours.noted:
        raise KeyboardInterrupt


def hold() -> None:
    """From now on Ctrl+C raises at ``require_none`` alone: what is put in its place is not torn apart, nor denied."""
    ours = _heeded.get()
    if ours is not None:
        ours.raises = False
