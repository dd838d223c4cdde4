"""Shared by all tests; nothing here imports bpy, the solvers' tests run without it."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.datasets import data_folder

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items):
    """Mark those that ask for the folder of captures, and skip them without it; those of scene run on every version."""
    missing = pytest.mark.skip(reason="the captures are not here; set MOTION_LOOM_DATA to their folder")
    for item in items:
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.captures)
        if data_folder() is None and item.get_closest_marker("captures"):
            item.add_marker(missing)
        if ROOT / "tests" / "scene" in item.path.parents:
            item.add_marker(pytest.mark.versions)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real captures: MOTION_LOOM_DATA, else shared/data beside the checkout."""
    return data_folder()


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture(scope="session")
def motion_loom():
    """The checkout, enabled in a profile of its own: the module bl_ext.devrepo.motion_loom."""
    import importlib

    import checkout

    return importlib.import_module(checkout.enable())


@pytest.fixture
def empty_scene(motion_loom):
    """An empty file; the extension stays enabled."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
