"""Enables the checkout before the test modules load: they import bl_ext.devrepo.motion_loom at the top."""

import importlib

import pytest

import checkout

PACKAGE = checkout.enable()


@pytest.fixture(autouse=True)
def _starts_empty(empty_scene):
    """Every test here starts in an empty file."""


@pytest.fixture
def registered():
    """registered(workflow, ...): the extension runs with these workflows alone until the test ends; the first one."""
    registration = importlib.import_module(f"{PACKAGE}.registration")

    def register(workflow, *others):
        registration.unregister()
        registration.register((workflow, *others))
        return workflow

    yield register
    registration.unregister()
    registration.register()


@pytest.fixture
def silent(capfd):
    """Nothing that a handler, a timer or an operator does may end in a traceback or print an error."""
    yield
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err and "Error" not in err, err


@pytest.fixture
def no_traceback(capfd):
    """Nothing may end in a traceback; errors may be told."""
    yield
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err, err


@pytest.fixture(params=["at once", "interactive"])
def both_ways(request, monkeypatch):
    """Live solves whole tracks inside the handlers, or single frames there and tracks by the timer."""
    live_runs, live = (
        importlib.import_module(f"{PACKAGE}.{name}") for name in ("state.live_runs", "workflows.core.live")
    )
    monkeypatch.setattr(live_runs.live_runs, "at_once", request.param == "at once")
    monkeypatch.setattr(live, "_PAUSE", 0.0)
