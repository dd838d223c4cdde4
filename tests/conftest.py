"""Shared by all tests; nothing here imports bpy, the solvers' tests run without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real captures: MOTION_LOOM_DATA, else shared/data beside the checkout."""
    folder = Path(os.environ.get("MOTION_LOOM_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"real captures are not here ({folder}); set MOTION_LOOM_DATA to their folder")
    return folder
