"""Esc and failures on the way: nothing is left of what was begun."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError
from bl_ext.devrepo.motion_loom.workflows.adapt import run
from bl_ext.devrepo.motion_loom.workflows.environment import bind, update
from bl_ext.devrepo.motion_loom.workflows.rig import action

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.adapt_commands import refused, state
from tests.adapt_scenes import raise_step
from tests.commands import adapt
from tests.objects import key


def rig():
    return bpy.data.objects["Rig"]


def update_steps():
    wall = bpy.data.objects["Wall"]
    listed = update.objects_in_list(bpy.context, rig(), scenes.workflow())
    return update.update_steps(bpy.context, rig(), scenes.workflow(), [*listed, wall])


def adapt_steps():
    return run.adapt_steps(bpy.context, rig(), scenes.workflow(), run.AdaptRigOptions())


STEPS = {
    "bind": lambda: bind.bind_steps(
        bpy.context, rig(), scenes.workflow(), [bpy.data.objects[name] for name in ("Floor", "Step")]
    ),
    "update": update_steps,
    "adapt": adapt_steps,
}


@pytest.mark.parametrize("command", STEPS)
def test_esc_at_any_moment_leaves_nothing(command, tmp_path):
    """With a moving environment, so that the scene is on its way through the frames at some of the moments."""
    scenes.add_scene()
    step = bpy.data.objects["Step"]
    key(step, "location", {1: 0.0, 24: 0.01}, index=2)
    # Curves alone would be read without stepping.
    step.constraints.new("LIMIT_SCALE")
    play.bind(rig())
    rig().pose.bones["head"].constraints.new("LIMIT_ROTATION").owner_space = "LOCAL"
    scenes.add_wall()
    path = play.save(tmp_path / "bound.blend")
    moments = sum(1 for _ in STEPS[command]())
    assert moments > 5
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.scene.frame_set(7, subframe=0.25)
    before = state()
    for count in range(1, moments, 3):
        steps = STEPS[command]()
        for _ in range(count):
            next(steps)
        steps.close()
        assert state() == before, count


def test_esc_while_a_result_plays(bound, capsys):
    raise_step()
    adapt(capsys)
    bpy.context.scene.frame_set(20)
    before = state()
    steps = adapt_steps()
    for _ in range(5):
        next(steps)
    steps.close()
    bpy.context.scene.frame_set(20)
    assert state() == before


@pytest.mark.parametrize(("holder", "name"), [(action.actions, "assign"), (action, "switch_off")])
def test_a_failure_while_writing_leaves_nothing(bound, capsys, monkeypatch, holder, name):
    def refuse(*_args):
        raise OutputError("'Rig' refuses.")

    raise_step()
    monkeypatch.setattr(holder, name, refuse)
    assert "'Rig' refuses." in refused(capsys, "adapt")
