"""Enables the checkout before the test modules load: they import bl_ext.devrepo.motion_loom at the top."""

import pytest

import checkout

checkout.enable()


@pytest.fixture(autouse=True)
def _starts_empty(empty_scene):
    """Every test here starts in an empty file."""
