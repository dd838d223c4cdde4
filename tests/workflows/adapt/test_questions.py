"""Before the set as it is now is taken for the original, the user is asked, or told where nobody can be asked."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.workflows.core import registry

from tests import adapt_scenes as scenes
from tests.adapt_scenes import edit, raise_step
from tests.commands import adapt, bind, run
from tests.objects import key


def asked(step="fit"):
    question = registry.by_id("adapt").question(bpy.context, step)
    return () if question is None else question.lines


def tilted(vertices):
    return vertices + [0, 0, 0.03] * (vertices[:, :1] > 0)


ANEW = ": this counts as the original now"


def test_nothing_moved_nothing_asked(bound, capsys):
    assert asked() == () and bind(capsys)["notes"] == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda rig: raise_step(0.15), "'Step' has moved by 15 cm"),
        (lambda rig: scenes.deform("Floor", tilted), "'Floor' has changed shape by up to 3 cm"),
        (lambda rig: edit("Step", 0.12), "'Step' was edited and is up to 12 cm from where it was"),
        (lambda rig: setattr(rig, "scale", (1.2, 1.2, 1.2)), "'Rig' is 1.2 times as large"),
        (lambda rig: setattr(rig, "location", (0.0, 0.0, 0.25)), "'Rig' has moved by 25 cm"),
    ],
)
def test_what_has_moved_and_how_far(bound, capsys, change, line):
    change(bound)
    bpy.context.view_layer.update()
    assert asked() == (line,)
    mesh = bound.motion_loom_adapt.binding
    assert bind(capsys)["notes"] == [line + ANEW]
    assert bound.motion_loom_adapt.binding != mesh and asked() == ()


def test_an_object_that_moves_at_other_frames(bound, capsys):
    """Keys that were set after bind, looked at while the object is where it was."""
    key(bpy.data.objects["Step"], "location", {1: 0.0, 24: 0.5}, index=2)
    bpy.context.scene.frame_set(1)
    assert asked() == ("'Step' has moved by 50 cm",)


def test_a_result_is_not_the_motion_that_was_bound(bound, capsys):
    raise_step(0.15)
    adapt(capsys)
    assert asked()[1] == "'Rig' plays the result 'Rig clip (adapted)', not the motion that was bound"


def test_an_update_asks_for_what_was_edited_and_moved_alone(bound):
    raise_step(0.15)
    assert asked("update_binding") == ()
    edit("Floor")
    assert asked("update_binding") == ()
    edit("Step")
    assert asked("update_binding") == ("'Step' was edited and is up to 15 cm from where it was",)


def test_a_range_of_its_own_is_compared_where_both_know_it(bound, capsys):
    raise_step(0.15)
    assert "'Step' has moved by 15 cm" + ANEW in bind(capsys, "--start", "3", "--end", "9")["notes"]


def test_of_many_objects_the_worst_are_named(bound, capsys):
    names = [f"Brick {k}" for k in range(9)]
    for k, name in enumerate(names):
        scenes.add_box(name, (0.5, -0.5 + 0.2 * k, 0), (0.6, -0.4 + 0.2 * k, 0.1))
    bpy.context.view_layer.update()
    report = run(capsys, "bind", "--rig", "Rig", "--keep", "--environment", *names)
    assert report["notes"] == ["'Brick 0', 'Brick 1', 'Brick 2' and 6 more are bound as they are now"]
    for k, name in enumerate(names):
        bpy.data.objects[name].location.x += 0.1 * (k + 1)
    bpy.context.view_layer.update()
    lines = asked()
    assert lines[0] == "'Brick 8' has moved by 90 cm" and lines[-1] == "3 more have moved or changed less"
    assert len(lines) == 7
