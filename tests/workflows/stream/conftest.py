"""The scene of Live Stream, before and while it listens."""

import functools
import socket

import bpy
import pytest
from bl_ext.devrepo.motion_loom.streams.listener import Listener
from bl_ext.devrepo.motion_loom.workflows.stream import follow

from tests.stream_play import LOOPBACK, Clock, pose


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The clock of what is received and of the panel's rate."""
    made = Clock()
    monkeypatch.setattr(follow, "Listener", functools.partial(Listener, clock=made))
    monkeypatch.setattr(follow, "_clock", made)
    yield made
    follow.close()


@pytest.fixture
def scene():
    """The scene, set to a port that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((LOOPBACK, 0))
        bpy.context.scene.motion_loom_stream.port = taken.getsockname()[1]
    return bpy.context.scene


@pytest.fixture
def started(scene):
    """It listens."""
    bpy.ops.motion_loom.stream_start()


@pytest.fixture
def posed(started):
    """It listens, and shows a first pose."""
    pose()
    follow.tick()
