"""Overlays as arrays, and how the viewport's side treats workflows that fail. Drawing itself needs a window."""

import importlib

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.panels import overlays as drawing
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.state import overlay_problems
from bl_ext.devrepo.motion_loom.workflows.core import overlay as shapes
from bl_ext.devrepo.motion_loom.workflows.core.base import Workflow


class Probe(Workflow):
    """Counts how often it is asked, and fails when told to."""

    id = "probe"
    label = "Probe"
    error = None
    asked = 0

    def overlay(self, context, ob):
        self.asked += 1
        if self.error:
            raise self.error


@pytest.fixture
def ob():
    ob = bpy.data.objects.new("Object", None)
    bpy.context.scene.collection.objects.link(ob)
    yield ob
    overlay_problems.clear()


def attempt(probe, ob):
    shown = {}
    drawing._attempt(bpy.context, probe, ob, shown, lambda drawn: None)
    drawing.session.drawn = shown


def test_an_octahedron_a_bone():
    heads, tails = np.array([[0, 0, 0], [1, 1, 1], [2, 0, 0.0]]), np.array([[0, 0, 2], [1, 1, 1], [3, 0, 0.0]])
    colours = np.tile([0.1, 0.2, 0.3, 0.4], (3, 1))
    made = shapes.bones(heads, tails, colours, colours)
    assert made.lines.shape == (24, 2, 3) and made.triangles.shape == (16, 3, 3)
    assert made.line_colours.shape == (24, 2, 4) and made.triangle_colours.shape == (16, 3, 4)
    first = made.lines[:12].reshape(-1, 3)
    np.testing.assert_allclose(first[:, :2].min(axis=0), -first[:, :2].max(axis=0), atol=1e-6)
    np.testing.assert_allclose([first[:, 2].min(), first[:, 2].max()], [0, 2], atol=1e-6)
    edges = {tuple(sorted(map(tuple, edge.round(5).tolist()))) for edge in made.lines[:12]}
    assert len(edges) == 12


def test_discs_lie_across_their_normals():
    normals = np.array([[0, 0, 1.0], [0.6, 0, 0.8]])
    made = shapes.discs(np.array([[1, 2, 3.0], [0, 0, 0]]), normals, 0.5, np.ones((2, 4)))
    rims = made.triangles.reshape(2, 24, 3, 3)[:, :, 1] - [[[1, 2, 3]], [[0, 0, 0]]]
    np.testing.assert_allclose(np.linalg.norm(rims, axis=-1), 0.5, atol=1e-6)
    np.testing.assert_allclose(np.einsum("dka,da->dk", rims, normals), 0.0, atol=1e-6)


def test_the_ramp_gets_lighter_evenly():
    """Read by lightness alone, as without colour vision."""
    colours = shapes.ramp(np.linspace(0, 1, 33))
    steps = np.diff(colours @ [0.2126, 0.7152, 0.0722])
    assert steps.min() > 0.01 and steps.max() < 4 * steps.min()


def test_what_is_not_given_is_empty():
    made = shapes.joined([shapes.overlay(), shapes.overlay(points=(np.zeros((2, 3)), np.ones(4)))])
    *arrays, texts, is_square = vars(made).values()
    assert [len(array) for array in arrays] == [2, 2] + [0] * 8 and texts == () and not is_square
    assert all(array.dtype == np.float32 and array.flags.c_contiguous for array in arrays)


def test_a_workflow_is_asked_again_only_after_a_change(ob):
    probe = Probe()
    attempt(probe, ob)
    attempt(probe, ob)
    assert probe.asked == 1
    drawing._note_change()
    attempt(probe, ob)
    assert probe.asked == 2


def test_what_the_user_can_mend_is_told_until_it_is(ob):
    probe = Probe()
    probe.error = SceneError("Bind again.")
    attempt(probe, ob)
    assert overlay_problems.problem_of("probe", ob) == "Bind again."
    probe.error = None
    drawing._note_change()
    attempt(probe, ob)
    assert overlay_problems.problem_of("probe", ob) is None


def test_an_error_is_said_once_and_ends_that_overlay_alone(ob, capsys):
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    probe = Probe()
    probe.error = ZeroDivisionError("by zero")
    for _ in range(3):
        drawing._note_change()
        attempt(probe, ob)
    assert probe.asked == 1
    assert capsys.readouterr().err.count("ZeroDivisionError: by zero") == 1
    assert "ZeroDivisionError: by zero" in overlay_problems.problem_of("probe", ob)
    probe.error = None
    attempt(probe, other)
    assert probe.asked == 2 and overlay_problems.problem_of("probe", other) is None


def test_nothing_is_drawn_in_background(motion_loom):
    registration = importlib.import_module(f"{motion_loom.__name__}.registration")
    assert bpy.app.background
    before = len(bpy.app.handlers.depsgraph_update_post)
    registration.unregister()
    registration.register()
    assert drawing.session.handles == ()
    assert len(bpy.app.handlers.depsgraph_update_post) == before
