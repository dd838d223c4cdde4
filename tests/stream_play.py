"""Senders for tests of Live Stream, over real sockets, and what is then seen of the stream."""

import socket
import threading
import time

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.stream import follow
from bl_ext.devrepo.motion_loom.workflows.stream.run import stream_state

from examples.send_clip import packets
from tests.panel_layout import Context, Layout

NAMES = ("Hips", "Head", "hand.L", "左手")
LOOPBACK = "127.0.0.1"


class Clock:
    """Seconds that pass when a test says so: nothing depends on how busy the computer is."""

    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "Motion Loom stream"]


def places(seed=0, *shape) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(*shape, len(NAMES), 3))


def send(*data: bytes) -> None:
    """Send packets, and wait until they have been read."""
    listener = stream_state.run.listener
    until = listener.counts().received + len(data)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for packet in data:
            out.sendto(packet, (LOOPBACK, listener.port))
    end = time.monotonic() + 10.0
    while listener.counts().received < until and time.monotonic() < end:
        time.sleep(0.001)
    assert listener.counts().received == until


def pose(seed=0, names=NAMES, seconds=0.0) -> None:
    send(*packets(names, places(seed)[: len(names)], seconds))


def empties(scene=None) -> dict[str, bpy.types.Object]:
    scene = scene or bpy.context.scene
    return {ob["motion_loom_joint"]: ob for ob in scene.objects if "motion_loom_joint" in ob}


def shown(names=NAMES) -> np.ndarray:
    bpy.context.view_layer.update()
    found = empties()
    return np.array([found[name].matrix_world.translation for name in names])


def arrive(*args, **kwargs) -> None:
    """A pose is sent, and the timer fires."""
    pose(*args, **kwargs)
    follow.tick()


def shows(seed=0) -> None:
    """The empties stand where the pose of that seed has them."""
    np.testing.assert_allclose(shown(), places(seed), atol=1e-6)


def drawn() -> list[str]:
    """What the panel says."""
    out = []
    registry.by_id("stream").draw(Layout(out, True), Context(None))
    return out


def panel() -> str:
    return " ".join(drawn())
