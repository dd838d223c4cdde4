"""Enables the checkout before the test modules load: they import bl_ext.devrepo.motion_loom at the top."""

from __future__ import annotations

import importlib

import pytest

import checkout

PACKAGE = checkout.enable()


@pytest.fixture(scope="session")
def motion_loom():
    """The enabled extension, as Blender imported it."""
    return importlib.import_module(PACKAGE)


@pytest.fixture(autouse=True)
def clean_scene():
    """An empty file before each test; the extension stays enabled."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
