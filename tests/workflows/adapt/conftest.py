"""The walker that most tests of Adapt start from: bound once, saved, and read back."""

from __future__ import annotations

import bpy
import pytest

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
