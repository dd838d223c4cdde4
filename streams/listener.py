"""Listening for packets over UDP, in a thread of its own."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

from . import frames
from .counts import Counts
from .errors import StreamError
from .osc import MAX_BYTES

LOOPBACK, PORT = "127.0.0.1", 39_539  # the port that VMC senders use unless told otherwise
MAX_POINTS = 262_144  # joints in all frames kept: some ten megabytes

_ANY = ("", "0.0.0.0")  # hosts that mean all addresses of this computer
_PATIENCE = 0.1  # seconds until the thread looks whether it shall stop
_QUEUE = 4 << 20  # bytes that the system is asked to keep while the thread is held up


class Listener:
    """Receives frames from start() to stop(); the last ones are kept, with the time since start() at which they came.

    host: the address listened at; only programs on this computer reach the loopback.  port: 0 takes any free one.
    capacity: frames kept.  clock: seconds.  Methods may be called from any thread; what they say of frames and counts
    agrees: both are written at once, and a packet counts as received when its frames can be read.
    """

    def __init__(
        self,
        host: str = LOOPBACK,
        port: int = PORT,
        capacity: int = 2400,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if capacity < 1:
            raise StreamError(f"A listener must keep at least one frame, not {capacity}.")
        self.host, self.port, self.capacity, self._clock = host, port, capacity, clock
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._forget()

    @property
    def is_listening(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Open the port and begin, with nothing kept from before; no effect while listening.

        Raises StreamError where the port or address cannot be had.
        """
        if self.is_listening:
            return
        opened = _open(self.host, self.port)
        self.port = opened.getsockname()[1]
        self._forget()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._listen, args=(opened,), name="Motion Loom stream", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close the port; what was received stays readable. Returns when the thread has ended."""
        self._stopping.set()
        if self._thread is not None:
            self._wake()
            self._thread.join()
            self._thread = None

    def _wake(self) -> None:
        """Send a packet to the thread, which else would wait for one; where that fails, it looks up by itself."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.sendto(b"", (LOOPBACK if self.host in _ANY else self.host, self.port))

    def latest(self) -> frames.Frame | None:
        """The newest frame, None before the first."""
        with self._lock:
            return self._kept[-1] if self._kept else None

    def since(self, moment: float) -> list[frames.Frame]:
        """The frames kept that came after a time (seconds since start), the oldest first."""
        found = []
        with self._lock:
            for frame in reversed(self._kept):
                if frame.time <= moment:
                    break
                found.append(frame)
        return found[::-1]

    def counts(self) -> Counts:
        """What has come since start."""
        with self._lock:
            return self._counts.copy()

    def _forget(self) -> None:
        with self._lock:
            self._counts = Counts()
            self._kept: deque[frames.Frame] = deque()
            self._points = self._forgotten = 0

    def _listen(self, opened: socket.socket) -> None:
        builder, began = frames.FrameBuilder(), self._clock()
        with opened:
            while not self._stopping.is_set():
                try:
                    data, (host, port) = opened.recvfrom(MAX_BYTES)
                except TimeoutError:
                    continue
                except OSError:  # the network is down for the moment, or a packet was larger than any may be
                    self._stopping.wait(_PATIENCE)
                    continue
                if self._stopping.is_set():
                    break  # woken to stop
                whole = builder.feed(data, self._clock() - began, f"{host} port {port}")
                counts = builder.counts.copy()
                with self._lock:  # after the reading: whoever asks for the latest frame need not wait for that
                    self._keep(whole)
                    self._counts = counts
                    self._counts.forgotten = self._forgotten

    def _keep(self, whole: list[frames.Frame]) -> None:
        """Add frames and let the oldest go where there are too many; the lock is held."""
        self._kept.extend(whole)
        self._points += sum(len(frame.names) for frame in whole)
        while len(self._kept) > self.capacity or self._points > MAX_POINTS:
            self._points -= len(self._kept.popleft().names)
            self._forgotten += 1


def _open(host: str, port: int) -> socket.socket:
    """A bound socket with a time limit."""
    if not 0 <= port <= 65_535:
        raise StreamError(f"Port {port} does not exist; choose one from 1024 to 65535.")
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows would share the port and give packets to either program
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _QUEUE)
        opened.settimeout(_PATIENCE)
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        raise StreamError(_refusal(error, host, port)) from error
    return opened


def _refusal(error: OSError, host: str, port: int) -> str:
    if error.errno in (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", None)):
        return f"UDP port {port} is used by another program; close that, or choose another port here and in the sender."
    if error.errno in (errno.EACCES, getattr(errno, "WSAEACCES", None)):
        return f"UDP port {port} may not be opened; choose one above 1023, here and in the sender."
    return f"Cannot listen at '{host}', port {port} ({error}); {LOOPBACK} receives from this computer."
