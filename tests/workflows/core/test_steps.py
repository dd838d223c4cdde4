"""The generic operators, run as scripts and background jobs run them: to the end, with errors reported."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.workflows.core.base import Workflow, run_to_end


class Settings(bpy.types.PropertyGroup):
    amount: bpy.props.FloatProperty(default=1.5)


class Probe(Workflow):
    """Adds an empty object at the end of bake; fails or refuses when told to."""

    id = "probe"
    label = "Probe"
    settings = Settings
    reason = error = None

    def poll(self, context, step):
        return self.reason

    def bake(self, context):
        for percent in range(0, 100, 10):
            yield percent / 100, "Counting"
        if self.error:
            raise self.error
        context.scene.collection.objects.link(bpy.data.objects.new("Done", None))
        return "Baked 1 empty"


class BakeOnly(Probe):
    settings = None
    steps = {"bake": "Bake"}


def test_bake_runs_to_the_end(registered):
    registered(Probe())
    assert bpy.ops.motion_loom.bake(workflow="probe") == {"FINISHED"}
    assert "Done" in bpy.data.objects


def test_error_reaches_the_user_and_changes_nothing(registered):
    probe = registered(Probe())
    probe.error = SceneError("'Rig' has no action; give it one.")
    with pytest.raises(RuntimeError, match="'Rig' has no action; give it one."):
        bpy.ops.motion_loom.bake(workflow="probe")
    assert not bpy.data.objects


def test_too_little_memory_is_told_without_a_traceback(registered, capfd):
    probe = registered(Probe())
    probe.error = MemoryError("Unable to allocate 16 GiB")
    with pytest.raises(RuntimeError, match=r"not enough memory for this \(Unable to allocate 16 GiB\); shorten the"):
        bpy.ops.motion_loom.bake(workflow="probe")
    assert "Traceback" not in capfd.readouterr().err


def test_a_step_that_is_not_ready_says_why(registered):
    registered(Probe()).reason = "Choose a rig first"
    with pytest.raises(RuntimeError, match="Choose a rig first"):
        bpy.ops.motion_loom.bake(workflow="probe")


@pytest.mark.parametrize(("workflow", "text"), [("nothing", "there are: probe"), ("probe", "no step 'fit'")])
def test_wrong_calls_say_what_there_is(registered, workflow, text):
    registered(BakeOnly())
    with pytest.raises(RuntimeError, match=text):
        bpy.ops.motion_loom.fit(workflow=workflow)


def test_greyed_button_explains_itself(registered):
    """The button's layout names the workflow in the context, which is all that a poll can see."""
    registered(Probe()).reason = "Choose a rig first"
    poll = bpy.types.MOTION_LOOM_OT_bake.poll
    assert poll(bpy.context)
    assert not poll(_Context("probe"))


class _Context:
    def __init__(self, workflow):
        self.motion_loom_workflow = workflow


def test_settings_live_on_their_owner(registered):
    probe = registered(Probe())
    rig = bpy.data.objects.new("Rig", None)
    assert probe.settings_of(rig).amount == 1.5
    assert hasattr(bpy.types, "MOTION_LOOM_PT_probe")


def test_nothing_stays_behind_after_unregister(registered):
    registered(Probe())
    registered(BakeOnly())
    assert not hasattr(bpy.types.Object, "motion_loom_probe")


def test_dropping_the_generator_halfway_changes_nothing():
    """What Esc does."""
    steps = Probe().bake(bpy.context)
    next(steps)
    steps.close()
    assert not bpy.data.objects


def test_run_to_end_returns_the_closing_line():
    assert run_to_end(Probe().bake(bpy.context)) == "Baked 1 empty"
