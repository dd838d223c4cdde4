"""Enables the checkout before the test modules load: they import bl_ext.devrepo.motion_loom at the top."""

from __future__ import annotations

import importlib

import pytest

import checkout

PACKAGE = checkout.enable()


@pytest.fixture(autouse=True)
def _starts_empty(empty_scene):
    """Every test here starts in an empty file."""


@pytest.fixture
def registered(monkeypatch):
    """registered(workflow, ...): the extension runs with these workflows alone until the test ends; the first one."""
    registration = importlib.import_module(f"{PACKAGE}.registration")
    listing = [importlib.import_module(f"{PACKAGE}.{module}") for module in ("workflows", "handlers")]

    def register(workflow, *others):
        registration.unregister()
        for module in listing:
            monkeypatch.setattr(module, "WORKFLOWS", (workflow, *others))
        registration.register()
        return workflow

    yield register
    registration.unregister()
    monkeypatch.undo()
    registration.register()
