"""Live copies of meshes, by whichever workflow: one at a time moves a mesh."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.scene.frames import frame_now
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.state.live_states import TrackNeed
from bl_ext.devrepo.motion_loom.workflows.core import live, registry
from bl_ext.devrepo.motion_loom.workflows.mesh import live as mesh_live
from bl_ext.devrepo.motion_loom.workflows.mesh.settings import MeshResultSettings
from bl_ext.devrepo.motion_loom.workflows.mesh.workflow import MeshWorkflow

from tests import map_play as play
from tests import mesh_steps
from tests.map_scenes import positions

pytestmark = pytest.mark.versions


class ClimbSettings(MeshResultSettings, bpy.types.PropertyGroup):
    speed: bpy.props.FloatProperty(default=0.1)


class Climber:
    """Lifts the copy as time goes on."""

    plays_by_itself, note, source_untouched = False, None, True

    def sees(self, ob, depsgraph):
        return True

    def check(self, ob, moment):
        mesh_live.require_copy(ob, ob.motion_loom_climb)
        return TrackNeed.NOTHING, ""

    def show(self, ob, moment, was_posed):
        world = np.array(ob.matrix_world, float)
        world[2, 3] += ob.motion_loom_climb.speed * frame_now(moment.scene)
        live_mesh.write(ob.motion_loom_climb.live_copy, moment.depsgraph, positions(ob.data), world)


class Climb(MeshWorkflow):
    """As little as a workflow needs to be live on a mesh."""

    id, label, settings = "climb", "Climb", ClimbSettings

    def why_not_yet(self, ob, step):
        return None

    def follower(self, ob):
        return Climber()

    def prepare_live(self, context, ob):
        return iter(())


@pytest.fixture
def climb(registered):
    """Climb, beside Map."""
    climb = Climb()
    registered(climb, registry.by_id("map"))
    return climb


def press(workflow="climb"):
    play.press("live", workflow=workflow)


def steps(workflow, ob):
    """Of live, as what the operator's poll lets pass."""
    play.activate(ob)
    return list(live.while_paused(workflow.live_on(bpy.context)))


def test_any_workflow_moves_a_copy(climb):
    ob = play.add_target()
    play.activate(ob)
    before = mesh_steps.everything()
    press()
    settings = ob.motion_loom_climb
    copy = settings.live_copy
    assert settings.live and ob.hide_viewport and not ob.motion_loom_map.live
    assert bpy.context.object == copy and copy.select_get()
    for frame in (20, 3):
        bpy.context.scene.frame_set(frame)
        assert np.isclose(copy.location.z, 0.1 * frame, atol=1e-6)
    status = live.status(ob, "climb")
    assert status.problem is None and live.status(ob, "map") is None
    press()
    assert not settings.live and settings.live_copy is None and not live_runs.runs
    bpy.context.scene.frame_set(1)
    assert mesh_steps.everything() == before


@pytest.mark.parametrize("first", ("map", "climb"))
def test_a_mesh_that_is_live_in_one_workflow_is_refused_by_another(climb, first):
    ob = play.add_ready()
    labels = {"map": "Map to Mesh", "climb": "Climb"}
    (second,) = set(labels) - {first}
    press(first)
    copy = getattr(ob, f"motion_loom_{first}").live_copy
    play.activate(copy)
    before = mesh_steps.everything()
    text = f"'Worm' is live in {labels[first]}; switch that off first"
    with pytest.raises(RuntimeError, match=text):
        press(second)
    with pytest.raises(live.MotionLoomError, match=text):
        steps(registry.by_id(second), copy)
    assert mesh_steps.everything() == before and live.status(ob, first).problem is None
    other = play.add_target("Other")
    play.activate(other)
    press()
    assert other.motion_loom_climb.live_copy not in (None, copy)
    play.activate(copy)
    press(first)
    press(second)
    assert live.status(ob, second).problem is None and live.status(ob, first) is None
