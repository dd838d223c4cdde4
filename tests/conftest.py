"""Shared by all tests; nothing here imports bpy, the solvers' tests run without it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real captures: MOTION_LOOM_DATA, else shared/data beside the checkout."""
    folder = Path(os.environ.get("MOTION_LOOM_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"real captures are not here ({folder}); set MOTION_LOOM_DATA to their folder")
    return folder


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
