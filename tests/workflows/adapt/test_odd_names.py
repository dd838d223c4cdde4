"""Names with the signs of the command line in them: what exists tells which way a word is to be read."""

import bpy
import pytest

from tests import adapt_scenes as scenes
from tests import commands
from tests.adapt_commands import refused
from tests.commands import adapt, bind


def planks(*names):
    for name in names:
        scenes.add_mesh(name, [(x, y, 0.0) for y in (-2, 3) for x in (-2, 2)], [(0, 1, 3, 2)])
    bpy.context.view_layer.update()


def replacing(rig, name="Floor"):
    item = next(item for item in rig.motion_loom_adapt.surfaces if item.bound_name == name)
    return [each.target.name for each in item.replacements]


@pytest.mark.parametrize(
    "names, word, expected",
    [
        (["A=2"], "A=2", ["A=2"]),
        (["A,1", "B"], "A,1,B", ["A,1", "B"]),
        (["A", "B"], " A , B", ["A", "B"]),
        (["A", "B"], "A,B,", ["A", "B"]),
        (["A,"], "A,", ["A,"]),
        ([" A", "A"], " A", [" A"]),
        (["A,B=C:1@2"], "A,B=C:1@2", ["A,B=C:1@2"]),
    ],
)
def test_what_replaces_may_have_any_name(bound, capsys, names, word, expected):
    planks(*names)
    adapt(capsys, "--no-assign", "--no-measures", "--replace", f"Floor={word}")
    assert replacing(bound) == expected


def test_a_bound_object_may_have_any_name(bound, capsys):
    bpy.data.objects["Floor"].name = "Floor=1"
    planks("A=2")
    adapt(capsys, "--no-assign", "--no-measures", "--replace", "Floor=1=A=2")
    assert replacing(bound) == ["A=2"]


@pytest.mark.parametrize(
    "names, word, reason",
    [
        (["A,B", "A", "B"], "Floor=A,B", "may mean 'Floor' replaced by 'A' and 'B', or 'Floor' replaced by 'A,B'"),
        ([], "Floor=Chair=2", "There is no object or collection 'Chair=2'"),
        (["A"], "Wall=A", "is not bound to 'Wall', but to Floor, Step"),
        (["A"], "Floor=A,Chair", "There is no object or collection 'Chair'"),
        ([], "Floor=,", "names nothing that replaces 'Floor'"),
        ([], "Floor", "should read OBJECT=OTHER[,MORE]"),
    ],
)
def test_what_replaces_nothing_is_named(bound, capsys, names, word, reason):
    planks(*names)
    assert reason in refused(capsys, "adapt", "--replace", word)


def test_pins_may_have_any_name(rig, capsys):
    planks("A=2", "B:1:2")
    rig.data.bones["wrist.L"].name = "wrist=L"
    bind(capsys)
    adapt(capsys, "--no-assign", "--no-measures", "--pin", "wrist=L=A=2:3:9", "wrist.R=B:1:2:-4:6")
    pins = [(pin.bone, pin.target.name, pin.start, pin.end) for pin in rig.motion_loom_adapt.pins]
    assert pins == [("wrist=L", "A=2", 3, 9), ("wrist.R", "B:1:2", -4, 6)]


def test_pins_that_may_mean_two_are_refused(bound, capsys):
    planks("A", "L=A")
    bound.data.bones["wrist.L"].name = "wrist"
    bound.data.bones["wrist.R"].name = "wrist=L"
    reason = refused(capsys, "adapt", "--pin", "wrist=L=A:3:9")
    assert "may mean bone 'wrist' at 'L=A', or bone 'wrist=L' at 'A'" in reason


def test_contacts_may_have_any_name(rig, capsys):
    rig.data.bones["toe.R"].name = "rig@toe.R"
    bpy.data.objects["Step"].name = "Step@home:1"
    commands.run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step@home:1")
    report = adapt(capsys, "--no-assign", "--contact", "rig@toe.R@Step@home:1:1-24=off")
    assert ("rig@toe.R", "Step@home:1", 1, 24, "off") in [
        tuple(each[key] for key in ("bone", "object", "from", "to", "state")) for each in report["contact_list"]
    ]


@pytest.mark.parametrize("frames", ["20-99999999999", "-99999999999-20"])
def test_frames_that_blender_has_not_are_told(bound, capsys, frames):
    reason = refused(capsys, "adapt", "--contact", f"toe.L@Floor:{frames}=off")
    assert "A frame of the contact of 'toe.L' cannot be" in reason
