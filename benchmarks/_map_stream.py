"""What a stream costs: the reading of a frame, and a real sender at 120 packets a second that must lose none."""

from __future__ import annotations

import socket
import threading
import time

import numpy as np

from examples.send_clip import bundle, message
from streams import vmc
from streams.frames import FrameBuilder
from streams.listener import LOOPBACK, Listener

RATE, SENT = 120.0, 600
READ = 2000
UPDATES = 300
clock = time.perf_counter


def measured() -> dict[str, float]:
    """``stream_frame_ms`` and its 90th percentile: one packet of a whole humanoid (55 bones) read and placed.
    ``stream_points_ms``: the same of 55 points.  ``stream_lost``, ``stream_malformed``: of SENT packets, sent at RATE a
    second over a real socket while the main thread computes."""
    bones, points = _bones(), _points()
    each = _read(bones)
    figures = {"stream_frame_ms": float(np.median(each)), "stream_frame_p90_ms": float(np.percentile(each, 90))}
    figures["stream_points_ms"] = float(np.median(_read(points)))
    return figures | _received(bones)


def streamed_places() -> tuple[tuple[str, ...], np.ndarray]:
    """Names and places (UPDATES, 55, 3), metres, of joints that a stream moves."""
    places = np.random.default_rng(0).normal(size=(UPDATES, 55, 3))
    return tuple(f"joint {k}" for k in range(places.shape[1])), places


def _bones() -> bytes:
    rng = np.random.default_rng(0)
    names = ["Hips", *(name for name in vmc.PARENTS if "metacarpal" not in name)]
    parts = [message(vmc.BONE, name, *rng.normal(size=7)) for name in names]
    return bundle(message(vmc.ROOT, "root", *rng.normal(size=7)), *parts, message(vmc.TIME, 1.0))


def _points() -> bytes:
    places = np.random.default_rng(0).normal(size=(55, 3))
    return bundle(*[message(vmc.POINT, f"joint {k}", *place) for k, place in enumerate(places)], message(vmc.TIME, 1.0))


def _read(packet: bytes) -> list[float]:
    """Milliseconds of each frame."""
    builder, each = FrameBuilder(), []
    for k in range(READ):
        began = clock()
        builder.feed(packet, k / RATE)
        each.append(1e3 * (clock() - began))
    return each[READ // 10 :]


def _received(packet: bytes) -> dict[str, float]:
    """Packets lost and packets misread, with the main thread busy meanwhile."""
    listener = Listener(port=0, capacity=SENT)
    listener.start()
    try:
        sender = threading.Thread(target=_send, args=(packet, listener.port))
        sender.start()
        while sender.is_alive():
            np.sort(np.random.default_rng(0).random(100_000))
        counts, before = listener.counts(), None
        while counts != before:  # a busy machine reads the last ones later
            time.sleep(0.2)
            counts, before = listener.counts(), counts
    finally:
        listener.stop()
    return {"stream_lost": float(SENT - counts.frames), "stream_malformed": float(counts.malformed)}


def _send(packet: bytes, port: int) -> None:
    began = time.perf_counter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for k in range(SENT):
            time.sleep(max(0.0, began + k / RATE - time.perf_counter()))
            out.sendto(packet, (LOOPBACK, port))
