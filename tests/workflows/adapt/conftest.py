"""The walker that most tests of Adapt start from: bound once, saved, and read back."""

from __future__ import annotations

import bpy
import pytest
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_live
from tests import adapt_play as play
from tests import adapt_scenes as scenes


@pytest.fixture(scope="session")
def bound_file(motion_loom, tmp_path_factory):
    """A file with the walker, bound to Floor and Step."""
    bpy.ops.wm.read_homefile(use_empty=True)
    play.bind(scenes.add_scene())
    return play.save(tmp_path_factory.mktemp("adapt") / "bound.blend")


@pytest.fixture
def rig():
    """The walker, active, and Floor and Step."""
    rig = scenes.add_scene()
    play.activate(rig)
    return rig


@pytest.fixture
def bound(bound_file):
    """The same, bound."""
    bpy.ops.wm.open_mainfile(filepath=bound_file)
    return bpy.data.objects["Rig"]


@pytest.fixture
def at_any_time(monkeypatch):
    """Tracks are begun without a pause after the last edit."""
    monkeypatch.setattr(live, "_PAUSE", 0.0)


@pytest.fixture
def live_rig(bound):
    """The same, live."""
    return adapt_live.go_live(bound)


@pytest.fixture
def mended(live_rig):
    """The same; after the test it must follow again, and Live off must leave no trace."""
    yield live_rig
    adapt_live.follows(live_rig)
    adapt_live.ends_clean(live_rig)
