"""The listener with real sockets; counts only, never times."""

import math
import socket
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from examples.send_clip import bundle, message, packets, send
from streams import listener as module
from streams import osc
from streams.errors import StreamError
from streams.listener import LOOPBACK, Listener

NAMES = [f"joint {k}" for k in range(55)]


@contextmanager
def listening(**options):
    made = Listener(port=0, **options)
    made.start()
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def listener():
    with listening() as made:
        yield made


def wait_for(condition, seconds=10.0):
    """Wait until a condition holds, and say whether it does."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def sent_to(listener, *data):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for packet in data:
            out.sendto(packet, (LOOPBACK, listener.port))


def received(listener, count):
    return wait_for(lambda: listener.counts().received == count)


def moved(x):
    return bundle(message("/motion_loom/point", "a", float(x), 0.0, 0.0))


def test_120_packets_a_second_lose_none(listener):
    moments = (np.full((len(NAMES), 3), 0.01 * k) for k in range(90))
    assert send(NAMES, moments, 120.0, LOOPBACK, listener.port) == 90
    assert received(listener, 90)
    counts = listener.counts()
    assert (counts.frames, counts.malformed, counts.dropped, counts.ignored) == (90, 0, 0, 0)
    frames = listener.since(-math.inf)
    np.testing.assert_allclose([frame.positions[7, 1] for frame in frames], 0.01 * np.arange(90), atol=1e-6)
    np.testing.assert_allclose([frame.sent for frame in frames], np.arange(90) / 120.0, atol=1e-6)
    assert listener.latest() is frames[-1]
    assert listener.since(frames[50].time) == frames[51:]
    assert not listener.since(frames[-1].time)


def test_a_packet_counts_when_its_frames_can_be_read(listener, monkeypatch):
    """However long the reading takes; who asks meanwhile need not wait for it."""
    entered, let_go, parse = threading.Event(), threading.Event(), osc.parse

    def held_up(data):
        entered.set()
        let_go.wait(10.0)
        return parse(data)

    monkeypatch.setattr(osc, "parse", held_up)
    sent_to(listener, *packets(["a"], np.zeros((1, 3)), 0.0))
    assert entered.wait(10.0)
    before = listener.counts()
    assert (before.received, listener.latest(), listener.since(-1.0)) == (0, None, [])
    let_go.set()
    assert received(listener, 1)
    assert (listener.latest().number, before.received) == (1, 0)


def test_times_are_the_clocks():
    moments = iter(np.arange(10.0, 20.0))
    with listening(clock=lambda: float(next(moments))) as listener:
        sent_to(listener, *[moved(0)] * 3)
        assert received(listener, 3)
    assert [frame.time for frame in listener.since(-1.0)] == [1.0, 2.0, 3.0]


def test_garbage_does_no_harm(listener):
    rng = np.random.default_rng(3)
    good = packets(["a"], np.zeros((1, 3)), 0.0)
    for k in range(40):
        sent_to(listener, *[rng.bytes(rng.integers(0, 2000)) for _ in range(9)], *good)
        assert received(listener, 10 * (k + 1))
    sent_to(listener, bytes(65_507), b"")
    assert received(listener, 402)
    assert listener.is_listening
    counts = listener.counts()
    assert (counts.malformed, counts.frames) == (362, 40)


def test_the_oldest_frames_make_room(monkeypatch):
    with listening(capacity=10) as listener:
        sent_to(listener, *map(moved, range(25)))
        assert received(listener, 25)
        assert [frame.positions[0, 0] for frame in listener.since(-1.0)] == list(range(15, 25))
        assert listener.counts().forgotten == 15
        monkeypatch.setattr(module, "MAX_POINTS", 8)
        sent_to(listener, packets(NAMES[:4], np.zeros((4, 3)), 0.0)[0])
        assert received(listener, 26)
        assert [len(frame.names) for frame in listener.since(-1.0)] == [1, 1, 1, 1, 4]


def test_is_off_until_started_and_after_stop():
    listener = Listener(port=0)
    assert not listener.is_listening
    assert listener.latest() is None
    assert not listener.since(-1.0)
    listener.stop()
    before = threading.active_count()
    listener.start()
    listener.start()
    assert threading.active_count() == before + 1
    sent_to(listener, packets(["a"], np.zeros((1, 3)), 0.0)[0])
    assert wait_for(lambda: listener.latest() is not None)
    listener.stop()
    assert not listener.is_listening
    assert threading.active_count() == before
    assert listener.latest() is not None
    port = listener.port
    Listener(port=port).stop()
    listener.start()
    assert listener.port == port
    assert listener.latest() is None
    listener.stop()


@pytest.mark.parametrize("host", [LOOPBACK, "0.0.0.0"])
def test_stop_does_not_wait_for_a_packet(monkeypatch, host):
    monkeypatch.setattr(module, "_PATIENCE", 60.0)
    listener = Listener(host, port=0)
    listener.start()
    stopping = threading.Thread(target=listener.stop, daemon=True)
    stopping.start()
    stopping.join(20.0)
    assert not stopping.is_alive() and not listener.is_listening
    assert listener.counts().received == 0


def test_a_port_in_use_is_named_with_the_way_out(listener):
    with pytest.raises(StreamError, match=rf"port {listener.port} is used by another program; close that, or choose"):
        Listener(port=listener.port).start()


def test_it_listens_to_this_computer_and_addresses_that_cannot_be_had_are_named():
    assert Listener().host == "127.0.0.1"
    for wanted, words in (
        ({"port": 70_000}, "70000 does not exist"),
        ({"host": "192.0.2.1", "port": 0}, "192.0.2.1"),
        ({"host": "no such host"}, "no such host"),
    ):
        listener = Listener(**wanted)
        with pytest.raises(StreamError, match=words):
            listener.start()
        assert not listener.is_listening
    with pytest.raises(StreamError, match="at least one"):
        Listener(capacity=0)
