"""A workflow of rigs that is not in the extension: alone, on the command line, on two rigs, and beside Adapt."""

import importlib
import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live, registry
from bl_ext.devrepo.motion_loom.workflows.core.base import run_to_end

import checkout
from tests import adapt_play, adapt_scenes
from tests.map_play import activate, press
from tests.objects import key
from tests.offset_workflow import Offset
from tests.panel_layout import Context, Layout
from tests.rig_scenes import fingerprint

pytestmark = pytest.mark.versions

SHIFT = np.array([0.3, 0.1, 0.2])


@pytest.fixture(scope="module", autouse=True)
def _with_offset(motion_loom):
    registration = importlib.import_module(f"{checkout.PACKAGE}.registration")
    adapt = registry.by_id("adapt")
    registration.unregister()
    registration.register((adapt, Offset()))
    yield
    registration.unregister()
    registration.register()


@pytest.fixture
def empty():
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    return empty


@pytest.fixture
def rig(empty):
    """A walker, fitted to the empty."""
    return fitted(adapt_scenes.add_scene(), empty)


def fitted(rig, empty, partner=None):
    rig.motion_loom_offset.target, rig.motion_loom_offset.partner = empty, partner
    activate(rig)
    press("fit", workflow="offset")
    return rig


def push(empty, shift=SHIFT):
    empty.location = shift
    bpy.context.view_layer.update()


def healthy(rig):
    found = live.status(rig, "offset")
    return found.problem is None and found.track == "READY"


@pytest.mark.parametrize("at_once", (True, False), ids=("at once", "interactive"))
def test_a_rig_goes_along_as_far_as_its_influence_goes(rig, empty, at_once, monkeypatch):
    monkeypatch.setattr(live_runs, "at_once", at_once)
    before = adapt_scenes.joints_of(rig)
    press("live", workflow="offset")
    push(empty)
    np.testing.assert_allclose(adapt_scenes.joints_of(rig), before + SHIFT, atol=1e-5)
    rig.motion_loom_offset.influence = 0.5
    bpy.context.view_layer.update()
    half = adapt_scenes.joints_of(rig)
    np.testing.assert_allclose(half, before + 0.5 * SHIFT, atol=1e-5)
    adapt_play.settle()
    assert healthy(rig)
    np.testing.assert_allclose(adapt_scenes.joints_of(rig), half, atol=1e-5)
    press("live", workflow="offset")
    np.testing.assert_array_equal(adapt_scenes.joints_of(rig), before)


def test_an_empty_that_is_keyed_is_followed(rig, empty):
    before = adapt_scenes.joints_of(rig)
    press("live", workflow="offset")
    key(empty, "location", {1: 0.0, 24: 0.5}, index=2)
    bpy.context.scene.frame_set(5)
    away = adapt_scenes.joints_of(rig) - before
    np.testing.assert_allclose(away[[0, -1], :, 2], [[0.0] * away.shape[1], [0.5] * away.shape[1]], atol=1e-5)
    assert healthy(rig)


def test_two_rigs_are_one_run(empty):
    one, other = adapt_scenes.add_walker("One"), adapt_scenes.add_walker("Other")
    fitted(one, empty, other)
    before = [adapt_scenes.joints_of(ob) for ob in (one, other)]
    sources = [fingerprint(ob.animation_data.action) for ob in (one, other)]
    activate(other)
    press("live", workflow="offset")
    assert list(live_runs.runs) == [(one.session_uid, "offset")]
    assert all(ob.animation_data.action.name.endswith("(live)") for ob in (one, other))
    push(empty)
    for ob, seen in zip((one, other), before, strict=True):
        np.testing.assert_allclose(adapt_scenes.joints_of(ob), seen + SHIFT, atol=1e-5)
    assert healthy(one)
    activate(one)
    press("bake", workflow="offset")
    for ob, seen, source in zip((one, other), before, sources, strict=True):
        assert ob.animation_data.action.name.endswith("(offset)") and not ob.motion_loom_offset.live
        np.testing.assert_allclose(adapt_scenes.joints_of(ob), seen + SHIFT, atol=1e-5)
        assert fingerprint(ob.motion_loom_offset.source) == source
    assert not live_runs.runs


def test_the_command_takes_the_workflows_that_it_is_handed(empty, capsys):
    rig = adapt_scenes.add_walker()
    rig.motion_loom_offset.target = empty
    before = adapt_scenes.joints_of(rig)
    assert jobs.main(["offset", "--rig", "Rig", "--fit", "--no-assign", "--json"], workflows=[Offset()]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["curves"] == 0
    push(empty)
    assert jobs.main(["offset", "--rig", "Rig", "--name", "Away", "--json"], workflows=[Offset()]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["action"] == "Away"
    np.testing.assert_allclose(adapt_scenes.joints_of(rig), before + SHIFT, atol=1e-5)
    assert jobs.main(["offset", "--rig", "Rig", "--step", "0"], workflows=[Offset()]) == 1
    assert "--step cannot be 0" in capsys.readouterr().err


def test_its_panel_is_drawn(rig):
    drawn = []
    registry.by_id("offset").draw(Layout(drawn, True), Context(rig))
    assert [text[4:] for text in drawn if text[:1].isdigit()] == ["Fit", "Live", "Bake"]
    assert {"target", "influence", "bake_step", "Copy Command"} <= set(drawn)


def test_a_rig_has_one_owner(rig, empty):
    """Whoever would read or write what the rig plays is refused by the name of the workflow that it is live in."""
    adapt, offset = registry.by_id("adapt"), registry.by_id("offset")
    adapt_play.bind(rig)
    press("live", workflow="offset")
    text = "'Rig' is live in Offset; switch that off first"
    before = fingerprint(rig.animation_data.action)
    for step in ("fit", "live_on", "bake"):
        assert text in adapt.poll(bpy.context, step)
        with pytest.raises(SceneError, match=text):
            run_to_end(getattr(adapt, step)(bpy.context))
    assert fingerprint(rig.animation_data.action) == before and healthy(rig)
    press("live", workflow="offset")
    press("live", workflow="adapt")
    with pytest.raises(SceneError, match="'Rig' is live in Adapt to Environment; switch that off first"):
        run_to_end(offset.bake(bpy.context))
    assert offset.poll(bpy.context, "fit") is not None
    press("live", workflow="adapt")
    assert offset.poll(bpy.context, "live_on") is None
